"""A plain table that Trino's own procedure makes one of Iceberg: its files have no field ids."""

import pytest

from harness.core.records import FindingKind, OutcomeKind, Responsible, VerdictKind
from harness.run.load_run import Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SPARK, TRINO = "spark-3.5.8-iceberg-1.10.1", "trino-476"
COMES_BACK = {7, 8}
"""After a column is given the name of a dropped one, until all files are written anew."""
(STORY,) = shipped("mixed_writers/migrated")
PLAN = planned([STORY], ["iceberg"], [SPARK], [SPARK, TRINO], in_turn=True)


def test_every_step_of_both_is_applied(run: Run) -> None:
    assert len(run.states) == 2 * (len(STORY.steps) + 1)
    assert {state.outcome.kind for state in run.states} == {OutcomeKind.APPLIED}
    assert not any(state.layout for state in run.states)


def test_names_lead_to_all_columns_and_to_a_dropped_one_too(run: Run) -> None:
    assert len(run.verdicts) == 2 * 2 * len(STORY.steps)
    odd = [verdict for verdict in run.verdicts if verdict.verdict is not VerdictKind.CORRECT]
    assert {"partitioned=last" in verdict.case for verdict in odd} == {True}
    assert {(str(verdict.reader), verdict.step) for verdict in odd} == {
        (reader, step) for reader in (SPARK, TRINO) for step in COMES_BACK
    }
    result = {
        (finding.kind, finding.columns, finding.responsible)
        for verdict in odd
        for finding in verdict.findings
    }
    assert result == {(FindingKind.RESURRECTED, ("f2",), Responsible.HISTORY)}
