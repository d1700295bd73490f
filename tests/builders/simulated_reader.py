"""Readers that only tests use: how the files of `simulated_disk` are read, rightly and wrongly.

They share nothing with `harness.model.simulation`: what both compute must agree all the same.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.core.records import Column
from harness.model.canonical import MapValue, Value, text_of
from harness.model.conversion import convert
from harness.model.datatypes import Array, Map, Primitive, Struct
from harness.model.file_facts import FileKind
from harness.model.schema import Field, MergeMode, Schema
from harness.model.truth import Truth
from tests.builders.simulated_disk import META, Disk, File, Record

OVERLAID = {0: META[0], 2: META[2], 3: META[3]}
"""By the place that each takes of the table's columns."""


@dataclass(frozen=True)
class Reader:
    by: str = "id"
    """id, name or position: how a column is found in base files."""
    logs_by: str = ""
    """The same for log files; empty for: as base files, but never by position."""
    logs: str = "merged"
    """merged, ignored, undeleted (deletes are not seen), or reversed (the oldest wins)."""
    mode: MergeMode | None = None
    """The merge mode by which it reads; None for the table's."""
    parts_by: str = ""
    """How parts of structs are found: id, name or position; empty for: as columns."""
    null_where_typed: bool = False
    """Whether a column is NULL in files that have it with another type."""
    falls_back: bool = False
    """By id: whether a column that is not there is looked for by name."""
    shift: int = 0
    """By position: how many columns too far to the right."""
    meta_counts: bool = False
    """By position: Hudi's meta columns take the first positions of base files."""
    partition_counts: bool = False
    """By position: partition columns take a position of the file as well."""
    overlaid: bool = False
    """Whether base files show some of Hudi's meta columns in the places of the first columns."""
    rekeyed: bool = False
    """Whether the third column of a row of base files is taken for its key."""
    partless: bool = False
    """Whether a struct or an array of a base file is NULL where none of its parts is there."""


@dataclass(frozen=True)
class Reply:
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def columns_of(schema: Schema) -> tuple[Column, ...]:
    return tuple(Column(field.name, str(field.type), str(field.type)) for field in schema.fields)


@dataclass(frozen=True)
class Read:
    """A row as it was read, with what only the simulation knows of it."""

    key: Value
    file: File
    values: tuple[Value, ...]


Rows = Mapping[Value, Read]


def read(disk: Disk, truth: Truth, reader: Reader) -> Reply:
    rows = rows_of(disk, truth.step, truth.schema, reader)
    return Reply(columns_of(truth.schema), tuple(row.values for row in rows))


def rows_of(disk: Disk, step: int, schema: Schema, reader: Reader) -> list[Read]:
    rows: list[Read] = []
    for base, logs in disk.slices(step).values():
        older = _rows(disk, base, schema, reader, reader.by)
        result = {} if reader.rekeyed else older
        if reader.logs != "ignored":
            by = reader.logs_by or ("name" if reader.by == "position" else reader.by)
            partial = _mode(disk, reader) is MergeMode.PARTIAL_UPDATE
            for log in logs if reader.logs != "reversed" else reversed(logs):
                newer, by_order = _rows(disk, log, schema, reader, by), _by_order(disk, reader)
                for key in log.deleted if reader.logs != "undeleted" else ():
                    if not (by_order and key in log.late):
                        result.pop(key, None)
                if partial:
                    result |= _completed(newer, result, log.late)
                    continue
                result |= {k: row for k, row in newer.items() if not (by_order and k in log.late)}
        rows += _rekeyed(disk, schema, older, result, logs) if reader.rekeyed else result.values()
    return rows


def _mode(disk: Disk, reader: Reader) -> MergeMode | None:
    return reader.mode or disk.table.merge_mode


def _by_order(disk: Disk, reader: Reader) -> bool:
    return _mode(disk, reader) is not MergeMode.COMMIT_TIME


def _completed(newer: Rows, older: Rows, late: Collection[Value]) -> Rows:
    """Give each row the values of another version where it has NULL: the newer one counts first."""
    result = dict(newer)
    for key in newer.keys() & older.keys():
        first, then = (older, newer) if key in late else (newer, older)
        pairs = zip(first[key].values, then[key].values, strict=True)
        values = tuple(b if _null(a) and not _null(b) else a for a, b in pairs)
        result[key] = replace(first[key], values=values)
    return result


def _null(value: Value) -> bool:
    """Return whether a value is NULL, or a token of such a one (`tests.builders.traced_answer`)."""
    return value is None or getattr(value, "null", False) is True


def _rekeyed(
    disk: Disk, schema: Schema, older: Rows, newer: Rows, logs: Sequence[File]
) -> list[Read]:
    """Merge base rows by the text of their third column, partition columns left aside."""
    in_files = [n for n, name in enumerate(schema.names) if name not in disk.table.partition_by]
    texts = Counter(text_of(row.values[in_files[2]]) for row in older.values())
    named = {text_of(key) for log in logs for key in (*log.records, *log.deleted)}
    remaining = [row for row in older.values() if text_of(row.values[in_files[2]]) not in named]
    return remaining + [row for key, row in newer.items() for _ in range(texts[text_of(key)] or 1)]


