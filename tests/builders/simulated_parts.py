"""What a simulated reader knows of a value with parts: as much as the innermost ones tell it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.model.canonical import MapValue, Value
from harness.model.datatypes import Array, Map, Struct
from harness.model.schema import Field


def left(value: Value, wanted: Field, source: Field | None, by: str) -> Value:
    """Show a value as far as innermost parts of it are in the file: they tell that it is there."""
    if value is None or source is None or not _inside(wanted, source):
        return value
    if not _reached(wanted, source, by):
        return None
    pairs = list(_parts(wanted, source, by))
    match value:
        case dict():
            return {w.name: left(value[w.name], w, s, by) for w, s in pairs}
        case tuple():
            return tuple(left(each, *pairs[0], by) for each in value)
    return MapValue(tuple((k, left(v, *pairs[1], by)) for k, v in value.pairs))


def _inside(wanted: Field, source: Field) -> bool:
    nested = isinstance(wanted.type, Struct | Array | Map)
    return nested and type(wanted.type) is type(source.type)


def _reached(wanted: Field, source: Field | None, by: str) -> bool:
    """Return whether a file has some innermost part of what is wanted."""
    if source is None:
        return False
    if isinstance(wanted.type, Map) or not _inside(wanted, source):
        return True
    return any(_reached(*pair, by) for pair in _parts(wanted, source, by))


def _parts(wanted: Field, source: Field, by: str) -> Iterator[tuple[Field, Field | None]]:
    for number, child in enumerate(wanted.children):
        alike = {
            "id": [s for s in source.children if s.id == child.id],
            "name": [s for s in source.children if s.name == child.name],
            "position": source.children[number : number + 1],
        }
        found = alike[by] if isinstance(wanted.type, Struct) else [source.children[number]]
        yield child, found[0] if found else None
