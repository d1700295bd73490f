"""The tables at an address, and the read plan of each by its format's own records."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from harness import formats
from harness.engines.format_facts import FormatFacts
from harness.formats.api import FileFactError
from harness.formats.delta import read_plan as delta_plan
from harness.formats.files import table_folder
from harness.formats.files.locations import Locations
from harness.formats.files.table_folder import UnreadableError
from harness.formats.hive import read_plan as hive_plan
from harness.formats.hive.read_plan import DeclaredColumns
from harness.formats.hive_acid import read_plan as acid_plan
from harness.formats.hudi import read_plan as hudi_plan
from harness.formats.hudi.records import TYPE, HudiTable
from harness.formats.iceberg import move
from harness.formats.iceberg import read_plan as iceberg_plan
from harness.formats.iceberg.table import METADATA
from harness.formats.read_plan import ReadPlan
from harness.runtime import metastore_client
from harness.runtime.metastore_client import CatalogRefusedError
from harness.runtime.metastore_objects import CatalogEntry, placed
from harness.usage import hudi_table, scan
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import UsedFormat, UsedTable

HIVE: Final = frozenset(
    {
        UsedFormat.HIVE_ACID,
        UsedFormat.HIVE_AVRO,
        UsedFormat.HIVE_ORC,
        UsedFormat.HIVE_PARQUET,
        UsedFormat.HIVE_TEXT,
    }
)

METADATA_FILES: Final = ".metadata.json", ".metadata.json.gz"


@dataclass(frozen=True, slots=True)
class PinnedTable:
    """A table at one version, which every reader is asked for."""

    table: CatalogTable
    version: str = ""
    """The snapshot, version or instant that was asked for; empty for the newest."""
    locations: Locations = field(default_factory=Locations)
    metastore: str = ""
    """The address of the one that has its entry; empty where there is none."""
    for_readers: str = ""
    """The metadata file that they are given, of a table that was moved; empty for its own."""

    def entry(self) -> CatalogEntry | None:
        """Ask the metastore anew for the entry of a table of Hive; raises UnreadableError.

        None where there is none, or where the table's own records say all.
        """
        if not self.metastore or self.table.format not in HIVE:
            return None
        database, _, name = self.table.name.rpartition(".")
        try:
            with metastore_client.connect(self.metastore) as catalog:
                made = catalog.entry(database, name)
        except CatalogRefusedError as problem:
            raise UnreadableError(f"the metastore does not give its entry: {problem}") from problem
        location = re.sub(r"^file:(//)?(?=/)", "", self.table.location)
        return replace(
            made,
            table=placed(made.table, database, location),
            partitions=tuple(placed(part, database, location) for part in made.partitions),
        )

    @property
    def in_catalog(self) -> str:
        """How its metastore or REST catalog calls it, `database.table`; empty where none does."""
        return self.table.name if self.metastore or self.table.content else ""

    @property
    def facts(self) -> FormatFacts:
        return formats.facts(self.table.format)

    def plan(self) -> ReadPlan:
        """Plan it anew; raises FileFactError, UnreadableError."""
        folder, at = table_folder.at(self.table.location), self.version
        match self.table.format:
            case UsedFormat.ICEBERG:
                metadata = self.table.metadata
                return iceberg_plan.plan(folder, metadata, self.locations, at)
            case UsedFormat.DELTA:
                return delta_plan.plan(folder, int(at) if at else None)
            case UsedFormat.HUDI_COW | UsedFormat.HUDI_MOR:
                return hudi_plan.plan(folder, at or None)
            case _ if self.table.format in HIVE and not at:
                entry = self.entry()
                declared = DeclaredColumns.of(entry) if entry else None
                if self.table.format is UsedFormat.HIVE_ACID:
                    return acid_plan.plan(folder, declared, entry.write_ids if entry else None)
                return hive_plan.plan(folder, declared)
            case UsedFormat.HUDI:
                raise UnreadableError("its hoodie.properties do not say of which type it is")
        past = ", as they were, " if at else " "
        raise UnreadableError(f"{self.table.format} tables{past}are not audited")


def pinned(address: str, patterns: Sequence[str]) -> Iterator[PinnedTable | UsedTable]:
    """Yield the tables at an address; as UsedTable one that cannot be looked at, and says why.

    The address may be that of the metadata file of an Iceberg table too.
    """
    if address.endswith(METADATA_FILES) and "/" in address:
        whole = address if "://" in address else str(Path(address).absolute())
        location = whole.rpartition("/")[0].removesuffix(f"/{METADATA}")
        name = location.rpartition("/")[2]
        yield _where_it_lies(
            CatalogTable(name, UsedFormat.ICEBERG, location=location, metadata=whole)
        )
        return
    with scan.listed(address, patterns) as listing:
        metastore = listing.metastore
        for batch in listing.batches:
            for entries in batch:
                if isinstance(entries, UsedTable):
                    yield entries
                elif entries[0].format is UsedFormat.ICEBERG and not metastore:
                    yield _where_it_lies(entries[0])
                else:
                    yield PinnedTable(with_type(entries[0]), metastore=metastore)
        for name, why in listing.unlisted.items():
            yield UsedTable(name, UsedFormat.OTHER, unread=why)


def _where_it_lies(table: CatalogTable) -> PinnedTable:
    """Pin an Iceberg table, which may have been copied from where its metadata say that it is."""
    metadata = table.metadata.removeprefix(f"{table.location.rstrip('/')}/")
    if metadata == table.metadata or table.content:  # a catalog says where it lies
        return PinnedTable(table)
    try:
        folder = table_folder.at(table.location)
        return PinnedTable(table, locations=move.of_copy(folder, table.location, metadata))
    except (FileFactError, UnreadableError):
        return PinnedTable(table)  # whoever plans it meets the same


def for_readers(table: PinnedTable | UsedTable, folder: Path) -> PinnedTable | UsedTable:
    """Return a table with a copy of its metadata where they name other paths than it has."""
    if isinstance(table, UsedTable) or not table.locations.moved:
        return table
    location, metadata = table.table.location, table.table.metadata
    inside = metadata.removeprefix(f"{location.rstrip('/')}/")
    try:
        copy = move.copied(table_folder.at(location), inside, table.locations, folder)
    except (FileFactError, UnreadableError, ValueError) as problem:
        why = f"it was moved, and no copy of its metadata can be made: {problem}"
        return UsedTable(table.table.name, table.table.format, unread=why)
    return replace(table, for_readers=copy)


def with_type(table: CatalogTable) -> CatalogTable:
    """Return a Hudi table with the type that its own properties say."""
    if table.format is not UsedFormat.HUDI:
        return table
    properties = HudiTable(table_folder.at(table.location)).properties
    return replace(table, format=hudi_table.TYPES.get(properties.get(TYPE, ""), table.format))
