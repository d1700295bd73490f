"""Questions that fresh servers are asked a second time: an answer may depend on what came before.

Servers keep state between questions, whoever asks them. Which answers are asked for again follows
from the verdicts (`due`); then all is judged anew.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

from harness.artifacts.result_cache import ResultCache
from harness.core import jsonl
from harness.core.grouping import grouped
from harness.core.records import Answer, Verdict, VerdictKind
from harness.core.responsible import Responsible
from harness.read import read_states
from harness.run import load_run, order_search, pipeline, run_folder, run_log
from harness.run.pipeline import JudgedRun, Work
from harness.scenario.cells import AskedAgain, Cell, Plan

MOST_SERVERS: Final = 20
"""Of more readers and variants than these, tables of one format share a fresh server."""
ONE_OF: Final = 50
"""A sample has one right answer of so many."""


def due(verdict: Verdict, answer: Answer | None, wanted: AskedAgain) -> bool:
    """Return whether the answer of a cell is asked for once more.

    Not where the files hold what is wrong, nor what a fresh server has answered already.
    """
    asked = answer is not None and answer.has_table and not answer.again
    return asked and suspected(verdict, wanted)


def suspected(verdict: Verdict, wanted: AskedAgain) -> bool:
    """Return whether an answer may be owed to what its server was asked before; or is a sample."""
    if verdict.verdict is VerdictKind.WRONG:
        own = any(each.party in {Responsible.READER, None} for each in verdict.findings)
        return own and not verdict.reproduces
    right = verdict.verdict is VerdictKind.CORRECT
    return right and wanted is AskedAgain.SAMPLE and zlib.crc32(verdict.case.encode()) % ONE_OF == 0


def judge(plan: Plan, work: Work) -> JudgedRun:
    """Judge a run, ask for some of its answers again, and judge it with what comes.

    Raises:
        MissingStateProblem: a table that is asked about again is no longer in the cache.

    """
    results = ResultCache.of(work.cache)
    judged = pipeline.judge_run(work.folder, results)
    answers, again = judged.run.answers, plan.ask_again
    suspects = (each for each in judged.applied.verdicts if suspected(each, again))
    wanted = {each.case for each in suspects if due(each, answers.get(each.case), again)}
    cells = [cell for cell in plan.cells if wanted and cell.case in wanted]
    if not cells:
        return judged
    ask(plan, work, cells)
    return pipeline.judge_run(work.folder, results)


@run_log.phase("ask again")
def ask(plan: Plan, work: Work, cells: Sequence[Cell]) -> None:
    """Ask about cells once more, of fresh servers; what comes is in `answers.jsonl` afterwards."""
    path, found = work.folder / load_run.ANSWERS, load_run.recorded(work.folder)
    context = pipeline.read_context(plan, work, fresh=True)
    with jsonl.adding(path) as add:
        for group in groups(plan, cells):
            variants = {cell.variant for cell in group}
            recorded = (each for each in found.states if each.variant in variants)
            states, again = pipeline.states_of(recorded, work.cache), replace(plan, cells=group)
            with (
                work.progress.count("ask again", len(group)) as count,
                closing(
                    read_states.read(again, [states], context, count, found.answers)
                ) as answers,
            ):
                for answer in answers:
                    run_log.log_answer(answer)
                    add([answer])
        got = load_run.answers(work.folder)
        add(order_search.search(plan, work, found.states, got).values())
    load_run.sort_answers(work.folder, (cell.case for cell in plan.cells))
    run_folder.clean(work.folder)


def groups(plan: Plan, cells: Iterable[Cell]) -> Sequence[tuple[Cell, ...]]:
    """Return the cells by the fresh server that is asked about them.

    Each reader has one of its own for each variant; where that would be too many servers, each
    distribution has one for each format.
    """
    cells = tuple(cells)
    of = {each.id: each.format for each in plan.variants}
    fine = grouped(((cell.reader, cell.variant), cell) for cell in cells)
    if len(fine) <= MOST_SERVERS:
        return tuple(map(tuple, fine.values()))
    coarse = grouped(((cell.distribution, of[cell.variant]), cell) for cell in cells)
    return tuple(map(tuple, coarse.values()))
