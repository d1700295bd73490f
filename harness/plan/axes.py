"""The axes of a scenario under a profile, the combinations of their values, and their variants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

from harness.model.table import MergeMode
from harness.plan.capabilities import Capabilities, Makers
from harness.plan.profile import Profile, Writer, named
from harness.scenario.cells import Excluded, Variant
from harness.scenario.definition import AXES, Partitioned, Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.late_writes import LateDelete, LateUpsert
from harness.scenario.operations.row_writes import Rewrites, Touch
from harness.scenario.partitions import partitioned
from harness.scenario.twin import twin


@dataclass(frozen=True, slots=True)
class Makings:
    """A scenario in the forms that its variants take, each made once."""

    own: Scenario
    _forms: dict[tuple[bool, Partitioned], Scenario] = field(default_factory=dict)

    def scenario(self, combination: Combination) -> Scenario:
        """Return the scenario with the combination's axes in its table and its operations."""
        how = combination.partitioned or Partitioned.NONE
        form = combination.twin, how
        if form not in self._forms:
            made = partitioned(self.own, how)
            self._forms[form] = (twin(made) or made) if combination.twin else made
        form_scenario = self._forms[form]
        steps = tuple(_with_axis(step, combination.rewrites) for step in form_scenario.steps)
        mode = combination.merge_mode or form_scenario.table.merge_mode
        return replace(
            form_scenario, steps=steps, table=replace(form_scenario.table, merge_mode=mode)
        )


def variant(combination: Combination, makings: Makings) -> Variant:
    """Return the variant of a combination."""
    scenario = makings.scenario(combination)
    settings = combination.settings
    shown = [combination.format.NAME, *(f"{name}={v}" for name, v in settings.items())]
    shown += ["twin"] if combination.twin else []
    return Variant(
        id=f"{scenario.name}[{','.join(shown)}]@{combination.sequence}",
        scenario=scenario,
        format=combination.format.NAME,
        settings=settings,
        writers=_writers(combination, scenario),
        twin=combination.twin,
    )


def _writers(combination: Combination, scenario: Scenario) -> tuple[str, ...]:
    """Return the distribution of each step, the creation first: a step may name its own."""
    creation, *others = combination.sequence.distributions(len(scenario.steps))
    writers = (step.by or other for step, other in zip(scenario.steps, others, strict=True))
    return (creation, *writers)


def _with_axis(step: Step, value: Rewrites | None) -> Step:
    if value is None or not follows_axis(step.operation):
        return step
    return replace(step, operation=Touch(value))


REWRITES: Final = "rewrites"
PARTITIONED: Final = "partitioned"
MERGE_MODE: Final = "merge_mode"
_BY_ITSELF: Final[Mapping[str, str]] = {REWRITES: Rewrites.NONE, MERGE_MODE: MergeMode.EVENT_TIME}
"""The value of an axis that neither the scenario nor the profile names; without one it is none."""


@dataclass(frozen=True, slots=True)
class WriterSequence:
    """A profile's writer, and from which step on its second distribution writes."""

    writer: Writer
    at: int = 0
    """0 where one distribution writes all."""

    def distributions(self, steps: int) -> tuple[str, ...]:
        """Return the distribution of each step, the creation first."""
        return tuple(map(self._of, range(steps + 1)))

    def _of(self, step: int) -> str:
        """Return the distribution of a step."""
        begins, goes_on = self.writer.distribution, self.writer.then
        since = step - self.at
        if not self.at or since < 0 or (self.writer.in_turn and since % 2):
            return begins
        return goes_on

    def __str__(self) -> str:
        """Name it as variants do: `spark-a`, `spark-a,step3:spark-b`, with `,in-turn` behind."""
        goes_on = f",step{self.at}:{self.writer.then}" if self.at else ""
        goes_on += ",in-turn" if self.writer.in_turn else ""
        return f"{self.writer.distribution}{goes_on}"


@dataclass(frozen=True, slots=True)
class Combination:
    """A value for each axis that a scenario has."""

    format: Capabilities
    sequence: WriterSequence
    rewrites: Rewrites | None = None
    partitioned: Partitioned | None = None
    merge_mode: MergeMode | None = None
    own: tuple[tuple[str, str], ...] = ()
    """Axes that are settings of the format."""
    twin: bool = False

    @property
    def settings(self) -> Mapping[str, str]:
        """What the variant is to be told; a table without added partitions needs no word of it."""
        values: dict[str, str] = {}
        if self.rewrites is not None:
            values[REWRITES] = self.rewrites.value
        if self.partitioned not in (None, Partitioned.NONE):
            values[PARTITIONED] = str(self.partitioned)
        if self.merge_mode is not None:
            values[MERGE_MODE] = self.merge_mode.value
        return values | dict(self.own) | dict(self._told)

    @property
    def _told(self) -> Mapping[str, str]:
        """The writer's settings that the format knows."""
        settings = self.sequence.writer.settings
        return {name: value for name, value in settings.items() if name in self.format.settings}

    @property
    def values(self) -> Mapping[str, str]:
        """The value of each axis as people read it, those of one value too."""
        writer = str(self.sequence)
        if self._told:
            writer += f"{{{', '.join(f'{name}={value}' for name, value in self._told.items())}}}"
        shown = {"format": self.format.NAME, "writer": writer}
        if self.rewrites is not None:
            shown[REWRITES] = self.rewrites.value
        if self.partitioned is not None:
            shown[PARTITIONED] = self.partitioned.value
        if self.merge_mode is not None:
            shown[MERGE_MODE] = self.merge_mode.value
        return shown | dict(self.own) | {"twin": "yes" if self.twin else "no"}


