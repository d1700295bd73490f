"""Recorded answers judged by the checks of today, and readable differences from the record."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar, cast

from harness.core.records import Answer, StateRecord, Verdict, VerdictKind
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import JudgedVariant, judge, of_steps
from harness.run import plan_record, run_judge
from harness.run.load_run import Run
from harness.scenario.cells import Cell
from tests.builders import recordings, tidy_records
from tests.builders.recordings import Recorded, VerdictRecord

NOTHING: Final = "nothing"
SHOWN_CASES: Final = 10
SHOWN_PLACES: Final = 3
OfVariant = TypeVar("OfVariant", Cell, StateRecord)


def case_of(recorded: Recorded) -> RecordedVariant:
    return run_judge.case_of(recorded.variant, recorded.states)


def judged(recorded: Recorded) -> dict[Cell, VerdictRecord]:
    return judged_twice(recorded)[1]


def judged_twice(recorded: Recorded) -> tuple[dict[Cell, VerdictKind], dict[Cell, VerdictRecord]]:
    """Return the kinds of the verdicts as answers come, and the verdicts at last."""
    case = case_of(recorded)
    answers = {cell.case: answer for cell, answer in recorded.answers.items() if answer is not None}
    variant = JudgedVariant(case)
    early = {
        cell: verdict
        for cell, answer in recorded.answers.items()
        if (verdict := variant.judge(cell, answer)) is not None
    }
    verdicts = variant.settled((*of_steps(case), *early.values()), answers)
    return {cell: verdict.verdict for cell, verdict in early.items()}, _as_recorded(verdicts)


def _as_recorded(verdicts: Iterable[Verdict]) -> dict[Cell, VerdictRecord]:
    return {
        Cell(v.variant, v.step, v.reader, v.view, v.query): recordings.as_recorded(v)
        for v in verdicts
    }


def recorded_from(run: Run) -> Iterator[Recorded]:
    """Make recordings of a run's variants, with the verdicts of today.

    Raises:
        ValueError: a verdict depends on what a recording leaves out.

    """
    plan = plan_record.plan_of(run.info)
    all_cells, all_states = _by_variant(plan.cells), _by_variant(run.states)
    for variant in plan.variants:
        cells, states = all_cells.get(variant.id, []), all_states.get(variant.id, [])
        names = tidy_records.names_of(states)
        recorded = Recorded(
            variant,
            run.info.scenarios[variant.id],
            tuple(tidy_records.state(state, names) for state in states),
            {cell: _tidy(run.answers.get(cell.case), names) for cell in cells},
            {},
        )
        recorded = replace(recorded, verdicts=judged(recorded))
        before = _as_recorded(judge(run_judge.case_of(variant, states), cells, run.answers))
        _check(_named(before, names), recorded.verdicts)
        yield recorded


def _by_variant(given: Iterable[OfVariant]) -> dict[str, list[OfVariant]]:
    variants: dict[str, list[OfVariant]] = {}
    for answer in given:
        variants.setdefault(answer.variant, []).append(answer)
    return variants


def _tidy(answer: Answer | None, names: tidy_records.Names) -> Answer | None:
    return None if answer is None else tidy_records.answer(answer, names)


def _check(before: Mapping[Cell, VerdictRecord], after: Mapping[Cell, VerdictRecord]) -> None:
    """Hold the verdicts on a run against those on its recording.

    Errors may be worded otherwise; places may come in another order, as rows do.
    """
    lines = differences(_loosely(before), _loosely(after))
    if lines:
        raise ValueError("\n".join(("verdicts depend on what is left out:", *lines)))


def _named(
    verdicts: Mapping[Cell, VerdictRecord], names: tidy_records.Names
) -> dict[Cell, VerdictRecord]:
    """Call files and instants in verdicts as the recording calls them."""

    def renamed(value: object) -> object:
        if isinstance(value, dict):
            return {name: renamed(part) for name, part in value.items()}
        if isinstance(value, list):
            return [renamed(part) for part in value]
        return names.path(value) if isinstance(value, str) else value

    return {cell: cast("VerdictRecord", renamed(verdict)) for cell, verdict in verdicts.items()}


def _loosely(verdicts: Mapping[Cell, VerdictRecord]) -> dict[Cell, VerdictRecord]:
    return {
        cell: {**verdict, "because": bool(verdict.get("because")), "findings": _in_order(verdict)}
        for cell, verdict in verdicts.items()
    }


def _in_order(verdict: VerdictRecord) -> list[VerdictRecord]:
    results = [
        {**finding, "places": sorted(finding["places"], key=json.dumps), "witness": None}
        for finding in verdict.get("findings", ())
    ]
    return sorted(results, key=json.dumps)


def differences(
    before: Mapping[Cell, VerdictRecord], after: Mapping[Cell, VerdictRecord]
) -> list[str]:
    """Return how verdicts were and are, where they differ; cells with the same change together."""
    changes: dict[tuple[str, ...], list[str]] = {}
    for cell in dict.fromkeys((*before, *after)):
        if before.get(cell) != after.get(cell):
            change = tuple(_difference(before.get(cell), after.get(cell)))
            changes.setdefault(change, []).append(cell.case)
    return [
        line
        for change, cases in changes.items()
        for line in (*_few(cases, SHOWN_CASES, "  ", "cells"), *change)
    ]


def _few(texts: Sequence[str], most: int, indent: str, what: str) -> Iterator[str]:
    yield from texts[:most]
    if (more := len(texts) - most) > 0:
        yield f"{indent}and {more} more {what}"


def _difference(before: VerdictRecord | None, after: VerdictRecord | None) -> Iterator[str]:
    yield f"  before: {headline(before)}"
    yield f"  after:  {headline(after)}"
    was, now = _places(before), _places(after)
    for mark, places in (("-", sorted(was - now)), ("+", sorted(now - was))):
        shown = [f"    {mark} {witness}" for witness in places]
        yield from _few(shown, SHOWN_PLACES, f"    {mark} ", "places")


def headline(verdict: VerdictRecord | None) -> str:
    if verdict is None:
        return NOTHING
    texts = [
        str(verdict["verdict"]),
        *(_finding(finding) for finding in verdict.get("findings", ())),
        "as " + " or ".join(verdict["reproduces"]) if verdict.get("reproduces") else "",
        "too little to claim a way" if verdict.get("scant") else "",
        f"because {verdict['because']}" if verdict.get("because") else "",
        *(
            f"{applied['name']} {applied['count']} times"
            for applied in verdict.get("normalised", ())
        ),
    ]
    return "; ".join(filter(None, texts))


def _finding(finding: VerdictRecord) -> str:
    columns, number = ", ".join(finding["columns"]) or "rows", len(finding["places"])
    return f"{_blame(finding)} in {columns} ({number} places)"


def _places(verdict: VerdictRecord | None) -> set[str]:
    result = verdict.get("findings", ()) if verdict else ()
    return {
        f"{_blame(finding)}: {_place(place)}" for finding in result for place in finding["places"]
    }


def _blame(finding: VerdictRecord) -> str:
    return f"{finding['kind']} by {finding.get('party', 'nobody')}"


def _place(place: VerdictRecord) -> str:
    origin = place.get("origin")
    parts = (
        f"{place['column'] or 'row'} of {place['key']}",
        f"{place['found']!r} instead of {place['expected']!r}",
        f"{origin['name']} of {origin['key']} after step {origin['step']}" if origin else "",
        f"from {place['file']}" if place.get("file") else "",
        f"raw {place['raw']}" if place.get("raw") else "",
    )
    return ", ".join(filter(None, parts))


def counts(variants: Iterable[Recorded]) -> Counter[str]:
    return Counter(
        str(verdict["verdict"]) for variant in variants for verdict in variant.verdicts.values()
    )
