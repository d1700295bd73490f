"""No verdict on a reader that does not read the control: its set-up may be wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.core import refusals
from harness.core.grouping import grouped
from harness.core.records import Answer, Verdict, VerdictKind
from harness.plan import controls
from harness.scenario.cells import Cell, Plan

SET_UP: Final = "set-up: "
"""What the reason of such a verdict begins with."""
_STANDS: Final = frozenset({VerdictKind.CORRECT, VerdictKind.UNSUPPORTED})
"""Verdicts on a control with which those on the other cells stand."""

ReaderFormat = tuple[str, str]


def controls_of(plan: Plan) -> Mapping[ReaderFormat, Sequence[Cell]]:
    """Return the controls of each reader and format that has some."""
    of = {each.id: each for each in plan.variants}
    return grouped(
        ((cell.reader, of[cell.variant].format), cell)
        for cell in plan.cells
        if controls.is_control(cell, of[cell.variant], plan.metastore)
    )


def held(
    verdicts: Sequence[Verdict], plan: Plan, answers: Mapping[str, Answer]
) -> tuple[Verdict, ...]:
    """Return the verdicts, unknown where the reader reads no control of the format rightly.

    So are those on the controls themselves. What is unknown anyway keeps its reason.
    """
    failed = failures(verdicts, controls_of(plan), answers)
    formats = {each.id: each.format for each in plan.variants}
    return tuple(
        hold(each, failed.get((each.reader, formats[each.variant]), "")) for each in verdicts
    )


def failures(
    verdicts: Iterable[Verdict],
    of: Mapping[ReaderFormat, Sequence[Cell]],
    answers: Mapping[str, Answer],
) -> Mapping[ReaderFormat, str]:
    """Return why nothing is said of each reader and format, given the verdicts on controls."""
    by_case = {each.case: each for each in verdicts}
    return {
        key: failure([by_case[c.case] for c in cells if c.case in by_case], answers, key[1])
        for key, cells in of.items()
    }


def failure(judged: Sequence[Verdict], answers: Mapping[str, Answer], format_name: str) -> str:
    """Return why nothing is said of a reader, given the verdicts on its controls; empty: it is."""
    if not judged or any(each.verdict in _STANDS for each in judged):
        return ""
    return _reason(judged[0], answers.get(judged[0].case), format_name)


def hold(verdict: Verdict, why: str) -> Verdict:
    """Return a verdict as a failure of its reader's controls leaves it; empty: as it is."""
    if not why or verdict.verdict is VerdictKind.UNKNOWN:
        return verdict
    return replace(
        verdict, verdict=VerdictKind.UNKNOWN, because=why, findings=(), reproduces=(), scant=False
    )


def _reason(verdict: Verdict, answer: Answer | None, format_name: str) -> str:
    refusal = answer.refusal if answer else None
    seen = refusals.text(refusal) if refusal else verdict.because or "; ".join(_seen(verdict))
    told = f"{verdict.reader} does not read a {format_name} table that never changed"
    return f"{SET_UP}{told} ({verdict.verdict}: {seen}); is it set up rightly?"


def _seen(verdict: Verdict) -> Iterable[str]:
    for each in verdict.findings:
        places = each.places[:1]
        where = "".join(f" at {place.column or 'row'} of {place.key}" for place in places)
        yield f"{each.kind}{where}"
