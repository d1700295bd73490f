"""A transactional table that HiveServer2 writes, read by another HiveServer2 and by Trino."""

from __future__ import annotations

import pytest

from harness import formats
from harness.core.records import FindingKind, OutcomeKind, Responsible, Verdict, VerdictKind
from harness.plan import Profile, ProfileReader, Writer, plan, scenarios_folder
from harness.run.load_run import Run
from harness.scenario import load
from harness.scenario.cells import parse_reader

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

HIVE = "hive-3.1.3{path=fetch, transactions=on}"
RENAME = 4
COMPACT = 5
STORY, MUTATED, PARTITIONS = (
    load.load(scenarios_folder() / "hive_acid" / f"{each}.yaml")
    for each in ("changed_rows", "mutated", "partition_columns")
)
PLAN = plan(
    [STORY, MUTATED, PARTITIONS],
    Profile(
        name="hive_acid",
        scenarios=(STORY.name, MUTATED.name, PARTITIONS.name),
        axes={"cascade": ("on", "off"), "compaction": ("major",)},
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
    odd = [each for each in _wrong(run) if STORY.name in each.case]
    assert {str(each.reader).partition("-")[0] for each in odd} == {"hive"}
    assert {each.step for each in odd} == {RENAME, RENAME + 1}
    for each in odd:
        kinds = [(found.kind, found.columns) for found in each.findings]
        assert kinds == [(FindingKind.MISSING_RENAME, ("g",))]


def test_a_compaction_loses_the_new_column_of_a_partition_that_was_not_told(run: Run) -> None:
    odd = [each for each in _wrong(run) if PARTITIONS.name in each.case]
    assert {"cascade=off" in each.case for each in odd} == {True}
    assert {each.step for each in odd} == {COMPACT, COMPACT + 1}
    for each in odd:
        found = [(of.kind, of.columns, of.responsible) for of in each.findings]
        assert found == [(FindingKind.LOST_VALUE, ("f2",), Responsible.WRITER)]


def _wrong(run: Run) -> list[Verdict]:
    return [each for each in run.verdicts if each.verdict is not VerdictKind.CORRECT]


def test_batches_are_seen_and_nothing_of_the_one_that_was_aborted(run: Run) -> None:
    mutated = [each for each in run.verdicts if MUTATED.name in each.case]
    assert {each.step for each in mutated} == set(range(1, 6))
    assert {each.verdict for each in mutated} == {VerdictKind.CORRECT}
