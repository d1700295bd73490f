from dataclasses import replace

from harness.comparison.cell_pairs import CellPair, VerdictChange, cell_pairs
from harness.comparison.regressions import (
    Regression,
    Swap,
    Workaround,
    regressions,
    suspect_components,
    workarounds,
)
from harness.core.records import FindingKind, Verdict, VerdictKind
from tests.builders.verdicts import OTHER, finding, run, verdict

RENAME = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
OLD = run(*(verdict(VerdictKind.CORRECT, step=literal) for literal in (1, 2, 3)))


def worse(*steps: int) -> tuple[CellPair, ...]:
    """Return the pairs in which these steps turn wrong."""
    new = run(
        *(
            verdict(VerdictKind.WRONG, RENAME, step=literal)
            if literal in steps
            else verdict(VerdictKind.CORRECT, step=literal)
            for literal in (1, 2, 3)
        )
    )
    return tuple(
        cell_pair
        for cell_pair in cell_pairs(OLD, new)
        if cell_pair.change.name.startswith("REGRESSED")
    )


def cause(*steps: int) -> Regression:
    new = run(
        verdict(VerdictKind.CORRECT, step=1),
        *(verdict(VerdictKind.WRONG, RENAME, step=number) for number in steps),
    )
    (result,) = regressions(cell_pairs(OLD, new), new)
    return result


def test_the_component_that_shows_all_of_it_alone_is_to_blame() -> None:
    engine, library = Swap("engine", "a", "b"), Swap("library", "c", "d", worse(2, 3))
    result = suspect_components(cause(2, 3), [engine, library])
    assert result.alone == (library,)
    assert not result.partly
    assert not result.together


def test_what_shows_some_of_it_is_told_apart() -> None:
    some = Swap("engine", "a", "b", worse(2))
    result = suspect_components(cause(2, 3), [some, Swap("library", "c", "d")])
    assert result.partly == (some,)
    assert not result.alone


def test_what_could_not_be_tried_keeps_all_of_them_from_being_to_blame_together() -> None:
    untried = Swap("engine", "a", "b", why_not="there is no c")
    result = suspect_components(cause(2, 3), [untried, Swap("library", "c", "d")])
    assert result.untried == (untried,)
    assert not result.together


def test_a_wrong_struct_is_reported_as_any_other_value() -> None:
    struct = replace(RENAME.witness, actual={"a": 1})
    wrong = replace(RENAME, witness=struct, witnesses=(struct,))
    new = run(verdict(VerdictKind.CORRECT, step=1), verdict(VerdictKind.WRONG, wrong, step=2))
    result = tuple(
        cell_pair
        for cell_pair in cell_pairs(OLD, new)
        if cell_pair.change is VerdictChange.REGRESSED
    )
    (broken,) = regressions(result, new)
    swap = Swap("library", "c", "d", result)
    assert suspect_components(broken, [swap]).alone == (swap,)


RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
STALE = finding(FindingKind.STALE, ("1", "f2", "old"))
"""In the scenario of these verdicts step 4 is a compaction."""


def helpful(*new: Verdict) -> tuple[Workaround, ...]:
    asked = [verdict(RIGHT, step=1, variant=OTHER), *new]
    old = run(*(verdict(RIGHT, step=e.step, view=e.view, variant=OTHER) for e in asked))
    made = run(*asked)
    (result,) = (e for e in regressions(cell_pairs(old, made), made) if e.key.finding is STALE.kind)
    return workarounds(result, made)


def stale(step: int = 3, view: str = "snapshot") -> Verdict:
    return verdict(WRONG, STALE, step=step, view=view, variant=OTHER)


def test_what_is_still_there_or_was_never_asked_is_not_claimed() -> None:
    assert helpful(stale(), stale(step=4)) == ()
    assert helpful(stale()) == ()


def test_an_answer_that_is_not_known_is_no_evidence() -> None:
    unknown = verdict(VerdictKind.UNKNOWN, step=4, variant=OTHER)
    assert Workaround.COMPACT not in helpful(stale(), unknown)
    refused = verdict(VerdictKind.REFUSED, step=4, variant=OTHER)
    assert Workaround.COMPACT not in helpful(stale(), refused)


def test_a_view_that_does_not_show_it_is_named() -> None:
    other = verdict(RIGHT, step=3, view="read_optimized", variant=OTHER)
    assert helpful(stale(), other) == (Workaround.OTHER_VIEW,)
