import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.records import FindingKind, Verdict, VerdictKind
from harness.judge.baseline import Applied, Facts, all_seen, apply, holds, parse, update
from tests.builders.known_cells import (
    HIVE,
    OLD,
    SPARK,
    STORY,
    TODAY,
    TRINO,
    correct,
    facts,
    variant,
    verdict,
)

PATH = "mine/story.known.yaml"
VARIANTS = (
    variant(),
    variant("hudi-mor"),
    variant("hudi-mor", rewrites="all"),
    variant("hudi-mor", twin=True),
)
READERS = (SPARK, HIVE, f"{HIVE}{{path=fetch}}", f"{HIVE}{{path=mapreduce, x=on}}", TRINO, OLD)
VIEWS = ("snapshot", "read_optimized", "write")
STALE = (FindingKind.STALE, "f1")
FINDINGS = ((STALE,), (STALE, (FindingKind.LOST_VALUE, "a.b")), ((FindingKind.GHOST_ROW, ""),))
QUICK = settings(deadline=None, max_examples=50)
CELLS = st.tuples(
    st.integers(0, len(VARIANTS) - 1),
    st.integers(1, 6),
    st.sampled_from(READERS),
    st.sampled_from(VIEWS),
)
ANSWERS = st.one_of(
    st.sampled_from(FINDINGS),
    st.sampled_from(["INTERNAL", "java.lang.Error: $x"]),
    st.sampled_from([VerdictKind.CORRECT, VerdictKind.UNKNOWN]),
)


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Verdict], Facts]:
    verdicts, refusals, applied = [], {}, []
    for cell, answer in draw(st.dictionaries(CELLS, ANSWERS, max_size=40)).items():
        number, step, named, view = cell
        of = VARIANTS[number]
        reader = SPARK if view == "write" else named
        if isinstance(answer, VerdictKind):
            if view == "write" and answer is VerdictKind.CORRECT:
                applied.append((of.id, step))
            else:
                verdicts.append(verdict(of, step, reader, view=view, kind=answer))
        elif isinstance(answer, str) or view == "write":
            refused = verdict(of, step, reader, view=view, kind=VerdictKind.REFUSED)
            refusals[refused.case] = str(answer)
            verdicts.append(refused)
        else:
            verdicts.append(verdict(of, step, reader, *answer, view=view))
    once = {verdict.case: verdict for verdict in verdicts}
    done = {
        at
        for at in applied
        if not any((v.variant, v.step, v.view) == (*at, "write") for v in once.values())
    }
    return list(once.values()), facts(*VARIANTS, refusals=refusals, applied=tuple(done))


def updated(run: tuple[list[Verdict], Facts], text: str = "") -> str:
    return update(text, PATH, all_seen(*run), TODAY)


def applied(run: tuple[list[Verdict], Facts], text: str) -> Applied:
    return apply(run[0], {STORY.name: parse(text, PATH)}, run[1], TODAY)


def new(of_run: Applied) -> list[str]:
    kinds = {VerdictKind.WRONG, VerdictKind.REFUSED}
    return [
        verdict.case
        for verdict in of_run.verdicts
        if verdict.verdict in kinds and not verdict.known
    ]


@given(runs())
@QUICK
def test_after_an_update_nothing_is_new_or_gone_and_every_line_has_a_cell(
    run: tuple[list[Verdict], Facts],
) -> None:
    applied_steps = applied(run, updated(run))
    assert (new(applied_steps), applied_steps.gone) == ([], ())


@given(runs(), runs())
@QUICK
def test_an_update_of_what_another_run_showed_leaves_nothing_new_or_gone(
    before: tuple[list[Verdict], Facts], run: tuple[list[Verdict], Facts]
) -> None:
    applied_steps = applied(run, updated(run, updated(before)))
    assert (new(applied_steps), applied_steps.gone) == ([], ())


@given(runs())
@QUICK
def test_a_derived_line_covers_no_correct_cell_and_no_other_answer(
    run: tuple[list[Verdict], Facts],
) -> None:
    for line in parse(updated(run), PATH):
        cells = [
            seen for seen in all_seen(*run) if seen.judged and holds(line.when, seen.properties)
        ]
        assert {cell.shown for cell in cells} == {line.expect}


@given(runs())
@QUICK
def test_an_update_that_learns_nothing_changes_no_letter(run: tuple[list[Verdict], Facts]) -> None:
    text = updated(run)
    assert updated(run, text) == text


def when(*verdicts: Verdict) -> list[dict[str, str]]:
    text = updated((list(verdicts), facts(*VARIANTS)))
    return [dict(line.when) for line in parse(text, PATH)]


COW, MOR = VARIANTS[:2]
FETCH, MAPREDUCE = READERS[2:4]


