"""Measure one run of a profile: what costs how much, and what a plain script takes for the same.

    python tools/bench.py --profile quick-start --folder build/bench

The run is done on a cache that holds the engines and neither table states nor answers; then again,
with nothing changed; then for one cell of it, whose answer is cached too: what that costs is fixed,
and the rest is divided by the cells. Then all is asked afresh of the tables that are there, and
once more as a plain script would: neither of the two writes meanwhile. Prints Markdown.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness import engines, formats
from harness.artifacts import cache as caches
from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution, Setting
from harness.artifacts.fetch import Installation
from harness.core.progress import RIGHT_OR_WRONG, Progress
from harness.core.records import Answer
from harness.engines.api import NoAnswerError, PlannedReads, RefusedError, Server
from harness.engines.trino.engine import ENGINE as TRINO
from harness.run import load_run as records
from harness.run.pipeline import states_of
from harness.runtime import metastore, metastore_client, provide
from harness.runtime.process import LOOPBACK
from harness.runtime.process_runtime import ProcessRuntime
from harness.scenario.cells import Reader, parse_reader
from harness.write import state_store
from tools import bench_audit
from tools.deaths import works_in
from tools.shared import table, with_engines

SAMPLE_S: Final = 0.25
HARNESS: Final = "harness"
METASTORE: Final = "metastore"


@dataclass(frozen=True, slots=True)
class Event:
    """A line of `harness run --json`, and when it came."""

    seconds: float
    """Since the start of the process."""
    cpu_s: float
    """What the harness itself, without its children, had used by then."""
    facts: Mapping[str, Any]


@dataclass(slots=True)
class ProcessUsage:
    """What the processes of one name used."""

    peak_mb: int = 0
    """MiB, of all of them at one time, of both metastores too; the most of four looks a second."""
    cpu_s: float = 0.0


@dataclass(slots=True)
class RunUsage:
    """A run, which ends while it is watched."""

    folder: Path = Path()
    status: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    first_answer_s: float = 0.0
    """When the first answer that an engine gave was recorded; 0 when there was none."""
    first_verdict_s: float = 0.0
    """When the first verdicts were recorded; 0 when there were none. Answers are not judged yet."""
    peak_mb: int = 0
    """MiB, of all processes together at one time."""
    events: list[Event] = field(default_factory=list)
    used: dict[str, ProcessUsage] = field(default_factory=lambda: defaultdict(ProcessUsage))
    """By distribution; the harness itself is one of them."""

    @property
    def first_right_or_wrong_s(self) -> float:
        """When progress first counted verdicts on answers: right or wrong, not yet how; or NaN."""
        for event in self.events:
            if event.facts.get("judged", {}).keys() & RIGHT_OR_WRONG:
                return event.seconds
        return float("nan")

    def note_records(self, seconds: float) -> None:
        """Note when the first answer that an engine gave now and the first verdicts were there."""
        answers = {} if self.first_answer_s else records.answers(self.folder)
        if any(answer.sql and not answer.reused for answer in answers.values()):
            self.first_answer_s = seconds
        path = self.folder / records.VERDICTS
        if not self.first_verdict_s and path.is_file() and path.stat().st_size > 0:
            self.first_verdict_s = seconds


def watch(folder: Path, cache: Path, *options: str) -> RunUsage:
    """Run `harness run` in `folder` on `cache` and watch it to its end."""
    command = [sys.executable, "-m", "harness", "run", "--run-dir", str(folder), "--json", "--show"]
    environment = {**os.environ, "HARNESS_CACHE": str(cache)}
    usage, began = RunUsage(folder), time.monotonic()
    with folder.with_suffix(".log").open("wb") as log:
        child = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=log, env=environment, text=True
        )
    over = threading.Event()
    sampler = threading.Thread(target=_sample, args=(usage, child.pid, began, over), daemon=True)
    sampler.start()
    for line in child.stdout or ():
        facts = json.loads(line)
        usage.events.append(Event(time.monotonic() - began, _cpu(child.pid), facts))
    # Ended but not reaped: the kernel still knows what it used.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    usage.cpu_s, usage.seconds = _cpu(child.pid), time.monotonic() - began
    over.set()
    sampler.join()
    usage.status = child.wait()
    return usage


def _sample(usage: RunUsage, pid: int, began: float, over: threading.Event) -> None:
    """Look at the harness and all that it started, again and again."""
    cpu = dict[tuple[str, int], float]()

    def look() -> None:
        harness, now = psutil.Process(pid), defaultdict[str, int](int)
        processes = [(HARNESS, harness)]
        processes += [(works_in(c).rpartition("-")[0], c) for c in harness.children(recursive=True)]
        for name, process in processes:
            with suppress(psutil.Error):
                if name:
                    times = process.cpu_times()
                    cpu[name, process.pid] = times.user + times.system
                    # What is shared counts once: a JVM that starts a program is there twice.
                    now[name] += process.memory_full_info().pss // (1 << 20)
        usage.peak_mb = max(usage.peak_mb, sum(now.values()))
        for name, mb in now.items():
            usage.used[name].peak_mb = max(usage.used[name].peak_mb, mb)

    while not over.wait(SAMPLE_S):
        usage.note_records(time.monotonic() - began)
        with suppress(psutil.Error):
            look()
    usage.note_records(time.monotonic() - began)  # the last ones may have come after the last look
    for (name, _), cpu_s in cpu.items():
        usage.used[name].cpu_s += cpu_s


def _cpu(pid: int) -> float:
    with suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
    return 0.0


def between(events: Sequence[Event], begins: str, ends: str) -> tuple[Event, Event] | None:
    """Return the first event of a task whose name begins so, and its last of the kind `ends`."""
    of_task = [event for event in events if str(event.facts.get("task", "")).startswith(begins)]
    over = [event for event in of_task if event.facts["event"] == ends]
    return (of_task[0], over[-1]) if over else None


# A plain script: no records, no retries, no cache, no judging. One engine after another is started,
# asked through one connection, one query after another, and stopped. What the harness sets for
# speed only is as the engines and Java set it.

JVM_TUNED: Final = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}
SPARK_DEFAULTS: Final = {
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.adaptive.enabled": "true",
}
HIVE_DEFAULTS: Final = ("set hive.exec.counters.pull.interval=1000",)
TIMEOUT_S: Final = 120.0


@dataclass(slots=True)
class PlainSeconds:
    """How long a plain script took for one distribution."""

    start: float
    ask: float = 0.0
    asked: int = 0


def ask_plainly(run: records.Run, folder: Path, cache: Cache) -> dict[str, PlainSeconds]:
    """Ask what a run asked; return how long that took, by distribution."""
    quiet, states = Progress(), states_of(run.states, cache)
    began = time.monotonic()
    home = folder / METASTORE
    home.mkdir(parents=True)
    installation = _untuned(metastore.DISTRIBUTION, cache)
    prepared = metastore.empty_database(installation, cache, quiet)
    with metastore.serve(ProcessRuntime(installation), prepared, home) as shared:
        with metastore_client.connect(shared.uri) as client:
            for state in states.values():
                state_store.register(client, state)
        result = {METASTORE: PlainSeconds(time.monotonic() - began)}
        for name, readers in _questions(run).items():
            work = folder / name
            work.mkdir()
            installation, began = _untuned(name, cache), time.monotonic()
            engine = engines.load(installation.distribution.engine)
            runtime = ProcessRuntime(installation)
            with engine.serve(runtime, shared.uris, work, quiet, _reads(run, name)) as server:
                result[name] = PlainSeconds(time.monotonic() - began)
                _ask(server, readers, result[name])
    return result


def _untuned(name: str, cache: Cache) -> Installation:
    """Fetch a distribution, and leave out what is set for speed only."""
    installation = fetch.ensure(distributions.load(name), cache, Progress())
    distribution: Distribution = installation.distribution
    settings: dict[str, Setting] = dict(distribution.settings)
    settings["jvm"] = tuple(text for text in distribution.texts("jvm") if text not in JVM_TUNED)
    if distribution.engine == "spark":
        settings["conf"] = {**distribution.options("conf"), **SPARK_DEFAULTS}
    return replace(installation, distribution=replace(distribution, settings=settings))


def _questions(run: records.Run) -> Mapping[str, Mapping[Reader, Sequence[str]]]:
    """Return the SQL that was sent, by distribution and reader, in the order of the plan."""
    by_name = defaultdict[str, dict[Reader, list[str]]](dict)
    for cell in run.info.cells:
        answer = run.answers.get(cell.case)
        if answer is not None and answer.sql:
            reader = parse_reader(cell.reader)
            texts = by_name[reader.distribution].setdefault(reader, [])
            texts += [answer.sql, *(part.sql for part in answer.parts)]
    return by_name


def _reads(run: records.Run, distribution: str) -> PlannedReads:
    """Return what a server will be asked about; a script's author would configure nothing more."""
    facts = {variant.id: formats.facts(variant.format) for variant in run.info.variants}
    cells = ((cell.variant, parse_reader(cell.reader)) for cell in run.info.cells)
    return frozenset((facts[v], r.settings) for v, r in cells if r.distribution == distribution)


