"""The records in a Hudi table's folder, wherever it lies: properties, timeline, schemas, files.

Sources: Hudi technical specification, "Table properties", "Timeline", "Storage layout";
`HoodieTableConfig`; `FileBasedInternalSchemaStorageManager` for `.hoodie/.schema`.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final

from harness.formats.files import table_folder
from harness.formats.files.column_parts import ColumnPart, parts_of, walk
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.formats.hudi import timeline
from harness.formats.hudi.timeline import Entry
from harness.model.datatypes import PRIMITIVES
from harness.model.schema_history import RecordedField, SchemaHistory, SchemaVersion
from harness.model.simulation.column_resolution import META

HOODIE: Final = ".hoodie"
SCHEMAS: Final = ".schema"
BASE: Final = re.compile(r"(?P<group>[^_.][^_]*)_[^_]+_(?P<instant>\d+)\.parquet")
LOG: Final = re.compile(
    r"\.(?P<group>[^_]+)_(?P<instant>\d+)\.log\.(?P<number>\d+)_(?P<token>[\d-]+)(?P<cdc>\.cdc)?"
)
_BY_COMPLETION: Final = 8
"""The table version since which log files are put in order by when writes were completed."""
RECORD_KEY: Final = "_hoodie_record_key"
TYPE: Final = "hoodie.table.type"
BASE_FORMAT: Final = "hoodie.table.base.file.format"
PARQUET: Final = "PARQUET"
_PROPERTIES: Final = ("hoodie.properties", "hoodie.properties.backup")
"""The second is there while the first is being written."""
LATEST: Final = "latest_schema"
_BROKEN: Final = (ValueError, KeyError, TypeError, AttributeError)
"""What reading a schema raises where it is none."""
_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_SIGNS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
"""Escapes of `java.util.Properties`; any other sign stands for itself."""
DECIMAL: Final = re.compile(r"decimal(?:_fixed)?\((\d+), ?(\d+)\)(?:\[\d+\])?")
_FIXED: Final = re.compile(r"decimal_fixed(\(\d+, \d+\))\[\d+\]")
_DECIMAL: Final = re.compile(r"decimal\(\d+, \d+\)")
_CLUSTER: Final = b"CLUSTER"
"""The operation in the plan of a replacement that is a clustering (`WriteOperationType`)."""


@dataclass(frozen=True, slots=True)
class Slices:
    """The newest version of each file group, all together: what a reader reads today."""

    oldest: str
    """The instant of the oldest; empty where there is no file."""
    base_file: str
    """The oldest base file among them."""
    logs: bool
    why: str
    """Why not all files were seen; those that were not may be older."""


@dataclass(frozen=True, slots=True)
class DataFileName:
    """A base or log file, as far as its name says what it is."""

    path: str
    group: str
    """See `timeline.file_group`."""
    instant: str
    name: re.Match[str]

    @property
    def is_base(self) -> bool:
        return self.name.re is BASE


@dataclass(frozen=True)  # no slots: what is derived is cached
class HudiTable:
    """A table's folder; nothing is there where it is none. Everything raises UnreadableError."""

    folder: TableFolder

    @cached_property
    def properties(self) -> Mapping[str, str]:
        texts = (self.folder.text(f"{HOODIE}/{name}") or b"" for name in _PROPERTIES)
        return max(map(_parsed, texts), key=lambda properties: TYPE in properties)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The timeline; a table that went back to layout 1 keeps the empty folder of layout 2."""
        second = self.properties.get("hoodie.timeline.path") or "timeline"
        for home in (f"{HOODIE}/{second}", HOODIE):
            if paths := [file.path for file in self.folder.listed(home) if not file.folder]:
                return timeline.entries(paths)
        return ()

    @cached_property
    def writes(self) -> Mapping[str, Entry]:
        """The completed writes by their instants, in the order of their completion."""
        return {entry.requested: entry for entry in timeline.completed(self.entries)}

    @cached_property
    def _begin(self) -> str:
        # Writes of before the first one were completed, and are archived; cleanings may be older.
        writes = (entry for entry in self.entries if entry.action in timeline.OF_WRITES)
        return min((entry.requested for entry in writes), default="")

    @property
    def version(self) -> str:
        return self.properties.get("hoodie.table.version", "")

    @property
    def partition_fields(self) -> tuple[str, ...]:
        """The columns that it is partitioned by; they stand last, whatever is added."""
        fields = self.properties.get("hoodie.table.partition.fields", "")
        return tuple(field.partition(":")[0] for field in fields.split(",") if field)

    def has(self, instant: str) -> bool:
        """Return whether an instant's rows are part of the table: other ones were rolled back."""
        return instant in self.writes or instant < self._begin

    def goes_on(self, instant: str) -> str:
        """Return the instant from which on base files are newer than a log file of this name.

        Up to table version 6 a log file has the instant of the base file that it goes on from in
        its name, later that of its own write, which goes on from the last base file that was begun
        before it was completed.
        """
        if int(self.version or 0) < _BY_COMPLETION or instant not in self.writes:
            return instant
        return self.writes[instant].ended

    def record(self, entry: Entry) -> bytes:
        return self.folder.text(entry.path) or b""

    def data_files(self, replaced: Collection[str]) -> Iterator[DataFileName]:
        """Yield the base and log files in the table's folders, but for replaced file groups."""
        paths = (file.path for files in self.folder.walk() for file in files)
        yield from _data_files(paths, replaced)

    def written(self, entry: Entry, replaced: Collection[str]) -> Iterator[DataFileName]:
        """Yield the files that a completed write names, as `data_files` does."""
        yield from _data_files(timeline.written_files(self.record(entry), entry.path), replaced)

    def replaced_groups(self, entry: Entry) -> frozenset[str]:
        return timeline.replaced_groups(self.record(entry), entry.path)

    def replacements(self) -> Sequence[Entry]:
        return timeline.completed(self.entries, [timeline.REPLACE])

    def is_clustering(self, pending: Entry) -> bool:
        """Return whether a pending action is a clustering: of a replacement its plan says so."""
        if pending.action != timeline.REPLACE:
            return pending.action == "clustering"
        plan = pending.path.removesuffix(f".{timeline.INFLIGHT}")
        plan = plan if plan.endswith(".requested") else f"{plan}.requested"
        return _CLUSTER in (self.folder.text(plan) or b"")

    def histories(self) -> Mapping[str, str]:
        """Return the paths of the histories of schemas by the instants of their writes."""
        files = self.folder.listed(f"{HOODIE}/{SCHEMAS}")
        names = {file.name.removesuffix(".schemacommit"): file for file in files}
        return {
            stem.partition("_")[0]: file.path for stem, file in names.items() if stem != file.name
        }

    def slices(self, replaced: Collection[str]) -> Slices:
        """Look at the names in the table's folders, without the file groups that were replaced."""
        bases: dict[str, tuple[str, str]] = {}
        logs: dict[str, str] = {}
        why = ""
        try:
            for file in self.data_files(replaced):
                if not file.is_base:
                    logs[file.group] = min(logs.get(file.group, file.instant), file.instant)
                elif self.has(file.instant):
                    version = file.instant, file.path
                    bases[file.group] = max(bases.get(file.group, version), version)
                elif not self.entries:
                    why = f"there is {file.path}, and no timeline that says what it is part of"
        except UnreadableError as problem:
            why = str(problem)
        # What a base file holds is as old as it is; its log files are younger.
        ages = {**logs, **{group: instant for group, (instant, _) in bases.items()}}
        _, first = min(bases.values(), default=("", ""))
        return Slices(min(ages.values(), default=""), first, bool(logs), why)