def test_a_line_is_as_general_as_the_facts_allow_but_about_one_engine() -> None:
    assert when(verdict(COW, 3, HIVE, STALE), verdict(MOR, 5, HIVE, STALE)) == [{"engine": "hive"}]


@pytest.mark.parametrize(
    ("wrong", "right", "step"),
    [
        ([4, 5, 6], [3], ">=4"),
        ([4], [3], ">=4"),
        ([2, 3, 4], [1, 5], "2-4"),
        ([1, 2], [3], "1-2"),
        ([3], [2, 4], "3"),
    ],
)
def test_the_steps_are_those_between_correct_ones(
    wrong: list[int], right: list[int], step: str
) -> None:
    cells = [verdict(COW, step, HIVE, STALE) for step in wrong]
    result = when(*cells, *(correct(COW, step, HIVE) for step in right))
    assert result == [{"engine": "hive", "step": step}]


def test_what_is_unexplained_has_a_line_of_its_own() -> None:
    unexplained = verdict(COW, 4, HIVE, (FindingKind.UNEXPLAINED, "f1"), STALE)
    assert when(unexplained) == [{"engine": "hive"}]
    lines = [{"engine": "hive", "step": step} for step in ("3", ">=4")]
    assert when(verdict(COW, 3, HIVE, STALE), unexplained) == lines


def test_a_refused_step_is_its_own_line() -> None:
    refused = verdict(COW, 3, SPARK, view="write", kind=VerdictKind.REFUSED)
    known_of = facts(COW, refusals={refused.case: "Analysis"}, applied=((COW.id, 2),))
    (line,) = parse(updated(([refused], known_of)), PATH)
    assert (dict(line.when), line.expect.refused) == (
        {"engine": "spark", "view": "write", "step": ">=3"},
        "Analysis",
    )


OURS = """# What we know of the story.

# Everybody's favourite.
- when: {engine: hive, view: snapshot}   # written by hand
  expect: {finding: stale, columns: [f1]}
  support: never
  because: "it reads yesterday's file"
  issue: "#7"
- when: {engine: trino, step: 6}
  expect: {finding: lost_row}
  support: never
  because: rows of step 6 are late
"""


def test_a_line_that_still_holds_keeps_every_letter() -> None:
    run = [verdict(COW, 3, HIVE, STALE), verdict(COW, 6, TRINO, (FindingKind.LOST_ROW, ""))]
    assert updated((run, facts(COW)), OURS) == OURS


def test_a_line_that_no_longer_occurs_goes_with_its_comment() -> None:
    run = [correct(COW, 3, HIVE), verdict(COW, 6, TRINO, (FindingKind.LOST_ROW, ""))]
    left = updated((run, facts(COW)), OURS)
    assert left.startswith("# What we know of the story.\n\n- when: {engine: trino, step: 6}\n")


def test_a_line_whose_conditions_change_keeps_what_people_said() -> None:
    run = [verdict(COW, 3, HIVE, STALE), correct(COW, 2, HIVE)]
    *_, line = parse(updated((run, facts(COW)), OURS), PATH)
    assert dict(line.when) == {"engine": "hive", "step": ">=3"}
    assert (line.because, line.issue, line.support) == ("it reads yesterday's file", "#7", "never")


def test_a_line_whose_date_has_passed_has_to_be_reviewed_anew() -> None:
    past = (TODAY - datetime.timedelta(days=1)).isoformat()
    old = OURS.replace('issue: "#7"', f'issue: "#7"\n  until: {past}')
    lines = parse(updated(([verdict(COW, 3, HIVE, STALE)], facts(COW)), old), PATH)
    (line,) = [line for line in lines if dict(line.when) == {"engine": "hive"}]
    assert line.because == f"TODO: not mended until {past}: it reads yesterday's file"
    assert (line.until, line.issue) == (None, "#7")


def test_a_file_that_does_not_end_in_a_new_line_can_be_added_to() -> None:
    run = [verdict(COW, 3, HIVE, STALE), verdict(COW, 3, SPARK, STALE)]
    text = updated((run, facts(COW)), OURS.rstrip("\n"))
    assert text.startswith(OURS)
    assert len(parse(text, PATH)) == 3


def test_lines_in_brackets_are_written_out() -> None:
    expect = "expect: {finding: stale, columns: [f1]}"
    flow = f"[{{when: {{engine: hive}}, {expect}, support: never, because: x}}]"
    run = [verdict(COW, 3, HIVE, STALE), verdict(COW, 3, SPARK, STALE)]
    lines = parse(updated((run, facts(COW)), flow), PATH)
    assert [(dict(line.when), line.because) for line in lines] == [
        ({"engine": "hive"}, "x"),
        ({"engine": "spark"}, "TODO: say why"),
    ]
