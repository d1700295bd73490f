"""Which scenarios and which profile a command means: the shipped ones, and people's own.

Own profiles stand in `profiles.yaml` beside own scenarios: in the folder of a scenario, or in the
one above it, as scenarios are `<folder>/<family>/<name>.yaml`. They come to the shipped ones; one
of the same name takes the place of the shipped one.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness import formats
from harness.core.errors import UsageProblem
from harness.core.problems import unknown_name
from harness.plan.profile import Profile, check_scenarios, load_profiles, named
from harness.plan.shipped import PROFILES, beside, load_scenarios, profiles_file, scenarios_folder
from harness.scenario.definition import Scenario
from harness.scenario.load import load

SHOWN: Final = 60
"""So many characters of a path that is too long are told."""


@dataclass(frozen=True, slots=True)
class FoundProfile:
    """A profile, and the file that it stands in."""

    profile: Profile
    file: Path

    def governs(self, scenario: Path) -> bool:
        return scenario.resolve().is_relative_to(self.file.parent.resolve())

    def names(self, scenario: str) -> bool:
        return any(named(scenario, pattern) for pattern in self.profile.scenarios)


def choose(paths: Sequence[Path], profile: str) -> tuple[tuple[Scenario, ...], Profile]:
    """Return the scenarios that are meant and the profile, which then names all of them.

    Without paths they are the shipped ones that the profile names. A file is taken as it is. Of a
    folder that a profile governs those are taken that it names, of any other folder all.

    Raises UsageProblem: no such profile, file or folder; no scenario in it, or none that the
    profile names; two scenarios or own profiles of one name.
    Raises ScenarioProblem: every problem of the files, and of what the profile names.
    """
    for path in paths:
        _check_length(path)
    from_file = find(profile, paths)
    if not paths:
        shipped = load_scenarios(scenarios_folder(), from_file.names)
        check_scenarios(from_file.profile, shipped, from_file.file.parent)
        return shipped, from_file.profile
    by_name = _by_name(scenario for path in paths for scenario in _scenarios(path, from_file))
    scenarios = tuple(by_name.values())
    # A file that the profile does not name is taken all the same: the profile chooses nothing then.
    if any(from_file.names(s.name) and from_file.governs(Path(s.path)) for s in scenarios):
        check_scenarios(from_file.profile, scenarios, from_file.file.parent)
    return scenarios, replace(from_file.profile, scenarios=tuple(by_name))


def _check_length(path: Path) -> None:
    try:
        path.exists()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        request = "is no scenario file or folder: the path is too long"
        raise UsageProblem(f"{str(path)[:SHOWN]!r}… {request}") from error


def _by_name(scenarios: Iterable[Scenario]) -> dict[str, Scenario]:
    """Return each scenario once; two of one name would be taken for one another all the way."""
    by_name: dict[str, Scenario] = {}
    for scenario in scenarios:
        other = by_name.setdefault(scenario.name, scenario)
        if Path(other.path).resolve() != Path(scenario.path).resolve():
            raise UsageProblem(
                f"two scenarios are called {scenario.name}: {other.path} and {scenario.path}; the "
                "folder and the file make the name: rename one, or run them one by one"
            )
    return by_name


def find(name: str, paths: Iterable[Path]) -> FoundProfile:
    """Find a profile among the shipped ones and those beside own scenarios.

    Raises UsageProblem: there is none of that name; two files of people's own have it.
    Raises ScenarioProblem: a file of profiles is wrong.
    """
    paths = tuple(paths)
    nearest = (next(filter(Path.is_file, _places(path)), None) for path in paths)
    files = dict.fromkeys(file.resolve() for file in nearest if file)
    shipped = profiles_file()
    local = [file for file in files if file != shipped.resolve()]
    every = {file: load_profiles(file) for file in (shipped, *local)}
    having = [file for file in every if name in every[file]]
    if not having:
        names = tuple(dict.fromkeys(name for profiles in every.values() for name in profiles))
        raise unknown_name("profile", name, names, _looked_for(paths))
    if len(having) > 1 and shipped in having:
        having.remove(shipped)
    if len(having) > 1:
        files_text = " and ".join(map(str, having))
        raise UsageProblem(f"profile {name} stands in {files_text}; run them one by one")
    return FoundProfile(every[having[0]][name], having[0])


def _places(path: Path) -> tuple[Path, ...]:
    return tuple(path / PROFILES for path in beside(path))


def _looked_for(paths: Iterable[Path]) -> str:
    """Say where profiles of people's own are looked for."""
    places = dict.fromkeys(str(file) for path in paths for file in _places(path))
    if not places:
        return f"name your scenarios or their folder, and {PROFILES} beside them is read too"
    return f"your own are looked for in {' and '.join(places)}"


def _scenarios(path: Path, profile_file: FoundProfile) -> tuple[Scenario, ...]:
    if not path.exists():
        raise UsageProblem(f"{path} is not there; name a scenario file, or a folder of them")
    if not path.is_dir():
        return (load(path, formats.keeping_case()),)
    every = load_scenarios(path)
    if not every:
        raise UsageProblem(f"{path} has no scenario file (*.yaml)")
    chosen = tuple(
        scenario
        for scenario in every
        if not profile_file.governs(Path(scenario.path)) or profile_file.names(scenario.name)
    )
    if not chosen:
        profile, names = profile_file.profile, ", ".join(scenario.name for scenario in every)
        raise UsageProblem(
            f"{path} has no scenario to take: profile {profile.name} of {profile_file.file} "
            f"names {', '.join(profile.scenarios)}, and none of these: {names}"
        )
    return chosen
