"""What a reproducer is written as: a scenario that the harness runs, and a script for people."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.cli import plan_options
from harness.cli.reproduce import files
from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.files import script
from harness.core.runtime_names import MetastoreChoice
from harness.scenario.definition import Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.merge import Mutate
from harness.scenario.operations.unfinished_writes import KilledWrite
from tests.builders.candidates import CAUSE, TRINO, candidate_of, observation_of, target_of
from tests.builders.table_story import history

MOVED = "insert 1,2; move f1 after f2"


def written(folder: Path, candidate: Candidate, reader: str = TRINO) -> Path:
    return files.write(folder, target_of(reader), candidate, observation_of(candidate, reader))


@pytest.fixture
def candidate() -> Candidate:
    return candidate_of(history(MOVED))


def test_settings_a_change_of_writers_and_the_metastore_stand_in_the_profile(
    tmp_path: Path, candidate: Candidate
) -> None:
    after = "spark-3.5.8-hudi-1.0.2"
    writers = (*candidate.writers[:2], after)
    made = replace(candidate, writers=writers, settings={"metadata_table": "on"})
    through = MetastoreChoice("hive-metastore-4.0.1")
    path = files.write(tmp_path, replace(target_of(), through=through), made, observation_of(made))
    plan = plan_options.make([path / "scenario.yaml"], path.name, "")
    assert plan.metastore == through
    lines = (path / "reproduce.sql").read_text().splitlines()
    assert "-- The reader was asked through hive-metastore-4.0.1." in lines
    (variant,) = (v for v in plan.variants if not v.id.startswith("control/"))
    assert variant.writers == writers
    assert dict(variant.settings) == {"metadata_table": "on"}


def test_a_step_that_names_its_writer_does_so_in_the_scenario_and_its_part_of_the_script(
    tmp_path: Path,
) -> None:
    spark, trino = "spark-3.5.8-iceberg-1.10.1", "trino-476"
    made = candidate_of(history("insert 1,2; rename f1 g; insert 3"))
    steps = (*made.scenario.steps[:2], replace(made.scenario.steps[2], by=trino))
    iceberg = replace(
        made,
        scenario=replace(made.scenario, steps=steps, formats=("iceberg",)),
        format="iceberg",
        settings={},
        writers=(spark, spark, spark, trino),
    )
    shorter = iceberg.with_steps([iceberg.numbered[0], iceberg.numbered[2]])
    assert shorter is not None
    path = written(tmp_path, shorter, trino)
    (variant,) = plan_options.make([path / "scenario.yaml"], path.name, "").variants
    assert variant.writers == (spark, spark, trino)
    script = (path / "reproduce.sql").read_text()
    story = script.partition(f"-- ===== in Trino SQL: {trino} =====\n")[2].splitlines()
    assert story[1].startswith("-- step 2: insert 1 row")
    assert story[2].startswith('insert into "iceberg"."reproducer"."t" ("id", ')


def test_the_script_has_the_statements_the_query_and_both_answers(
    tmp_path: Path, candidate: Candidate
) -> None:
    text = (written(tmp_path, candidate) / "reproduce.sql").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("--")]
    assert all(line.endswith(";") for line in lines)
    creation = next(line for line in lines if line.startswith("create table"))
    assert creation.startswith("create table reproducer.t (`id` string, `ts` bigint, ")
    assert "location '/tmp/reproducer/t'" in creation
    assert "set hoodie.schema.on.read.enable=true;" in lines
    assert "alter table reproducer.t alter column `f1` after `f2`;" in lines
    assert lines[-1] == 'select * from "hudi_by_position"."reproducer"."t";'
    assert "--   hudi.parquet.use-column-names=false" in text
    assert "org.apache.hudi:hudi-spark3.5-bundle_2.12:0.15.0:jar" in text
    expected, seen = text.split("-- expected:")[1].split("-- seen:")
    assert "'" not in seen
    assert expected.splitlines()[2] != seen.splitlines()[2]
    assert sorted(expected.splitlines()[2]) == sorted(seen.splitlines()[2])


IN_SPARK = "spark-3.5.8-hudi-1.0.2{schema-on-read=on}"
SINCE = "select * from `reproducer`.`t` where `_hoodie_commit_time` > 'MOMENT'"


@pytest.mark.parametrize(
    ("view", "reader", "lines"),
    [
        ("as_of", IN_SPARK, ["select * from `reproducer`.`t` timestamp as of 'MOMENT';"]),
        (
            "incremental",
            "hive-3.1.3{schema-on-read=on}",
            [
                "set hoodie.t.consume.start.timestamp=MOMENT;",
                "set hoodie.t.consume.max.commits=-1;",
                f"select * from ({SINCE}) `since`;",
            ],
        ),
    ],
)
def test_the_moment_of_a_view_of_the_past_is_left_to_whoever_wrote_the_table(
    tmp_path: Path, view: str, reader: str, lines: list[str]
) -> None:
    candidate = candidate_of(history("insert 1,2; move f1 after f2; upsert 2"), view)
    seen = observation_of(candidate, reader, view)
    asked = replace(target_of(reader), cause=replace(CAUSE, suspect=reader, view=view))
    path = files.write(tmp_path, asked, candidate, seen)
    query = (path / "reproduce.sql").read_text().split("===== the query")[1].splitlines()
    assert [text for text in query if text and not text.startswith("--")][-len(lines) :] == lines
    assert (
        "-- MOMENT: when the write of step 1 was requested, in the table that you wrote." in query
    )
    assert (
        "--   The write of step 1 is number 2 of those completed, by the last time in their names:"
        in query
    )
    made = plan_options.make([path / "scenario.yaml"], path.name, "")
    assert {(cell.step, cell.view) for cell in made.cells} == {(2, f"{view}(1)"), (3, f"{view}(1)")}


@pytest.mark.parametrize(
    ("alone", "others", "number"),
    [
        ((1, 2, 3), {}, 2),
        ((2, 3), {}, 1),
        ((1, 2, 3), {1: ("100",), 2: ("100", "200"), 3: ("100", "200", "300")}, 4),
        ((2, 3), {2: ("100",), 3: ("100",)}, 2),
    ],
)
def test_a_write_has_the_number_of_all_that_were_completed_until_then(
    tmp_path: Path, alone: tuple[int, ...], others: dict[int, tuple[str, ...]], number: int
) -> None:
    candidate = candidate_of(history("insert 1,2; upsert 2; move f1 after f2"), "as_of")
    seen = observation_of(candidate, IN_SPARK, "as_of", "select 1")
    instants = {step: f"{step}" for step in alone}
    states = tuple(
        replace(
            state,
            outcome=replace(state.outcome, instant=instants.get(state.outcome.step, "")),
            others=tuple((instant, 0) for instant in others.get(state.outcome.step, ())),
        )
        for state in seen.states
    )
    asked = replace(target_of(IN_SPARK), cause=replace(CAUSE, suspect=IN_SPARK, view="as_of"))
    path = files.write(tmp_path, asked, candidate, replace(seen, states=states))
    text = (path / "reproduce.sql").read_text()
    assert f"--   The write of step 2 is number {number} of those completed" in text


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("hive-3.1.3{schema-on-read=on}", "set hoodie.schema.on.read.enable=true;"),
        ("spark-3.5.8-hudi-1.0.2{vectorized=off}", "spark.sql.parquet.enableVectorizedReader"),
    ],
)
def test_the_settings_of_a_reader_are_in_the_words_of_its_engine_and_its_own_jars_are_counted(
    tmp_path: Path, candidate: Candidate, reader: str, text: str
) -> None:
    head, _, query = (
        (written(tmp_path, candidate, reader) / "reproduce.sql")
        .read_text()
        .partition("===== the query")
    )
    assert text in query
    assert "org.apache.hive:hive-exec:3.1.3:jar" not in head
    jars = [a for a in distributions.load("hive-3.1.3").artifacts if a.into == "lib"]
    assert (f"and {len(jars)} jars that hive itself is made of" in head) == ("hive" in reader)


def test_what_a_writer_does_before_another_goes_on_stands_in_its_own_part() -> None:
    newer, older = "spark-3.5.8-hudi-1.2.0", "spark-3.5.8-hudi-0.15.0"
    made = candidate_of(history(MOVED))
    seen = observation_of(made)
    variant = replace(
        made.variant, settings={"handover_version": "6"}, writers=(newer, newer, older)
    )
    first, second = script(variant, target_of(), seen).split(f"in Spark SQL: {older}")
    assert "to_version => 'SIX'" in first.partition("before step 2")[2]
    assert "SIX" not in second


def test_a_dataframe_is_written_in_pyspark_with_all_settings_of_the_session() -> None:
    made = candidate_of(history("insert 1; frame 1 id,ts,f2,f1; insert 2"))
    written = script(made.variant, target_of(), observation_of(made)).partition("-- step 2")[2]
    lines = written.partition("-- step 3")[0].splitlines()[1:]
    assert lines[0] == "-- in PySpark:"
    assert lines[1].startswith('--   frame = spark.sql("""select \'1\' as `id`')
    for option in ("hoodie.schema.on.read.enable", "hoodie.datasource.write.reconcile.schema"):
        assert f'--   writer = writer.option("{option}", "true")' in lines
    assert (
        '--   writer = writer.option("hoodie.datasource.hive_sync.database", "reproducer")' in lines
    )
    assert '--   writer.save("/tmp/reproducer/t")' in lines
    assert all(line.startswith("--") or not line for line in lines)


