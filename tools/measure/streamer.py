"""Carry rows from one Hudi table to another one by Hudi's streamer; kill it; compare the tables.

    python tools/measure/streamer.py --kills 20 --seed 1 FOLDER

The streamer (`HoodieStreamer`) reads what the source got since the checkpoint in the target's
newest commit (`HoodieIncrSource`), and writes it with the new one, as
`deltastreamer.checkpoint.key` in the commit's extra metadata. Each batch is a process of its own,
which gets SIGKILL when a random number of files were made, written, moved or removed in the
target's folder (the kernel tells). Then Spark with Hudi as it is compares the target, row by row,
with the source as it was at the checkpoint that the target has. Some batches are over before the
blow: they are compared too.

No Spark bundle has the streamer: its classes are modified (`streamer_jars.py`). What came of each
batch is a line in FOLDER/kills.jsonl. Prints a table; ends 1 if any was wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.artifacts.cache import Cache
from harness.cli.console.progress_display import PlainProgress
from harness.engines.spark.session import Session
from harness.runtime import provide
from harness.write.writer_pool import WriteContext, WriterPool
from tools.measure import pipelines, streamer_jars
from tools.measure.pipelines import BEYOND, LOOK_S, MOST, UNDISTURBED, Blow
from tools.measure.pipelines_events import FolderEvents
from tools.measure.pipelines_tables import OPTIONS, HudiTable, Pipeline, Rows
from tools.measure.streamer_jars import StreamerHome

WRITER: Final = "spark-3.4.4-hudi-0.14.0"
"""Writes the source, and reads the target; nothing of it is modified."""
KEY: Final = "deltastreamer.checkpoint.key"
"""What `HoodieStreamer` calls the checkpoint in a commit (`CHECKPOINT_KEY`)."""
STREAMER: Final = "org.apache.hudi.utilities.streamer.HoodieStreamer"
SOURCE: Final = "org.apache.hudi.utilities.sources.HoodieIncrSource"
INCREMENTAL: Final = "hoodie.streamer.source.hoodieincr."
NO_RESOURCE: Final = "spark-internal"
"""Spark's own word for a program whose jar is on the class path (`SparkLauncher.NO_RESOURCE`)."""
TOLD_LAST: Final = 2000
"""So many characters of what a process printed are told when it fails."""


@dataclass(frozen=True, slots=True)
class StreamedPipeline:
    """The pipeline, and what is random."""

    pipeline: Pipeline
    home: StreamerHome
    folder: Path
    """Of the processes."""
    pool: WriterPool
    chance: random.Random
    changes: Iterator[Rows]

    def session(self) -> Session:
        """Return a new session of the Spark that is not modified."""
        return self.pool.spark(WRITER).open({})

    def batch(self, number: int, most: int) -> tuple[Blow, int]:
        """Do a batch; kill it at one of so many moments, 0: at none.

        Returns what came of it, and how much had happened.
        """
        commits, upto = self._upto()
        moment = self.chance.randint(1, most) if most else 0
        with FolderEvents(self.pipeline.target.folder.parent) as events:
            at, seen = self._carried_out(events, number, commits, moment)
        committed = self.pipeline.checkpoint() == upto
        wrong = self.pipeline.wrong(self.session()) if self.pipeline.target.instants else ""
        return Blow(number, at, seen, committed, wrong), seen

    def _upto(self) -> tuple[int, str]:
        """Return of how many commits the next batch is, and the last; the source goes on first."""
        while len(self.pipeline.ahead()) < MOST:
            self.pipeline.commit(self.session(), next(self.changes))
        ahead = self.pipeline.ahead()
        if not self.pipeline.checkpoint():
            return len(ahead), ahead[-1]  # without a checkpoint the streamer takes all there is
        commits = self.chance.randint(1, MOST)
        return commits, ahead[commits - 1]

    def _carried_out(
        self, events: FolderEvents, number: int, commits: int, moment: int
    ) -> tuple[str, int]:
        """Return at which event the process was killed, and how many there were by then."""
        log = self.folder / f"{number}.log"
        with log.open("wb") as printed:
            process = subprocess.Popen(
                self._command(commits),
                env={**os.environ, "JAVA_HOME": str(self.home.java), "SPARK_LOCAL_IP": "127.0.0.1"},
                cwd=self.folder,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )
        try:
            at, seen = _until(process, events, moment)
        finally:
            process.kill()
            process.wait()
        if at == UNDISTURBED and process.returncode:
            raise RuntimeError(f"{log}: {log.read_text(errors='replace')[-TOLD_LAST:]}")
        return at, seen

    def _command(self, commits: int) -> list[str]:
        home, target = self.home, self.pipeline.target
        told = {**OPTIONS, **self._source(commits)}
        return [
            *(str(home.spark / "bin" / "spark-submit"), "--master", "local[1]"),
            *("--driver-memory", "1g", "--driver-java-options", " ".join(home.jvm)),
            *("--driver-class-path", ":".join(map(str, home.class_path))),
            *(part for key, value in home.conf.items() for part in ("--conf", f"{key}={value}")),
            *("--class", STREAMER, NO_RESOURCE),
            *("--table-type", target.type, "--op", "UPSERT", "--source-class", SOURCE),
            *("--target-base-path", str(target.folder), "--target-table", target.folder.name),
            *("--source-ordering-field", "n", "--props", self._no_properties()),
            *(part for key, value in told.items() for part in ("--hoodie-conf", f"{key}={value}")),
        ]

    def _source(self, commits: int) -> Mapping[str, str]:
        return {
            f"{INCREMENTAL}path": str(self.pipeline.source.folder),
            f"{INCREMENTAL}num_instants": str(commits),
            f"{INCREMENTAL}missing.checkpoint.strategy": "READ_UPTO_LATEST_COMMIT",
            f"{INCREMENTAL}drop.all.meta.fields.from.source": "true",
        }

    def _no_properties(self) -> str:
        """Return a file without any, for the streamer asks for one."""
        file = self.folder / "none.properties"
        file.touch()
        return file.as_uri()