def _data_files(paths: Iterable[str], replaced: Collection[str]) -> Iterator[DataFileName]:
    for path in paths:
        folder, _, file = path.rpartition("/")
        name = BASE.fullmatch(file) or LOG.fullmatch(file)
        if name is not None:
            group = timeline.file_group(folder, name["group"])
            if group not in replaced:
                yield DataFileName(path, group, name["instant"], name)


def local(folder: Path) -> HudiTable:
    return HudiTable(table_folder.at(str(folder)))


def _parsed(content: bytes) -> Mapping[str, str]:
    lines = content.decode("utf-8", "replace").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): _ESCAPED.sub(_sign, value.strip()) for name, _, value in pairs}


def _sign(escape: re.Match[str]) -> str:
    return chr(int(escape[1][1:], 16)) if escape[1][1:] else _SIGNS.get(escape[1], escape[1])


def read_history(table: HudiTable) -> SchemaHistory | None:
    """Return what a table says of its schema; None where it says nothing at all."""
    if SCHEMAS not in {file.name for file in table.folder.listed(HOODIE)}:
        return None
    files: list[tuple[SchemaVersion, ...]] = []  # of each commit that stands; empty if broken
    for instant, path in table.histories().items():
        if instant in table.writes:
            files.append(())
            with suppress(*_BROKEN):
                files[-1] = versions((table.folder.text(path) or b"").decode())
    latest: list[SchemaVersion] = []  # as each commit that stands has it
    for entry in table.writes.values():
        if text := timeline.extra_metadata(table.record(entry)).get(LATEST):
            with suppress(*_BROKEN):
                latest.append(_version(json.loads(text)))
    newest = files[-1] if files else ()
    if not newest and not latest:
        return None
    known = (*chain.from_iterable(files), *latest)
    lost = dict.fromkeys(version for version in known if version not in newest)
    now = latest[-1] if latest and newest and latest[-1] != newest[-1] else None
    return SchemaHistory(newest, tuple(lost), now)


def schemas(text: str) -> tuple[Mapping[str, Any], ...]:
    """Return the versions in a file of the history, the newest last; raises ValueError."""
    try:
        records = json.loads(text)["schemas"]
        return tuple(sorted(records, key=lambda record: int(record["version_id"])))
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"no history of a schema: {problem!r}") from problem


def columns(record: Mapping[str, Any]) -> tuple[ColumnPart, ...]:
    """Return the columns of a version without Hudi's own; raises KeyError or TypeError."""
    return parts_of([field for field in record["fields"] if field["name"] not in META])


def versions(text: str) -> tuple[SchemaVersion, ...]:
    return tuple(map(_version, schemas(text)))


def _version(record: Mapping[str, Any]) -> SchemaVersion:
    fields: list[RecordedField] = [
        (int(part.id), path, part.type if part.parts else _word(part.type))
        for path, part in walk(columns(record))
    ]
    return SchemaVersion(str(record["version_id"]), record["max_column_id"], tuple(fields))


def _word(type_: str) -> str:
    """Return our word for a type; a decimal of so many bytes is one all the same.

    >>> _word("decimal_fixed(10, 2)[5]"), _word("long"), _word("uuid")
    ('decimal(10, 2)', 'long', '')
    """
    plain = _FIXED.sub(r"decimal\1", type_)
    return plain if plain in PRIMITIVES or _DECIMAL.fullmatch(plain) else ""
