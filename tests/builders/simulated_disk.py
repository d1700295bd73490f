"""A writer that only tests use: tables as their files would hold them.

A file knows its columns in order (partition columns last, as Spark writes them), the ids of their
fields, and the values of each record as they were at its step.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.core.grouping import grouped
from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileFact, FileKind
from harness.model.schema import Schema, Table
from harness.model.truth import History, Row, Truth, row_values
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import DeletePartition, Overwrite, Truncate
from harness.scenario.operations.services import Clean, Cluster, Compact
from harness.scenario.operations.snapshots import Restore, Rollback
from harness.scenario.operations.unfinished_writes import FailedWrite

META = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
"""What Hudi's base files begin with; a field of each has its number from -1 downwards as id."""
Record = Mapping[str, Value]
NEVER = 10**9


@dataclass(frozen=True)
class File:
    kind: FileKind
    group: str
    step: int
    schema: Schema
    names: tuple[str, ...]
    records: Mapping[Value, Record]
    deleted: tuple[Value, ...] = ()
    meta: Mapping[Value, Record] = field(default_factory=dict)
    """What Hudi adds to a record, where it is something else than usual."""
    sent: frozenset[Value] = frozenset()
    """The keys whose versions in it stand or not by the table's merge mode."""
    late: frozenset[Value] = frozenset()
    """Those of them that came late."""
    commits: Mapping[Value, str] = field(default_factory=dict)
    """The instant at which each record was committed, which it keeps in files of later steps."""
    gone: range = range(0)
    """The steps after which it is no part of the table any more."""

    @property
    def path(self) -> str:
        return f"{self.group}_{instant_of(self.step)}.{self.kind}"

    def added(self, key: Value) -> Record:
        """Return what Hudi adds to a record, in the order of its columns."""
        instant = self.commits.get(key, instant_of(self.step))
        values = (instant, f"{instant}_{self.group}_{key}", text_of(key), "", self.path)
        return self.meta.get(key) or dict(zip(META, values, strict=True))

    def fact(self) -> FileFact:
        types = {field.name: str(field.type) for field in self.schema.fields}
        columns = [*((name, "string") for name in META), *((n, types[n]) for n in self.names)]
        instant = instant_of(self.step)
        keys, gone = map(str, self.records), map(str, self.deleted)
        return FileFact(
            self.path, self.kind, self.group, instant, tuple(columns), tuple(keys), tuple(gone)
        )


def instant_of(step: int) -> str:
    return f"2024{step:04d}"


@dataclass
class Disk:
    table: Table
    merge_on_read: bool
    files: list[File] = field(default_factory=list)

    def until(self, step: int) -> list[File]:
        return [file for file in self.files if file.step <= step and step not in file.gone]

    def drop(self, gone: Iterable[File], step: int) -> None:
        paths = {key.path for key in gone}
        for at, file in enumerate(self.files):
            if file.path in paths:
                self.files[at] = replace(file, gone=range(step, NEVER))

    def slices(self, step: int) -> dict[str, tuple[File, list[File]]]:
        files: dict[str, tuple[File, list[File]]] = {}
        for file in self.until(step):
            if file.kind is FileKind.BASE:
                files[file.group] = file, []
            else:
                files[file.group][1].append(file)
        return files

    def group_of(self, key: Value) -> str | None:
        """Return the group whose newest base file holds a key, as an index would.

        Of several it is the one in which no log file deletes it: the row moved there.
        """
        slices = self.slices(10**6).items()
        results = [(group, logs) for group, (base, logs) in slices if key in base.records]
        stands = [group for group, logs in results if not any(key in log.deleted for log in logs)]
        return next(iter((*stands, *(group for group, _ in results))), None)


def written(
    table: Table, operations: Sequence[Operation], history: History, *, merge_on_read: bool
) -> Disk:
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
    disk.drop((file for file in disk.until(after.step) if file.step in after.undone), after.step)


def _fail(disk: Disk, before: Truth, after: Truth) -> None:
    first = len(disk.files)
    rows = {**after.rows, **{row.key: row for row in after.failed}}
    _write(disk, before, replace(after, rows=rows))
    disk.drop(disk.files[first:], after.step)


