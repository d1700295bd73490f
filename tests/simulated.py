"""A writer and readers that only tests use: tables as their files would hold them, and how they
are read, rightly and wrongly.

Nothing here is shared with `harness.model.simulation.column_resolution`: what both compute must
agree all the same.
A file knows its columns in order (partition columns last, as Spark writes them), the field ids
that a format with ids would keep, and the values of each record as they were at its step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.core.records import Column
from harness.model.canonical import MapValue, Value, text_of
from harness.model.conversion import convert
from harness.model.datatypes import Array, Map, Primitive, Struct
from harness.model.file_facts import FileFact, FileKind
from harness.model.schema import Field, Schema
from harness.model.table import MergeMode, Table
from harness.model.truth import History, Row, Truth, row_values
from harness.scenario.operations.api import Operation
from harness.scenario.operations.clean import Clean
from harness.scenario.operations.cluster import Cluster
from harness.scenario.operations.compact import Compact
from harness.scenario.operations.delete_partition import DeletePartition
from harness.scenario.operations.failed_write import FailedWrite
from harness.scenario.operations.overwrite import Overwrite
from harness.scenario.operations.restore import Restore
from harness.scenario.operations.rollback import Rollback
from harness.scenario.operations.truncate import Truncate
from tests import simulated_parts

META = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
"""What Hudi's base files begin with; a field of each has its number from -1 downwards as id."""
OVERLAID = {0: META[0], 2: META[2], 3: META[3]}
"""By the place that each takes of the table's columns."""
Record = Mapping[str, Value]
NEVER = 10**9


@dataclass(frozen=True)
class File:
    """One data file."""

    kind: FileKind
    group: str
    step: int
    schema: Schema
    names: tuple[str, ...]
    records: Mapping[Value, Record]
    deleted: tuple[Value, ...] = ()
    meta: Mapping[Value, Record] = field(default_factory=dict)
    """What Hudi adds to a record, where it is something else than usual."""
    late: frozenset[Value] = frozenset()
    """The keys whose versions in it came late."""
    commits: Mapping[Value, str] = field(default_factory=dict)
    """The instant at which each record was committed, which it keeps in files of later steps."""
    gone: range = range(0)
    """The steps after which it is no part of the table any more."""

    @property
    def path(self) -> str:
        """Its name."""
        return f"{self.group}_{instant_of(self.step)}.{self.kind}"

    def added(self, key: Value) -> Record:
        """Return what Hudi adds to a record, in the order of its columns."""
        instant = self.commits.get(key, instant_of(self.step))
        values = (instant, f"{instant}_{self.group}_{key}", text_of(key), "", self.path)
        return self.meta.get(key) or dict(zip(META, values, strict=True))

    def fact(self) -> FileFact:
        """Return what the harness reads of it."""
        types = {each.name: str(each.type) for each in self.schema.fields}
        columns = [*((name, "string") for name in META), *((n, types[n]) for n in self.names)]
        instant = instant_of(self.step)
        keys, gone = map(str, self.records), map(str, self.deleted)
        return FileFact(
            self.path, self.kind, self.group, instant, tuple(columns), tuple(keys), tuple(gone)
        )


def instant_of(step: int) -> str:
    """Name the instant that a step makes."""
    return f"2024{step:04d}"


@dataclass
class Disk:
    """A table's folder."""

    table: Table
    merge_on_read: bool
    files: list[File] = field(default_factory=list)

    def until(self, step: int) -> list[File]:
        """Return the files of the table as it was after a step."""
        return [each for each in self.files if each.step <= step and step not in each.gone]

    def drop(self, gone: Iterable[File], step: int) -> None:
        """Take files out of the table with a step."""
        paths = {each.path for each in gone}
        for at, file in enumerate(self.files):
            if file.path in paths:
                self.files[at] = replace(file, gone=range(step, NEVER))

    def slices(self, step: int) -> dict[str, tuple[File, list[File]]]:
        """Return each group's newest base file and the log files after it."""
        found: dict[str, tuple[File, list[File]]] = {}
        for each in self.until(step):
            if each.kind is FileKind.BASE:
                found[each.group] = each, []
            else:
                found[each.group][1].append(each)
        return found

    def group_of(self, key: Value) -> str | None:
        """Return the group whose newest base file holds a key, as an index would."""
        for group, (base, _) in self.slices(10**6).items():
            if key in base.records:
                return group
        return None


