"""From the options of a command to a plan whose engines and settings exist."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from harness import engines, formats
from harness.artifacts import distributions
from harness.cli.named_parts import NONE, QUICK_START, NamedParts
from harness.core import runtime_names, yaml_reader
from harness.core.errors import UsageProblem
from harness.core.problems import one_of, unknown_name
from harness.core.runtime_names import PROCESS, MetastoreChoice
from harness.core.texts import counted
from harness.model import query_shapes
from harness.plan import (
    controls,
    custom_distributions,
    distribution_support,
    select_scenarios,
    shipped,
    usual,
)
from harness.plan import profile as profiles
from harness.plan.product import named_by, only, plan, select
from harness.plan.profile import Parts, Profile, ProfileReader, Writer
from harness.plan.usual import NO_PARTS, Request
from harness.scenario.cells import CONTROL, Plan, Reader, parse_reader, with_settings
from harness.scenario.definition import Scenario
from harness.usage import own_tables

CASES_BYTES: Final = 1 << 26
"""A file of cases is no longer; all 45,000 of the full profile take 7 MB."""
SHOWN: Final = 3
"""So many reasons stand in a message."""


def parts_of(named: NamedParts) -> Parts:
    """Return the parts of these names; users' own distributions are registered by then."""
    of_file = custom_distributions.register_file(named.file) if named.file else ()
    asked = (*named.readers, *of_file)
    for name in named.formats:
        if name not in formats.names():
            raise unknown_name("format", name, formats.names())
    return Parts(
        tuple(dict.fromkeys(named.formats)),
        tuple({text: existing_writer(text) for text in named.writers}.values()),
        tuple(map(ProfileReader, dict.fromkeys(map(existing_reader, asked)))),
    )


def existing_writer(text: str) -> Writer:
    """Read a writer, and check that its distribution writes; the formats check its settings."""
    try:
        name, settings = with_settings(text, "writer")
    except ValueError as wrong:
        raise UsageProblem(f"--writer: {wrong}") from wrong
    if why := distribution_support.why_not_writing(name, distributions.names()):
        raise UsageProblem(f"--writer: {why}")
    return Writer(runtime_names.with_default(name, PROCESS), dict(settings))


def existing_reader(text: str) -> Reader:
    distribution_support.check_no_address("reader", text, "engines", "trino-483")
    try:
        result = parse_reader(text)
    except ValueError as wrong:
        raise UsageProblem(f"{text}: {wrong}") from wrong
    check_reader(result)
    distribution = runtime_names.with_default(result.distribution, PROCESS)
    return replace(result, distribution=distribution)


def check_reader(reader: Reader) -> None:
    distribution_support.check_reader(reader)
    allowed = engines.load(distributions.load(reader.distribution).engine).settings
    for name, value in reader.settings:
        if name not in allowed:
            raise UsageProblem(f"{reader}: there is no setting '{name}'; {one_of(name, allowed)}")
        if value not in (values := allowed[name]):
            why = f"'{value}' is not a value of {name}; {one_of(value, values)}"
            raise UsageProblem(f"{reader}: {why}")
    distribution_support.check_combination(reader)


def existing_metastore(name: str) -> MetastoreChoice:
    distribution_support.check_metastore(name)
    return MetastoreChoice(name)


@dataclass(frozen=True, slots=True)
class PlanOverrides:
    """Runtime, warehouse and metastore of all engines, and what is asked; empty: the profile's."""

    runtime: str = ""
    warehouse: str = ""
    metastore: str = ""
    queries: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """Of tables, each as `name=value`; several values of one are all taken."""

    def values(self) -> Mapping[str, tuple[str, ...]]:
        values = dict[str, tuple[str, ...]]()
        for text in self.settings:
            name, equals, value = text.partition("=")
            if not (name and equals and value):
                raise UsageProblem(f"--setting {text}: write name=value, or name=value,value")
            values[name] = (*values.get(name, ()), *value.split(","))
        return values

    def apply(self, profile: Profile) -> Profile:
        for why in filter(None, map(query_shapes.why_no_shape, self.queries)):
            raise UsageProblem(f"--query: {why}")
        if self.queries:
            profile = replace(profile, queries=self.queries, query_steps={})
        profile = replace(profile, axes={**profile.axes, **self.values()})
        result = profiles.in_runtime(profile, self.runtime) if self.runtime else profile
        result = profiles.in_warehouse(result, self.warehouse) if self.warehouse else result
        metastore = existing_metastore(self.metastore) if self.metastore else result.metastore
        return replace(result, metastore=metastore)


AS_PROFILE: Final = PlanOverrides()


@dataclass(frozen=True, slots=True)
class Change:
    """What a side of an upgrade makes of the profile that all sides share."""

    make: Callable[[Profile, Sequence[Scenario]], Profile]
    """Given the scenarios that are selected."""
    sides: Parts = NO_PARTS
    """Readers and writers of all sides: what is asked is what all can be asked."""
    formats_in_use: tuple[str, ...] = ()
    """Of the user's own tables."""


UNCHANGED: Final = Change(lambda profile, _: profile)


