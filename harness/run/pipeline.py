"""The six verbs on a run directory; each can be repeated from the records.

They come one after another, but where both are to be done a variant is read once it is written.

`runs/<id>/` holds `run.json` (the plan), `states.jsonl`, `answers.jsonl`, `verdicts.jsonl`, the
reports and `harness.log`; `runs/begun` points to the run begun last,
`runs/latest` to it once it has an answer, or ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness.artifacts import cache_sweep
from harness.artifacts.cache import Cache
from harness.core import jsonl
from harness.core.concurrency import Lanes
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.core.queue import Handover
from harness.core.records import Answer, StateRecord, Verdict
from harness.judge import verdicts
from harness.judge.baseline import Applied
from harness.read import reader_scheduler as reading
from harness.read.ask_question import TIMEOUT_S
from harness.read.engine_pool import Reading
from harness.run import baseline_files, load_run, plan_record, run_folder, run_log
from harness.run.live_verdicts import Kinds
from harness.run.load_run import Run
from harness.run.recorded_case import case_of
from harness.runtime.metastore_client import CatalogGoneProblem
from harness.runtime.readiness import EndedProblem
from harness.scenario.cells import Plan
from harness.write import variant_scheduler, variant_writer
from harness.write.state_records import Written
from harness.write.table_state import States

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long engines may take, in seconds."""

    query: float = TIMEOUT_S
    """After so long a reader's query counts as unanswered."""
    statement: float = variant_writer.TIMEOUT_S
    """After so long a writer's statement does."""


@dataclass(frozen=True, slots=True)
class Work:
    """What every phase needs: the cache, the run's folder, the display and the time limits."""

    cache: Cache
    folder: Path
    progress: Progress
    limits: TimeLimits = TimeLimits()


@dataclass(eq=False)
class MissingStateProblem(UsageProblem):
    """A table state that a run names is no longer in the cache."""

    variant: str
    step: int
    cache: Path

    def __str__(self) -> str:
        return (
            f"the state of {self.variant} after step {self.step} is no longer in {self.cache}; "
            "run the profile again to write it"
        )


def clean(work: Work) -> None:
    """Remove what a harness that died left in the cache, in this run and in those beside it."""
    run_folder.clean(work.folder)
    run_folder.clean_others(work.folder)
    gone = cache_sweep.sweep(work.cache)
    if gone:
        work.progress.note(f"removed what a run that died was making: {len(gone)} in the cache")


@run_log.phase("write")
def write_states(plan: Plan, work: Work, found: Callable[[Written], None] = lambda _: None) -> None:
    """Write every variant, or find its states; fill `states.jsonl` as they come.

    At last they are in the order of the plan. `found` is told of each variant's once they are
    recorded.
    """
    states: list[StateRecord] = []
    (work.folder / run_folder.ENGINES).mkdir(exist_ok=True)
    folder = work.folder / run_folder.ENGINES
    where = variant_scheduler.Writing(work.cache, folder, work.progress, work.limits.statement)
    path = work.folder / load_run.STATES
    path.write_bytes(b"")
    with jsonl.adding(path) as add:

        def keep(written: Written) -> None:
            run_log.log_states(written.records)
            states.extend(written.records)
            add(written.records)
            found(written)

        _write(plan, where, keep)
    order = {variant.id: at for at, variant in enumerate(plan.variants)}
    jsonl.write_all(path, sorted(states, key=lambda each: order[each.variant]))


def _write(plan: Plan, where: variant_scheduler.Writing, found: Callable[[Written], None]) -> None:
    """Write; once more what is left when the metastore, or a start, was lost on the way."""
    done: set[str] = set()

    def take(written: Written) -> None:
        done.update(state.variant for state in written.records)
        found(written)

    try:
        variant_scheduler.write(plan.variants, where, take)
    except (CatalogGoneProblem, EndedProblem) as problem:
        where.progress.note(f"{problem}; what is left is written once more")
        left = [variant for variant in plan.variants if variant.id not in done]
        variant_scheduler.write(left, where, take)


def states_of(found: Iterable[StateRecord], cache: Cache) -> States:
    """Find the frozen states that a run names.

    Raises:
        MissingStateProblem: one is no longer in the cache.

    """
    found = list(found)
    states = variant_scheduler.load(found, cache)
    for each in found:
        if each.digest and (each.variant, each.outcome.step) not in states:
            raise MissingStateProblem(each.variant, each.outcome.step, cache.root)
    return states


