"""Measure one run of a profile: what costs how much, and what a plain script takes for the same.

    python tools/bench.py --profile quick-start --folder build/bench

The run is done on a cache that holds the engines and neither table states nor answers; then again,
with nothing changed; then for one cell of it, whose answer is kept too: what that costs is fixed,
and the rest is divided by the cells. Then all is asked afresh of the tables that are there, and
`tools/bench_plain.py` asks the same: neither of the two writes meanwhile. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness.artifacts import cache as caches
from harness.core.records import Answer
from harness.run import load_run as records
from harness.runtime import metastore
from tools.bench_watch import HARNESS, Event, RunUsage, between, watch
from tools.markdown_table import table
from tools.shared_engines import with_engines

FOLDERS: Final = {metastore.DISTRIBUTION: "metastore"}
"""What a server's folder is called where it is not called as its distribution."""
ASK: Final = "ask cells"
ANSWERS: Final = re.compile(r"(?P<name>\S+) answers after (?P<seconds>[0-9.]+) s")


@dataclass(frozen=True, slots=True)
class Measured:
    """What was run, one after another."""

    first: RunUsage
    again: RunUsage
    one: RunUsage
    asked: RunUsage
    """All questions afresh; the tables are there."""
    plain: Mapping[str, Any]
    run: records.Run
    load: float
    """How many processes wanted a processor while the run was done, on average of its end."""


def measure(folder: Path, profile: str) -> Measured:
    """Do the runs and the plain script in a new folder."""
    cache = folder / "cache"
    cache.mkdir(parents=True)  # a folder that is not new would measure what is kept
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
    return Measured(first, again, one, asked, _plain(folder, cache), run, load)


def _forget_starts(cache: Path) -> None:
    """Let the next start be the first: a second one makes an archive of classes for later ones."""
    for seen in (cache / "archives").glob("*.seen"):
        seen.unlink()


def _plain(folder: Path, cache: Path) -> Mapping[str, Any]:
    command = [sys.executable, str(Path(__file__).with_name("bench_plain.py"))]
    environment = {**os.environ, "HARNESS_CACHE": str(cache)}
    done = subprocess.run(
        [*command, str(folder / "run"), str(folder / "plain")],
        env=environment, stdout=subprocess.PIPE, check=True, text=True,
    )  # fmt: skip
    result: Mapping[str, Any] = json.loads(done.stdout)
    return result


def summary(measured: Measured) -> Iterator[tuple[str, str]]:
    """Yield the figures of the whole."""
    first, cells = measured.first, len(measured.run.info.cells)
    yield "cells", str(cells)
    statuses = (first.status, measured.again.status, measured.asked.status)
    yield "status of the run, of the same again, asked afresh", ", ".join(map(str, statuses))
    yield "the whole, s", f"{first.seconds:.0f}"
    yield "cells a minute", f"{cells * 60 / first.seconds:.0f}"
    yield "first answer recorded after, s", f"{first.first_answer_s:.0f}"
    yield "first verdicts told by progress (right or wrong) after, s", f"{first.first_told_s:.0f}"
    yield "first verdicts recorded (with what is wrong) after, s", f"{first.first_verdict_s:.0f}"
    yield "the same again, nothing changed, s", f"{measured.again.seconds:.1f}"
    fixed = measured.one.cpu_s
    yield "harness CPU, fixed (one kept cell), s", f"{fixed:.2f}"
    yield "harness CPU a cell beside that, ms", f"{(first.cpu_s - fixed) * 1000 / cells:.2f}"
    yield (
        "the same again: harness CPU a cell, ms",
        (f"{(measured.again.cpu_s - fixed) * 1000 / cells:.2f}"),
    )
    reading = asking_s(measured.asked)
    yield "asked afresh, tables there, with all start-ups, s", f"{reading:.0f}"
    yield "plain script for the same questions, s", f"{measured.plain['seconds']:.0f}"
    yield "times the plain script", f"{measured.plain['seconds'] / reading:.2f}"
    yield "memory at most, all processes together, MB", str(first.peak_mb)
    yield (
        "disk: states and answers, run, MB",
        (
            f"{_size(cache_of(measured) / 'states') + _size(cache_of(measured) / 'answers'):.0f}, "
            f"{_size(measured.run.folder):.0f}"
        ),
    )
    yield (
        "processes that wanted one of the processors at its end",
        (f"{measured.load:.1f} of {psutil.cpu_count()}"),
    )


def cache_of(measured: Measured) -> Path:
    """Return the cache of the runs."""
    return measured.run.folder.parent / "cache"


