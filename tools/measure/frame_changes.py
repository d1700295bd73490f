"""Write DataFrames with other columns than a Hudi table has, by a Hudi that has no SQL; read it.

    python tools/measure/frame_changes.py FOLDER

Hudi 0.8.0 has neither `alter table` nor a client that changes a schema: what it has is the frame.
A table gets two file groups, then a frame whose columns are changed replaces one row of the first
(`some`), then another one rows of both (`all`). After each the table is read, by the writer itself
and by a newer Hudi, and compared with what a table with that change must show. Where a frame was
refused, it must show what it showed before.

What was seen is a line in FOLDER/frames.jsonl. Prints it as a table.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.artifacts.cache import Cache
from harness.cli.console.progress_display import PlainProgress
from harness.engines.api import RefusedError
from harness.engines.spark.session import Session
from harness.plan import own_distributions
from harness.runtime import provide
from harness.write.writer_pool import WriteContext, WriterPool
from tools.markdown_table import table
from tools.measure.pipelines_tables import TIMEOUT_S, HudiTable

WHERE: Final = Path(__file__).with_name("frames_scenarios")
WRITER: Final = "spark-3.1.3-hudi-0.8.0"
NEWER: Final = "spark-3.5.8-hudi-0.15.0"
TYPES: Final = ("COPY_ON_WRITE", "MERGE_ON_READ")
APART: Final = {
    # Else the second frame goes into the file of the first, and no file is left as it was.
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.compact.inline": "false",
    "hoodie.datasource.write.precombine.field": "ts",
}
FRAMES: Final[tuple[tuple[str, tuple[int, ...]], ...]] = (("some", (1,)), ("all", (2, 3)))
"""Which files have rows of a frame, and the numbers of its rows."""
RIGHT: Final = "right"
WRITTEN: Final = "written"
THROWN: Final = re.compile(r"\b(\w+(?:Exception|Error))\b")
HEAD: Final = ("table", "change", "files rewritten", "frame", "read by", "shown")

Columns = Mapping[str, str]
"""SQL of each value, by the column's name, with `{n}` for the row's number."""
BASE: Final[Columns] = {
    "id": "'k{n}'",
    "ts": "{ts}L",
    "b": "nullif({n}, -1)",
    "c": "nullif('c{n}', '')",
}
"""An expression that may be NULL makes a column that may."""


@dataclass(frozen=True, slots=True)
class FrameChange:
    """A frame with other columns, and what rows of before have under them."""

    name: str
    columns: Columns
    old: Columns
    """As a table with this change must show the rows of before."""


CHANGES: Final = (
    FrameChange(
        "append a nullable column", {**BASE, "d": "nullif('d{n}', '')"}, {**BASE, "d": "null"}
    ),
    FrameChange(
        "append a column that is never NULL", {**BASE, "d": "'d{n}'"}, {**BASE, "d": "null"}
    ),
    FrameChange(
        "add a nullable column in the middle",
        {name: BASE.get(name, "nullif('d{n}', '')") for name in ("id", "ts", "d", "b", "c")},
        {**BASE, "d": "null"},
    ),
    FrameChange(
        "leave out a column",
        {name: BASE[name] for name in ("id", "ts", "c")},
        {name: BASE[name] for name in ("id", "ts", "c")},
    ),
    FrameChange(
        "another name for a column",
        {"id": BASE["id"], "ts": BASE["ts"], "b": BASE["b"], "c2": BASE["c"]},
        {"id": BASE["id"], "ts": BASE["ts"], "b": BASE["b"], "c2": BASE["c"]},
    ),
    FrameChange("int becomes long", {**BASE, "b": "nullif(500000000{n}L, -1L)"}, BASE),
    FrameChange("int becomes string", {**BASE, "b": "nullif('{n}x', '')"}, BASE),
    FrameChange("another order", {name: BASE[name] for name in ("id", "c", "ts", "b")}, BASE),
)

Rows = Mapping[str, Mapping[str, str]]
"""By key, of each column its value as text."""


@dataclass(frozen=True, slots=True)
class ShownFrame:
    """What came of one frame, and what one reader showed then."""

    writer: str
    target: str
    change: str
    rewritten: str
    """`some` or `all` of the files of before."""
    wrote: str
    """`written`, or the name of the error."""
    reader: str
    shown: str
    """`right`, the name of the error, or the first place that is not."""


def query(columns: Columns, numbers: Sequence[int], ts: int) -> str:
    """Return the SQL of a frame."""
    rows = (
        ", ".join(f"{sql.format(n=n, ts=ts)} as {name}" for name, sql in columns.items())
        for n in numbers
    )
    return " union all ".join(f"select {row}" for row in rows)


def wrong(due: Rows, shown: Rows) -> str:
    """Return the first place where a table is not as it must be; `right` where there is none."""
    if lost := sorted(set(due) - set(shown)):
        return f"{lost[0]} is not there"
    if beyond := sorted(set(shown) - set(due)):
        return f"{beyond[0]} is there"
    for key, row in sorted(due.items()):
        for name, value in row.items():
            if name not in shown[key]:
                return f"no column {name}"
            if shown[key][name] != value:
                return f"{name} of {key} is {shown[key][name]} instead of {value}"
    more = sorted(
        {name for row in shown.values() for name in row}
        - {name for row in due.values() for name in row}
    )
    return f"the column {more[0]} is still there" if more else RIGHT


def as_due(change: FrameChange, new: Sequence[int]) -> dict[str, Columns]:
    """Return by key the columns that each of the four rows must have after a change."""
    return {f"k{n}": change.columns if n in new else change.old for n in (1, 2, 3, 4)}


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A table with one change, its writer and its readers."""

    change: FrameChange
    held: HudiTable
    pool: WriterPool

    def seen(self) -> Iterator[ShownFrame]:
        """Write the table, then the frames; yield what came of each, by each reader."""
        for first in ((1, 2), (3, 4)):
            self._write(BASE, first, 1)
        done: tuple[int, ...] = ()
        for rewritten, numbers in FRAMES:
            try:
                self._write(self.change.columns, numbers, 2)
                wrote, done = WRITTEN, (*done, *numbers)
            except RefusedError as refusal:
                wrote = _told(refusal)
            change = self.change if done else FrameChange("", BASE, BASE)
            due = self._due(change, done)
            for name, reader, glob in self._readers():
                shown = self._shown(reader, glob, due)
                yield ShownFrame(
                    WRITER, self.held.type, self.change.name, rewritten, wrote, name, shown
                )

    def _write(self, columns: Columns, numbers: Sequence[int], ts: int) -> None:
        self.held.append(self._session(WRITER), query(columns, numbers, ts), APART)

    def _session(self, distribution: str) -> Session:
        return self.pool.spark(distribution).open({})

    def _readers(self) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        """Yield who reads it; the writer's bundle cannot read merge-on-read on Spark 3."""
        files = {"path": f"{self.held.folder}/*"}
        if self.held.type == TYPES[0]:
            yield WRITER, WRITER, files
            yield f"{WRITER}, mergeSchema", WRITER, {**files, "mergeSchema": "true"}
        yield NEWER, NEWER, {"path": str(self.held.folder)}

    def _due(self, change: FrameChange, done: Sequence[int]) -> Rows:
        """Return the rows as they must be, their values as Spark says them."""
        return {
            key: self._one(query(columns, [int(key[1:])], 2 if int(key[1:]) in done else 1))
            for key, columns in as_due(change, done).items()
        }

    def _one(self, sql: str) -> Mapping[str, str]:
        found = self._session(NEWER).run(sql, timeout_s=TIMEOUT_S)
        names = [name for name, _ in found.columns]
        return dict(zip(names, map(str, found.rows[0]), strict=True))

    def _shown(self, reader: str, options: Mapping[str, str], due: Rows) -> str:
        session = self._session(reader)
        told = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        view = f"create or replace temporary view v using hudi options ({told})"
        try:
            session.run(view, timeout_s=TIMEOUT_S)
            found = session.run("select * from v", timeout_s=TIMEOUT_S)
        except RefusedError as refusal:
            return _told(refusal)
        names = [name for name, _ in found.columns]
        rows = [dict(zip(names, map(str, row), strict=True)) for row in found.rows]
        own = [{k: v for k, v in row.items() if not k.startswith("_hoodie_")} for row in rows]
        return wrong(due, {row["id"]: row for row in own})


