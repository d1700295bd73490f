"""Ask what a run asked, as a plain script would: no records, no retries, no cache, no judging.

    python tools/bench_plain.py RUN FOLDER

One engine after another is started, asked through one connection, one query after another, and
stopped. Servers are those of the run, but what the harness sets only for speed is as the engines
and Java set it: the garbage collector and the compiler's tiers; Spark's shuffle partitions and
adaptive execution; how often Hive looks whether a job is over. Prints JSON: seconds by part.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from harness import engines, formats
from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution, Setting
from harness.core.progress import Progress
from harness.engines.api import NoAnswerError, PlannedReads, RefusedError, Server
from harness.run import load_run
from harness.run.pipeline import states_of
from harness.runtime import metastore, metastore_client
from harness.runtime.process_runtime import ProcessRuntime
from harness.scenario.cells import Reader, parse_reader
from harness.write import state_store

JVM_TUNED: Final = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}
SPARK_DEFAULTS: Final = {
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.adaptive.enabled": "true",
}
HIVE_DEFAULTS: Final = ("set hive.exec.counters.pull.interval=1000",)
TIMEOUT_S: Final = 120.0


@dataclass(slots=True)
class Seconds:
    """How long one distribution took."""

    start: float = 0.0
    ask: float = 0.0
    asked: int = 0
    refused: int = 0
    by_reader: dict[str, float] = field(default_factory=dict)


def untuned(distribution: Distribution) -> Distribution:
    """Return a distribution without what was set for speed only."""
    settings: dict[str, Setting] = dict(distribution.settings)
    settings["jvm"] = tuple(text for text in distribution.texts("jvm") if text not in JVM_TUNED)
    if distribution.engine == "spark":
        settings["conf"] = {**distribution.options("conf"), **SPARK_DEFAULTS}
    return replace(distribution, settings=settings)


def questions(found: load_run.Run) -> Mapping[str, Mapping[Reader, Sequence[str]]]:
    """Return the SQL that was sent, by distribution and reader, in the order of the plan."""
    by: dict[str, dict[Reader, list[str]]] = {}
    for cell in found.info.cells:
        answer = found.answers.get(cell.case)
        if answer is not None and answer.sql:
            reader = parse_reader(cell.reader)
            texts = by.setdefault(reader.distribution, {}).setdefault(reader, [])
            texts += [answer.sql, *(part.sql for part in answer.parts)]
    return by


def wanted(found: load_run.Run, distribution: str) -> PlannedReads:
    """Return what a server will be asked about; a script's author would configure nothing more."""
    of = {variant.id: formats.facts(variant.format) for variant in found.info.variants}
    cells = ((cell.variant, parse_reader(cell.reader)) for cell in found.info.cells)
    return frozenset((of[v], r.settings) for v, r in cells if r.distribution == distribution)


def ask(server: Server, readers: Mapping[Reader, Sequence[str]], took: Seconds) -> None:
    """Ask all of one server."""
    for reader, texts in readers.items():
        began = time.monotonic()
        with closing(server.connect(dict(reader.settings))) as connection:
            if reader.distribution.startswith("hive-"):
                for statement in HIVE_DEFAULTS:
                    connection.run(statement, timeout_s=TIMEOUT_S)
            for sql in texts:
                took.asked += 1
                try:
                    connection.run(sql, timeout_s=TIMEOUT_S)
                except (RefusedError, NoAnswerError):
                    took.refused += 1
        took.by_reader[str(reader)] = time.monotonic() - began
    took.ask = sum(took.by_reader.values())


def main() -> None:
    """Ask, and print how long it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, help="a finished run's folder")
    parser.add_argument("folder", type=Path, help="for servers; a new one")
    options = parser.parse_args()
    found, folder = load_run.load(options.run), options.folder
    cache, quiet = Cache.default(), Progress()
    states, asked = states_of(found.states, cache), questions(found)
    seconds: dict[str, Seconds] = {}
    began = time.monotonic()
    home = folder / "metastore"
    home.mkdir(parents=True)
    installation = fetch.ensure(distributions.load(metastore.DISTRIBUTION), cache, quiet)
    installation = replace(installation, distribution=untuned(installation.distribution))
    prepared = metastore.empty_database(installation, cache, quiet)
    with metastore.serve(ProcessRuntime(installation), prepared, home) as shared:
        with metastore_client.connect(shared.uri) as client:
            for state in states.values():
                state_store.register(client, state)
        seconds["metastore"] = Seconds(time.monotonic() - began)
        for name, readers in asked.items():
            work = folder / name
            work.mkdir()
            there = fetch.ensure(distributions.load(name), cache, quiet)
            there = replace(there, distribution=untuned(there.distribution))
            took, started = seconds.setdefault(name, Seconds()), time.monotonic()
            with engines.load(there.distribution.engine).serve(
                ProcessRuntime(there), shared.uris, work, quiet, wanted(found, name)
            ) as server:
                took.start = time.monotonic() - started
                ask(server, readers, took)
    seconds_by_part = {
        name: {part: getattr(took, part) for part in took.__slots__}
        for name, took in seconds.items()
    }
    print(json.dumps({"seconds": time.monotonic() - began, "by": seconds_by_part}))


if __name__ == "__main__":
    main()
