"""Tables have what a variant asks for: by their properties, commits, footers and catalogs."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import pytest
from pyarrow import parquet

from harness import formats
from harness.core.records import OutcomeKind
from harness.formats.hudi import files as hudi_files
from harness.formats.hudi import records
from harness.model.datatypes import parse_type
from harness.model.schema import Table
from harness.runtime import metastore_client
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.row_writes import Insert, Upsert
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.state_store import State
from harness.write.writer_pool import WriteTarget

pytestmark = pytest.mark.engines

MINUTE = 60.0
OLD, NEW, NEWEST = (f"spark-3.5.8-hudi-{version}" for version in ("0.15.0", "1.0.2", "1.2.0"))
ICEBERG = "spark-3.5.8-iceberg-1.10.1"
OLD_BY_NIGHT, NEW_BY_NIGHT, NEWEST_BY_NIGHT = (
    pytest.param(writer, marks=pytest.mark.nightly) for writer in (OLD, NEW, NEWEST)
)
STATISTICS = {OLD: "column_statistics", NEW: "on", NEWEST: "on"}
"""The value of `metadata_table` with which a writer makes statistics of columns."""
COLUMNS = {"id": "string", "ts": "long", "f1": "string", "p": "string"}
IN_TWO = Insert(rows=({"id": "1", "p": "a=b"}, {"id": "2", "p": "50%"}))
IN_ONE = Insert(rows=({"id": "1", "p": "x"}, {"id": "2", "p": "x"}))
MANY = Insert(keys=tuple(map(str, range(1, 121))))
KEYS = b"hoodie_min_record_key", b"hoodie_max_record_key"


def variant(
    name: str,
    writer: str,
    settings: Mapping[str, str],
    *operations: Operation,
    partitioned: bool = False,
) -> Variant:
    columns = tuple((name, parse_type(text)) for name, text in COLUMNS.items())
    table = Table(columns, "id", ("ts",), ("p",) if partitioned else ())
    scenario = Scenario("settings/x", table, tuple(map(Step, operations)))
    assert formats.load(name).unsupported_settings(settings, scenario) == ""
    writers = (writer,) * (len(operations) + 1)
    return Variant(f"x[{name},{settings}]@{writer}", scenario, name, settings, writers)


def steps(what: Variant, target: WriteTarget, writer_for: WriterFor) -> Iterator[State]:
    for outcome, state in write_variants.write_steps(what, target, writer_for):
        assert outcome.kind is OutcomeKind.APPLIED, outcome
        assert state is not None
        formats.load(what.format).facts(state.table, "id")  # its files are understood
        yield state


def file_groups(state: State) -> int:
    return len({fact.file_group for fact in hudi_files.facts(state.table, "id")})


def written(what: Variant, target: WriteTarget, writer_for: WriterFor) -> Path:
    *_, last = steps(what, target, writer_for)
    return last.table


def metadata_parts(table: Path) -> set[str]:
    return set(records.local(table).properties["hoodie.table.metadata.partitions"].split(","))


def operations(table: Path) -> list[str]:
    """Return what the commits say they were; an upsert of Spark's own statements is `prepped`."""
    result = chain(table.glob(".hoodie/*commit"), table.glob(".hoodie/timeline/*commit"))
    every = (
        re.findall(rb"BULK_INSERT|UPSERT|INSERT", path.read_bytes()) for path in sorted(result)
    )
    return [operation.decode() for names in every for operation in dict.fromkeys(names)]


def footers(table: Path) -> list[parquet.FileMetaData]:
    result = (path for path in sorted(table.rglob("*")) if path.is_file())
    data = (path for path in result if not path.name.startswith((".", "_")))
    inside = (path for path in data if ".hoodie" not in path.parts and "metadata" not in path.parts)
    return [parquet.read_metadata(path) for path in inside]


def row_groups(table: Path) -> list[list[int]]:
    return [
        [footer.row_group(at).num_rows for at in range(footer.num_row_groups)]
        for footer in footers(table)
    ]


