from dataclasses import replace
from itertools import product

import pytest

from harness.comparison.cell_pairs import (
    Correspondence,
    VerdictChange,
    cell_pairs,
    change,
    correspondence,
)
from harness.core.records import Finding, FindingKind, OutcomeKind, Verdict, VerdictKind
from harness.run.load_run import WRITE, RunInfo
from harness.scenario.cells import CONTROL
from tests.builders.verdicts import OTHER, VARIANT, WRITER, finding, run, state, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG


def test_several_variants_are_compared_with_one_of_the_old_side() -> None:
    old = run(verdict(RIGHT))
    new = run(verdict(WRONG), verdict(RIGHT, variant=OTHER))
    names = Correspondence(variants={OTHER.id: VARIANT.id})
    result = cell_pairs(old, new, names)
    assert [pair.change for pair in result] == [
        VerdictChange.REGRESSED,
        VerdictChange.RIGHT_AS_BEFORE,
    ]


def test_every_cell_of_either_side_is_in_one_pair() -> None:
    old = run(verdict(RIGHT, step=1), verdict(RIGHT, step=2))
    new = run(verdict(RIGHT, step=2), verdict(RIGHT, step=3))
    result = cell_pairs(old, new)
    assert [pair.either.step for pair in result] == [2, 3, 1]


def test_a_step_that_the_new_writer_refuses_is_a_pair_and_one_that_both_apply_is_none() -> None:
    refused = verdict(VerdictKind.REFUSED, reader=WRITER, view=WRITE)
    refused = replace(refused, query="step")
    old = run(states=[state(1), state(2)])
    new = run(refused, states=[state(1), state(2, OutcomeKind.REFUSED)])
    (result,) = cell_pairs(old, new)
    assert result.change is VerdictChange.REGRESSED_LOUDLY
    assert result.is_step
    assert cell_pairs(old, old) == ()


def test_a_planned_cell_that_was_never_judged_is_unknown() -> None:
    silent = run(verdict(RIGHT))
    silent = replace(silent, recorded={})
    assert [cell_pair.change for cell_pair in cell_pairs(run(verdict(RIGHT)), silent)] == [
        VerdictChange.UNKNOWN
    ]


def test_the_control_of_a_reader_that_one_side_alone_has_is_no_pair() -> None:
    control = replace(verdict(RIGHT, variant=OTHER), scenario=CONTROL)
    with_control, without = run(verdict(RIGHT), control), run(verdict(RIGHT))
    for old, new in ((without, with_control), (with_control, without)):
        assert [cell_pair.either.scenario for cell_pair in cell_pairs(old, new)] == [
            verdict(RIGHT).scenario
        ]
    assert len(cell_pairs(with_control, with_control)) == 2


def info(*readers: str) -> RunInfo:
    return run(*(verdict(VerdictKind.CORRECT, reader=text) for text in readers)).info


def test_a_reader_of_another_version_is_found_by_its_settings() -> None:
    old = info("trino-368", "trino-368{use-column-names=false}", "hive-3.1.3")
    new = info("trino-476{use-column-names=false}", "trino-476", "hive-3.1.3")
    assert correspondence(old, new).readers == {
        "trino-476": "trino-368",
        "trino-476{use-column-names=false}": "trino-368{use-column-names=false}",
    }


def test_of_two_that_may_be_meant_none_is() -> None:
    old = info("trino-368{use-column-names=true}", "trino-368{use-column-names=false}")
    assert correspondence(old, info("trino-476")).readers == {}


def test_a_table_of_another_writer_is_found_by_its_story() -> None:
    old = info("trino-476")
    goes_on = replace(old.variants[0], id="hudi/story[hudi-cow]@w,step2:new", writers=("w", "new"))
    newer = replace(old.variants[1], id="n", settings={"table_version": "8"})
    result = correspondence(old, replace(old, variants=(*old.variants, goes_on, newer)))
    assert result.variants == {goes_on.id: VARIANT.id, "n": OTHER.id}


