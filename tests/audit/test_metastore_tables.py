"""Tables of Hive as a metastore has them: the plan, and what readers' own metastore gets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pymetastore.hive_metastore import ttypes

from harness.audit import table_rows
from harness.audit.catalog_entry import catalog_entry
from harness.audit.tables import PinnedTable
from harness.core.records import Refusal
from harness.formats.files.table_folder import UnreadableError
from harness.runtime import metastore_client
from harness.runtime.metastore_client import CatalogRefusedError
from harness.runtime.metastore_objects import CatalogEntry, WriteIds, decode, entry, placed
from harness.usage.catalog_table import CatalogTable, catalog_table
from tests.builders.metastore_tables import DELIMITED, TEXT, metastore_table


@dataclass
class SimulatedMetastore:
    """Has one table."""

    table: ttypes.Table
    partitions: tuple[ttypes.Partition, ...] = ()
    write_ids: WriteIds | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)

    @contextmanager
    def __call__(self, uri: str) -> Iterator[SimulatedMetastore]:
        assert uri == "thrift://there:9083"
        yield self

    def entry(self, database: str, name: str) -> CatalogEntry:
        self.asked.append((database, name))
        if not self.table:
            refusal = Refusal("NoSuchObjectException", "gone")
            raise CatalogRefusedError(refusal)
        return entry(self.table, self.partitions)


@pytest.fixture
def metastore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimulatedMetastore:
    table = metastore_table("orders", TEXT, library=DELIMITED, serde={"field.delim": ","})
    table.dbName, table.sd.location = "sales", f"file:{tmp_path}/orders"
    table.sd.cols.append(ttypes.FieldSchema("n", "int", None))
    table.partitionKeys = [ttypes.FieldSchema("p", "date", None)]
    parts = []
    for day, folder in (("2024-01-01", "orders/p=2024-01-01"), ("2024-01-02", "elsewhere")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "1.txt").write_text(f"a,{day[-1]}\n")
        storage = ttypes.StorageDescriptor(cols=table.sd.cols, location=f"file:{tmp_path}/{folder}")
        parts.append(ttypes.Partition(values=[day], dbName="sales", tableName="orders", sd=storage))
    made = SimulatedMetastore(table, tuple(parts))
    monkeypatch.setattr(metastore_client, "connect", made)
    return made


def pin(metastore: SimulatedMetastore) -> PinnedTable:
    table: CatalogTable = catalog_table(metastore.table)
    return PinnedTable(table, metastore="thrift://there:9083")


def test_a_plan_goes_by_the_entry(metastore: SimulatedMetastore) -> None:
    plan = pin(metastore).plan()
    rows = [tuple(map(str, row)) for row in table_rows.read(plan).rows]
    assert rows == [("a", "1", "2024-01-01"), ("a", "2", "2024-01-02")]
    assert ["outside of the table's folder" in sentence for sentence in plan.undecided] == [True]
    assert metastore.asked == [("sales", "orders")]


def test_the_folder_of_a_partition_that_is_missing_is_told(metastore: SimulatedMetastore) -> None:
    table = pin(metastore)
    (folder,) = (
        f for f in Path(table.table.location.removeprefix("file:")).iterdir() if f.is_dir()
    )
    shutil.rmtree(folder)
    plan = table.plan()
    assert len(table_rows.read(plan).rows) == 1
    assert any(f"{folder}: there is no such folder" in sentence for sentence in plan.undecided)


def test_readers_get_the_entry_as_it_is_but_for_its_name(
    metastore: SimulatedMetastore, tmp_path: Path
) -> None:
    table = pin(metastore)
    made = catalog_entry(table, table.plan())
    given = decode(ttypes.Table, placed(made.table, "audit_1", ""))
    assert (given.dbName, given.tableName, given.sd.location) == (
        "audit_1",
        "t",
        metastore.table.sd.location,
    )
    assert given.sd.serdeInfo == metastore.table.sd.serdeInfo
    parts = [decode(ttypes.Partition, placed(part, "audit_1", "")) for part in made.partitions]
    assert [(part.tableName, part.sd.location) for part in parts] == [
        ("t", f"file:{tmp_path}/orders/p=2024-01-01"),
        ("t", f"file:{tmp_path}/elsewhere"),
    ]


def test_an_entry_that_is_gone_is_told(metastore: SimulatedMetastore) -> None:
    table = pin(metastore)
    metastore.table = None
    with pytest.raises(UnreadableError, match="does not give its entry: NoSuchObject"):
        table.plan()
