from dataclasses import replace

from harness.comparison.cell_pairs import VerdictChange, cell_pairs, correspondence
from harness.comparison.regressions import NEW_WRITER, Regression, regressions
from harness.core.records import FindingKind, Responsible, Verdict, VerdictKind
from harness.run.load_run import WRITE, Run
from tests.builders.verdicts import OTHER, VARIANT, WRITER, finding, run, verdict

RIGHT, WRONG, REFUSED = VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED
RENAME = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
STALE = finding(FindingKind.STALE, ("1", "f2", "old"))


def right(*steps: int) -> Run:
    return run(*(verdict(RIGHT, step=number) for number in steps))


def regressions_of(old: Run, *new: Verdict) -> tuple[Regression, ...]:
    """Return what gets worse; what a refusal is called, `because` says."""
    first = verdict(RIGHT, step=1)
    made = run(
        first,
        *new,
        errors={verdict_.case: verdict_.because for verdict_ in new if verdict_.because},
    )
    return regressions(cell_pairs(old, made), made)


def test_a_finding_is_owed_to_the_step_after_which_it_is_first_seen() -> None:
    new = [verdict(WRONG, RENAME, step=literal) for literal in (2, 3, 4)]
    (result,) = regressions_of(right(1, 2, 3, 4), *new)
    assert result.key.operation == "rename_column"
    assert result.first.either.step == 2
    assert len(result.pairs) == 3
    assert result.key.engine == "trino"


def test_what_was_wrong_before_belongs_to_the_cause_since_which_the_new_side_is_wrong() -> None:
    old = run(verdict(RIGHT, step=2), verdict(WRONG, STALE, step=3), verdict(REFUSED, step=4))
    new = [verdict(WRONG, RENAME, step=literal) for literal in (2, 3, 4)]
    (result,) = regressions_of(old, *new)
    assert result.key.operation == "rename_column"
    assert result.changes == (
        VerdictChange.REGRESSED,
        VerdictChange.REGRESSED_SILENTLY,
        VerdictChange.WRONG_OTHERWISE,
    )


def test_what_both_sides_show_is_no_cause() -> None:
    old = run(verdict(WRONG, RENAME))
    (result,) = regressions_of(old, verdict(WRONG, RENAME, STALE))
    assert result.key.finding is FindingKind.STALE
    assert regressions_of(old, verdict(WRONG, RENAME)) == ()


def test_silent_causes_come_before_loud_ones() -> None:
    new = [
        replace(verdict(REFUSED, step=2), because="BROKEN"),
        replace(verdict(REFUSED, step=2, variant=OTHER), because="BROKEN"),
        verdict(WRONG, STALE, step=3),
    ]
    old = run(verdict(RIGHT), verdict(RIGHT, variant=OTHER), verdict(RIGHT, step=3))
    silent, loud = regressions_of(old, *new)
    assert silent.key.finding is FindingKind.STALE
    assert loud.key.symptom.what == "BROKEN"


def test_findings_of_readers_and_of_writers_are_never_one_cause() -> None:
    theirs = finding(FindingKind.LOST_VALUE, ("1", "f2", None), responsible=Responsible.WRITER)
    ours = finding(FindingKind.LOST_VALUE, ("1", "f2", None))
    old = run(verdict(RIGHT), verdict(RIGHT, variant=OTHER))
    result = regressions_of(old, verdict(WRONG, theirs), verdict(WRONG, ours, variant=OTHER))
    assert {regression.key.symptom.responsible for regression in result} == {
        Responsible.READER,
        Responsible.WRITER,
    }


def test_a_refused_step_is_the_writers_cause() -> None:
    step = replace(verdict(REFUSED, reader=WRITER, view=WRITE), query="step", because="no DROP")
    old = run(replace(step, verdict=RIGHT, because=""))
    (result,) = regressions_of(old, step)
    assert result.key.engine == ""
    assert result.key.operation == "rename_column"
    assert result.by_default


def test_a_step_that_is_recorded_wrongly_is_no_refusal() -> None:
    low = finding(FindingKind.LOW_MAX_ID, ("", "f2", "7"), responsible=Responsible.HISTORY)
    step = replace(verdict(WRONG, low, reader=WRITER, view=WRITE), query="step")
    old = run(replace(step, verdict=RIGHT, findings=()))
    (result,) = regressions_of(old, step)
    symptom = result.key.symptom
    assert (symptom.kind, symptom.what, symptom.responsible) == (
        WRONG,
        "low_max_id",
        Responsible.HISTORY,
    )
    assert regressions_of(run(step), step) == ()


def test_settings_that_nobody_has_by_default_are_marked() -> None:
    by_position = "trino-476{use-column-names=false}"
    old = run(verdict(RIGHT, reader=by_position), verdict(RIGHT))
    chosen = regressions_of(old, verdict(WRONG, RENAME, reader=by_position), verdict(RIGHT))
    assert [regression.by_default for regression in chosen] == [False]
    default = regressions_of(old, verdict(RIGHT, reader=by_position), verdict(WRONG, RENAME))
    assert [regression.by_default for regression in default] == [True]


def test_what_is_so_since_another_writer_goes_on_is_that_writers() -> None:
    goes_on = replace(VARIANT, id=f"{VARIANT.id},step3:new", writers=(*("w",) * 3, "new", "new"))
    made = run(
        verdict(RIGHT, step=1, variant=goes_on),
        verdict(RIGHT, step=2, variant=goes_on),
        *(verdict(WRONG, STALE, step=literal, variant=goes_on) for literal in (3, 4)),
        variants=(goes_on,),
    )
    old = right(1, 2, 3, 4)
    names = correspondence(old.info, made.info)
    (result,) = regressions(cell_pairs(old, made, names), made)
    assert result.key.operation == NEW_WRITER


def test_what_comes_later_is_owed_to_the_operation() -> None:
    goes_on = replace(VARIANT, id=f"{VARIANT.id},step2:new", writers=(*("w",) * 2, *("new",) * 3))
    steps = (1, 2, 3)
    made = run(
        *(verdict(RIGHT, step=literal, variant=goes_on) for literal in steps),
        verdict(WRONG, STALE, step=4, variant=goes_on),
        variants=(goes_on,),
    )
    old = right(*steps, 4)
    (result,) = regressions(cell_pairs(old, made, correspondence(old.info, made.info)), made)
    assert result.key.operation == "compact"
