"""Where the steps of a run stand in scenario files: the lines that somebody looks at, or mends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from harness import formats
from harness.core.errors import ScenarioProblem
from harness.run.baseline_files import scenario_file
from harness.run.causes import OR, RunCause
from harness.run.load_run import Run, VariantInfo
from harness.scenario import load
from harness.scenario.operations import name_of

TOP: Final = 1
"""The line for what no line is known of."""


@dataclass(frozen=True, slots=True)
class ScenarioPlace:
    """A line of a scenario's file, as it is now."""

    path: Path
    line: int


class ScenarioPlaces:
    """Finds the steps of a run in the files of its scenarios; each file is read once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files, self._steps = cache(self._file), cache(_steps)

    def of(self, variant: str, step: int) -> ScenarioPlace | None:
        """Return where a step of a variant stands; None where its scenario's file is not here.

        Of the creation, and where the file has other steps by now, it is the first line.
        """
        info = self._run.variant(variant)
        path = self._files(info.scenario)
        if path is None:
            return None
        there = self._steps(path)
        known = [name for name, _ in there] == [step.operation for step in info.steps]
        return ScenarioPlace(path, there[step - 1][1] if known and step else TOP)

    def of_cause(self, cause: RunCause) -> ScenarioPlace | None:
        """Return where the step stands since which something is not right.

        That is in the scenario that speaks for all of the cause.
        """
        first = cause.first
        return self.of(first.variant, _began_at(cause, self._run.variant(first.variant)))

    def _file(self, scenario: str) -> Path | None:
        return scenario_file(self._run.info, scenario)


def _began_at(cause: RunCause, variant: VariantInfo) -> int:
    """Return the last step up to the one asked about that did what the cause came with."""
    names = cause.key.operation.split(OR)
    did = (step.number for step in variant.steps if step.operation in names)
    return max((step for step in did if step <= cause.first.step), default=cause.first.step)


def _steps(path: Path) -> Sequence[tuple[str, int]]:
    """Return the operation and the line of each step of a file; nothing where it is wrong."""
    try:
        scenario = load.load(path, formats.keeping_case())
    except ScenarioProblem:
        return ()
    return [(name_of(step.operation), step.line) for step in scenario.steps]
