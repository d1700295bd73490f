"""What the statistics of a column rule out."""

from __future__ import annotations

import pytest

from harness.model.canonical import Value
from harness.model.query import Comparison, Condition, not_null
from harness.model.simulation.trusted_statistics import can_hold

NAN = float("nan")


def equal(literal: str, type_: str = "string") -> Condition:
    return Condition("f", Comparison.EQUAL, literal, type_)


@pytest.mark.parametrize(
    ("condition", "values", "can"),
    [
        (equal("b"), ["a", "c"], True),
        (equal("d"), ["a", None, "c"], False),
        (equal("a"), [None], False),
        (equal("a"), [], False),
        (equal("7", "int"), [7], True),
        (equal("7", "int"), ["a"], True),
        (equal("7.0", "double"), [1.0, 2.0], False),
        (equal("7.0", "double"), [1.0, NAN, 2.0], True),
        (equal("7.0", "double"), [NAN, 1.0], True),
        (not_null("f"), [None, None], False),
        (not_null("f"), [None, 1], True),
        (Condition("f", Comparison.NULL), [1, 2], False),
        (Condition("f", Comparison.NULL), [1, None], True),
    ],
)
def test_a_file_is_left_out_where_no_row_can_be_meant(
    condition: Condition, values: list[Value], *, can: bool
) -> None:
    assert can_hold(condition, values) is can
