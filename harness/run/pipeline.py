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

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from harness.artifacts import cache_cleanup, distributions, fetch, object_storage
from harness.artifacts.cache import Cache
from harness.artifacts.result_cache import ResultCache
from harness.core import jsonl, runtime_names
from harness.core.concurrency import ClosableQueue, JobThreads
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.progress import Progress
from harness.core.records import Answer, StateRecord
from harness.core.runtime_names import CONTAINER, ENDPOINT, PROCESS, MetastoreChoice
from harness.core.texts import counted
from harness.judge.baseline import Applied
from harness.read import TIMEOUT_S, platform_tables, read_states
from harness.read.questions import CellQuestion
from harness.read.reader_servers import ReadContext
from harness.run import baseline_files, load_run, plan_record, run_folder, run_log
from harness.run.load_run import ReaderInfo, ReportCache, Run
from harness.run.run_judge import RunJudge, due, with_strategy_answers
from harness.runtime import hive_mutation, image_choice, metastore, provide
from harness.runtime.metastore_client import CatalogGoneProblem
from harness.runtime.process import EndedProblem
from harness.scenario.cells import Cell, Plan
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.state_store import States
from harness.write.writer_pool import TIMEOUT_S as WRITE_TIMEOUT_S
from harness.write.writer_pool import WriteContext


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run that was judged just now."""

    run: Run
    applied: Applied
    """Its verdicts, those on its steps too, with what the baselines of now say."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long engines may take, in seconds."""

    query: float = TIMEOUT_S
    """After so long a reader's query counts as unanswered."""
    statement: float = WRITE_TIMEOUT_S
    """After so long a writer's statement does."""


@dataclass(frozen=True, slots=True)
class Work:
    cache: Cache
    folder: Path
    progress: Progress
    limits: TimeLimits = TimeLimits()

    def read_context(self, plan: Plan, *, fresh: bool) -> ReadContext:
        """Return where readers are asked; `fresh`: also what earlier runs asked."""
        folder, usual = self.folder / run_folder.ENGINES, plan.metastore.usual
        catalog = MetastoreChoice(metastore_of(plan)) if usual else plan.metastore
        return ReadContext(
            self.cache, folder, self.progress, fresh, self.limits.query, metastore=catalog
        )


def run(plan: Plan, work: Work, *, fresh: bool, resume: bool = False) -> JudgedRun:
    """Do the steps 2 to 6 for a plan that is recorded in the run's folder.

    `fresh`: engines are asked also what earlier runs asked. `resume`: not what this run asked.
    """
    judge = judge_of(plan, work)
    fetch_plan(plan, work)
    write_and_read(plan, work, judge, fresh=fresh, resume=resume)
    return judge_twice(plan, work, judge)


def judge_of(plan: Plan, work: Work) -> RunJudge:
    return RunJudge(plan, ResultCache.in_cache(work.cache))


def clean(work: Work) -> None:
    """Remove what a harness that died left in the cache, in this run and in those beside it."""
    run_folder.clean(work.folder)
    run_folder.clean_others(work.folder)
    for line in platform_tables.sweep(work.cache):
        work.progress.note(line)
    gone = cache_cleanup.sweep(work.cache)
    if gone:
        work.progress.note(f"removed what a run that died was making: {len(gone)} in the cache")


def needed_distributions(plan: Plan) -> tuple[str, ...]:
    """Name every distribution that a plan needs, in the order of their use."""
    writers = {writer: None for variant in plan.variants for writer in variant.writers}
    tools = hive_mutation.needed(map(distributions.load, writers))
    every = (reader.distribution for reader in plan.readers)
    readers = (name for name in every if runtime_names.given(name) != ENDPOINT)
    asked = tuple(dict.fromkeys((*writers, *readers)))
    catalog = metastore.distribution_for(asked)
    reached = distributions.load(catalog).warehouse or any(
        object_storage.written(distributions.load(writer)) for writer in writers
    )
    store = (object_storage.store(),) if reached else ()
    # Tables are written on the usual one, whatever their readers ask through, unless a writer is
    # too new for it.
    unusual = () if plan.metastore.usual else metastore.needed(plan.metastore)
    newer = filter(None, (metastore.oldest_for(distributions.load(writer)) for writer in writers))
    return tuple(dict.fromkeys((catalog, *store, *newer, *unusual, *asked, *tools)))


def metastore_of(plan: Plan) -> str:
    """Name the metastore that all engines of a plan can reach, on which its tables are written."""
    return needed_distributions(plan)[0]


def fetch_plan(plan: Plan, work: Work) -> None:
    """Fetch all that a plan needs, and note in `run.json` which images answer.

    Raises EnvironmentProblem: something cannot be had.
    """
    needed = needed_distributions(plan)
    fetch_all(needed, work.cache, work.progress)
    for notice in filter(None, (distributions.load(name).notice for name in needed)):
        work.progress.note(notice)
    info = load_run.read_info(work.folder)
    readers = tuple(map(_with_image, info.readers))
    if readers != info.readers:
        load_run.write_info(work.folder, replace(info, readers=readers))


