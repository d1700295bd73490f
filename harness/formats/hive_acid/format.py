"""Transactional tables of Hive ("full ACID"): each write has ORC files of its own.

A write makes a folder `delta_N_N` of added rows and `delete_delta_N_N` of deleted ones; compactions
join them into `delta_N_M` or `base_M` (Hive documentation, "Hive Transactions"; `AcidUtils` of Hive
3.1.3). The metastore knows which files count. HiveServer2 writes.
"""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from harness.core.arrow import pa
from harness.core.setting_values import SettingValues
from harness.engines.format_facts import FormatFacts
from harness.formats.api import (
    NO_CATALOG,
    Committed,
    FileFactError,
    FileRows,
    Format,
    VariantSettings,
)
from harness.formats.files import arrow_file, orc
from harness.formats.files.parquet import canonical_value
from harness.formats.hive import hiveql
from harness.formats.hive.format import (
    CASCADES,
    NO_TYPES,
    SCHEMA_CHANGES,
    follows_anyway,
    hive_type,
)
from harness.model.canonical import MapValue, Value, text_of
from harness.model.datatypes import Array, Map, Struct
from harness.model.file_facts import FileFact, FileKind
from harness.model.identifiers import TABLE
from harness.model.schema import Field, Table
from harness.model.truth import Row, Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory, WriteIds
from harness.scenario.definition import CASCADE, Scenario
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Family, Operation, StepContext, TableKind
from harness.scenario.operations.merge import Merge, Mutate
from harness.scenario.operations.row_writes import Insert, Overwrite, OverwriteScope, Touch, Upsert
from harness.scenario.operations.services import Compact
from harness.scenario.operations.spark_sql import columns_in_order, quoted
from harness.scenario.operations.unfinished_writes import (
    AbortTransactions,
    FailedWrite,
    KilledWrite,
)
from harness.scenario.statements import (
    ABORT,
    COMMIT,
    DeathPoint,
    KilledSql,
    Mutation,
    Sql,
    Statement,
    of_table,
)

BASE: Final = "base"
DELETES: Final = "delete_delta"
ROW: Final = "row"
"""The column of a file that holds a row of the table."""
ROW_ID: Final = ("originalTransaction", "bucket", "rowId")
"""The columns that tell a row from all others for as long as it is there."""
WRITER: Final = "currentTransaction"
_AS_USUAL: Final = {name.lower(): name for name in (*ROW_ID, WRITER)}
_INSERT: Final = 0
"""The `operation` of what adds a row."""
FOLDER: Final = re.compile(
    r"(?P<kind>base|delta|delete_delta)_(?P<first>\d+)(?:_(?P<last>\d+))?"
    r"(?:_(?P<statement>\d+))?(?P<transaction>_v\d+)?"
)
COMPACTED: Final = "_metadata_acid"
"""A file in a base folder that a compaction of Hive 3 made, and no overwrite
(`AcidUtils.MetaDataFile`); one of Hive 4 is named by its transaction instead."""

RowId = tuple[int, int, int]
Keys = dict[tuple[Path, RowId], tuple[str, str]]
"""By a row's partition and its place there the file that holds it, and its key: a write counts the
rows of each partition anew."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of one write, or of a compaction."""

    path: Path
    kind: str
    first: int
    last: int
    compacted: bool

    @property
    def instant(self) -> str:
        """What the write or the compaction is called: by its number, or by its folder."""
        if not self.compacted:
            return str(self.last)
        return self.path.name.removeprefix("delete_").partition("_v")[0]

    def has(self, number: int) -> bool:
        return (self.kind == BASE or self.first <= number) and number <= self.last

    def counts(self, ids: WriteIds) -> bool:
        return any(self.first <= number <= self.last for number in ids.committed)

    def within(self, other: Folder) -> bool:
        """Return whether a compaction has its rows as well."""
        if self is other or self.path.parent != other.path.parent:
            return False
        if (self.kind, self.first, self.last) == (other.kind, other.first, other.last) and (
            self.compacted and other.compacted
        ):
            # One of them is left of a compaction that another worker began anew.
            return self.path.name < other.path.name
        if other.kind == BASE:
            return self.last <= other.last
        wider = other.last - other.first > self.last - self.first
        return wider and other.first <= self.first and self.last <= other.last


