"""Values of a file, whose structs have names, as values by field ids, and back. Pure."""

from __future__ import annotations

from harness.model.canonical import MapValue, Value
from harness.model.schema import Field


def by_ids(value: Value, column: Field) -> Value:
    """Return a value of a file with the ids of struct children in the place of their names.

    Children that the truth does not know keep their names.
    """
    match value:
        case dict():
            parts = {child.name: child for child in column.children}
            known = {parts[n].id: by_ids(v, parts[n]) for n, v in value.items() if n in parts}
            return known | {n: v for n, v in value.items() if n not in parts}
        case tuple() if column.children:
            return tuple(by_ids(any_, column.children[0]) for any_ in value)
        case MapValue() if len(column.children) > 1:
            to, now = column.children
            return MapValue.of([(by_ids(k, to), by_ids(v, now)) for k, v in value.pairs])
    return value


def by_names(value: Value, column: Field) -> Value:
    """Return a value by field ids under the names of its step, in its own type."""
    match value:
        case dict():
            parts = {child.id: child for child in column.children}
            return {
                parts[at].name if at in parts else at: by_names(v, parts[at]) if at in parts else v
                for at, v in value.items()
            }
        case tuple() if column.children:
            return tuple(by_names(any_, column.children[0]) for any_ in value)
        case MapValue() if len(column.children) > 1:
            to, now = column.children
            return MapValue.of([(by_names(k, to), by_names(v, now)) for k, v in value.pairs])
    return value
