"""The records in a Hudi table's folder, wherever it lies: properties, timeline, schemas, files.

Sources: Hudi technical specification, "Table properties", "Timeline", "Storage layout";
`HoodieTableConfig` for the properties' names; `FileBasedInternalSchemaStorageManager` for
`.hoodie/.schema`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from harness.formats.files.table_folder import ListedFile, TableFolder, UnreadableError
from harness.formats.hudi import timeline
from harness.formats.hudi.files import BASE, LOG, META, parsed

SCHEMAS: Final = f"{META}/.schema"
SCHEMA_COMMIT: Final = ".schemacommit"
PROPERTIES: Final = ("hoodie.properties", "hoodie.properties.backup")
"""The second is there while the first is being written."""
_CLUSTER: Final = b"CLUSTER"
"""The operation in the plan of a replacement that is a clustering (`WriteOperationType`)."""


@dataclass(frozen=True)  # no slots: what is derived is cached
class HudiRecords:
    """A table's properties and timeline. Every method raises UnreadableError."""

    folder: TableFolder
    properties: Mapping[str, str]
    paths: Mapping[str, str]
    """Of the timeline's files, by their names."""

    @cached_property
    def entries(self) -> tuple[timeline.Entry, ...]:
        return timeline.entries(self.paths)

    @property
    def pending(self) -> Sequence[timeline.Entry]:
        return [entry for entry in self.entries if entry.state != timeline.COMPLETED]

    @property
    def partition_fields(self) -> tuple[str, ...]:
        """The columns that the table is partitioned by, without what makes a folder's name of them.

        They stand last, whatever is added behind the others.
        """
        fields = self.properties.get("hoodie.table.partition.fields", "")
        return tuple(field.partition(":")[0] for field in fields.split(",") if field)

    def has(self, instant: str) -> bool:
        """Return whether what an instant wrote is part of the table.

        What is neither on the timeline nor older was rolled back
        (`BaseHoodieTimeline.containsOrBeforeTimelineStarts`).
        """
        return instant in self._completed or instant < self._begin

    @cached_property
    def _completed(self) -> frozenset[str]:
        return frozenset(e.requested for e in self.entries if e.state == timeline.COMPLETED)

    @cached_property
    def _begin(self) -> str:
        return timeline.begin(self.paths)

    def replacements(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the record of each completed replacement of file groups."""
        for name, path in self.paths.items():
            if name.endswith(f".{timeline.REPLACE}"):
                yield name, self.folder.text(path) or b""

    def pending_clusterings(self) -> frozenset[str]:
        """Return the pending replacements whose plans say that they are clusterings."""
        instants = (e.requested for e in self.pending if e.action == timeline.REPLACE)
        plans = ((at, self.paths.get(f"{at}.replacecommit.requested", "")) for at in instants)
        return frozenset(
            at for at, path in plans if path and _CLUSTER in (self.folder.text(path) or b"")
        )

    def newest_schemas(self) -> str:
        """Return the path of the newest history of schemas; empty where there is none."""
        files = (file.path for file in self.folder.listed(SCHEMAS))
        return max((path for path in files if path.endswith(SCHEMA_COMMIT)), default="")

    def slices(self, replaced: Collection[str]) -> Slices:
        """Look at the names in the table's folders.

        `replaced`: the file groups that others took the place of.
        """
        slices, why = Slices(), ""
        try:
            for files in self.folder.walk():
                slices = _older(slices, self._newest(files, replaced))
        except UnreadableError as problem:
            why = str(problem)
        return Slices(slices.oldest, slices.base_file, slices.logs, why)

    def _newest(self, files: Iterable[ListedFile], replaced: Collection[str]) -> Slices:
        """Return the newest versions in one folder: all versions of a file group lie in it."""
        bases: dict[str, str] = {}
        logs: dict[str, str] = {}
        for file in files:
            if (base := BASE.fullmatch(file.name)) and self.has(base["instant"]):
                group = base["group"]
                bases[group] = max(bases.get(group, file.path), file.path, key=_instant)
            elif log := LOG.fullmatch(file.name):
                logs[log["group"]] = min(logs.get(log["group"], log["instant"]), log["instant"])
        live = {group: path for group, path in bases.items() if group not in replaced}
        logs = {group: at for group, at in logs.items() if group not in replaced}
        # What a base file holds is as old as it is; its log files are younger.
        ages = {**logs, **{group: _instant(path) for group, path in live.items()}}
        first = min(live.values(), key=_instant, default="")
        return Slices(min(ages.values(), default=""), first, bool(logs))


@dataclass(frozen=True, slots=True)
class Slices:
    """The newest version of each file group, all together: what a reader reads today."""

    oldest: str = ""
    """The instant of the oldest; empty where there is no file."""
    base_file: str = ""
    """The oldest base file among them."""
    logs: bool = False
    why: str = ""
    """Why not all files were seen; those that were not may be older."""


def read(folder: TableFolder) -> HudiRecords:
    """Read properties and timeline.

    Raises:
        UnreadableError: there are none.

    """
    properties = _properties(folder)
    homes = [META]
    if properties.get("hoodie.timeline.layout.version") == "2":  # since version 8; may be left
        homes.insert(0, f"{META}/{properties.get('hoodie.timeline.path', 'timeline')}")
    for home in homes:
        paths = {file.name: file.path for file in folder.listed(home) if not file.folder}
        if timeline.begin(paths):
            break
    return HudiRecords(folder, properties, paths)


def _properties(folder: TableFolder) -> Mapping[str, str]:
    for name in PROPERTIES:
        content = folder.text(f"{META}/{name}")
        properties = parsed(content.decode("utf-8", "replace")) if content else {}
        if "hoodie.table.type" in properties:
            return properties
    raise UnreadableError(f"there is no {META}/{PROPERTIES[0]}")


def _older(one: Slices, other: Slices) -> Slices:
    first = min((s for s in (one, other) if s.oldest), key=lambda s: s.oldest, default=one)
    base = min(filter(None, (one.base_file, other.base_file)), key=_instant, default="")
    return Slices(first.oldest, base, one.logs or other.logs)


def _instant(path: str) -> str:
    name = BASE.fullmatch(path.rpartition("/")[2])
    return name["instant"] if name else ""