def _with_image(reader: ReaderInfo) -> ReaderInfo:
    distribution = distributions.load(reader.distribution)
    if distribution.runtime != CONTAINER:
        return reader
    image = image_choice.chosen(reader.distribution).fidelity
    parts = image, distribution.overlaid, distribution.notice
    return replace(reader, fidelity="; ".join(filter(None, parts)))


def fetch_all(names: Iterable[str], cache: Cache, progress: Progress) -> None:
    """Make every distribution be there, telling first what has to be fetched and where it goes."""
    cache.claim()
    result = [distributions.load(name) for name in names]
    provide.check(result)
    processes = [distribution for distribution in result if distribution.runtime == PROCESS]
    lacking = {process.name: fetch.missing(process, cache) for process in processes}
    there = ", ".join(name for name, files in lacking.items() if not files)
    if there:
        progress.note(f"there already, in {cache.root}: {there}")
    missing = {artifact.name: artifact for files in lacking.values() for artifact in files}
    fetch.check_online(tuple(missing.values()), cache)
    if missing:
        total = sum(artifact.size for artifact in missing.values()) / 1e6
        progress.note(
            f"fetch {counted(len(missing), 'file')}, {total:.0f} MB, once, into {cache.root}"
        )
    for distribution in result:
        provide.ensure(distribution, cache, progress)


def write_states(plan: Plan, work: Work) -> None:
    """Write every variant, or find its states; fill `states.jsonl` as they come.

    At last they are in the order of the plan.
    """
    for _ in _write_states(plan, work):
        pass


def _write_states(plan: Plan, work: Work) -> Iterator[VariantResult]:
    states: list[StateRecord] = []
    folder = work.folder / run_folder.ENGINES
    folder.mkdir(exist_ok=True)
    catalog = runtime_names.on_disk(metastore_of(plan))
    context = WriteContext(work.cache, folder, work.progress, work.limits.statement, catalog)
    path = work.folder / load_run.STATES
    path.write_bytes(b"")
    with (
        run_log.phase("write"),
        jsonl.adding(path) as add,
        closing(_results(plan, context)) as results,
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
    plan: Plan, work: Work, judge: RunJudge | None = None, *, fresh: bool, resume: bool = False
) -> None:
    """Ask every reader; fill `answers.jsonl` as answers come, in the order of the plan at last."""
    judge = judge or judge_of(plan, work)
    states = load_run.load(work.folder).states
    judge.add_states(states)
    context = work.read_context(plan, fresh=fresh)
    # None would say that tables are written now.
    written = filter(None, [states_of(states, work.cache)])
    _read(plan, written, work, context, judge, resume=resume)


def write_and_read(
    plan: Plan, work: Work, judge: RunJudge | None = None, *, fresh: bool, resume: bool = False
) -> None:
    """Write every variant, and ask every reader about each from when it is written.

    As `write_states` and `read_answers`. What fails in reading is raised once all is written.
    """
    judge = judge or judge_of(plan, work)
    threads, written = JobThreads(1), ClosableQueue[States]()
    context, states = work.read_context(plan, fresh=fresh), _until_failure(written, threads)
    reading = partial(_read, plan, states, work, context, judge, resume=resume)
    # What breaks off the writing is known to the threads before the queue is closed for it.
    with closing(written), threads.running([reading]):
        with context.memory_budget.reserve(write_variants.memory_mb(plan.variants)):
            for result in _write_states(plan, work):
                judge.add_states(result.records)
                written.put_all([result.states])
        written.close()


def _until_failure(written: ClosableQueue[States], threads: JobThreads) -> Iterator[States]:
    """Yield the states of each variant as it is written; HaltedError: writing failed."""
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
    judge: RunJudge,
    *,
    resume: bool,
) -> None:
    before, answered = load_run.answers(work.folder) if resume else {}, set[str]()
    known = {
        cell.case for cell in plan.cells if cell.case in before and not before[cell.case].unknown
    }
    left = replace(plan, cells=tuple(cell for cell in plan.cells if cell.case not in known))
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
            if (verdict := judge.add_answer(answer)) is not None:
                count.judge([verdict.verdict])
            if not (shown or answer.unknown or answer.not_applicable):
                run_folder.show(work.folder)
                shown = True
    stays = resume or not context.fresh
    in_order = [cell.case for cell in plan.cells if stays or cell.case in answered]
    load_run.sort_answers(work.folder, in_order)
    run_folder.clean(work.folder)


def states_of(records: Iterable[StateRecord], cache: Cache) -> States:
    """Find the frozen states that a run names; UsageProblem: one is no longer in the cache."""
    records = list(records)
    states = write_variants.load(records, cache)
    for record in records:
        if record.digest and (record.variant, record.outcome.step) not in states:
            raise UsageProblem(
                f"the state of {record.variant} after step {record.outcome.step} is no longer in "
                f"{cache.root}; run the profile again to write it"
            )
    return states