def _ask(server: Server, readers: Mapping[Reader, Sequence[str]], took: PlainSeconds) -> None:
    for reader, texts in readers.items():
        began = time.monotonic()
        with closing(server.connect(dict(reader.settings))) as connection:
            if reader.distribution.startswith("hive-"):
                for statement in HIVE_DEFAULTS:
                    connection.run(statement, timeout_s=TIMEOUT_S)
            for sql in texts:
                took.asked += 1
                with suppress(RefusedError, NoAnswerError):
                    connection.run(sql, timeout_s=TIMEOUT_S)
        took.ask += time.monotonic() - began


# What came out

ASK: Final = "ask queries"
ANSWERS: Final = re.compile(r"(?P<name>\S+) answers after (?P<seconds>[0-9.]+) s")


@dataclass(frozen=True, slots=True)
class Measured:
    """What was run, one after another."""

    first: RunUsage
    again: RunUsage
    one: RunUsage
    asked: RunUsage
    """All questions afresh; the tables are there."""
    plain: Mapping[str, PlainSeconds]
    plain_s: float
    run: records.Run
    load: float
    """How many processes wanted a processor while the run was done, on average of its end."""


def measure(folder: Path, profile: str) -> Measured:
    cache = folder / "cache"
    cache.mkdir(parents=True)  # a folder that is not new would measure what is cached
    with_engines(cache)
    first = watch(folder / "run", cache, "--profile", profile)
    load = os.getloadavg()[0]
    again = watch(folder / "again", cache, "--profile", profile)
    run = records.load(folder / "run")
    case = folder / "case.txt"
    case.write_text(f"{run.info.cells[-1].case}\n", encoding="utf-8")
    one = watch(folder / "one", cache, "--profile", profile, "--cases", str(case))
    _forget_starts(cache)
    asked = watch(folder / "asked", cache, "--profile", profile, "--fresh")
    _forget_starts(cache)
    began = time.monotonic()
    plain = ask_plainly(run, folder / "plain", Cache(cache))
    return Measured(first, again, one, asked, plain, time.monotonic() - began, run, load)


