"""A transactional table that HiveServer2 writes, read by another HiveServer2 and by Trino."""

import pytest

from harness.core.records import FindingKind, OutcomeKind, Responsible, Verdict, VerdictKind
from harness.run.load_run import Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

HIVE = "hive-3.1.3{path=fetch, transactions=on}"
RENAME = 4
COMPACT = 5
STORY, MUTATED, PARTITIONS = shipped(
    "hive_acid/changed_rows", "hive_acid/mutated", "hive_acid/partition_columns"
)
PLAN = planned(
    [STORY, MUTATED, PARTITIONS],
    ["hive-acid"],
    ["hive-3.1.3"],
    [HIVE, "trino-476"],
    axes={"cascade": ("on", "off"), "compaction": ("major",)},
)


def test_every_step_is_applied_and_files_are_as_the_truth_says(run: Run) -> None:
    assert run.states
    assert {state.outcome.kind for state in run.states} == {OutcomeKind.APPLIED}
    assert not any(state.layout for state in run.states)


def test_a_copied_state_shows_the_rows_that_count_and_hive_loses_a_renamed_column(run: Run) -> None:
    odd = [verdict for verdict in _wrong(run) if STORY.name in verdict.case]
    assert {str(verdict.reader).partition("-")[0] for verdict in odd} == {"hive"}
    assert {verdict.step for verdict in odd} == {RENAME, RENAME + 1}
    for verdict in odd:
        kinds = [(finding.kind, finding.columns) for finding in verdict.findings]
        assert kinds == [(FindingKind.MISSING_RENAME, ("g",))]


def test_a_compaction_loses_the_new_column_of_a_partition_that_was_not_told(run: Run) -> None:
    odd = [verdict for verdict in _wrong(run) if PARTITIONS.name in verdict.case]
    assert {"cascade=off" in verdict.case for verdict in odd} == {True}
    assert {verdict.step for verdict in odd} == {COMPACT, COMPACT + 1}
    for verdict in odd:
        results = [
            (finding.kind, finding.columns, finding.responsible) for finding in verdict.findings
        ]
        assert results == [(FindingKind.LOST_VALUE, ("f2",), Responsible.WRITER)]


def _wrong(run: Run) -> list[Verdict]:
    return [verdict for verdict in run.verdicts if verdict.verdict is not VerdictKind.CORRECT]


def test_batches_are_seen_and_nothing_of_the_one_that_was_aborted(run: Run) -> None:
    mutated = [verdict for verdict in run.verdicts if MUTATED.name in verdict.case]
    assert {verdict.step for verdict in mutated} == set(range(1, 6))
    assert {verdict.verdict for verdict in mutated} == {VerdictKind.CORRECT}
