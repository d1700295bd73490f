"""Kill a pipeline from one Hudi table to another one at random moments; compare the two tables.

    python tools/measure/pipelines.py --writer spark-3.5.8-hudi-0.15.0 --kills 50 --seed 1 FOLDER

The pipeline reads what the source got since the checkpoint in the target's newest commit, and
writes it with the new checkpoint, in one commit. While it writes a batch its process gets SIGKILL:
when a random number of files were made, written, moved or removed in the target's folder (the
kernel tells), before the first of them, or, every fifth time, when all files are written and a
validator holds the commit back. Then a new process compares the target, row by row, with the source
as it was at the checkpoint that the target has, and does the next batch. Some batches are over
before the blow: they are compared too, and have taken back what the ones before left.

What came of each batch is a line in FOLDER/kills.jsonl. Prints a table; ends 1 if any was wrong. A
version of your own is named as `harness engines add` has named it, with --scenarios.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.artifacts.cache import Cache
from harness.cli.console.progress_display import PlainProgress
from harness.engines.spark.session import Session, SparkRefusal, SparkSilent
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
BEYOND: Final = 1.2
"""Moments are drawn up to so many times what happens in a whole batch."""
STORE: Final = 40
"""So many commits the source has at first: a process that is warm makes them faster."""
HELD, BEFORE = "held before the commit", "before the first file"
UNDISTURBED: Final = "over before the blow"
HEAD: Final = ("killed", "kills", "the batch was committed", "checkpoint and rows agree", "wrong")


@dataclass(frozen=True, slots=True)
class Blow:
    """What came of one batch that was to be killed."""

    number: int
    at: str
    """What happened in the folder last, or in which other way the moment was found."""
    events: int
    """So many things had happened by then."""
    committed: bool
    """Whether the target has the checkpoint of the batch."""
    wrong: str
    """How the target is not the source at its checkpoint, as the next session sees it."""


@dataclass(frozen=True, slots=True)
class KilledPipeline:
    """A pipeline, and the processes that carry it out."""

    pipeline: Pipeline
    pool: WriterPool
    writer: str
    chance: random.Random
    changes: Iterator[Rows]
    """What the next commits of the source write."""

    def _upto(self, session: Session) -> str:
        """Return where the next batch ends, one or two commits on; the source goes on first."""
        while len(self.pipeline.ahead()) < MOST:
            self.pipeline.commit(session, next(self.changes))
        return self.pipeline.ahead()[self.chance.randrange(MOST)]

    def session(self) -> Session:
        """Return a new session; of a new process where the last one was killed."""
        return self.pool.spark(self.writer).open({})

    def batch(self) -> int:
        """Do a batch that nobody disturbs, of one or two commits; return how much happened."""
        session, pipeline = self.session(), self.pipeline
        upto = self._upto(session)
        with FolderEvents(pipeline.target.folder) as events:
            pipeline.batch(session, upto, {})
            return sum(1 for _ in events.read(0))

    def disturbed(self, most: int, *, held: bool) -> tuple[str, int, bool]:
        """Do a batch and kill its process; return when, after how much, whether it is committed."""
        pipeline, spark, session = self.pipeline, self.pool.spark(self.writer), self.session()
        upto = self._upto(session)
        ask = partial(pipeline.batch, session, upto, pipeline.held if held else {})
        at, count = HELD, 0
        if held:
            try:
                kill_writer.run(spark, ask, pipeline.pipe)
                at = UNDISTURBED
            except SparkRefusal as killed:
                at = HELD if killed.refusal.kind == "killed" else str(killed)
        else:
            at, count = self._struck(ask, self.chance.randint(0, most))
        return at, count, pipeline.checkpoint() == upto

    def _struck(self, ask: Callable[[], None], moment: int) -> tuple[str, int]:
        """Ask, and kill the process when so much has happened; return what happened last."""
        spark = self.pool.spark(self.writer)
        with FolderEvents(self.pipeline.target.folder) as events, ThreadPoolExecutor(1) as thread:
            if moment == 0:
                spark.kill()
            asked = thread.submit(ask)
            found = BEFORE if moment == 0 else _when(asked, events, moment)
            if found != UNDISTURBED:
                spark.kill()
            if not isinstance(asked.exception(), SparkSilent | None):
                asked.result()
        return found, moment


def _when(asked: Future[None], events: FolderEvents, moment: int) -> str:
    """Wait until so much has happened, and return what happened last."""
    seen = 0
    while not asked.done():
        for event in events.read(LOOK_S):
            seen += 1
            if seen == moment:
                return event
    return UNDISTURBED


def blows(experiment: KilledPipeline, number: int) -> Iterator[Blow]:
    """Yield what came of each batch until so many were killed; some are over before."""
    most, done = experiment.batch(), 0
    while done < number:
        held = done % HELD_EVERY == HELD_EVERY - 1
        at, events, committed = experiment.disturbed(int(most * BEYOND), held=held)
        wrong = experiment.pipeline.wrong(experiment.session())
        done += at != UNDISTURBED
        yield Blow(done, at, events, committed, wrong)


def changes(chance: random.Random) -> Iterator[Rows]:
    """Yield what each commit of the source writes: some keys are new, some are there."""
    for commit in count(1):
        keys = chance.sample(range(KEYS), ROWS)
        yield {f"k{key:02}": (commit, f"c{commit}k{key}") for key in keys}


@contextmanager
def started(told: argparse.Namespace) -> Iterator[KilledPipeline]:
    """Make the source with all its commits, and the target with the first batch."""
    folder, chance = Path(told.folder).resolve(), random.Random(told.seed)  # noqa: S311
    cache, progress = Cache.default(), PlainProgress()
    work = folder / "processes"
    work.mkdir(parents=True)
    type_ = "MERGE_ON_READ" if told.merge_on_read else "COPY_ON_WRITE"
    tables = HudiTable(folder / "source"), HudiTable(folder / "target", type_)
    library = re.sub(r".*hudi-", "", told.writer)
    with provide.start_metastore(cache, work, progress) as metastore:
        pool = WriterPool(WriteContext(cache, work, progress), metastore.uris)
        with pool.running():
            pipeline = Pipeline(*tables, library)
            experiment = KilledPipeline(pipeline, pool, told.writer, chance, changes(chance))
            session = experiment.session()
            for changed in islice(experiment.changes, STORE):
                pipeline.commit(session, changed)
            tables[1].folder.mkdir()
            experiment.batch()
            yield experiment


def kind(at: str) -> str:
    """Return what happened in words that do not depend on the table's names.

    >>> kind("moved .hoodie/20260101000000001.commit"), kind("made .8a-0_0-1-1.parquet.crc")
    ('moved .hoodie/….commit', 'made ….parquet.crc')
    """
    return re.sub(r"[.\w-]*\d[\w-]*(?=\.|$)", "…", at)


def lines(found: Sequence[Blow]) -> Iterator[str]:
    """Yield a table of the kills by what happened last."""
    of = Counter(kind(each.at) for each in found)
    yield from table(HEAD, [_row(name, found) for name in sorted(of)] + [_row("", found)])


def _row(name: str, found: Sequence[Blow]) -> tuple[str, ...]:
    own = [each for each in found if not name or kind(each.at) == name]
    wrong = sum(bool(each.wrong) for each in own)
    counts = (len(own), sum(each.committed for each in own), len(own) - wrong, wrong)
    return (f"after: {name}" if name else "all", *map(str, counts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", help="a new one, for tables and the log")
    parser.add_argument("--writer", default="spark-3.5.8-hudi-0.15.0", help="a distribution")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--merge-on-read", action="store_true", help="the target's type")
    parser.add_argument("--scenarios", type=Path, help="whose distributions/ has the writer")
    return parser.parse_args()


def main() -> int:
    """Kill, note, print."""
    told, found = _options(), list[Blow]()
    own_distributions.register([told.scenarios] if told.scenarios else [])
    with started(told) as experiment, Path(told.folder, "kills.jsonl").open("w") as log:
        for blow in blows(experiment, told.kills):
            found.append(blow)
            log.write(json.dumps(asdict(blow)) + "\n")
            log.flush()
    print("\n".join(lines(found)))
    return int(any(each.wrong for each in found))


if __name__ == "__main__":
    raise SystemExit(main())
