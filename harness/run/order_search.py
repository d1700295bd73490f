"""The question on which an answer depends: looked for where a fresh server gave another answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import Answer, StateRecord
from harness.read import earlier_question
from harness.run import pipeline
from harness.run.pipeline import Work
from harness.scenario.cells import Cell, Plan

MOST: Final = 3
"""For so many answers it is looked for: each takes several servers."""
MOST_SUSPECTS: Final = 32
"""Of more readers and variants than these, formats stand for variants."""


def search(
    plan: Plan, work: Work, states: Sequence[StateRecord], answers: Mapping[str, Answer]
) -> Mapping[str, Answer]:
    """Return the first answers that depend on an earlier question, each with it where it is found.

    Args:
        plan: whose cells were asked about.
        work: where servers run.
        states: all that were recorded.
        answers: all that were recorded, by case.

    Raises:
        UsageProblem: a table that is asked about is no longer in the cache.

    """
    depending = [each for each in plan.cells if each.case in answers and answers[each.case].earlier]
    found: dict[str, Answer] = {}
    for cell in depending[:MOST]:
        asked = [each for each in suspects(plan, cell) if _sent(answers.get(each.case))]
        answer = answers[cell.case]
        found[cell.case] = replace(answer, after=_question(plan, work, states, cell, asked, answer))
    return found


def suspects(plan: Plan, cell: Cell) -> Sequence[Cell]:
    """Return questions to the server of a cell that stand for all others that it was asked.

    Of each reader and variant, or of each reader and format where these would be too many, it is
    the last one up to the step of the cell.
    """
    server = cell.distribution
    others = [each for each in plan.cells if each != cell and each.distribution == server]
    of = {each.id: each.format for each in plan.variants}
    found = grouped(((each.reader, each.variant), each) for each in others)
    if len(found) > MOST_SUSPECTS:
        found = grouped(((each.reader, of[each.variant]), each) for each in others)
    return [max(group, key=lambda each: _newest(each, cell.step)) for group in found.values()]


def _newest(cell: Cell, step: int) -> tuple[bool, int]:
    return cell.step <= step, cell.step


def _sent(answer: Answer | None) -> bool:
    return answer is not None and bool(answer.columns or answer.refusal)


def _question(
    plan: Plan,
    work: Work,
    states: Sequence[StateRecord],
    cell: Cell,
    asked: Sequence[Cell],
    answer: Answer,
) -> str:
    """Return the case of the question that makes a fresh server answer as an earlier one did."""
    if answer.earlier is None:
        return ""
    work.progress.note(f"look for the question on which the answer of {cell.case} depends")
    about = {each.variant for each in (*asked, cell)}
    there = pipeline.states_of((each for each in states if each.variant in about), work.cache)
    context = pipeline.read_context(plan, work, fresh=True)
    few = replace(plan, cells=(*asked, cell))
    return earlier_question.find(few, there, context, cell.case, answer.earlier)
