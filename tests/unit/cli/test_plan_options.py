"""What `harness plan` prints."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from harness.cli import plan_options, show_plan
from harness.cli.plan_options import NamedParts, PlanOverrides
from harness.core.errors import UsageProblem
from harness.plan import estimate, estimation
from harness.reports import summary
from harness.scenario.cells import Cell, Partly, Plan, Variant, parse_reader
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.row_writes import Insert
from tests.builders.scenarios import scenario_of

STORY = replace(scenario_of(Insert((1,)), RenameColumn("f1", "g")), name="family/story")
ASKED = {
    "spark-3": 100,
    "hive-3{path=fetch}": 20,
    "hive-3{path=mapreduce}": 10,
    "trino-4": 20,
}
"""So many cells of each reader."""


def planned() -> Plan:
    """Return a plan of two tables in three steps each, creation included, by two writers."""
    writers = ("writer-1", "writer-1", "writer-2")
    variants = tuple(Variant(name, STORY, "hudi-cow", {}, writers) for name in "vw")
    cells = tuple(
        Cell("v", 1, reader, "snapshot", f"column(f{number})")
        for reader, many in ASKED.items()
        for number in range(many)
    )
    return Plan("mine", variants, tuple(map(parse_reader, ASKED)), cells)


def shown(made: Plan) -> list[str]:
    out = StringIO()
    show_plan.show(made, Console(file=out, width=120), cells=False)
    return out.getvalue().splitlines()


def test_the_minutes_of_a_plan_are_the_sum_of_what_is_known_of_its_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figures = {"METASTORE_S": 10, "WRITER_START_S": 20, "STEP_S": 6, "STATE_S": 1, "CELL_S": 0.5}
    answers = {"READERS_S": {"spark": (30, 2), "hive": (40, 3)}, "OTHER_S": (50, 4)}
    for name, value in {**figures, **answers, "MAPREDUCE_S": 9}.items():
        monkeypatch.setattr(estimation, name, value)
    request = 2 * 10 + 6 * 1 + 150 * 0.5
    written = 2 * 20 + 6 * 6 / 2
    spark, hive, trino = 30 + 100 * 2, 40 + 20 * 3 + 10 * 9, 50 + 20 * 4
    assert hive < spark < hive + trino, "the third is asked once the second is over"
    seconds = request + written + hive + trino
    assert estimate(planned()) == seconds == 479
    end = "2 variants, 4 readers, 150 checks; about 8 min when nothing is there yet"
    assert shown(planned())[-1] == end


def test_readers_that_are_named_are_asked_instead_of_the_profiles() -> None:
    asked = ("trino-476@process", "hive-3.1.3@container", "trino-476")
    made = plan_options.make(None, "first", "", named=NamedParts(readers=asked))
    assert [str(reader) for reader in made.readers] == ["trino-476", "hive-3.1.3@container"]
    assert {cell.reader for cell in made.cells} == set(map(str, made.readers))
    everywhere = plan_options.make(
        None, "first", "", where=PlanOverrides("process"), named=NamedParts(readers=asked)
    )
    assert [str(reader) for reader in everywhere.readers] == ["trino-476", "hive-3.1.3"]


def test_readers_of_an_object_store_are_processes_and_read_a_control_first() -> None:
    made = plan_options.make(None, "first", "", where=PlanOverrides("process", "s3"))
    assert [reader.distribution for reader in made.readers][-1] == "trino-476@s3"
    controls = [cell for cell in made.cells if cell.variant.startswith("control/")]
    assert {cell.reader for cell in controls} == {str(reader) for reader in made.readers}
    again = plan_options.make(
        None,
        "first",
        "",
        where=PlanOverrides("process"),
        named=NamedParts(readers=["trino-476@s3"]),
    )
    assert [str(reader) for reader in again.readers] == ["trino-476@s3"]


@pytest.mark.parametrize(
    ("where", "reader", "told"),
    [
        (PlanOverrides("container"), "trino-476@s3", "do not reach the object store"),
        (PlanOverrides("", "s3"), "trino-476@container", "do not reach the object store"),
        (PlanOverrides("", "s3"), "prestosql-350", "presto is not set up for an object store"),
        (
            PlanOverrides("", "s3", "hive-metastore-4.0.1"),
            "trino-476",
            "on the disk, not s3 readers",
        ),
    ],
)
def test_who_cannot_read_from_an_object_store_is_told(
    where: PlanOverrides, reader: str, told: str
) -> None:
    with pytest.raises(UsageProblem, match=told):
        plan_options.make(None, "first", "", where=where, named=NamedParts(readers=[reader]))


def test_containers_and_who_reads_from_an_object_store_are_not_asked_in_one_run() -> None:
    both = ["trino-476@s3", "trino-476@container"]
    with pytest.raises(UsageProblem, match="no one serves both trino-476@container and trino-476@"):
        plan_options.make(None, "first", "", named=NamedParts(readers=both))


def test_tables_that_name_their_files_by_paths_are_not_asked_for_in_an_object_store() -> None:
    made = plan_options.make(
        None,
        "main",
        "",
        where=PlanOverrides(warehouse="s3"),
        named=NamedParts(readers=["trino-476"]),
    )
    formats = {variant.id: variant.format for variant in made.variants}
    assert "iceberg" not in {formats[cell.variant] for cell in made.cells}
    assert any("absolute paths" in exclusion.why for exclusion in made.excluded)


def test_a_plan_says_which_readers_are_not_asked_about_every_variant() -> None:
    lines = shown(replace(planned(), partly=(Partly("hive-3{path=mapreduce}", 1, 2, 10),)))
    at = lines.index(f"{summary.PARTLY}:")
    assert lines[at + 1] == "  hive-3{path=mapreduce}: 1 of 2 variants that it can read, 10 cells"
    assert not any(summary.PARTLY in line for line in shown(planned()))