def written(
    table: Table, operations: Sequence[Operation], history: History, *, merge_on_read: bool
) -> Disk:
    """Write a history, step by step."""
    disk = Disk(table, merge_on_read)
    for operation, before, after in zip(operations, history, history[1:], strict=False):
        if isinstance(operation, Compact) and not operation.only:
            _compact(disk, after)
        elif isinstance(operation, Cluster) and not operation.only:
            _cluster(disk, after)
        elif isinstance(operation, Restore | Rollback):
            _take_back(disk, after)
        elif isinstance(operation, FailedWrite):
            _fail(disk, before, after)
        elif isinstance(operation, Clean):
            _clean(disk, after)
        elif isinstance(operation, Overwrite | DeletePartition | Truncate):
            _replace(disk, before, after)
        else:
            _write(disk, before, after)
    return disk


def _take_back(disk: Disk, after: Truth) -> None:
    """Take away the files of what is taken back, and give those back that it took away."""
    for at, file in enumerate(disk.files):
        if file.gone.start in after.undone and file.gone.stop == NEVER:
            disk.files[at] = replace(file, gone=range(file.gone.start, after.step))
    disk.drop((each for each in disk.until(after.step) if each.step in after.undone), after.step)


def _fail(disk: Disk, before: Truth, after: Truth) -> None:
    """Write files that are never committed."""
    first = len(disk.files)
    rows = {**after.rows, **{row.key: row for row in after.failed}}
    _write(disk, before, replace(after, rows=rows))
    disk.drop(disk.files[first:], after.step)


def _write(disk: Disk, before: Truth, after: Truth) -> None:
    changed = [row for key, row in after.rows.items() if before.rows.get(key) is not row]
    gone = [key for key in before.rows if key not in after.rows]
    if disk.merge_on_read:  # whether a late version stands is told when it is read
        changed += [row for row in _late(before, after).values() if row is not None]
        gone += [key for key, row in _late(before, after).items() if row is None]
    rewritten: dict[str, list[Row]] = {}
    for row in changed:
        group = disk.group_of(row.key) or _new_group(disk, after, row)
        rewritten.setdefault(group, []).append(row)
    for key in gone:
        rewritten.setdefault(disk.group_of(key) or "", [])
    slices = disk.slices(after.step)
    for group, rows in rewritten.items():
        if group not in slices:
            disk.files.append(_file(disk, FileKind.BASE, group, after, rows))
            continue
        base, _ = slices[group]
        dead = tuple(key for key in gone if key in base.records)
        if disk.merge_on_read:
            disk.files.append(replace(_file(disk, FileKind.LOG, group, after, rows), deleted=dead))
        else:
            kept = [after.rows[key] for key in base.records if key in after.rows]
            disk.files.append(_file(disk, FileKind.BASE, group, after, kept))


def _late(before: Truth, after: Truth) -> Mapping[Value, Row | None]:
    """Return the versions that came late and do not stand."""
    sent = after.sent_contested.items()
    return {
        key: row
        for key, row in sent
        if key in before.rows and after.rows.get(key) is before.rows[key]
    }


def _new_group(disk: Disk, truth: Truth, row: Row) -> str:
    partition = [text_of(row.values[truth.column_id(name)]) for name in disk.table.partition_by]
    return "-".join((f"g{truth.step}", *partition))


def _compact(disk: Disk, after: Truth) -> None:
    for group, (base, logs) in disk.slices(after.step).items():
        if logs:
            kept = [after.rows[key] for key in base.records if key in after.rows]
            disk.files.append(_file(disk, FileKind.BASE, group, after, kept))


def _cluster(disk: Disk, after: Truth) -> None:
    """Make a file group of each partition's rows instead of all there are."""
    disk.drop(disk.until(after.step), after.step)
    groups: dict[str, list[Row]] = {}
    for row in after.rows.values():
        groups.setdefault(_new_group(disk, after, row), []).append(row)
    for group, rows in groups.items():
        disk.files.append(_file(disk, FileKind.BASE, group, after, rows))


