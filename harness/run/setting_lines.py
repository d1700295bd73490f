"""What a reader's settings are in its engine's own words: the lines that somebody pastes.

The engines say how a session by hand gets a reader's settings (`Engine.by_hand`); here the lines
are split, each with the place that it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Final

from harness import engines, formats
from harness.artifacts import distributions
from harness.scenario.cells import parse_reader

SESSION: Final = "in the session"
_COMMENT: Final = "--"


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A line that sets something."""

    text: str
    """As the engine takes it: `hudi.parquet.use-column-names=true`."""
    place: str
    """Where it goes: `in etc/catalog/*.properties`, `in the session`; empty where unknown."""

    def __str__(self) -> str:
        return f"{self.text} ({self.place})" if self.place else self.text


@cache
def lines_of(reader: str, format_name: str) -> tuple[SettingLine, ...]:
    """Return what a reader's session is given before it is asked about tables of a format.

    Nothing where the distribution or the format is not there any longer.
    """
    asked = parse_reader(reader)
    if not distributions.exists(asked.distribution) or format_name not in formats.names():
        return ()
    distribution = distributions.load(asked.distribution)
    facts = formats.facts(format_name)
    lines = engines.load(distribution.engine).by_hand(distribution, dict(asked.settings), facts)
    return tuple(_lines(lines))


def _lines(lines: tuple[str, ...]) -> Iterator[SettingLine]:
    where = SESSION
    for line in lines:
        text = line.removeprefix(_COMMENT).strip()
        if line.startswith(_COMMENT) and text.endswith(":"):
            where = _place(text[:-1])
        else:
            yield SettingLine(text, where if line.startswith(_COMMENT) else SESSION)


def _place(head: str) -> str:
    """Return where lines stand that have such a head.

    What a file is called does not matter: it is one of the harness.

    >>> _place("etc/catalog/hudi_by_name.properties"), _place("In Python")
    ('in etc/catalog/*.properties', 'in Python')
    """
    path = PurePosixPath(head)
    if path.suffix:
        return f"in {path.with_name('*')}{path.suffix}"
    return head[:1].lower() + head[1:]
