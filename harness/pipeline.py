"""The six verbs on a run directory; each can be repeated from the records.

They come one after another, but where both are to be done a variant is read once it is written.

`runs/<id>/` holds `run.json` (the plan), `states.jsonl`, `answers.jsonl`, `verdicts.jsonl` and the
reports; `runs/latest` points to the newest run.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from harness import (
    __version__,
    formats,
    histories,
    judge,
    known_files,
    record,
    run,
    run_folder,
    views,
    write,
    writing,
)
from harness import read as reading
from harness.answering import TIMEOUT_S
from harness.baseline import Applied
from harness.cells import Excluded, Plan, Reader, Variant, parse_reader
from harness.desk import Reading
from harness.errors import UsageProblem
from harness.freeze import States
from harness.handover import Handover
from harness.plan import readable
from harness.progress import Progress
from harness.record import Answer, StateRecord, Verdict
from harness.run import ReaderInfo, Run, RunInfo
from harness.runtimes import distributions, fetch, metastore, sweep
from harness.runtimes.cache import Cache
from harness.runtimes.catalog import CatalogGoneProblem
from harness.runtimes.readiness import EndedProblem
from harness.scenario import load
from harness.scenario.definition import Scenario
from harness.scenario.dump import dump
from harness.side_by_side import Lanes
from harness.written import Written

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work:
    """What every phase needs: the cache, the run's folder, and somebody to tell."""

    cache: Cache
    folder: Path
    progress: Progress
    timeout_s: float = TIMEOUT_S
    """After so long a reader's query counts as unanswered."""
    write_timeout_s: float = writing.TIMEOUT_S
    """After so long a writer's statement does."""


def info_of(plan: Plan, name: str, started: datetime.datetime, *, fresh: bool = False) -> RunInfo:
    """Give what `run.json` tells of a plan."""
    return RunInfo(
        id=name,
        profile=plan.profile,
        started=started,
        version=__version__,
        variants=tuple(run.variant_info(variant) for variant in plan.variants),
        readers=tuple(_reader_info(reader) for reader in plan.readers),
        cells=plan.cells,
        excluded=plan.excluded,
        pairs=plan.pairs,
        scenarios={variant.id: dump(variant.scenario) for variant in plan.variants},
        baselines=known_files.remembered(plan.variants),
        fresh=fresh,
    )


def _reader_info(reader: Reader) -> ReaderInfo:
    found = distributions.load(reader.distribution)
    return ReaderInfo(str(reader), found.name, found.fidelity, found.listens)


def plan_of(info: RunInfo) -> Plan:
    """Give back the plan that a run was made from.

    Raises:
        UsageProblem: somebody changed it so that it is none.

    """
    try:
        variants = tuple(_variants(info))
        readers = tuple(parse_reader(each.reader) for each in info.readers)
        for writer in {name for each in variants for name in each.writers}:
            parse_reader(writer)
    except (KeyError, ValueError) as wrong:
        told = f"the plan in {run.INFO} was changed and does not hold together: {wrong}"
        raise UsageProblem(f"{told}; run the profile again") from wrong
    return Plan(info.profile, variants, readers, info.cells, info.excluded, info.pairs)


def _variants(info: RunInfo) -> Iterator[Variant]:
    @cache  # of most scenarios there are many variants, with one text
    def scenario(name: str, text: str) -> Scenario:
        return replace(load.loads(text, f"{name}.yaml"), name=name)

    for each in info.variants:
        found = scenario(each.scenario, info.scenarios[each.id])
        yield Variant(each.id, found, each.format, each.settings, each.writers, each.twin)


def needed(plan: Plan) -> tuple[str, ...]:
    """Name every distribution that a plan needs, in the order of their use."""
    writers = (writer for variant in plan.variants for writer in variant.writers)
    readers = (reader.distribution for reader in plan.readers)
    return tuple(dict.fromkeys((metastore.DISTRIBUTION, *writers, *readers)))


