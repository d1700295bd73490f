"""Errors planted in the model: rules of how a table evolves, each wrong in one way."""

import datetime
import decimal
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from types import ModuleType
from typing import Any, Final

import pytest

from harness.model import past_views, truth
from harness.model.canonical import MapValue, Value
from harness.model.datatypes import Array, DataType, Map, Struct
from harness.model.schema import END, Schema, number
from harness.model.truth import Row, Truth

Plant = Callable[[pytest.MonkeyPatch], None]


def _function(module: ModuleType, name: str, make: Callable[[Any], Any]) -> Plant:
    """Return what puts another function in the place of one, whoever has imported it."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = getattr(module, name)
        wrong = wraps(right)(make(right))
        for other in list(sys.modules.values()):
            if other.__name__.startswith("harness.") and vars(other).get(name) is right:
                patch.setattr(other, name, wrong)

    return plant


def _method(class_: type, name: str, make: Callable[[Any], Any]) -> Plant:
    return lambda patch: patch.setattr(class_, name, make(getattr(class_, name)))


def _values(change: Callable[[Value, DataType], Value]) -> Plant:
    """Return what changes each value that has no parts, as it is shown."""
    return _function(truth, "convert", lambda right: lambda value, to: change(right(value, to), to))


def _renamed(*, of_part: bool) -> Callable[[Any], Any]:
    def make(right: Any) -> Any:  # noqa: ANN401 - a method
        def wrong(self: Schema, path: str, to: str) -> Schema:
            after: Schema = right(self, path, to)
            parent, _, _ = path.rpartition(".")
            if bool(parent) is not of_part:
                return after
            place = f"{parent}.{to}" if parent else to
            new, last = number(to, after.find(place).type, after.last_id)
            return replace(after._replaced(place, new), last_id=last)

        return wrong

    return make


def _given_again(*, of_part: bool) -> Plant:
    """Give a name that was dropped the id that it had."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        dropped: dict[str, int] = {}
        drop, add = Schema.drop, Schema.add

        def wrong_drop(self: Schema, path: str) -> Schema:
            dropped[path] = self.find(path).id
            return drop(self, path)

        def wrong_add(self: Schema, path: str, *of_column: Value) -> Schema:
            after = add(self, path, *of_column)
            if path not in dropped or ("." in path) is not of_part:
                return after
            return after._replaced(path, replace(after.find(path), id=dropped[path]))

        patch.setattr(Schema, "drop", wrong_drop)
        patch.setattr(Schema, "add", wrong_add)

    return plant


def _only_last_digits(value: Value, to: DataType) -> Value:
    return value % 2**16 if str(to) == "long" and value is not None else value


def _shorter(value: Value, to: DataType) -> Value:
    if not isinstance(value, decimal.Decimal) or value == value.to_integral_value():
        return value
    last = decimal.Decimal((0, (1,), int(value.as_tuple().exponent)))
    return value - value % (10 * last)


def _whole_seconds(value: Value, to: DataType) -> Value:
    return value.replace(microsecond=0) if isinstance(value, datetime.datetime) else value


def _parts_of_nothing(right: Any) -> Any:  # noqa: ANN401 - a function
    def wrong(value: Value, field: Any) -> Value:  # noqa: ANN401 - a Field
        if value is None and isinstance(field.type, Struct):
            return {child.name: None for child in field.children}
        return right(value, field)

    return wrong


def _cut(right: Any) -> Any:  # noqa: ANN401 - a function
    def wrong(value: Value, field: Any) -> Value:  # noqa: ANN401 - a Field
        shown = right(value, field)
        return shown[:1] if isinstance(field.type, Array) and shown else shown

    return wrong


def _no_pairs(right: Any) -> Any:  # noqa: ANN401 - a function
    def wrong(value: Value, field: Any) -> Value:  # noqa: ANN401 - a Field
        shown = right(value, field)
        return MapValue(()) if isinstance(field.type, Map) and shown else shown

    return wrong


def _stays(truth_: Truth, step: int, *rest: object) -> Truth:
    return replace(truth_, step=step)


PLANTED: Final[Mapping[str, Plant]] = {
    "a renamed column loses its id": _method(Schema, "rename", _renamed(of_part=False)),
    "a renamed part of a struct loses its id": _method(Schema, "rename", _renamed(of_part=True)),
    "a name that is given again has the values of the dropped column": _given_again(of_part=False),
    "a part whose name is given again has the values of the dropped one": _given_again(
        of_part=True
    ),
    "the default of a column is not applied to older rows": _method(
        Row, "of", lambda right: lambda self, field: self.values.get(field.id)
    ),
    "a column that is added in the middle stands at the end": _method(
        Schema,
        "add",
        lambda right: (
            lambda self, path, type_, place=END, default=None: right(
                self, path, type_, END, default
            )
        ),
    ),
    "a moved column stands at the end": _method(
        Schema, "move", lambda right: lambda self, path, place: right(self, path, END)
    ),
    "a column keeps its old type": _method(
        Schema, "change_type", lambda right: lambda self, path, to, *, exact=True: self
    ),
    "a widened number keeps its last digits alone": _values(_only_last_digits),
    "a decimal loses its last digit": _values(_shorter),
    "a moment loses its microseconds": _values(_whole_seconds),
    "an empty text is NULL": _values(lambda value, to: None if value == "" else value),
    "a zero has no sign": _values(
        lambda value, to: abs(value) if isinstance(value, float) else value
    ),
    "a struct that is NULL has parts that are": _function(truth, "named", _parts_of_nothing),
    "an array has its first element alone": _function(truth, "named", _cut),
    "a map has no pairs": _function(truth, "named", _no_pairs),
    "a delete takes no row away": _function(
        truth,
        "written",
        lambda right: (
            lambda truth_, step, changed=(), deleted=(), contested=None: right(
                truth_, step, changed, (), contested
            )
        ),
    ),
    "a row that is written again stays as it was": _function(
        truth,
        "written",
        lambda right: (
            lambda truth_, step, changed=(), deleted=(), contested=None: right(
                truth_,
                step,
                [row for row in changed if row.key not in truth_.rows],
                deleted,
                contested,
            )
        ),
    ),
    "an update changes nothing": _function(
        truth, "changed_row", lambda right: lambda truth_, key, step, columns: truth_.rows[key]
    ),
    "a version that comes late never stands": _function(
        truth, "late", lambda right: lambda truth_, step, versions: replace(truth_, step=step)
    ),
    "a partial update writes NULL over what is there": _function(
        truth, "completed", lambda right: lambda newer, older, schema: newer
    ),
    "an overwrite leaves the rows that were there": _function(
        truth,
        "replaced",
        lambda right: (
            lambda truth_, step, takes, new=(): right(truth_, step, lambda row: False, new)
        ),
    ),
    "a rollback to a snapshot changes nothing": _function(
        truth, "rolled_back_to", lambda right: _stays
    ),
    "a restored table keeps the rows of before": _function(
        truth,
        "restored",
        lambda right: lambda truth_, step: replace(right(truth_, step), rows=truth_.rows),
    ),
    "a write that died shows": _function(truth, "failed", lambda right: truth.written),
    "an earlier table is that of one step before": _function(
        past_views,
        "anchor",
        lambda right: lambda steps, step: max((at for at in steps if at < step), default=None),
    ),
    "what was staged is published with the columns of now": _function(
        past_views, "of_commit", lambda right: lambda history: history
    ),
}
"""By what is wrong; what each does is undone with the patch."""