def folders(table: Path) -> tuple[Folder, ...]:
    """Return the folders of all writes by number, without the hidden ones of killed servers."""
    every = (
        path
        for path in table.rglob("*")
        if path.is_dir() and not any(part[0] == "." for part in path.relative_to(table).parts)
    )
    made = [folder for path in every if (folder := _folder(path))]
    return tuple(sorted(made, key=lambda folder: (folder.last, folder.compacted, str(folder.path))))


def instants(table: Path, ids: WriteIds) -> tuple[str, ...]:
    """Return the committed writes and the compactions, each by what it is called."""
    there = [folder for folder in folders(table) if folder.counts(ids)]
    made = [folder for folder in there if folder.compacted]
    written = (number for number in ids.committed if any(folder.has(number) for folder in there))
    every = [(number, False, str(number)) for number in written]
    every += [(folder.last, True, folder.instant) for folder in made]
    return tuple(dict.fromkeys(name for _, _, name in sorted(every)))


def live(table: Path, ids: WriteIds) -> tuple[Folder, ...]:
    """Return the folders that readers of now must look into."""
    counting = [folder for folder in folders(table) if folder.counts(ids)]
    return tuple(folder for folder in counting if not any(map(folder.within, counting)))


def joined(table: Path, instant: str) -> tuple[str, ...]:
    """Return the numbers of the writes whose rows a compaction found."""
    compactions = (
        folder for folder in folders(table) if folder.compacted and folder.instant == instant
    )
    return tuple(map(str, range(1, max((folder.last for folder in compactions), default=0) + 1)))


def facts(table: Path, key: str, ids: WriteIds) -> tuple[FileFact, ...]:
    """Return a fact for each live file of rows, and for what is deleted of each."""
    there = live(table, ids)
    deletions = [
        _Deletions(folder, path, _stored(path, ROW_ID))
        for folder in there
        for path in (_files(folder) if folder.kind == DELETES else ())
    ]
    keys: Keys = {}
    made = list[FileFact]()
    for folder in there:
        # What a compaction that made the folder knew to be deleted.
        gone = {
            row_id
            for deletion in deletions
            if folder.compacted
            and deletion.folder.path.parent == folder.path.parent
            and deletion.folder.last <= folder.last
            for row_id in deletion.row_ids
        }
        for path in _files(folder) if folder.kind != DELETES else ():
            made.append(_fact(table, path, folder.instant, key, keys, gone))
    for deletion in deletions:
        made += _deletions(table, deletion, keys)
    return tuple(made)


@dataclass(frozen=True, slots=True)
class _Deletions:
    folder: Folder
    path: Path
    row_ids: Sequence[RowId]