def make(
    paths: Sequence[Path] | None,
    profile: str | None,
    pattern: str,
    cases: Path | None = None,
    overrides: PlanOverrides = AS_PROFILE,
    named: NamedParts = NONE,
    change: Change | None = None,
) -> Plan:
    """Plan a profile, on its own scenarios or on those of `paths`.

    Without a profile it has the usual questions about the scenarios; without paths too, the quick
    start, or the formats, writers and readers that are named. `pattern` selects the cells whose
    case contains it; `cases` is a file with one case on each line.
    """
    start = QUICK_START if paths or not change else _quick_start(change.sides, named.formats)
    scenarios, chosen = select_scenarios.choose(paths or (), profile or start)
    custom_distributions.register(paths or ())
    parts, side = parts_of(named), change or UNCHANGED
    shipped_ones = profiles.load_profiles(shipped.profiles_file()).values()
    if profile is None and (paths or change):
        request = Request(parts, side.sides, side.formats_in_use, overrides.values())
        scenarios, usual_profile = usual.usual(request, (chosen, *shipped_ones), scenarios)
        result = _within_limit(overrides.apply(usual_profile), request, scenarios)
    else:
        if profile is None and parts.named:
            shown = named_by(chosen, scenarios)
            chosen = select_scenarios.ad_hoc(parts, (chosen, *shipped_ones), shown)
        else:
            chosen = parts.instead(chosen)
        result, settings = overrides.apply(chosen), overrides.values()
        scenarios = tuple(replace(s, settings={**s.settings, **settings}) for s in scenarios)
    result = side.make(result, scenarios)
    _check(result)

    def controlled(some: Plan) -> Plan:
        plan_controls = partial(_planned, [shipped.load_scenario(CONTROL)])
        makers = distribution_support.makers_of(result)
        return controls.with_controls(some, result, makers, plan_controls)

    made = controlled(_planned(scenarios, result))
    if pattern or cases:
        check_asks(made)  # a selection from nothing would hide why there is nothing
    made = controlled(select(made, pattern)) if pattern else made
    if cases is None:
        return made
    text = yaml_reader.read(cases, CASES_BYTES, "a text file that names cases")
    return controlled(only(made, [line for raw in text.splitlines() if (line := raw.strip())]))


def _quick_start(sides: Parts, among: Sequence[str]) -> str:
    """Return the first quick start with a format that both sides of an upgrade read and write."""
    for name in profiles.load_profiles(shipped.profiles_file()):
        if name.startswith(QUICK_START):
            scenarios, _ = select_scenarios.choose((), name)
            for format_name in {name for scenario in scenarios for name in scenario.formats}:
                if (
                    format_name in (among or (format_name,))
                    and all(select_scenarios.reads(asked, format_name) for asked in sides.readers)
                    and all(select_scenarios.writes(asked, format_name) for asked in sides.writers)
                ):
                    return name
    return QUICK_START


def formats_named(
    paths: Sequence[Path] | None, profile: str | None, named: NamedParts
) -> tuple[tuple[str, ...], bool]:
    """Return the formats that are named, and whether the user names them, not a profile."""
    if named.formats or not (profile or paths):
        return tuple(named.formats), True
    scenarios, chosen = select_scenarios.choose(paths or (), profile or QUICK_START)
    of_scenarios = (name for scenario in scenarios for name in scenario.formats)
    every = chosen.formats if profile else dict.fromkeys(of_scenarios)
    return tuple(name for name in every if name in formats.names()), not profile


def _within_limit(profile: Profile, request: Request, scenarios: Sequence[Scenario]) -> Profile:
    if not (request.sides.readers or request.sides.writers):
        _check(profile)  # the sides of an upgrade may ask through a metastore each
    return usual.within_limit(
        profile, request, len(scenarios), lambda narrowed: _planned(scenarios, narrowed)
    )


def _planned(scenarios: Sequence[Scenario], profile: Profile) -> Plan:
    known = [formats.load(name) for name in formats.names()]
    makers = distribution_support.makers_of(profile)
    can = distribution_support.cannot, distribution_support.cannot_show
    return plan(scenarios, profile, known, makers, *can, distribution_support.cannot_ask)


def _check(profile: Profile) -> None:
    wrong = [*distribution_support.wrong_writers(profile)]
    for number, asked in enumerate(profile.readers):
        try:
            check_reader(asked.reader)
            own_tables.check(distributions.load(asked.reader.distribution))
        except UsageProblem as problem:
            wrong.append(profile.fault(("readers", number), str(problem)))
    profiles.raise_if_any((*wrong, *distribution_support.wrong_metastore(profile)))
    for name in (format_ for format_ in profile.formats if format_ in formats.names()):
        distribution_support.check_format(name)
    select_scenarios.check_parts(profile)


def check_asks(made: Plan) -> None:
    """Check that anything would be asked; else engines would be fetched and started for nothing."""
    if not made.cells:
        # What was left out to be quick is no reason: nothing is asked with it either.
        excluded = [exclusion for exclusion in made.excluded if exclusion.what not in made.left_out]
        reasons = [f"{exclusion.what}: {exclusion.why}" for exclusion in excluded[:SHOWN]]
        why = "; ".join(reasons) or "the scenarios ask nothing"
        left = len(excluded) - SHOWN
        more = f"; {counted(left, 'more reason')}: harness plan lists all" if left > 0 else ""
        others = "--format, --writer and --reader name others"
        raise UsageProblem(f"nothing would be asked: {why}{more}; {others}")
