"""What a person needs to check verdicts by hand, out of a finished run.

    python tools/measure/adjudicate.py good RUN ...
    python tools/measure/adjudicate.py sample RUN FOLDER [--cells 200] [--seed 1]

`good` counts the verdicts of readers that are known to be right (Iceberg and Delta, by field id;
Spark with schema-on-read on, of Hudi tables; every reader as long as no schema change was made),
reader by reader too, and lists what is not correct among them (`known_good.py` judges each of
these, of a recording). `sample` draws wrong cells at random and writes a text for each: what was
sent to the writer, what the harness says of the cell, the engine's own answer, and what the files
hold, read anew by pyarrow, pyorc and fastavro and by nothing of the harness; and `list.jsonl`, a
line a cell to be filled in.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pyorc
from pyarrow import orc
from pydantic import TypeAdapter
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools` and `tests`

from harness.artifacts.cache import Cache
from harness.cli.explain.command import tell
from harness.cli.explain.recorded_cell import of_cell
from harness.core.records import Answer, Verdict, VerdictKind
from harness.run import load_run, pipeline
from harness.scenario.cells import Cell, parse_reader
from harness.write.table_state import States
from tools.markdown_table import table

WIDTH = 160
BESIDE = {".hoodie", "metadata"}
ANSWER = TypeAdapter(Answer)
BY_ID = ("iceberg", "delta")
ON_READ = "spark with schema-on-read"
EARLY = "before any schema change"
GROUPS = (*BY_ID, ON_READ, EARLY)
BESIDE_FILES = ("committed_then_failed", "partition_values")
"""Scenarios in which names of folders, catalog and data files do not tell the same: even a reader
that errs in nothing has to decide for one of them."""


def groups(cell: Cell, table_format: str, first_change: int) -> Iterator[str]:
    """Yield each reason for which the cell's reader should be right.

    Args:
        cell: What is asked, and of whom.
        table_format: Of the cell's variant.
        first_change: The first step that changes the schema of the variant.

    """
    if cell.variant.partition("[")[0].rpartition("/")[2] in BESIDE_FILES:
        return
    reader = parse_reader(cell.reader)
    if table_format in BY_ID:
        yield table_format
    by_id = reader.distribution.startswith("spark") and ("schema-on-read", "on") in reader.settings
    if by_id and table_format.startswith("hudi"):  # of other tables the setting says nothing
        yield ON_READ
    if cell.step < first_change:
        yield EARLY


def first_changes(found: load_run.Run) -> Mapping[str, int]:
    """Return the first step of each variant that changes its schema; one past the last if none."""
    return {
        each.id: min(
            (s.number for s in each.steps if s.changes_schema), default=len(each.steps) + 1
        )
        for each in found.info.variants
    }


def good(runs: Sequence[load_run.Run]) -> Iterator[str]:
    """Yield the lines of a table, then every cell among them that is not correct."""
    counted: Counter[tuple[str, str]] = Counter()
    others, readers = [], dict[str, None]()
    for verdict, cell, of in chain.from_iterable(map(known, runs)):
        kind, of_reader = verdict.verdict, f"{of[0]} by {cell.reader}"
        readers |= {of_reader: None} if of[0] in BY_ID else {}
        counted.update((group, kind) for group in (*of, of_reader, "any of them"))
        if kind is not VerdictKind.CORRECT:
            others.append(f"{kind}: {cell.case} ({', '.join(of)})")
    rows = [
        (group, *(str(counted[group, kind]) for kind in VerdictKind))
        for group in (*GROUPS, *sorted(readers), "any of them")
    ]
    yield from table(("known to be right", *VerdictKind), rows)
    yield from sorted(others)


def known(found: load_run.Run) -> Iterator[tuple[Verdict, Cell, Sequence[str]]]:
    """Yield the verdicts on cells of readers that should be right, with the reasons."""
    first = first_changes(found)
    cells = {cell.case: cell for cell in found.info.cells}
    for verdict in found.verdicts:
        cell = cells[verdict.case]
        table_format = found.variants[cell.variant].format
        if of := tuple(groups(cell, table_format, first[cell.variant])):
            yield verdict, cell, of


def sample(folder: Path, found: load_run.Run, cells: int, seed: int) -> Iterator[dict[str, object]]:
    """Yield the cells drawn, in the order of the plan."""
    wrong = [each for each in found.verdicts if each.verdict is VerdictKind.WRONG]
    chosen = sorted(random.Random(seed).sample(range(len(wrong)), min(cells, len(wrong))))  # noqa: S311
    states = pipeline.states_of(found.states, Cache.default())
    by_case = {cell.case: cell for cell in found.info.cells}
    for at, verdict in enumerate(wrong[number] for number in chosen):
        name, cell = f"{at:03}.txt", by_case[verdict.case]
        (folder / name).write_text("\n".join(text(found, cell, verdict, states)), encoding="utf-8")
        named = [f"{each.kind}: {', '.join(each.columns)}" for each in verdict.findings]
        yield {"text": name, "case": cell.case, "findings": named, "right": None, "why": ""}


def text(found: load_run.Run, cell: Cell, verdict: Verdict, states: States) -> Iterator[str]:
    """Yield all that is to be looked at for one cell."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    own = tuple(each for each in found.states if each.variant == cell.variant)
    tell(of_cell(found.info, cell, own, found.answers[cell.case], verdict), console)
    yield "== WHAT THE HARNESS SAYS"
    yield console.export_text()
    yield "== WHAT WAS SENT TO THE WRITER"
    for step in range(cell.step + 1):
        record = found.by_step[cell.variant, step]
        planned = found.variants[cell.variant].step(step).text
        yield f"step {step}: {planned} [{record.outcome.kind}]"
        yield from (f"    {each}" for each in record.outcome.statements)
    yield "== THE ENGINE'S ANSWER, AS IT CAME"
    yield ANSWER.dump_json(found.answers[cell.case], indent=1).decode()
    yield "== WHAT THE FILES HOLD, BY PYARROW, PYORC AND FASTAVRO"
    state = states.get((cell.variant, cell.step))
    yield from files(state.table) if state else ("they are no longer kept in the cache",)


