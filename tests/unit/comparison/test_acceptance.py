import datetime
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.comparison import acceptance
from harness.comparison.acceptance import WRITER, Acceptance
from harness.comparison.result import ComparedSide, Decision, SideComparison, compare
from harness.core.errors import ScenarioProblem
from harness.core.records import FindingKind, Responsible, Verdict, VerdictKind
from harness.run.load_run import WRITE
from tests.builders.verdicts import OTHER, finding, run, verdict
from tests.builders.verdicts import WRITER as SPARK

RIGHT, WRONG, REFUSED = VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED
RENAME = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
STALE = finding(FindingKind.STALE, ("1", "f2", "old"))
TODAY: Final = datetime.date(2031, 12, 24)
LINE: Final = Acceptance(
    engine="trino",
    operation="rename_column",
    finding=FindingKind.MISSING_RENAME,
    because="nobody renames",
)


def compared(*new: Verdict) -> SideComparison:
    """Return a comparison with a side that has all of these right; errors as `because` says."""
    first = [verdict(RIGHT, step=1), verdict(RIGHT, step=1, variant=OTHER)]
    new = (*first, *new)
    old = (replace(verdict, verdict=RIGHT, findings=(), because="") for verdict in new)
    errors = {verdict.case: verdict.because for verdict in new if verdict.because}
    return compare(ComparedSide("a", run(*old)), ComparedSide("b", run(*new, errors=errors)))


def accepting(*lines: Acceptance, new: tuple[Verdict, ...] = ()) -> SideComparison:
    return compared(*(new or (verdict(WRONG, RENAME),))).accepting(lines, TODAY)


def test_an_accepted_cause_counts_no_longer() -> None:
    result = accepting(LINE)
    assert result.status == 0
    assert result.decision is Decision.NOTHING_WORSE
    assert result.regressions == ()
    assert result.worse == ()
    assert [cause.by for cause in result.accepted.causes] == [LINE]
    assert len(result.worse_accepted) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(LINE, engine="hive"),
        replace(LINE, finding=FindingKind.STALE),
        replace(LINE, operation="drop_column"),
        replace(LINE, party=Responsible.WRITER),
        replace(LINE, scenarios=("hudi/other",)),
        replace(LINE, finding=None, refusal="missing_rename"),
    ],
)
def test_a_line_about_something_else_accepts_nothing(other: Acceptance) -> None:
    result = accepting(other)
    assert result.status == 1
    assert result.decision is Decision.DO_NOT
    assert result.accepted.causes == ()


def test_an_answer_with_an_open_cause_beside_an_accepted_one_counts() -> None:
    result = accepting(LINE, new=(verdict(WRONG, RENAME, STALE),))
    assert result.status == 1
    assert len(result.worse) == 1
    assert result.worse_accepted == ()


def test_a_line_that_no_longer_occurs_counts_as_worse() -> None:
    result = accepting(LINE, new=(verdict(RIGHT),))
    assert result.accepted.gone == (LINE,)
    assert result.status == 1
    assert result.decision is Decision.NOTHING_CHANGES


def test_nothing_is_reported_about_a_line_of_which_nothing_was_asked() -> None:
    other = replace(LINE, scenarios=("hudi/other",))
    later = replace(LINE, operation="compact")
    result = accepting(other, later, replace(LINE, engine="hive"), new=(verdict(RIGHT),))
    assert result.accepted.gone == ()
    assert result.status == 0


def test_a_line_without_a_reason_accepts_and_is_still_to_be_reviewed() -> None:
    result = accepting(replace(LINE, because="TODO"))
    assert len(result.accepted.causes) == 1
    assert len(result.accepted.unreviewed) == 1
    assert result.status == 1


def test_a_line_accepts_nothing_after_its_last_day() -> None:
    last = accepting(replace(LINE, until=TODAY))
    assert (last.status, last.accepted.expired) == (0, ())
    over = accepting(replace(LINE, until=TODAY - datetime.timedelta(days=1)))
    assert (over.status, len(over.accepted.expired), over.accepted.causes) == (1, 1, ())


