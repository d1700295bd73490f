"""One file per report, and their templates: they arrange what verdicts say.

A module with a `NAME` is a report: its `write(run, folder)` gives the file written. Packages add
reports by entry points of the group `lake_table_harness.reports`.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from harness.core.registry import Registry
from harness.run.load_run import Run


class Report(Protocol):
    NAME: str

    def write(self, run: Run, folder: Path) -> Path:
        """Write the report into a folder that is there and give its file."""


_NAME: Final = b"\nNAME: Final = "


def _ours() -> Mapping[str, Any]:
    # By its text: what else lies here takes a sixteenth of a second to load.
    files = [path for path in Path(__file__).parent.glob("*.py") if _NAME in path.read_bytes()]
    modules = (importlib.import_module(f"{__name__}.{path.stem}") for path in files)
    return {module.NAME: module for module in modules}


REPORTS: Registry[Report] = Registry("report", _ours, Report)
names, load = REPORTS.names, REPORTS.load
