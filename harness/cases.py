"""What was recorded of a variant, as the judge takes it."""

from __future__ import annotations

from collections.abc import Sequence

from harness import formats
from harness.cells import Variant
from harness.histories import Case
from harness.record import StateRecord


def case_of(variant: Variant, states: Sequence[StateRecord]) -> Case:
    """Give a variant with the records of its states, which its format says how to lay out."""
    return Case(variant, formats.load(variant.format).merge_on_read, states)
