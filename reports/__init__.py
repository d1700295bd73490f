"""One file per report, and their templates.

In: a judged run. Out: files and text for people and programs. A report must not know how an
answer is judged: it arranges what verdicts say.

A module here that has a `NAME` is a report: it has `write(run, folder)`, which gives the file
written. Other modules are shared by several. A package adds reports by entry points of the group
`lake_table_harness.reports`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from harness.core.registry import Registry, modules
from harness.run.load_run import Run


class Report(Protocol):
    """What every report offers."""

    NAME: str

    def write(self, run: Run, folder: Path) -> Path:
        """Write the report into a folder that is there and give its file."""


def _ours() -> Mapping[str, Any]:
    return {module.NAME: module for module in modules(__name__) if hasattr(module, "NAME")}


REPORTS: Registry[Report] = Registry("report", _ours, Report)
names, load = REPORTS.names, REPORTS.load
