import datetime
from dataclasses import replace

import pytest

from harness.core.records import FindingKind, Verdict, VerdictKind
from harness.core.reviewed_lines import placed
from harness.judge.baseline import Applied, Expect, Facts, Known, Support, apply
from tests.builders.known_cells import (
    HIVE,
    SPARK,
    STORY,
    TODAY,
    TRINO,
    correct,
    facts,
    variant,
    verdict,
)

COW = variant()
MOR = variant("hudi-mor")
STALE = (FindingKind.STALE, "f1")
LOST = (FindingKind.LOST_VALUE, "f1")
WHY = "a reason"


def line(expect: Expect | None = None, **when: str) -> Known:
    conditions = tuple((name.replace("__", "."), value) for name, value in when.items())
    stale = Expect("", frozenset({FindingKind.STALE}), frozenset({"f1"}))
    known = Known(conditions, expect or stale, Support.NOTYET, because=WHY)
    return placed(known, "a.known.yaml", 1)


def applied(verdicts: list[Verdict], *lines: Known, known_of: Facts | None = None) -> Applied:
    return apply(verdicts, {STORY.name: lines}, known_of or facts(COW, MOR), TODAY)


def reasons(verdicts: list[Verdict], *lines: Known) -> list[str]:
    return [verdict.known for verdict in applied(verdicts, *lines).verdicts]


def test_what_a_line_expects_is_known_by_its_reason() -> None:
    assert reasons([verdict(COW, 3, HIVE, STALE)], line(engine="hive")) == [WHY]


@pytest.mark.parametrize(
    "kinds",
    [
        [LOST],
        [STALE, LOST],
        [(FindingKind.STALE, "f2")],
        [STALE, (FindingKind.STALE, "f2")],
        [(FindingKind.STALE, "")],
    ],
)
def test_another_wrong_answer_at_the_same_place_is_new(
    kinds: list[tuple[FindingKind, str]],
) -> None:
    assert reasons([verdict(COW, 3, HIVE, *kinds)], line(engine="hive")) == [""]


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("engine", "hive", "trino"),
        ("version", "3.1.3", "3.1"),
        ("distribution", HIVE, TRINO),
        ("format", "hudi-mor", "hudi-cow"),
        ("view", "read_optimized", "snapshot"),
        ("step", "3", "4"),
        ("step", ">=3", ">=4"),
        ("step", "2-3", "4-5"),
        ("twin", "true", "false"),
        ("writer", SPARK, HIVE),
        ("reader__path", "fetch", "mapreduce"),
        ("reader__schema-on-read", "unset", "on"),
        ("variant__rewrites", "some", "all"),
    ],
)
def test_every_condition_must_hold(name: str, right: str, wrong: str) -> None:
    twin = variant("hudi-mor", twin=True)
    wrong_answer = verdict(twin, 3, f"{HIVE}{{path=fetch}}", STALE, view="read_optimized")
    conditions = facts(twin)
    assert (
        applied([wrong_answer], line(None, **{name: right}), known_of=conditions).verdicts[0].known
        == WHY
    )
    assert (
        applied([wrong_answer], line(None, **{name: wrong}), known_of=conditions).verdicts[0].known
        == ""
    )


def test_the_first_line_that_holds_decides_even_when_a_later_one_expects_it() -> None:
    other = line(Expect("", frozenset({FindingKind.LOST_VALUE}), frozenset({"f1"})), engine="hive")
    assert reasons([verdict(COW, 3, HIVE, STALE)], other, line()) == [""]


def test_a_refusal_is_known_by_its_kind() -> None:
    refused = verdict(COW, 3, TRINO, kind=VerdictKind.REFUSED)
    conditions = facts(COW, refusals={refused.case: "INTERNAL"})
    for kind, known in (("INTERNAL", WHY), ("OTHER", "")):
        assert (
            applied([refused], line(Expect(kind)), known_of=conditions).verdicts[0].known == known
        )


@pytest.mark.parametrize("more", [(), (STALE,)])
def test_what_is_unexplained_is_known_by_a_line_that_says_just_this(
    more: tuple[tuple[FindingKind, str], ...],
) -> None:
    result = verdict(COW, 3, HIVE, (FindingKind.UNEXPLAINED, "f1"), *more)
    kinds = frozenset(finding.kind for finding in result.findings)
    assert reasons([result], line(Expect("", kinds, frozenset({"f1"})))) == [WHY]
    for other in (Expect("", kinds, frozenset({"f2"})), Expect("", frozenset({STALE[0]}))):
        assert reasons([result], line(other)) == [""]


def test_a_refused_step_is_known_only_by_a_line_that_says_so() -> None:
    refused = verdict(COW, 3, SPARK, view="write", kind=VerdictKind.REFUSED)
    conditions = facts(COW, refusals={refused.case: "Analysis"})
    general = line(Expect("Analysis"), engine="spark")
    named = line(Expect("Analysis"), engine="spark", view="write")
    assert applied([refused], general, known_of=conditions).verdicts[0].known == ""
    assert applied([refused], named, known_of=conditions).verdicts[0].known == WHY


def test_a_step_known_as_refused_that_was_applied_is_reported() -> None:
    named = line(Expect("Analysis"), view="write", step="3")
    assert applied([], named, known_of=facts(COW, applied=((COW.id, 3),))).gone == (named,)


def test_a_line_whose_cells_all_answer_otherwise_no_longer_occurs() -> None:
    fixed = line(engine="hive")
    assert applied([correct(COW, 3, HIVE)], fixed).gone == (fixed,)
    assert applied([verdict(COW, 3, HIVE, LOST)], fixed).gone == (fixed,)
    assert applied([correct(COW, 3, HIVE), verdict(MOR, 3, HIVE, STALE)], fixed).gone == ()


def test_of_a_line_without_a_cell_in_this_run_nothing_is_reported() -> None:
    assert applied([correct(COW, 3, HIVE)], line(engine="trino")).gone == ()


@pytest.mark.parametrize("kind", [VerdictKind.UNKNOWN, VerdictKind.UNSUPPORTED])
def test_what_was_not_judged_neither_is_known_nor_shows_that_a_line_is_gone(
    kind: VerdictKind,
) -> None:
    applied_steps = applied([verdict(COW, 3, HIVE, kind=kind)], line(engine="hive"))
    assert (applied_steps.verdicts[0].known, applied_steps.gone) == ("", ())


@pytest.mark.parametrize(("days", "known"), [(0, WHY), (1, "")])
def test_a_line_counts_up_to_its_last_day(days: int, known: str) -> None:
    dated = replace(line(), until=TODAY - datetime.timedelta(days=days))
    applied_steps = applied([verdict(COW, 3, HIVE, STALE)], dated)
    assert applied_steps.verdicts[0].known == known
    assert applied_steps.expired == ((dated,) if days else ())
    assert applied_steps.gone == ()


def test_what_is_declared_unsupported_and_was_answered_is_reported_even_where_it_is_known() -> None:
    probe = replace(verdict(COW, 3, HIVE, STALE), disclaimed="it knows version 8")
    refused = verdict(COW, 3, HIVE, kind=VerdictKind.UNSUPPORTED)
    applied_steps = applied([probe, refused], line())
    assert applied_steps.answered == applied_steps.verdicts[:1]
    assert applied_steps.verdicts[0].known == WHY
