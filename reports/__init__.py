"""One file per report, and their templates: they arrange what verdicts say.

A module with a `NAME` is a report: its `write(run, folder)` gives the file written. Packages add
reports by entry points of the group `lake_table_harness.reports`.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from harness.core.registry import Registry
from harness.run.load_run import Run


class Report(Protocol):
    NAME: str

    def write(self, run: Run, folder: Path) -> Path:
        """Write the report into a folder that is there and give its file."""


def _ours() -> Mapping[str, Any]:
    names = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    modules = map(importlib.import_module, names)
    return {module.NAME: module for module in modules if hasattr(module, "NAME")}


REPORTS: Registry[Report] = Registry("report", _ours, Report)
names, load = REPORTS.names, REPORTS.load