def _write(disk: Disk, before: Truth, after: Truth) -> None:
    changed = [row for key, row in after.rows.items() if before.rows.get(key) is not row]
    moved = [key for key in before.rows if _moved(key, before, after)]
    gone = [*moved, *(key for key in before.rows if key not in after.rows)]
    if disk.merge_on_read:  # readers decide whether a late version counts
        changed = [after.sent_contested.get(row.key) or row for row in changed]
        changed += [row for row in _late(before, after).values() if row is not None]
        gone += [key for key, row in _late(before, after).items() if row is None]
    rewritten: dict[str, list[Row]] = {}
    for row in changed:
        there = disk.group_of(row.key) if row.key not in moved else None
        rewritten.setdefault(there or _new_group(disk, after, row), []).append(row)
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
            remaining = [after.rows[key] for key in base.records if key not in gone]
            disk.files.append(_file(disk, FileKind.BASE, group, after, remaining))


def _moved(key: Value, before: Truth, after: Truth) -> bool:
    """Return whether a row went to another partition: the index finds it in its old one."""
    row = after.rows.get(key)
    return row is not None and row.group[1] != before.rows[key].group[1]


def _late(before: Truth, after: Truth) -> Mapping[Value, Row | None]:
    sent, there = after.sent_contested.items(), before.rows
    return {key: row for key, row in sent if key in there and after.rows.get(key) is there[key]}


def _new_group(disk: Disk, truth: Truth, row: Row) -> str:
    partition = [text_of(row.values[truth.column_id(name)]) for name in disk.table.partition_by]
    return "-".join((f"g{truth.step}", *partition))


def _compact(disk: Disk, after: Truth) -> None:
    for group, (base, logs) in disk.slices(after.step).items():
        if logs:
            remaining = [after.rows[key] for key in base.records if key in after.rows]
            disk.files.append(_file(disk, FileKind.BASE, group, after, remaining))


def _cluster(disk: Disk, after: Truth) -> None:
    disk.drop(disk.until(after.step), after.step)
    _in_new_groups(disk, after, after.rows.values())


def _in_new_groups(disk: Disk, after: Truth, rows: Iterable[Row]) -> None:
    for group, of_group in grouped((_new_group(disk, after, row), row) for row in rows).items():
        disk.files.append(_file(disk, FileKind.BASE, group, after, of_group))


def _clean(disk: Disk, after: Truth) -> None:
    """Remove what is older than the newest base file of a group."""
    newest = {group: base.step for group, (base, _) in disk.slices(after.step).items()}
    old = (file for file in disk.until(after.step) if file.step < newest[file.group])
    disk.drop(old, after.step)


def _replace(disk: Disk, before: Truth, after: Truth) -> None:
    """Put new file groups in the place of those of rows that are not there as they were."""
    left = [key for key, row in before.rows.items() if after.rows.get(key) is not row]
    groups_gone = {
        group
        for group, (base, _) in disk.slices(after.step).items()
        if set(left) & set(base.records) or not set(after.rows) & set(base.records)
    }
    disk.drop((file for file in disk.until(after.step) if file.group in groups_gone), after.step)
    new = (row for key, row in after.rows.items() if before.rows.get(key) is not row)
    _in_new_groups(disk, after, new)


def _file(disk: Disk, kind: FileKind, group: str, truth: Truth, rows: Sequence[Row]) -> File:
    names = truth.schema.names
    last = disk.table.partition_by
    order = (*(name for name in names if name not in last), *last)
    records = {
        row.key: dict(zip(names, row_values(row, truth.schema), strict=True)) for row in rows
    }
    commits = {row.key: instant_of(max(row.written.values())) for row in rows}
    contested = truth.sent_contested if kind is FileKind.LOG else {}
    sent, late = frozenset(contested), frozenset(_older(truth, contested))
    of_step = truth.step, truth.schema, order, records
    return File(kind, group, *of_step, sent=sent, late=late, commits=commits)


def _older(truth: Truth, sent: Mapping[Value, Row | None]) -> list[Value]:
    """Return the keys of versions with a smaller ordering value than the table had before."""
    before = truth.before_last.rows if truth.before_last else {}
    return [
        key
        for key, row in sent.items()
        if row is None
        or (key in before and truth.ordering_values(row) < truth.ordering_values(before[key]))
    ]
