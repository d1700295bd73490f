"""Kill a pipeline from one Hudi table to another one at random moments; compare the two tables.

    python tools/measure/pipelines.py --writer spark-3.5.8-hudi-0.15.0 --kills 50 --seed 1 FOLDER

A pipeline reads what the source got since the checkpoint in the target's newest commit, and writes
it with the new checkpoint, in one commit. Several pipelines, each with tables of its own, are
carried out at once by one process, which gets SIGKILL at a moment of one of them: when a random
number of files were made, written, moved or removed in its target's folder (the kernel tells),
before the first of them, or, every fifth time, when all its files are written and a validator holds
the commit back. Where the others are by then is chance too. Then a new process compares each
target, row by row, with its source as it was at the checkpoint that the target has, and does the
next batch. Some batches are over before the blow: they are compared too, and have taken back what
the ones before left.

What came of each batch is a line in FOLDER/kills.jsonl. Prints a table; ends 1 if any was wrong. A
version of your own is named as `harness engines add` has named it, with --scenarios.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.artifacts.cache import Cache
from harness.cli.console.progress_display import PlainProgress
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.spark.session import Session
from harness.plan import own_distributions
from harness.runtime import provide
from harness.write import kill_writer
from harness.write.writer_pool import WriteContext, WriterPool
from tools.markdown_table import table
from tools.measure.pipelines_events import FolderEvents
from tools.measure.pipelines_tables import HudiTable, Pipeline, Rows

LOOK_S: Final = 0.05
MOST: Final = 2
"""So many commits of the source a batch has at most."""
KEYS: Final = 40
ROWS: Final = 4
"""So many rows a commit of the source has."""
HELD_EVERY: Final = 5
BEYOND: Final = 2.0
"""Moments are drawn up to so many times what happens in a batch that takes back none before it."""
HELD, BEFORE = "held before the commit", "before the first file"
UNDISTURBED: Final = "over before the blow"
HEAD: Final = ("killed", "batches", "committed", "checkpoint and rows agree", "wrong")


@dataclass(frozen=True, slots=True)
class Blow:
    """What came of one batch that was to be killed."""

    number: int
    """Of the process."""
    at: str
    """What happened in the folder last, or in which other way the moment was found."""
    events: int
    """So many things had happened by then."""
    committed: bool
    """Whether the target has the checkpoint of the batch."""
    wrong: str
    """How the target is not the source at its checkpoint, as the next session sees it."""


@dataclass(frozen=True, slots=True)
class Started:
    """One pipeline in a batch that is to be killed."""

    pipeline: Pipeline
    upto: str
    asked: Future[None]
    events: FolderEvents

    def came(self, number: int, known: tuple[str, int] | None) -> Blow:
        """Return what came of it but for the rows, once it has its answer or its process is gone.

        `known`: what happened last, and how much, where that was counted.
        """
        problem = self.asked.exception()
        killed = isinstance(problem, NoAnswerError) or _is_kill(problem)
        if not killed:
            self.asked.result()
        happened = list(self.events.read(0))
        at, count = known or (happened[-1] if happened else BEFORE, len(happened))
        committed = self.pipeline.checkpoint() == self.upto
        return Blow(number, at if killed else UNDISTURBED, count, committed, "")


@dataclass(frozen=True, slots=True)
class KilledPipelines:
    """Pipelines that one process carries out at once, and what is random."""

    pipelines: tuple[Pipeline, ...]
    pool: WriterPool
    writer: str
    chance: random.Random
    changes: Iterator[Rows]
    """What the next commits of the sources write."""

    def session(self) -> Session:
        """Return a new session; of a new process where the last one was killed."""
        return self.pool.spark(self.writer).open({})

    def _upto(self, pipeline: Pipeline) -> str:
        """Return where the next batch ends, one or two commits on; the source goes on first."""
        while len(pipeline.ahead()) < MOST:
            pipeline.commit(self.session(), next(self.changes))
        return pipeline.ahead()[self.chance.randrange(MOST)]

    def batch(self) -> int:
        """Do a batch of each that nobody disturbs; return how much happened in the last one."""
        count = 0
        for each in self.pipelines:
            upto, session = self._upto(each), self.session()
            with FolderEvents(each.target.folder) as events:
                each.batch(session, upto, {})
                count = sum(1 for _ in events.read(0))
        return count

    def disturbed(self, number: int, most: int, *, held: bool) -> tuple[Blow, ...]:
        """Do a batch of each and kill their process at a moment of one of them."""
        upto = [self._upto(each) for each in self.pipelines]
        one = self.chance.randrange(len(upto))
        with ExitStack() as stack:
            threads = stack.enter_context(ThreadPoolExecutor(len(upto)))
            begun = []
            for at, (each, end) in enumerate(zip(self.pipelines, upto, strict=True)):
                events = stack.enter_context(FolderEvents(each.target.folder))
                told = each.held if held and at == one else {}
                ask = partial(each.batch, self.session(), end, told)
                if told:
                    ask = partial(kill_writer.run, self.pool.spark(self.writer), ask, each.pipe)
                begun.append(Started(each, end, threads.submit(ask), events))
            known = self._strike(begun[one], self.chance.randint(0, most), held=held)
            return tuple(
                each.came(number, known if at == one else None) for at, each in enumerate(begun)
            )

    def _strike(self, one: Started, moment: int, *, held: bool) -> tuple[str, int]:
        """Kill the process when so much has happened, or it is held; return what was last."""
        if held:
            wait([one.asked])
            return HELD, 0
        found = _when(one.asked, one.events, moment) if moment else BEFORE
        if found != UNDISTURBED:
            self.pool.spark(self.writer).kill()
        return found, moment


def _is_kill(problem: BaseException | None) -> bool:
    """Return whether that is how `kill_writer` tells of its own blow."""
    return isinstance(problem, RefusedError) and problem.refusal.kind == "killed"


def _when(asked: Future[None], events: FolderEvents, moment: int) -> str:
    """Wait until so much has happened, and return what happened last."""
    seen = 0
    while not asked.done():
        for event in events.read(LOOK_S):
            seen += 1
            if seen == moment:
                return event
    return UNDISTURBED


def blows(killed: KilledPipelines, number: int) -> Iterator[Blow]:
    """Yield what came of each batch until so many were killed; some are over before."""
    most, done = int(killed.batch() * BEYOND), 0
    for time in count(1):
        if done >= number:
            return
        came = killed.disturbed(time, most, held=time % HELD_EVERY == 1)
        for pipeline, blow in zip(killed.pipelines, came, strict=True):
            done += blow.at != UNDISTURBED
            yield replace(blow, wrong=pipeline.wrong(killed.session()))


def changes(chance: random.Random) -> Iterator[Rows]:
    """Yield what each commit of the source writes: some keys are new, some are there."""
    for commit in count(1):
        keys = chance.sample(range(KEYS), ROWS)
        yield {f"k{key:02}": (commit, f"c{commit}k{key}") for key in keys}


@contextmanager
def started(told: argparse.Namespace) -> Iterator[KilledPipelines]:
    """Make the sources with their first commits, and the targets with nothing in them."""
    folder, chance = Path(told.folder).resolve(), random.Random(told.seed)  # noqa: S311
    cache, progress = Cache.default(), PlainProgress()
    work = folder / "processes"
    work.mkdir(parents=True)
    made = tuple(_made(folder / str(at), told) for at in range(1, told.pipelines + 1))
    with provide.start_metastore(cache, work, progress) as metastore:
        pool = WriterPool(WriteContext(cache, work, progress), metastore.uris)
        with pool.running():
            killed = KilledPipelines(made, pool, told.writer, chance, changes(chance))
            session = killed.session()
            # A process that is warm makes them faster than those that begin.
            for each in made:
                for changed in islice(killed.changes, told.kills // told.pipelines):
                    each.commit(session, changed)
            yield killed


def _made(folder: Path, told: argparse.Namespace) -> Pipeline:
    tables = HudiTable(folder / "source"), HudiTable(folder / "target", type_of(told))
    for each in tables:
        each.folder.mkdir(parents=True)
    return Pipeline(*tables, re.sub(r".*hudi-", "", told.writer))


def type_of(told: argparse.Namespace) -> str:
    """Return the target's type as Hudi calls it."""
    return "MERGE_ON_READ" if told.merge_on_read else "COPY_ON_WRITE"


