"""The product of a profile's axes, less what cannot be, each exclusion with its reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise, product
from itertools import combinations as two_of
from typing import Final

from harness import formats
from harness.artifacts import distributions
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.problems import one_of
from harness.core.setting_values import HANDOVER_VERSION, TABLE_VERSION
from harness.formats import other_writers
from harness.formats.api import BY_FRAME, CREATED_BY, Format
from harness.model import past_views as views
from harness.model import query_shapes
from harness.model.commit import BRANCH
from harness.model.datatypes import DataType, plain_types
from harness.model.query import Condition
from harness.model.query_shapes import Shape
from harness.model.schema import MergeMode, Table
from harness.model.truth import History, Truth
from harness.plan import distribution_support
from harness.plan.profile import (
    AskedSteps,
    Cover,
    Makers,
    Profile,
    ProfileReader,
    Writer,
    given_scenarios,
    named,
    raise_if_any,
    unknown_formats,
    wrong_axes,
    wrong_formats,
    wrong_scenarios,
    wrong_settings,
)
from harness.scenario.cells import Cell, Excluded, Pairs, Partly, Plan, Reader, Variant
from harness.scenario.definition import (
    AXES,
    IN_BRANCH,
    PAST_VIEWS,
    STAGED_BY,
    Partitioned,
    Scenario,
    Step,
)
from harness.scenario.derived import partitioned, twin
from harness.scenario.operations import name_of
from harness.scenario.operations.api import StepTrace
from harness.scenario.operations.columns import ChangeType
from harness.scenario.operations.row_writes import REWRITES, LateDelete, LateUpsert, Rewrites
from harness.scenario.operations.services import MAINTENANCE

PARTITIONED: Final = "partitioned"
MERGE_MODE: Final = "merge_mode"
_BY_ITSELF: Final[Mapping[str, str]] = {
    MAINTENANCE: "compact",
    REWRITES: Rewrites.NONE.value,
    MERGE_MODE: MergeMode.EVENT_TIME.value,
}
"""The value of an axis that neither the scenario nor the profile names; without one it is none."""


_NOT_FOLLOWED: Final = {
    MAINTENANCE: "no step leaves open which maintenance it is",
    REWRITES: "no step leaves open how many rows it changes",
    PARTITIONED: "the table is partitioned already",
    MERGE_MODE: "the table has a mode of its own, or no step is late",
}
"""Why an axis is taken by no variant of a scenario."""
Cannot = Callable[[Reader, str], str]
"""Why a reader cannot be asked of a format; empty when it can."""
CannotShow = Callable[[Reader, str, str], str]
"""Why a reader cannot be asked of a format for a view of the past; empty when it can."""
CannotAsk = Callable[[Reader, str, Condition | Shape], str]
"""Why a reader cannot be asked of a format for a condition, or so; empty when it can."""


def named_by(profile: Profile, scenarios: Iterable[Scenario]) -> list[Scenario]:
    patterns = profile.scenarios
    return [one for one in scenarios if any(named(one.name, pattern) for pattern in patterns)]


def plan(
    scenarios: Sequence[Scenario],
    profile: Profile,
    formats: Iterable[Format],
    makers: Makers | None = None,
    cannot: Cannot = lambda _, __: "",
    cannot_show: CannotShow = lambda _, __, ___: "",
    cannot_ask: CannotAsk = lambda _, __, ___: "",
) -> Plan:
    """Return everything a run of the profile will do; nothing is decided later.

    Raises ScenarioProblem: the profile or a scenario names something that there is not.
    """
    known = {format_.NAME: format_ for format_ in formats}
    raise_if_any(wrong_scenarios(profile, given_scenarios(scenarios)))
    chosen = named_by(profile, scenarios)
    _check(chosen, profile, known)
    planner = _Planner(profile, known, makers or {}, cannot, cannot_show, cannot_ask)
    excluded = planner.excluded
    excluded += (Excluded(what, "it would take too long") for what in profile.left_out)
    variants: list[Variant] = []
    cells: list[Cell] = []
    covered: list[Pairs] = []
    every: list[VariantValues] = []
    for scenario in chosen:
        if profile.cover is Cover.PAIRS:
            result, pairs = planner.by_pairs(scenario)
            covered.append(pairs)
        else:
            result = planner.all(scenario)
        if profile.cover is Cover.VALUES:
            result = [result[at] for at in cover([values for _, values in result], values_of)]
        excluded += _not_taken(scenario.name, scenario.settings, result)
        variants += (variant for variant, _ in result)
        cells += planner.cells(result)
        every += result
    if not profile.chosen:  # else its axes were not named by anybody
        excluded += _not_taken(f"profile {profile.name}", profile.axes, every)
        for writer in profile.writers:
            written = [pair for pair in every if pair[0].writers[0] == writer.distribution]
            excluded += _not_taken(f"writer {writer.distribution}", writer.axes, written)
    return Plan(
        profile=profile.name,
        variants=tuple(variants),
        readers=tuple(asked_reader.reader for asked_reader in profile.readers),
        cells=tuple(cells),
        excluded=tuple(dict.fromkeys(excluded)),
        pairs=tuple(covered),
        partly=tuple(partly(profile, variants, cells, cannot)),
        ask_again=profile.ask_again,
        metastore=distribution_support.metastore_in_reach(profile),
        chosen=profile.chosen,
        left_out=profile.left_out,
    )


def _not_taken(
    what: str, names: Iterable[str], variants: Sequence[VariantValues]
) -> Iterator[Excluded]:
    """Yield what a scenario or a profile names, and none of its variants takes."""
    for name in names if variants else ():
        if not any(name in values for _, values in variants):
            why = _NOT_FOLLOWED.get(name, "no format of these variants has such a setting")
            yield Excluded(what, f"{name} is not taken: {why}")


def select(plan: Plan, pattern: str) -> Plan:
    """Return the plan of the cases whose name contains the pattern; `*` stands for any text.

    Variants and readers that no such case needs are left out. Case does not matter.

    Raises UsageProblem: no case is left.
    """
    result = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.IGNORECASE)
    cells = tuple(cell for cell in plan.cells if result.search(cell.case))
    if not cells:
        example = plan.cells[0].case if plan.cells else "none at all"
        raise UsageProblem(f"no case contains '{pattern}'; a case of this plan is {example}")
    return _with(plan, cells)


def only(plan: Plan, cases: Collection[str]) -> Plan:
    """Return the plan of exactly these cases, as `select` does.

    Raises UsageProblem: a case is not in the plan, or none is named.
    """
    requested = frozenset(cases)
    if not requested:
        raise UsageProblem("no case is named; harness plan --checks lists the cases there are")
    if lacking := sorted(requested - {cell.case for cell in plan.cells}):
        more = f" ({len(lacking) - 1} more are not)" if lacking[1:] else ""
        message = f"the plan has no case {lacking[0]}{more}; harness plan --checks lists its cases"
        raise UsageProblem(message)
    return _with(plan, tuple(cell for cell in plan.cells if cell.case in requested))


def _with(plan: Plan, cells: tuple[Cell, ...]) -> Plan:
    variants, readers = {cell.variant for cell in cells}, {cell.reader for cell in cells}
    if cells != plan.cells:
        # What a part covers of the pairs is not what the whole does, so nothing is said of it.
        plan = replace(plan, pairs=(), partly=())
    return replace(
        plan,
        cells=cells,
        variants=tuple(variant for variant in plan.variants if variant.id in variants),
        readers=tuple(reader for reader in plan.readers if str(reader) in readers),
    )


def _check(scenarios: Sequence[Scenario], profile: Profile, known: Mapping[str, Format]) -> None:
    wrong = [*wrong_formats(profile, known), *wrong_settings(profile, known)]
    for scenario in scenarios:
        wrong += unknown_formats(scenario, known)
        wrong += wrong_axes(scenario, known)
        wrong += distribution_support.wrong_steps(scenario)
    raise_if_any(wrong)


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans the scenarios of a profile, one after another."""

    profile: Profile
    formats: Mapping[str, Format]
    makers: Makers
    cannot: Cannot
    cannot_show: CannotShow
    cannot_ask: CannotAsk
    excluded: list[Excluded] = field(default_factory=list)
    """What cannot be, or nobody is asked, as far as it was met."""

    def exclude(self, what: str, why: str) -> None:
        self.excluded.append(Excluded(what, why))

    def all(self, scenario: Scenario) -> list[VariantValues]:
        makings = Makings(scenario)
        variants: dict[str, VariantValues] = {}
        for combination in self._combinations(scenario):
            made = variant(combination, makings)
            if why := impossible(combination, made.scenario, self.makers):
                self.exclude(made.id, why)
            else:
                variants[made.id] = made, combination.values
        return list(variants.values())

    def by_pairs(self, scenario: Scenario) -> tuple[list[VariantValues], Pairs]:
        """Return the variants that cover all pairs which can be, and say what cannot."""
        makings = Makings(scenario)
        can: list[Combination] = []
        reasons: dict[AxisPair, str] = {}
        for combination in self._combinations(scenario):
            why = impossible(combination, makings.scenario(combination), self.makers)
            if not why:
                can.append(combination)
            for pair in pairs_of(combination.values) if why else ():
                reasons.setdefault(pair, why)
        values = [combination.values for combination in can]
        chosen = [can[at] for at in cover(values)]
        covered = {pair for combination in values for pair in pairs_of(combination)}
        lacking = [pair for pair in reasons if pair not in covered]
        axes = grouped([axis for combination in values for axis in combination.items()])
        result = Pairs(
            scenario=scenario.name,
            axes={name: tuple(dict.fromkeys(axis)) for name, axis in axes.items()},
            variants=len(chosen),
            combinations=len(can),
            covered=len(covered),
            cannot=tuple(Excluded(" with ".join(map("=".join, p)), reasons[p]) for p in lacking),
        )
        made = ((variant(combination, makings), combination.values) for combination in chosen)
        return list({pair[0].id: pair for pair in made}.values()), result

    def _combinations(self, scenario: Scenario) -> tuple[Combination, ...]:
        values = {name: self._values(scenario, name) for name in AXES}
        twins = (False, True) if self.profile.twins and twin(scenario) else (False,)
        complete = []
        for is_twin, name in product(twins, self._formats(scenario)):
            sequences = tuple(self._sequences(scenario, name))
            if not sequences:
                self.exclude(scenario.name, f"no writer of the profile writes {name}")
            shared = product(*(values[axis] for axis in _ORDER))
            others = tuple(self._format_settings(scenario, self.formats[name])), sequences
            for of_axes, settings, sequence in product(shared, *others):
                of = dict(zip(_ORDER, of_axes, strict=True))
                axes = {axis: value for axis in AXES if (value := of[axis])}
                complete.append(Combination(self.formats[name], sequence, axes, settings, is_twin))
        fitting = tuple(combination for combination in complete if _fits(combination))
        writing = {str(combination.sequence) for combination in fitting}
        for writer in (c.sequence.writer for c in complete if str(c.sequence) not in writing):
            limits = "; ".join(f"{name} {', '.join(limit)}" for name, limit in writer.axes.items())
            self.exclude(f"{scenario.name} by {writer.distribution}", f"it is for {limits}")
        return fitting

    def _formats(self, scenario: Scenario) -> tuple[str, ...]:
        has = self.profile.formats
        formats = [name for name in has if name in (scenario.formats or has)]
        if not formats:
            why = f"it is for {', '.join(scenario.formats)}; the profile has only {', '.join(has)}"
            self.exclude(scenario.name, why)
        return tuple(formats)

    def _values(self, scenario: Scenario, name: str) -> tuple[str | None, ...]:
        """Return the values of an axis; one None for a scenario that does not have it."""
        if not _has(scenario, name):
            return (None,)
        if name not in scenario.settings and not self.profile.axes.get(name):
            return (_BY_ITSELF.get(name),)
        return self._chosen_values(scenario, name)

    def _chosen_values(self, scenario: Scenario, name: str) -> tuple[str, ...]:
        of_scenario = scenario.settings.get(name, ())
        asked = self.profile.axes.get(name, ())
        chosen = tuple(v for v in asked or of_scenario if v in (of_scenario or asked))
        if not chosen:
            why = f"it has {name} {', '.join(of_scenario)}; the profile asks for {', '.join(asked)}"
            self.exclude(scenario.name, why)
        return chosen

    def _format_settings(
        self, scenario: Scenario, format_: Format
    ) -> Iterator[tuple[tuple[str, str], ...]]:
        named_by_one = dict.fromkeys((*self.profile.axes, *scenario.settings))
        names = [name for name in named_by_one if name in format_.settings]
        for values in product(*(self._chosen_values(scenario, name) for name in names)):
            yield tuple(zip(names, values, strict=True))

    def _sequences(self, scenario: Scenario, format_: str) -> Iterator[WriterSequence]:
        for writer in self.profile.writers:
            patterns, makers = writer.scenarios, self.makers
            applies = not patterns or any(named(scenario.name, pattern) for pattern in patterns)
            made = [makers[name].formats for name in writer.distributions if name in makers]
            if applies and all(format_ in formats for formats in made):
                steps = len(scenario.steps)
                yield from (WriterSequence(writer, at) for at in _steps(writer, steps))

    def cells(self, variants: Sequence[VariantValues]) -> Iterator[Cell]:
        """Yield the cells of a scenario's variants; what nobody is asked is excluded."""
        had, questions = Counter[tuple[str, str]](), _Questions()
        of_variants = self._readers(variants)
        for number, (variant, _) in enumerate(variants):
            format_ = self.formats[variant.format]
            views, readers = self._views(variant, format_), of_variants[number]
            unable = set()
            for view, asked in product([view for view in views if view in PAST_VIEWS], readers):
                if why := self.cannot_show(asked.reader, variant.format, view):
                    self.exclude(f"{view} by {asked.reader} on {variant.format}", why)
                    unable.add((view, str(asked.reader)))
            point = _Point(self, variant, number, views, readers, frozenset(unable), had, questions)
            merges = format_.merge_on_read
            history = variant.scenario.truths(merge_on_read=merges).history()
            written = (truth.step for truth in history if truth.rows or truth.gone)
            first = next(written, len(history)) if merges else 1
            for step, step_itself in enumerate(variant.scenario.steps, start=1):
                if why := _not_asked(step, step_itself, first):
                    what = f"{variant.scenario.name} step {step} ({step_itself.operation.text()})"
                    self.exclude(what, why)
                else:
                    yield from point.cells(history[: step + 1], step, step_itself)

    def _views(self, variant: Variant, format_: Format) -> tuple[str, ...]:
        views = self.profile.views
        requested = [v for v in views if v in (variant.scenario.views or views)]
        if variant.settings.get(STAGED_BY) != IN_BRANCH:
            requested = [view for view in requested if view != BRANCH]
        past = format_.past_views if set(requested) & set(PAST_VIEWS) else ()
        shown = tuple(view for view in (*format_.views, *past) if view in requested)
        for view in requested:
            if view in PAST_VIEWS and view not in past:
                why = "there is no such view of the past in this format"
                self.exclude(f"{view} of {format_.NAME}", why)
        if not shown:
            has = f"{format_.NAME} has {', '.join(format_.views)}"
            self.exclude(variant.id, f"it has none of the requested views; {has}")
        return shown

    def _readers(self, variants: Sequence[VariantValues]) -> Sequence[tuple[ProfileReader, ...]]:
        result: list[tuple[ProfileReader, ...]] = [()] * len(variants)
        for asked in self.profile.readers:
            able = []
            for number, (variant, _) in enumerate(variants):
                if variant.format not in (asked.formats or (variant.format,)):
                    continue
                if why := self.cannot(asked.reader, variant.format):
                    self.exclude(f"{asked.reader} on {variant.format}", why)
                else:
                    able.append(number)
            if asked.variants is not Cover.ALL:
                able = [able[at] for at in cover([variants[at][1] for at in able], values_of)]
            for number in able:
                result[number] += (asked,)
        return result


