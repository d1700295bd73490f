from __future__ import annotations

import pytest

from harness.comparison.answer import Coverage, Decision, decide, status
from harness.comparison.remedies import Remedy, in_order, of_cause, remedy, whole
from harness.comparison.result import ComparedSide, compare
from harness.core.records import FindingKind, Verdict, VerdictKind
from tests.unit.comparison.sides import finding, run, verdict

HELPS = Remedy("trino-476{a=b}", ("a=b",), frozenset(), frozenset())
RIGHT = VerdictKind.CORRECT
STALE = finding(FindingKind.STALE, ("1", "f1", "old"))


def test_anything_worse_says_do_not_upgrade() -> None:
    assert decide(Coverage(100), worse=1, remedy=None) is Decision.DO_NOT
    assert decide(Coverage(100), worse=1, remedy=HELPS) is Decision.WITH_SETTING
    assert status(Coverage(100), worse=1) == 1


def test_what_is_not_known_is_never_a_pass() -> None:
    assert decide(Coverage(100, unknown=1), worse=0, remedy=None) is Decision.NOT_KNOWN
    assert status(Coverage(100, unknown=1), worse=0) == 3
    assert decide(Coverage(100, unknown=1), worse=1, remedy=None) is Decision.DO_NOT
    assert status(Coverage(100, unknown=1), worse=1) == 3


def test_sides_that_share_no_question_tell_nothing() -> None:
    assert decide(Coverage(0, changed=5), worse=0, remedy=None) is Decision.NOT_KNOWN
    assert status(Coverage(0, changed=5), worse=0) == 3


def test_what_is_better_or_asked_of_one_side_is_a_change_and_not_worse() -> None:
    assert decide(Coverage(3, changed=2), worse=0, remedy=None) is Decision.NOTHING_WORSE
    assert decide(Coverage(3), worse=0, remedy=None) is Decision.NOTHING_CHANGES
    assert status(Coverage(3, changed=2), worse=0) == 0


@pytest.mark.parametrize(
    ("old", "new", "decision"),
    [
        (verdict(RIGHT), verdict(RIGHT), Decision.NOTHING_CHANGES),
        (
            verdict(VerdictKind.WRONG, STALE),
            verdict(VerdictKind.WRONG, STALE),
            Decision.NOTHING_CHANGES,
        ),
        (verdict(VerdictKind.WRONG, STALE), verdict(RIGHT), Decision.NOTHING_WORSE),
        (verdict(VerdictKind.WRONG, STALE), verdict(VerdictKind.REFUSED), Decision.NOTHING_WORSE),
        (verdict(RIGHT), verdict(VerdictKind.WRONG, STALE), Decision.DO_NOT),
        (verdict(RIGHT), verdict(VerdictKind.REFUSED), Decision.DO_NOT),
        (verdict(RIGHT), verdict(VerdictKind.UNKNOWN), Decision.NOT_KNOWN),
        (verdict(RIGHT), verdict(RIGHT, step=3), Decision.NOT_KNOWN),
    ],
)
def test_the_answer_follows_from_the_pairs(old: Verdict, new: Verdict, decision: Decision) -> None:
    found = compare(ComparedSide("old", run(old)), ComparedSide("new", run(new)))
    assert found.decision is decision


def test_settings_heal_what_is_worse_and_harm_what_is_right_or_not_known_with_them() -> None:
    asked = [
        verdict(VerdictKind.CORRECT, step=1, reader="r"),
        verdict(VerdictKind.WRONG, step=2, reader="r"),
        verdict(VerdictKind.UNKNOWN, step=3, reader="r"),
        verdict(VerdictKind.CORRECT, step=4, reader="r"),
    ]
    one, two, three, four = (each.question for each in asked)
    found = remedy("r", ["a=b"], asked, worse=[one, two], right=[three, four])
    assert found.heals == {one}
    assert found.harms == {three}


def test_settings_without_harm_come_first_and_those_that_heal_nothing_are_left_out() -> None:
    one, two = verdict(VerdictKind.WRONG, step=1).question, verdict(VerdictKind.WRONG).question
    harmful = Remedy("h", ("h",), frozenset({one, two}), frozenset({one}))
    partial = Remedy("p", ("p",), frozenset({one}), frozenset())
    nothing = Remedy("n", ("n",), frozenset(), frozenset())
    found = in_order([harmful, nothing, partial])
    assert found == (partial, harmful)
    assert whole([one, two], found) is None
    assert whole([one], found) is partial
    assert of_cause([one, two], found) is harmful
