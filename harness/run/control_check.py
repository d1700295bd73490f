"""No verdict on a reader that does not read its control: its set-up may be wrong. Pure.

A control is a table whose schema never changed; readers that are not shipped as they stand are
asked about one of each format (`plan.controls`).
"""

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
_PASSED: Final = frozenset({VerdictKind.CORRECT, VerdictKind.UNSUPPORTED})
"""Verdicts on a control with which those on the other cells stand."""

ReaderFormat = tuple[str, str]
Controls = Mapping[ReaderFormat, Sequence[Cell]]


def controls_of(plan: Plan) -> Controls:
    """Return the controls of each reader and format that has some."""
    variants = {variant.id: variant for variant in plan.variants}
    return grouped(
        ((cell.reader, variants[cell.variant].format), cell)
        for cell in plan.cells
        if controls.is_control(cell, variants[cell.variant], plan.metastore)
    )


def failures(
    verdicts: Iterable[Verdict], of: Controls, answers: Mapping[str, Answer]
) -> Mapping[ReaderFormat, str]:
    """Return why nothing is known of each reader and format whose controls all failed.

    `verdicts`: those on the controls, maybe among others.
    """
    by_case = {verdict.case: verdict for verdict in verdicts}
    reasons = {
        key: _failure([by_case[c.case] for c in cells if c.case in by_case], answers, key[1])
        for key, cells in of.items()
    }
    return {key: why for key, why in reasons.items() if why}


def invalidate(verdict: Verdict, why: str) -> Verdict:
    """Return a verdict as a failure of its reader's controls leaves it; no `why`: as it is.

    What is unknown anyway keeps its reason.
    """
    if not why or verdict.verdict is VerdictKind.UNKNOWN:
        return verdict
    return replace(
        verdict,
        verdict=VerdictKind.UNKNOWN,
        because=why,
        findings=(),
        reproduces=(),
        inconclusive=False,
    )


def _failure(judged: Sequence[Verdict], answers: Mapping[str, Answer], format_name: str) -> str:
    if not judged or any(verdict.verdict in _PASSED for verdict in judged):
        return ""
    first, answer = judged[0], answers.get(judged[0].case)
    refusal = answer.refusal if answer else None
    seen = refusals.text(refusal) if refusal else first.because or "; ".join(_seen(first))
    return (
        f"{SET_UP}{first.reader} does not read a {format_name} table that never changed "
        f"({first.verdict}: {seen}); is it set up rightly?"
    )


def _seen(verdict: Verdict) -> Iterable[str]:
    for finding in verdict.findings:
        first = finding.places[:1]
        where = "".join(f" at {witness.column or 'row'} of {witness.key}" for witness in first)
        yield f"{finding.kind}{where}"
