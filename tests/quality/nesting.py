"""Values that have parts, and their tokens, which are shaped alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.model.canonical import MapValue, Value, text_of
from harness.model.schema import Field
from harness.model.truth import History, named
from tests.builders.traced_answer import Token


def parts(token: Value) -> tuple[Value, ...]:
    """Return the parts of an array, or the values of a map."""
    return tuple(part for _, part in token.pairs) if isinstance(token, MapValue) else token


def shown(value: Value, field: Field) -> Value:
    """Return a stored value as readers should show it; what its type cannot hold as it is."""
    try:
        return named(value, field)
    except ValueError:
        return value


def has(token: Value, field: Field, wanted: int) -> bool:
    """Return whether a field has a value here; an array of NULLs is one."""
    if field.id == wanted:
        return not (isinstance(token, Token) and token.null)
    match token:
        case dict():
            return any(has(token[child.name], child, wanted) for child in field.children)
        case tuple():
            return any(has(pair, field.children[0], wanted) for pair in token)
        case MapValue():
            return any(has(pair, field.children[1], wanted) for _, pair in token.pairs)
    return False


def parents(history: History) -> dict[int, int]:
    """Return what each field is a part of, by their ids."""
    every = [field for truth in history for field in truth.schema.walk()]
    return {child.id: each.id for each in every for child in each.children}


def roots(history: History) -> dict[int, int]:
    """Return the column that each field is, or is a part of, by their ids."""
    columns = [field for truth in history for field in truth.schema.fields]
    return {field.id: column.id for column in columns for field in column.walk()}


def upwards(field_id: int, of: Mapping[int, int]) -> set[int]:
    """Return a field and all that it is a part of: the NULL of a whole is that of its parts.

    `of`: what each is a part of (`parents`).
    """
    found = {field_id}
    while field_id in of:
        field_id = of[field_id]
        found.add(field_id)
    return found


def naming(earlier: list[tuple[str, ...]], names: object) -> bool:
    return sorted(names) in [sorted(each) for each in earlier]  # type: ignore[call-overload]


def keys(value: MapValue) -> list[Value]:
    return [key for key, _ in value.pairs]


def inside(token: Value, number: int) -> Value:
    """Return the token of a part; that of a whole stands for its parts."""
    match token:
        case tuple():
            return token[number]
        case MapValue():
            return token.pairs[number][1]
    return token


def leaves(value: Value, field: Field, path: str) -> Iterator[tuple[str, Field, Value]]:
    """Yield the parts down to plain values: path, field, value."""
    match value:
        case dict():
            for child in field.children:
                yield from leaves(value[child.name], child, f"{path}.{child.name}")
        case tuple() if field.children:
            for n, each in enumerate(value):
                yield from leaves(each, field.children[0], f"{path}[{n}]")
        case MapValue():
            for key, pair in value.pairs:
                yield from leaves(pair, field.children[1], f"{path}[{text_of(key)}]")
        case _:
            yield path, field, value
