import datetime
from dataclasses import replace

import pytest

from harness.core.records import Finding, FindingKind, Responsible, Verdict, VerdictKind, Witness
from harness.core.reviewed_lines import placed
from harness.judge.baseline import Applied, Expect, Known, Support
from harness.judge.gate import gate

CORRECT, WRONG, REFUSED = VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED
UNKNOWN, UNSUPPORTED = VerdictKind.UNKNOWN, VerdictKind.UNSUPPORTED
OPEN = VerdictKind.OPEN
LINE = placed(
    Known((("engine", "hive"),), Expect("INTERNAL"), Support.NOTYET, because="a reason"),
    "hudi/move.known.yaml",
    7,
)


def verdict(kind: VerdictKind, *, known: str = "", because: str = "", number: int = 1) -> Verdict:
    return Verdict(
        case=f"case {number}",
        scenario="hudi/move",
        variant="v",
        step=3,
        reader="hive-3.1.3",
        view="snapshot",
        query="all",
        verdict=kind,
        because=because,
        known=known,
    )


def depending(**others: str) -> Verdict:
    seen = Witness("1", "f1", "a", "b")
    finding = Finding(FindingKind.ORDER_DEPENDENT, ("f1",), seen, (seen,), Responsible.READER)
    return replace(verdict(WRONG, number=2, **others), findings=(finding,))


def gate_text(applied: Applied) -> str:
    return "\n".join(gate(applied).reasons)


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([verdict(CORRECT)], 0),
        ([verdict(CORRECT), verdict(WRONG, known="why"), verdict(REFUSED, known="why")], 0),
        ([verdict(CORRECT), verdict(UNSUPPORTED)], 0),
        ([verdict(CORRECT), verdict(OPEN)], 0),
        ([verdict(OPEN), verdict(WRONG)], 1),
        ([verdict(CORRECT), verdict(WRONG)], 1),
        ([verdict(CORRECT), verdict(REFUSED)], 1),
        ([verdict(CORRECT), verdict(UNKNOWN)], 3),
        ([verdict(WRONG), verdict(UNKNOWN)], 3),
        ([], 3),
    ],
)
def test_unknown_goes_before_new_and_new_before_good(verdicts: list[Verdict], status: int) -> None:
    assert gate(Applied(tuple(verdicts))).status == status


@pytest.mark.parametrize(
    "applied",
    [
        Applied((), gone=(LINE,)),
        Applied((), unreviewed=(replace(LINE, because="TODO"),)),
        Applied((), answered=(verdict(CORRECT),)),
    ],
)
def test_what_is_wrong_with_a_baseline_is_1_even_when_every_cell_is_right(applied: Applied) -> None:
    assert gate(replace(applied, verdicts=(verdict(CORRECT),))).status == 1


def test_a_failure_of_the_harness_is_not_taken_for_an_engine_that_did_not_answer() -> None:
    broken = verdict(UNKNOWN, because="harness: ZeroDivisionError: in a check")
    silent = verdict(UNKNOWN, because="time-out")
    assert "1 of them is a failure of the harness itself" in gate_text(Applied((broken, silent)))
    assert "failure of the harness" not in gate_text(Applied((silent,)))


def test_lines_that_have_expired_change_nothing() -> None:
    assert gate(Applied((verdict(CORRECT),), expired=(LINE,))).status == 0


def test_a_cell_that_did_not_run_is_unknown_and_says_so() -> None:
    text = gate_text(Applied((verdict(UNKNOWN, because="did not run"), verdict(CORRECT))))
    assert text.startswith("1 check is unknown: did not run (1).")
    assert "harness read" in text


def test_new_answers_are_counted_by_kind_with_scenario_and_reader() -> None:
    text = gate_text(Applied((verdict(WRONG), verdict(WRONG), verdict(REFUSED), verdict(CORRECT))))
    assert "2 wrong answers are new: hudi/move by hive-3.1.3 (2)." in text
    assert "1 refusal is new: hudi/move by hive-3.1.3 (1)." in text
    assert "harness baseline update" in text


def test_lines_without_a_reason_are_named_by_their_places_but_not_hundreds_of_them() -> None:
    lines = tuple(
        placed(replace(LINE, because="TODO: say why"), LINE.path, at) for at in range(1, 8)
    )
    text = gate_text(Applied((verdict(CORRECT),), unreviewed=lines))
    assert text.startswith("7 lines do not say why yet; replace the TODO: hudi/move.known.yaml:1,")
    assert text.endswith("and 2 more")


def test_an_expired_line_is_reported_although_the_run_is_good() -> None:
    line = placed(replace(LINE, until=datetime.date(2031, 6, 1)), LINE.path, 7)
    text = gate_text(Applied((verdict(CORRECT),), expired=(line,)))
    assert "hudi/move.known.yaml:7: was valid until 2031-06-01; review it, or take it out" in text


def test_a_model_in_doubt_fails_the_gate_as_such_and_blames_nobody() -> None:
    seen = Witness("1", "f1", "a", "b")
    finding = Finding(FindingKind.STALE, ("f1",), seen, (seen,), Responsible.MODEL)
    doubted = replace(verdict(UNKNOWN, because="why"), findings=(finding,))
    assert gate(Applied((doubted, verdict(CORRECT)))).status == 3
    text = gate_text(Applied((doubted, verdict(CORRECT))))
    assert text.startswith("1 check puts our own reference model in doubt: hudi/move by hive-3.1.3")
    assert "harness explain 'case 1'" in text
    assert "harness read" not in text


def test_flaky_cells_are_reported_with_how_and_fail_only_where_that_is_wanted() -> None:
    applied = Applied((verdict(CORRECT), depending(known="why"), verdict(CORRECT, number=3)))
    result = gate(applied, {"case 1"})
    assert (result.status, result.flaky) == (0, 2)
    assert result.reasons[:2] == (
        "1 check is flaky, answered only when asked again: hudi/move by hive-3.1.3 (1).",
        "1 check is flaky, answered otherwise by a fresh server: hudi/move by hive-3.1.3 (1).",
    )
    assert gate(applied, {"case 1"}, fail_on_flaky=True).status == 1
    assert gate(applied, fail_on_flaky=True).status == 1


def test_what_is_left_open_is_counted_by_itself_and_never_as_correct() -> None:
    few = [verdict(OPEN, because="a-name: why"), *[verdict(CORRECT)] * 99]
    assert gate_text(Applied(tuple(few))) == "100 checks judged: all correct but 1 left open."


def test_more_open_answers_than_one_in_a_hundred_are_reported_loudly_and_still_end_well() -> None:
    many = [verdict(OPEN, because="a-name: why"), *[verdict(CORRECT)] * 98]
    ended = gate(Applied(tuple(many)))
    assert ended.status == 0
    assert ended.reasons[0] == (
        "ATTENTION: 1 check is left open (1.01% of all, where at most 1% should be): a-name (1)."
    )
    assert ended.reasons[-1] == "99 checks judged: all correct but 1 left open."