def combinations(
    scenario: Scenario,
    profile: Profile,
    known: Mapping[str, Capabilities],
    makers: Makers,
    excluded: list[Excluded],
) -> tuple[Combination, ...]:
    """Return the whole product for a scenario: every combination that the profile asks for."""
    requested = {name: _values(scenario, profile, name, excluded) for name in AXES}
    twins = (False, True) if profile.twins and twin(scenario) else (False,)
    complete = []
    for is_twin, name in product(twins, _formats(scenario, profile, excluded)):
        format_ = known[name]
        sequences = tuple(_sequences(scenario, profile, name, makers))
        if not sequences:
            excluded.append(Excluded(scenario.name, f"no writer of the profile writes {name}"))
        shared = (requested[PARTITIONED], requested[REWRITES], requested[MERGE_MODE])
        axes = product(*shared, _own(scenario, profile, format_, excluded), sequences)
        for partitioning, rewrites, merge_mode, axis, sequence in axes:
            complete.append(
                Combination(
                    format=format_,
                    sequence=sequence,
                    rewrites=Rewrites(rewrites) if rewrites else None,
                    partitioned=Partitioned(partitioning) if partitioning else None,
                    merge_mode=MergeMode(merge_mode) if merge_mode else None,
                    own=axis,
                    twin=is_twin,
                )
            )
    return tuple(combination for combination in complete if _fits(combination))


def _formats(scenario: Scenario, profile: Profile, excluded: list[Excluded]) -> tuple[str, ...]:
    formats = [name for name in profile.formats if name in (scenario.formats or profile.formats)]
    if not formats:
        runs, has = ", ".join(scenario.formats), ", ".join(profile.formats)
        excluded.append(Excluded(scenario.name, f"it is for {runs}; the profile has only {has}"))
    return tuple(formats)


def follows_axis(operation: Operation) -> bool:
    """Return whether an operation does as the axis `rewrites` says."""
    return isinstance(operation, Touch) and operation.rewrites is None


def _values(
    scenario: Scenario, profile: Profile, name: str, excluded: list[Excluded]
) -> tuple[str | None, ...]:
    """Return the values of an axis; one None for a scenario that does not have it."""
    if not _has(scenario, name):
        return (None,)
    if name not in scenario.settings and not profile.axes.get(name):
        return (_BY_ITSELF.get(name),)
    return _wanted(scenario, profile, name, excluded)


def _wanted(
    scenario: Scenario, profile: Profile, name: str, excluded: list[Excluded]
) -> tuple[str, ...]:
    """Return the values that the profile asks for, of those that the scenario has."""
    scenario_values, profile_values = scenario.settings.get(name, ()), profile.axes.get(name, ())
    chosen = tuple(
        value
        for value in profile_values or scenario_values
        if value in (scenario_values or profile_values)
    )
    if not chosen:
        asked = ", ".join(profile_values)
        why = f"it has {name} {', '.join(scenario_values)}; the profile asks for {asked}"
        excluded.append(Excluded(scenario.name, why))
    return chosen


def _has(scenario: Scenario, name: str) -> bool:
    if name == PARTITIONED:
        return not scenario.table.partition_by
    if name == MERGE_MODE:
        return scenario.table.merge_mode is None and any(
            isinstance(step.operation, LateUpsert | LateDelete) for step in scenario.steps
        )
    return any(follows_axis(step.operation) for step in scenario.steps)


def _own(
    scenario: Scenario, profile: Profile, format_: Capabilities, excluded: list[Excluded]
) -> Iterator[tuple[tuple[str, str], ...]]:
    named_by_one = dict.fromkeys((*profile.axes, *scenario.settings))
    names = [name for name in named_by_one if name in format_.settings]
    for values in product(*(_wanted(scenario, profile, name, excluded) for name in names)):
        yield tuple(zip(names, values, strict=True))


def _sequences(
    scenario: Scenario, profile: Profile, format_: str, makers: Makers
) -> Iterator[WriterSequence]:
    for writer in profile.writers:
        applies = not writer.scenarios or _matches(scenario.name, writer.scenarios)
        made = [makers[name].formats for name in writer.distributions if name in makers]
        if applies and all(format_ in formats for formats in made):
            yield from (WriterSequence(writer, at) for at in _steps(writer, len(scenario.steps)))


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(named(name, pattern) for pattern in patterns)


def _steps(writer: Writer, steps: int) -> Iterable[int]:
    if not writer.then:
        return (0,)
    return range(1, steps + 1) if writer.at is None else (writer.at,)


def _fits(combination: Combination) -> bool:
    """Return whether the writer is wanted for these values."""
    limits, values = combination.sequence.writer.axes, combination.values
    return all(values[name] in allowed for name, allowed in limits.items() if name in values)
