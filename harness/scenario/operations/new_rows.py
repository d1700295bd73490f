"""What the writing operations share: keys, and rows that are new."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from harness.model.canonical import MapValue, Value
from harness.model.conversion import convert
from harness.model.datatypes import Array, Map, Struct
from harness.model.schema import Field, SchemaChangeError
from harness.model.truth import Row, Truth, new_row
from harness.scenario.operations.api import Explicit, Key

Item = TypeVar("Item")


def absent_text(keys: Sequence[Key]) -> str:
    return f", {len(keys)} absent" if keys else ""


def key_of(truth: Truth, key: Key) -> Value:
    try:
        return convert(key, truth.schema.find(truth.table.key).type)
    except ValueError as wrong:
        raise SchemaChangeError(f"the key {wrong}") from wrong


def some(items: Sequence[Item], what: str) -> Sequence[Item]:
    if not items:
        raise SchemaChangeError(f"{what} names no row or column; name at least one")
    return items


def each_once(keys: Sequence[Value]) -> None:
    """Check that a write names no row twice: which version stands would be the engine's choice."""
    if twice := [str(key) for at, key in enumerate(keys) if key in keys[:at]]:
        raise SchemaChangeError(f"the key {', '.join(twice)} stands twice in one write")


def known(truth: Truth, keys: Iterable[Key]) -> tuple[Value, ...]:
    result = tuple(key_of(truth, key) for key in keys)
    if absent := [str(key) for key in result if key not in truth.rows]:
        have = ", ".join(map(str, truth.rows)) or "none"
        raise SchemaChangeError(f"no row has the key {', '.join(absent)}; there are: {have}")
    each_once(result)
    return result


def fresh(truth: Truth, keys: Iterable[Key]) -> tuple[Value, ...]:
    result = tuple(key_of(truth, key) for key in keys)
    if present := [str(key) for key in result if key in truth.rows]:
        raise SchemaChangeError(f"there is a row with the key {', '.join(present)} already")
    each_once(result)
    return result


def settable(truth: Truth, names: Sequence[str], *, generated: bool = False) -> Sequence[str]:
    """Return the columns that a write sets, which none but it decides; or leaves out."""
    fields = (field for field in truth.schema.fields if generated or not field.sources)
    free = [field.name for field in fields if field.name not in truth.table.fixed]
    for name in names:
        if name not in free or names.count(name) > 1:
            raise SchemaChangeError(
                f"'{name}' cannot stand here; each once, there are: {', '.join(free)}"
            )
    return names


def whole(truth: Truth, keys: Iterable[Value]) -> tuple[Row, ...]:
    return tuple(new_row(truth, key, truth.step + 1, {}) for key in keys)


def explicit(truth: Truth, rows: Iterable[Explicit]) -> tuple[Row, ...]:
    return tuple(_explicit(truth, row) for row in rows)


def _explicit(truth: Truth, row: Explicit) -> Row:
    if row.get(truth.table.key) is None:
        raise SchemaChangeError(f"a row needs a value for the key column '{truth.table.key}'")
    if any(row.get(name, name) is None for name in truth.table.order_by):
        key = row[truth.table.key]
        raise SchemaChangeError(f"row {key}: the ordering column has no value; it needs one")
    given = {}
    for name, value in row.items():
        if name not in truth.schema.names:
            have = ", ".join(truth.schema.names)
            raise SchemaChangeError(f"there is no column '{name}'; there are: {have}")
        field = truth.schema.find(name)
        try:
            given[name] = stored(value, field)
        except ValueError as wrong:
            raise SchemaChangeError(f"column '{name}': {wrong}") from wrong
    new = new_row(truth, given[truth.table.key], truth.step + 1, given)
    # A row that moves to another partition is two rows or one, by the index of the format.
    generated = [field.name for field in truth.schema.fields if field.sources]
    for name in (*truth.table.partition_by, *generated):
        value = new.values[truth.column_id(name)]
        if name in given and given[name] != value:
            what = "column, generated," if name in generated else "partition"
            raise SchemaChangeError(f"the row's {what} '{name}' is '{value}' and stays so")
    return new


def stored(value: Value, field: Field) -> Value:
    """Return an explicit value as the truth keeps it: a struct's parts by field id, types exact.

    Raises ValueError: it is not a value of the field's type; the message says why.
    """
    match field.type:
        case _ if value is None:
            return None
        case Struct() if isinstance(value, Mapping):
            names = {child.name: child for child in field.children}
            if unknown := [str(name) for name in value if name not in names]:
                raise ValueError(f"there is no part '{unknown[0]}'; there are: {', '.join(names)}")
            return {child.id: stored(value.get(name), child) for name, child in names.items()}
        case Array() if isinstance(value, list | tuple):
            return tuple(stored(element, field.children[0]) for element in value)
        case Map() if isinstance(value, Mapping):
            key, part = field.children
            return MapValue.of([(stored(k, key), stored(v, part)) for k, v in value.items()])
        case Struct() | Array() | Map():
            raise ValueError(f"'{value}' is no {field.type}")
    return convert(value, field.type)
