"""What generated values depend on, and the truth of a scenario for the outcomes a writer had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from harness.core.cached_method import cached_method
from harness.model.canonical import Value, text_of
from harness.model.conversion import convert
from harness.model.datatypes import DataType, Primitive
from harness.model.history import history_of, last_ids, plan_values, truth_after
from harness.model.schema import SchemaChangeError
from harness.model.truth import Generation, History, Truth, begin
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Operation
from harness.scenario.operations.write_frame import WriteFrame

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


def generation(scenario: Scenario) -> Generation:
    """Find what the scenario's generated values depend on.

    Rows are numbered in the order of first writing. A touch adds the next whole number after the
    greatest one that the scenario names as a key, or `t<step>` where it names none.

    Raises:
        SchemaChangeError: a step cannot be done; the loader refuses such a scenario.

    """
    result = survey(scenario)
    if result.wrong:
        raise SchemaChangeError(next(iter(result.wrong.values())))
    return plan_values(scenario.table, operations(scenario), result.keys, result.touch_keys)


def first(scenario: Scenario, *, merge_on_read: bool) -> Truth:
    """Return the truth of the table as created, before any step."""
    return begin(scenario.table, generation(scenario), merge_on_read=merge_on_read)


def history(
    scenario: Scenario,
    *,
    merge_on_read: bool,
    applied: Sequence[bool],
    catalogs: Mapping[int, Sequence[str]] | None = None,
) -> History:
    """Return the truth after each step, the creation first; `applied` says which steps were.

    `catalogs`: the columns that the catalog lists after steps, where they are known.
    """
    return Truths(scenario, merge_on_read=merge_on_read).history(applied, catalogs)


class Truths:
    """The truth of a scenario whichever of its steps were applied, each worked out once.

    Who asks more than once about a scenario makes one and hands it on.
    """

    def __init__(self, scenario: Scenario, *, merge_on_read: bool) -> None:
        self._scenario, self.merge_on_read = scenario, merge_on_read

    @cached_property
    def _begun(self) -> Truth:
        return first(self._scenario, merge_on_read=self.merge_on_read)

    @cached_property
    def _last_ids(self) -> Sequence[int]:
        return last_ids(self._begun, operations(self._scenario))

    def history(
        self, applied: Sequence[bool], catalogs: Mapping[int, Sequence[str]] | None = None
    ) -> History:
        """Return the truth after each step, the creation first.

        `catalogs`: as `history` takes them. Where a DataFrame's new columns stand no version of
        Hudi promises, and it is no error either way.
        """
        steps = enumerate(operations(self._scenario), start=1)
        framed = {step for step, operation in steps if isinstance(operation, WriteFrame)}
        orders = {step: names for step, names in (catalogs or {}).items() if step in framed}
        if orders:
            return history_of(self._begun, operations(self._scenario), applied, orders)
        return tuple(self.after(tuple(applied[:step])) for step in range(len(applied) + 1))

    @cached_method
    def after(self, applied: tuple[bool, ...]) -> Truth:
        """Return the truth after so many steps as is told of whether they were applied."""
        if not applied:
            return self._begun
        step = len(applied)
        operation = self._scenario.steps[step - 1].operation
        before = self.after(applied[:-1])
        return truth_after(before, operation, self._last_ids[step], applied=applied[-1])


def skippable(before: Truth, operation: Operation) -> str:
    """Return why the next step cannot be done on this table, empty when it can.

    In a loaded scenario this happens only after a refused step; the step is then skipped.
    """
    try:
        operation.evolve(before)
    except SchemaChangeError as wrong:
        return str(wrong)
    return ""


def operations(scenario: Scenario) -> tuple[Operation, ...]:
    return tuple(step.operation for step in scenario.steps)


def survey(scenario: Scenario, *, merge_on_read: bool = False) -> Survey:
    """Run over all steps; one that cannot be done is noted and left out."""
    ordinals, touches = _Ordinals(), _TouchKeys()
    plain = Generation({}, ordinals, touches)
    history, wrong = [begin(scenario.table, plain, merge_on_read=merge_on_read)], {}
    for number, operation in enumerate(operations(scenario), start=1):
        before = history[-1]
        why = _of_fixed(before, operation) or skippable(before, operation)
        if why:
            wrong[number] = why
        history.append(replace(before, step=number) if why else operation.evolve(before))
    key_type = history[0].schema.find(scenario.table.key).type
    # A row of explicit values, or of a table with no other column, is never numbered.
    named = [*ordinals, *(key for truth in history for key in truth.rows)]
    touch_keys = _touch_keys(key_type, named, list(touches))
    added = {_SENTINEL.format(step): key for step, key in touch_keys.items()}
    keys = tuple(added.get(key, key) for key in ordinals)
    return Survey(tuple(history), wrong, keys, touch_keys)


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