def read_answers(plan: Plan, work: Work, *, fresh: bool, resume: bool = False) -> None:
    """Ask every reader; fill `answers.jsonl` as answers come, in the order of the plan at last.

    `resume`: what this run has an answer for is not asked again.
    """
    kinds, recorded = Kinds(plan), load_run.load(work.folder).states
    kinds.written(recorded)
    where = _reading(work, kinds, fresh=fresh)
    _read(plan, [states_of(recorded, work.cache)], work, where, resume=resume)


def write_and_read(plan: Plan, work: Work, *, fresh: bool, resume: bool = False) -> None:
    """Write every variant, and ask every reader about each from when it is written.

    As `write_states` and `read_answers`. What fails in reading is raised once all is written.
    """
    lanes, written, kinds = Lanes(1), Handover[States](), Kinds(plan)
    states, where = _handed(written, lanes), _reading(work, kinds, fresh=fresh)

    def hand(some: Written) -> None:
        kinds.written(some.records)
        written.give([some.states])

    # What breaks off the writing is known to the lanes before the handover is closed for it.
    with (
        closing(written),
        lanes.doing([partial(_read, plan, states, work, where, resume=resume)]),
    ):
        with where.room.held(variant_scheduler.memory_mb(plan.variants)):
            write_states(plan, work, hand)
        written.close()


def _handed(written: Handover[States], lanes: Lanes) -> Iterator[States]:
    """Yield the states of each variant as it is written.

    Raises:
        HaltedError: writing failed.

    """
    while some := written.take():
        lanes.check()
        yield from some
    lanes.check()


@run_log.phase("read")
def _read(
    plan: Plan, states: Iterable[States], work: Work, where: Reading, *, resume: bool
) -> None:
    path, before = work.folder / load_run.ANSWERS, load_run.answers(work.folder)
    got = before if resume or not where.fresh else {}
    left = [cell for cell in plan.cells if not (resume and _answered(got.get(cell.case)))]
    shown = False
    jsonl.write_all(path, before.values())  # without what a death cut off
    with jsonl.adding(path) as add:

        def keep(answer: Answer) -> None:
            nonlocal shown
            run_log.log_answer(answer)
            got[answer.case] = answer
            add([answer])
            if not (shown or answer.unknown or answer.void):
                run_folder.show(work.folder)
                shown = True

        reading.read(replace(plan, cells=tuple(left)), states, where, keep)
    jsonl.write_all(path, reading.in_plan_order(got.values(), plan.cells))
    run_folder.clean(work.folder)


def _answered(answer: Answer | None) -> bool:
    return answer is not None and not answer.unknown


def _reading(work: Work, kinds: Kinds, *, fresh: bool) -> Reading:
    folder = work.folder / run_folder.ENGINES
    return Reading(work.cache, folder, work.progress, fresh, work.limits.query, kinds.of)


@run_log.phase("judge")
def judge_run(folder: Path) -> Applied:
    """Judge what was answered, and tell what of it is known; no engine, no cache."""
    found = load_run.load(folder)
    plan = plan_record.plan_of(found.info)
    applied = baseline_files.apply(found, plan, _verdicts(found, plan))
    jsonl.write_all(folder / load_run.VERDICTS, applied.verdicts)
    return applied


def update_baselines(folder: Path) -> baseline_files.Updated:
    """Write what a run shows into the baselines of its scenarios."""
    found = load_run.load(folder)
    plan = plan_record.plan_of(found.info)
    return baseline_files.update(found, plan, _verdicts(found, plan))


def _verdicts(found: Run, plan: Plan) -> tuple[Verdict, ...]:
    states = _by_variant((state.variant, state) for state in found.states)
    cells = _by_variant((cell.variant, cell) for cell in plan.cells)
    cases = [case_of(each, states.get(each.id, ())) for each in plan.variants]
    return tuple(
        verdict
        for case in cases
        for verdict in verdicts.judge(case, cells.get(case.variant.id, ()), found.answers)
    )


def _by_variant(found: Iterable[tuple[str, T]]) -> Mapping[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for variant, each in found:
        groups.setdefault(variant, []).append(each)
    return groups