_ORDER: Final = (PARTITIONED, REWRITES, MERGE_MODE, MAINTENANCE)
"""In which a scenario's variants take the values of the axes, the slowest one first."""


@dataclass(frozen=True, slots=True)
class Combination:
    format: Format
    sequence: WriterSequence
    axes: Mapping[str, str]
    """The value of each of `AXES` that the scenario has."""
    format_settings: tuple[tuple[str, str], ...] = ()
    """Axes that are settings of the format."""
    twin: bool = False

    @property
    def settings(self) -> Mapping[str, str]:
        """Those of the variant; a table without added partitions has none of it."""
        axes = {n: v for n, v in self.axes.items() if (n, v) != (PARTITIONED, Partitioned.NONE)}
        return axes | dict(self.format_settings) | self._of_writer

    @property
    def _of_writer(self) -> dict[str, str]:
        """The writer's settings that the format knows."""
        settings = self.sequence.writer.settings
        return {name: value for name, value in settings.items() if name in self.format.settings}

    @property
    def values(self) -> Mapping[str, str]:
        """The value of each axis as people read it, those of one value too."""
        writer = str(self.sequence)
        if self._of_writer:
            writer += f"{{{', '.join(map('='.join, self._of_writer.items()))}}}"
        shown = {"format": self.format.NAME, "writer": writer, **self.axes}
        return shown | dict(self.format_settings) | {"twin": "yes" if self.twin else "no"}


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
class Makings:
    """A scenario in the forms that its variants take, each made once."""

    original: Scenario
    _forms: dict[tuple[bool, Partitioned], Scenario] = field(default_factory=dict)
    _made: dict[tuple[object, ...], Scenario] = field(default_factory=dict)

    def scenario(self, combination: Combination) -> Scenario:
        """Return the scenario with the combination's axes in its table and its operations."""
        axes = combination.axes
        how = Partitioned(axes.get(PARTITIONED, Partitioned.NONE))
        form = combination.twin, how
        if form not in self._forms:
            made = partitioned(self.original, how)
            self._forms[form] = (twin(made) or made) if combination.twin else made
        form_scenario = self._forms[form]
        mode = form_scenario.table.merge_mode
        if MERGE_MODE in axes:
            mode = MergeMode(axes[MERGE_MODE])
        key = *form, axes.get(REWRITES), mode, axes.get(MAINTENANCE)
        if key not in self._made:
            steps = tuple(
                replace(step, operation=step.operation.following(axes[step.operation.axis()]))
                if step.operation.axis() in axes
                else step
                for step in form_scenario.steps
            )
            table = replace(form_scenario.table, merge_mode=mode)
            self._made[key] = replace(form_scenario, steps=steps, table=table)
        return self._made[key]