def phases(watched: RunUsage) -> Iterator[tuple[str, float, float]]:
    """Yield each phase with its seconds and the harness's CPU seconds."""
    before, before_cpu = 0.0, 0.0
    for name, end in _ends(watched):
        yield name, end.seconds - before, end.cpu_s - before_cpu
        before, before_cpu = end.seconds, end.cpu_s
    yield "judge and report", watched.seconds - before, watched.cpu_s - before_cpu


def _ends(watched: RunUsage) -> Iterator[tuple[str, Event]]:
    """Yield each phase but the last with its end; readers are asked from when writing begins."""
    wrote, asked = (between(watched.events, task, "done") for task in ("write tables", ASK))
    if wrote:
        yield "up to write", wrote[0]
        yield "write, ask meanwhile", wrote[1]
    elif asked:
        yield "up to ask", asked[0]
    if asked:
        yield "ask the rest" if wrote else "ask", asked[1]


def asking_s(watched: RunUsage) -> float:
    """Return the seconds from when the first server, the metastore, is started; NaN if none is."""
    begun = min((at - took for _, at, took in _started(watched)), default=float("nan"))
    over = between(watched.events, ASK, "done")
    return over[1].seconds - begun if over else float("nan")


def starts(watched: RunUsage) -> Mapping[str, list[float]]:
    """Return how long each server took until it answered, by the names of their folders."""
    by_name: dict[str, list[float]] = {}
    for name, _, took in _started(watched):
        by_name.setdefault(FOLDERS.get(name, name), []).append(took)
    return by_name


def _started(watched: RunUsage) -> Iterator[tuple[str, float, float]]:
    """Yield each server, when it answered, and how long that took."""
    for event in watched.events:
        if match := ANSWERS.fullmatch(str(event.facts.get("text", ""))):
            yield match["name"], event.seconds, float(match["seconds"])


def queries(run: records.Run) -> Mapping[str, list[Answer]]:
    """Return the answers of each distribution."""
    by: dict[str, list[Answer]] = {}
    for cell in run.info.cells:
        with suppress(KeyError):
            by.setdefault(run.distribution(cell.reader), []).append(run.answers[cell.case])
    return by


def engines(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Yield a row for each server: starts, queries, memory, CPU; and what the plain script took."""
    began, answers, plain = starts(measured.first), queries(measured.run), measured.plain["by"]
    for name, used in sorted(measured.first.used.items()):
        of = answers.get(name, [])
        alone = plain.get(name, {})
        yield (
            name,
            ", ".join(f"{start:.1f}" for start in began.get(name, ())),
            str(len(of)) if of else "",
            f"{sum(answer.seconds for answer in of):.1f}" if of else "",
            f"{used.cpu_s:.1f}",
            str(used.peak_mb),
            f"{alone['start']:.1f}" if alone else "",
            f"{alone['ask']:.1f}" if alone.get("asked") else "",
        )


def _size(folder: Path) -> float:
    paths = (Path(name, file) for name, _, files in os.walk(folder) for file in files)
    return sum(path.lstat().st_blocks * 512 for path in paths) / 1e6


def report(measured: Measured) -> Iterator[str]:
    """Yield all tables."""
    yield from (*table(("", "seen"), summary(measured)), "")
    timed = ((name, f"{wall:.1f}", f"{cpu:.2f}") for name, wall, cpu in phases(measured.first))
    yield from (*table(("phase", "s", f"CPU s of the {HARNESS}"), timed), "")
    steps = [state.outcome.seconds for state in measured.run.states if not state.reused]
    yield f"Writing: {len(steps)} steps, statements of {sum(steps):.0f} s, two variants at once.\n"
    heads = ("process", "start-ups, s", "cells", "sum of queries, s", "CPU, s", "peak MB")
    plain = ("plain: start-up, s", "plain: asking, s")
    yield from (*table((*heads, *plain), engines(measured)), "")


def main() -> int:
    """Measure and print; give the exit status."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--profile", default="quick-start")
    asked.add_argument("--folder", type=Path, required=True, help="emptied before it is used")
    options = asked.parse_args()
    folder = options.folder.resolve()
    caches.remove(folder)
    folder.mkdir(parents=True)
    measured = measure(folder, options.profile)
    print("\n".join(report(measured)))
    statuses = {measured.first.status, measured.again.status, measured.asked.status}
    return 0 if statuses <= {0, 1} else 3


if __name__ == "__main__":
    sys.exit(main())
