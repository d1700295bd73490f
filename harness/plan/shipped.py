"""Where the scenarios and profiles of this project are, and all scenarios of a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from harness.scenario.definition import Scenario
from harness.scenario.load import load
from harness.scenario.problems import gathered

PROFILES: Final = "profiles.yaml"
BASELINE: Final = ".known.yaml"


def scenarios_folder() -> Path:
    """Give the folder of the shipped scenarios, as seen from here where that is shorter."""
    folder = (Path(__file__).parents[1] / "scenarios").resolve()
    near = Path(os.path.relpath(folder))
    return near if near.parts[:1] != ("..",) else folder


def profiles_file() -> Path:
    """Give the file of the shipped profiles."""
    return scenarios_folder() / PROFILES


def load_scenarios(folder: Path) -> tuple[Scenario, ...]:
    """Read every scenario below a folder, by name; baselines and profiles are none.

    Raises:
        ScenarioProblem: every problem of every file.

    """
    paths = [path for path in folder.rglob("*.yaml") if _is_scenario(path)]
    return tuple(gathered(load, sorted(paths)))


def _is_scenario(path: Path) -> bool:
    return path.name != PROFILES and not path.name.endswith(BASELINE)