def variant(combination: Combination, makings: Makings) -> Variant:
    scenario = makings.scenario(combination)
    settings = combination.settings
    shown = [combination.format.NAME, *(f"{name}={v}" for name, v in settings.items())]
    shown += ["twin"] if combination.twin else []
    creation, *others = combination.sequence.distributions(len(scenario.steps))
    writers = (step.by or other for step, other in zip(scenario.steps, others, strict=True))
    return Variant(
        id=f"{scenario.name}[{','.join(shown)}]@{combination.sequence}",
        scenario=scenario,
        format=combination.format.NAME,
        settings=settings,
        writers=(creation, *writers),
        twin=combination.twin,
    )


def _has(scenario: Scenario, name: str) -> bool:
    if name == PARTITIONED:
        return not scenario.table.partition_by
    if name == MERGE_MODE:
        late = any(isinstance(step.operation, LateUpsert | LateDelete) for step in scenario.steps)
        return scenario.table.merge_mode is None and (late or name in scenario.settings)
    return any(operation.axis() == name for operation in scenario.operations)


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
            asked_maker = makers[name].unsupported if name in makers and not step.by else None
            if asked_maker and (why := asked_maker(combination.format.NAME, step.operation)):
                yield f"step {number}: {why}"


def _story(combination: Combination, scenario: Scenario) -> Iterator[str]:
    format_, sequence = combination.format, combination.sequence
    if sequence.at > len(scenario.steps):
        yield f"there is no step {sequence.at} for {sequence.writer.then} to go on from"
    if combination.axes.get(REWRITES) == Rewrites.PARTITION and not scenario.table.partition_by:
        yield "rewrites=partition: the table has no partitions"
    by_sql = combination.settings.get(CREATED_BY) != BY_FRAME
    if format_.partitions_last and by_sql:
        yield from _partition_order(scenario.table, format_.NAME)
    yield from _types(combination, scenario)
    if why := format_.unsupported_settings(combination.settings, scenario):
        yield why
    for number, step in enumerate(scenario.steps, start=1):
        why = format_.unsupported(step.operation)
        if step.by and not why:
            writer, facts = distributions.load(step.by), formats.facts(format_.NAME)
            why = other_writers.unsupported(writer, facts, step.operation)
        if why:
            yield f"step {number}: {why}"


