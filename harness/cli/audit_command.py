"""`harness audit`."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Annotated, Final

import typer
from pydantic import TypeAdapter

from harness.artifacts.cache import Cache
from harness.audit.audit import audit as look
from harness.audit.comparison import TableDifferenceKind
from harness.audit.readers import AuditReaders
from harness.audit.records import Audit, AuditedAnswer, AuditedTable, ShownDifference
from harness.audit.tables import for_readers
from harness.audit.tables import pinned as tables_at
from harness.cli import options, plan_options
from harness.cli.output import Output
from harness.core.atomic_write import atomic_write
from harness.core.counting import counted
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.plan import custom_distributions
from harness.run.run_folder import RUNS
from harness.runtime import work_folders

FOLDER: Final = "audit"
FILE: Final = "audit.json"
_NUMBER: Final = re.compile(r"\d+")
"""Reasons that differ in numbers alone, such as those of tasks, are one."""
SHOWN: Final = 3
"""So many differences of an answer are shown; the file has more."""
_GOOD: Final = frozenset({VerdictKind.CORRECT, VerdictKind.OPEN, VerdictKind.UNSUPPORTED})
_ADAPTER: Final = TypeAdapter(Audit)


@options.with_output
def audit(
    output: Output,
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="A table's folder or one with tables, also s3://bucket/path; a metadata file of "
            "an Iceberg table; a Hive metastore (thrift://host:port); an Iceberg REST catalog "
            "(https://host/path).",
        ),
    ],
    reader: Annotated[
        list[str] | None,
        typer.Option(help="Ask this reader, such as duckdb-1.5.5. Can be given several times."),
    ] = None,
    database: Annotated[
        list[str] | None,
        typer.Option("--database", metavar="PATTERN", help="Only databases of this name."),
    ] = None,
    folders: options.OwnOption = None,
    offline: options.OfflineOption = False,
) -> int:
    """Say whether readers show your tables as their own files say that they are.

    The rows of each table are worked out from its metadata and data files, without
    the library of its format. Then every reader is asked: all columns, how many rows,
    and conditions on each column. Nothing is written beside your tables.

    The exit status is 1 if a reader is wrong or refuses, 3 if something is not known.

    Example: harness audit /warehouse/sales.db/orders --reader duckdb-1.5.5
    """
    custom_distributions.register(folders or ())
    if not reader:
        raise UsageProblem("name the readers to ask, such as --reader duckdb-1.5.5")
    readers = tuple(map(plan_options.existing_reader, reader))
    cache, progress = Cache.default(offline=offline), output.progress()
    pinned_tables = tuple(tables_at(address, database or ()))
    if not pinned_tables:
        raise UsageProblem(f"there is no table at {address}")
    cache.claim()
    folder = work_folders.numbered(RUNS.resolve(), FOLDER)
    start = partial(AuditReaders, cache, folder, progress)
    given = (for_readers(t, folder / "moved" / str(at)) for at, t in enumerate(pinned_tables, 1))
    tables = tuple(look(tuple(given), readers, start, progress))
    result = Audit(address, tuple(map(str, readers)), tables)
    with atomic_write(folder / FILE) as part:
        part.write_bytes(_ADAPTER.dump_json(result, indent=1))
    status = _status(tables)
    lines = [line for table in tables for line in _lines(table)]
    lines.append(f"written: {folder / FILE}")
    totals = Counter(str(answer.verdict) for table in tables for answer in table.answers)
    output.end("\n".join(lines), status=status, file=str(folder / FILE), totals=dict(totals))
    return status


def _status(tables: tuple[AuditedTable, ...]) -> int:
    kinds = {answer.verdict for table in tables for answer in table.answers}
    if VerdictKind.UNKNOWN in kinds or any(table.problem for table in tables):
        return EnvironmentProblem.exit_status
    return 0 if kinds <= _GOOD else 1


def _lines(table: AuditedTable) -> list[str]:
    """Return what is to be said of a table: the answer first."""
    if table.problem:
        return [f"{table.name}: not known: {table.problem}"]
    size = f"{counted(table.rows, 'row', 'rows')} in {counted(table.files, 'file', 'files')}"
    wrong = [answer for answer in table.answers if answer.verdict not in _GOOD]
    lines = [f"{table.name} ({table.format}, {size}): {_answer(table, wrong)}"]
    if table.moved_from:
        lines.append(
            f"  moved here from {table.moved_from[0]}: readers are given a copy of its metadata"
        )
    lines += [f"  left open: {sentence}" for sentence in table.undecided]
    by_cause = grouped(
        [((a.reader, a.verdict, _NUMBER.sub("0", a.because), a.read_as), a) for a in wrong]
    )
    for (reader, verdict, _, read_as), answers in by_cause.items():
        why = answers[0].because
        lines.append(f"  {reader}: {verdict}{f': {why}' if why else ''}")
        lines.append(f"    asked: {'; '.join(answer.query for answer in answers)}")
        if len(read_as) == 1:
            lines.append(f"    as it is shown by a reader with {read_as[0]}")
        lines += [f"    {_difference(shown)}" for shown in answers[0].differences[:SHOWN]]
        if answers[0].total > SHOWN:
            lines.append(f"    … and {answers[0].total - SHOWN:,} more")
    return lines


def _answer(table: AuditedTable, wrong: list[AuditedAnswer]) -> str:
    total = counted(len(table.answers), "answer", "answers")
    if not wrong:
        return f"{total}, none of them wrong"
    kinds = Counter(str(answer.verdict) for answer in wrong)
    return f"of {total} {', '.join(f'{number:,} {kind}' for kind, number in kinds.items())}"


def _difference(shown: ShownDifference) -> str:
    where = f" (row {shown.position} of {shown.file})" if shown.file else ""
    match shown.kind:
        case TableDifferenceKind.VALUE:
            wrong = f"{shown.column} is {shown.actual} instead of {shown.expected}"
            return f"{wrong} in {shown.row}{where}"
        case TableDifferenceKind.LOST_ROW:
            return f"this row is not shown: {shown.row}{where}"
        case TableDifferenceKind.EXTRA_ROW:
            return f"this row should not be there: {shown.row}"
        case TableDifferenceKind.ABSENT_COLUMN:
            return f"the column {shown.column} is not shown"
    return f"the column {shown.column} should not be there"
