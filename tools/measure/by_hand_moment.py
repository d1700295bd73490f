"""The moment of the past that a script's query names, looked up in the table that was written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness import formats
from harness.cli.reproduce.script import MOMENT
from harness.engines import time_travel
from harness.formats.api import FileFactError
from harness.model.commit import Moment
from tools.measure.by_hand_script import ScriptSection

_TOLD: Final = re.compile(rf"-- {MOMENT}: (.*), in the table that you wrote\.")
_NUMBER: Final = re.compile(r"--   The write of step \d+ is number (\d+) of .*")


class NoMomentError(LookupError):
    """A moment cannot be looked up: the script does not say which, or the table has none such."""


def filled(query: ScriptSection, table: Path) -> ScriptSection:
    """Return a query with its moment as a written table has it; one of now as it stands.

    `table`: the table's folder, which is read.

    Raises:
        NoMomentError: it cannot be looked up.

    """
    if not any(MOMENT in each for each in query.statements):
        return query
    write = _write(table, int(_said(_NUMBER, query)))
    try:
        moment = time_travel.meant(_said(_TOLD, query), write)
    except LookupError as unknown:
        raise NoMomentError(str(unknown)) from unknown
    lines = (
        line if line.startswith("--") else line.replace(MOMENT, moment) for line in query.lines
    )
    return replace(query, lines=tuple(lines))


def _said(pattern: re.Pattern[str], query: ScriptSection) -> str:
    """Return what a comment says that has this pattern."""
    for line in query.lines:
        if found := pattern.fullmatch(line):
            return found[1]
    raise NoMomentError(f"no comment says {pattern.pattern}")


def _write(table: Path, number: int) -> Moment:
    """Return a completed write of a table by its number, from 1; whichever format it has."""
    for shape in map(formats.load, formats.names()):
        try:
            made = shape.instants(table) if shape.past_views else ()
        except FileFactError as spoilt:
            raise NoMomentError(str(spoilt)) from spoilt
        if 1 <= number <= len(made):
            return shape.moment(table, made[number - 1])
    raise NoMomentError(f"{table}: there is no write number {number}")
