"""What a reader that resolves columns in a given way would answer, computed from the file facts.

A file's columns are known by name and position; which field each is, the schema of the step that
wrote the file tells. A reader may find a table's column in the file by id, by name or by position,
and may read base files only or merge the log files. Parts of a struct are found by name when the
columns are found by position, and so are log records, which carry their own schema
(seen on Trino 476 and PrestoDB 0.283, engines notes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.model.canonical import MapValue, Value
from harness.model.conversion import convert
from harness.model.datatypes import Array, Map, Struct
from harness.model.files import FileFact, FileKind
from harness.model.schema import Field, Schema
from harness.model.truth import History, Row, named

META_PREFIX = "_hoodie_"


class By(StrEnum):
    """How a reader finds a table's column in a file."""

    ID = "by id"
    NAME = "by name"
    POSITION = "by position"


@dataclass(frozen=True, slots=True)
class Way:
    """A way to resolve a whole table."""

    by: By
    base_only: bool

    def __str__(self) -> str:
        return f"{self.by}, base files only" if self.base_only else str(self.by)


class LayoutError(Exception):
    """The files do not fit the history; nothing can be said of how they are read."""


def ways(*, with_logs: bool) -> tuple[Way, ...]:
    """Give the ways worth trying: reading base files only differs where there are log files."""
    merged = tuple(Way(by, base_only=False) for by in By)
    return (*merged, *(Way(by, base_only=True) for by in By)) if with_logs else merged


def predict(
    history: History, files: Sequence[FileFact], steps: Mapping[str, int], way: Way
) -> tuple[tuple[Value, ...], ...]:
    """Give the rows that a reader of that way answers to `select *`, in the schema's order.

    `steps` tells which step made an instant.

    Raises:
        LayoutError: a file's instant or key is not in the history.

    """
    found: dict[str, tuple[Value, ...]] = {}
    for base, logs in slices(files, steps):
        found |= _read(history, base, steps, way.by)
        if not way.base_only:
            _merge(found, history, logs, steps, way.by)
    return tuple(found.values())


def meeting_other_types(
    history: History, files: Sequence[FileFact], steps: Mapping[str, int]
) -> tuple[By, ...]:
    """Give the ways to find columns that lead to one of another type in some base file.

    Where that is one way alone, an engine that complains of the type reads so.

    Raises:
        LayoutError: a file's instant is not in the history.

    """
    bases = [base for base, _ in slices(files, steps) if base is not None]
    return tuple(
        by
        for by in By
        if any(
            source is not None and _differ(field, source, by)
            for base in bases
            for field, source in _sources(history, base, steps, by)
        )
    )


def _differ(field: Field, source: Field, by: By) -> bool:
    if type(field.type) is not type(source.type) or not field.children:
        return field.type != source.type
    there = {each.id if by is By.ID else each.name: each for each in source.children}
    keys = [each.id if by is By.ID else each.name for each in field.children]
    pairs = [(each, there.get(key)) for each, key in zip(field.children, keys, strict=True)]
    return any(found is not None and _differ(each, found, by) for each, found in pairs)


def slices(
    files: Sequence[FileFact], steps: Mapping[str, int]
) -> Iterator[tuple[FileFact | None, list[FileFact]]]:
    """Give each file group's newest base file with the log blocks that came after it.

    Raises:
        LayoutError: a file's instant was made by no step.

    """
    groups: dict[str, list[FileFact]] = {}
    for fact in files:
        if fact.instant not in steps:
            raise LayoutError(f"{fact.path}: no step made the instant {fact.instant}")
        groups.setdefault(fact.file_group, []).append(fact)
    for facts in groups.values():
        facts.sort(key=lambda fact: steps[fact.instant])
        bases = [fact for fact in facts if fact.kind is FileKind.BASE]
        base = bases[-1] if bases else None
        since = steps[base.instant] if base else -1
        logs = [f for f in facts if f.kind is FileKind.LOG and steps[f.instant] > since]
        yield base, logs


