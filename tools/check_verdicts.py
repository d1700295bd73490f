"""Check verdicts by the data files themselves, with none of the judge's code.

    python tools/check_verdicts.py sample RUN_OR_RECORDING [--each 5] [--seed 1] [--out FILE]
    python tools/check_verdicts.py known-good RUN_OR_RECORDING

`sample` draws wrong answers at random, so many of each format and responsible, and says what the
newest version of each wrong row in the files is: read by pyarrow, pyorc and fastavro where the
table is in the cache, else as it was recorded when the table was written (so it is in recordings,
and for log files). By its own rules it says whose doing that is, beside what the verdict says, and
ends with 1 where the two disagree. `--out` takes a JSON line for each finding.

The rules: a reader is responsible for a value where the newest row of the files holds what was
expected, in whichever column; the writer where the column of that name holds what was shown, and
no column what was expected, and where the folder's name says what was shown, or the catalog does
not list that folder or column. A row that is not shown is the reader's if a file holds it, one that
should not be there if none does, and one that is there twice if only one group of files has it.
All else is undecided: NULL that was expected where the file has a value, rows that no file has.

`known-good` counts the verdicts of readers that should be right: all of Iceberg and Delta (columns
are found by field id), Spark with schema-on-read of Hudi tables, and every reader as long as the
schema was not changed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pyorc
from pyarrow import orc
from pydantic import TypeAdapter

from harness.run import pipeline

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness.artifacts.cache import Cache
from harness.core.errors import UsageProblem
from harness.core.records import FileValues, Finding, StateRecord, VerdictKind, Witness
from harness.model.canonical import MapValue
from harness.model.file_facts import FileFact
from harness.run import load_run
from harness.run.load_run import INFO
from harness.scenario.cells import Cell
from tests.builders import recordings
from tools.shared import table

READER: Final = "reader"
WRITER: Final = "writer"
UNDECIDED: Final = "undecided"
BY_FILES: Final = {"reader": READER, "writer": WRITER, "folder": WRITER, "catalog": WRITER}
"""Of those that a verdict may hold responsible, the ones that files, folders and the catalog can
confirm; statistics and histories of the schema are not looked at."""
VIEWS: Final = ("snapshot", "read_optimized")
"""Views that are read of the files of their own step."""
BASE_ONLY: Final = "read_optimized"
BY_FIELD_ID: Final = ("iceberg", "delta")
AMBIGUOUS: Final = ("committed_then_failed", "partition_values")
"""Scenarios in which folders, catalog and files differ: even a right reader has to choose."""
NULL_FOLDER: Final = "__HIVE_DEFAULT_PARTITION__"
ACID_ROW: Final = "row"
"""Hive's transactional files have the columns of a table as parts of this one."""
FINDING: Final = TypeAdapter(Finding)


class CheckedCell(NamedTuple):
    """A cell that was judged."""

    cell: Cell
    kind: str
    findings: tuple[Finding, ...] = ()


class CheckedVariant(NamedTuple):
    """A variant with what was recorded and judged of it, whether of a run or of a recording."""

    format: str
    key: str
    first_change: int
    """The first step that changes the schema; one past the last if none does."""
    states: Sequence[StateRecord]
    cells: Sequence[CheckedCell]
    folders: Mapping[int, Path] = {}
    """The tables that are in the cache, by step."""


class RowVersion(NamedTuple):
    """A row as one file holds it."""

    step: int
    """The step that wrote it."""
    file: FileFact
    values: Mapping[str, object]


class Checked(NamedTuple):
    """What the files say of a finding, beside the verdict."""

    case: str
    format: str
    finding: str
    columns: tuple[str, ...]
    verdict: str
    files: str
    evidence: tuple[str, ...]

    @property
    def agrees(self) -> bool | None:
        """Whether both hold the same responsible; None where one of them holds nobody."""
        if self.files == UNDECIDED or self.verdict not in BY_FILES:
            return None
        return self.files == BY_FILES[self.verdict]