def error(text: str) -> str:
    """Return the innermost exception that the first line of an error names.

    >>> error("SparkException: Job aborted: Lost task 0.0: org.apache.hudi.HoodieException: no")
    'HoodieException'
    """
    line = text.partition("\n")[0]
    return next(reversed([each[1] for each in THROWN.finditer(line)]), line)


def _told(refusal: RefusedError) -> str:
    return error(f"{refusal.refusal.kind}: {refusal.refusal.message}")


def seen(folder: Path) -> Iterator[ShownFrame]:
    """Try each change on a table of each type."""
    own_distributions.register([WHERE])
    cache, progress, work = Cache.default(), PlainProgress(), folder / "processes"
    work.mkdir(parents=True)
    with provide.start_metastore(cache, work, progress) as metastore:
        pool = WriterPool(WriteContext(cache, work, progress), metastore.uris)
        with pool.running():
            for type_ in TYPES:
                for at, change in enumerate(CHANGES):
                    held = HudiTable(folder / f"{type_.lower()}_{at}", type_)
                    yield from FrameTable(change, held, pool).seen()


def lines(found: Sequence[ShownFrame]) -> Iterator[str]:
    """Yield what was seen as a table."""
    rows = ((e.target, e.change, e.rewritten, e.wrote, f"`{e.reader}`", e.shown) for e in found)
    yield from table(HEAD, rows)


def main() -> int:
    """Write, read, note, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", help="a new one, for tables and the log")
    folder, found = Path(parser.parse_args().folder).resolve(), list[ShownFrame]()
    folder.mkdir(parents=True)
    with (folder / "frames.jsonl").open("w") as log:
        for each in seen(folder):
            found.append(each)
            log.write(json.dumps(asdict(each)) + "\n")
            log.flush()
    print("\n".join(lines(found)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