def file_rows(path: Path, fact: FileFact) -> FileRows:
    names = tuple(name for name, _ in _columns(path))
    type_ = orc.schema(path).field(ROW).type
    try:
        every = [(row_id, canonical_value(row, type_)) for row_id, row in _rows(path)]
    except (ValueError, OverflowError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    # A fact does not say which column is the key: its keys tell it.
    for name in names:
        newest = _newest([(row_id, str(row[name])) for row_id, row in every], fact.keys)
        rows = [row for row_id, row in every if row_id in newest]
        if tuple(str(row[name]) for row in rows) == fact.keys:
            return names, tuple(tuple(row[name] for name in names) for row in rows)
    raise FileFactError(f"{path.name}: it does not have the rows {', '.join(fact.keys)}")


def _newest(rows: Sequence[tuple[RowId, str]], keys: Sequence[str]) -> frozenset[RowId]:
    """Return the greatest row_ids of each key, as many as keys are asked for."""
    ids: dict[str, list[RowId]] = {}
    for row_id, key in sorted(rows):
        ids.setdefault(key, []).append(row_id)
    asked = Counter(keys)
    return frozenset(
        at for key, versions in ids.items() for at in versions[len(versions) - asked[key] :]
    )


def _folder(path: Path) -> Folder | None:
    name = FOLDER.fullmatch(path.name)
    if name is None:
        return None
    first, last = int(name["first"]), int(name["last"] or name["first"])
    compacted = first != last or bool(name["transaction"]) or (path / COMPACTED).is_file()
    if name["kind"] == BASE:
        first = 1
    return Folder(path, name["kind"], first, last, compacted)


def _files(folder: Folder) -> list[Path]:
    paths = (path for path in folder.path.iterdir() if path.is_file())
    return sorted(path for path in paths if path.name[0] not in "._")


def _fact(
    table: Path, path: Path, instant: str, key: str, keys: Keys, gone: AbstractSet[RowId]
) -> FileFact:
    """Return the fact of a file of rows; the row_ids of its rows are added to `keys`."""
    relative, rows = path.relative_to(table).as_posix(), list[tuple[RowId, str]]()
    for row_id, row in _rows(path):
        if key not in row:
            raise FileFactError(f"{path.name}: it has no column {key}")
        rows.append((row_id, str(row[key])))
    left = [row for row in rows if row[0] not in gone]
    keys |= {(path.parent.parent, row_id): (relative, texts) for row_id, texts in left}
    texts = tuple(text for _, text in left)
    return FileFact(relative, FileKind.BASE, relative, instant, _columns(path), texts)


def _deletions(table: Path, deletions: _Deletions, keys: Keys) -> Iterator[FileFact]:
    """Yield a fact for each live file of which a file of deletions takes rows."""
    relative, gone = deletions.path.relative_to(table).as_posix(), dict[str, list[str]]()
    for row_id in deletions.row_ids:
        if holder := keys.get((deletions.folder.path.parent, row_id)):
            file, key = holder
            gone.setdefault(file, []).append(key)
    instant = deletions.folder.instant
    for file, of in gone.items():
        yield FileFact(relative, FileKind.LOG, file, instant, (), (), tuple(of))


def file_table(location: str) -> pa.Table:
    """Read a file; a compaction by query of Hive 4 names all columns in small letters."""
    table = arrow_file.read(location)
    return table.rename_columns([_AS_USUAL.get(name, name) for name in table.column_names])


def _stored(path: Path, columns: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    """Read the values of some columns, row by row, as Arrow has them."""
    table = file_table(str(path))
    if absent := [column for column in columns if column not in table.column_names]:
        raise FileFactError(f"{path.name}: it has no column {', '.join(absent)}")
    return tuple(zip(*(table.column(column).to_pylist() for column in columns), strict=True))


def _columns(path: Path) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, str(field.type)) for field in orc.schema(path).field(ROW).type)


def _rows(path: Path) -> Iterator[tuple[RowId, Mapping[str, Any]]]:
    for *row_id, operation, row in _stored(path, (*ROW_ID, "operation", ROW)):
        if operation == _INSERT and row is not None:
            yield (row_id[0], row_id[1], row_id[2]), row


def _batch(before: Truth, written: Iterable[Row], gone: Iterable[Row], ends: str) -> Mutation:
    table = before.table
    fields = [f for f in columns_in_order(before) if f.name not in table.partition_by]
    key = [field for field in fields if field.name == table.key]
    rows = [
        *(
            _message(before, "update" if r.key in before.rows else "insert", r, fields)
            for r in written
        ),
        *(_message(before, "delete", row, key) for row in gone),
    ]
    columns = tuple((field.name, hive_type(field.type)) for field in fields)
    return Mutation(columns, table.key, tuple(rows), ends)


def _message(truth: Truth, do: str, row: Row, fields: Iterable[Field]) -> dict[str, object]:
    """Return what is told of a row; of one to delete nothing but its identifier counts."""
    parts = [row.of(truth.schema.find(name)) for name in truth.table.partition_by]
    values = {field.name: _json(row.of(field), field) for field in fields}
    return {"do": do, "partition": list(map(text_of, parts)), "row": values}


def _json(value: Value, field: Field) -> object:
    """Return a stored value (structs by child ids) as Hive's own parser of JSON takes it."""
    match field.type:
        case _ if value is None:
            return None
        case Struct():
            return {child.name: _json(value.get(child.id), child) for child in field.children}
        case Array():
            return [_json(element, field.children[0]) for element in value]
        case Map() if isinstance(value, MapValue):
            return {text_of(k): _json(v, field.children[1]) for k, v in value.pairs}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal | datetime.date):  # a moment is one as well
        return str(value)
    return value


SESSION: Final = {
    "hive.support.concurrency": "true",
    "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
    "hive.exec.dynamic.partition.mode": "nonstrict",
}
"""Hive documentation, "Hive Transactions", "Configuration"."""
BUCKETS: Final = "buckets"
COMPACTION: Final = "compaction"
LOCK_WAIT: Final = "lock_wait"
"""How often a session asks for a lock that another transaction has."""
SETTINGS: Final = {
    BUCKETS: SettingValues(("none", "1", "2"), "the number of buckets by the key; if absent, none"),
    COMPACTION: SettingValues(
        ("major", "minor"), "what `compact` asks for; major, also if absent, makes one base file"
    ),
    CASCADE: CASCADES,
    LOCK_WAIT: SettingValues(("usual", "short"), "`short`: `hive.lock.numretries` is 3"),
}
RETRIES: Final = {"hive.lock.numretries": "3"}
"""What a session of `short` is told; by itself it asks 100 times, up to a minute apart."""