def variants(path: Path) -> Iterator[CheckedVariant]:
    """Read a run's folder or a recording."""
    if not (path / INFO).exists():
        yield from map(_of_recording, recordings.read_all(path))
        return
    run = load_run.load(path)
    cells = {cell.case: cell for cell in run.info.cells}
    try:
        frozen = pipeline.states_of(run.states, Cache.default())
    except UsageProblem as problem:
        print(f"{problem}: what was recorded of the files is used", file=sys.stderr)
        frozen = {}
    for info in run.info.variants:
        changing = (step.number for step in info.steps if step.changes_schema)
        yield CheckedVariant(
            info.format,
            info.key,
            min(changing, default=len(info.steps) + 1),
            [state for state in run.states if state.variant == info.id],
            [
                CheckedCell(cells[verdict.case], str(verdict.verdict), verdict.findings)
                for verdict in run.verdicts
                if verdict.variant == info.id
            ],
            {step: state.table for (name, step), state in frozen.items() if name == info.id},
        )


def _of_recording(recorded: recordings.Recorded) -> CheckedVariant:
    steps = recorded.variant.scenario.steps
    changing = (at for at, step in enumerate(steps, 1) if step.operation.CHANGES_SCHEMA)
    return CheckedVariant(
        recorded.variant.format,
        recorded.variant.scenario.table.key,
        min(changing, default=len(steps) + 1),
        recorded.states,
        [
            CheckedCell(cell, verdict["verdict"], tuple(map(_finding, verdict.get("findings", ()))))
            for cell, verdict in recorded.verdicts.items()
        ],
    )


def _finding(recorded: Mapping[str, Any]) -> Finding:
    """Return a finding of a recording, in which the first of its places is not repeated."""
    return FINDING.validate_python({"witness": recorded["places"][0], **recorded})


# What the files hold


def plain(value: object) -> object:
    """Return a value so that what engines, files and records call the same is equal.

    >>> plain(Decimal("1.50")) == plain(1.5), plain(datetime.datetime(2024, 1, 2, 3))
    (True, '2024-01-02T03:00:00')
    >>> plain({"a": (1, None)}), plain(MapValue((("k", 1),)))
    ((('a', ('1', None)),), (('k', '1'),))
    """
    match value:
        case None | bool() | str():
            return value
        case int() | float() | Decimal():
            number = Decimal(str(value))
            return f"{number.normalize():f}" if number.is_finite() else str(number)
        case datetime.datetime():
            utc = value.astimezone(datetime.UTC) if value.tzinfo else value
            return utc.replace(tzinfo=None).isoformat()
        case datetime.date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case MapValue():
            return tuple(sorted(((plain(k), plain(v)) for k, v in value.pairs), key=str))
        case dict():
            return tuple((name, plain(part)) for name, part in value.items())
        case list() | tuple():
            return tuple(map(plain, value))
    return str(value)


def leaves(value: object) -> Iterator[object]:
    """Yield a plain value and all that is in it."""
    yield value
    if isinstance(value, tuple):
        for part in value:
            yield from leaves(part)


def read_file(path: Path) -> list[dict[str, object]] | None:
    """Return the rows of a Parquet, ORC or Avro file; None of any other."""
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic == b"Obj\x01":
            return [dict(row) for row in fastavro.reader(file) if isinstance(row, dict)]
        if magic == b"PAR1":
            return _rows(pq.ParquetFile(path).read())
        if magic.startswith(b"ORC"):
            try:
                return _rows(orc.ORCFile(path).read())
            except pa.ArrowInvalid:  # a moment that has no nanoseconds in 64 bits
                names = list(getattr(pyorc.Reader(file).schema, "fields", ()))
                file.seek(0)
                return [dict(zip(names, row, strict=True)) for row in pyorc.Reader(file)]
    return None


def _rows(content: pa.Table) -> list[dict[str, object]]:
    rows: list[Any] = content.to_pylist()
    return [row[ACID_ROW] if row.keys() > {ACID_ROW, "operation"} else row for row in rows]


