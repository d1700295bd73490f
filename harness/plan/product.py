"""The product of a profile's axes, less what cannot be, each exclusion with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product
from typing import Protocol

from harness.cells import Cell, Excluded, Plan, Variant
from harness.errors import UsageProblem
from harness.operations import name_of
from harness.operations.api import Operation
from harness.operations.touch import Rewrites, Touch
from harness.plan.profile import AskedSteps, Profile, Writer
from harness.scenario import generation
from harness.scenario.definition import Scenario, Step
from harness.scenario.problems import one_of
from harness.scenario.twin import twin

REWRITES = "rewrites"


class Capabilities(Protocol):
    """What a plan must know of a format; the objects of `harness.formats` have it."""

    @property
    def NAME(self) -> str:  # noqa: N802 - as formats call it
        """As scenarios and profiles write it."""

    @property
    def merge_on_read(self) -> bool:
        """Whether the catalog entries of its views appear with the first write."""

    @property
    def views(self) -> tuple[str, ...]:
        """The questions that can be asked of a table."""

    @property
    def operations(self) -> frozenset[str]:
        """Names of the operations it can be asked for."""

    @property
    def settings(self) -> Mapping[str, tuple[str, ...]]:
        """The settings a variant may name, each with its values."""

    def cannot(self, operation: Operation) -> str:
        """Say why an operation is impossible in this format; empty when it is not."""


@dataclass(frozen=True, slots=True)
class _Version:
    """A scenario or its twin."""

    scenario: Scenario
    twin: bool


def plan(scenarios: Sequence[Scenario], profile: Profile, formats: Iterable[Capabilities]) -> Plan:
    """Give everything a run of the profile will do; nothing is decided later.

    Raises:
        UsageProblem: the profile or a scenario names something that there is not.

    """
    known = {each.NAME: each for each in formats}
    chosen = _chosen(scenarios, profile)
    _check_formats(chosen, profile, known)
    excluded: list[Excluded] = []
    variants: list[Variant] = []
    cells: list[Cell] = []
    for scenario in chosen:
        found = _variants(scenario, profile, known, excluded)
        variants += found
        for variant in found:
            cells += _cells(variant, profile, known[variant.format], excluded)
    readers = tuple(asked.reader for asked in profile.readers)
    return Plan(
        profile.name, tuple(variants), readers, tuple(cells), tuple(dict.fromkeys(excluded))
    )


def _chosen(scenarios: Sequence[Scenario], profile: Profile) -> tuple[Scenario, ...]:
    names = [each.name for each in scenarios]
    for pattern in profile.scenarios:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UsageProblem(
                f"profile {profile.name}: there is no scenario '{pattern}'; "
                f"{one_of(pattern, names)}"
            )
    return tuple(
        each
        for each in scenarios
        if any(fnmatchcase(each.name, pattern) for pattern in profile.scenarios)
    )


def _check_formats(
    scenarios: Sequence[Scenario], profile: Profile, known: Mapping[str, Capabilities]
) -> None:
    named = [(f"profile {profile.name}", profile.formats)]
    named += [(scenario.path or scenario.name, scenario.formats) for scenario in scenarios]
    for who, formats in named:
        for name in formats:
            if name not in known:
                raise UsageProblem(f"{who}: there is no format '{name}'; {one_of(name, known)}")
    settings = {name for each in known.values() for name in each.settings}
    for writer in profile.writers:
        for name in writer.settings:
            if name not in settings:
                raise UsageProblem(
                    f"profile {profile.name}: writer {writer.distribution}: no format has a "
                    f"setting '{name}'; {one_of(name, sorted(settings))}"
                )


def _variants(
    scenario: Scenario,
    profile: Profile,
    known: Mapping[str, Capabilities],
    excluded: list[Excluded],
) -> list[Variant]:
    formats = [name for name in profile.formats if name in (scenario.formats or profile.formats)]
    if not formats:
        runs, has = ", ".join(scenario.formats), ", ".join(profile.formats)
        excluded.append(Excluded(scenario.name, f"it is for {runs}; the profile has only {has}"))
    values = _rewrites(scenario, profile)
    if not values:
        own, wanted = scenario.settings[REWRITES], profile.axes[REWRITES]
        why = f"it has {REWRITES} {', '.join(own)}; the profile wants {', '.join(wanted)}"
        excluded.append(Excluded(scenario.name, why))
    found: dict[str, Variant] = {}
    axes = product(_versions(scenario, profile), formats, values, profile.writers)
    for version, format_name, value, writer in axes:
        format_ = known[format_name]
        variant = _variant(version, format_, value, writer)
        why = _impossible(variant, format_)
        if why:
            excluded.append(Excluded(variant.id, why))
        else:
            found[variant.id] = variant
    return list(found.values())


def _versions(scenario: Scenario, profile: Profile) -> tuple[_Version, ...]:
    other = twin(scenario) if profile.twins else None
    own = _Version(scenario, twin=False)
    return (own, _Version(other, twin=True)) if other else (own,)


def _rewrites(scenario: Scenario, profile: Profile) -> tuple[Rewrites | None, ...]:
    """Give the values of the axis; one None for a scenario that does not have it."""
    if not any(_follows_axis(step.operation) for step in scenario.steps):
        return (None,)
    own, wanted = scenario.settings.get(REWRITES, ()), profile.axes.get(REWRITES, ())
    names = [each for each in wanted if each in (own or wanted)] if wanted else own
    if not own and not wanted:
        return (Rewrites.NONE,)
    return tuple(map(Rewrites, names))


def _follows_axis(operation: Operation) -> bool:
    return isinstance(operation, Touch) and operation.rewrites is None


def _variant(
    version: _Version, format_: Capabilities, value: Rewrites | None, writer: Writer
) -> Variant:
    scenario = version.scenario
    steps = tuple(_with_axis(step, value) for step in scenario.steps)
    settings = {REWRITES: value.value} if value is not None else {}
    settings |= {name: v for name, v in writer.settings.items() if name in format_.settings}
    shown = [format_.NAME, *(f"{name}={v}" for name, v in settings.items())]
    shown += ["twin"] if version.twin else []
    return Variant(
        id=f"{scenario.name}[{','.join(shown)}]@{writer.distribution}",
        scenario=replace(scenario, steps=steps),
        format=format_.NAME,
        settings=settings,
        writers=(writer.distribution,) * (len(steps) + 1),
        twin=version.twin,
    )


def _with_axis(step: Step, value: Rewrites | None) -> Step:
    if value is None or not _follows_axis(step.operation):
        return step
    return replace(step, operation=Touch(value))


def _impossible(variant: Variant, format_: Capabilities) -> str:
    for name, value in variant.settings.items():
        if name in format_.settings and value not in format_.settings[name]:
            return f"{format_.NAME}: {name}: {one_of(value, format_.settings[name])}"
    for number, step in enumerate(variant.scenario.steps, start=1):
        name = name_of(step.operation)
        absent = f"{format_.NAME} has no {name}" if name not in format_.operations else ""
        why = absent or format_.cannot(step.operation)
        if why:
            return f"step {number}: {why}"
    return ""


def _cells(
    variant: Variant, profile: Profile, format_: Capabilities, excluded: list[Excluded]
) -> Iterator[Cell]:
    scenario = variant.scenario
    wanted = [v for v in profile.views if v in (scenario.views or profile.views)]
    views = [view for view in format_.views if view in wanted]
    if not views:
        why = f"{format_.NAME} has the views {', '.join(format_.views)}; wanted are others"
        excluded.append(Excluded(variant.id, why))
    first = _first_write(scenario) if format_.merge_on_read else 1
    for number, step in enumerate(scenario.steps, start=1):
        why = _not_asked(number, step, first)
        if why:
            what = f"{scenario.name} step {number} ({step.operation.text()})"
            excluded.append(Excluded(what, why))
        else:
            yield from _of_step(variant, number, step, profile, views)


def _not_asked(number: int, step: Step, first_write: int) -> str:
    if step.quiet:
        return "quiet: the scenario asks nothing after it"
    if number < first_write:
        return "a merge-on-read table has no views before its first write"
    return ""


def _first_write(scenario: Scenario) -> int:
    history = generation.survey(scenario).history
    written = (truth.step for truth in history if truth.rows or truth.gone)
    return next(written, len(history))


def _of_step(
    variant: Variant, number: int, step: Step, profile: Profile, views: Sequence[str]
) -> Iterator[Cell]:
    readers = [
        str(asked.reader)
        for asked in profile.readers
        if asked.steps is AskedSteps.ALL or step.operation.CHANGES_SCHEMA
    ]
    for view, query, reader in product(views, profile.queries, readers):
        yield Cell(variant.id, number, reader, view, query)
