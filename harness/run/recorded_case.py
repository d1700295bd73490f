"""What was recorded of a variant, as the judge takes it."""

from __future__ import annotations

from collections.abc import Sequence

from harness import formats
from harness.core.records import StateRecord
from harness.judge.recorded_variant import RecordedVariant
from harness.plan.reader_support import declared
from harness.scenario.cells import Variant


def case_of(variant: Variant, states: Sequence[StateRecord]) -> RecordedVariant:
    """Return a variant with the records of its states, which its format says how to lay out."""
    return RecordedVariant(variant, formats.load(variant.format).merge_on_read, states, declared)