def phase(blow: Blow) -> str:
    """Return in which part of a batch the blow fell, as what happened last tells.

    >>> phase(Blow(1, "made .8a-0_0-1-1.parquet.crc", 9, committed=False, wrong=""))
    'data files are written'
    """
    if blow.at in (HELD, BEFORE, UNDISTURBED):
        return blow.at
    if blow.committed:
        return "after the commit"
    if "rollback" in blow.at:
        return "a batch of before is taken back"
    timeline = re.search(r"\.hoodie/(timeline/)?[^/]*$", blow.at)
    return "the timeline is written" if timeline else "data files are written"


def noted(blow: Blow, writer: str, target: str) -> str:
    """Return a batch as a line of a log, with who carried it out and the target's type."""
    told = {"writer": writer, "target": target, "killed": blow.at != UNDISTURBED}
    return json.dumps({**told, **asdict(blow)})


def lines(found: Sequence[Blow]) -> Iterator[str]:
    """Yield a table of the batches by where the blow fell."""
    of = dict.fromkeys(sorted(map(phase, found)))
    yield from table(HEAD, [_row(name, found) for name in of] + [_row("", found)])


def _row(name: str, found: Sequence[Blow]) -> tuple[str, ...]:
    own = [each for each in found if not name or phase(each) == name]
    wrong = sum(bool(each.wrong) for each in own)
    counts = (len(own), sum(each.committed for each in own), len(own) - wrong, wrong)
    return (name or "all", *map(str, counts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", help="a new one, for tables and the log")
    parser.add_argument("--writer", default="spark-3.5.8-hudi-0.15.0", help="a distribution")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--pipelines", type=int, default=3, help="at once, in one process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--merge-on-read", action="store_true", help="the target's type")
    parser.add_argument("--scenarios", type=Path, help="whose distributions/ has the writer")
    return parser.parse_args()


def main() -> int:
    """Kill, note, print."""
    told, found = _options(), list[Blow]()
    own_distributions.register([told.scenarios] if told.scenarios else [])
    with started(told) as killed, Path(told.folder, "kills.jsonl").open("w") as log:
        for blow in blows(killed, told.kills):
            found.append(blow)
            log.write(noted(blow, told.writer, type_of(told)) + "\n")
            log.flush()
    print("\n".join(lines(found)))
    return int(any(each.wrong for each in found))


if __name__ == "__main__":
    raise SystemExit(main())
