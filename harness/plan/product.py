"""The product of a profile's axes, less what cannot be, each exclusion with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from itertools import combinations as two_of
from typing import Final

from harness import formats
from harness.artifacts import distributions
from harness.core.errors import Fault
from harness.core.problems import one_of
from harness.formats import other_writers
from harness.formats.api import BY_FRAME, CREATED_BY, HANDOVER_VERSION, TABLE_VERSION
from harness.model.datatypes import DataType, plain_types
from harness.model.table import MergeMode, Table
from harness.plan import cell_choice, reader_support
from harness.plan.capabilities import (
    Cannot,
    CannotShow,
    Capabilities,
    Makers,
    anything,
    every_view,
)
from harness.plan.cell_choice import VariantValues
from harness.plan.profile import Cover, Profile, Writer, named
from harness.scenario.cells import Cell, Excluded, Pairs, Plan, Variant
from harness.scenario.definition import AXES, Partitioned, Scenario, Step
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, ChangeType
from harness.scenario.operations.late_writes import LateDelete, LateUpsert
from harness.scenario.operations.row_writes import Rewrites, Touch
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.partitions import partitioned
from harness.scenario.twin import twin


def plan(
    scenarios: Sequence[Scenario],
    profile: Profile,
    formats: Iterable[Capabilities],
    makers: Makers | None = None,
    cannot: Cannot = anything,
    cannot_show: CannotShow = every_view,
) -> Plan:
    """Return everything a run of the profile will do; nothing is decided later.

    Raises:
        ScenarioProblem: the profile or a scenario names something that there is not.

    """
    known = {format_.NAME: format_ for format_ in formats}
    chosen = _chosen(scenarios, profile)
    _check(chosen, profile, known)
    excluded: list[Excluded] = []
    variants: list[Variant] = []
    cells: list[Cell] = []
    covered: list[Pairs] = []
    for scenario in chosen:
        product = combinations(scenario, profile, known, makers or {}, excluded)
        if profile.cover is Cover.PAIRS:
            result, pairs = _by_pairs(scenario, product, makers or {})
            covered.append(pairs)
        else:
            result = _all(scenario, product, makers or {}, excluded)
        variants += (variant for variant, _ in result)
        cells += cell_choice.cells(result, profile, known, cannot, cannot_show, excluded)
    return Plan(
        profile=profile.name,
        variants=tuple(variants),
        readers=tuple(asked_reader.reader for asked_reader in profile.readers),
        cells=tuple(cells),
        excluded=tuple(dict.fromkeys(excluded)),
        pairs=tuple(covered),
        partly=tuple(cell_choice.partly(profile, variants, cells, cannot)),
        ask_again=profile.ask_again,
        metastore=reader_support.metastore_in_reach(profile),
        chosen=profile.chosen,
    )


def _chosen(scenarios: Sequence[Scenario], profile: Profile) -> tuple[Scenario, ...]:
    profile.raise_if_any(profile.wrong_scenarios(profile, profile.given_scenarios(scenarios)))
    return tuple(
        scenario
        for scenario in scenarios
        if any(named(scenario.name, pattern) for pattern in profile.scenarios)
    )


def _check(
    scenarios: Sequence[Scenario], profile: Profile, known: Mapping[str, Capabilities]
) -> None:
    wrong: tuple[Fault, ...] = (
        *profile.wrong_formats(profile, known),
        *profile.wrong_settings(profile, known),
    )
    for scenario in scenarios:
        wrong += (
            *profile.unknown_formats(scenario, known),
            *profile.wrong_axes(scenario, known),
        )
        wrong += tuple(reader_support.wrong_steps(scenario))
    profile.raise_if_any(wrong)


def _all(
    scenario: Scenario,
    product: Sequence[Combination],
    makers: Makers,
    excluded: list[Excluded],
) -> list[VariantValues]:
    makings = Makings(scenario)
    variants: dict[str, VariantValues] = {}
    for combination in product:
        made = variant(combination, makings)
        if why := impossible(combination, made.scenario, makers):
            excluded.append(Excluded(made.id, why))
        else:
            variants[made.id] = made, combination.values
    return list(variants.values())


def _by_pairs(
    scenario: Scenario, product: Sequence[Combination], makers: Makers
) -> tuple[list[VariantValues], Pairs]:
    """Return the variants that cover all pairs which can be, and say what cannot."""
    makings = Makings(scenario)
    can: list[Combination] = []
    reasons: dict[AxisPair, str] = {}
    for combination in product:
        why = impossible(combination, makings.scenario(combination), makers)
        if not why:
            can.append(combination)
        for pair in pairs_of(combination.values) if why else ():
            reasons.setdefault(pair, why)
    values = [combination.values for combination in can]
    chosen = [can[at] for at in cover(values)]
    covered = all_pairs(values)
    lacking = [pair for pair in reasons if pair not in frozenset(covered)]
    result = Pairs(
        scenario=scenario.name,
        axes={name: tuple(axis) for name, axis in _axes(values).items()},
        variants=len(chosen),
        combinations=len(can),
        covered=len(covered),
        cannot=tuple(Excluded(_text(pair), reasons[pair]) for pair in lacking),
    )
    made = ((variant(combination, makings), combination.values) for combination in chosen)
    return list({pair[0].id: pair for pair in made}.values()), result


def _axes(combinations: Iterable[Mapping[str, str]]) -> Mapping[str, dict[str, None]]:
    reasons: dict[str, dict[str, None]] = {}
    for combination in combinations:
        for name, value in combination.items():
            reasons.setdefault(name, {})[value] = None
    return reasons


def _text(pair: AxisPair) -> str:
    return " with ".join(f"{name}={value}" for name, value in pair)


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
    return _chosen_values(scenario, profile, name, excluded)


def _chosen_values(
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
    for values in product(*(_chosen_values(scenario, profile, name, excluded) for name in names)):
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


def impossible(combination: Combination, scenario: Scenario, makers: Makers) -> str:
    """Say why; empty when the combination can be. `scenario` has its axes in it."""
    checks = (_settings(combination), _writer(combination, scenario, makers))
    return next((why for check in (*checks, _story(combination, scenario)) for why in check), "")


def _settings(combination: Combination) -> Iterator[str]:
    format_ = combination.format
    for name, value in combination.settings.items():
        if name in format_.settings and value not in format_.settings[name]:
            yield f"{format_.NAME}: {name}: {one_of(value, format_.settings[name])}"


def _writer(combination: Combination, scenario: Scenario, makers: Makers) -> Iterator[str]:
    asked = combination.settings.get(TABLE_VERSION)
    if HANDOVER_VERSION in combination.settings and not combination.sequence.at:
        yield f"{HANDOVER_VERSION}: no second writer goes on with the table"
    for name in combination.sequence.writer.distributions:
        versions = makers[name].table_versions if name in makers else ()
        if asked and versions and asked not in versions:
            yield f"{name} writes {TABLE_VERSION} {', '.join(versions)} and not {asked}"
        cannot = makers[name].cannot if name in makers else {}
        for setting in map("=".join, combination.settings.items()):
            if setting in cannot:
                yield f"{name}, {setting}: {cannot[setting]}"
        for number, step in enumerate(scenario.steps, start=1):
            if not step.by and (why := cannot.get(name_of(step.operation))):
                yield f"step {number}, {name}: {why}"


def _story(combination: Combination, scenario: Scenario) -> Iterator[str]:
    format_, sequence = combination.format, combination.sequence
    if sequence.at > len(scenario.steps):
        yield f"there is no step {sequence.at} for {sequence.writer.then} to go on from"
    if combination.rewrites is Rewrites.PARTITION and not scenario.table.partition_by:
        yield "rewrites=partition: the table has no partitions"
    by_sql = combination.settings.get(CREATED_BY) != BY_FRAME
    if format_.partitions_last and by_sql:
        yield from _partition_order(scenario.table, format_.NAME)
    yield from _types(combination, scenario)
    if why := format_.unsupported_settings(combination.settings, scenario):
        yield why
    for number, step in enumerate(scenario.steps, start=1):
        if why := format_.unsupported(step.operation) or _another(step, format_.NAME):
            yield f"step {number}: {why}"


def _another(step: Step, format_name: str) -> str:
    """Return why the writer that a step names cannot write it; empty where it can."""
    if not step.by:
        return ""
    result, facts = distributions.load(step.by), formats.facts(format_name)
    return other_writers.unsupported(result, facts, step.operation)


def _partition_order(table: Table, format_name: str) -> Iterator[str]:
    """No file would show what the order of the columns promises: Spark changes it on `create`."""
    by = table.partition_by
    if by and by != tuple(name for name, _ in table.columns)[-len(by) :]:
        names = ", ".join(by)
        yield f"{format_name}: Spark SQL puts partition columns last; {names} must stand there"


def _types(combination: Combination, scenario: Scenario) -> Iterator[str]:
    unsupported, name = combination.format.unsupported_types, combination.format.NAME
    for column, type_ in _columns(scenario) if unsupported else ():
        for plain in plain_types(type_):
            if str(plain).partition("(")[0] in unsupported:
                yield f"column {column}: {name} has no {plain}"


def _columns(scenario: Scenario) -> Iterator[tuple[str, DataType]]:
    yield from scenario.table.columns
    for step in scenario.steps:
        match step.operation:
            case AddColumn(name, type_) | ChangeType(name, type_):
                yield name, type_
            case WriteFrame(types=dict(types)):
                yield from types.items()


AxisValue = tuple[str, str]
"""An axis and one of its values."""
AxisPair = tuple[AxisValue, ...]
"""Two values of different axes; one alone where there is but one axis."""


def pairs_of(combination: Mapping[str, str]) -> Iterator[AxisPair]:
    """Yield every pair of a combination's values, in the order of its axes.

    >>> [" ".join(map("=".join, pair)) for pair in pairs_of({"a": "1", "b": "2"})]
    ['a=1 b=2']
    """
    values = tuple(combination.items())
    yield from two_of(values, min(2, len(values)))


def values_of(combination: Mapping[str, str]) -> Iterator[AxisPair]:
    """Yield every value of a combination alone."""
    yield from ((value,) for value in combination.items())


def all_pairs(combinations: Iterable[Mapping[str, str]]) -> tuple[AxisPair, ...]:
    """Return pairs that occur in any combination, each once, in the order of their occurring."""
    return tuple(
        dict.fromkeys(pair for combination in combinations for pair in pairs_of(combination))
    )


def cover(
    combinations: Sequence[Mapping[str, str]],
    parts: Callable[[Mapping[str, str]], Iterable[AxisPair]] = pairs_of,
) -> tuple[int, ...]:
    """Choose combinations that together have every pair that any has; their numbers, in order.

    With `parts=values_of` only every value, whatever it goes with.
    """
    has_parts = [tuple(parts(combination)) for combination in combinations]
    bits = {part: 1 << at for at, part in enumerate(dict.fromkeys(chain(*has_parts)))}
    has = [sum(bits[part] for part in parts_) for parts_ in has_parts]
    missing = (1 << len(bits)) - 1
    chosen: list[int] = []
    times = Counter[AxisPair]()
    while missing:
        gains = [(ha & missing).bit_count() for ha in has]
        most = max(gains)
        best = [at for at, gain in enumerate(gains) if gain == most]
        new = min(best, key=lambda at: sum(times[pair] for pair in has_parts[at]))
        chosen.append(new)
        times.update(has_parts[new])
        missing &= ~has[new]
    return tuple(sorted(chosen))