def test_the_instant_of_a_step_is_explained_where_a_statement_names_it(tmp_path: Path) -> None:
    candidate = candidate_of(history("insert 1; savepoint; insert 2; restore"), "snapshot")
    seen = observation_of(candidate, IN_SPARK, "snapshot", "select 1")
    asked = replace(target_of(IN_SPARK), cause=replace(CAUSE, suspect=IN_SPARK))
    text = (files.write(tmp_path, asked, candidate, seen) / "reproduce.sql").read_text()
    story, call = text.split("-- step 4: restore the savepoint\n")[1].splitlines()[:2]
    assert story == "--   {instant of step 1} is in the table that you wrote."
    assert re.match(r"--   The write of step 1 is number \d of those completed", call)
    assert "instant_time => '{instant of step 1}');" in text


@pytest.mark.parametrize(
    ("operation", "line"),
    [
        (Mutate(update=(1,)), "-- by a program, as no SQL says it: Mutation API, then commit: {"),
        (
            KilledWrite((9,)),
            "-- by a process of its own, killed when it asks the metastore for the commit: ",
        ),
    ],
)
def test_what_cannot_be_sent_by_hand_stands_in_a_comment(operation: Operation, line: str) -> None:
    made = candidate_of(history(MOVED))
    scenario = made.variant.scenario
    steps = scenario.steps[0], Step(operation)
    variant = replace(made.variant, scenario=replace(scenario, steps=steps), format="hive-acid")
    variant = replace(variant, writers=("hive-3.1.3",) * 3)
    lines = script(variant, target_of(), observation_of(made)).splitlines()
    assert any(text.startswith(line) for text in lines)
