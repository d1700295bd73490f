"""What `harness plan` prints."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.cli import app, flow_commands, plan_options
from harness.cli.named_parts import NamedParts
from harness.cli.plan_options import PlanOverrides
from harness.core.errors import UsageProblem
from harness.plan import estimate, estimation
from harness.scenario.cells import Cell, Excluded, Plan, Variant, parse_reader
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.row_writes import Insert
from tests.builders.scenario_texts import MOVED
from tests.builders.scenarios import scenario_of

WRONG_USE = 2
NAMED = NamedParts(formats=["hudi-cow", "hudi-mor"], readers=["trino-476"])


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "my" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(MOVED, encoding="utf-8")
    return path


def printed_steps(made: Plan, *, every: bool = False) -> list[str]:
    out = StringIO()
    flow_commands.show_expected(made, Console(file=out, width=100), every=every)
    return out.getvalue().splitlines()


def test_each_step_has_its_words_what_is_sent_and_the_table_after_it(mine: Path) -> None:
    made = plan_options.make([mine], None, "", named=NAMED)
    lines = printed_steps(made)
    variant = made.variants[0]
    assert lines[:3] == ["", "A run fills in {database} and {location}.", ""]
    assert lines[3] == variant.id
    steps = [line for line in lines if line.startswith("step ")]
    words = ["create the table", *(step.operation.text() for step in variant.scenario.steps)]
    assert steps[: len(words)] == [f"step {at}: {text}" for at, text in enumerate(words)]
    moved = lines.index(next(line for line in steps if "move column" in line))
    assert lines[moved + 1] == "    alter table {database}.t alter column `f1` after `f2`"
    assert lines[moved + 2] == "    columns: id string, ts long, f2 string, f1 string"
    assert lines[moved + 3].split() == ["id", "ts", "f2", "f1"]
    assert lines[moved + 5].split() == ["1", "201001", "f4s1r1", "f3s1r1"]
    request = [line for line in lines if line.startswith("    columns: ")]
    assert len(request) == 2 * 2, "of two tables at first, and when they are others"


def test_of_each_scenario_and_format_the_first_variant_is_shown_and_the_others_are_counted(
    mine: Path,
) -> None:
    made = plan_options.make([mine], None, "", named=NAMED)
    ids = [variant.id for variant in made.variants]
    assert len(ids) == 4
    few = printed_steps(made)
    assert [id_ for id_ in ids if id_ in few] == ids[:2]
    assert few[-1] == "2 more variants: select others with -k and a part of a name"
    assert [id_ for id_ in ids if id_ in printed_steps(made, every=True)] == ids


@pytest.mark.parametrize("verb", ["plan", "run", "fetch"])
@pytest.mark.parametrize("more", [(), ("-k", "mine")])
def test_a_plan_of_no_cell_is_wrong_use_and_says_why(
    mine: Path, verb: str, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    mine.write_text(f"formats: [iceberg]\n{MOVED}", encoding="utf-8")
    more = () if verb == "fetch" else more
    assert app.main([verb, str(mine), "--profile", "quick-start", *more]) == WRONG_USE
    message = capsys.readouterr().err
    why = "nothing would be asked: my/mine: it is for iceberg; the profile has only hudi-"
    assert why in message
    assert "--format, --writer and --reader name others" in message
    assert not (mine.parent / "runs").exists()


STORY = replace(scenario_of(Insert((1,)), RenameColumn("f1", "g")), name="family/story")
ASKED = {"spark-3": 100, "hive-3{path=fetch}": 20, "hive-3{path=mapreduce}": 10, "trino-4": 20}
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
    flow_commands.show(made, Console(file=out, width=120), cells=False)
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
        None, "first", "", overrides=PlanOverrides("process"), named=NamedParts(readers=asked)
    )
    assert [str(reader) for reader in everywhere.readers] == ["trino-476", "hive-3.1.3"]


def test_readers_of_an_object_store_are_processes_and_read_a_control_first() -> None:
    made = plan_options.make(None, "first", "", overrides=PlanOverrides("process", "s3"))
    assert [reader.distribution for reader in made.readers][-1] == "trino-476@s3"
    controls = [cell for cell in made.cells if cell.variant.startswith("control/")]
    assert {cell.reader for cell in controls} == {str(reader) for reader in made.readers}
    again = plan_options.make(
        None,
        "first",
        "",
        overrides=PlanOverrides("process"),
        named=NamedParts(readers=["trino-476@s3"]),
    )
    assert [str(reader) for reader in again.readers] == ["trino-476@s3"]


@pytest.mark.parametrize(
    ("overrides", "reader", "problem"),
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
    overrides: PlanOverrides, reader: str, problem: str
) -> None:
    with pytest.raises(UsageProblem, match=problem):
        plan_options.make(
            None, "first", "", overrides=overrides, named=NamedParts(readers=[reader])
        )


def test_what_is_asked_instead_of_the_profile_s_queries_is_read_and_what_cannot_be_is_reported(
    mine: Path,
) -> None:
    asked = PlanOverrides(queries=("where(f1 = old)", "where(f1 is nan)", "limit(2)"))
    made = plan_options.make([mine], None, "", None, asked, NAMED)
    assert {cell.query for cell in made.cells} == {"where(f1 = old)", "limit(2)"}
    left_out = {excluded.what: excluded.why for excluded in made.excluded}
    assert left_out["where(f1 is nan) of my/mine"] == "f1 is string: only float and double have NaN"
    with pytest.raises(UsageProblem, match="--query: there is no 'wher"):
        plan_options.make([mine], None, "", None, PlanOverrides(queries=("wher(f1)",)), NAMED)


def test_what_a_reader_cannot_be_asked_is_left_out_with_the_reason(mine: Path) -> None:
    hive, polars = "hive-3.1.3-iceberg-1.4.3", "polars-2.1.0"
    readers = NamedParts(["iceberg"], readers=[hive, polars, "trino-476"])
    text = MOVED.replace("f2: string", "f2: double")
    mine.write_text(text, encoding="utf-8")
    queries = "where(f2 is nan)", 'where(f1 in "x", null)'
    made = plan_options.make([mine], None, "", None, PlanOverrides(queries=queries), readers)
    assert {(cell.query, cell.reader) for cell in made.cells} == {
        *((queries[0], polars), (queries[0], "trino-476")),
        *((queries[1], hive), (queries[1], "trino-476")),
    }
    why = {excluded.what: excluded.why for excluded in made.excluded}
    assert why[f"where(is nan) by {hive} on iceberg"] == "Hive's SQL has no word for NaN"
    assert "a list with NULL" in why[f'where(in "x", null) by {polars} on iceberg']


def test_a_moment_finer_than_a_reader_shows_is_not_asked(mine: Path) -> None:
    mine.write_text(MOVED.replace("f2: string", "f2: timestamp"), encoding="utf-8")
    text = 'where(f2 = "2024-01-01 10:00:00.123456")'
    readers = NamedParts(["hive-parquet"], readers=["prestodb-0.283", "spark-3.5.8-hudi-1.0.2"])
    made = plan_options.make([mine], None, "", None, PlanOverrides(queries=(text,)), readers)
    asked = {cell.reader for cell in made.cells if "twin" not in cell.variant}
    assert asked == {"spark-3.5.8-hudi-1.0.2"}


def test_where_nothing_is_asked_what_was_left_out_to_be_quick_is_no_reason() -> None:
    slow, reason = (
        Excluded("twins", "it would take too long"),
        Excluded("a on iceberg", "no reader"),
    )
    made = Plan("ad-hoc", (), (), (), (slow, reason), left_out=("twins",))
    with pytest.raises(UsageProblem, match=r"^nothing would be asked: a on iceberg: no reader; --"):
        plan_options.check_asks(made)