class HiveAcid(Format):
    NAME = "hive-acid"
    kind: TableKind = TableKind(Family.HIVE_ACID)
    reader_facts = FormatFacts(
        "hive-acid", "hive", "orc", transactional=True, written_by="hive-acid"
    )
    settings = SETTINGS
    unsupported_types = NO_TYPES
    partitions_last = True

    def unsupported_settings(self, settings: VariantSettings, scenario: Scenario) -> str:
        names = {name_of(step.operation) for step in scenario.steps}
        if settings.get(CASCADE) == "off" and (why := follows_anyway(scenario)):
            return why
        if settings.get(COMPACTION) == "minor" and "compact" not in names:
            return "compaction=minor: no step compacts"
        return ""

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        return {**SESSION, **RETRIES} if settings.get(LOCK_WAIT) == "short" else SESSION

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        number = settings.get(BUCKETS, "none")
        buckets = f" clustered by ({quoted(table.key)}) into {number} buckets"
        buckets = "" if number == "none" else buckets
        created = hiveql.create_table(table, "orc", buckets)
        return (Sql(f"{created} tblproperties ('transactional' = 'true')"),)

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        if name_of(operation) in SCHEMA_CHANGES:
            return (Sql(hiveql.changed_columns(before, after, settings)),)
        # Hive lets no update set the columns of buckets and of partitions.
        bucketed = settings.get(BUCKETS, "none") != "none"
        stay = (*((after.table.key,) if bucketed else ()), *after.table.partition_by)
        context = StepContext(self.kind, before, after, settings)
        if (statements := operation.statements(context)) is not None:
            return statements
        match operation:
            case Insert() | Upsert() | Touch():
                return (Sql(hiveql.whole_rows(before, after, stay)),)
            case Merge():
                return of_table([operation.worded(before, after, stay, listed=False)])
            case Mutate():
                written = [row for key, row in after.rows.items() if before.rows.get(key) != row]
                gone = [row for key, row in before.rows.items() if key not in after.rows]
                return (_batch(before, written, gone, COMMIT),)
            case KilledWrite():
                write = hiveql.failed_rows(before, after, stay)
                return (KilledSql(write, DeathPoint.TRANSACTION),)
            case FailedWrite():
                return (_batch(before, after.failed, (), ABORT),)
            case Overwrite(of=OverwriteScope.TABLE):
                return (Sql(hiveql.overwritten(before, after)),)
        return of_table(operation.sql(before, after))

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        return instants(folder, _write_ids(entries))

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        # A truncation has no number, and takes all folders away: the folders tell it.
        ids = _write_ids(entries)
        there = [path.path.name for path in live(folder, ids)]
        columns = [entry.columns for entry in entries if entry.name == TABLE]
        begun = tuple(map(str, (*ids.aborted, *ids.open)))
        writes = instants(folder, ids)
        aborted = tuple(map(str, ids.aborted))
        return Committed(writes, json.dumps([columns, there]), undone=aborted, begun=begun)

    def instants_before(self, folder: Path, instant: str) -> tuple[str, ...]:
        return joined(folder, instant)

    def timeline(self, folder: Path) -> tuple[str, ...]:
        # The folders of all writes: only the metastore knows which were committed.
        return tuple(folder.path.name for folder in folders(folder))

    def missing_effect(self, folder: Path, operation: Operation, before: Sequence[FileFact]) -> str:
        kinds = {fact.kind for fact in before}
        if isinstance(operation, Compact) and (FileKind.LOG in kinds or len(before) > 1):
            return f"the table has {len(before)} files of rows and deletions, as before"
        if isinstance(operation, AbortTransactions):
            return "no transaction of the table was aborted"
        return ""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        return file_rows(path, fact)

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        return facts(folder, key, _write_ids(catalog.now))


def _write_ids(entries: Sequence[CatalogEntry]) -> WriteIds:
    return next((entry.write_ids for entry in entries if entry.write_ids), WriteIds())


FORMATS = (HiveAcid(),)