class FileRows:
    """The rows of a variant's files: read from the table, or as they were recorded."""

    def __init__(self, variant: CheckedVariant) -> None:
        self.variant = variant
        self.steps = {state.outcome.instant: state.outcome.step for state in variant.states}
        self.recorded: dict[FileFact, FileValues] = {}
        for state in variant.states:
            self.steps |= dict(state.others)
            for values in state.values:
                self.recorded.setdefault(state.files[values.file], values)

    def state(self, step: int) -> StateRecord:
        return next(state for state in self.variant.states if state.outcome.step == step)

    def newest(self, step: int, view: str, key: str) -> list[RowVersion]:
        """Return the newest version of a row in each group of files, deleted ones left out."""
        groups = defaultdict[str, list[RowVersion]](list)
        deleted = -1
        for file in self.state(step).files:
            if view == BASE_ONLY and str(file.kind) != "base":
                continue
            written = self.steps.get(file.instant, -1)
            if key in file.deleted:
                deleted = max(deleted, written)
            if key in file.keys:
                for values in self.rows(file, step, key):
                    groups[file.file_group].append(RowVersion(written, file, values))
        newest = [max(versions, key=lambda version: version.step) for versions in groups.values()]
        return [version for version in newest if version.step >= deleted]

    def rows(self, file: FileFact, step: int, key: str) -> list[Mapping[str, object]]:
        folder = self.variant.folders.get(step)
        content = read_file(folder / file.path) if folder else None
        if content is None:
            recorded = self.recorded.get(file, FileValues(0))
            content = [dict(zip(recorded.columns, row, strict=True)) for row in recorded.rows]
        names = dict(zip(file.stored_names, (name for name, _ in file.columns), strict=False))
        rows = [{names.get(name, name): value for name, value in row.items()} for row in content]
        keys: Iterable[str] = file.keys
        if len(rows) != len(file.keys):
            keys = (str(row.get(self.variant.key)) for row in rows)
        folders = {name: values[0] for name, values in _partitions(file.path).items()}
        return [{**folders, **row} for text, row in zip(keys, rows, strict=True) if text == key]


def _partitions(path: str) -> dict[str, tuple[object, ...]]:
    """Return what the names of a file's folders may be read as: each name as it is or decoded."""
    pairs = (part.partition("=") for part in path.split("/")[:-1] if "=" in part)
    return {
        unquote(name): (None, text) if text == NULL_FOLDER else (unquote(text), text)
        for name, _, text in pairs
    }


# Whose doing it is


def check_place(
    kind: str, place: Witness, versions: Sequence[RowVersion], state: StateRecord
) -> tuple[str, str]:
    """Return who is responsible for one difference, by files and catalog, and the evidence."""
    files = ", ".join(f"{version.file.path} of step {version.step}" for version in versions)
    if not place.key:
        return UNDECIDED, "no row is named"
    if kind == "lost_row":
        if any(map(_contradicts_folder, versions)):
            return WRITER, f"the folder says something else than {files}"
        if any(row.file.path.rpartition("/")[0] in state.unlisted for row in versions):
            if state.unlisted_at:
                return UNDECIDED, "one catalog entry lists the folder, another one does not"
            return WRITER, f"the catalog does not list the folder of {files}"
        return (READER, f"row {place.key} is in {files}") if files else (WRITER, "in no file")
    if kind == "ghost_row":
        return (WRITER, f"row {place.key} is in {files}") if files else (READER, "in no file")
    if kind == "duplicate":
        return (WRITER if len(versions) > 1 else READER), f"row {place.key} is in {files}"
    if len(versions) != 1:
        return UNDECIDED, f"row {place.key} is in {files or 'no file'}"
    column = place.column.partition(".")[0].casefold()
    if state.catalog and column not in {name.casefold() for name in state.catalog}:
        return WRITER, f"the catalog does not list {column}"
    return _check_value(place, column, versions[0], files)


def _contradicts_folder(version: RowVersion) -> bool:
    row = {name: plain(value) for name, value in version.values.items()}
    folders = _partitions(version.file.path).items()
    return any(name in row and row[name] not in values for name, values in folders)


def _check_value(place: Witness, column: str, version: RowVersion, files: str) -> tuple[str, str]:
    row = {name.casefold(): plain(value) for name, value in version.values.items()}
    expected, shown = plain(place.expected), plain(place.actual)
    evidence = f"row {place.key} in {files} has {column} = {row.get(column, 'no such column')!r}"
    evidence += f"; expected {expected!r}, shown {shown!r}"
    folder = {name.casefold(): value for name, value in _partitions(version.file.path).items()}
    if column in folder and shown in folder[column] and expected not in folder[column]:
        return WRITER, evidence
    if expected is None:
        return (READER if row.get(column) is None else UNDECIDED), evidence
    if any(expected == leaf for value in row.values() for leaf in leaves(value)):
        return READER, evidence
    return (WRITER if shown in leaves(row.get(column)) else UNDECIDED), evidence


