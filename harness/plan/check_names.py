"""Check the names in a profile: each must exist, or an error gives its line and nothing is planned.

If it were skipped in silence, a misspelt name would mean fewer questions, and still a green run.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import formats
from harness.core.errors import Fault, ScenarioProblem
from harness.core.problems import one_of
from harness.core.yaml_reader import KeyPath
from harness.plan.capabilities import Capabilities
from harness.plan.profile import Profile, named
from harness.plan.shipped import scenario_files
from harness.scenario.definition import AXES, Scenario
from harness.scenario.load import load, name_of


@dataclass(frozen=True, slots=True)
class NamedScenario:
    """A scenario that a profile may name."""

    names: tuple[str, ...]
    """What it can be called: its name depends on where its path is seen from."""
    source: Scenario | Path
    """A file is read only where its steps are asked for."""

    def called(self, patterns: Iterable[str]) -> bool:
        """Return whether one of the patterns is about it."""
        return any(named(name, pattern) for pattern in patterns for name in self.names)

    def steps(self) -> int:
        """Return its number of steps; unlimited for a file that is wrong."""
        if isinstance(self.source, Scenario):
            return len(self.source.steps)
        try:
            return len(load(self.source, formats.keeping_case()).steps)
        except ScenarioProblem:
            return sys.maxsize


def given_scenarios(scenarios: Iterable[Scenario]) -> list[NamedScenario]:
    """Return scenarios as candidates, each under its name."""
    return [NamedScenario((scenario.name,), scenario) for scenario in scenarios]


def check_scenarios(profile: Profile, scenarios: Sequence[Scenario], folder: Path) -> None:
    """Check that every scenario that a profile names exists, and each step at which writers change.

    `scenarios` may be some of those in the profile's folder, where the others are looked for.

    Raises:
        ScenarioProblem: some do not; all of them.

    """
    named_scenarios = given_scenarios(scenarios)
    if any(_wrong(profile, named_scenarios)):
        for path in scenario_files(folder.resolve())[0]:
            named_scenarios.append(NamedScenario((name_of(str(path)), path.stem), path))
    raise_if_any(_wrong(profile, named_scenarios))


def raise_if_any(wrong: Iterable[Fault]) -> None:
    """Raise one error for everything that is wrong.

    Raises:
        ScenarioProblem: something is.

    """
    if faults := tuple(dict.fromkeys(wrong)):
        raise ScenarioProblem(faults)


def _wrong(profile: Profile, scenarios: Sequence[NamedScenario]) -> Iterator[Fault]:
    yield from wrong_scenarios(profile, scenarios)
    chosen = [
        named_scenario for named_scenario in scenarios if named_scenario.called(profile.scenarios)
    ]
    for number, writer in enumerate(profile.writers):
        at: KeyPath = ("writers", number)
        yield from _unnamed(profile, (*at, "scenarios"), writer.scenarios, chosen)
        named_scenarios = [
            named_scenario
            for named_scenario in chosen
            if named_scenario.called(writer.scenarios or profile.scenarios)
        ]
        if (
            writer.at
            and named_scenarios
            and not any(named_scenario.steps() >= writer.at for named_scenario in named_scenarios)
        ):
            most = max(named_scenario.steps() for named_scenario in named_scenarios)
            message = f"writer: at: no scenario that it writes has a step {writer.at}"
            yield profile.fault((*at, "at"), f"{message}; allowed: 1 to {most}")


def wrong_scenarios(profile: Profile, scenarios: Sequence[NamedScenario]) -> Iterator[Fault]:
    """Yield an error for each scenario that a profile names and that does not exist."""
    yield from _unnamed(profile, ("scenarios",), profile.scenarios, scenarios)


def _unnamed(
    profile: Profile, at: KeyPath, patterns: Sequence[str], scenarios: Sequence[NamedScenario]
) -> Iterator[Fault]:
    names = dict.fromkeys(named_scenario.names[0] for named_scenario in scenarios)
    who = "writer: the profile has" if len(at) > 1 else "there is"
    for number, pattern in enumerate(patterns):
        if not any(named_scenario.called((pattern,)) for named_scenario in scenarios):
            message = f"{who} no scenario '{pattern}'; {one_of(pattern, names)}"
            yield profile.fault((*at, number), message)


def wrong_formats(profile: Profile, known: Collection[str]) -> Iterator[Fault]:
    """Yield an error for each unknown format that a profile or one of its readers names."""
    every: list[tuple[KeyPath, str, Sequence[str]]] = [(("formats",), "", profile.formats)]
    for number, asked_reader in enumerate(profile.readers):
        every.append(
            (("readers", number, "formats"), f"{asked_reader.reader}: ", asked_reader.formats)
        )
    for at, who, names in every:
        for number, name in enumerate(names):
            if name not in known:
                message = f"{who}there is no format '{name}'; {one_of(name, known)}"
                yield profile.fault((*at, number), message)


def wrong_settings(profile: Profile, known: Mapping[str, Capabilities]) -> Iterator[Fault]:
    """Yield an error for each writer setting, or its value, that no format of the profile has."""
    values = _settings(profile.formats, known)
    # A file's writers may have settings of its own formats, in whose place others were named.
    others = "formats" in profile.given and "writers" not in profile.given
    for number, writer in enumerate(profile.writers):
        for setting, value in writer.settings.items():
            at = ("writers", number, "settings", setting)
            who = f"writer {writer.distribution}"
            if setting not in values and not others:
                message = f"no format of the profile has a setting '{setting}'"
                yield profile.fault(at, f"{who}: {message}; {one_of(setting, sorted(values))}")
            elif value not in values.get(setting, (value,)):
                message = f"{setting}: there is no '{value}'; {one_of(value, values[setting])}"
                yield profile.fault(at, f"{who}: {message}")


def unknown_formats(scenario: Scenario, known: Collection[str]) -> Iterator[Fault]:
    """Yield an error for each unknown format that a scenario names."""
    for at, name in enumerate(scenario.formats):
        if name not in known:
            (line,) = scenario.format_lines[at : at + 1] or (0,)
            message = f"there is no format '{name}'; {one_of(name, known)}"
            yield Fault(scenario.path or scenario.name, line, message)


def wrong_axes(scenario: Scenario, known: Mapping[str, Capabilities]) -> Iterator[Fault]:
    """Yield an error for each setting of a scenario, or its value, that none of its formats has."""
    values = {**AXES, **_settings(scenario.formats or known, known)}
    for name, given_values in scenario.settings.items():
        at = scenario.path or scenario.name, scenario.setting_lines.get(name, 0)
        if name not in values:
            yield Fault(*at, f"there is no setting '{name}'; {one_of(name, sorted(values))}")
            continue
        for value in given_values:
            if value not in values[name]:
                yield Fault(
                    *at, f"settings.{name}: there is no '{value}'; {one_of(value, values[name])}"
                )


def _settings(
    names: Iterable[str], known: Mapping[str, Capabilities]
) -> Mapping[str, Collection[str]]:
    """Return the settings that some formats have, each with the values of all of them."""
    values: dict[str, dict[str, None]] = {}
    for name in (known_name for known_name in names if known_name in known):
        for setting, allowed in known[name].settings.items():
            values.setdefault(setting, {}).update(dict.fromkeys(allowed))
    return values
