"""A run, step by step; each step can be repeated from the records before it.

1. plan: what is written and what is asked, in `run.json` (`plan_record`)
2. fetch: the engines that are not in the cache yet
3. write: every variant, frozen after each step; `states.jsonl`
4. read: every reader is asked about each variant from when it is written; `answers.jsonl`
5. judge: each answer as it comes, all of a variant together at the end; `verdicts.jsonl`
6. second round: what nothing explains is asked again, of fresh servers, and judged with the rest
7. gate and report: what the run ends with (`run_gate`, `cli.runs`)

`runs/begun` points to the run begun last, `runs/latest` to it once it has an answer, or ends.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.artifacts import cache_cleanup, distributions
from harness.artifacts.result_cache import ResultCache
from harness.core import jsonl
from harness.core.concurrency import ClosableQueue, JobThreads
from harness.core.records import Answer, StateRecord
from harness.core.runtime_names import PROCESS
from harness.judge.baseline import Applied
from harness.read import read_states
from harness.read.reader_servers import ReadContext
from harness.run import (
    baseline_files,
    load_run,
    needed_artifacts,
    plan_record,
    run_folder,
    run_info,
    run_log,
    second_round,
)
from harness.run.follow_run import LiveVerdicts
from harness.run.load_run import Run
from harness.run.report_cache import ReportCache
from harness.run.run_info import ReaderInfo
from harness.run.run_judge import RunJudge
from harness.run.run_work import Work, states_of
from harness.run.strategy_answers import with_strategy_answers
from harness.runtime import image_choice
from harness.runtime.metastore_client import CatalogGoneProblem
from harness.runtime.process import EndedProblem
from harness.scenario.cells import Plan
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.state_store import States
from harness.write.writer_pool import WriteContext


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run that was judged just now."""

    run: Run
    applied: Applied
    """Its verdicts, those on its steps too, with what the baselines of now say."""


def run(plan: Plan, work: Work, *, fresh: bool, resume: bool = False) -> JudgedRun:
    """Do the steps 2 to 6 for a plan that is recorded in the run's folder.

    Args:
        plan: the plan.
        work: where.
        fresh: engines are asked also what earlier runs asked.
        resume: what this run has an answer for is not asked again.

    """
    live = live_verdicts(plan, work)
    fetch(plan, work)
    write_and_read(plan, work, live, fresh=fresh, resume=resume)
    return judge_twice(plan, work, live)


def live_verdicts(plan: Plan, work: Work) -> LiveVerdicts:
    """Return the one judge of a run's answers."""
    return LiveVerdicts(plan, RunJudge(plan, ResultCache.in_cache(work.cache)), work.folder)


def clean(work: Work) -> None:
    """Remove what a harness that died left in the cache, in this run and in those beside it."""
    run_folder.clean(work.folder)
    run_folder.clean_others(work.folder)
    gone = cache_cleanup.sweep(work.cache)
    if gone:
        work.progress.note(f"removed what a run that died was making: {len(gone)} in the cache")


def fetch(plan: Plan, work: Work) -> None:
    """Fetch all that a plan needs, and note in `run.json` which images answer.

    What is not sure of a distribution is said.

    Raises:
        EnvironmentProblem: something cannot be had.

    """
    needed = needed_artifacts.needed(plan)
    needed_artifacts.fetch_all(needed, work.cache, work.progress)
    for notice in filter(None, (distributions.load(name).notice for name in needed)):
        work.progress.note(notice)
    info = run_info.read_info(work.folder)
    readers = tuple(map(_with_image, info.readers))
    if readers != info.readers:
        run_info.write_info(work.folder, replace(info, readers=readers))


def _with_image(reader: ReaderInfo) -> ReaderInfo:
    distribution = distributions.load(reader.distribution)
    if distribution.runtime == PROCESS:
        return reader
    image = image_choice.chosen(reader.distribution).fidelity
    parts = image, distribution.overlaid, distribution.notice
    return replace(reader, fidelity="; ".join(filter(None, parts)))


def write_states(plan: Plan, work: Work) -> None:
    """Write every variant, or find its states; fill `states.jsonl` as they come.

    At last they are in the order of the plan.
    """
    for _ in _write_states(plan, work):
        pass


def _write_states(plan: Plan, work: Work) -> Iterator[VariantResult]:
    """Yield what came of each variant once it is recorded."""
    states: list[StateRecord] = []
    (work.folder / run_folder.ENGINES).mkdir(exist_ok=True)
    path = work.folder / load_run.STATES
    path.write_bytes(b"")
    with (
        run_log.phase("write"),
        jsonl.adding(path) as add,
        closing(_results(plan, work.write_context(plan))) as results,
    ):
        for result in results:
            run_log.log_states(result.records)
            states.extend(result.records)
            add(result.records)
            yield result
    order = {variant.id: at for at, variant in enumerate(plan.variants)}
    jsonl.write_all(path, sorted(states, key=lambda state: order[state.variant]))