def check(variant: CheckedVariant, checked: CheckedCell) -> Iterator[Checked]:
    """Yield what the files say of each finding of a wrong answer."""
    cell, rows = checked.cell, FileRows(variant)
    for finding in checked.findings:
        kind, decided, evidence = str(finding.kind), set[str](), set[str]()
        for place in finding.places:
            versions = rows.newest(cell.step, cell.view, place.key)
            who, why = check_place(kind, place, versions, rows.state(cell.step))
            evidence.add(why)
            # Whether the row meets the condition of a query is not looked at.
            if cell.query == "all" or not (
                kind == "ghost_row" or (kind == "lost_row" and NULL_FOLDER in why)
            ):
                decided.add(who)
        decided.discard(UNDECIDED)
        yield Checked(
            cell.case,
            variant.format,
            kind,
            finding.columns,
            str(finding.responsible),
            decided.pop() if len(decided) == 1 else UNDECIDED,
            tuple(sorted(evidence)),
        )


def sample(every: Sequence[CheckedVariant], number: int, seed: int) -> Iterator[Checked]:
    """Check so many wrong answers of each format and responsible, drawn at random."""
    strata = defaultdict[tuple[str, str], list[tuple[CheckedVariant, CheckedCell]]](list)
    for variant in every:
        for checked in variant.cells:
            if checked.kind == VerdictKind.WRONG and checked.cell.view in VIEWS:
                for who in {str(finding.responsible) for finding in checked.findings}:
                    strata[variant.format, who].append((variant, checked))
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not secret
    for stratum in sorted(strata):
        cells = strata[stratum]
        for variant, checked in chance.sample(cells, min(number, len(cells))):
            yield from check(variant, checked)


def summary(results: Sequence[Checked]) -> Iterator[str]:
    counts = Counter((result.format, result.verdict, result.agrees) for result in results)
    strata = sorted({(result.format, result.verdict) for result in results})
    rows = [(*at, *(str(counts[*at, agrees]) for agrees in (True, False, None))) for at in strata]
    heads = ("format", "responsible by the verdict", "the files agree", "disagree", UNDECIDED)
    yield from table(heads, rows)
    for result in results:
        if result.agrees is False:
            columns = ", ".join(result.columns)
            yield f"{result.case}: {result.finding} {columns}"
            yield f"    {result.verdict} by the verdict, {result.files} by the files"
            yield from (f"    {line}" for line in result.evidence)


# Readers that should be right


def reasons(variant: CheckedVariant, cell: Cell) -> Iterator[str]:
    """Yield each reason for which a cell's reader should be right."""
    if cell.variant.partition("[")[0].rpartition("/")[2] in AMBIGUOUS or cell.view == "write":
        return
    if variant.format in BY_FIELD_ID:
        yield f"{variant.format}, by field id"
    on_read = cell.reader.startswith("spark") and "schema-on-read=on" in cell.reader
    if on_read and variant.format.startswith("hudi"):
        yield "Spark with schema-on-read"
    if cell.step < variant.first_change:
        yield "before any change of the schema"


def known_good(every: Sequence[CheckedVariant]) -> Iterator[str]:
    counts = Counter(
        (reason, checked.kind)
        for variant in every
        for checked in variant.cells
        for reason in reasons(variant, checked.cell)
    )
    kinds = tuple(map(str, VerdictKind))
    groups = sorted({reason for reason, _ in counts})
    yield from table(
        ("should be right", *kinds),
        [(group, *(str(counts[group, kind]) for kind in kinds)) for group in groups],
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("sample", "known-good"))
    parser.add_argument("run", type=Path, help="a finished run's folder, or a recording's")
    parser.add_argument(
        "--each", type=int, default=5, help="answers of each format and responsible"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a file for a JSON line for each finding")
    options = parser.parse_args()
    every = list(variants(options.run.resolve()))
    if options.what == "known-good":
        print("\n".join(known_good(every)))
        return 0
    results = list(sample(every, options.each, options.seed))
    print("\n".join(summary(results)))
    if options.out:
        lines = (json.dumps({**result._asdict(), "agrees": result.agrees}) for result in results)
        options.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return int(any(result.agrees is False for result in results))


if __name__ == "__main__":
    sys.exit(main())
