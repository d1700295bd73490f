from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison.cell_pairs import AS_BEFORE, WORSE, VerdictChange, change
from harness.core.records import Finding, FindingKind, Verdict, VerdictKind
from tests.builders.verdicts import finding, verdict

C, W, R, N, U = (
    VerdictKind.CORRECT,
    VerdictKind.WRONG,
    VerdictKind.REFUSED,
    VerdictKind.UNSUPPORTED,
    VerdictKind.UNKNOWN,
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
    **{(kind, U): VerdictChange.UNKNOWN for kind in VerdictKind},
    **{(U, kind): VerdictChange.UNKNOWN for kind in VerdictKind},
}
"""By what the old side said, and the new one."""


def of(kind: VerdictKind) -> Verdict:
    return verdict(kind, *([STALE] if kind is W else []))


@pytest.mark.parametrize(("old", "new"), [*product(VerdictKind, VerdictKind)])
def test_every_pair_of_verdicts_is_in_one_class(old: VerdictKind, new: VerdictKind) -> None:
    assert change(of(old), of(new)) is TABLE[old, new]


def test_a_cell_of_one_side_alone_is_new_or_gone() -> None:
    assert change(None, of(W)) is VerdictChange.NEW
    assert change(of(C), None) is VerdictChange.GONE


def test_no_cell_at_all_is_no_pair() -> None:
    with pytest.raises(ValueError, match="one side at least"):
        change(None, None)


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


def test_fewer_wrong_places_are_wrong_as_before() -> None:
    both = finding(FindingKind.STALE, ("1", "f1", "old"), ("2", "f1", "old"))
    assert change(verdict(W, both), verdict(W, STALE)) is VerdictChange.WRONG_AS_BEFORE


def test_a_column_asked_alone_that_turns_wrong_behind_the_same_error_is_silent() -> None:
    assert change(verdict(R), verdict(R, STALE)) is VerdictChange.REGRESSED_SILENTLY
    assert change(verdict(R, STALE), verdict(R)) is VerdictChange.REFUSED_AS_BEFORE


@given(st.sampled_from(VerdictKind))
def test_a_verdict_beside_itself_is_as_before_or_unknown(kind: VerdictKind) -> None:
    found = change(of(kind), of(kind))
    assert found in {*AS_BEFORE, VerdictChange.UNKNOWN}
    assert found not in WORSE