def _partition_order(table: Table, format_name: str) -> Iterator[str]:
    """No file would show what the order of the columns promises: Spark changes it on `create`."""
    by = table.partition_by
    if by and by != tuple(name for name, _ in table.columns)[-len(by) :]:
        names = ", ".join(by)
        yield f"{format_name}: Spark SQL puts partition columns last; {names} must stand there"


def _types(combination: Combination, scenario: Scenario) -> Iterator[str]:
    unsupported, name = combination.format.unsupported_types, combination.format.NAME
    maker = combination.sequence.writer.distributions[0]
    if scenario.table.options and not combination.format.column_options:
        yield f"{name} has no columns that are generated or numbered, or have a default at first"
    elif scenario.table.options and other_writers.library_writes(
        distributions.load(maker), combination.format.reader_facts
    ):
        yield f"{maker} is told of no options of columns"
    for column, type_ in _columns(scenario) if unsupported else ():
        for plain in plain_types(type_):
            if str(plain).partition("(")[0] in unsupported:
                yield f"column {column}: {name} has no {plain}"


def _columns(scenario: Scenario) -> Iterator[tuple[str, DataType]]:
    yield from scenario.table.columns
    for step in scenario.steps:
        yield from step.operation.typed().items()
        if isinstance(step.operation, ChangeType):
            yield step.operation.name, step.operation.to


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
    yield from ((value,) for value in combination.items())


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