def _forget_starts(cache: Path) -> None:
    """Let the next start be the first: a second one makes an archive of classes for later ones."""
    for seen in (cache / "archives").glob("*.seen"):
        seen.unlink()


def summary(measured: Measured) -> Iterator[tuple[str, str]]:
    first, again, cells = measured.first, measured.again, len(measured.run.info.cells)
    fixed, reading = measured.one.cpu_s, asking_s(measured.asked)
    folder = measured.run.folder
    cached = sum(_size(folder.parent / "cache" / name) for name in ("states", "answers"))
    yield "cells", str(cells)
    statuses = (first.status, again.status, measured.asked.status)
    yield "status of the run, of the same again, asked afresh", ", ".join(map(str, statuses))
    yield "the whole, s", f"{first.seconds:.0f}"
    yield "cells a minute", f"{cells * 60 / first.seconds:.0f}"
    yield "first answer recorded after, s", f"{first.first_answer_s:.0f}"
    name = "first verdicts told by progress (right or wrong) after, s"
    yield name, f"{first.first_right_or_wrong_s:.0f}"
    yield "first verdicts recorded (with what is wrong) after, s", f"{first.first_verdict_s:.0f}"
    yield "the same again, nothing changed, s", f"{again.seconds:.1f}"
    yield "harness CPU, fixed (one kept cell), s", f"{fixed:.2f}"
    yield "harness CPU a cell beside that, ms", f"{(first.cpu_s - fixed) * 1000 / cells:.2f}"
    name = "the same again: harness CPU a cell, ms"
    yield name, f"{(again.cpu_s - fixed) * 1000 / cells:.2f}"
    yield "asked afresh, tables there, with all start-ups, s", f"{reading:.0f}"
    yield "plain script for the same questions, s", f"{measured.plain_s:.0f}"
    yield "times the plain script", f"{measured.plain_s / reading:.2f}"
    yield "memory at most, all processes together, MB", str(first.peak_mb)
    yield "disk: states and answers, run, MB", f"{cached:.0f}, {_size(folder):.0f}"
    processors = f"{measured.load:.1f} of {psutil.cpu_count()}"
    yield "processes that wanted one of the processors at its end", processors