def _until(process: subprocess.Popen[bytes], events: FolderEvents, moment: int) -> tuple[str, int]:
    """Kill a process when so much has happened; return what was last, and how much."""
    seen = 0
    while process.poll() is None:
        for event in events.read(LOOK_S):
            seen += 1
            if seen == moment:
                process.kill()
                return event, seen
    return UNDISTURBED, seen + sum(1 for _ in events.read(0))


def blows(streamed: StreamedPipeline, number: int) -> Iterator[Blow]:
    """Yield what came of each batch until so many were killed; some are over before."""
    first, _ = streamed.batch(1, 0)
    second, happened = streamed.batch(2, 0)
    yield from (first, second)
    done = 0
    for time in count(3):
        if done >= number:
            return
        blow, _ = streamed.batch(time, int(happened * BEYOND))
        done += blow.at != UNDISTURBED
        yield blow


@contextmanager
def started(told: argparse.Namespace) -> Iterator[StreamedPipeline]:
    """Make the source with its first commits, and the target with nothing in it."""
    folder, chance = Path(told.folder).resolve(), random.Random(told.seed)  # noqa: S311
    cache, progress, work = Cache.default(), PlainProgress(), folder / "processes"
    work.mkdir(parents=True)
    home = streamer_jars.made(work, cache, progress)
    # The streamer makes its folder itself: one that is there must hold a table.
    tables = (
        HudiTable(folder / "source"),
        HudiTable(folder / "target" / "t", pipelines.type_of(told)),
    )
    for each in tables:
        each.folder.parent.mkdir(exist_ok=True)
    pipeline = Pipeline(*tables, "0.14.0", key=KEY)
    with provide.start_metastore(cache, work, progress) as metastore:
        pool = WriterPool(WriteContext(cache, work, progress), metastore.uris)
        with pool.running():
            changes = pipelines.changes(chance)
            yield StreamedPipeline(pipeline, home, work, pool, chance, changes)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", help="a new one, for tables and the log")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--merge-on-read", action="store_true", help="the target's type")
    return parser.parse_args()


def main() -> int:
    """Carry out, kill, note, print."""
    told, found = _options(), list[Blow]()
    with started(told) as streamed, Path(told.folder, "kills.jsonl").open("w") as log:
        for blow in blows(streamed, told.kills):
            found.append(blow)
            line = pipelines.noted(blow, streamer_jars.NAME, pipelines.type_of(told))
            log.write(line + "\n")
            log.flush()
    print("\n".join(pipelines.lines(found)))
    return int(any(each.wrong for each in found))


if __name__ == "__main__":
    raise SystemExit(main())
