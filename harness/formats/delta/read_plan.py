"""How the rows of a Delta table, at one version, come out of its data files.

Source: Delta transaction log protocol, "Reader Requirements for Column Mapping", "Deletion
Vectors", "Type Widening", "Valid Feature Names in Table Features".
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.delta import log as delta_log
from harness.formats.delta import vectors
from harness.formats.delta.checkpoints import LOG, Action
from harness.formats.delta.column_types import arrow_type, partition_value
from harness.formats.delta.log import ID, DeltaLog, LiveFile, physical_name
from harness.formats.files import typed_text
from harness.formats.files.column_parts import ColumnPart, in_path
from harness.formats.files.table_folder import TableFolder
from harness.formats.read_plan import FileColumns, Id, PlannedFile, ReadPlan
from harness.model.canonical import Value

READER_FEATURES: Final = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "variantShredding",
        "variantShredding-preview",
        "variantType",
        "variantType-preview",
        "vacuumProtocolCheck",
    }
)
"""What a reader must know, and a plan is made of; a preview has the rules of what came of it."""
FEATURES: Final = 3
"""The version of the protocol for readers from which on it names its features."""
_ZONE: Final = re.compile(r"(?i:z|[+-]\d\d:?\d\d)$").search
_ABSOLUTE: Final = re.compile(r"[A-Za-z][\w+.-]*:.*|/.*")


def plan(folder: TableFolder, version: int | None = None) -> ReadPlan:
    """Plan a version, the newest by itself; raises FileFactError or UnreadableError."""
    log = delta_log.snapshot(folder, version)
    check_protocol(log.protocol)
    table = PlannedTable(folder, log)
    live = log.live()
    files = tuple(map(table.file, live))
    undecided = tuple(table.undecided(live))
    planned = str(log.commits[-1].version)
    return ReadPlan(table.columns, files, arrow_type, planned, undecided=undecided)


def check_protocol(protocol: Action) -> None:
    """Raise FileFactError where a reader must know what is not known here."""
    needed = protocol.get("minReaderVersion", 1)
    if needed > FEATURES:
        raise FileFactError(f"the table needs a reader of version {needed}; {FEATURES} is known")
    named = set(protocol.get("readerFeatures") or ()) if needed == FEATURES else set[str]()
    if unknown := sorted(named - READER_FEATURES):
        known = ", ".join(sorted(READER_FEATURES))
        raise FileFactError(f"the table has {', '.join(unknown)}, which is not read; {known} are")


@dataclass(frozen=True)  # no slots: what is derived is kept
class PlannedTable:
    """A table with the columns that the newest version of its log has."""

    folder: TableFolder
    log: DeltaLog

    @cached_property
    def _metadata(self) -> Action:
        if not self.log.metadata:
            raise FileFactError(f"{LOG}: no action says which columns the table has")
        return self.log.metadata[max(self.log.metadata)]

    @cached_property
    def _fields(self) -> tuple[Action, ...]:
        try:
            return tuple(self.log.fields(self._metadata))
        except (KeyError, TypeError, ValueError) as problem:
            why = f"its newest metaData action has no schema: {problem!r}"
            raise FileFactError(f"{LOG}: {why}") from problem

    @cached_property
    def columns(self) -> tuple[ColumnPart, ...]:
        return delta_log.columns(self._fields, self._identify)

    @cached_property
    def names(self) -> FileColumns:
        """How data files call the columns; values of those of partitions are in the log alone."""
        names: dict[str, Id] = {}

        def enter(field: Action, path: tuple[str, ...]) -> Id:
            return names.setdefault(".".join(map(in_path, path)), self._identify(field, path))

        delta_log.columns(self._fields, enter)
        unread = [self._identify(field, (physical_name(field),)) for field in self._partition()]
        return FileColumns(names, self.log.mapping == "id", unread)

    def file(self, live: LiveFile) -> PlannedFile:
        made = self.planned(live.path, live.partition, self.gone(live.vector))
        return replace(made, size=live.size)

    def planned(
        self, path: str, partition: Mapping[str, str | None], gone: Collection[int]
    ) -> PlannedFile:
        location = path if _ABSOLUTE.fullmatch(path) else self.folder.location(path)
        return PlannedFile(path, location, self.names, self.constants(partition, path), gone)

    def gone(self, vector: Action | None) -> frozenset[int]:
        return vectors.deleted(self.folder, vector) if vector else frozenset()

    def constants(self, partition: Mapping[str, str | None], path: str) -> Mapping[Id, Value]:
        columns = ((field, physical_name(field)) for field in self._partition())
        texts = (
            (self._identify(field, (stored,)), stored, partition.get(stored), str(field["type"]))
            for field, stored in columns
        )
        return typed_text.constants(path, texts, partition_value)

    def undecided(self, live: Sequence[LiveFile]) -> Iterator[str]:
        """Yield of which columns the protocol does not say what their values are."""
        for field in self._partition():
            texts = (file.partition.get(physical_name(field)) for file in live)
            if field["type"] == "timestamp" and any(text and not _ZONE(text) for text in texts):
                yield (
                    f"{field['name']}: the log has moments of partitions without a zone; they are "
                    'read as UTC, and by Spark in the zone of its session (protocol, "Partition '
                    'Value Serialization")'
                )

    @property
    def is_partitioned(self) -> bool:
        return any(self._partition())

    def _partition(self) -> Iterable[Action]:
        names = set(self._metadata.get("partitionColumns") or ())
        return (field for field in self._fields if field["name"] in names)

    def _identify(self, field: Action, path: tuple[str, ...]) -> Id:
        """Return the id of a column, or a part of one: what stands in files says which it is."""
        number = field.get("metadata", {}).get(ID) if self.log.mapping == "id" else None
        return ".".join(path) if number is None else int(number)
