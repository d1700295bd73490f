"""The main job on real engines: the CI profile finds what these engines are known to answer.

Known from tables written by Hudi 0.15.0 and read by hand (engines notes); each fact below is one
that a person checked against the engine's own answer.
"""

from pathlib import Path

import pytest

from tests.engines.ci_run import CANARY, Finished, run

pytestmark = [pytest.mark.engines, pytest.mark.alone]

SPARK = "spark-3.5.8-hudi-1.0.2{{schema-on-read={}}}"
HIVE = "hive-3.1.3{{path={}}}"
HIVE_ON = "hive-3.1.3{{path={}, schema-on-read=on}}"
TRINO = "trino-476{{use-column-names={}}}"
PRESTO = "prestosql-350{{use-column-names={}}}"
MOVE, ADD, RENAME = 3, 3, 7
"""Numbers of steps: `move` moves a column at 3, `a5` adds one at 3 and renames one at 7."""
UPDATED = 4
"""The step at which both scenarios write to rows of old file groups: log files on merge-on-read."""


@pytest.fixture(scope="module")
def finished(ci_run: Finished) -> Finished:
    return ci_run


def test_every_cell_has_an_answer_and_the_gate_says_that_something_is_wrong(
    finished: Finished,
) -> None:
    assert finished.status == 1, finished.output
    assert len(finished.verdicts) > 500
    assert {verdict["verdict"] for verdict in finished.verdicts} <= {"correct", "wrong", "refused"}
    assert not [f for verdict in finished.verdicts for f in verdict["findings"] if not f["places"]]


def test_nothing_is_left_unexplained(finished: Finished) -> None:
    kinds = {f["kind"] for verdict in finished.verdicts for f in verdict["findings"]}
    assert "unexplained" not in kinds


def test_no_secret_of_the_environment_is_in_what_is_printed_or_any_file_of_the_run(
    finished: Finished,
) -> None:
    assert CANARY not in finished.output
    files = [path for path in finished.folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files)
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []


def test_spark_with_schema_on_read_is_right_throughout(finished: Finished) -> None:
    spark = [verdict for verdict in finished.verdicts if verdict["reader"] == SPARK.format("on")]
    assert len(spark) > 50
    assert {verdict["verdict"] for verdict in spark} == {"correct"}


@pytest.mark.parametrize("reader", [TRINO, PRESTO], ids=["trino", "presto"])
@pytest.mark.parametrize(("shape", "view"), [("cow", "snapshot"), ("mor", "read_optimized")])
def test_by_position_a_moved_column_is_misaligned(
    finished: Finished, reader: str, shape: str, view: str
) -> None:
    cell = (reader.format("false"), "move", shape, view, MOVE)
    assert finished.kinds(*cell) == {"misaligned"}
    assert all(text.startswith("by position") for text in finished.cells(*cell)["reproduces"])
    witness = finished.cells(*cell)["findings"][0]["witness"]
    assert witness["origin"]["name"] != witness["column"]
    assert finished.cells(reader.format("true"), *cell[1:])["verdict"] == "correct"


def test_trino_by_position_after_an_add_in_the_middle_is_misaligned(finished: Finished) -> None:
    assert "misaligned" in finished.kinds(TRINO.format("false"), "a5", "cow", "snapshot", ADD)


@pytest.mark.parametrize(
    "reader", [SPARK.format("off"), HIVE.format("fetch"), TRINO.format("true")]
)
@pytest.mark.parametrize(("shape", "view"), [("cow", "snapshot"), ("mor", "read_optimized")])
def test_by_name_a_renamed_column_is_missing(
    finished: Finished, reader: str, shape: str, view: str
) -> None:
    assert finished.kinds(reader, "a5", shape, view, RENAME) == {"missing_rename"}


def test_hive_with_schema_on_read_depends_on_its_execution_path(finished: Finished) -> None:
    cell = ("a5", "cow", "snapshot", RENAME)
    assert finished.cells(HIVE_ON.format("fetch"), *cell)["verdict"] == "correct"
    assert finished.kinds(HIVE_ON.format("mapreduce"), *cell) == {"missing_rename"}


@pytest.mark.parametrize("reader", [TRINO, PRESTO], ids=["trino", "presto"])
@pytest.mark.parametrize("view", ["snapshot", "base_name"])
def test_a_snapshot_of_merge_on_read_is_answered_from_base_files_only(
    finished: Finished, reader: str, view: str
) -> None:
    cell = (reader.format("true"), "a5", "mor", view, UPDATED)
    assert finished.kinds(*cell) == {"stale"}
    assert all("base files only" in strategy for strategy in finished.cells(*cell)["reproduces"])


def test_a_second_run_with_nothing_changed_starts_no_engine(
    finished: Finished, tmp_path: Path
) -> None:
    again = run(tmp_path / "again")
    assert [
        (verdict["case"], verdict["verdict"], verdict["findings"]) for verdict in again.verdicts
    ] == [
        (verdict["case"], verdict["verdict"], verdict["findings"]) for verdict in finished.verdicts
    ]
    assert all(verdict["reused"] for verdict in again.verdicts)
    assert not list((again.folder / "engines").glob("*"))
