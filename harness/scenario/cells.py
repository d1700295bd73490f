"""What a plan consists of: variants, readers and cells, all known before anything runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from harness.core.records import QuestionKey
from harness.core.runtime_names import USUAL_METASTORE, MetastoreChoice
from harness.model.query_shapes import IN_BRACKETS, Shape

if TYPE_CHECKING:
    from harness.scenario.definition import Scenario

CONTROL: Final = "control/unchanged"
"""The scenario of the control; every format can have it."""
QUERIES: Final = tuple(str(shape) for shape in Shape if shape not in IN_BRACKETS)
"""The shapes of questions that a profile may name, beside those with a condition or a number."""


@dataclass(frozen=True, slots=True)
class Reader:
    """An engine in a version with settings: `trino-476{use-column-names=false}`."""

    distribution: str
    settings: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.distribution}{{{inner}}}" if inner else self.distribution


@dataclass(frozen=True, slots=True)
class Unlike:
    setting: str
    has: str
    default: str
    named: bool
    """Whether the reader's name says so; else it is what the harness sets for all."""

    def __str__(self) -> str:
        ours = "" if self.named else ", set by the harness"
        return f"{self.setting}={self.has}{ours} (default: {self.default})"


_WITH_SETTINGS = re.compile(r"(?P<distribution>[\w.+-]+(@\w+)?)(\{(?P<settings>[^{}]*)\})?")


def parse_reader(text: str) -> Reader:
    """Read a reader from its text; raises as `with_settings` does."""
    return Reader(*with_settings(text, "reader"))


def with_settings(text: str, what: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Read a distribution and its settings from a text; `what` it is to be, for messages.

    Raises ValueError: it is not of the form `distribution{setting=value, …}`.
    """
    match = _WITH_SETTINGS.fullmatch(text.strip())
    inner = (match["settings"] or "") if match else ""
    pairs = [part.partition("=") for part in inner.split(",") if part.strip()]
    if match is None or any(not eq for _, eq, _ in pairs):
        raise ValueError(f"'{text}' is not a {what}; write distribution{{setting=value, …}}")
    settings = tuple((name.strip(), value.strip()) for name, _, value in pairs)
    names = [name for name, _ in settings]
    if len(set(names)) < len(names) or not all(name and value for name, value in settings):
        raise ValueError(f"'{text}': each setting once, with a name and a value")
    return match["distribution"], settings


@dataclass(frozen=True, slots=True)
class Variant:
    id: str
    """`hudi/move[hudi-cow,rewrites=some,twin]@spark-3.5.8-hudi-0.15.0`"""
    scenario: Scenario
    """With the axes and the twin's types already in its operations and table."""
    format: str
    settings: Mapping[str, str]
    writers: tuple[str, ...]
    """The distribution that writes each step, the creation first; most often one for all."""
    twin: bool = False

    def step_cell(self, step: int) -> Cell:
        """Return what stands for a step itself, and no reader's answer."""
        return Cell(self.id, step, self.writers[step], "write", "step")


@dataclass(frozen=True, slots=True)
class Cell:
    """One question to one reader about one state."""

    variant: str
    step: int
    reader: str
    """Empty for a step itself, about which no reader was asked."""
    view: str
    query: str
    """As `shapes` writes it: `all`, `column(f1)`."""

    @property
    def case(self) -> str:
        asked = f"/{self.query}/{self.reader}" if self.reader else ""
        return f"{self.variant}/s{self.step}/{self.view}{asked}"

    @property
    def distribution(self) -> str:
        return parse_reader(self.reader).distribution

    @property
    def question(self) -> QuestionKey:
        return self.variant, self.step, self.view, self.query


@dataclass(frozen=True, slots=True)
class Excluded:
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """How the variants of a scenario cover every two values of its axes."""

    scenario: str
    axes: Mapping[str, tuple[str, ...]]
    """The values of each axis that can be."""
    variants: int
    combinations: int
    """So many variants all combinations would have made."""
    covered: int
    """Pairs of values, every one that can be."""
    cannot: tuple[Excluded, ...] = ()


@dataclass(frozen=True, slots=True)
class Partly:
    """A reader that is asked about so many variants that it meets every axis value, not all."""

    reader: str
    variants: int
    of: int
    """So many it can read."""
    cells: int


class AskedAgain(StrEnum):
    """Which answers are asked for a second time, of a fresh server."""

    UNEXPLAINED = "unexplained"
    """Those that are wrong, and that no read strategy explains."""
    SAMPLE = "sample"
    """Those, and some of the right ones."""


@dataclass(frozen=True, slots=True)
class Plan:
    profile: str
    variants: tuple[Variant, ...]
    readers: tuple[Reader, ...]
    cells: tuple[Cell, ...]
    excluded: tuple[Excluded, ...] = ()
    pairs: tuple[Pairs, ...] = ()
    """Of each scenario, where the profile covers pairs and not all combinations."""
    partly: tuple[Partly, ...] = ()
    """The readers that are not asked about every variant they can read."""
    ask_again: AskedAgain = AskedAgain.UNEXPLAINED
    metastore: MetastoreChoice = USUAL_METASTORE
    """The one that the readers ask through."""
    chosen: tuple[str, ...] = ()
    """What was chosen because nobody named it, a sentence for each kind of part."""
    left_out: tuple[str, ...] = ()
    """What is not asked because it would take too long."""
