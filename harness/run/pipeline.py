"""The six verbs on a run directory; each can be repeated from the records.

They come one after another, but where both are to be done a variant is read once it is written.

`runs/<id>/` holds `run.json` (the plan), `states.jsonl`, `answers.jsonl`, `verdicts.jsonl`, the
reports and `harness.log`; `runs/begun` points to the run begun last,
`runs/latest` to it once it has an answer, or ends.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from harness.artifacts import cache_cleanup, distributions
from harness.artifacts.cache import Cache
from harness.artifacts.result_cache import ResultCache
from harness.core import jsonl, shared_values
from harness.core.concurrency import ClosableQueue, JobThreads
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.progress import Progress
from harness.core.records import Answer, StateRecord, Verdict, VerdictKind
from harness.core.runtime_names import PROCESS
from harness.judge import verdicts
from harness.judge.baseline import Applied
from harness.read import read_states
from harness.read.reader_servers import TIMEOUT_S, ReadContext
from harness.run import (
    baseline_files,
    held_to_controls,
    load_run,
    needed_artifacts,
    plan_record,
    report_cache,
    run_folder,
    run_info,
    run_log,
)
from harness.run.live_verdicts import VerdictKinds
from harness.run.load_run import Run
from harness.run.recorded_case import case_of
from harness.run.report_cache import ReportCache
from harness.run.run_info import ReaderInfo
from harness.runtime import image_choice
from harness.runtime.metastore_client import CatalogGoneProblem
from harness.runtime.readiness import EndedProblem
from harness.scenario.cells import Cell, Plan, Variant
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.table_state import States
from harness.write.writer_pool import TIMEOUT_S as WRITE_TIMEOUT_S
from harness.write.writer_pool import WriteContext


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long engines may take, in seconds."""

    query: float = TIMEOUT_S
    """After so long a reader's query counts as unanswered."""
    statement: float = WRITE_TIMEOUT_S
    """After so long a writer's statement does."""


@dataclass(frozen=True, slots=True)
class Work:
    """What every phase needs: the cache, the run's folder, the display and the time limits."""

    cache: Cache
    folder: Path
    progress: Progress
    limits: TimeLimits = TimeLimits()


def _missing_state(variant: str, step: int, cache: Path) -> UsageProblem:
    return UsageProblem(
        f"the state of {variant} after step {step} is no longer in {cache}; "
        "run the profile again to write it"
    )


def clean(work: Work) -> None:
    """Remove what a harness that died left in the cache, in this run and in those beside it."""
    run_folder.clean(work.folder)
    run_folder.clean_others(work.folder)
    gone = cache_cleanup.sweep(work.cache)
    if gone:
        work.progress.note(f"removed what a run that died was making: {len(gone)} in the cache")


def prepare(plan: Plan, work: Work) -> None:
    """Make all that a plan needs be there, and note in `run.json` which images answer.

    What is not sure of a distribution is said.

    Raises:
        EnvironmentProblem: something cannot be had.

    """
    needed = needed_artifacts.needed(plan)
    needed_artifacts.fetch_all(needed, work.cache, work.progress)
    for notice in filter(None, (distributions.load(name).notice for name in needed)):
        work.progress.note(notice)
    info = run_info.read_info(work.folder)
    readers = tuple(_with_image(each) for each in info.readers)
    if readers != info.readers:
        run_info.write_info(work.folder, replace(info, readers=readers))


def _with_image(reader: ReaderInfo) -> ReaderInfo:
    found = distributions.load(reader.distribution)
    if found.runtime == PROCESS:
        return reader
    image = image_choice.chosen(reader.distribution).fidelity
    told = "; ".join(filter(None, (image, found.overlaid, found.notice)))
    return replace(reader, fidelity=told)


def write_states(plan: Plan, work: Work) -> None:
    """Write every variant, or find its states; fill `states.jsonl` as they come.

    At last they are in the order of the plan.
    """
    for _ in _write_states(plan, work):
        pass


def _write_states(plan: Plan, work: Work) -> Iterator[VariantResult]:
    """Yield what came of each variant once it is recorded."""
    states: list[StateRecord] = []
    folder, path = work.folder / run_folder.ENGINES, work.folder / load_run.STATES
    folder.mkdir(exist_ok=True)
    catalog = needed_artifacts.writers_metastore(plan)
    context = WriteContext(work.cache, folder, work.progress, work.limits.statement, catalog)
    path.write_bytes(b"")
    with (
        run_log.phase("write"),
        jsonl.adding(path) as add,
        closing(_results(plan, context)) as results,
    ):
        for each in results:
            run_log.log_states(each.records)
            states.extend(each.records)
            add(each.records)
            yield each
    order = {variant.id: at for at, variant in enumerate(plan.variants)}
    jsonl.write_all(path, sorted(states, key=lambda each: order[each.variant]))


def _results(plan: Plan, context: WriteContext) -> Generator[VariantResult, None, None]:
    """Write; once more what is left when the metastore, or a start, was lost on the way."""
    done: set[str] = set()
    try:
        for each in write_variants.write(plan.variants, context):
            done.update(state.variant for state in each.records)
            yield each
    except (CatalogGoneProblem, EndedProblem) as problem:
        context.progress.note(f"{problem}; what is left is written once more")
        left = [variant for variant in plan.variants if variant.id not in done]
        yield from write_variants.write(left, context)


def states_of(found: Iterable[StateRecord], cache: Cache) -> States:
    """Find the frozen states that a run names.

    Raises:
        UsageProblem: one is no longer in the cache.

    """
    found = list(found)
    states = write_variants.load(found, cache)
    for each in found:
        if each.digest and (each.variant, each.outcome.step) not in states:
            raise _missing_state(each.variant, each.outcome.step, cache.root)
    return states


