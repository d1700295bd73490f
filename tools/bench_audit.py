"""Measure an audit whose tables Spark reads: one large table, against others that do as much.

    python tools/bench.py --profile audit --folder build/bench [--rows 1000000 --compare PYTHON]

The table is Iceberg's, of 20 columns, with 40 files of three schemas and with deletes by position
and by value (`tools/large_table.py`). Timed are the fingerprints of all columns: of its rows by the
read plan; of the same rows as plain Parquet, which Spark scans as it does by itself. With PYTHON,
one that has datacompy 1.1.0 and PySpark, also what its `SparkSQLCompare` takes for two data sets of
these rows with the key, on as much heap. Prints medians of three as Markdown.
"""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from harness.artifacts.cache import Cache
from harness.audit import spark_reader
from harness.audit.spark_plan import quoted
from harness.audit.spark_reader import SparkReader
from harness.core.counting import counted
from harness.core.progress import Progress
from harness.formats.read_plan import ReadPlan
from tools import large_table
from tools.shared import table

PROFILE: Final = "audit"
MASTER: Final = "local[2]"
TIMES: Final = 3
KEY: Final = "id"
_HALF: Final = 100_000_000
COMPARE: Final = """
import sys, time
from pyspark.sql import SparkSession
from datacompy.spark import SparkSQLCompare
master, heap, first, second, times = sys.argv[1:]
spark = (SparkSession.builder.master(master).config("spark.driver.memory", heap)
    .config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC").getOrCreate())
for _ in range(int(times)):
    began = time.monotonic()
    frames = [spark.read.parquet(path) for path in (first, second)]
    compared = SparkSQLCompare(spark, *frames, join_columns=["id"])
    compared.report()
    print("took", time.monotonic() - began, compared.intersect_rows.count(), flush=True)
"""


def fingerprints(columns: Sequence[str], view: str) -> str:
    """Return the statement: how many rows, and of each column the sum of its hashes."""
    texts = [
        f"md5(cast({'to_json' if name == 's' else 'string'}({quoted(name)}) as binary))"
        for name in columns
    ]
    hashes = ", ".join(f"{text} as h{at}" for at, text in enumerate(texts))
    numbers = ", ".join(
        f"cast(translate(substr(h{at}, 1, 16), 'abcdef', '012345') as bigint) as n{at}"
        for at in range(len(texts))
    )
    sums = ", ".join(f"sum(n{at} div {_HALF}), sum(n{at} % {_HALF})" for at in range(len(texts)))
    return f"select count(*), {sums} from (select {numbers} from (select {hashes} from {view}))"


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Return the median of the seconds that some work takes, and what came of it."""
    taken, results = [], []
    for _ in range(TIMES):
        began = time.monotonic()
        results.append(work())
        taken.append(time.monotonic() - began)
    if any(result != results[0] for result in results):
        raise AssertionError("the same work came to other results")
    return statistics.median(taken), results[0]


def report(folder: Path, rows: int, compare: str) -> Iterator[str]:
    plan = large_table.write(folder / "table", rows)
    lines, truth = [], folder / "truth"
    with spark_reader.start(MASTER, (), Cache.default(), folder, Progress()) as reader:
        lines += _ours(reader, plan, truth)
    if compare:
        lines.append(_other(compare, truth, folder / "changed"))
    first = lines[0][1]
    yield f"{counted(rows, 'row', 'rows')}, {large_table.FILES} files, {MASTER}, medians of {TIMES}"
    yield ""
    cells = [[what, f"{seconds:.1f}", f"{seconds / first:.2f}"] for what, seconds in lines]
    yield from table(["what", "seconds", "times ours"], cells)


def _ours(reader: SparkReader, plan: ReadPlan, truth: Path) -> list[tuple[str, float]]:
    names = [part.name for part in plan.columns]
    planned = reader.table(plan)
    listed = ", ".join(map(quoted, names))
    for path, first in ((truth, quoted("t0")), (truth.with_name("changed"), CHANGED)):
        columns = listed.replace(quoted("t0"), first)
        into = f"insert overwrite directory '{path}' using parquet"
        planned.run(f"{into} select {columns} from {planned.view}")
    ours, sums = timed(lambda: planned.run(fingerprints(names, planned.view)).rows)
    checked, _ = timed(lambda: reader.table(plan).view[:1])
    planned.run("set spark.sql.parquet.enableVectorizedReader=true")
    plain, others = timed(lambda: planned.run(fingerprints(names, f"parquet.`{truth}`")).rows)
    if sums != others:
        raise AssertionError("the plan and the plain scan have other fingerprints")
    return [
        ("fingerprints by the read plan", ours),
        ("what a plan is prepared and checked in", checked),
        ("fingerprints by a plain scan", plain),
    ]


CHANGED: Final = "if(`id` = 77, 'changed', `t0`) as `t0`"


def _other(python: str, first: Path, second: Path) -> tuple[str, float]:
    heap = f"{spark_reader.HEAP_MB}m"
    command = [python, "-c", COMPARE, MASTER, heap, str(first), str(second), str(TIMES)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    taken = [float(line.split()[1]) for line in done.stdout.splitlines() if "took" in line]
    return f"datacompy 1.1.0, {heap} of heap", statistics.median(taken)