def version(history: History, fact: FileFact, key: str, steps: Mapping[str, int]) -> Row:
    """Give the version of a row that a file holds.

    Raises:
        LayoutError: the truth has no such row at that step.

    """
    rows = history[steps[fact.instant]].rows
    row = next((row for each, row in rows.items() if key in _record_keys(history, each)), None)
    if row is None:
        raise LayoutError(f"{fact.path}: the truth has no row {key} at instant {fact.instant}")
    return row


def _record_keys(history: History, key: Value) -> tuple[str, str]:
    # Hudi's complex key generator writes `column:value` even for a single key column.
    return str(key), f"{history[0].table.key}:{key}"


def _merge(
    found: dict[str, tuple[Value, ...]],
    history: History,
    logs: Sequence[FileFact],
    steps: Mapping[str, int],
    by: By,
) -> None:
    for log in logs:
        for key in log.deleted:
            found.pop(key, None)
        found |= _read(history, log, steps, By.NAME if by is By.POSITION else by)


def _read(
    history: History, fact: FileFact | None, steps: Mapping[str, int], by: By
) -> dict[str, tuple[Value, ...]]:
    if fact is None:
        return {}
    sources = _sources(history, fact, steps, by)
    rows = ((key, version(history, fact, key, steps)) for key in fact.keys)
    return {key: tuple(_value(row, *source, by) for source in sources) for key, row in rows}


def _sources(
    history: History, fact: FileFact, steps: Mapping[str, int], by: By
) -> list[tuple[Field, Field | None]]:
    """Give the table's columns, each with the one of the file that is taken for it."""
    now, written = history[-1], history[steps[fact.instant]].schema
    in_file = [name for name, _ in fact.columns if not name.startswith(META_PREFIX)]
    found: list[tuple[Field, Field | None]] = []
    position = 0
    for field in now.schema.fields:
        if field.name in now.table.partition_by:
            # Its value comes from the partition's path, not from the file.
            found.append((field, written.by_id(field.id)))
            continue
        found.append((field, _in_file(field, position, in_file, written, by)))
        position += 1
    return found


def _in_file(
    field: Field, position: int, in_file: Sequence[str], written: Schema, by: By
) -> Field | None:
    match by:
        case By.ID:
            return next((each for each in written.fields if each.id == field.id), None)
        case By.NAME:
            name = field.name if field.name in in_file else None
        case By.POSITION:
            name = in_file[position] if position < len(in_file) else None
    return next((each for each in written.fields if each.name == name), None)


def _value(row: Row, field: Field, source: Field | None, by: By) -> Value:
    if source is None:
        return None
    value = row.values.get(source.id)
    if by is By.ID:
        return named(value, field)
    return _by_name(value, source, field)


def _by_name(value: Value, source: Field, field: Field) -> Value:
    """Give a stored value of the file's field `source` as the table's field `field`."""
    if value is None:
        return None
    if _nested(source) != _nested(field):
        return named(value, source)
    match field.type:
        case Struct():
            there = {each.name: each for each in source.children}
            return {
                each.name: _by_name(value.get(there[each.name].id), there[each.name], each)
                if each.name in there
                else None
                for each in field.children
            }
        case Array():
            inner = source.children[0], field.children[0]
            return tuple(_by_name(each, *inner) for each in value)
        case Map():
            keys, parts = zip(source.children, field.children, strict=True)
            return MapValue.of([(_by_name(k, *keys), _by_name(v, *parts)) for k, v in value.pairs])
    return _as(value, source, field)


def _nested(field: Field) -> type | None:
    return type(field.type) if isinstance(field.type, Struct | Array | Map) else None


def _as(value: Value, source: Field, field: Field) -> Value:
    try:
        return convert(convert(value, source.type), field.type)
    except (ValueError, ArithmeticError):
        return convert(value, source.type)
