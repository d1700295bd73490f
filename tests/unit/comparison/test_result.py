"""What a comparison decides, how readers score, and what settings do."""

import re
from dataclasses import replace
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.comparison.regressions import Remedy, ranked, reader_remedy, remedy_for
from harness.comparison.result import (
    Changes,
    ComparedSide,
    Decision,
    SideComparison,
    compare,
    safe_order,
)
from harness.core.records import FindingKind, OutcomeKind, Verdict, VerdictKind
from harness.reports import upgrade_report
from harness.reports.markdown import markdown
from harness.run.load_run import Run
from tests.builders.verdicts import OTHER, READER, finding, run, state, verdict

RIGHT, WRONG, REFUSED = VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED
STALE = finding(FindingKind.STALE, ("1", "f1", "old"))
STALE_ANSWER = verdict(WRONG, STALE)
UNKNOWN = verdict(VerdictKind.UNKNOWN, step=3)


def compared(old: Run, new: Run) -> SideComparison:
    return compare(ComparedSide("old", old), ComparedSide("new", new))


def test_an_answer_is_in_part_where_no_writer_applied_a_step() -> None:
    refused = run(verdict(RIGHT), states=[state(1), state(2, OutcomeKind.REFUSED)])
    applied = run(verdict(RIGHT), states=[state(1), state(2)])
    neither = compared(refused, refused)
    assert [step.step.number for step in neither.untested] == [2]
    assert (neither.decision, neither.status) == (Decision.NOTHING_CHANGES, 3)
    assert replace(neither, partial_allowed=True).status == 0
    for one in (compared(refused, applied), compared(applied, refused)):
        assert (one.untested, one.in_part) == ((), False)
    worse = compared(refused, run(STALE_ANSWER, states=refused.states))
    assert (worse.in_part, worse.status) == (True, 1)


def test_an_answer_is_in_part_where_both_sides_refuse_the_larger_part() -> None:
    refused = [verdict(REFUSED, step=step) for step in range(2, 5)]
    half = run(verdict(RIGHT, step=1), refused[0])
    assert (compared(half, half).in_part, compared(half, half).status) == (False, 0)
    larger = run(verdict(RIGHT, step=1), *refused)
    same = compared(larger, larger)
    assert (same.decision, same.refused_by_both) == (Decision.NOTHING_CHANGES, 3)
    assert (same.in_part, same.status) == (True, 3)
    assert replace(same, partial_allowed=True).status == 0
    larger = run(*larger.verdicts, errors={refused[0].case: "NO_SUCH_COLUMN"})
    text = markdown(upgrade_report.document(compared(larger, larger)))
    assert re.search(r"3 questions are refused by both.* first as NO.*SUCH.*COLUMN", text), text
    learnt = run(*(verdict(RIGHT, step=step) for step in range(1, 5)))
    assert not compared(larger, learnt).in_part


def test_an_answer_is_in_part_where_a_side_does_not_read_a_named_format() -> None:
    right = run(verdict(RIGHT))
    lacking = replace(compared(right, right), unread={"delta": "no connector"})
    assert (lacking.in_part, lacking.status) == (True, 3)
    assert replace(lacking, partial_allowed=True).status == 0


@pytest.mark.parametrize(
    ("old", "new", "decision", "status"),
    [
        ((verdict(RIGHT),), (verdict(RIGHT),), Decision.NOTHING_CHANGES, 0),
        ((STALE_ANSWER,), (STALE_ANSWER,), Decision.NOTHING_CHANGES, 0),
        ((STALE_ANSWER,), (verdict(RIGHT),), Decision.NOTHING_WORSE, 0),
        ((STALE_ANSWER,), (verdict(REFUSED),), Decision.NOTHING_WORSE, 0),
        ((verdict(RIGHT),), (verdict(RIGHT), verdict(RIGHT, step=3)), Decision.NOTHING_WORSE, 0),
        ((verdict(RIGHT),), (STALE_ANSWER,), Decision.DO_NOT, 1),
        ((verdict(RIGHT),), (verdict(REFUSED),), Decision.DO_NOT, 1),
        ((verdict(RIGHT),), (verdict(VerdictKind.UNKNOWN),), Decision.NOT_KNOWN, 3),
        ((verdict(RIGHT), UNKNOWN), (STALE_ANSWER, UNKNOWN), Decision.DO_NOT, 3),
        ((verdict(RIGHT),), (verdict(RIGHT, step=3),), Decision.NOT_KNOWN, 3),
        ((verdict(REFUSED),), (verdict(REFUSED),), Decision.NOT_KNOWN, 3),
    ],
)
def test_the_decision_and_the_status_follow_from_the_pairs(
    old: tuple[Verdict, ...], new: tuple[Verdict, ...], decision: Decision, status: int
) -> None:
    comparison = compared(run(*old), run(*new))
    assert (comparison.decision, comparison.status) == (decision, status)


