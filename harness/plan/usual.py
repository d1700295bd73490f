"""The profile of scenarios for which nobody names one: it asks what users of such tables ask.

That is all columns, the questions that follow from the story, conditions, and the number of rows,
of tables with the usual settings of each format. Where that would take too long, the questions that
show least are left out, and the plan says which.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

from harness import formats
from harness.core.errors import UsageProblem
from harness.plan import select_scenarios
from harness.plan.estimation import estimate
from harness.plan.product import named_by
from harness.plan.profile import AskedSteps, Cover, Parts, Profile, ProfileReader, Writer
from harness.scenario.cells import Plan, Reader
from harness.scenario.definition import Scenario
from harness.scenario.operations.row_writes import REWRITES

LIMIT_S: Final = 150.0
"""The longest estimate for one scenario; a run of it then takes less than three minutes."""
LAKE_FORMATS: Final = ("iceberg", "delta", "hudi-cow", "hudi-mor")
FORMATS: Final = (*LAKE_FORMATS, "hive-parquet", "hive-orc")
"""The formats of a scenario that names none; the last ones are left out first."""
QUERIES: Final = ("all", "story", "unchanged", "count_all")
FEW_QUERIES: Final = ("all", "predicate", "null", "count")
READER: Final = Reader("trino-476")
"""It is asked beside the engine that writes where no reader is named."""
NO_PARTS: Final = Parts()


@dataclass(frozen=True, slots=True)
class Request:
    """What a user names instead of a profile."""

    parts: Parts = NO_PARTS
    sides: Parts = NO_PARTS
    """The readers and writers of all sides of an upgrade; every side asks the same."""
    formats_in_use: tuple[str, ...] = ()
    """The formats of the user's own tables."""
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values of table settings; they replace the usual ones and those of a scenario."""

    @property
    def readers(self) -> tuple[ProfileReader, ...]:
        return self.parts.readers or self.sides.readers

    @property
    def writers(self) -> tuple[Writer, ...]:
        return self.parts.writers or self.sides.writers


def usual(
    request: Request, profiles: Sequence[Profile], scenarios: Sequence[Scenario]
) -> tuple[tuple[Scenario, ...], Profile]:
    """Return the scenarios with the usual settings of their tables, and the profile that asks them.

    The writers of a format are those of the first of `profiles` that has any. The first profile
    also says which scenarios are meant, and how files are rewritten.
    """
    parts, first = request.parts, profiles[0]
    asked = named_by(first, scenarios)
    names = parts.formats or _formats(request, asked)
    writers = request.writers or tuple(select_scenarios.writers_for(names, profiles))
    # Only the newer writer of an upgrade reads: an older one may not know the newer one's tables.
    reading = request.sides.writers[-1:] or writers
    readers = request.readers or tuple(_readers(names, reading))
    result = Parts(names, writers, readers)
    given = Parts(parts.formats, request.writers, request.readers)
    remark = " (of your tables)" if request.formats_in_use else ""
    rewrites = {REWRITES: tuple(select_scenarios.rewrites_for(names, first))}
    profile = replace(
        result.instead(replace(first, name=select_scenarios.AD_HOC, document=None)),
        twins=True,
        axes={**first.axes, **rewrites},
        queries=QUERIES,
        query_steps={},
        given=parts.named,
        chosen=tuple(select_scenarios.chosen_lines(given, result, remark)),
    )
    with_settings = []
    for scenario in asked:
        settings = dict[str, tuple[str, ...]]()
        for name in names:
            if name in (scenario.formats or (name,)):
                settings |= formats.load(name).usual_settings(scenario)
        settings |= {**scenario.settings, **request.settings}
        with_settings.append(replace(scenario, settings=settings))
    return tuple(with_settings), profile


def _formats(request: Request, scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """Return the formats that scenarios name, else the usual ones, as far as all readers read them.

    Where there is none, those that some reader reads.
    """
    stated = tuple(dict.fromkeys(name for scenario in scenarios for name in scenario.formats))
    free = any(not scenario.formats for scenario in scenarios)
    preferred = request.formats_in_use or tuple(name for name in FORMATS if name in formats.names())
    first = (*stated, *(preferred if free else ()))
    others = formats.names() if free else ()
    written = [
        name
        for name in dict.fromkeys((*first, *others))
        if any(_can_be(scenario, name) for scenario in scenarios)
        and (not request.writers or _writes_any(request.writers, name))
    ]
    for enough, names in product((all, any), (first, others)):
        if served := tuple(
            name
            for name in dict.fromkeys(names)
            if name in written and enough(_who_reads(name, request))
        ):
            return served
        if request.sides.readers and enough is all and names is others:
            _raise_for_steps(request, scenarios)
    return first


def _raise_for_steps(request: Request, scenarios: Iterable[Scenario]) -> None:
    """Tell where the readers of an upgrade share formats, and the steps keep each from one."""
    steps = [operation for scenario in scenarios for operation in scenario.operations]
    shared = [formats.load(name) for name in formats.names() if all(_who_reads(name, request))]
    reasons = (next(filter(None, map(format_.unsupported, steps)), "") for format_ in shared)
    if why := "; ".join(filter(None, reasons)):
        raise UsageProblem(f"no format that both sides read can have all steps: {why}")


def _who_reads(name: str, request: Request) -> Iterator[bool]:
    readers = request.readers or (ProfileReader(READER, formats=(name,)),)
    return (select_scenarios.reads(asked, name) for asked in readers)


def _can_be(scenario: Scenario, format_name: str) -> bool:
    format_ = formats.load(format_name)
    return not any(map(format_.unsupported, scenario.operations))


def _readers(names: Sequence[str], writers: Iterable[Writer]) -> Iterator[ProfileReader]:
    """Yield the engines that write, as readers, and one more."""
    of_writers = (Reader(writer.distribution) for writer in writers)
    for reader in dict.fromkeys((*of_writers, READER)):
        asked = ProfileReader(reader)
        if able := tuple(name for name in names if select_scenarios.reads(asked, name)):
            yield replace(asked, formats=able)


def within_limit(
    profile: Profile, request: Request, count: int, plan: Callable[[Profile], Plan]
) -> Profile:
    """Return the widest profile with which `count` scenarios keep the limit, else the last."""
    for narrowed in _narrowed(profile, request):
        if estimate(plan(narrowed)) <= LIMIT_S * count:
            break
    return narrowed


def _narrowed(profile: Profile, request: Request) -> Iterator[Profile]:
    """Yield the profile, then one after another that leaves out more."""
    yield profile
    profile = _without(profile, "twins, whose columns are of one type", twins=False)
    yield profile
    what = "combinations of settings, each of which is asked in one of them"
    profile = _without(profile, what, cover=Cover.VALUES)
    yield profile
    free = () if request.parts.formats or len(profile.formats) == 1 else profile.formats
    lake = tuple(name for name in free if name in LAKE_FORMATS)
    if lake and lake != free:
        profile = _in_formats(profile, lake)
        yield profile
    if profile.queries == QUERIES:
        steps = {query: AskedSteps.SCHEMA_CHANGES for query in QUERIES if query != "all"}
        what = "conditions and counts after steps that change no column"
        yield (profile := _without(profile, what, query_steps=steps))
        what = "conditions but one of each kind"
        steps = {query: AskedSteps.SCHEMA_CHANGES for query in FEW_QUERIES if query != "all"}
        yield (profile := _without(profile, what, queries=FEW_QUERIES, query_steps=steps))
    for number in range(len(lake) - 1, 0, -1):
        yield _in_formats(profile, lake[:number])


def _in_formats(profile: Profile, names: Collection[str]) -> Profile:
    left = [name for name in profile.formats if name not in names]
    return replace(
        _without(profile, f"{', '.join(left)} tables"),
        formats=tuple(names),
        writers=tuple(w for w in profile.writers if any(_writes_any([w], name) for name in names)),
    )


def _writes_any(writers: Iterable[Writer], name: str) -> bool:
    return any(select_scenarios.writes(writer, name) for writer in writers)


def _without(profile: Profile, what: str, **changes: object) -> Profile:
    return replace(profile, left_out=(*profile.left_out, what), **changes)  # type: ignore[arg-type]