def _clean(disk: Disk, after: Truth) -> None:
    """Remove what is older than the newest base file of a group."""
    newest = {group: base.step for group, (base, _) in disk.slices(after.step).items()}
    old = (each for each in disk.until(after.step) if each.step < newest[each.group])
    disk.drop(old, after.step)


def _replace(disk: Disk, before: Truth, after: Truth) -> None:
    """Put new file groups in the place of those of rows that are not there as they were."""
    left = [key for key, row in before.rows.items() if after.rows.get(key) is not row]
    groups_gone = {
        group
        for group, (base, _) in disk.slices(after.step).items()
        if set(left) & set(base.records) or not set(after.rows) & set(base.records)
    }
    disk.drop((each for each in disk.until(after.step) if each.group in groups_gone), after.step)
    groups: dict[str, list[Row]] = {}
    for row in (row for key, row in after.rows.items() if before.rows.get(key) is not row):
        groups.setdefault(_new_group(disk, after, row), []).append(row)
    for group, rows in groups.items():
        disk.files.append(_file(disk, FileKind.BASE, group, after, rows))


def _file(disk: Disk, kind: FileKind, group: str, truth: Truth, rows: Sequence[Row]) -> File:
    names = truth.schema.names
    last = disk.table.partition_by
    order = (*(name for name in names if name not in last), *last)
    records = {
        row.key: dict(zip(names, row_values(row, truth.schema), strict=True)) for row in rows
    }
    commits = {row.key: instant_of(max(row.written.values())) for row in rows}
    late = frozenset(key for key in truth.sent_contested if kind is FileKind.LOG)
    return File(kind, group, truth.step, truth.schema, order, records, late=late, commits=commits)


