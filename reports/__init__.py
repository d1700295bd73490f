"""One file per report, and their templates.

A report's name is its file's; it has `NAME` and `write(run, folder)`, which gives the file written.
Other modules here are shared by several reports.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Final, Protocol

from harness.core.errors import UsageProblem
from harness.run.load_run import Run

SHARED: Final = frozenset(
    {"advice", "agreement", "html_cells", "html_data", "legend", "lines", "marks", "matrices"}
    | {"file_numbers", "pairs", "sentences", "summary", "tolerance_counts", "words"}
)


class Report(Protocol):
    """What every report offers."""

    NAME: str

    def write(self, run: Run, folder: Path) -> Path:
        """Write the report into a folder that is there and give its file."""


def names() -> tuple[str, ...]:
    """Return the names of all reports, sorted."""
    files = (each.name for each in pkgutil.iter_modules(__path__))
    return tuple(sorted(name for name in files if name not in SHARED))


def load(name: str) -> Report:
    """Return the report of that name.

    Raises:
        UsageProblem: there is none; the message names what is there.

    """
    if name not in names():
        raise UsageProblem(f"unknown report '{name}'; allowed: {', '.join(names())}")
    found: Report = importlib.import_module(f"{__name__}.{name}")
    return found
