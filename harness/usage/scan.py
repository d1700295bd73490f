"""Look at all tables of a catalog or a folder, and at their formats' own records; only read."""

import datetime
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from harness.core.errors import UsageProblem
from harness.core.problems import one_of
from harness.core.progress import Count, Progress
from harness.core.texts import without_login
from harness.formats.files import table_folder
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.usage import (
    delta_table,
    folder_listing,
    hive_table,
    hudi_table,
    iceberg_table,
    metastore_listing,
    rest_listing,
)
from harness.usage.catalog_table import CatalogTable, Entries, Listing, unread
from harness.usage.named_catalog import CATALOGS
from harness.usage.usage_file import SNAPSHOT, VERSION, Usage, UsedFormat, UsedTable

LOG: Final = logging.getLogger(__name__)
AT_ONCE: Final = 8
"""The number of tables that are read side by side, since an object store is slow to answer."""
UNREAD: Final = "unread"
"""What a table that cannot be read is counted as."""

_SCHEMES: Final = (
    *("thrift", "https", "http", "s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs"),
    *("hdfs", "viewfs", "file"),
)

_Reader = Callable[[TableFolder, CatalogTable], UsedTable]
_READERS: Final[Mapping[UsedFormat, _Reader]] = {
    **dict.fromkeys((UsedFormat.HUDI, UsedFormat.HUDI_MOR), hudi_table.read),
    UsedFormat.ICEBERG: iceberg_table.read,
    UsedFormat.DELTA: delta_table.read,
    **dict.fromkeys((kind for kind in UsedFormat if kind.startswith("hive-")), hive_table.read),
}
"""The reader of each format's own records; other tables are known by the catalog's entry alone."""


def scan(address: str, patterns: Sequence[str], progress: Progress) -> Usage:
    """Return what the tables at an address look like, in databases that fit `patterns`."""
    with (
        listed(address, patterns) as listing,
        progress.count("scan tables", listing.total) as count,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        scanned = [
            table
            for batch in listing.batches
            for looked in pool.map(partial(_look, count), batch)
            for table in looked
        ]
    tables = tuple(sorted(scanned, key=lambda table: table.name))
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
    return Usage(
        VERSION, without_login(address), now, tables, tuple(patterns), dict(listing.unlisted)
    )


def listed(address: str, patterns: Sequence[str]) -> AbstractContextManager[Listing]:
    """Return the tables of a named catalog, or at an address: a catalog's, or that of a folder."""
    named = CATALOGS.get(address)
    address = named.address if named else address
    scheme, has_scheme, _ = address.partition("://")
    if has_scheme and scheme.lower() not in _SCHEMES:
        raise UsageProblem(f"{address}: there is no '{scheme}://'; {one_of(scheme, _SCHEMES)}")
    if has_scheme and scheme in {"http", "https"}:
        return rest_listing.listed(address, patterns, named)
    host_and_port = ":" in address and not Path(address).exists()
    if host_and_port and not has_scheme and ":/" in address:
        raise UsageProblem(f"{address}: did you mean '{address.replace(':/', '://', 1)}'?")
    if scheme == "thrift" if has_scheme else host_and_port:
        return metastore_listing.listed(address, patterns)
    return folder_listing.listed(address, patterns)


def _look(count: Count, entries: Entries | UsedTable) -> tuple[UsedTable, ...]:
    """Read the records of one table, and count each of its entries."""
    looked = (entries,) if isinstance(entries, UsedTable) else _tables(entries)
    for table in looked:
        count.count_result(table.name.partition(".")[0], UNREAD if table.unread else table.format)
    return looked


def _tables(entries: Entries) -> tuple[UsedTable, ...]:
    # One entry of a merge-on-read table shows what all its entries are.
    first = max(entries, key=lambda table: table.format is UsedFormat.HUDI_MOR)
    same = tuple(replace(entry, format=first.format) for entry in entries)
    read = _READERS.get(first.format)
    if read is None:
        # Of a view, or of files of another format, only the entry is known.
        return tuple(
            UsedTable(
                entry.name,
                entry.format,
                partitioned=bool(entry.partition_keys),
                features=(entry.kind,) if entry.format is UsedFormat.OTHER and entry.kind else (),
            )
            for entry in entries
        )
    try:
        used = read(table_folder.at(first.location), first)
    except UnreadableError as problem:
        return tuple(unread(table, str(problem)) for table in same)
    except Exception as problem:
        # An unexpected error in one table must not hide the others.
        LOG.exception("%s cannot be understood", first.name)
        why = f"its records cannot be understood: {problem!r}"
        return tuple(unread(table, why) for table in same)
    views = used.format is UsedFormat.HUDI_MOR
    return tuple(
        replace(used, name=entry.name, view=entry.view if views else SNAPSHOT) for entry in entries
    )
