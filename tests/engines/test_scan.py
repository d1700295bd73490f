"""Real tables of each format, frozen and registered, are found to have what was done to them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.model.datatypes import parse_type
from harness.model.schema import Table
from harness.runtime import metastore_client
from harness.runtime.metastore import Metastore
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, ChangeType, DropColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, Rewrites, Touch
from harness.scenario.operations.services import Compact
from harness.usage import scan
from harness.usage.usage_file import UsedTable
from harness.write import state_store, write_variants
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget
from tests.builders.table_folders import short

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

OLD, NEW = "spark-3.5.8-hudi-0.15.0", "spark-3.5.8-hudi-1.2.0"
ICEBERG = "spark-3.5.8-iceberg-1.10.1"
COLUMNS = {"id": "string", "ts": "long", "n": "int", "f1": "string", "f2": "string"}
CHANGES: tuple[Operation, ...] = (
    Insert(keys=(1, 2)),
    AddColumn("f3", parse_type("double"), after="ts"),
    ChangeType("n", parse_type("long")),
    RenameColumn("f1", "f1_new"),
    DropColumn("f2"),
)
REWRITTEN: tuple[Operation, ...] = (*CHANGES, Touch(Rewrites.ALL), Compact())
SHOWN = ["add f3 middle", "change n", "rename f1 f1_new", "drop f2"]


Scanned = Callable[[str, str, tuple[Operation, ...]], tuple[UsedTable, ...]]


@pytest.fixture
def scanned(
    metastore: Metastore, writer_for: WriterFor, database: str, cache: Cache, tmp_path: Path
) -> Scanned:
    """Write a table in a format, freeze and register its last state, and scan its database."""

    def give(name: str, writer: str, steps: tuple[Operation, ...]) -> tuple[UsedTable, ...]:
        target = WriteTarget(cache, metastore.uri, database, tmp_path / "t")
        target.folder.mkdir()
        columns = tuple((column, parse_type(text)) for column, text in COLUMNS.items())
        table = Table(columns, "id", ("ts",) if name.startswith("hudi") else ())
        scenario = Scenario("tests/scanned", table, tuple(map(Step, steps)))
        variant = Variant(f"{name}@{writer}", scenario, name, {}, (writer,) * (len(steps) + 1))
        *_, state = (state for _, state in write_variants.write_steps(variant, target, writer_for))
        assert state is not None
        with metastore_client.connect(metastore.uri) as catalog:
            state_store.register(catalog, state)
        return scan.scan(metastore.uri, [state.database], Progress()).tables

    return give


def changes_of(table: UsedTable) -> list[str]:
    """Return the changes without the new types, in the order in which they were made."""
    return [text.replace(" long", "") for text in short(table.schema_changes)]


@pytest.mark.parametrize(
    ("name", "writer", "version"),
    [
        ("hudi-cow", OLD, "6"),
        ("hudi-mor", OLD, "6"),
        ("hudi-cow", NEW, "9"),
        ("hudi-mor", NEW, "9"),
        ("iceberg", ICEBERG, "2"),
    ],
)
@pytest.mark.parametrize(("steps", "old"), [(CHANGES, "yes"), (REWRITTEN, "no")])
def test_the_changes_of_a_table_with_field_ids_are_found(
    name: str, writer: str, version: str, steps: tuple[Operation, ...], old: str, scanned: Scanned
) -> None:
    tables = scanned(name, writer, steps)
    assert tables
    for table in tables:
        assert (table.format, table.table_version, table.unread) == (name, version, "")
        assert changes_of(table) == [f"{change} {old}" for change in SHOWN]
        assert table.unknown == ()


@pytest.mark.parametrize("name", ["hive-parquet", "hive-orc"])
def test_the_changes_of_a_plain_table_are_seen_in_its_oldest_file(
    name: str, scanned: Scanned
) -> None:
    (result,) = scanned(name, OLD, CHANGES)
    assert result.format == name
    assert set(changes_of(result)) == {
        *("add f3 middle yes", "change n yes", "rename f1 f1_new yes ?", "drop f1 yes ?"),
        *("add f1_new end yes ?", "drop f2 yes ?"),
    }