C, W, R, N, U, L = (
    VerdictKind.CORRECT,
    VerdictKind.WRONG,
    VerdictKind.REFUSED,
    VerdictKind.UNSUPPORTED,
    VerdictKind.UNKNOWN,
    VerdictKind.OPEN,
)
STALE = finding(FindingKind.STALE, ("1", "f1", "old"))

TABLE = {
    (C, C): VerdictChange.RIGHT_AS_BEFORE,
    (C, W): VerdictChange.REGRESSED,
    (C, R): VerdictChange.REGRESSED_LOUDLY,
    (C, N): VerdictChange.REGRESSED_LOUDLY,
    (W, C): VerdictChange.FIXED,
    (W, W): VerdictChange.WRONG_AS_BEFORE,
    (W, R): VerdictChange.REFUSED_NOW,
    (W, N): VerdictChange.REFUSED_NOW,
    (R, C): VerdictChange.FIXED,
    (R, W): VerdictChange.REGRESSED_SILENTLY,
    (R, R): VerdictChange.REFUSED_AS_BEFORE,
    (R, N): VerdictChange.REFUSED_AS_BEFORE,
    (N, C): VerdictChange.FIXED,
    (N, W): VerdictChange.REGRESSED_SILENTLY,
    (N, R): VerdictChange.REFUSED_AS_BEFORE,
    (N, N): VerdictChange.REFUSED_AS_BEFORE,
    **{(kind, L): VerdictChange.OPEN_NOW for kind in (C, W, R, N)},
    (L, L): VerdictChange.OPEN_AS_BEFORE,
    (L, C): VerdictChange.NO_LONGER_OPEN,
    (L, W): VerdictChange.REGRESSED,
    (L, R): VerdictChange.REGRESSED_LOUDLY,
    (L, N): VerdictChange.REGRESSED_LOUDLY,
    **{(kind, U): VerdictChange.UNKNOWN for kind in VerdictKind},
    **{(U, kind): VerdictChange.UNKNOWN for kind in VerdictKind},
}
"""By what the old side said, and the new one."""


def outcome(kind: VerdictKind) -> Verdict:
    return verdict(kind, *([STALE] if kind is W else []))


@pytest.mark.parametrize(("old", "new"), [*product(VerdictKind, VerdictKind)])
def test_every_pair_of_verdicts_is_in_one_class(old: VerdictKind, new: VerdictKind) -> None:
    assert change(outcome(old), outcome(new)) is TABLE[old, new]


@pytest.mark.parametrize(
    "other",
    [
        finding(FindingKind.MISALIGNED, ("1", "f1", "old")),
        finding(FindingKind.STALE, ("2", "f1", "old")),
        finding(FindingKind.STALE, ("1", "f2", "old")),
        finding(FindingKind.STALE, ("1", "f1", "older")),
        finding(FindingKind.STALE, ("1", "f1", None)),
        finding(FindingKind.STALE, ("1", "f1", "old"), ("2", "f1", "old")),
    ],
)
def test_another_finding_row_column_or_value_is_wrong_otherwise(other: Finding) -> None:
    assert change(verdict(W, STALE), verdict(W, other)) is VerdictChange.WRONG_OTHERWISE


def test_the_file_that_a_wrong_value_was_read_from_changes_nothing() -> None:
    moved = finding(FindingKind.STALE, ("1", "f1", "old"), file="other.parquet")
    assert change(verdict(W, STALE), verdict(W, moved)) is VerdictChange.WRONG_AS_BEFORE


def test_a_column_asked_alone_that_turns_wrong_behind_the_same_error_is_silent() -> None:
    assert change(verdict(R), verdict(R, STALE)) is VerdictChange.REGRESSED_SILENTLY
    assert change(verdict(R, STALE), verdict(R)) is VerdictChange.REFUSED_AS_BEFORE