def phases(usage: RunUsage) -> Iterator[tuple[str, float, float]]:
    """Yield each phase with its seconds and the harness's CPU seconds."""
    wrote, asked = (between(usage.events, task, "done") for task in ("write tables", ASK))
    ends = list[tuple[str, Event]]()
    if wrote:
        ends += [("up to write", wrote[0]), ("write, ask meanwhile", wrote[1])]
    elif asked:
        ends.append(("up to ask", asked[0]))
    if asked:
        ends.append(("ask the rest" if wrote else "ask", asked[1]))
    ends.append(("judge and report", Event(usage.seconds, usage.cpu_s, {})))
    before, before_cpu = 0.0, 0.0
    for name, end in ends:
        yield name, end.seconds - before, end.cpu_s - before_cpu
        before, before_cpu = end.seconds, end.cpu_s


def asking_s(usage: RunUsage) -> float:
    """Return the seconds from when the first server, the metastore, is started; NaN if none is."""
    begun = min((at - took for _, at, took in _started(usage)), default=float("nan"))
    over = between(usage.events, ASK, "done")
    return over[1].seconds - begun if over else float("nan")


def starts(usage: RunUsage) -> Mapping[str, list[float]]:
    by_name = defaultdict[str, list[float]](list)
    for name, _, took in _started(usage):
        by_name[METASTORE if name == metastore.DISTRIBUTION else name].append(took)
    return by_name


def _started(usage: RunUsage) -> Iterator[tuple[str, float, float]]:
    """Yield each server, when it answered, and how long that took."""
    for event in usage.events:
        if match := ANSWERS.fullmatch(str(event.facts.get("text", ""))):
            yield match["name"], event.seconds, float(match["seconds"])


def queries(run: records.Run) -> Mapping[str, list[Answer]]:
    by_name = defaultdict[str, list[Answer]](list)
    for cell in run.info.cells:
        if answer := run.answers.get(cell.case):
            by_name[run.info.reader(cell.reader).distribution].append(answer)
    return by_name


