"""Cells that fresh servers are asked a second time: an answer may depend on what came before.

Servers keep state between queries, whoever asks them. Which answers are asked for again follows
from the verdicts (`due`); then the run is judged anew. Where a fresh server gives another answer,
the earlier query is searched on which the first one depends.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

from harness.core import jsonl
from harness.core.grouping import grouped
from harness.core.records import Answer, Responsible, StateRecord, Verdict, VerdictKind
from harness.read import earlier_question, read_states
from harness.run import load_run, run_folder, run_log
from harness.run.run_work import Work, states_of
from harness.scenario.cells import AskedAgain, Cell, Plan

MOST_SERVERS: Final = 20
"""Of more readers and variants than these, tables of one format share a fresh server."""
ONE_OF: Final = 50
"""A sample has one right answer of so many."""
MOST_SEARCHES: Final = 3
"""For so many answers the earlier query is searched: each search takes several servers."""
MOST_SUSPECTS: Final = 32
"""Of more readers and variants than these, formats stand for variants."""

AnswerTaker = Callable[[Answer], object]


def due(verdict: Verdict, answer: Answer | None, which: AskedAgain) -> bool:
    """Return whether the answer of a cell is asked for once more.

    Not where the files hold what is wrong, nor what a fresh server has answered already.
    """
    asked = answer is not None and answer.has_table and not answer.again
    return asked and suspected(verdict, which)


def suspected(verdict: Verdict, which: AskedAgain) -> bool:
    """Return whether an answer may be owed to what its server was asked before; or is a sample."""
    if verdict.verdict is VerdictKind.WRONG:
        by_reader = any(
            finding.responsible in {Responsible.READER, None} for finding in verdict.findings
        )
        return by_reader and not verdict.reproduces
    right = verdict.verdict is VerdictKind.CORRECT
    return right and which is AskedAgain.SAMPLE and zlib.crc32(verdict.case.encode()) % ONE_OF == 0


def cells_to_ask(
    plan: Plan, verdicts: Iterable[Verdict], answers: Mapping[str, Answer]
) -> Sequence[Cell]:
    """Return the cells that are asked again after these verdicts on the first answers."""
    suspects = (verdict.case for verdict in verdicts if suspected(verdict, plan.ask_again))
    # Only now is any answer read: most often none is suspected.
    cases = {case for case in suspects if _can_be_asked(answers.get(case))}
    return [cell for cell in plan.cells if cell.case in cases]


def _can_be_asked(answer: Answer | None) -> bool:
    return answer is not None and answer.has_table and not answer.again


@run_log.phase("ask again")
def ask(plan: Plan, work: Work, cells: Sequence[Cell], take: AnswerTaker) -> None:
    """Ask fresh servers about cells once more; what comes is in `answers.jsonl` afterwards.

    `take`: gets each answer once it is recorded.

    Raises:
        UsageProblem: a table that is asked about again is no longer in the cache.

    """
    run = load_run.recorded(work.folder)
    context = work.read_context(plan, fresh=True)
    with jsonl.adding(work.folder / load_run.ANSWERS) as add:
        for group in groups(plan, cells):
            states = states_of(_about(run.states, group), work.cache)
            again = replace(plan, cells=group)
            with (
                work.progress.count("ask again", len(group)) as count,
                closing(read_states.read(again, [states], context, count, run.answers)) as answers,
            ):
                for answer in answers:
                    run_log.log_answer(answer)
                    add([answer])
                    take(answer)
        for answer in _with_earlier_queries(plan, work, run.states):
            add([answer])
            take(answer)
    load_run.sort_answers(work.folder, (cell.case for cell in plan.cells))
    run_folder.clean(work.folder)


def groups(plan: Plan, cells: Iterable[Cell]) -> Sequence[tuple[Cell, ...]]:
    """Return the cells by the fresh server that is asked about them.

    Each reader has one for each variant; where that would be too many servers, each distribution
    has one for each format.
    """
    cells = tuple(cells)
    formats = {variant.id: variant.format for variant in plan.variants}
    fine = grouped(((cell.reader, cell.variant), cell) for cell in cells)
    if len(fine) <= MOST_SERVERS:
        return tuple(map(tuple, fine.values()))
    coarse = grouped(((cell.distribution, formats[cell.variant]), cell) for cell in cells)
    return tuple(map(tuple, coarse.values()))


def _about(states: Iterable[StateRecord], cells: Iterable[Cell]) -> list[StateRecord]:
    variants = {cell.variant for cell in cells}
    return [state for state in states if state.variant in variants]


def _with_earlier_queries(
    plan: Plan, work: Work, states: Sequence[StateRecord]
) -> Iterable[Answer]:
    """Yield the first answers that depend on an earlier query, each with it where it is known."""
    answers = load_run.answers(work.folder)
    depending = [c for c in plan.cells if c.case in answers and answers[c.case].earlier]
    for cell in depending[:MOST_SEARCHES]:
        answer = answers[cell.case]
        if answer.earlier is None:
            continue
        work.progress.note(f"search the query on which the answer of {cell.case} depends")
        asked = [c for c in suspects(plan, cell) if _was_sent(answers.get(c.case))]
        few = replace(plan, cells=(*asked, cell))
        frozen = states_of(_about(states, few.cells), work.cache)
        context = work.read_context(plan, fresh=True)
        after = earlier_question.find_culprit(few, frozen, context, cell.case, answer.earlier)
        yield replace(answer, after=after)


def suspects(plan: Plan, cell: Cell) -> Sequence[Cell]:
    """Return queries to the server of a cell that stand for all others that it was asked.

    Of each reader and variant, or of each reader and format where these would be too many, it is
    the last one up to the step of the cell.
    """
    others = [c for c in plan.cells if c != cell and c.distribution == cell.distribution]
    formats = {variant.id: variant.format for variant in plan.variants}
    by_server = grouped(((other.reader, other.variant), other) for other in others)
    if len(by_server) > MOST_SUSPECTS:
        by_server = grouped(((other.reader, formats[other.variant]), other) for other in others)
    return [max(group, key=lambda c: (c.step <= cell.step, c.step)) for group in by_server.values()]


def _was_sent(answer: Answer | None) -> bool:
    return answer is not None and bool(answer.columns or answer.refusal)