def fetch_all(names: Iterable[str], cache: Cache, progress: Progress) -> None:
    """Make every distribution be there, telling first what has to be fetched and where it goes."""
    found = [distributions.load(name) for name in names]
    lacking = {one.name: fetch.missing(one, cache) for one in found}
    there = ", ".join(name for name, files in lacking.items() if not files)
    if there:
        progress.note(f"there already, in {cache.root}: {there}")
    missing = {each.name: each for files in lacking.values() for each in files}
    fetch.check_online(tuple(missing.values()), cache)
    if missing:
        total = sum(each.size for each in missing.values()) / 1e6
        progress.note(f"fetch {len(missing)} files, {total:.0f} MB, once, into {cache.root}")
    for each in found:
        fetch.ensure(each, cache, progress)


def clean(work: Work) -> None:
    """Remove what a harness that died left in the cache, in this run and in those beside it."""
    run_folder.clean(work.folder)
    run_folder.clean_others(work.folder)
    gone = sweep.sweep(work.cache)
    if gone:
        work.progress.note(f"removed what a run that died was making: {len(gone)} in the cache")


def write_states(plan: Plan, work: Work, found: Callable[[States], None] = lambda _: None) -> None:
    """Write every variant, or find its states; fill `states.jsonl` as they come.

    At last they are in the order of the plan. `found` is told of each variant's once they are
    recorded.
    """
    states: list[StateRecord] = []
    (work.folder / run_folder.ENGINES).mkdir(exist_ok=True)
    folder = work.folder / run_folder.ENGINES
    where = write.Writing(work.cache, folder, work.progress, work.write_timeout_s)
    path = work.folder / run.STATES
    with path.open("w", encoding="utf-8") as lines:

        def keep(written: Written) -> None:
            states.extend(written.records)
            lines.writelines(record.dump(state) + "\n" for state in written.records)
            lines.flush()
            found(written.states)

        _write(plan, where, keep)
    order = {variant.id: at for at, variant in enumerate(plan.variants)}
    record.write_all(path, sorted(states, key=lambda each: order[each.variant]))


def _write(plan: Plan, where: write.Writing, found: Callable[[Written], None]) -> None:
    """Write; once more what is left when the metastore, or a start, was lost on the way."""
    done: set[str] = set()

    def take(written: Written) -> None:
        done.update(state.variant for state in written.records)
        found(written)

    try:
        write.write(plan.variants, where, take)
    except (CatalogGoneProblem, EndedProblem) as problem:
        where.progress.note(f"{problem}; what is left is written once more")
        left = [variant for variant in plan.variants if variant.id not in done]
        write.write(left, where, take)


def states_of(found: Iterable[StateRecord], cache: Cache) -> States:
    """Find the frozen states that a run names.

    Raises:
        UsageProblem: one is no longer in the cache.

    """
    found = list(found)
    states = write.load(found, cache)
    for each in found:
        if each.digest and (each.variant, each.outcome.step) not in states:
            raise UsageProblem(
                f"the state of {each.variant} after step {each.outcome.step} is no longer in "
                f"{cache.root}; run the profile again to write it"
            )
    return states


def read_answers(plan: Plan, work: Work, *, fresh: bool, resume: bool = False) -> None:
    """Ask every reader; fill `answers.jsonl` as answers come, in the order of the plan at last.

    `resume`: what this run has an answer for is not asked again.
    """
    states = states_of(run.load(work.folder).states, work.cache)
    _read(plan, [states], work, _reading(work, fresh=fresh), resume=resume)


def write_and_read(plan: Plan, work: Work, *, fresh: bool, resume: bool = False) -> None:
    """Write every variant, and ask every reader about each from when it is written.

    As `write_states` and `read_answers`. What fails in reading is raised once all is written.
    """
    lanes, written, where = Lanes(1), Handover[States](), _reading(work, fresh=fresh)
    states = _handed(written, lanes)
    # What breaks off the writing is known to the lanes before the handover is closed for it.
    with (
        closing(written),
        lanes.doing([partial(_read, plan, states, work, where, resume=resume)]),
    ):
        with where.room.held(write.memory_mb(plan.variants)):
            write_states(plan, work, lambda some: written.give([some]))
        written.close()


