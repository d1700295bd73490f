"""Versions of rows that come late: their ordering value is less than any before."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.model.canonical import Value
from harness.model.schema import SchemaChangeError
from harness.model.truth import Row, Truth, new_row
from harness.model.values import never_null
from harness.scenario.operations.api import Key
from harness.scenario.operations.new_rows import each_once, key_of, some


def late_rows(
    before: Truth, keys: Sequence[Key], what: str, there: Collection[Value]
) -> tuple[Row, ...]:
    """Return whole versions of rows, each with a smaller ordering value than all before it.

    Args:
        before: the truth before the step that writes them.
        keys: those of the rows.
        what: the operation, for messages.
        there: the keys that rows have, or had.

    Raises:
        SchemaChangeError: the table has no ordering column, no such row was ever written, or the
            row has an explicit ordering value that is less than any made one.

    """
    if before.table.order_by is None:
        raise SchemaChangeError(f"{what} needs a table with an ordering column; give it order_by")
    found = [key_of(before, key) for key in some(keys, what)]
    each_once(found)
    if never := [str(key) for key in found if key not in there]:
        have = ", ".join(map(str, there)) or "none"
        raise SchemaChangeError(f"no row has the key {', '.join(never)}; allowed: {have}")
    return tuple(_late(before, key) for key in found)


def _late(before: Truth, key: Value) -> Row:
    """Return a version whose ordering value is that of a step before all others: of minus this."""
    order, step = before.schema.find(before.table.order_by or ""), before.step + 1
    row, types = before.generation.ordinals[key], before.generation.types
    value = never_null(order, -step, row, types)
    old = before.rows[key].values[order.id] if key in before.rows else None
    if old is not None and not value < old:
        raise SchemaChangeError(
            f"row {key}: the ordering column goes from {old} to {value}, which is not less; "
            f"let the harness make the row's '{order.name}'"
        )
    return new_row(before, key, step, {order.name: value})