def read_answers(plan: Plan, work: Work, *, fresh: bool, resume: bool = False) -> None:
    """Ask every reader; fill `answers.jsonl` as answers come, in the order of the plan at last.

    `resume`: what this run has an answer for is not asked again.
    """
    kinds, recorded = VerdictKinds(plan), load_run.load(work.folder).states
    kinds.written(recorded)
    context = read_context(plan, work, fresh=fresh)
    _read(plan, [states_of(recorded, work.cache)], work, context, kinds, resume=resume)


def write_and_read(plan: Plan, work: Work, *, fresh: bool, resume: bool = False) -> None:
    """Write every variant, and ask every reader about each from when it is written.

    As `write_states` and `read_answers`. What fails in reading is raised once all is written.
    """
    threads, written, kinds = JobThreads(1), ClosableQueue[States](), VerdictKinds(plan)
    context, states = read_context(plan, work, fresh=fresh), _until_failure(written, threads)
    reading = partial(_read, plan, states, work, context, kinds, resume=resume)
    # What breaks off the writing is known to the threads before the queue is closed for it.
    with closing(written), threads.running([reading]):
        with context.room.held(write_variants.memory_mb(plan.variants)):
            for each in _write_states(plan, work):
                kinds.written(each.records)
                written.put_all([each.states])
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
    kinds: VerdictKinds,
    *,
    resume: bool,
) -> None:
    before, came = load_run.answers(work.folder), set[str]()
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
            came.add(answer.case)
            add([answer])
            count.judge(filter(None, [kinds.of(answer)]))
            if not (shown or answer.unknown or answer.void):
                run_folder.show(work.folder)
                shown = True
    stays = resume or not context.fresh
    in_order = (cell.case for cell in plan.cells if stays or cell.case in came)
    load_run.sort_answers(work.folder, in_order)
    run_folder.clean(work.folder)


def _known(answer: Answer | None) -> bool:
    return answer is not None and not answer.unknown


def read_context(plan: Plan, work: Work, *, fresh: bool) -> ReadContext:
    """Return where readers are asked; `fresh`: what earlier runs asked as well."""
    folder, catalog = work.folder / run_folder.ENGINES, needed_artifacts.readers_metastore(plan)
    return ReadContext(
        work.cache, folder, work.progress, fresh, work.limits.query, metastore=catalog
    )


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run that was judged just now."""

    run: Run
    applied: Applied
    """Its verdicts, those on its steps too, with what the baselines of now say."""


@run_log.phase("judge")
def judge_run(folder: Path, results: ResultCache | None = None) -> JudgedRun:
    """Judge what was answered, and tell what of it is known; no engine.

    Variant by variant, so that no more than one is in memory with its answers. `results`: has the
    verdicts on variants that were recorded alike before; None: all are judged.
    """
    found = load_run.recorded(folder)
    plan = plan_record.plan_of(found.info)
    lines = baseline_files.lines_of(found, plan)
    verdicts_ = _verdicts(found, plan, results)
    jsonl.write_all(folder / load_run.VERDICTS, map(lines.apply, verdicts_))
    files = (folder / name for name in (load_run.STATES, load_run.ANSWERS, load_run.VERDICTS))
    run = replace(load_run.with_verdicts(found), kept=ReportCache.of(results, found.info, files))
    return JudgedRun(run, lines.applied(tuple(run.recorded.values())))


def update_baselines(folder: Path) -> baseline_files.Updated:
    """Write what a run shows into the baselines of its scenarios."""
    found = load_run.recorded(folder)
    plan = plan_record.plan_of(found.info)
    shared = map(shared_values.VerdictParts(), _verdicts(found, plan))
    return baseline_files.update(found, plan, tuple(shared))


def _verdicts(found: Run, plan: Plan, results: ResultCache | None = None) -> Iterator[Verdict]:
    """Yield the verdicts of each variant of a plan, one variant after another."""
    cells = grouped((cell.variant, cell) for cell in plan.cells)
    judged = partial(_of_variant, found, cells, results)
    controls = held_to_controls.controls_of(plan)
    with_controls = {cell.variant for cells in controls.values() for cell in cells}
    first = map(judged, (each for each in plan.variants if each.id in with_controls))
    failed = held_to_controls.failures(chain.from_iterable(first), controls, found.answers)
    for variant in plan.variants:
        for each in judged(variant):
            yield held_to_controls.hold(each, failed.get((each.reader, variant.format), ""))


def _of_variant(
    found: Run,
    cells: Mapping[str, Sequence[Cell]],
    results: ResultCache | None,
    variant: Variant,
) -> tuple[Verdict, ...]:
    """Return the verdicts on a variant, for which nothing of any other is looked at."""
    asked, states = cells.get(variant.id, ()), found.states_of(variant.id)
    there = [cell.case for cell in asked if cell.case in found.answers]

    def judge() -> tuple[Verdict, ...]:
        answers = {case: found.answers[case] for case in there}
        return verdicts.judge(case_of(variant, states), asked, answers)

    if results is None:
        return judge()
    lines = {case: load_run.answer_line(found.answers, case) for case in there}
    records = *map(jsonl.dump, states), *lines.values()
    told = repr(variant), repr(asked), repr(found.info.locks), *map(report_cache.unmarked, records)
    reused = {case for case, line in lines.items() if line != report_cache.unmarked(line)}
    # What is unknown is looked at again.
    known = results.records(Verdict, told, judge, lambda v: v.verdict is not VerdictKind.UNKNOWN)
    return tuple(replace(each, reused=bool(each.sql) and each.case in reused) for each in known)
