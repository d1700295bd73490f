"""The tables below a folder, on a disk or in an object store, found without a catalog.

A Delta table is recognised by its log, a Hudi table by `.hoodie`, an Iceberg table by its metadata,
of which the newest counts, and a plain table by the first bytes of a file.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.texts import printable
from harness.formats.api import FileFactError
from harness.formats.delta.checkpoints import LOG
from harness.formats.files import avro, orc, table_folder
from harness.formats.files.table_folder import ListedFile, TableFolder, UnreadableError
from harness.formats.hive_acid.format import FOLDER
from harness.formats.hudi.records import HOODIE
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.table import METADATA
from harness.usage.catalog_table import CatalogTable, Listing, fits
from harness.usage.usage_file import UsedFormat

MOST_FOLDERS: Final = 20_000
"""The most folders that are looked into."""
TRIED: Final = 3
"""The most files that are opened to see whether a folder is a plain table."""
_PARTITION: Final = re.compile(r"(?P<key>[^=]+)=.*")
_MAGIC: Final = {
    b"PAR1": UsedFormat.HIVE_PARQUET,
    orc.MAGIC: UsedFormat.HIVE_ORC,
    avro.MAGIC: UsedFormat.HIVE_AVRO,
}


@contextmanager
def listed(address: str, patterns: Sequence[str]) -> Iterator[Listing]:
    """Yield the tables below a folder, whose own folders count as databases."""
    tables, unlisted = list[CatalogTable](), dict[str, str]()
    for entry in _walk(_root(address), patterns):
        if isinstance(entry, CatalogTable):
            tables.append(entry)
        else:
            unlisted[entry.name] = printable(entry.why)
    yield Listing(len(tables), [[(table,) for table in tables]], unlisted)


class _Unlisted(NamedTuple):
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class _Root:
    folder: TableFolder
    location: str

    def named(self, below: str) -> str:
        """Return a table's name by its folder; a warehouse of Hive calls databases `sales.db`."""
        parts = [part.removesuffix(".db") for part in below.split("/")] if below else []
        return ".".join(parts) or self.location.rstrip("/").rpartition("/")[2]

    def at(self, below: str) -> str:
        return f"{self.location.rstrip('/')}/{below}" if below else self.location


def _root(address: str) -> _Root:
    location = address if "://" in address else str(Path(address).absolute())
    try:
        folder = table_folder.at(location)
        problem = ""
        if "://" not in address and Path(address).is_file():
            problem = f"{address} is a file"
        elif not folder.exists() and not folder.listed():
            problem = f"there is no folder {address}"
        if problem:
            raise UsageProblem(
                f"{problem}; allowed: a folder, such as s3://bucket/warehouse, the address of a "
                "metastore, thrift://host:port, or of an Iceberg REST catalog, https://host/path"
            )
    except UnreadableError as unreadable:
        raise EnvironmentProblem(f"{address} cannot be read: {unreadable}") from unreadable
    return _Root(folder, location)


def _walk(root: _Root, patterns: Sequence[str]) -> Iterator[CatalogTable | _Unlisted]:
    """Yield every table below a folder, and the folders that cannot be listed."""
    waiting = deque([""])
    for _ in range(MOST_FOLDERS):
        if not waiting:
            return
        below = waiting.popleft()
        try:
            inside = root.folder.listed(below)
            table = _table(root, below, inside)
        except UnreadableError as problem:
            yield _Unlisted(root.named(below), str(problem))
            continue
        if table is not None:
            yield table
            continue
        waiting += [
            file.path
            for file in inside
            if file.folder
            and file.name[0] not in "._"
            and (below or fits(file.name.removesuffix(".db"), patterns))
        ]
    if waiting:
        why = f"it has more than {MOST_FOLDERS:,} folders; not all were looked at"
        yield _Unlisted(root.location, why)


def _table(root: _Root, below: str, inside: Sequence[ListedFile]) -> CatalogTable | None:
    """Return the table whose folder this is; None if it is none."""
    names = {file.name for file in inside if file.folder}
    name, location = root.named(below), root.at(below)
    if LOG in names:
        return CatalogTable(name, UsedFormat.DELTA, location=location)
    if HOODIE in names:
        return CatalogTable(name, UsedFormat.HUDI, location=location)
    if METADATA in names and (newest := _metadata(root.folder.below(below))):
        metadata = f"{location.rstrip('/')}/{newest}"
        return CatalogTable(name, UsedFormat.ICEBERG, location=location, metadata=metadata)
    return _plain(root.folder.below(below), CatalogTable(name, UsedFormat.OTHER, location=location))


def _metadata(folder: TableFolder) -> str:
    """Return the path of the newest metadata file; none where the folder is no table of Iceberg."""
    try:
        return iceberg_table.current(folder)
    except FileFactError:
        return ""


def _plain(folder: TableFolder, table: CatalogTable) -> CatalogTable | None:
    """Return a plain or a transactional table; None where a folder has neither."""
    inside = folder.listed()
    parts = [file.name for file in inside if file.folder]
    files = [file for file in inside if _has_data(file)]
    if any(map(_PARTITION.fullmatch, parts)) or any(map(FOLDER.fullmatch, parts)):
        walked = (file for listing in folder.walk() for file in listing if _has_data(file))
        files = list(islice(walked, TRIED))
    kind = next(filter(None, (_kind(folder, file) for file in files[:TRIED])), None)
    if kind is None:
        return None
    *folders, _ = files[0].path.split("/")
    if any(map(FOLDER.fullmatch, folders)):
        kind = UsedFormat.HIVE_ACID
    keys = (match["key"] for part in folders if (match := _PARTITION.fullmatch(part)))
    return CatalogTable(table.name, kind, location=table.location, partition_keys=tuple(keys))


def _has_data(file: ListedFile) -> bool:
    return not file.folder and file.size > 0 and file.name[0] not in "._"


def _kind(folder: TableFolder, file: ListedFile) -> UsedFormat | None:
    with folder.opened(file.path) as opened:
        begin = opened.read(len(avro.MAGIC))
    return next((kind for magic, kind in _MAGIC.items() if begin.startswith(magic)), None)
