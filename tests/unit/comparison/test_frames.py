"""Tables of pandas have the same types with rows and without."""

from __future__ import annotations

from dataclasses import replace

from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.comparison.verdict_change import VerdictChange
from harness.core.records import FindingKind, VerdictKind
from harness.run.load_run import Run
from tests.unit.comparison.sides import OTHER, finding, run, verdict

STALE = finding(FindingKind.STALE, ("1", "f1", "old"))


def compared(old: Run, new: Run) -> SideComparison:
    return compare(ComparedSide("old", old), ComparedSide("new", new))


def test_a_comparison_has_a_row_for_each_pair() -> None:
    old = run(verdict(VerdictKind.CORRECT), verdict(VerdictKind.CORRECT, variant=OTHER))
    new = run(verdict(VerdictKind.WRONG, STALE), verdict(VerdictKind.REFUSED, step=3))
    frame = compared(old, new).to_frame()
    assert list(frame.change) == ["regressed", "new", "gone"]
    assert list(frame.worse) == [True, False, False]
    assert list(frame.new_findings) == ["stale", "", ""]
    assert frame.old_verdict.tolist()[::2] == ["correct", "correct"]
    assert frame.old_verdict.isna().tolist() == [False, True, False]
    assert list(frame.change.cat.categories) == list(VerdictChange)


def test_the_types_are_the_same_without_rows() -> None:
    full = run(verdict(VerdictKind.WRONG, STALE))
    empty = replace(full, info=replace(full.info, cells=()), recorded={})
    for with_rows, without in (
        (full.to_frame(), empty.to_frame()),
        (compared(full, full).to_frame(), compared(empty, empty).to_frame()),
    ):
        assert len(with_rows) == 1
        assert without.empty
        assert with_rows.dtypes.astype(str).equals(without.dtypes.astype(str))


def test_what_was_not_sent_took_no_time_that_is_known() -> None:
    sent = replace(verdict(VerdictKind.CORRECT), sql="select 1", seconds=1.5)
    frame = run(sent, verdict(VerdictKind.UNKNOWN, step=3)).to_frame()
    assert frame.seconds.isna().tolist() == [False, True]
    assert frame.seconds.sum() == 1.5
    assert frame.verdict.tolist() == ["correct", "unknown"]
    assert list(frame.verdict.cat.categories) == list(VerdictKind)