def test_settings_that_heal_all_without_harm_are_the_answer() -> None:
    worse = compared(run(verdict(RIGHT)), run(STALE_ANSWER))
    questions = frozenset(pair.either.question for pair in worse.pairs)
    harmless = Remedy("trino-476{a=b}", ("a=b",), questions, frozenset())
    assert replace(worse, remedies=(harmless,)).decision is Decision.WITH_SETTING
    harmful = replace(harmless, harms=questions)
    assert replace(worse, remedies=(harmful,)).decision is Decision.DO_NOT


def test_each_reader_has_the_counts_of_both_sides() -> None:
    old = run(verdict(RIGHT, step=1, reader="trino-368"), verdict(RIGHT, reader="trino-368"))
    (score,) = compared(old, run(verdict(RIGHT, step=1), verdict(WRONG))).reader_scores
    assert (score.old, score.new) == ("trino-368", READER)
    assert (score.before[RIGHT], score.before[WRONG]) == (2, 0)
    assert (score.after[RIGHT], score.after[WRONG]) == (1, 1)
    assert set(score.after) == set(VerdictKind)


def test_settings_heal_what_is_worse_and_harm_what_is_right_or_not_known_with_them() -> None:
    kinds = (RIGHT, WRONG, VerdictKind.UNKNOWN, RIGHT)
    verdicts = [verdict(kind, step=step, reader="r") for step, kind in enumerate(kinds, 1)]
    one, two, three, four = (verdict.question for verdict in verdicts)
    remedy = reader_remedy("r", ["a=b"], verdicts, worse=[one, two], right=[three, four])
    assert (set(remedy.heals), set(remedy.harms)) == ({one}, {three})


def test_settings_without_harm_come_first_and_those_that_heal_nothing_are_left_out() -> None:
    one, two = verdict(WRONG, step=1).question, verdict(WRONG).question
    harmful = Remedy("h", ("h",), frozenset({one, two}), frozenset({one}))
    partial = Remedy("p", ("p",), frozenset({one}), frozenset())
    nothing = Remedy("n", ("n",), frozenset(), frozenset())
    assert ranked([harmful, nothing, partial]) == (partial, harmful)
    assert remedy_for([one, two], (partial, harmful)) is harmful


def test_a_comparison_as_a_table_has_a_row_for_each_pair() -> None:
    old = run(verdict(RIGHT), verdict(RIGHT, variant=OTHER))
    frame = compared(old, run(STALE_ANSWER, verdict(REFUSED, step=3))).to_frame()
    assert list(frame.change) == ["regressed", "new", "gone"]
    assert list(frame.worse) == [True, False, False]
    assert list(frame.new_findings) == ["stale", "", ""]
    assert frame.old_verdict.isna().tolist() == [False, True, False]


def test_no_state_is_judged_twice_and_none_that_no_order_needs() -> None:
    judged: list[Changes] = []

    def is_safe(made: Changes) -> bool:
        judged.append(made)
        return 1 not in made or 2 in made

    assert safe_order(3, is_safe) == (2, 1, 3)
    assert len(judged) == len(set(judged))
    assert frozenset({1, 3}) not in judged


@settings(max_examples=30)
@given(st.sets(st.frozensets(st.integers(1, 4), min_size=1)))
def test_an_order_is_found_exactly_where_one_is_safe(unsafe: set[Changes]) -> None:
    def states(order: tuple[int, ...]) -> list[Changes]:
        return [frozenset(order[:at]) for at in range(1, 5)]

    good = [o for o in permutations(range(1, 5)) if not unsafe & set(states(o))]
    result = safe_order(4, lambda made: made not in unsafe)
    assert result == (good[0] if good else None)
    assert result is None or all(a < b for a, b in pairwise(states(result)))
