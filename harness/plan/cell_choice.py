"""Which questions are asked of a variant: steps, views, query shapes and readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from harness.model import past_views as views
from harness.model import query_shapes
from harness.model.commit import BRANCH
from harness.model.truth import History
from harness.plan.capabilities import Cannot, CannotShow, Capabilities
from harness.plan.pairs import cover, values_of
from harness.plan.profile import AskedSteps, Cover, Profile, ProfileReader
from harness.scenario.cells import Cell, Excluded, Partly, Variant
from harness.scenario.definition import IN_BRANCH, PAST_VIEWS, STAGED_BY, Step

VariantValues = tuple[Variant, Mapping[str, str]]
"""A variant and its axis values."""

_Questions = tuple[str, list[str], list[str]]
"""What cells call a view, the questions of every step, and those of schema changes only."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A variant, and what it is asked by."""

    variant: Variant
    number: int
    """Of the variant among those of its scenario, from 0."""
    views: tuple[str, ...]
    readers: tuple[ProfileReader, ...]
    unable: frozenset[tuple[str, str]]
    """Views of the past and the readers that do not have them."""
    profile: Profile
    had: Counter[tuple[str, str]]
    """How often each reader was asked each shape in turn, in this scenario so far."""


def cells(
    variants: Sequence[VariantValues],
    profile: Profile,
    format_of: Mapping[str, Capabilities],
    cannot: Cannot,
    cannot_show: CannotShow,
    excluded: list[Excluded],
) -> Iterator[Cell]:
    """Yield the cells of a scenario's variants; what nobody is asked is told in `excluded`."""
    had = Counter[tuple[str, str]]()
    of_variants = _readers(variants, profile, cannot, excluded)
    for number, (variant, _) in enumerate(variants):
        format_ = format_of[variant.format]
        requested, readers = _views(variant, profile, format_, excluded), of_variants[number]
        unable = _unable(variant, requested, readers, cannot_show, excluded)
        asking = _Place(variant, number, requested, readers, unable, profile, had)
        merges = format_.merge_on_read
        history = variant.scenario.truths(merge_on_read=merges).history()
        first = _first_write(history) if merges else 1
        for step, step_itself in enumerate(variant.scenario.steps, start=1):
            if why := _not_asked(step, step_itself, first):
                what = f"{variant.scenario.name} step {step} ({step_itself.operation.text()})"
                excluded.append(Excluded(what, why))
            else:
                yield from _of_step(asking, history[: step + 1], step, step_itself)


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


def _views(
    variant: Variant, profile: Profile, format_: Capabilities, excluded: list[Excluded]
) -> tuple[str, ...]:
    requested = [v for v in profile.views if v in (variant.scenario.views or profile.views)]
    if variant.settings.get(STAGED_BY) != IN_BRANCH:
        requested = [view for view in requested if view != BRANCH]
    past = format_.past_views if set(requested) & set(PAST_VIEWS) else ()
    shown = tuple(view for view in (*format_.views, *past) if view in requested)
    absent = (view for view in requested if view in PAST_VIEWS and view not in past)
    why = "there is no such view of the past in this format"
    excluded.extend(Excluded(f"{view} of {format_.NAME}", why) for view in absent)
    if not shown:
        why = f"{format_.NAME} has the views {', '.join(format_.views)}; wanted are others"
        excluded.append(Excluded(variant.id, why))
    return shown


def _unable(
    variant: Variant,
    views: Sequence[str],
    readers: Sequence[ProfileReader],
    cannot_show: CannotShow,
    excluded: list[Excluded],
) -> frozenset[tuple[str, str]]:
    """Return the views of the past with the readers that do not have them."""
    unable = set()
    for view, asked in product(
        (requested_view for requested_view in views if requested_view in PAST_VIEWS), readers
    ):
        if why := cannot_show(asked.reader, variant.format, view):
            excluded.append(Excluded(f"{view} by {asked.reader} on {variant.format}", why))
            unable.add((view, str(asked.reader)))
    return frozenset(unable)


def _readers(
    variants: Sequence[VariantValues], profile: Profile, cannot: Cannot, excluded: list[Excluded]
) -> Sequence[tuple[ProfileReader, ...]]:
    """Return the readers of each variant."""
    result: list[tuple[ProfileReader, ...]] = [()] * len(variants)
    for asked in profile.readers:
        able = []
        for number, (variant, _) in enumerate(variants):
            if variant.format not in (asked.formats or (variant.format,)):
                continue
            if why := cannot(asked.reader, variant.format):
                excluded.append(Excluded(f"{asked.reader} on {variant.format}", why))
            else:
                able.append(number)
        for number in _wanted(asked, able, variants):
            result[number] += (asked,)
    return result


def _wanted(
    asked: ProfileReader, able: Sequence[int], variants: Sequence[VariantValues]
) -> Sequence[int]:
    if asked.variants is Cover.ALL:
        return able
    return [able[at] for at in cover([variants[at][1] for at in able], values_of)]


def _not_asked(number: int, step: Step, first_write: int) -> str:
    if step.quiet:
        return "quiet: the scenario asks nothing after it"
    if number < first_write:
        return "a merge-on-read table has no views before its first write"
    return ""


def _first_write(history: History) -> int:
    written = (truth.step for truth in history if truth.rows or truth.gone)
    return next(written, len(history))


def _of_step(asking: _Place, history: History, number: int, step: Step) -> Iterator[Cell]:
    changes = step.operation.CHANGES_SCHEMA
    readers = [
        (asking.profile.readers.index(asked), str(asked.reader))
        for asked in asking.readers
        if asked.steps is AskedSteps.ALL or changes
    ]
    asked = {view: result for view in asking.views if (result := _asked(asking, view, history))}
    for view, (text, always, _) in asked.items():
        for query, (_, reader) in product(always, readers):
            if (view, reader) not in asking.unable:
                yield Cell(asking.variant.id, number, reader, text, query)
    if not changes:
        return
    for (row, (view, (text, _, at_times))), (at, reader) in product(
        enumerate(asked.items()), readers
    ):
        if (view, reader) in asking.unable:
            continue
        for query in _in_turn(at_times, asking, reader, asking.number + number + row + at):
            yield Cell(asking.variant.id, number, reader, text, query)


def _asked(asking: _Place, view: str, history: History) -> _Questions | None:
    """Return a view as cells call it, with its questions; None where there is no past."""
    result = views.asked(view, history)
    return result and (result[0], *_questions(asking.profile, result[1]))


def _questions(profile: Profile, history: History) -> tuple[list[str], list[str]]:
    """Return the questions of every step and those of changes only, as far as there are any."""
    always, at_times = list[str](), list[str]()
    for shape in profile.queries:
        kind = at_times if shape in profile.query_steps else always
        kind += query_shapes.planned(shape, history)
    return always, at_times


def _in_turn(queries: Sequence[str], asking: _Place, reader: str, turn: int) -> Sequence[str]:
    """Return all of the queries, or where pairs are enough the one that the reader had least.

    Of several the turn decides, which goes on with variant, step, view and reader.
    """
    if asking.profile.cover is Cover.ALL or not queries:
        return queries
    start = turn % len(queries)
    in_order = (*queries[start:], *queries[:start])
    chosen = min(in_order, key=lambda query: asking.had[reader, query_shapes.parse(query)[0]])
    asking.had[reader, query_shapes.parse(chosen)[0]] += 1
    return (chosen,)
