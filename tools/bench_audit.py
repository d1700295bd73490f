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
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from harness.artifacts.cache import Cache
from harness.audit import spark_reader
from harness.audit.compared_parts import compared
from harness.audit.projection import full_type
from harness.audit.spark_fingerprints import WORDS, SparkFingerprints
from harness.audit.spark_plan import quoted
from harness.audit.spark_reader import SparkReader
from harness.core.progress import Progress
from harness.core.texts import counted
from harness.engines.arrow_values import canonical_type
from harness.formats.read_plan import ReadPlan
from harness.model.fingerprint import Fingerprint
from harness.model.query import ALL
from tools import large_table
from tools.shared import table

Result = TypeVar("Result")
PROFILE: Final = "audit"
MASTER: Final = "local[2]"
TIMES: Final = 3
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


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
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
    lines, truth = list[tuple[str, float]](), folder / "truth"
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
    planned = reader.table(plan)
    columns = [(p.name, canonical_type(full_type(p, plan.arrow_type))) for p in plan.columns]
    asked = Fingerprint(compared(columns, columns, WORDS, lower=False).parts)
    listed = ", ".join(quoted(name) for name, _ in columns)
    ((key,),) = planned.run(f"select min(id) from {planned.view} where id > 77").rows
    changed = f"if(`id` = {key}, 'changed', `t0`) as `t0`"
    for path, text in ((truth, "`t0`"), (truth.with_name("changed"), changed)):
        into = f"insert overwrite directory '{path}' using parquet select"
        planned.run(f"{into} {listed.replace('`t0`', text)} from {planned.view}")
    by_plan = SparkFingerprints(planned)
    scanned = SparkFingerprints(replace(planned, view=f"parquet.`{truth}`"))
    other = SparkFingerprints(replace(planned, view=f"parquet.`{truth.with_name('changed')}`"))
    ours, sums = timed(lambda: by_plan.sums(asked, (ALL,)))
    prepared, _ = timed(lambda: reader.table(plan).size)
    planned.run("set spark.sql.parquet.enableVectorizedReader=true")
    plain, others = timed(lambda: scanned.sums(asked, (ALL,)))
    if sums != others:
        raise AssertionError("the plan and the plain scan have other fingerprints")
    planned.run("set spark.sql.parquet.enableVectorizedReader=false")
    narrowing, place = timed(lambda: _find(by_plan, other, asked))
    return [
        ("fingerprints by the read plan", ours),
        ("fingerprints by a plain scan", plain),
        ("to plan, count and read a sample by PyArrow", prepared),
        (f"to find one changed value: {place}", narrowing),
    ]


def _find(by_plan: SparkFingerprints, other: SparkFingerprints, asked: Fingerprint) -> str:
    """Return the place of the only row that differs, by halves of the hashes of its key."""
    asked = replace(asked, by=(0,))
    for digits in (3, 6):
        asked = replace(asked, digits=digits)
        (right,), (shown,) = (of.sums(asked, (ALL,)) for of in (by_plan, other))
        asked = replace(asked, within=tuple(at for at in right if right[at] != shown.get(at)))
    (file,) = by_plan.rows(replace(asked, rows=True), ALL).files
    return f"{file.file.path.rpartition('/')[2]}, row {file.positions[0]}"


def _other(python: str, first: Path, second: Path) -> tuple[str, float]:
    heap = f"{spark_reader.HEAP_MB}m"
    command = [python, "-c", COMPARE, MASTER, heap, str(first), str(second), str(TIMES)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    taken = [float(line.split()[1]) for line in done.stdout.splitlines() if "took" in line]
    return f"datacompy 1.1.0, {heap} of heap", statistics.median(taken)
