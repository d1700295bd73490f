"""How the rows of a Hudi table, as of an instant, come out of its base files and logs.

Sources: Hudi technical specification; Hudi documentation, "Record Mergers", "Record Payload";
`HoodieTableConfig`; `BaseHoodieLogRecordReader`, `BufferedRecordMergerFactory`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from harness.formats.api import FileFactError
from harness.formats.files import typed_text
from harness.formats.files.column_parts import ColumnPart, walk
from harness.formats.files.table_folder import TableFolder
from harness.formats.hudi import log as hudi_log
from harness.formats.hudi import table_schema
from harness.formats.hudi.log import BlockKind, LogBlock
from harness.formats.hudi.records import BASE_FORMAT, PARQUET, RECORD_KEY, TYPE, HudiTable
from harness.formats.hudi.table_schema import OPERATION, TableSchema, arrow_type
from harness.formats.read_plan import (
    DeletedKeys,
    DeletedValues,
    FileColumns,
    Id,
    PlannedFile,
    ReadPlan,
    RowMerge,
)
from harness.model import partition_paths
from harness.model.canonical import Look, Value

if TYPE_CHECKING:
    from harness.formats.hudi.timeline import Entry

IS_DELETED: Final = "_hoodie_is_deleted"
"""A column that may say that a record only deletes (`HoodieRecord`)."""
NEWEST_VERSION: Final = 9
"""The first table version in which log files go by when their writes were completed."""
BY_ORDERING, BY_COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"
_PAYLOADS: Final = {
    "OverwriteWithLatestAvroPayload": BY_COMMIT,
    "DefaultHoodieRecordPayload": BY_ORDERING,
    "EventTimeAvroPayload": BY_ORDERING,
    "PartialUpdateAvroPayload": BY_ORDERING,
}
"""How payload classes merge, by which alone tables of before version 8 say it."""
_TWO_WAYS: Final = {("float", "double"), ("float", "string"), ("double", "string")}
_FILLING: Final = "PartialUpdateAvroPayload"
_BOOTSTRAP: Final = "hoodie.bootstrap.base.path"


def plan(folder: TableFolder, instant: str | None = None) -> ReadPlan:
    """Plan a table as of an instant, or as it is; raises FileFactError or UnreadableError."""
    table = PlannedHudiTable(HudiTable(folder), instant or "")
    table.check()
    files, merges, undecided = [], [], list(table.undecided())
    for slice_ in table.slices():
        base = table.base(slice_) if slice_.base else None
        versions = tuple(table.versions(slice_))
        if versions:
            merges.append(table.merge(base, versions))
            undecided += _updated_after_delete(slice_, versions)
        elif base is not None:
            files.append(base)
    newest = max((entry.requested for entry in table.writes), default="")
    return ReadPlan(
        table.schema.columns,
        tuple(files),
        arrow_type,
        newest,
        merges=tuple(merges),
        undecided=tuple(undecided),
    )


def _updated_after_delete(
    slice_: SliceFiles, versions: Sequence[PlannedFile | DeletedKeys]
) -> Iterator[str]:
    """Yield which rows were deleted, and then updated in some columns alone."""
    deleted = set[tuple[Look, ...]]()
    for version in versions:
        if isinstance(version, DeletedKeys):
            deleted.update(version.keys)
        elif version.partial and version.stored and deleted:
            rows = version.stored()
            keys = rows.column(RECORD_KEY).to_pylist() if RECORD_KEY in rows.column_names else []
            if again := sorted({key for key in keys if (key,) in deleted}):
                yield (
                    f"{slice_.group}: the rows {', '.join(again)} were deleted and then updated in "
                    "part: readers show the columns that were not updated as they were, or as NULL"
                )


@dataclass(frozen=True, slots=True)
class SliceFiles:
    group: str
    """See `timeline.file_group`."""
    base: str
    """The path of the base file; empty where there are only logs."""
    instant: str
    """That of the base file."""
    logs: tuple[str, ...]
    """Paths, in the order of their writes."""

    @property
    def folder(self) -> str:
        return self.group.rpartition("/")[0]


@dataclass(frozen=True)  # no slots: what is derived is kept
class PlannedHudiTable:
    table: HudiTable
    until: str
    """The instant; empty for now."""

    def check(self) -> None:
        """Raise FileFactError where the folder holds no table, or one that is not read."""
        properties = self.table.properties
        if TYPE not in properties:
            raise FileFactError("there is no .hoodie/hoodie.properties that says what the table is")
        if int(self.table.version or 0) > NEWEST_VERSION:
            version = f"the table has version {self.table.version}"
            raise FileFactError(f"{version}; those up to {NEWEST_VERSION} are read")
        if _BOOTSTRAP in properties:
            raise FileFactError(f"{_BOOTSTRAP}: rows outside of the table's folder are not read")
        if (kind := properties.get(BASE_FORMAT, PARQUET)) != PARQUET:
            raise FileFactError(f"{BASE_FORMAT}: {kind} is not read; {PARQUET} is")

    @cached_property
    def writes(self) -> Sequence[Entry]:
        """The completed ones, in the order of their completion."""
        return [entry for entry in self.table.writes.values() if self._in_time(entry.requested)]

    def _in_time(self, instant: str) -> bool:
        return not self.until or instant <= self.until

    def counts(self, instant: str) -> bool:
        """Return whether what an instant wrote is part of the table."""
        return self._in_time(instant) and self.table.has(instant)

    def slices(self) -> Iterator[SliceFiles]:
        """Yield the newest slice of each file group that nothing replaced, by their names.

        Sources: Hudi technical specification, "File Layouts", "Log File Format"; `HoodieFileGroup`
        and `CompletionTimeQueryView`. Raises FileFactError where a file of a slice is missing that
        a write on the timeline names.
        """
        replacing = (e for e in self.table.replacements() if self.counts(e.requested))
        replaced = frozenset[str]().union(*map(self.table.replaced_groups, replacing))
        there = {file.path: file for file in self.table.data_files(replaced)}
        writes = (entry for entry in self.table.writes.values() if self.counts(entry.requested))
        named = (file for entry in writes for file in self.table.written(entry, replaced))
        bases: dict[str, tuple[str, str]] = {}
        logs = defaultdict[str, list[tuple[str, int, str, str]]](list)
        for file in ({file.path: file for file in named} | there).values():
            if file.is_base:
                if self.counts(file.instant):
                    newest = file.instant, file.path
                    bases[file.group] = max(bases.get(file.group, newest), newest)
            elif not file.name["cdc"]:
                number, token = int(file.name["number"]), file.name["token"]
                logs[file.group].append(
                    (self.table.goes_on(file.instant), number, token, file.path)
                )
        for group in sorted({*bases, *logs}):
            instant, base = bases.get(group, ("", ""))
            paths = tuple(log[-1] for log in sorted(logs[group]) if log[0] >= instant)
            for path in filter(None, (base, *paths)):
                if path not in there:
                    raise FileFactError(f"{path}: there is no such file, which the timeline names")
            if base or paths:
                yield SliceFiles(group, base, instant, paths)

    @cached_property
    def schema(self) -> TableSchema:
        schema = table_schema.read(self.table, self.writes)
        # As the table was created with them, where writes have the path's type.
        columns = (
            replace(part, type=self._created.get(part.name, part).type) for part in schema.columns
        )
        return replace(schema, columns=tuple(columns))

    @cached_property
    def _created(self) -> Mapping[str, ColumnPart]:
        """The columns of partitions of which folders have other values than files."""
        if not self._path_has_other_values:
            return {}
        columns = table_schema.created(self.table)
        return {part.name: part for part in columns if part.name in self.table.partition_fields}

    @property
    def _path_has_other_values(self) -> bool:
        return "TIMESTAMP" in self._key_generator or "CUSTOM" in self._key_generator

    def undecided(self) -> Iterator[str]:
        """Yield what readers of the format do in more than one way."""
        now = {part.id: (path, part.type) for path, part in walk(self.schema.columns)}
        versions = (walk(columns) for _, columns in self.schema.history)
        before = {(part.id, part.type) for version in versions for _, part in version}
        for id_, type_ in sorted(before, key=str):
            path, wide = now.get(id_, ("", ""))
            if (type_, wide) in _TWO_WAYS:
                yield (
                    f"{path} was {type_} and is {wide}: readers take the number that it is, or the "
                    "one that its text says (apache/hudi#13188)"
                )
        for name in self._created:
            yield (
                f"{name}: the key generator makes other values of it for folders, and readers show "
                'these or those of the files (Hudi documentation, "Key Generation")'
            )

    @property
    def _properties(self) -> Mapping[str, str]:
        return self.table.properties

    def base(self, slice_: SliceFiles) -> PlannedFile:
        names = FileColumns(self.schema.names(slice_.instant))
        location = self.table.folder.location(slice_.base)
        return PlannedFile(slice_.base, location, names, self._constants(slice_))

    def versions(self, slice_: SliceFiles) -> Iterator[PlannedFile | DeletedKeys]:
        """Yield what the log files of a slice have, but for what was taken back."""
        blocks = [
            (path, number, block)
            for path in slice_.logs
            for number, block in enumerate(self._blocks(path))
        ]
        undone = {block.target for _, _, block in blocks if block.kind is BlockKind.COMMAND}
        for path, number, block in blocks:
            if block.kind is BlockKind.COMMAND or block.instant in undone:
                continue
            if not self.counts(block.instant):
                continue
            if block.compacted:
                raise FileFactError(f"{path}: a compaction of log blocks is not read")
            if block.kind is BlockKind.DELETE:
                yield self._deleted(block)
            else:
                names = FileColumns(self.schema.names(block.instant))
                yield PlannedFile(
                    f"{path}, block {number}",
                    self.table.folder.location(path),
                    names,
                    self._constants(slice_),
                    stored=partial(hudi_log.table, block),
                    partial=block.partial,
                )

    def _blocks(self, path: str) -> tuple[LogBlock, ...]:
        with self.table.folder.opened(path) as file:
            data = file.read()
        try:
            return tuple(hudi_log.blocks(data))
        except FileFactError as problem:
            raise FileFactError(f"{path}: {problem}") from problem

    def _deleted(self, block: LogBlock) -> DeletedKeys:
        deletes = hudi_log.deletes(block)
        return DeletedKeys({self._key_of(key): self._ordering_of(v) for key, v in deletes.items()})

    def _ordering_of(self, stored: tuple[Value, ...]) -> tuple[Value, ...]:
        # A whole zero stands for no value (`OrderingValues.getDefault`).
        if stored in {(None,), (0,)} or len(self._ordering) != len(stored):
            return ()
        types = (arrow_type(part.type) for part in self._ordering)
        return tuple(map(hudi_log.ordering_value, stored, types))

    def merge(
        self, base: PlannedFile | None, versions: tuple[PlannedFile | DeletedKeys, ...]
    ) -> RowMerge:
        ordering = tuple(part.id for part in self._ordering) if self._by_ordering else ()
        return RowMerge(
            base, versions, self._key, ordering, tuple(self._deleting()), fills=self._fills
        )

    @cached_property
    def _key_fields(self) -> tuple[str, ...]:
        """Of the key where files do not have it as a column of its own."""
        if self._properties.get("hoodie.populate.meta.fields") != "false":
            return ()
        fields = tuple(_listed(self._properties, "hoodie.table.recordkey.fields"))
        if not fields:
            raise FileFactError("hoodie.table.recordkey.fields: nothing says what the key is")
        return fields

    @cached_property
    def _key(self) -> tuple[Id, ...]:
        if not self._key_fields:
            return (RECORD_KEY,)
        parts = [self.schema.find(field) for field in self._key_fields]
        if None in parts:
            raise FileFactError(f"the table has no column {', '.join(self._key_fields)}")
        return tuple(part.id for part in parts if part)

    def _key_of(self, text: str) -> tuple[Look, ...]:
        """Return the values of the key's fields in a key's text (`KeyGenUtils`)."""
        fields = self._key_fields
        if not fields:
            return (text,)
        pattern = ",".join(f"{re.escape(field)}:(.*)" for field in fields)
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is None or (len(fields) == 1 and "COMPLEX" not in self._key_generator):
            return (text,)
        return tuple(_PLACEHOLDERS.get(part, part) for part in match.groups())

    @property
    def _key_generator(self) -> str:
        names = ("hoodie.table.keygenerator.type", "hoodie.table.keygenerator.class")
        return "".join(self._properties.get(name, "") for name in names).upper()

    @cached_property
    def _payload(self) -> str:
        names = ("hoodie.table.legacy.payload.class", "hoodie.compaction.payload.class")
        classes = (self._properties.get(name, "") for name in names)
        return next(filter(None, classes), "").rpartition(".")[2]

    @cached_property
    def _by_ordering(self) -> bool:
        mode = self._properties.get("hoodie.record.merge.mode", "")
        if mode not in {BY_ORDERING, BY_COMMIT}:
            payload = self._payload or next(iter(_PAYLOADS))
            if payload not in _PAYLOADS:
                raise FileFactError(
                    f"rows are merged by {payload}, which is not read; {', '.join(_PAYLOADS)} are"
                )
            mode = _PAYLOADS[payload]
        return mode == BY_ORDERING

    @property
    def _fills(self) -> bool:
        mode = self._properties.get("hoodie.table.partial.update.mode", "")
        if mode not in {"", "NONE", "IGNORE_DEFAULTS"}:
            raise FileFactError(f"hoodie.table.partial.update.mode: {mode} is not read")
        return self._payload == _FILLING or mode == "IGNORE_DEFAULTS"

    @cached_property
    def _ordering(self) -> tuple[ColumnPart, ...]:
        names = ("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
        fields = next(filter(None, (tuple(_listed(self._properties, n)) for n in names)), ())
        parts = tuple(self.schema.find(field) for field in fields)
        return tuple(part for part in parts if part) if None not in parts else ()

    def _deleting(self) -> Iterator[DeletedValues]:
        for name, value in ((IS_DELETED, "true"), (OPERATION, "D")):
            part = self.schema.find(name)
            yield DeletedValues((part.id if part else name,), {(value,)})
        prefix = "hoodie.record.merge.property."
        marks = [
            self._properties.get(f"{prefix}hoodie.payload.delete.{what}")
            or self._properties.get(f"hoodie.payload.delete.{what}")
            for what in ("field", "marker")
        ]
        column = self.schema.find(marks[0]) if marks[0] else None
        if column is not None and marks[1]:
            yield DeletedValues((column.id,), {(marks[1],)})

    def _constants(self, slice_: SliceFiles) -> Mapping[Id, Value]:
        """Return the values of partition columns that the table's properties say files lack."""
        if self._properties.get("hoodie.datasource.write.drop.partition.columns") != "true":
            return {}
        if self._path_has_other_values:
            raise FileFactError(
                f"{slice_.folder}: what a column holds cannot be told from the name of its folder, "
                f"and files lack it ({self._key_generator})"
            )
        fields = self.table.partition_fields
        encoded = self._properties.get("hoodie.datasource.write.partitionpath.urlencode") == "true"
        read = partition_paths.texts if encoded else partition_paths.as_they_stand
        texts = read(slice_.folder, fields)
        if not texts and len(fields) == 1:
            texts = (slice_.folder,)
        columns = (
            (part.id, field, text, part.type)
            for field, text in zip(fields, texts, strict=False)
            if (part := self.schema.find(field)) is not None
        )
        return typed_text.constants(
            slice_.folder, columns, lambda text, word: typed_text.value(text, arrow_type(word))
        )


_PLACEHOLDERS: Final = {"__null__": None, "__empty__": ""}
"""What `KeyGenUtils` writes in a key of several fields."""


def _listed(properties: Mapping[str, str], name: str) -> Iterator[str]:
    return (field.strip() for field in properties.get(name, "").split(",") if field.strip())
