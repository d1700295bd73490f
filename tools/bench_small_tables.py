"""Measure the audit of many small tables by PyIceberg, beside a loop that asks the same scans.

The tables, of four columns and two files each, are written by PyIceberg in a process of its own, in
which the loop runs as well; it starts no harness.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.core.texts import counted
from tools.shared import Cost, table

READER: Final = "pyiceberg-0.12.0"
PROGRAM: Final = """
import os, sys, time
from decimal import Decimal
import pyarrow as pa
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.expressions import EqualTo, IsNull
from pyiceberg.io.pyarrow import PyArrowFileIO, schema_to_pyarrow
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.serializers import ToOutputFile
from pyiceberg.table import CommitTableResponse, StaticTable, Table
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import update_table_metadata
from pyiceberg.types import DecimalType, LongType, NestedField, StringType, TimestamptzType

class OneTable(NoopCatalog):
    def commit_table(self, table, requirements, updates):
        changed = update_table_metadata(table.metadata, updates)
        path = f"{table.location()}/metadata/v{len(changed.snapshots)}.metadata.json"
        ToOutputFile.table_metadata(changed, table.io.new_output(path), overwrite=True)
        return CommitTableResponse(metadata=changed, metadata_location=path)

def write(folder, number):
    types = LongType(), StringType(), DecimalType(9, 2), TimestamptzType()
    names = "id", "name", "price", "at"
    schema = Schema(*(NestedField(at, *of) for at, of in enumerate(zip(names, types), 1)))
    unsorted, parts = UNSORTED_SORT_ORDER, UNPARTITIONED_PARTITION_SPEC
    made = new_table_metadata(schema, parts, unsorted, folder)
    os.makedirs(f"{folder}/data")
    table = Table(("a", "t"), made, f"{folder}/metadata", PyArrowFileIO(), OneTable("one"))
    for file in range(2):
        ids = range(number * 100 + file * 50, number * 100 + file * 50 + 50)
        values = ids, map("name {}".format, ids), [Decimal(i).scaleb(-2) for i in ids], ids
        schema = schema_to_pyarrow(table.schema())
        arrays = [pa.array(v, field.type) for v, field in zip(values, schema)]
        table.append(pa.Table.from_arrays(arrays, schema=schema))

def seconds(folders, questions):
    began, used = time.monotonic(), time.process_time()
    for at, folder in enumerate(folders):
        last = at * 100 + 99
        for where in ([()], ["count"], [IsNull("id")], [EqualTo("id", last)], [IsNull("name")],
                      [EqualTo("name", f"name {last}")], [IsNull("price")],
                      [EqualTo("price", Decimal(last).scaleb(-2))], [IsNull("at")])[:questions]:
            table = StaticTable.from_metadata(f"{folder}/metadata/v2.metadata.json")
            scan = table.scan(*(w for w in where if w and w != "count"))
            scan.count() if where == ["count"] else scan.to_arrow()
    return time.monotonic() - began, time.process_time() - used

what, folder, number = sys.argv[1:]
folders = [f"{folder}/t{at:05d}" for at in range(int(number))]
if what == "write":
    for at, path in enumerate(folders):
        write(path, at)
else:
    print(*seconds(folders, int(what)))
"""
QUESTIONS: Final = 9
"""All rows, how many, of each column whether it is NULL, and of three of them a value."""


def report(folder: Path, number: int) -> Iterator[str]:
    tables, run = folder / "tables", folder / "audit"
    tables.mkdir(parents=True)
    _loop("write", tables, number)
    once, same = (
        Cost(*map(float, _loop(str(most), tables, number).split())) for most in (1, QUESTIONS)
    )
    audited = _audit(str(tables), "--reader", READER, "--run-dir", str(run))
    again = _audit("--resume", "--run-dir", str(run))
    rows = (
        ("a loop that scans each table once", once),
        (f"a loop that asks the {QUESTIONS} questions of an audit", same),
        ("harness audit", audited),
        ("harness audit --resume, nothing changed", again),
    )
    yield from (f"## {counted(number, 'small table', 'small tables')}, {READER}", "")
    cells = ([what, *(f"{1000 * s / number:.1f}" for s in astuple(of))] for what, of in rows)
    yield from table(["what", "ms a table", "processor ms a table"], cells)
    yield from ("", f"- the audit {audited.times(same)} as the loop that asks the same", "")


def _loop(what: str, folder: Path, number: int) -> str:
    home = fetch.ensure(distributions.load(READER), Cache.default(), Progress()).home
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, what, str(folder), str(number)]
    around = {**os.environ, "PYTHONPATH": str(home)}
    return subprocess.run(command, env=around, check=True, capture_output=True, text=True).stdout


def _audit(*arguments: str) -> Cost:
    began, before = time.monotonic(), os.times()
    command = [sys.executable, "-m", "harness", "audit", *arguments]
    subprocess.run(command, check=True, capture_output=True)
    used = os.times()
    cpu = sum(used[2:4]) - sum(before[2:4])
    return Cost(time.monotonic() - began, cpu)