def servers(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Yield a row for each server: starts, queries, memory, CPU; and what the plain script took."""
    began, answers = starts(measured.first), queries(measured.run)
    for name, used in sorted(measured.first.used.items()):
        asked, plain = answers.get(name, []), measured.plain.get(name)
        yield (
            name,
            ", ".join(f"{start:.1f}" for start in began.get(name, ())),
            str(len(asked)) if asked else "",
            f"{sum(answer.seconds for answer in asked):.1f}" if asked else "",
            f"{used.cpu_s:.1f}",
            str(used.peak_mb),
            f"{plain.start:.1f}" if plain else "",
            f"{plain.ask:.1f}" if plain and plain.asked else "",
        )


def _size(folder: Path) -> float:
    paths = (Path(name, file) for name, _, files in os.walk(folder) for file in files)
    return sum(path.lstat().st_blocks * 512 for path in paths) / 1e6


def report(measured: Measured) -> Iterator[str]:
    yield from (*table(("", "seen"), summary(measured)), "")
    timed = ((name, f"{wall:.1f}", f"{cpu:.2f}") for name, wall, cpu in phases(measured.first))
    yield from (*table(("phase", "s", f"CPU s of the {HARNESS}"), timed), "")
    steps = [state.outcome.seconds for state in measured.run.states if not state.reused]
    yield f"Writing: {len(steps)} steps, statements of {sum(steps):.0f} s, two variants at once.\n"
    heads = ("process", "start-ups, s", "cells", "sum of queries, s", "CPU, s", "peak MB")
    plain = ("plain: start-up, s", "plain: asking, s")
    yield from (*table((*heads, *plain), servers(measured)), "")


# An engine that runs already, beside a process of the harness

ENDPOINT: Final = "endpoint"
"""Instead of a profile: what asking costs by `READERS`, in turn, about tables that are there."""
READERS: Final = ("trino-476", "trino-of-others@endpoint")
ROUNDS: Final = 3
PLATFORM: Final = """\
engines:
  trino-of-others: {{like: trino-476, address: "http://{host}:{port}", catalogs: {{hudi: hudi}}}}
catalogs: {{theirs: {{address: "{metastore}"}}}}
own_tables: {{prefix: harness_, catalog: theirs, folder: "{folder}"}}
"""


def endpoint(folder: Path) -> Iterator[tuple[str, ...]]:
    cache, quiet, platform = Cache.default(), Progress(), folder / "platform.yaml"
    for name in ("metastore", "server", "lake"):
        (folder / name).mkdir(parents=True)
    runtime = provide.runtime(distributions.load(READERS[0]), cache, quiet)
    planned = frozenset((formats.facts(name), ()) for name in ("hudi-cow", "hudi-mor"))
    with provide.start_metastore(cache, folder / "metastore", quiet) as theirs:
        serving = TRINO.serve(runtime, theirs.uris, folder / "server", quiet, planned)
        with serving as server:
            values = {"port": getattr(server, "port", 0), "metastore": theirs.uri}
            text = PLATFORM.format(host=LOOPBACK, folder=folder / "lake", **values)
            platform.write_text(text, encoding="utf-8")
            asked = ("--profile", "quick-start", "--platform", str(platform), "--reader")
            watch(folder / "written", cache.root, *asked, READERS[0], "--reader", READERS[1])
            for number, reader in product(range(ROUNDS), READERS):
                usage = watch(folder / f"{number}-{reader}", cache.root, *asked, reader, "--fresh")
                cells, cpu_s = len(records.load(usage.folder).info.cells), usage.cpu_s
                a_cell = f"{cpu_s * 1000 / cells:.2f}"
                yield reader, str(usage.status), str(cells), f"{usage.seconds:.0f}", a_cell


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--profile", default="quick-start")
    parser.add_argument("--folder", type=Path, required=True, help="emptied before it is used")
    parser.add_argument("--rows", default="10000000", help="of the profile audit, of each table")
    parser.add_argument("--small", type=int, default=1000, help="tables of that profile")
    options = parser.parse_args()
    folder = options.folder.resolve()
    caches.remove(folder)
    folder.mkdir(parents=True)
    if options.profile == bench_audit.PROFILE:
        rows = [int(number) for number in options.rows.split(",") if number]
        print("\n".join(bench_audit.report(folder, rows, options.small)))
        return 0
    if options.profile == ENDPOINT:
        head = ("reader", "status", "cells", "s", f"CPU of the {HARNESS} a cell, ms")
        for line in table(head, endpoint(folder)):
            print(line, flush=True)
        return 0
    measured = measure(folder, options.profile)
    print("\n".join(report(measured)))
    statuses = {measured.first.status, measured.again.status, measured.asked.status}
    return 0 if statuses <= {0, 1} else 3


if __name__ == "__main__":
    sys.exit(main())
