"""Which scenarios and which profile a command means: the shipped ones, and people's own.

Own profiles stand in `profiles.yaml` beside own scenarios: in the folder of a scenario, or in the
one above it, as scenarios are `<folder>/<family>/<name>.yaml`. They come to the shipped ones; one
of the same name takes the place of the shipped one.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

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
        """Return whether a scenario's file lies where this profile's patterns choose."""
        return scenario.resolve().is_relative_to(self.file.parent.resolve())

    def names(self, scenario: str) -> bool:
        """Return whether one of its patterns is the scenario's."""
        return any(named(scenario, pattern) for pattern in self.profile.scenarios)


def _same_name(
    kind: Literal["scenario", "profile"], name: str, files: tuple[Path, ...]
) -> UsageProblem:
    every = " and ".join(map(str, files))
    if kind == "profile":
        return UsageProblem(f"profile {name} stands in {every}; run them one by one")
    return UsageProblem(
        f"two scenarios are called {name}: {every}; the folder and the file make the "
        "name: rename one, or run them one by one"
    )


def choose(paths: Sequence[Path], profile: str) -> tuple[tuple[Scenario, ...], Profile]:
    """Return the scenarios that are meant and the profile, which then names all of them.

    Without paths they are the shipped ones that the profile names. A file is taken as it is. Of a
    folder that a profile governs those are taken that it names, of any other folder all.

    Raises UsageProblem: no such profile; no such file or folder, no scenario in it, or none that
    the profile names.
    Raises UsageProblem: two scenarios of one name, or two profiles of people's own.
    Raises ScenarioProblem: every problem of the files; scenarios and steps that the profile names
    and there are not.
    """
    for path in paths:
        _check_length(path)
    found_profile = find(profile, paths)
    if not paths:
        shipped = load_scenarios(scenarios_folder(), found_profile.names)
        check_scenarios(found_profile.profile, shipped, found_profile.file.parent)
        return shipped, found_profile.profile
    scenarios = _by_name(scenario for path in paths for scenario in _scenarios(path, found_profile))
    # A file that the profile does not name is taken all the same: the profile chooses nothing then.
    if any(
        found_profile.names(name) and found_profile.governs(Path(scenarios[name].path))
        for name in scenarios
    ):
        check_scenarios(found_profile.profile, tuple(scenarios.values()), found_profile.file.parent)
    return tuple(scenarios.values()), replace(found_profile.profile, scenarios=tuple(scenarios))


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
            raise _same_name("scenario", scenario.name, (Path(other.path), Path(scenario.path)))
    return by_name


def find(name: str, paths: Iterable[Path]) -> FoundProfile:
    """Find a profile among the shipped ones and those beside own scenarios.

    Raises UsageProblem: there is none of that name; two files of people's own have it.
    Raises ScenarioProblem: a file of profiles is wrong.
    """
    paths = tuple(paths)
    files = dict.fromkeys(file.resolve() for path in paths for file in _profile_files(path))
    shipped = profiles_file()
    local = [file for file in files if file != shipped.resolve()]
    every = {file: load_profiles(file) for file in (shipped, *local)}
    having = [file for file in every if name in every[file]]
    if not having:
        raise unknown_name("profile", name, _names(every), _looked_for(paths))
    if len(having) > 1 and shipped in having:
        having.remove(shipped)
    if len(having) > 1:
        raise _same_name("profile", name, tuple(having))
    return FoundProfile(every[having[0]][name], having[0])


def _names(every: Mapping[Path, Mapping[str, Profile]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for profiles in every.values() for name in profiles))


def _profile_files(path: Path) -> tuple[Path, ...]:
    return next(((file,) for file in _places(path) if file.is_file()), ())


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
        patterns, names = (
            profile_file.profile.scenarios,
            ", ".join(scenario.name for scenario in every),
        )
        raise UsageProblem(
            f"{path} has no scenario to take: profile {profile_file.profile.name} of "
            f"{profile_file.file} names {', '.join(patterns)}, and none of these: {names}"
        )
    return chosen
