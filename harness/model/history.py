"""The truth after every step of a scenario, for the outcomes that the writer had.

Types and row numbers come from a dry run in which every step is applied, so that a refused step
changes neither the values nor the field ids of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from harness.model.canonical import Value
from harness.model.datatypes import DataType
from harness.model.schema import Schema, SchemaChangeError
from harness.model.table import Table
from harness.model.truth import Generation, History, Truth, begin


class Evolving(Protocol):
    """An operation, as far as the history needs it."""

    def evolve(self, before: Truth) -> Truth:
        """Return the truth after it."""


def dry_run(first: Truth, operations: Sequence[Evolving]) -> History:
    """Return the history in which every operation is applied.

    Raises:
        SchemaChangeError: one cannot be.

    """
    history = [first]
    for operation in operations:
        history.append(operation.evolve(history[-1]))
    return tuple(history)


def types_of(schemas: Iterable[Schema]) -> dict[int, tuple[DataType, ...]]:
    """Return every type that each field takes, in order."""
    result: dict[int, list[DataType]] = {}
    for schema in schemas:
        for field in schema.walk():
            taken = result.setdefault(field.id, [])
            if field.type not in taken:
                taken.append(field.type)
    return {field_id: tuple(types) for field_id, types in result.items()}


def plan_values(
    table: Table, operations: Sequence[Evolving], keys: Sequence[Value], touch: Mapping[int, Value]
) -> Generation:
    """Find what the generated values depend on, by a dry run over all steps.

    `keys` are all keys in the order of their first writing, `touch` the ones that touches add.

    Raises:
        SchemaChangeError: a step cannot be done.

    """
    ordinals = {key: at for at, key in enumerate(dict.fromkeys(keys), start=1)}
    plain = Generation({}, ordinals, touch)
    dry = dry_run(begin(table, plain, merge_on_read=False), operations)
    return replace(plain, types=types_of(truth.schema for truth in dry))


def history_of(
    first: Truth,
    operations: Sequence[Evolving],
    applied: Sequence[bool],
    orders: Mapping[int, Sequence[str]] | None = None,
) -> History:
    """Return the history in which only the applied steps changed the table.

    Ids are given as if every step had been applied, as far as the steps can follow one another.
    `orders`: the columns in their order after steps that leave the order to the writer.
    """
    history, ids = [first], last_ids(first, operations)
    for step, (operation, done) in enumerate(zip(operations, applied, strict=True), start=1):
        after = truth_after(history[-1], operation, ids[step], applied=done)
        schema = after.schema.ordered((orders or {}).get(step, ()))
        history.append(replace(after, schema=schema))
    return tuple(history)


def truth_after(before: Truth, operation: Evolving, last_id: int, *, applied: bool) -> Truth:
    """Return the truth after one more step; `last_id`: the last one given in it or before."""
    after = operation.evolve(before) if applied else replace(before, step=before.step + 1)
    last_id = max(after.schema.last_id, last_id)
    return replace(after, schema=replace(after.schema, last_id=last_id))


def last_ids(first: Truth, operations: Sequence[Evolving]) -> list[int]:
    """Return the last id given until each step, the creation first, as if all were applied."""
    ids, truth = [first.schema.last_id], first
    for operation in operations:
        try:
            truth = operation.evolve(truth)
        except SchemaChangeError:
            truth = replace(truth, step=truth.step + 1)
        ids.append(truth.schema.last_id)
    return ids
