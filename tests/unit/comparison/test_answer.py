from __future__ import annotations

import pytest

from harness.comparison.answer import Decision, decide, status
from harness.comparison.remedies import Remedy, in_order, of_cause, remedy, whole
from harness.comparison.verdict_change import BETTER, WORSE, VerdictChange
from harness.core.records import VerdictKind
from tests.unit.comparison.sides import verdict

NONE = dict.fromkeys(VerdictChange, 0)
HELPS = Remedy("trino-476{a=b}", ("a=b",), frozenset(), frozenset())


@pytest.mark.parametrize("worse", WORSE)
def test_anything_worse_says_do_not_upgrade(worse: VerdictChange) -> None:
    counts = NONE | {VerdictChange.RIGHT_AS_BEFORE: 100, worse: 1}
    assert decide(counts, None) is Decision.DO_NOT
    assert decide(counts, HELPS) is Decision.WITH_SETTING
    assert status(counts) == 1


def test_what_is_not_known_is_never_a_pass() -> None:
    counts = NONE | {VerdictChange.RIGHT_AS_BEFORE: 100, VerdictChange.UNKNOWN: 1}
    assert decide(counts, None) is Decision.NOT_KNOWN
    assert status(counts) == 3
    assert decide(counts | {VerdictChange.REGRESSED: 1}, None) is Decision.DO_NOT
    assert status(counts | {VerdictChange.REGRESSED: 1}) == 3


def test_sides_that_share_no_question_tell_nothing() -> None:
    for counts in (NONE, NONE | {VerdictChange.NEW: 5, VerdictChange.GONE: 5}):
        assert decide(counts, None) is Decision.NOT_KNOWN
        assert status(counts) == 3


def test_wrong_as_before_changes_nothing() -> None:
    counts = NONE | {VerdictChange.WRONG_AS_BEFORE: 3, VerdictChange.REFUSED_AS_BEFORE: 2}
    assert decide(counts, None) is Decision.NOTHING_CHANGES
    assert status(counts) == 0


@pytest.mark.parametrize("other", [*BETTER, VerdictChange.NEW, VerdictChange.GONE])
def test_what_is_better_or_asked_of_one_side_is_a_change_and_not_worse(
    other: VerdictChange,
) -> None:
    counts = NONE | {VerdictChange.RIGHT_AS_BEFORE: 3, other: 2}
    assert decide(counts, None) is Decision.NOTHING_WORSE
    assert status(counts) == 0


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
