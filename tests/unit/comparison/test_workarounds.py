from __future__ import annotations

from harness.comparison.cell_pairs import cell_pairs
from harness.comparison.regressions import regressions
from harness.comparison.remedies import Workaround, workarounds
from harness.core.records import FindingKind, Verdict, VerdictKind
from tests.builders.verdicts import OTHER, finding, run, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
STALE = finding(FindingKind.STALE, ("1", "f2", "old"))
RENAME = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
"""In the scenario of these verdicts step 4 is a compaction."""


def of(*new: Verdict) -> tuple[Workaround, ...]:
    asked = [verdict(RIGHT, step=1, variant=OTHER), *new]
    old = run(*(verdict(RIGHT, step=e.step, view=e.view, variant=OTHER) for e in asked))
    made = run(*asked)
    (found,) = (e for e in regressions(cell_pairs(old, made), made) if e.key.finding is STALE.kind)
    return workarounds(found, made)


def stale(step: int = 3, view: str = "snapshot") -> Verdict:
    return verdict(WRONG, STALE, step=step, view=view, variant=OTHER)


def test_what_is_gone_after_a_compaction_is_said_to_be() -> None:
    assert Workaround.COMPACT in of(stale(), verdict(RIGHT, step=4, variant=OTHER))


def test_another_finding_after_the_compaction_is_another_cause() -> None:
    assert Workaround.COMPACT in of(stale(), verdict(WRONG, RENAME, step=4, variant=OTHER))


def test_what_is_still_there_or_was_never_asked_is_not_claimed() -> None:
    assert of(stale(), stale(step=4)) == ()
    assert of(stale()) == ()


def test_an_answer_that_is_not_known_is_no_evidence() -> None:
    unknown = verdict(VerdictKind.UNKNOWN, step=4, variant=OTHER)
    assert Workaround.COMPACT not in of(stale(), unknown)
    refused = verdict(VerdictKind.REFUSED, step=4, variant=OTHER)
    assert Workaround.COMPACT not in of(stale(), refused)


def test_a_view_that_does_not_show_it_is_named() -> None:
    other = verdict(RIGHT, step=3, view="read_optimized", variant=OTHER)
    assert of(stale(), other) == (Workaround.OTHER_VIEW,)
