"""A command that judges a run ends: it reports, says why, and tells the build server."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.cli import stored_runs
from harness.cli.console.output import Output
from harness.core.errors import describe
from harness.judge.gate import GOOD, NEW, Gate
from harness.reports import github
from harness.run import run_judge
from harness.run.load_run import Run
from harness.run.pipeline import JudgedRun

ON_GITHUB: Final = "GITHUB_ACTIONS"
"""GitHub sets it to `true` in every job ("Variables reference")."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a judged run is to end, as the options of its command say."""

    show: bool = False
    """Whether findings do not fail it."""
    fail_on_flaky: bool = False
    """Whether flaky cells fail it as well."""
    github: bool | None = None
    """Whether GitHub is told; None: where it runs the command."""
    history: Path | None = None
    """The file that keeps the run; None: that of the runs beside it, if it is one of them."""

    @property
    def tells_github(self) -> bool:
        """Return whether GitHub is told."""
        on = os.environ.get(ON_GITHUB) == "true"
        return on if self.github is None else self.github


def end(judged: JudgedRun, output: Output, ending: Ending) -> int:
    """Report on a run that was just judged; return the exit status."""
    run = judged.run
    gate = run_judge.gate_of(run, judged.applied, fail_on_flaky=ending.fail_on_flaky)
    status = GOOD if ending.show and gate.status == NEW else gate.status
    status = max(status, stored_runs.store_ended(run, ending.history))
    if ending.tells_github:
        _tell_github(run, gate, output, fails=status != GOOD)
    output.result(run, gate, status)
    return status


def _tell_github(run: Run, gate: Gate, output: Output, *, fails: bool) -> None:
    """Tell what can be told: the status of the job does not hang on its summary."""
    # GitHub reads commands from both streams; with --json a program reads the first one.
    stream = sys.stderr if output.json else sys.stdout
    try:
        github.tell(run, gate, stream, fails=fails)
    except OSError as error:
        print(f"harness: the summary of the job is not written: {describe(error)}", file=sys.stderr)
