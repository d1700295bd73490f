"""The tables of a Hive metastore, by calls that only read."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Final

from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.texts import printable
from harness.runtime import metastore_client
from harness.runtime.metastore_client import Catalog, CatalogRefusedError
from harness.usage import catalog_table
from harness.usage.catalog_table import CatalogTable, Entries, Listing, unread
from harness.usage.usage_file import UsedFormat, UsedTable

LOG: Final = logging.getLogger(__name__)
BATCH: Final = 100
"""Tables that one call asks the metastore for."""


@contextmanager
def listed(uri: str, patterns: Sequence[str]) -> Iterator[Listing]:
    """Yield the tables in databases that fit `patterns`."""
    # Asked with a short time-out first: a wrong address is to be told at once.
    try:
        metastore_client.check(uri)
    except CatalogRefusedError as refused:
        LOG.info("of the database default: %s", refused)
    with metastore_client.connect(uri) as catalog:
        names, unlisted = _names(catalog, _databases(catalog, patterns))
        yield Listing(
            sum(map(len, names.values())),
            (
                _entries(catalog, database, tables[at : at + BATCH])
                for database, tables in names.items()
                for at in range(0, len(tables), BATCH)
            ),
            unlisted,
            len(names),
            uri,
        )


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


def _names(
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


def _entries(catalog: Catalog, database: str, names: Sequence[str]) -> list[Entries | UsedTable]:
    """Return the entries of a batch by what they have in common; of one that is not told, why."""
    try:
        tables = catalog.tables(database, names)
    except CatalogRefusedError as refused:
        if len(names) > 1:
            return [entry for name in names for entry in _entries(catalog, database, [name])]
        return [unread(CatalogTable(f"{database}.{names[0]}", UsedFormat.OTHER), str(refused))]
    entries = [catalog_table.catalog_table(entry) for entry in tables]
    groups: dict[tuple[object, ...], Entries] = {}
    for table in entries:
        family = table.format.partition("-")[0]
        same = (family, table.location or table.name, table.columns, table.partition_keys)
        groups[same] = (*groups.get(same, ()), table)
    lost = {f"{database}.{name}" for name in names} - {catalog.name for catalog in entries}
    why = "the metastore does not give its entry: it is gone, or hidden from you"
    return [
        *groups.values(),
        *(unread(CatalogTable(name, UsedFormat.OTHER), why) for name in sorted(lost)),
    ]
