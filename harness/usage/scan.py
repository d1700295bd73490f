"""Look at all tables of a metastore, by calls that only read, and at their formats' own records."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Final

from harness.core.errors import EnvironmentProblem, UsageProblem, printable
from harness.core.progress import Count, Progress
from harness.formats.files import table_folder
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.runtime import metastore_client
from harness.runtime.metastore_client import Catalog, CatalogRefusedError
from harness.usage import catalog_table, delta_table, hive_table, hudi_table, iceberg_table
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import (
    SNAPSHOT,
    VERSION,
    Fact,
    Usage,
    UsedFormat,
    UsedTable,
)

LOG: Final = logging.getLogger(__name__)
BATCH: Final = 100
"""Tables that one call asks the metastore for."""
AT_ONCE: Final = 8
"""Tables whose folders are read side by side: a store answers each call only after a while."""
UNREAD: Final = "unread"
"""What a table that cannot be read is counted as."""

_Reader = Callable[[TableFolder, CatalogTable], UsedTable]
_READERS: Final[Mapping[UsedFormat, _Reader]] = {
    **dict.fromkeys((UsedFormat.HUDI, UsedFormat.HUDI_MOR), hudi_table.read),
    UsedFormat.ICEBERG: iceberg_table.read,
    UsedFormat.DELTA: delta_table.read,
    **dict.fromkeys((kind for kind in UsedFormat if kind.startswith("hive-")), hive_table.read),
}
"""How each format's own records are read; of what is not here the catalog's entry says all."""


def scan(uri: str, patterns: Sequence[str], progress: Progress) -> Usage:
    """Return what the tables of a metastore look like, in databases that fit `patterns`."""
    # Asked with a short time-out first: a wrong address is to be told at once.
    try:
        metastore_client.check(uri)
    except CatalogRefusedError as refused:
        LOG.info("of the database default: %s", refused)
    with metastore_client.connect(uri) as catalog:
        names, unlisted = _listed(catalog, _databases(catalog, patterns))
        with (
            progress.count("scan tables", sum(map(len, names.values()))) as count,
            ThreadPoolExecutor(AT_ONCE) as pool,
        ):
            scanned = [
                table
                for database, tables in names.items()
                for at in range(0, len(tables), BATCH)
                for looked in pool.map(
                    partial(_look, count), _entries(catalog, database, tables[at : at + BATCH])
                )
                for table in looked
            ]
    tables = tuple(sorted(scanned, key=lambda table: table.name))
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
    return Usage(VERSION, uri, now, tables, tuple(patterns), unlisted)


def _databases(catalog: Catalog, patterns: Sequence[str]) -> tuple[str, ...]:
    try:
        names = catalog.databases()
    except CatalogRefusedError as refused:
        raise EnvironmentProblem(
            f"the metastore at {catalog.uri} does not list its databases: {printable(str(refused))}"
        ) from refused
    chosen = {
        pattern: [e for e in names if fnmatchcase(e, pattern.lower())] for pattern in patterns
    }
    if empty := [pattern for pattern, fit in chosen.items() if not fit]:
        known = ", ".join(names)
        raise UsageProblem(f"no database is called '{empty[0]}'; there are: {known or 'none'}")
    return tuple(sorted({e for fit in chosen.values() for e in fit})) if patterns else names


def _listed(
    catalog: Catalog, databases: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the tables of each database, and why those of others are not listed."""
    names: dict[str, tuple[str, ...]] = {}
    unlisted: dict[str, str] = {}
    for database in databases:
        try:
            names[database] = catalog.names(database)
        except CatalogRefusedError as refused:
            unlisted[database] = printable(str(refused))
    return names, unlisted


_Entries = tuple[CatalogTable, ...]
"""Entries of one table: those of a merge-on-read table's views have the same files and columns."""


def _entries(catalog: Catalog, database: str, names: Sequence[str]) -> list[_Entries | UsedTable]:
    """Return the entries of a batch by what they have in common; of one that is not told, why."""
    try:
        tables = catalog.tables(database, names)
    except CatalogRefusedError as refused:
        if len(names) > 1:
            return [entry for name in names for entry in _entries(catalog, database, [name])]
        return [_unread(CatalogTable(f"{database}.{names[0]}", UsedFormat.OTHER), str(refused))]
    entries = [catalog_table.catalog_table(entry) for entry in tables]
    groups: dict[tuple[object, ...], _Entries] = {}
    for table in entries:
        family = table.format.partition("-")[0]
        same = (family, table.location or table.name, table.columns, table.partition_keys)
        groups[same] = (*groups.get(same, ()), table)
    lost = {f"{database}.{name}" for name in names} - {catalog.name for catalog in entries}
    why = "the metastore does not give its entry: it is gone, or hidden from you"
    return [
        *groups.values(),
        *(_unread(CatalogTable(name, UsedFormat.OTHER), why) for name in sorted(lost)),
    ]


def _look(count: Count, entries: _Entries | UsedTable) -> tuple[UsedTable, ...]:
    """Read the records of one table, and count each of its entries."""
    looked = (entries,) if isinstance(entries, UsedTable) else _tables(entries)
    for table in looked:
        count.count_result(table.name.partition(".")[0], UNREAD if table.unread else table.format)
    return looked


def _tables(entries: _Entries) -> tuple[UsedTable, ...]:
    # One entry of a merge-on-read table tells what all of them are.
    first = max(entries, key=lambda table: table.format is UsedFormat.HUDI_MOR)
    same = tuple(replace(entry, format=first.format) for entry in entries)
    read = _READERS.get(first.format)
    if read is None:
        # The entry alone says of a view, or of files that nobody reads here.
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
        return tuple(_unread(table, str(problem)) for table in same)
    except Exception as problem:
        # What nobody thought of in one table must not hide all others.
        LOG.exception("%s cannot be understood", first.name)
        why = f"its records cannot be understood: {problem!r}"
        return tuple(_unread(table, why) for table in same)
    views = used.format is UsedFormat.HUDI_MOR
    return tuple(
        replace(used, name=entry.name, view=entry.view if views else SNAPSHOT) for entry in entries
    )


def _unread(entry: CatalogTable, why: str) -> UsedTable:
    """Return a table of which nothing is known but what its entry says."""
    surely = entry.format not in (UsedFormat.OTHER, UsedFormat.HUDI)
    unknown = tuple(fact for fact in Fact if not (fact is Fact.FORMAT and surely))
    view = entry.view if entry.format is UsedFormat.HUDI_MOR else SNAPSHOT
    return UsedTable(entry.name, entry.format, view, unknown=unknown, unread=printable(why))