def _rows(disk: Disk, file: File, schema: Schema, reader: Reader, by: str) -> dict[Value, Read]:
    sources = _sources(disk, file, schema, reader, by)
    inner = reader.parts_by or ("name" if by == "position" else by)
    value = _left if reader.partless and file.kind is FileKind.BASE else _value
    return {
        key: Read(key, file, tuple(value(record, *source, inner) for source in sources))
        for key, record in _whole(file)
    }


def _whole(file: File) -> list[tuple[Value, Record]]:
    return [(key, {**file.added(key), **record}) for key, record in file.records.items()]


def _sources(
    disk: Disk, file: File, schema: Schema, reader: Reader, by: str
) -> list[tuple[Field, Field | None]]:
    ids = {field.id: field for field in file.schema.fields}
    added = [Field(-at, name, Primitive("string")) for at, name in enumerate(META, start=1)]
    names = {field.name: field for field in (*file.schema.fields, *added)}
    order = (*META, *file.names) if reader.meta_counts else file.names
    laid = OVERLAID if reader.overlaid and file.kind is FileKind.BASE else {}
    fields: list[tuple[Field, Field | None]] = []
    position = reader.shift
    for field in schema.fields:
        in_path = field.name in disk.table.partition_by and not reader.partition_counts
        if position in laid and not in_path:
            fields.append((field, names[laid[position]]))
        elif by == "id":
            fields.append((field, _by_id(reader, field, ids, names)))
        elif by == "name" or in_path:
            fields.append((field, names.get(field.name)))
        else:
            at = order[position] if 0 <= position < len(order) else None
            fields.append((field, names[at] if at is not None else None))
        position += not in_path
    return fields


def _by_id(
    reader: Reader, column: Field, ids: Mapping[int, Field], names: Mapping[str, Field]
) -> Field | None:
    result = ids.get(column.id)
    if result is None and reader.falls_back:
        return names.get(column.name)
    typed = result is not None and not _nested(result) and result.type != column.type
    return None if reader.null_where_typed and typed else result


def _value(record: Record, column: Field, source: Field | None, by: str) -> Value:
    return None if source is None else _part(record[source.name], column, source, by)


def _left(record: Record, column: Field, source: Field | None, by: str) -> Value:
    return _shown(_value(record, column, source, by), column, source, by)


def _part(value: Value, column: Field, source: Field, by: str) -> Value:
    """Show a stored value: the parts of structs by id, or else by name."""
    if value is None or _nested(column) != _nested(source):
        return value
    match value:
        case dict():
            return {
                child.name: _child(value, child, source, by, at)
                for at, child in enumerate(column.children)
            }
        case tuple():
            return tuple(_part(e, column.children[0], source.children[0], by) for e in value)
        case MapValue():
            pairs = zip(column.children, source.children, strict=True)
            (wk, sk), (wv, sv) = pairs
            parts = [(_part(k, wk, sk, by), _part(v, wv, sv, by)) for k, v in value.pairs]
            return MapValue.of(parts)
    return _cast(value, column)


def _nested(field: Field) -> type | None:
    return type(field.type) if isinstance(field.type, Struct | Array | Map) else None


def _child(value: Record, column: Field, source: Field, by: str, at: int) -> Value:
    if by == "position":
        placed = source.children[at : at + 1]
        return _part(value[placed[0].name], column, placed[0], by) if placed else None
    key: Callable[[Field], object] = (lambda f: f.id) if by == "id" else (lambda f: f.name)
    there = [child for child in source.children if key(child) == key(column)]
    return _part(value[there[0].name], column, there[0], by) if there else None


def _cast(value: Value, column: Field) -> Value:
    """Show a value in the column's type, as it is where that cannot be (another column's)."""
    if isinstance(value, bool) != (column.type == Primitive("boolean")):
        return value
    try:
        return convert(value, column.type)
    except (ValueError, ArithmeticError, TypeError):
        return value


def _shown(value: Value, column: Field, source: Field | None, by: str) -> Value:
    """Show a value as far as innermost parts of it are in the file: they tell that it is there."""
    if value is None or source is None or not _inside(column, source):
        return value
    if not _reached(column, source, by):
        return None
    pairs = list(_pairs(column, source, by))
    match value:
        case dict():
            return {w.name: _shown(value[w.name], w, s, by) for w, s in pairs}
        case tuple():
            return tuple(_shown(part, *pairs[0], by) for part in value)
    return MapValue(tuple((k, _shown(v, *pairs[1], by)) for k, v in value.pairs))


def _inside(column: Field, source: Field) -> bool:
    nested = isinstance(column.type, Struct | Array | Map)
    return nested and type(column.type) is type(source.type)


def _reached(column: Field, source: Field | None, by: str) -> bool:
    """Return whether a file has some innermost part of what is wanted."""
    if source is None:
        return False
    if isinstance(column.type, Map) or not _inside(column, source):
        return True
    return any(_reached(*pair, by) for pair in _pairs(column, source, by))


def _pairs(column: Field, source: Field, by: str) -> Iterator[tuple[Field, Field | None]]:
    for number, child in enumerate(column.children):
        matches = {
            "id": [s for s in source.children if s.id == child.id],
            "name": [s for s in source.children if s.name == child.name],
            "position": source.children[number : number + 1],
        }
        result = matches[by] if isinstance(column.type, Struct) else [source.children[number]]
        yield child, result[0] if result else None
