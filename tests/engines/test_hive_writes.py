"""Hive writes plain tables: of its times every Hive shows what was written, in whatever zone."""

import pytest

from harness.core.records import OutcomeKind, VerdictKind
from harness.plan import Writer
from harness.run.load_run import Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SPARK, HIVE, AWAY = "spark-3.5.8-hudi-0.15.0", "hive-3.1.3", "hive-3.1.3-los-angeles"
READERS = (f"{HIVE}{{path=fetch}}", f"{HIVE}{{path=mapreduce, vectorized=on}}")
TIMES, STORY = shipped("bugs/times_of_hive", "hive_writes/in_turn")
DROP = 9
PLAN = planned(
    [TIMES, STORY],
    ["hive-parquet", "hive-orc"],
    [
        Writer(SPARK, scenarios=(STORY.name,)),
        *(Writer(name, scenarios=(TIMES.name,)) for name in (HIVE, AWAY)),
    ],
    READERS,
    in_turn=True,
)


def test_hive_makes_tables_whose_times_it_reads_vectorised_and_not(run: Run) -> None:
    results = [verdict for verdict in run.verdicts if TIMES.name in verdict.variant]
    assert len(results) == len(READERS) * 4 * len(TIMES.steps)
    assert {verdict.verdict for verdict in results} == {VerdictKind.CORRECT}


def test_hive_refuses_to_drop_a_column_of_orc_files_and_nothing_else(run: Run) -> None:
    states = [state for state in run.states if STORY.name in state.variant]
    odd = {s.outcome.step for s in states if s.outcome.kind is not OutcomeKind.APPLIED}
    assert odd == {DROP}
    refused = {state.variant for state in states if state.outcome.kind is OutcomeKind.REFUSED}
    assert {variant.partition("[")[2].partition("]")[0] for variant in refused} == {
        "hive-orc",
        "hive-orc,partitioned=last",
    }
    assert not any(state.layout for state in states)
