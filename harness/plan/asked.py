"""Which questions are asked of a variant: steps, views, query shapes and readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from harness import shapes
from harness.cells import Cell, Excluded, Variant
from harness.model.truth import History
from harness.plan.capabilities import Cannot, Capabilities
from harness.plan.profile import Asked, AskedSteps, Cover, Profile
from harness.scenario import generation
from harness.scenario.definition import Step


@dataclass(frozen=True, slots=True)
class _Place:
    """A variant, and what it is asked by."""

    variant: Variant
    number: int
    """Of the variant among those of its scenario, from 0."""
    views: tuple[str, ...]
    readers: tuple[Asked, ...]
    profile: Profile


def cells(
    variants: Sequence[Variant],
    profile: Profile,
    format_of: Mapping[str, Capabilities],
    cannot: Cannot,
    excluded: list[Excluded],
) -> Iterator[Cell]:
    """Give the cells of a scenario's variants; what nobody is asked is told in `excluded`."""
    for number, variant in enumerate(variants):
        format_ = format_of[variant.format]
        views = _views(variant, profile, format_, excluded)
        readers = tuple(_able(profile, variant.format, cannot, excluded))
        place = _Place(variant, number, views, readers, profile)
        history = generation.survey(variant.scenario).history
        first = _first_write(history) if format_.merge_on_read else 1
        for step, each in enumerate(variant.scenario.steps, start=1):
            if why := _not_asked(step, each, first):
                what = f"{variant.scenario.name} step {step} ({each.operation.text()})"
                excluded.append(Excluded(what, why))
            else:
                yield from _of_step(place, history[: step + 1], step, each)


def _views(
    variant: Variant, profile: Profile, format_: Capabilities, excluded: list[Excluded]
) -> tuple[str, ...]:
    wanted = [v for v in profile.views if v in (variant.scenario.views or profile.views)]
    views = tuple(view for view in format_.views if view in wanted)
    if not views:
        why = f"{format_.NAME} has the views {', '.join(format_.views)}; wanted are others"
        excluded.append(Excluded(variant.id, why))
    return views


def _able(
    profile: Profile, format_name: str, cannot: Cannot, excluded: list[Excluded]
) -> Iterator[Asked]:
    for asked in profile.readers:
        if why := cannot(asked.reader, format_name):
            excluded.append(Excluded(f"{asked.reader} on {format_name}", why))
        else:
            yield asked


def _not_asked(number: int, step: Step, first_write: int) -> str:
    if step.quiet:
        return "quiet: the scenario asks nothing after it"
    if number < first_write:
        return "a merge-on-read table has no views before its first write"
    return ""


def _first_write(history: History) -> int:
    written = (truth.step for truth in history if truth.rows or truth.gone)
    return next(written, len(history))


def _of_step(place: _Place, history: History, number: int, step: Step) -> Iterator[Cell]:
    always, at_times = _questions(place.profile, history)
    changes = step.operation.CHANGES_SCHEMA
    readers = [
        (at, str(asked.reader))
        for at, asked in enumerate(place.readers)
        if asked.steps is AskedSteps.ALL or changes
    ]
    for view, query, (_, reader) in product(place.views, always, readers):
        yield Cell(place.variant.id, number, reader, view, query)
    if not changes:
        return
    for (row, view), (at, reader) in product(enumerate(place.views), readers):
        for query in _in_turn(at_times, place, place.number + number + row + at):
            yield Cell(place.variant.id, number, reader, view, query)


def _questions(profile: Profile, history: History) -> tuple[list[str], list[str]]:
    """Give the questions of every step and those of changes only, as far as there are any."""
    always, at_times = list[str](), list[str]()
    for shape in profile.queries:
        kind = at_times if shape in profile.query_steps else always
        kind += shapes.planned(shape, history)
    return always, at_times


def _in_turn(queries: Sequence[str], place: _Place, turn: int) -> Sequence[str]:
    """Give all of the queries, or the one whose turn it is where pairs are enough.

    The turn goes on with variant, step, view and reader: each of them meets every query.
    """
    if place.profile.cover is Cover.ALL or not queries:
        return queries
    return (queries[turn % len(queries)],)
