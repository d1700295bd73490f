"""No verdict on a reader that does not read the control: its set-up may be wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.core import refusals
from harness.core.records import Answer, Verdict, VerdictKind
from harness.plan import controls
from harness.scenario.cells import Cell, Plan

SET_UP: Final = "set-up: "
"""What the reason of such a verdict begins with."""
_STANDS: Final = frozenset({VerdictKind.CORRECT, VerdictKind.UNSUPPORTED})
"""Verdicts on a control with which those on the other cells stand."""

ReaderFormat = tuple[str, str]


def controls_of(plan: Plan) -> Mapping[ReaderFormat, Cell]:
    """Return the control of each reader and format that has one."""
    of = {each.id: each for each in plan.variants}
    found = (cell for cell in plan.cells if controls.is_control(cell, of[cell.variant]))
    # The first one counts, which the plan added.
    return {(cell.reader, of[cell.variant].format): cell for cell in reversed(tuple(found))}


def held(
    verdicts: Sequence[Verdict], plan: Plan, answers: Mapping[str, Answer]
) -> tuple[Verdict, ...]:
    """Return the verdicts, unknown where the reader does not read the control of the format.

    So is the one on the control itself. What is unknown anyway keeps its reason.
    """
    found = controls_of(plan)
    by_case = {each.case: each for each in verdicts}
    failed = {
        key: _reason(cell, by_case[cell.case], answers.get(cell.case), key[1])
        for key, cell in found.items()
        if cell.case in by_case and by_case[cell.case].verdict not in _STANDS
    }
    formats = _formats(plan)
    return tuple(
        _held(each, failed.get((each.reader, formats[each.variant]), "")) for each in verdicts
    )


def _held(verdict: Verdict, why: str) -> Verdict:
    if not why or verdict.verdict is VerdictKind.UNKNOWN:
        return verdict
    return replace(
        verdict, verdict=VerdictKind.UNKNOWN, because=why, findings=(), reproduces=(), scant=False
    )


def _reason(cell: Cell, verdict: Verdict, answer: Answer | None, format_name: str) -> str:
    refusal = answer.refusal if answer else None
    seen = refusals.text(refusal) if refusal else verdict.because or "; ".join(_seen(verdict))
    told = f"{cell.reader} does not read a {format_name} table that never changed"
    return f"{SET_UP}{told} ({verdict.verdict}: {seen}); is it set up rightly?"


def _seen(verdict: Verdict) -> Iterable[str]:
    for each in verdict.findings:
        places = each.places[:1]
        where = "".join(f" at {place.column or 'row'} of {place.key}" for place in places)
        yield f"{each.kind}{where}"


def _formats(plan: Plan) -> Mapping[str, str]:
    return {each.id: each.format for each in plan.variants}
