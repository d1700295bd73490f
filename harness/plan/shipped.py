"""Where the scenarios and profiles of this project are, and all scenarios of a folder."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from harness import formats
from harness.core.errors import Fault, ScenarioProblem
from harness.core.problems import read_all
from harness.scenario.definition import Scenario
from harness.scenario.load import load, name_of

PROFILES: Final = "profiles.yaml"
READERS: Final = "readers.yaml"
DISTRIBUTIONS: Final = "distributions"
"""Files and a folder beside scenarios that hold none."""
BASELINE: Final = ".known.yaml"
ENDING: Final = ".yaml"
HIDDEN: Final = "."
"""What a name begins with that a listing leaves out."""
_ALIKE: Final = (".yaml", ".yml")
"""Endings, in any case, by which somebody may mean a scenario."""


def scenarios_folder() -> Path:
    """Return the folder of the shipped scenarios, as seen from here where that is shorter."""
    return near((Path(__file__).parents[1] / "scenarios").resolve())


def near(path: Path) -> Path:
    """Return a path as seen from here where that is shorter."""
    relative = Path(os.path.relpath(path))
    return relative if relative.parts[:1] != ("..",) else path


def beside(path: Path) -> tuple[Path, Path]:
    """Return where what belongs to a scenario, or a folder of them, stands: there, or one above."""
    folder = path.absolute() if path.is_dir() else path.absolute().parent
    return folder, folder.parent


def profiles_file() -> Path:
    return scenarios_folder() / PROFILES


def load_scenario(name: str) -> Scenario:
    return load(scenarios_folder() / f"{name}{ENDING}", formats.keeping_case())


def load_scenarios(
    folder: Path, matches: Callable[[str], bool] = lambda _: True
) -> tuple[Scenario, ...]:
    """Read the scenarios below a folder that are wanted by their names; all of them by default.

    Raises ScenarioProblem: every problem of every file, and what below the folder cannot be read.
    """
    paths, wrong = scenario_files(folder)

    def loaded(path: Path) -> Scenario:
        if path in wrong:
            raise ScenarioProblem((wrong[path],))
        return load(path, formats.keeping_case())

    named = (path for path in paths if matches(name_of(str(path))))
    return tuple(read_all(loaded, sorted([*named, *wrong])))


def scenario_files(folder: Path) -> tuple[tuple[Path, ...], Mapping[Path, Fault]]:
    """Return the scenario files below a folder, through links too, and what is wrong by its path.

    Wrong is what somebody may take for read and is not: a folder that cannot be read, a link in a
    circle, a file that ends nearly as scenarios do. Hidden files are of other tools.
    """
    paths: list[Path] = []
    wrong: dict[Path, Fault] = {}
    # Each with the real folders around it, by which a circle is noticed.
    left: list[tuple[Path, tuple[str, ...]]] = [(folder, (os.path.realpath(folder),))]
    while left:
        inside, around = left.pop()
        for path, is_folder in _entries(inside, wrong):
            real = os.path.realpath(path) if is_folder else ""
            if real in around:
                message = "this link leads to a folder that it lies in; remove it"
                wrong[path] = Fault(str(path), 1, message)
            elif is_folder:
                if path.name != DISTRIBUTIONS:
                    left.append((path, (*around, real)))
            elif path.name in (PROFILES, READERS) or path.name.endswith(BASELINE):
                continue
            elif path.name.endswith(ENDING):
                paths.append(path)
            elif path.name.lower().endswith(_ALIKE):
                message = f"only files that end in {ENDING} are read; call it {path.stem}{ENDING}"
                wrong[path] = Fault(str(path), 1, message)
    return tuple(paths), wrong


def _entries(folder: Path, wrong: dict[Path, Fault]) -> list[tuple[Path, bool]]:
    """Return what a folder shows, and whether each is a folder, or a link to one."""
    looked_at = folder
    result = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(HIDDEN):
                    continue
                looked_at = folder / entry.name
                result.append((looked_at, entry.is_dir()))
    except OSError as error:
        message = f"this cannot be read: {error.strerror}; let it be read, or move it elsewhere"
        wrong[looked_at] = Fault(str(looked_at), 1, message)
    return result