def statements(plan: Plan, work: Work) -> Iterator[str]:
    """Yield what readers are sent first about the states of a run, with each one's name."""
    states = states_of(load_run.load(work.folder).states, work.cache)
    for question in read_states.planned_questions(plan)(states):
        if isinstance(question, CellQuestion):
            yield f"{question.reader}: {question.text}"


def judge_twice(plan: Plan, work: Work, judge: RunJudge) -> JudgedRun:
    """Judge a run; ask once more what nothing explains, and judge with what came.

    Raises UsageProblem: a table that is asked about again is no longer in the cache.
    """
    judged = judge_run(work.folder, judge)
    # An answer is read only if its verdict makes it suspect: most often none does.
    answers, verdicts = judged.run.answers, judged.applied.verdicts
    cases = {verdict.case for verdict in verdicts if due(verdict, answers, plan.ask_again)}
    if not cases:
        return judged
    ask(plan, work, [cell for cell in plan.cells if cell.case in cases], judge.add_answer)
    return judge_run(work.folder, judge)


@run_log.phase("judge")
def judge_run(folder: Path, judge: RunJudge | None = None) -> JudgedRun:
    """Judge what was answered, and say what of it is known; no engine.

    `judge`: knows what it judged already; None: all is judged.
    """
    recorded = load_run.recorded(folder)
    judge = judge or RunJudge(plan_record.plan_of(recorded.info))
    lines = baseline_files.lines_of(recorded, judge.plan)
    with jsonl.writing(folder / load_run.VERDICTS) as write:
        for verdict in judge.verdicts(recorded):
            write(lines.apply(verdict))
    files = [folder / name for name in (load_run.STATES, load_run.ANSWERS, load_run.VERDICTS)]
    cache = ReportCache.of(judge.results, recorded.info, files)
    run = replace(load_run.with_verdicts(recorded), report_cache=cache)
    return JudgedRun(with_strategy_answers(run, judge), lines.applied(tuple(run.recorded.values())))


def update_baselines(folder: Path) -> baseline_files.Updated:
    """Write what a run shows into the baselines of its scenarios."""
    recorded = load_run.recorded(folder)
    plan = plan_record.plan_of(recorded.info)
    verdicts = map(jsonl.sharing(len(plan.cells)), RunJudge(plan).verdicts(recorded))
    return baseline_files.update(recorded, plan, tuple(verdicts))


MOST_SERVERS: Final = 20
"""Of more readers and variants than these, tables of one format share a fresh server."""
MOST_SEARCHES: Final = 3
"""For so many answers the earlier query is searched: each search takes several servers."""
MOST_SUSPECTS: Final = 32
"""Of more readers and variants than these, formats stand for variants."""


@run_log.phase("ask again")
def ask(plan: Plan, work: Work, cells: Sequence[Cell], take: Callable[[Answer], object]) -> None:
    """Ask fresh servers about cells once more; what comes is in `answers.jsonl` afterwards.

    `take`: gets each answer once it is recorded.

    Raises UsageProblem: a table that is asked about again is no longer in the cache.
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
    load_run.sort_answers(work.folder, [cell.case for cell in plan.cells])
    run_folder.clean(work.folder)


def groups(plan: Plan, cells: Iterable[Cell]) -> Sequence[tuple[Cell, ...]]:
    """Return the cells by the fresh server that is asked about them.

    There is one for each reader and variant, or if these are too many distribution and format.
    """
    cells = tuple(cells)
    formats = {variant.id: variant.format for variant in plan.variants}
    fine = grouped([((cell.reader, cell.variant), cell) for cell in cells])
    if len(fine) <= MOST_SERVERS:
        return tuple(map(tuple, fine.values()))
    coarse = grouped([((cell.distribution, formats[cell.variant]), cell) for cell in cells])
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
        sent = {a.case for a in answers.values() if a.columns or a.refusal}
        asked = [suspect for suspect in suspects(plan, cell) if suspect.case in sent]
        few = replace(plan, cells=(*asked, cell))
        frozen = states_of(_about(states, few.cells), work.cache)
        context = work.read_context(plan, fresh=True)
        after = read_states.find_culprit(few, frozen, context, cell.case, answer.earlier)
        yield replace(answer, after=after)


def suspects(plan: Plan, cell: Cell) -> Sequence[Cell]:
    """Return queries to the server of a cell that stand for all others that it was asked.

    It is the last one up to the cell's step, of each reader and variant, or if these are too many
    of each reader and format.
    """
    others = [c for c in plan.cells if c != cell and c.distribution == cell.distribution]
    formats = {variant.id: variant.format for variant in plan.variants}
    by_server = grouped([((other.reader, other.variant), other) for other in others])
    if len(by_server) > MOST_SUSPECTS:
        by_server = grouped([((other.reader, formats[other.variant]), other) for other in others])
    return [max(group, key=lambda c: (c.step <= cell.step, c.step)) for group in by_server.values()]
