"""What a plan consists of: variants, readers and cells, all known before anything runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.scenario.definition import Scenario

QUERIES: Final = ("all",)


@dataclass(frozen=True, slots=True)
class Reader:
    """An engine in a version with settings: `trino-476{use-column-names=false}`."""

    distribution: str
    settings: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.distribution}{{{inner}}}" if inner else self.distribution


_READER = re.compile(r"(?P<distribution>[\w.+-]+)(\{(?P<settings>[^{}]*)\})?")


def parse_reader(text: str) -> Reader:
    """Read a reader from its text.

    >>> str(parse_reader("hive-3.1.3{path=mapreduce, schema-on-read=on}"))
    'hive-3.1.3{path=mapreduce, schema-on-read=on}'

    Raises:
        ValueError: it is not of the form `distribution{setting=value, …}`.

    """
    match = _READER.fullmatch(text.strip())
    inner = (match["settings"] or "") if match else ""
    pairs = [each.partition("=") for each in inner.split(",") if each.strip()]
    if match is None or any(not eq for _, eq, _ in pairs):
        raise ValueError(f"'{text}' is no reader; write distribution{{setting=value, …}}")
    settings = tuple((name.strip(), value.strip()) for name, _, value in pairs)
    names = [name for name, _ in settings]
    if len(set(names)) < len(names) or not all(name and value for name, value in settings):
        raise ValueError(f"'{text}': each setting once, with a name and a value")
    return Reader(match["distribution"], settings)


@dataclass(frozen=True, slots=True)
class Variant:
    """A scenario with its axes fixed."""

    id: str
    """`hudi/move[hudi-cow,rewrites=some,twin]@spark-3.5.8-hudi-0.15.0`"""
    scenario: Scenario
    """With the axes and the twin's types already in its operations and table."""
    format: str
    settings: Mapping[str, str]
    writers: tuple[str, ...]
    """The distribution that writes each step, the creation first; most often one for all."""
    twin: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One question to one reader about one state."""

    variant: str
    step: int
    reader: str
    view: str
    query: str

    @property
    def case(self) -> str:
        """Give the stable name."""
        return f"{self.variant}/s{self.step}/{self.view}/{self.query}/{self.reader}"


@dataclass(frozen=True, slots=True)
class Excluded:
    """Something of the product of axes that cannot be, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a run will do."""

    profile: str
    variants: tuple[Variant, ...]
    readers: tuple[Reader, ...]
    cells: tuple[Cell, ...]
    excluded: tuple[Excluded, ...] = ()
