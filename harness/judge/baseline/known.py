"""A line of a baseline: where it holds, and which wrong answer or refusal is known there."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from harness.core.records import FindingKind

READER: Final = "reader."
VARIANT: Final = "variant."
UNSET: Final = "unset"
"""The value of a reader's or variant's setting that is not given."""
STEP: Final = "step"
VIEW: Final = "view"
QUERY: Final = "query"
"""The text of a cell's question, `predicate(f1)`; a line without it is about every question."""
WRITE: Final = "write"
"""The view of a verdict on a step itself; only a line that names it is about steps."""
TODO: Final = "TODO"
NAMES: Final = (
    *("engine", "format", VIEW, QUERY, STEP),
    *("version", "distribution", "twin", "writer"),
)
"""The conditions beside `reader.<setting>` and `variant.<setting>`."""

Properties = Mapping[str, str]
"""What is true of a cell, by the names of conditions; a setting that is not given is left out."""
When = tuple[tuple[str, str], ...]
"""Conditions, all of which must hold."""

_STEPS: Final = re.compile(
    r"(?P<only>\d{1,4})|>=(?P<since>\d{1,4})|(?P<low>\d{1,4})-(?P<high>\d{1,4})"
)
_LAST: Final = 10_000


class Support(StrEnum):
    """Whether the engine may be mended one day."""

    NEVER = "never"
    """The engine will not do it."""
    NOTYET = "notyet"
    """The engine does not do it yet."""
    NOTIMPL = "notimpl"
    """The harness does not do it yet."""


@dataclass(frozen=True, slots=True)
class Expect:
    """What a reader answers instead of the truth: exactly this; anything else is new.

    A refusal may have findings as well: those of the columns that were asked alone.
    """

    refused: str = ""
    """The kind of the refusal; empty for an answer."""
    kinds: frozenset[FindingKind] = frozenset()
    columns: frozenset[str] = frozenset()
    """Every column that a finding names; none for findings about whole rows."""

    @property
    def knowable(self) -> bool:
        """Whether a baseline can hold it: nobody knows what is unexplained."""
        return FindingKind.UNEXPLAINED not in self.kinds

    def __str__(self) -> str:
        kinds = ", ".join(kind for kind in FindingKind if kind in self.kinds)
        result = f"{kinds} in {', '.join(sorted(self.columns))}" if self.columns else kinds
        refused = f"refused: {self.refused}" if self.refused else ""
        return "; ".join(each for each in (refused, result) if each)


class ReviewedLine:
    """A line of a file in which somebody says what is known, why, and until when."""

    __slots__ = ()
    because: str
    until: datetime.date | None
    path: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def reviewed(self) -> bool:
        """Whether somebody has said why."""
        return not self.because.upper().startswith(TODO)

    def counts(self, today: datetime.date) -> bool:
        """Whether its date has not passed."""
        return self.until is None or today <= self.until


@dataclass(frozen=True, slots=True)
class Known(ReviewedLine):
    """One line of a baseline file."""

    when: When
    expect: Expect
    support: Support
    because: str
    issue: str = ""
    until: datetime.date | None = None
    """The last day on which the line counts."""
    path: str = ""
    line: int = 0


@cache
def steps(text: str) -> range:
    """Return the steps that `6`, `>=6` or `3-5` mean.

    Raises:
        ValueError: it is none of these, or the first is after the last.

    """
    match = _STEPS.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' names no steps")
    if match["since"]:
        return range(int(match["since"]), _LAST)
    first, last = int(match["only"] or match["low"]), int(match["only"] or match["high"])
    if first > last:
        raise ValueError(f"'{text}': the first step is after the last")
    return range(first, last + 1)


def holds(when: When, properties: Properties) -> bool:
    """Return whether all conditions hold of a cell.

    >>> holds((("engine", "hive"), ("step", ">=6")), {"engine": "hive", "step": "7"})
    True
    """
    if properties.get(VIEW) == WRITE and VIEW not in dict(when):
        return False
    return all(_holds(name, value, properties) for name, value in when)


def _holds(name: str, value: str, properties: Properties) -> bool:
    if name == STEP:
        return int(properties[STEP]) in steps(value)
    return properties.get(name, UNSET) == value
