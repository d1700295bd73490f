"""What the writing operations share: keys, and rows that are new."""

from __future__ import annotations

from collections.abc import Iterable

from harness.model.canonical import Value
from harness.model.conversion import convert
from harness.model.schema import SchemaChangeError
from harness.model.truth import Row, Truth, new_row
from harness.operations.api import Explicit, Key


def key_of(truth: Truth, key: Key) -> Value:
    """Give a scenario's key in the key column's type.

    >>> from harness.model.datatypes import parse_type
    >>> convert(1, parse_type("string"))
    '1'
    """
    return convert(key, truth.schema.find(truth.table.key).type)


def known(truth: Truth, keys: Iterable[Key]) -> tuple[Value, ...]:
    """Give keys that must be in the table.

    Raises:
        SchemaChangeError: one is not.

    """
    found = tuple(key_of(truth, key) for key in keys)
    absent = [str(key) for key in found if key not in truth.rows]
    if absent:
        have = ", ".join(map(str, truth.rows)) or "none"
        raise SchemaChangeError(f"no row has the key {', '.join(absent)}; there are: {have}")
    return found


def fresh(truth: Truth, keys: Iterable[Key]) -> tuple[Value, ...]:
    """Give keys that must not be in the table.

    Raises:
        SchemaChangeError: one is.

    """
    found = tuple(key_of(truth, key) for key in keys)
    present = [str(key) for key in found if key in truth.rows]
    if present:
        raise SchemaChangeError(f"there is a row with the key {', '.join(present)} already")
    return found


def whole(truth: Truth, keys: Iterable[Value]) -> tuple[Row, ...]:
    """Give whole new versions of the rows with these keys, values generated."""
    return tuple(new_row(truth, key, truth.step + 1, {}) for key in keys)


def explicit(truth: Truth, rows: Iterable[Explicit]) -> tuple[Row, ...]:
    """Give whole rows from explicit values.

    Raises:
        SchemaChangeError: a row names no key, or a column that is not there.

    """
    return tuple(_explicit(truth, row) for row in rows)


def _explicit(truth: Truth, row: Explicit) -> Row:
    if truth.table.key not in row:
        raise SchemaChangeError(f"a row needs a value for the key column '{truth.table.key}'")
    given = {}
    for name, value in row.items():
        field = truth.schema.find(name)
        try:
            given[name] = convert(value, field.type)
        except (ValueError, ArithmeticError) as wrong:
            raise SchemaChangeError(f"{name}: '{value}' is no {field.type}") from wrong
    return new_row(truth, given[truth.table.key], truth.step + 1, given)
