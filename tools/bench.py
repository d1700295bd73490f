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
    found = records.load(folder / "run")
    case = folder / "case.txt"
    case.write_text(f"{found.info.cells[-1].case}\n", encoding="utf-8")
    one = watch(folder / "one", cache, "--profile", profile, "--cases", str(case))
    _forget_starts(cache)
    asked = watch(folder / "asked", cache, "--profile", profile, "--fresh")
    _forget_starts(cache)
    return Measured(first, again, one, asked, _plain(folder, cache), found, load)


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
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found


def summary(found: Measured) -> Iterator[tuple[str, str]]:
    """Yield the figures of the whole."""
    first, cells = found.first, len(found.run.info.cells)
    yield "cells", str(cells)
    statuses = (first.status, found.again.status, found.asked.status)
    yield "status of the run, of the same again, asked afresh", ", ".join(map(str, statuses))
    yield "the whole, s", f"{first.seconds:.0f}"
    yield "cells a minute", f"{cells * 60 / first.seconds:.0f}"
    yield "first answer recorded after, s", f"{first.first_answer_s:.0f}"
    yield "first verdicts told by progress (right or wrong) after, s", f"{first.first_told_s:.0f}"
    yield "first verdicts recorded (with what is wrong) after, s", f"{first.first_verdict_s:.0f}"
    yield "the same again, nothing changed, s", f"{found.again.seconds:.1f}"
    fixed = found.one.cpu_s
    yield "harness CPU, fixed (one kept cell), s", f"{fixed:.2f}"
    yield "harness CPU a cell beside that, ms", f"{(first.cpu_s - fixed) * 1000 / cells:.2f}"
    yield (
        "the same again: harness CPU a cell, ms",
        (f"{(found.again.cpu_s - fixed) * 1000 / cells:.2f}"),
    )
    reading = asking_s(found.asked)
    yield "asked afresh, tables there, with all start-ups, s", f"{reading:.0f}"
    yield "plain script for the same questions, s", f"{found.plain['seconds']:.0f}"
    yield "times the plain script", f"{found.plain['seconds'] / reading:.2f}"
    yield "memory at most, all processes together, MB", str(first.peak_mb)
    yield (
        "disk: states and answers, run, MB",
        (
            f"{_size(cache_of(found) / 'states') + _size(cache_of(found) / 'answers'):.0f}, "
            f"{_size(found.run.folder):.0f}"
        ),
    )
    yield (
        "processes that wanted one of the processors at its end",
        (f"{found.load:.1f} of {psutil.cpu_count()}"),
    )


def cache_of(found: Measured) -> Path:
    """Return the cache of the runs."""
    return found.run.folder.parent / "cache"


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
    found: dict[str, list[float]] = {}
    for name, _, took in _started(watched):
        found.setdefault(FOLDERS.get(name, name), []).append(took)
    return found


def _started(watched: RunUsage) -> Iterator[tuple[str, float, float]]:
    """Yield each server, when it answered, and how long that took."""
    for event in watched.events:
        if told := ANSWERS.fullmatch(str(event.facts.get("text", ""))):
            yield told["name"], event.seconds, float(told["seconds"])


def queries(found: records.Run) -> Mapping[str, list[Answer]]:
    """Return the answers of each distribution."""
    by: dict[str, list[Answer]] = {}
    for cell in found.info.cells:
        with suppress(KeyError):
            by.setdefault(found.distribution(cell.reader), []).append(found.answers[cell.case])
    return by


def engines(found: Measured) -> Iterator[tuple[str, ...]]:
    """Yield a row for each server: starts, queries, memory, CPU; and what the plain script took."""
    began, answers, plain = starts(found.first), queries(found.run), found.plain["by"]
    for name, used in sorted(found.first.used.items()):
        of = answers.get(name, [])
        alone = plain.get(name, {})
        yield (
            name,
            ", ".join(f"{each:.1f}" for each in began.get(name, ())),
            str(len(of)) if of else "",
            f"{sum(each.seconds for each in of):.1f}" if of else "",
            f"{used.cpu_s:.1f}",
            str(used.peak_mb),
            f"{alone['start']:.1f}" if alone else "",
            f"{alone['ask']:.1f}" if alone.get("asked") else "",
        )


def _size(folder: Path) -> float:
    files = (Path(name, each) for name, _, found in os.walk(folder) for each in found)
    return sum(path.lstat().st_blocks * 512 for path in files) / 1e6


def report(found: Measured) -> Iterator[str]:
    """Yield all tables."""
    yield from (*table(("", "seen"), summary(found)), "")
    timed = ((name, f"{wall:.1f}", f"{cpu:.2f}") for name, wall, cpu in phases(found.first))
    yield from (*table(("phase", "s", f"CPU s of the {HARNESS}"), timed), "")
    steps = [each.outcome.seconds for each in found.run.states if not each.reused]
    yield f"Writing: {len(steps)} steps, statements of {sum(steps):.0f} s, two variants at once.\n"
    heads = ("process", "start-ups, s", "cells", "sum of queries, s", "CPU, s", "peak MB")
    plain = ("plain: start-up, s", "plain: asking, s")
    yield from (*table((*heads, *plain), engines(found)), "")


def main() -> int:
    """Measure and print; give the exit status."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--profile", default="quick-start")
    asked.add_argument("--folder", type=Path, required=True, help="emptied before it is used")
    options = asked.parse_args()
    folder = options.folder.resolve()
    caches.remove(folder)
    folder.mkdir(parents=True)
    found = measure(folder, options.profile)
    print("\n".join(report(found)))
    statuses = {found.first.status, found.again.status, found.asked.status}
    return 0 if statuses <= {0, 1} else 3


if __name__ == "__main__":
    sys.exit(main())
