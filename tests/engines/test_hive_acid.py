"""A transactional table that HiveServer2 writes, read by another HiveServer2 and by Trino."""

from __future__ import annotations

import pytest

from harness import formats
from harness.core.records import FindingKind, OutcomeKind, VerdictKind
from harness.plan import Profile, ProfileReader, Writer, plan, scenarios_folder
from harness.run.load_run import Run
from harness.scenario import load
from harness.scenario.cells import parse_reader

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

HIVE = "hive-3.1.3{path=fetch, transactions=on}"
RENAME = 4
STORY, MUTATED = (
    load.load(scenarios_folder() / "hive_acid" / f"{each}.yaml")
    for each in ("changed_rows", "mutated")
)
PLAN = plan(
    [STORY, MUTATED],
    Profile(
        name="hive_acid",
        scenarios=(STORY.name, MUTATED.name),
        formats=("hive-acid",),
        writers=(Writer("hive-3.1.3"),),
        readers=tuple(ProfileReader(parse_reader(each)) for each in (HIVE, "trino-476")),
    ),
    map(formats.load, formats.names()),
)


def test_every_step_is_applied_and_files_are_as_the_truth_says(run: Run) -> None:
    assert run.states
    assert {each.outcome.kind for each in run.states} == {OutcomeKind.APPLIED}
    assert not any(each.layout for each in run.states)


def test_a_copied_state_shows_the_rows_that_count_and_hive_loses_a_renamed_column(run: Run) -> None:
    odd = [each for each in run.verdicts if each.verdict is not VerdictKind.CORRECT]
    assert {str(each.reader).partition("-")[0] for each in odd} == {"hive"}
    assert {each.step for each in odd} == {RENAME, RENAME + 1}
    for each in odd:
        kinds = [(found.kind, found.columns) for found in each.findings]
        assert kinds == [(FindingKind.MISSING_RENAME, ("g",))]


def test_batches_are_seen_and_nothing_of_the_one_that_was_aborted(run: Run) -> None:
    mutated = [each for each in run.verdicts if MUTATED.name in each.case]
    assert {each.step for each in mutated} == set(range(1, 6))
    assert {each.verdict for each in mutated} == {VerdictKind.CORRECT}
