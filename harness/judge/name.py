"""Stage 5: the name of each wrong place, which exactly one check explains."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from harness.core.records import NAMES_OF_DIFFERENCES, FindingKind
from harness.judge.difference import Difference
from harness.judge.expected_state import ExpectedState

Check = Callable[[Difference, ExpectedState], bool]


@cache
def check_of(kind: FindingKind) -> Check:
    """Return the check of a finding, from the file of its name."""
    module = importlib.import_module(f"harness.judge.checks.{kind.value}")
    check: Check = module.explains
    return check


@dataclass(frozen=True, slots=True)
class NamedDifference:
    """A wrong place with its name."""

    kind: FindingKind
    difference: Difference


def name(differences: Sequence[Difference], state: ExpectedState) -> tuple[NamedDifference, ...]:
    """Return the places of an answer, each with its one name, in the same order."""
    return tuple(
        NamedDifference(name_of(difference, state), difference) for difference in differences
    )


def name_of(difference: Difference, state: ExpectedState) -> FindingKind:
    return next(kind for kind in NAMES_OF_DIFFERENCES if check_of(kind)(difference, state))
