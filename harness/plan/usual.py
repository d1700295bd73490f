"""What is asked of scenarios where nobody names a profile: what people who use such tables ask.

That is all columns, what follows from the story, a condition, and how many rows there are, of
tables in the usual settings of each format. As far as that takes too long, the least telling is
left out, and it is said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness import formats
from harness.plan import select_scenarios
from harness.plan.estimation import estimate
from harness.plan.product import REWRITES, named_by
from harness.plan.profile import (
    AskedSteps,
    Cover,
    Parts,
    Profile,
    ProfileReader,
    Writer,
)
from harness.scenario.cells import Plan, Reader
from harness.scenario.definition import Scenario

LIMIT_S: Final = 120.0
"""The estimate of a scenario; a plan of it takes less than three minutes then."""
FORMATS: Final = ("iceberg", "delta", "hudi-cow", "hudi-mor", "hive-parquet", "hive-orc")
"""Of a scenario that names none, the first ones being the last that are left out."""
LAKE: Final = 4
"""So many of these are more than plain files."""
QUERIES: Final = ("all", "story", "unchanged", "count_all")
FEW_QUERIES: Final = ("all", "predicate", "null", "count")
READER: Final = Reader("trino-476")
"""Asked beside the Spark that writes, where no reader is named."""
NO_PARTS: Final = Parts()


@dataclass(frozen=True, slots=True)
class Request:
    """What is named in the place of a profile."""

    parts: Parts = NO_PARTS
    sides: Parts = NO_PARTS
    """Readers and writers of all sides of an upgrade, each of which asks the same."""
    formats_in_use: tuple[str, ...] = ()
    """Of somebody's own tables."""
    settings: Mapping[str, tuple[str, ...]] | None = None
    """Their values, in the place of the usual ones and of a scenario's."""

    @property
    def readers(self) -> tuple[ProfileReader, ...]:
        return self.parts.readers or self.sides.readers

    @property
    def writers(self) -> tuple[Writer, ...]:
        return self.parts.writers or self.sides.writers


def usual(
    request: Request, profiles: Sequence[Profile], scenarios: Sequence[Scenario]
) -> tuple[tuple[Scenario, ...], Profile]:
    """Return scenarios with the usual settings of their tables, and a profile of what is asked.

    Writers are of the first of `profiles` that has any for a format; the first one also says which
    scenarios are meant, and how files are rewritten.
    """
    parts, first = request.parts, profiles[0]
    asked = named_by(first, scenarios)
    names = parts.formats or _formats(request, asked)
    writers = request.writers or tuple(select_scenarios.writers_for(names, profiles))
    # Of an upgrade's writers the newer one reads: not every older one knows its tables.
    reading = request.sides.writers[-1:] or writers
    readers = request.readers or tuple(_readers(names, reading))
    result = Parts(names, writers, readers)
    rewrites = {REWRITES: tuple(select_scenarios.rewrites_for(names, first))}
    profile = replace(
        result.instead(replace(first, name=select_scenarios.AD_HOC, document=None)),
        twins=True,
        axes={**first.axes, **rewrites},
        queries=QUERIES,
        query_steps={},
        given=parts.named,
        chosen=tuple(_chosen(request, result)),
    )
    return tuple(_with_settings(scenario, names, request.settings) for scenario in asked), profile


def _formats(request: Request, scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """Return the formats that scenarios name and else the usual ones, which all readers can read.

    Where they have none in common, those that some reader can.
    """
    stated = tuple(dict.fromkeys(name for scenario in scenarios for name in scenario.formats))
    plain = any(not scenario.formats for scenario in scenarios)
    usual_ones = tuple(name for name in FORMATS if name in formats.names())
    wished = (*stated, *((request.formats_in_use or usual_ones) if plain else ()))
    others = formats.names() if plain else ()

    def served(every: Callable[[Iterable[bool]], bool]) -> Callable[[str], bool]:
        writers, readers = request.writers, request.readers
        return lambda name: (
            any(_can_be(scenario, name) for scenario in scenarios)
            and every(select_scenarios.reads(asked, name) for asked in readers or (_usual(name),))
            and (not writers or any(select_scenarios.writes(writer, name) for writer in writers))
        )

    choices = ((wished, all), (others, all), (wished, any), (others, any))
    some = (tuple(filter(served(every), dict.fromkeys(names))) for names, every in choices)
    return next(filter(None, some), wished)


def _can_be(scenario: Scenario, format_name: str) -> bool:
    format_ = formats.load(format_name)
    return not any(map(format_.unsupported, scenario.operations))


def _usual(format_name: str) -> ProfileReader:
    return ProfileReader(READER, formats=(format_name,))


def _readers(names: Sequence[str], writers: Iterable[Writer]) -> Iterator[ProfileReader]:
    """Yield the engines that write, as readers, and another one."""
    of_writers = (Reader(writer.distribution) for writer in writers)
    for reader in dict.fromkeys((*of_writers, READER)):
        asked = ProfileReader(reader)
        if able := tuple(name for name in names if select_scenarios.reads(asked, name)):
            yield replace(asked, formats=able)


def _chosen(request: Request, result: Parts) -> Iterator[str]:
    parts = Parts(request.parts.formats, request.writers, request.readers)
    for line in select_scenarios.chosen_lines(parts, result):
        of_tables = request.formats_in_use and line.startswith("formats")
        yield f"{line} (of your tables)" if of_tables else line


def _with_settings(
    scenario: Scenario, names: Iterable[str], given: Mapping[str, tuple[str, ...]] | None
) -> Scenario:
    usual_settings = dict[str, tuple[str, ...]]()
    for name in names:
        if name in (scenario.formats or (name,)):
            usual_settings |= formats.load(name).usual_settings(scenario)
    return replace(scenario, settings={**usual_settings, **scenario.settings, **(given or {})})


def within_limit(
    profile: Profile, request: Request, count: int, plan: Callable[[Profile], Plan]
) -> Profile:
    """Return a profile of which so many scenarios do not take too long, as far as there is one."""
    for narrowed in _narrowed(profile, request):
        if estimate(plan(narrowed)) <= LIMIT_S * count:
            return narrowed
    return narrowed


def _narrowed(profile: Profile, request: Request) -> Iterator[Profile]:
    """Yield a profile, and then with ever more left out."""
    yield profile
    profile = _without(profile, "twins, whose columns are of one type", twins=False)
    yield profile
    what = "combinations of settings, each of which is asked in one of them"
    profile = _without(profile, what, cover=Cover.VALUES)
    yield profile
    free = () if request.parts.formats or len(profile.formats) == 1 else profile.formats
    lake = tuple(name for name in free if name in FORMATS[:LAKE])
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
        writers=tuple(w for w in profile.writers if _writes_any(w, names)),
    )


def _writes_any(writer: Writer, names: Iterable[str]) -> bool:
    return any(select_scenarios.writes(writer, name) for name in names)


def _without(profile: Profile, what: str, **changes: object) -> Profile:
    return replace(profile, left_out=(*profile.left_out, what), **changes)  # type: ignore[arg-type]