def files(table: Path) -> Iterator[str]:
    """Yield every file of the table, and what is in those of Parquet, ORC and Avro."""
    for path in sorted(table.rglob("*")):
        relative = path.relative_to(table)
        if not path.is_file() or path.suffix == ".crc" or relative.parts[0] in BESIDE:
            continue
        yield f"-- {relative} ({path.stat().st_size} bytes)"
        yield from (f"   {each}" for each in read(path))


def read(path: Path) -> Iterator[str]:
    """Yield a file's columns and rows, by what it begins with, for Hive's have no ending."""
    with path.open("rb") as file:
        kind = file.read(4)
        if kind == b"Obj\x01":
            file.seek(0)
            records = fastavro.reader(file)
            yield f"{records.writer_schema}"
            yield from map(line, records)
    if kind == b"PAR1":
        yield from columns_and_rows(pq.ParquetFile(path).read())
    if kind.startswith(b"ORC"):
        yield from of_orc(path)


def of_orc(path: Path) -> Iterator[str]:
    """Yield the same of an ORC file."""
    try:
        yield from columns_and_rows(orc.ORCFile(path).read())
    except pa.ArrowInvalid:  # a moment that has no nanoseconds in 64 bits
        with path.open("rb") as file:
            records = pyorc.Reader(file)
            yield f"{records.schema}"
            yield from map(line, records)


def columns_and_rows(there: pa.Table) -> Iterator[str]:
    """Yield the columns with their types, then every row."""
    names = [name for name in there.column_names if name != "_hoodie_file_name"]
    yield ", ".join(f"{name}: {there.schema.field(name).type}" for name in names)
    for row in there.select(names).to_pylist(maps_as_pydicts="lossy"):
        yield line(list(row.values()))


def line(row: object) -> str:
    """Return a row as JSON."""
    return json.dumps(row, default=str, ensure_ascii=False)


def main() -> int:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("good", "sample"))
    parser.add_argument("run", type=Path, nargs="+", help="of `sample`: RUN FOLDER")
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.what == "good":
        print("\n".join(good([load_run.load(each.resolve()) for each in given.run])))
        return 0
    if len(given.run) > 2:  # noqa: PLR2004 - RUN FOLDER
        parser.error("sample: name one run and one folder")
    run, folder = given.run if len(given.run) > 1 else (*given.run, Path("build/adjudicate"))
    if folder.exists():
        parser.error(f"{folder} is there already; name a folder that is not")
    folder.mkdir(parents=True)
    found = load_run.load(run.resolve())
    with (folder / "list.jsonl").open("w", encoding="utf-8") as out:
        for drawn in sample(folder, found, given.cells, given.seed):
            print(json.dumps(drawn, ensure_ascii=False), file=out, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