VariantValues = tuple[Variant, Mapping[str, str]]
"""A variant and its axis values."""


@dataclass(frozen=True, slots=True)
class _Questions:
    """What follows from a truth, worked out once for all the variants and readers that ask it."""

    _planned: dict[tuple[str, tuple[int, ...]], tuple[str, ...]] = field(default_factory=dict)
    _conditions: dict[tuple[str, int], tuple[Condition, ...] | str] = field(default_factory=dict)
    _truths: list[object] = field(default_factory=list)
    """They stay while their numbers are keys."""

    def planned(self, shape: str, history: History) -> tuple[str, ...]:
        key = shape, tuple(map(id, history))
        if key not in self._planned:
            self._truths.append(history)
            self._planned[key] = query_shapes.planned(shape, history)
        return self._planned[key]

    def conditions(self, query: str, truth: Truth) -> tuple[Condition, ...] | str:
        """Return the conditions of a question, or why there is none."""
        key = query, id(truth)
        if key not in self._conditions:
            self._truths.append(truth)
            try:
                self._conditions[key] = query_shapes.conditions(query, truth)
            except query_shapes.NoQuestionError as nothing:
                self._conditions[key] = str(nothing)
        return self._conditions[key]


@dataclass(frozen=True, slots=True)
class _Point:
    """A variant, and what it is asked by."""

    planner: _Planner
    variant: Variant
    number: int
    """Of the variant among those of its scenario, from 0."""
    views: tuple[str, ...]
    readers: tuple[ProfileReader, ...]
    unable: frozenset[tuple[str, str]]
    """Views of the past and the readers that do not have them."""
    had: Counter[tuple[str, str]]
    """How often each reader was asked each shape in turn, in this scenario so far."""
    questions: _Questions

    def cells(self, history: History, number: int, step: Step) -> Iterator[Cell]:
        """Yield those of a step; `history`: up to it."""
        profile, changes = self.planner.profile, step.operation.CHANGES_SCHEMA
        readers = [
            (profile.readers.index(asked), asked.reader)
            for asked in self.readers
            if asked.steps is AskedSteps.ALL or changes
        ]
        asked = {
            view: (past[0], past[1][-1], *self._questions(past[1]))
            for view in self.views
            if (past := views.asked(view, history))  # none where there is no past
        }
        for view, (text, truth, always, _) in asked.items():
            for query, (_, reader) in product(always, readers):
                able = (view, str(reader)) not in self.unable
                if able and self._asks(reader, query, truth, view):
                    yield Cell(self.variant.id, number, str(reader), text, query)
        if not changes:
            return
        for (row, (view, (text, truth, _, at_times))), (at, reader) in product(
            enumerate(asked.items()), readers
        ):
            if (view, str(reader)) in self.unable:
                continue
            can = [query for query in at_times if self._asks(reader, query, truth, view)]
            for query in self._in_turn(can, str(reader), self.number + number + row + at):
                yield Cell(self.variant.id, number, str(reader), text, query)

    def _asks(self, reader: Reader, query: str, truth: Truth, view: str) -> bool:
        """Return whether a reader can be asked a question; what it cannot is told."""
        shape, format_ = query_shapes.parse(query)[0], self.variant.format
        if shape in query_shapes.ANSWER_TABLES and (
            why := self._no_table(shape, truth.step, view)
            or self.planner.cannot_ask(reader, format_, shape)
        ):
            self.planner.exclude(f"{query} by {reader} of {self.variant.scenario.name}", why)
            return False
        conditions = self.questions.conditions(query, truth)
        if isinstance(conditions, str):
            self.planner.exclude(f"{query} of {self.variant.scenario.name}", conditions)
            return False
        for condition in conditions:
            if why := self.planner.cannot_ask(reader, self.variant.format, condition):
                what = f"{query_shapes.shape_of(query)} by {reader} on {self.variant.format}"
                self.planner.exclude(what, why)
                return False
        return True

    def _no_table(self, shape: Shape, step: int, view: str) -> str:
        """Return why nobody can be asked for what a table of its own answers."""
        if view != views.SNAPSHOT:
            return "it is asked of the table as it is now alone"
        format_, scenario = self.planner.formats[self.variant.format], self.variant.scenario
        since = format_.lineage_since(self.variant.settings, scenario)
        silent = shape is Shape.LINEAGE and (since is None or step < since)
        return "the table does not say where its rows come from" if silent else ""

    def _questions(self, history: History) -> tuple[list[str], list[str]]:
        """Return the questions of every step and those of changes only, as far as there are any."""
        always, at_times = list[str](), list[str]()
        profile = self.planner.profile
        for shape in dict.fromkeys((*profile.queries, *self.variant.scenario.queries)):
            kind = at_times if shape in profile.query_steps else always
            kind += self.questions.planned(shape, history)
        # What a scenario names may follow from the story as well.
        return list(dict.fromkeys(always)), [text for text in at_times if text not in always]

    def _in_turn(self, queries: Sequence[str], reader: str, turn: int) -> Sequence[str]:
        """Return all of the queries, or where pairs are enough the one that the reader had least.

        Of several the turn decides, which goes on with variant, step, view and reader.
        """
        if self.planner.profile.cover is not Cover.PAIRS or not queries:
            return queries
        start = turn % len(queries)
        in_order = (*queries[start:], *queries[:start])
        chosen = min(in_order, key=lambda query: self.had[reader, query_shapes.parse(query)[0]])
        self.had[reader, query_shapes.parse(chosen)[0]] += 1
        return (chosen,)