@dataclass(frozen=True)
class Reader:
    """How a simulated engine reads."""

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
    """An answer as the judge gets it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]


def columns_of(schema: Schema) -> tuple[Column, ...]:
    """Declare a schema as an engine does that has our words."""
    return tuple(Column(each.name, str(each.type), str(each.type)) for each in schema.fields)


@dataclass(frozen=True)
class Read:
    """A row as it was read, with what only the simulation knows of it."""

    key: Value
    file: File
    values: tuple[Value, ...]


Rows = Mapping[Value, Read]


def read(disk: Disk, truth: Truth, reader: Reader) -> Reply:
    """Ask for all columns after a step."""
    rows = rows_of(disk, truth.step, truth.schema, reader)
    return Reply(columns_of(truth.schema), tuple(row.values for row in rows))


def rows_of(disk: Disk, step: int, schema: Schema, reader: Reader) -> list[Read]:
    """Read the files as they were after a step, for the columns of a schema."""
    rows: list[Read] = []
    for base, logs in disk.slices(step).values():
        older = _rows(disk, base, schema, reader, reader.by)
        found = {} if reader.rekeyed else older
        if reader.logs != "ignored":
            by = reader.logs_by or ("name" if reader.by == "position" else reader.by)
            for log in logs if reader.logs != "reversed" else reversed(logs):
                newer, by_order = _rows(disk, log, schema, reader, by), _by_order(disk, reader)
                for key in log.deleted if reader.logs != "undeleted" else ():
                    if not (by_order and key in log.late):
                        found.pop(key, None)
                found |= {k: row for k, row in newer.items() if not (by_order and k in log.late)}
        rows += _rekeyed(disk, schema, older, found, logs) if reader.rekeyed else found.values()
    return rows


def _by_order(disk: Disk, reader: Reader) -> bool:
    return (reader.mode or disk.table.merge_mode) is not MergeMode.COMMIT_TIME


def _rekeyed(
    disk: Disk, schema: Schema, older: Rows, newer: Rows, logs: Sequence[File]
) -> list[Read]:
    """Merge base rows by the text of their third column, partition columns left aside."""
    own = [n for n, name in enumerate(schema.names) if name not in disk.table.partition_by]
    texts = Counter(text_of(row.values[own[2]]) for row in older.values())
    named = {text_of(key) for log in logs for key in (*log.records, *log.deleted)}
    kept = [row for row in older.values() if text_of(row.values[own[2]]) not in named]
    return kept + [row for key, row in newer.items() for _ in range(texts[text_of(key)] or 1)]


def _rows(disk: Disk, file: File, schema: Schema, reader: Reader, by: str) -> dict[Value, Read]:
    sources = _sources(disk, file, schema, reader, by)
    inner = reader.parts_by or ("name" if by == "position" else by)
    value = _left if reader.partless and file.kind is FileKind.BASE else _value
    return {
        key: Read(key, file, tuple(value(record, *source, inner) for source in sources))
        for key, record in _whole(file)
    }


def _whole(file: File) -> list[tuple[Value, Record]]:
    return [(key, {**file.added(key), **each}) for key, each in file.records.items()]


def _sources(
    disk: Disk, file: File, schema: Schema, reader: Reader, by: str
) -> list[tuple[Field, Field | None]]:
    """Tell for each column of the table which one of the file is read."""
    ids = {each.id: each for each in file.schema.fields}
    added = [Field(-at, name, Primitive("string")) for at, name in enumerate(META, start=1)]
    names = {each.name: each for each in (*file.schema.fields, *added)}
    order = (*META, *file.names) if reader.meta_counts else file.names
    laid = OVERLAID if reader.overlaid and file.kind is FileKind.BASE else {}
    found: list[tuple[Field, Field | None]] = []
    position = reader.shift
    for each in schema.fields:
        in_path = each.name in disk.table.partition_by and not reader.partition_counts
        if position in laid and not in_path:
            found.append((each, names[laid[position]]))
        elif by == "id":
            found.append((each, _by_id(reader, each, ids, names)))
        elif by == "name" or in_path:
            found.append((each, names.get(each.name)))
        else:
            at = order[position] if 0 <= position < len(order) else None
            found.append((each, names[at] if at is not None else None))
        position += not in_path
    return found


def _by_id(
    reader: Reader, wanted: Field, ids: Mapping[int, Field], names: Mapping[str, Field]
) -> Field | None:
    found = ids.get(wanted.id)
    if found is None and reader.falls_back:
        return names.get(wanted.name)
    typed = found is not None and not _nested(found) and found.type != wanted.type
    return None if reader.null_where_typed and typed else found


def _value(record: Record, wanted: Field, source: Field | None, by: str) -> Value:
    return None if source is None else _part(record[source.name], wanted, source, by)


def _left(record: Record, wanted: Field, source: Field | None, by: str) -> Value:
    return simulated_parts.left(_value(record, wanted, source, by), wanted, source, by)


def _part(value: Value, wanted: Field, source: Field, by: str) -> Value:
    """Show a stored value: the parts of structs by id, or else by name."""
    if value is None or _nested(wanted) != _nested(source):
        return value
    match value:
        case dict():
            return {
                each.name: _child(value, each, source, by, at)
                for at, each in enumerate(wanted.children)
            }
        case tuple():
            return tuple(_part(e, wanted.children[0], source.children[0], by) for e in value)
        case MapValue():
            pairs = zip(wanted.children, source.children, strict=True)
            (wk, sk), (wv, sv) = pairs
            parts = [(_part(k, wk, sk, by), _part(v, wv, sv, by)) for k, v in value.pairs]
            return MapValue.of(parts)
    return _cast(value, wanted)


def _nested(field: Field) -> type | None:
    return type(field.type) if isinstance(field.type, Struct | Array | Map) else None


def _child(value: Record, wanted: Field, source: Field, by: str, at: int) -> Value:
    if by == "position":
        placed = source.children[at : at + 1]
        return _part(value[placed[0].name], wanted, placed[0], by) if placed else None
    key: Callable[[Field], object] = (lambda f: f.id) if by == "id" else (lambda f: f.name)
    there = [each for each in source.children if key(each) == key(wanted)]
    return _part(value[there[0].name], wanted, there[0], by) if there else None


def _cast(value: Value, wanted: Field) -> Value:
    """Show a value in the column's type, as it is where that cannot be (another column's)."""
    if isinstance(value, bool) != (wanted.type == Primitive("boolean")):
        return value
    try:
        return convert(value, wanted.type)
    except (ValueError, ArithmeticError, TypeError):
        return value
