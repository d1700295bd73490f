"""Steps whose writer answers with an error after the commit, and such as silently do nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from harness.core import outcomes
from harness.core.records import OutcomeKind, Refusal
from harness.engines.api import RefusedError
from harness.scenario.definition import Step
from harness.scenario.operations.late_writes import LateUpsert
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.services import Compact
from harness.write import write_variants
from harness.write.write_variants import WriterSilent
from harness.write.writer_pool import WriteTarget
from tests.unit.write import test_write_variant
from tests.unit.write.test_write_variant import STEPS, Simulated, kinds, refuse, sent, variant

catalog, place = test_write_variant.catalog, test_write_variant.place
ERROR = Refusal("HoodieMetaSyncException", "Could not sync")


@dataclass
class FailsLate(Simulated):
    """Answers with an error once a statement is done."""

    part: str = ""
    """Of the statement."""

    def run(self, sql: str, *, timeout_s: float) -> None:
        super().run(sql, timeout_s=timeout_s)
        if self.part and self.part in sql:
            raise RefusedError(ERROR, 0.1)


def test_a_step_that_is_committed_is_applied_with_the_error_beside_it(place: WriteTarget) -> None:
    written = sent(place, FailsLate(part="select 1 as `id`"))
    assert kinds(written.records) == ["applied"] * 4
    outcome = written.records[1].outcome
    assert (outcome.instant, outcome.refusal, outcome.because) == ("200", ERROR, "")
    assert outcomes.half_done(outcome)
    assert [outcomes.half_done(state.outcome) for state in written.records[2:]] == [False, False]
    assert ("v", 1) in written.states


def test_it_is_found_again_as_it_was(place: WriteTarget) -> None:
    written = sent(place, FailsLate(part="insert"))
    result = write_variants.find_variant(variant(), place.cache)
    assert result is not None
    assert [state.outcome for state in result.records] == [
        state.outcome for state in written.records
    ]


def test_it_is_another_outcome_than_without_the_error(place: WriteTarget) -> None:
    sent(place, Simulated())
    place.folder.mkdir()
    with pytest.raises(WriterSilent, match="committed, then failed now, but applied when"):
        sent(place, FailsLate(part="insert"))


def test_a_schema_change_of_which_the_catalog_has_nothing_is_unknown(place: WriteTarget) -> None:
    with pytest.raises(WriterSilent) as silent:
        sent(place, FailsLate(part="add columns"))
    outcome = silent.value.outcome
    assert (outcome.kind, outcome.refusal) == (OutcomeKind.UNKNOWN, None)
    assert outcome.because == (
        "the table's own records have other columns since, and the catalog has not; the error: "
        "HoodieMetaSyncException: Could not sync"
    )


def test_the_first_of_two_commits_alone_is_unknown(place: WriteTarget) -> None:
    what = replace(variant(steps=(STEPS[0], Step(Compact()))), format="hudi-mor")
    with pytest.raises(WriterSilent, match="a part of its statements was committed"):
        sent(place, FailsLate(part="'execute'"), what)


def test_a_write_that_answers_no_error_and_commits_nothing_did_nothing(place: WriteTarget) -> None:
    def makes(sql: str) -> tuple[str, ...]:
        return () if "select 2 as `id`" in sql else (f"{len(sql)}.commit",)

    steps = (Step(Insert(keys=(1,))), Step(Insert(keys=(2,))))
    record = sent(place, Simulated(makes=makes), variant(steps=steps)).records[2]
    assert record.outcome.kind is OutcomeKind.REFUSED
    assert record.outcome.refusal == Refusal(
        "did nothing", "no error was answered; the table's own records have no commit of it"
    )


def test_an_error_before_the_commit_is_a_refusal_as_ever(place: WriteTarget) -> None:
    record = sent(place, Simulated(refuse("select 1 as `id`"))).records[1]
    assert record.outcome.kind is OutcomeKind.REFUSED
    assert not outcomes.half_done(record.outcome)


def test_a_late_write_that_commits_nothing_did_nothing_though_no_row_changes(
    place: WriteTarget,
) -> None:
    def makes(sql: str) -> tuple[str, ...]:
        return () if sql.startswith("insert") and "f2s2r1" in sql else (f"{len(sql)}.commit",)

    steps = (Step(Insert(keys=(1,))), Step(LateUpsert(keys=(1,))))
    record = sent(place, Simulated(makes=makes), variant(steps=steps)).records[2]
    assert record.outcome.refusal is not None
    assert record.outcome.refusal.kind == "did nothing"