def partly(
    profile: Profile, variants: Sequence[Variant], cells: Sequence[Cell], cannot: Cannot
) -> Iterator[Partly]:
    """Tell of the readers that are asked about so many variants that they meet every axis value."""
    for asked in profile.readers:
        if asked.variants is Cover.PAIRS:
            name = str(asked.reader)
            asked_variants = [cell.variant for cell in cells if cell.reader == name]
            formats = [v.format for v in variants if v.format in (asked.formats or (v.format,))]
            can = sum(1 for format_ in formats if not cannot(asked.reader, format_))
            if len(set(asked_variants)) < can:
                yield Partly(name, len(set(asked_variants)), can, len(asked_variants))


def _not_asked(number: int, step: Step, first_write: int) -> str:
    if step.quiet:
        return "quiet: the scenario asks nothing after it"
    if number < first_write:
        return "a merge-on-read table has no views before its first write"
    return ""


def handovers(scenario: Scenario, old: Writer | str, new: str) -> tuple[WriterSequence, ...]:
    """Return the writers of the variants in which `old` begins a table and `new` goes on with it.

    Each names the scenario as the only one that it writes, so that a profile can have all of them.
    `old` has to leave rows. What `new` meets at the steps chosen here is in docs/scenarios.md; at
    others there are only more or fewer files of `old`.
    """
    writer = old if isinstance(old, Writer) else Writer(old)
    writer = replace(writer, then=new, scenarios=(scenario.name,))
    history = scenario.survey.history
    first = next((truth.step for truth in history if truth.rows), len(scenario.steps))
    later = range(first + 1, len(scenario.steps) + 1)
    steps = sorted({at for at in _points(scenario, history) if at in later} or later[:1])
    return tuple(WriterSequence(replace(writer, at=at), at) for at in steps)


def _points(scenario: Scenario, history: History) -> Iterator[int]:
    numbered = tuple(enumerate(scenario.operations, start=1))
    changes = [at for at, operation in numbered if operation.CHANGES_SCHEMA]
    waiting = [at + 1 for at, operation in numbered if operation.trace() is StepTrace.SCHEDULED]
    yield from waiting
    if changes:
        yield from (changes[0], changes[-1] + 1)
    elif not waiting:
        again = (
            after.step + 1
            for before, after in pairwise(history)
            if any(after.rows.get(key) != row for key, row in before.rows.items())
        )
        yield from islice(again, 1)