def _handed(written: Handover[States], lanes: Lanes) -> Iterator[States]:
    """Give the states of each variant as it is written.

    Raises:
        HaltedError: writing failed.

    """
    while some := written.take():
        lanes.check()
        yield from some
    lanes.check()


def _read(
    plan: Plan, states: Iterable[States], work: Work, where: Reading, *, resume: bool
) -> None:
    path, before = work.folder / run.ANSWERS, run.answers(work.folder)
    got = before if resume or not where.fresh else {}
    left = [cell for cell in plan.cells if not (resume and _answered(got.get(cell.case)))]
    record.write_all(path, before.values())  # without what a death cut off
    with path.open("a", encoding="utf-8") as lines:

        def keep(answer: Answer) -> None:
            got[answer.case] = answer
            lines.write(record.dump(answer) + "\n")
            lines.flush()

        reading.read(replace(plan, cells=tuple(left)), states, where, keep)
    record.write_all(path, reading.in_plan_order(got.values(), plan.cells))
    run_folder.clean(work.folder)


def _answered(answer: Answer | None) -> bool:
    return answer is not None and not answer.unknown


def _reading(work: Work, *, fresh: bool) -> Reading:
    folder = work.folder / run_folder.ENGINES
    return Reading(work.cache, folder, work.progress, fresh, work.timeout_s)


def judge_run(folder: Path) -> Applied:
    """Judge what was answered, and tell what of it is known; no engine, no cache."""
    found = run.load(folder)
    plan = plan_of(found.info)
    applied = known_files.apply(found, plan, _verdicts(found, plan))
    record.write_all(folder / run.VERDICTS, applied.verdicts)
    return applied


def update_baselines(folder: Path) -> tuple[Path, ...]:
    """Write what a run shows into the baselines of its scenarios; give those that changed."""
    found = run.load(folder)
    plan = plan_of(found.info)
    return known_files.update(found, plan, _verdicts(found, plan))


def _verdicts(found: Run, plan: Plan) -> tuple[Verdict, ...]:
    states = _by_variant((state.variant, state) for state in found.states)
    cells = _by_variant((cell.variant, cell) for cell in plan.cells)
    return tuple(
        verdict
        for variant in plan.variants
        for verdict in judge.judge(
            _case(variant, states.get(variant.id, ())), cells.get(variant.id, ()), found.answers
        )
    )


def _case(variant: Variant, states: Sequence[StateRecord]) -> histories.Case:
    return histories.Case(variant, formats.load(variant.format).merge_on_read, states)


def _by_variant(found: Iterable[tuple[str, T]]) -> Mapping[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for variant, each in found:
        groups.setdefault(variant, []).append(each)
    return groups


def add_reader(folder: Path, reader: Reader) -> Plan:
    """Add a reader to a run's plan: every question that the others are asked and it can be.

    What it cannot be asked is left out, and the plan says why.
    """
    info = run.read_info(folder)
    if str(reader) not in (each.reader for each in info.readers):
        reasons = {each.id: readable.cannot(reader, each.format) for each in info.variants}
        of = {each.id: each.format for each in info.variants}
        can = [cell for cell in info.cells if not reasons[cell.variant]]
        unable = {c: readable.cannot_show(reader, of[c.variant], c.view) for c in can}
        asked = (cell for cell in can if not unable[cell])
        left_out = {
            Excluded(f"{reader} on {each.format}", reasons[each.id])
            for each in info.variants
            if reasons[each.id]
        } | {
            Excluded(f"{views.name_of(cell.view)} by {reader} on {of[cell.variant]}", why)
            for cell, why in unable.items()
            if why
        }
        info = replace(
            info,
            readers=(*info.readers, _reader_info(reader)),
            cells=(*info.cells, *dict.fromkeys(replace(c, reader=str(reader)) for c in asked)),
            excluded=(*info.excluded, *sorted(left_out, key=lambda each: each.what)),
        )
        run.write_info(folder, info)
    return plan_of(info)