def tell_other_keys(table: Path) -> None:
    """Let every base file say that its least and greatest key are 0: who believes it finds none."""
    for path in (path for path in table.rglob("*.parquet") if ".hoodie" not in path.parts):
        metadata = dict(parquet.read_metadata(path).metadata) | dict.fromkeys(KEYS, b"0")
        rows = parquet.read_table(path, partitioning=None)
        parquet.write_table(rows.replace_schema_metadata(metadata), path)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("writer", [OLD_BY_NIGHT, NEW, NEWEST_BY_NIGHT])
def test_statistics_a_record_level_index_and_rows_of_spark(
    writer: str, writer_for: WriterFor, target: WriteTarget
) -> None:
    asked = {"index": "record_level", "record_merger": "spark", "insert_operation": "insert"}
    asked |= {"metadata_table": STATISTICS[writer]}
    table = written(variant("hudi-cow", writer, asked, IN_ONE), target, writer_for)
    assert {"files", "column_stats", "record_index"} <= metadata_parts(table)
    assert "bloom_filters" not in metadata_parts(table)
    (footer,) = footers(table)
    # A record that is merged as Avro is written as Avro, with its schema in the footer.
    assert b"org.apache.spark.version" in footer.metadata
    assert b"parquet.avro.schema" not in footer.metadata
    assert operations(table) == ["INSERT"]


@pytest.mark.parametrize("writer", [OLD, NEW_BY_NIGHT, NEWEST_BY_NIGHT])
def test_bloom_filters_encoded_partitions_and_a_bulk_insert(
    writer: str, writer_for: WriterFor, target: WriteTarget
) -> None:
    asked = {"insert_operation": "bulk_insert", "encoded_partitions": "on"}
    asked |= {"metadata_table": "bloom_filters"}
    what = variant("hudi-mor", writer, asked, IN_TWO, Upsert(keys=("3",)), partitioned=True)
    table = written(what, target, writer_for)
    assert metadata_parts(table) == {"files", "bloom_filters"}
    assert {path.name for path in table.glob("p=*")} >= {"p=a%3Db", "p=50%25"}
    assert operations(table) == ["BULK_INSERT", "UPSERT"]


@pytest.mark.parametrize("writer", [OLD, NEW_BY_NIGHT, NEWEST_BY_NIGHT])
def test_a_bloom_index_believes_footers_and_100_rows_fill_a_small_row_group(
    writer: str, writer_for: WriterFor, target: WriteTarget
) -> None:
    asked = {"index": "bloom", "row_groups": "small"}
    states = steps(
        variant("hudi-cow", writer, asked, MANY, Upsert(keys=("5",))), target, writer_for
    )
    _, first = next(states), next(states)
    assert row_groups(first.table) == [[100, 20]]
    tell_other_keys(target.table)
    (last,) = states
    assert file_groups(last) == 2


@pytest.mark.parametrize("cascade", ["on", "off"])
def test_partitions_have_the_new_column_where_changes_cascade_and_rows_their_row_groups(
    cascade: str, writer_for: WriterFor, target: WriteTarget
) -> None:
    asked = {"cascade": cascade, "row_groups": "small"}
    later = Insert(rows=({"id": "3", "p": "x"}, {"id": "4", "p": "y"}))
    change = AddColumn("n", parse_type("long"), after="id")
    what = variant("hive-parquet", OLD, asked, IN_ONE, change, later, partitioned=True)
    table = written(what, target, writer_for)
    assert sorted(row_groups(table)) == [[1], [1], [1, 1]]
    with metastore_client.connect(target.metastore_uri) as client:
        (entry,) = client.entries(target.database)
    columns = {
        part["values"][0]: [column["name"] for column in part["sd"]["cols"]]
        for part in entry.partitions
    }
    new = ["id", "n", "ts", "f1"]
    # A partition that is made later gets the columns that the table has then.
    assert columns == {"x": new if cascade == "on" else ["id", "ts", "f1"], "y": new}
