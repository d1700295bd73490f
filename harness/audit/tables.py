"""The tables at an address, and the read plan of each by its format's own records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness import formats
from harness.engines.format_facts import FormatFacts
from harness.formats.delta import read_plan as delta_plan
from harness.formats.files import table_folder
from harness.formats.files.locations import Locations
from harness.formats.files.table_folder import UnreadableError
from harness.formats.hive import read_plan as hive_plan
from harness.formats.hive.read_plan import DeclaredColumns
from harness.formats.hudi import read_plan as hudi_plan
from harness.formats.hudi.records import TYPE, HudiTable
from harness.formats.iceberg import read_plan as iceberg_plan
from harness.formats.read_plan import ReadPlan
from harness.usage import hudi_table, scan
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import UsedFormat, UsedTable


@dataclass(frozen=True, slots=True)
class PinnedTable:
    """A table at one version, which every reader is asked for."""

    table: CatalogTable
    version: str = ""
    """The snapshot, version or instant that was asked for; empty for the newest."""
    locations: Locations = field(default_factory=Locations)

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
            case UsedFormat.HIVE_PARQUET if not at and not self.table.partition_keys:
                columns = self.table.columns
                return hive_plan.plan(folder, DeclaredColumns(columns) if columns else None)
        kind = (
            f"partitioned {self.table.format}" if self.table.partition_keys else self.table.format
        )
        past = ", as they were, " if at else " "
        raise UnreadableError(f"{kind} tables{past}are not audited; unpartitioned Parquet is")


def pinned(address: str, patterns: Sequence[str]) -> Iterator[PinnedTable | UsedTable]:
    """Yield the tables at an address; as UsedTable one that cannot be looked at, and says why."""
    with scan.listed(address, patterns) as listing:
        for batch in listing.batches:
            for entries in batch:
                if isinstance(entries, UsedTable):
                    yield entries
                else:
                    yield PinnedTable(with_type(entries[0]))
        for name, why in listing.unlisted.items():
            yield UsedTable(name, UsedFormat.OTHER, unread=why)


def with_type(table: CatalogTable) -> CatalogTable:
    """Return a Hudi table with the type that its own properties say."""
    if table.format is not UsedFormat.HUDI:
        return table
    properties = HudiTable(table_folder.at(table.location)).properties
    return replace(table, format=hudi_table.TYPES.get(properties.get(TYPE, ""), table.format))
