"""The truth of a scenario for the outcomes that a writer had, and what its made values depend on.

Types and row numbers come from a survey in which every step is applied, so that a refused step
changes neither the values nor the field ids of the others.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from harness.model.canonical import Value, text_of
from harness.model.conversion import convert
from harness.model.datatypes import DataType, Primitive
from harness.model.schema import SchemaChangeError, Table
from harness.model.truth import Generation, History, Truth, begin, failed
from harness.scenario.operations.api import Operation
from harness.scenario.operations.write_frame import WriteFrame

_Orders = tuple[tuple[int, tuple[str, ...]], ...]
"""The columns that the catalog lists after steps."""
_SENTINEL = "\0touch {}"
"""Stands for the key that a touch adds while the other keys are not all known."""


@dataclass(frozen=True, slots=True)
class Survey:
    """A run over all steps, each applied where it can be."""

    history: History
    wrong: Mapping[int, str]
    """Why a step cannot be done, by its number."""
    keys: tuple[Value, ...]
    """All keys in the order of their first writing."""
    touch_keys: Mapping[int, Value]
    """The key that a touch adds, by the number of its step."""

    def generation(self) -> Generation:
        """Return what the generated values of the scenario depend on.

        Rows are numbered in the order of first writing. A touch adds the next whole number after
        the greatest one that the scenario names as a key, or `t<step>` where it names none.
        """
        if self.wrong:
            raise SchemaChangeError(next(iter(self.wrong.values())))
        types: dict[int, dict[DataType, None]] = {}
        for field in (field for truth in self.history for field in truth.schema.walk()):
            types.setdefault(field.id, {})[field.type] = None
        ordinals = {key: at for at, key in enumerate(self.keys, start=1)}
        return Generation({id_: tuple(of) for id_, of in types.items()}, ordinals, self.touch_keys)


class Truths:
    """The truth of a scenario whichever of its steps were applied, each worked out once."""

    def __init__(
        self, operations: tuple[Operation, ...], survey: Survey, *, merge_on_read: bool
    ) -> None:
        self._operations = operations
        self._last_ids = [truth.schema.last_id for truth in survey.history]
        table = survey.history[0].table
        self.first = begin(table, survey.generation(), merge_on_read=merge_on_read)
        self._after: Callable[[tuple[bool, ...], _Orders], Truth] = cache(self._evolve)

    def history(
        self,
        applied: Sequence[bool] | None = None,
        catalogs: Mapping[int, Sequence[str]] | None = None,
    ) -> History:
        """Return the truth after each step, the creation first.

        `applied`: which of the first steps were; None: every step was. `catalogs`: the columns that
        the catalog lists after steps: where a DataFrame's new ones stand no Hudi promises.
        """
        done = (True,) * len(self._operations) if applied is None else tuple(applied)
        orders = tuple(
            (step, tuple((catalogs or {}).get(step, ())))
            for step, operation in enumerate(self._operations, start=1)
            if isinstance(operation, WriteFrame)
        )
        return tuple(self._after(done[:step], orders) for step in range(len(done) + 1))

    def _evolve(self, applied: tuple[bool, ...], orders: _Orders) -> Truth:
        if not applied:
            return self.first
        step, before = len(applied), self._after(applied[:-1], orders)
        operation = self._operations[step - 1]
        after = operation.evolve(before) if applied[-1] else _refused(before, operation)
        schema = after.schema.ordered(dict(orders).get(step, ()))
        last_id = max(schema.last_id, self._last_ids[step])
        return replace(after, schema=replace(schema, last_id=last_id))


def _refused(before: Truth, operation: Operation) -> Truth:
    """Return the truth after a step that was refused: no reader may show rows that it made."""
    step, then = before.step + 1, before
    with suppress(SchemaChangeError):
        then = operation.evolve(before)
    made = [row for row in then.rows.values() if row.newest == step]
    if then.schema.fields != before.schema.fields or not made:
        return replace(before, step=step)
    return failed(before, step, made)


def skippable(before: Truth, operation: Operation) -> str:
    """Return why the next step cannot be done on this table, empty when it can."""
    try:
        operation.evolve(before)
    except SchemaChangeError as wrong:
        return str(wrong)
    return ""


def survey(table: Table, operations: Sequence[Operation]) -> Survey:
    """Run over all steps; one that cannot be done is noted and left out."""
    ordinals, touches = _Ordinals(), _TouchKeys()
    first = begin(table, Generation({}, ordinals, touches), merge_on_read=False)
    history, wrong = [first], {}
    for number, operation in enumerate(operations, start=1):
        before = history[-1]
        why = _of_fixed(before, operation) or skippable(before, operation)
        if why:
            wrong[number] = why
        history.append(replace(before, step=number) if why else operation.evolve(before))
    key_type = history[0].schema.find(table.key).type
    # A row of explicit values, or of a table with no other column, is never numbered.
    named = [*ordinals, *(key for truth in history for key in truth.rows)]
    touch_keys = _touch_keys(key_type, named, list(touches))
    added = {_SENTINEL.format(step): key for step, key in touch_keys.items()}
    keys = dict.fromkeys(added.get(key, key) for key in ordinals)
    return Survey(tuple(history), wrong, tuple(keys), touch_keys)


def _of_fixed(before: Truth, operation: Operation) -> str:
    fixed = before.table.fixed
    name = getattr(operation, "name", None) if operation.CHANGES_SCHEMA else None
    if name not in fixed:
        return ""
    others = ", ".join(name for name in before.schema.names if name not in fixed) or "none"
    return f"'{name}' is a key, ordering or partition column and stays; others: {others}"


class _Ordinals(dict[Value, int]):
    """Numbers each row when its values are first asked for: in the order of first writing."""

    def __missing__(self, key: Value) -> int:
        self[key] = len(self) + 1
        return self[key]


class _TouchKeys(dict[int, Value]):
    """Learns which steps ask for a key to add."""

    def __missing__(self, step: int) -> Value:
        self[step] = _SENTINEL.format(step)
        return self[step]


def _touch_keys(
    key_type: DataType, named: Sequence[Value], steps: Sequence[int]
) -> Mapping[int, Value]:
    whole = [int(text) for text in map(text_of, named) if text.isdecimal() and text.isascii()]
    if not whole and key_type == Primitive("string"):
        return {step: f"t{step}" for step in steps}
    greatest = max(whole, default=0)
    return {step: convert(greatest + at, key_type) for at, step in enumerate(steps, start=1)}