def _results(plan: Plan, context: WriteContext) -> Generator[VariantResult, None, None]:
    """Write; once more what is left when the metastore, or a start, was lost on the way."""
    done: set[str] = set()
    try:
        for result in write_variants.write(plan.variants, context):
            done.update(state.variant for state in result.records)
            yield result
    except (CatalogGoneProblem, EndedProblem) as problem:
        context.progress.note(f"{problem}; what is left is written once more")
        left = [variant for variant in plan.variants if variant.id not in done]
        yield from write_variants.write(left, context)


def read_answers(
    plan: Plan,
    work: Work,
    live: LiveVerdicts | None = None,
    *,
    fresh: bool,
    resume: bool = False,
) -> None:
    """Ask every reader; fill `answers.jsonl` as answers come, in the order of the plan at last.

    `resume`: what this run has an answer for is not asked again.
    """
    live = live or live_verdicts(plan, work)
    states = load_run.load(work.folder).states
    live.judge.add_states(states)
    context = work.read_context(plan, fresh=fresh)
    _read(plan, [states_of(states, work.cache)], work, context, live, resume=resume)


def write_and_read(
    plan: Plan,
    work: Work,
    live: LiveVerdicts | None = None,
    *,
    fresh: bool,
    resume: bool = False,
) -> None:
    """Write every variant, and ask every reader about each from when it is written.

    As `write_states` and `read_answers`. What fails in reading is raised once all is written.
    """
    live = live or live_verdicts(plan, work)
    threads, written = JobThreads(1), ClosableQueue[States]()
    context, states = work.read_context(plan, fresh=fresh), _until_failure(written, threads)
    reading = partial(_read, plan, states, work, context, live, resume=resume)
    # What breaks off the writing is known to the threads before the queue is closed for it.
    with closing(written), threads.running([reading]):
        with context.memory_budget.reserve(write_variants.memory_mb(plan.variants)):
            for result in _write_states(plan, work):
                live.judge.add_states(result.records)
                written.put_all([result.states])
        written.close()


def _until_failure(written: ClosableQueue[States], threads: JobThreads) -> Iterator[States]:
    """Yield the states of each variant as it is written.

    Raises:
        HaltedError: writing failed.

    """
    while some := written.take_all():
        threads.check()
        yield from some
    threads.check()


@run_log.phase("read")
def _read(
    plan: Plan,
    states: Iterable[States],
    work: Work,
    context: ReadContext,
    live: LiveVerdicts,
    *,
    resume: bool,
) -> None:
    before, answered = load_run.answers(work.folder), set[str]()
    cells = [cell for cell in plan.cells if not (resume and _known(before.get(cell.case)))]
    left = replace(plan, cells=tuple(cells))
    load_run.sort_answers(work.folder)  # without what a death cut off
    with (
        jsonl.adding(work.folder / load_run.ANSWERS) as add,
        read_states.count_cells(left, context) as count,
        closing(read_states.read(left, states, context, count)) as answers,
    ):
        shown = False
        for answer in answers:
            run_log.log_answer(answer)
            answered.add(answer.case)
            add([answer])
            if (verdict := live.add_answer(answer)) is not None:
                count.judge([verdict.verdict])
            if not (shown or answer.unknown or answer.not_applicable):
                run_folder.show(work.folder)
                shown = True
    stays = resume or not context.fresh
    in_order = (cell.case for cell in plan.cells if stays or cell.case in answered)
    load_run.sort_answers(work.folder, in_order)
    run_folder.clean(work.folder)


def _known(answer: Answer | None) -> bool:
    return answer is not None and not answer.unknown


def judge_twice(plan: Plan, work: Work, live: LiveVerdicts) -> JudgedRun:
    """Judge a run; ask once more what nothing explains, and judge with what came.

    Raises:
        UsageProblem: a table that is asked about again is no longer in the cache.

    """
    judged = judge_run(work.folder, live.judge)
    cells = second_round.cells_to_ask(plan, judged.applied.verdicts, judged.run.answers)
    if not cells:
        return judged
    second_round.ask(plan, work, cells, live.add_answer)
    return judge_run(work.folder, live.judge)


@run_log.phase("judge")
def judge_run(folder: Path, judge: RunJudge | None = None) -> JudgedRun:
    """Judge what was answered, and say what of it is known; no engine.

    `judge`: knows what it judged already; None: all is judged.
    """
    recorded = load_run.recorded(folder)
    plan = plan_record.plan_of(recorded.info)
    judge = judge or RunJudge(plan)
    lines = baseline_files.lines_of(recorded, plan)
    jsonl.write_all(folder / load_run.VERDICTS, map(lines.apply, judge.verdicts(recorded)))
    files = (folder / name for name in (load_run.STATES, load_run.ANSWERS, load_run.VERDICTS))
    cache = ReportCache.of(judge.results, recorded.info, files)
    run = replace(load_run.with_verdicts(recorded), kept=cache)
    return JudgedRun(with_strategy_answers(run), lines.applied(tuple(run.recorded.values())))


def update_baselines(folder: Path) -> baseline_files.Updated:
    """Write what a run shows into the baselines of its scenarios."""
    recorded = load_run.recorded(folder)
    plan = plan_record.plan_of(recorded.info)
    verdicts = map(jsonl.VerdictParts(), RunJudge(plan).verdicts(recorded))
    return baseline_files.update(recorded, plan, tuple(verdicts))