def test_nothing_unknown_is_ever_accepted() -> None:
    result = accepting(LINE, new=(verdict(WRONG, RENAME), verdict(VerdictKind.UNKNOWN, step=3)))
    assert result.status == 3
    assert result.decision is Decision.NOT_KNOWN


def test_a_writer_that_refuses_a_step_is_accepted_by_its_own_line() -> None:
    step = replace(verdict(REFUSED, reader=SPARK, view=WRITE), query="step", because="no DROP")
    old = run(replace(step, verdict=RIGHT, because=""))
    result = compare(ComparedSide("a", old), ComparedSide("b", run(step)))
    line = Acceptance(
        engine=WRITER, operation="rename_column", refusal="an error", because="we never do"
    )
    assert result.accepting([line], TODAY).status == 0
    assert result.accepting([replace(line, engine="spark")], TODAY).status == 1


def test_what_is_written_accepts_every_cause_once_there_are_reasons() -> None:
    broken = replace(verdict(REFUSED, variant=OTHER), because="BROKEN: 'x'\n\u2028")
    result = compared(verdict(WRONG, RENAME), broken)
    text = acceptance.dump(result.regressions)
    assert text.count("TODO\n") == len(result.regressions) == 2
    todo = result.accepting(acceptance.parse(text, "f"), TODAY)
    assert (todo.regressions, todo.status) == ((), 1)
    acceptances = acceptance.parse(text.replace("because: TODO", "because: seen"), "f")
    done = result.accepting(acceptances, TODAY)
    assert done.status == 0
    again = acceptance.dump(done.regressions, [cause.by for cause in done.accepted.causes])
    assert list(map(replace, acceptance.parse(again, "f"))) == list(map(replace, acceptances))


def test_what_is_unexplained_is_left_out_and_reported() -> None:
    result = compared(verdict(WRONG, finding(FindingKind.UNEXPLAINED, ("1", "f2", "?"))))
    text = acceptance.dump(result.regressions)
    assert "# Left out: trino: unexplained since rename_column" in text
    assert acceptance.parse(text, "f") == ()


@settings(max_examples=10)
@given(st.text(max_size=20), st.text(max_size=20))
def test_whatever_an_engine_says_is_read_as_it_was_written(error: str, operation: str) -> None:
    (cause,) = compared(verdict(WRONG, RENAME)).regressions
    symptom = replace(cause.key.symptom, kind=REFUSED, what=f"e{error}", responsible=None)
    odd = replace(cause, key=replace(cause.key, symptom=symptom, operation=operation))
    (line,) = acceptance.parse(acceptance.dump([odd]), "f")
    assert (line.refusal, line.operation) == (f"e{error}", operation)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("engine: trino", "is a list"),
        ("- engine: trino", "'operation' is missing"),
        ("- {engine: t, operation: o, because: b, finding: lost}", "finding"),
        ("- {engine: t, operation: o, because: b}", "a finding or a refusal"),
        ("- {engine: t, operation: o, because: b, finding: stale, refusal: r}", "one of the two"),
        ("- {engine: t, operation: o, because: b, finding: unexplained}", "nobody knows"),
        ("- {engine: t, operation: o, because: ' ', finding: stale}", "because is empty"),
        ("- {engine: t, operation: o, because: b, finding: stale, until: soon}", "not a date"),
        ("- {engine: t, operation: o, because: b, finding: stale, step: 3}", "has no 'step'"),
        ("- &a {engine: t, operation: o, because: b, finding: stale}", "an anchor"),
        ("- {engine: t, operation: o, because: b, finding: stale}\n" * 2, "is about the same"),
    ],
)
def test_a_file_that_says_nothing_useful_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(ScenarioProblem, match=problem) as wrong:
        acceptance.parse(text, "accept.yaml")
    assert str(wrong.value).startswith("accept.yaml:")
