"""What verdicts of a variant have in common is held once, and nothing that only looks equal."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from harness.core import jsonl
from harness.core.jsonl import VerdictParts
from harness.core.records import Expected, Finding, FindingKind, Verdict, VerdictKind, Witness


def verdict(reader: str, value: object = 1, variant: str = "v") -> Verdict:
    """Return a verdict of which nothing is shared with another one."""
    at = Witness("1", "f1", "a", value)
    one = Verdict(
        f"{variant}/{reader}", "mine", variant, 1, reader, "snapshot", "all", VerdictKind.WRONG,
        findings=(Finding(FindingKind.STALE, ("f1",), at, (at,)),),
        expected=Expected((("id", "string"), ("f1", "string")), (("1", value), ("2", "x"))),
    )  # fmt: skip
    return jsonl.parse(Verdict, jsonl.dump(one))


def test_what_readers_of_a_table_are_reported_is_retained_once() -> None:
    share, (one, other) = VerdictParts(), (verdict("a"), verdict("b"))
    first, second = share(one), share(other)
    assert (first, second) == (one, other)
    assert first.expected is second.expected
    assert first.findings is second.findings
    assert first.findings[0].witness is first.findings[0].places[0]


def test_a_step_later_the_rows_that_stayed_are_retained_once() -> None:
    share = VerdictParts()
    first, second = share(verdict("a", 1)), share(verdict("a", 2))
    assert first.expected
    assert second.expected
    assert first.expected.rows[0] != second.expected.rows[0]
    assert first.expected.rows[1] is second.expected.rows[1]


def test_equal_numbers_of_several_types_stay_what_they_are() -> None:
    share = VerdictParts()
    numbers = (1, 1.0, True, Decimal(1), Decimal("1.00"))
    verdicts = [
        share(replace(verdict("a"), expected=Expected((), ((number,),)))) for number in numbers
    ]
    assert [repr(shared.expected.rows[0][0]) for shared in verdicts if shared.expected] == [
        repr(number) for number in numbers
    ]


def test_nothing_of_a_variant_is_looked_up_for_the_next() -> None:
    share = VerdictParts()
    share(verdict("a"))
    before = len(share._values)
    for number in range(9):
        share(verdict("a", variant=str(number)))
    assert len(share._values) == before
