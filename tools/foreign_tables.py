"""Hold tables that other projects wrote against their answers, and ask readers about them.

    python tools/foreign_tables.py FOLDER [--reader NAME …] [--out FILE]

FOLDER has the tables with `<table>.yaml` and `<table>.expected.json` beside each
(`harness/audit/expected_answers.py`). Of every version the rows that the files give are compared
with those that are expected, and of every question the answer; then each reader is asked about the
newest version. The page names tables, verdicts and causes, and has none of their data. The status
is 1 where the files give something else than is expected.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools`

from harness.artifacts.cache import Cache
from harness.audit import expected_answers, table_rows
from harness.audit.audit import audit
from harness.audit.expected_answers import ExpectedVersion, TableWithAnswers
from harness.audit.readers import AuditReaders
from harness.audit.records import AuditedAnswer, AuditedTable
from harness.audit.tables import PinnedTable, with_type
from harness.core.grouping import grouped
from harness.core.progress import Progress
from harness.core.records import VerdictKind
from harness.core.texts import counted
from harness.formats.api import FileFactError
from harness.formats.delta import change_feed
from harness.formats.files import table_folder
from harness.formats.files.locations import Locations
from harness.formats.files.table_folder import UnreadableError
from harness.formats.iceberg.move import relocate
from harness.formats.read_plan import ReadPlan
from harness.scenario.cells import parse_reader
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import UsedFormat
from tools.shared import table as markdown_table

CHANGES: Final = "changes_from"
_PATH: Final = re.compile(r"(\w+:)?(/[^\s'\",;:)]+)+")
_VALUE: Final = re.compile(r"\d[\d:.+T-]*\d( [\d:.]+)?")
_TASK: Final = re.compile(r"Job aborted due to stage failure: .*?\(TID \d+\) \([^)]*\): ")
"""What Spark says before what went wrong."""
_LONGEST: Final = 140
"""Characters of what a reader says when it refuses."""


@dataclass(frozen=True)
class CheckedTable:
    """A table, and how its files and its answers compare."""

    table: TableWithAnswers
    questions: int
    wrong: tuple[str, ...]


def checked(table: TableWithAnswers) -> CheckedTable:
    """Compare what a table's files give with its answers, version by version."""
    wrong = tuple(text for version in table.versions for text in _wrong(table, version))
    return CheckedTable(table, len(table.questions), wrong)


def _wrong(table: TableWithAnswers, version: ExpectedVersion) -> Iterator[str]:
    try:
        planned = plan(table, version)
        rows = expected_answers.row_texts(
            planned.columns, table_rows.read(planned).stored_rows, table.format
        )
    except (FileFactError, UnreadableError) as problem:
        if not version.refuse:
            yield f"{version.name}: {problem}"
        return
    if version.refuse:
        yield f"{version.name}: it is not refused"
    elif expected_answers.columns_of(planned.columns, table.format) != version.columns:
        yield f"{version.name}: other columns"
    elif rows != version.rows or len(rows) != version.count:
        yield f"{version.name}: other rows"
    names = tuple(part.name for part in planned.columns)
    for question in expected_answers.wrong_questions(table, version.name, names, rows):
        yield f"{version.name}: {question}"


def plan(table: TableWithAnswers, version: ExpectedVersion) -> ReadPlan:
    if CHANGES in version.at:
        first, last = version.at[CHANGES], version.at["to"]
        return change_feed.plan(table_folder.at(str(table.folder)), first, last)
    return pinned(table, version).plan()


def pinned(table: TableWithAnswers, version: ExpectedVersion) -> PinnedTable:
    metadata = version.at.get("metadata", "")
    used = with_type(
        CatalogTable(
            table.name,
            UsedFormat(table.format),
            location=str(table.folder),
            metadata=f"{table.folder}/{metadata}" if metadata else "",
        )
    )
    return PinnedTable(used, version.past, Locations(table.roots))


def copied(table: TableWithAnswers, folder: Path) -> PinnedTable:
    """Return the newest version of a copy in which every path says where its file lies."""
    copy = folder / table.name
    shutil.copytree(table.folder, copy)
    here = replace(table, folder=copy, roots={})
    if table.format == UsedFormat.ICEBERG and table.roots:
        for checksum in copy.rglob("*.crc"):
            checksum.unlink()
        relocate(copy, Locations(dict.fromkeys(table.roots, str(copy))), str(copy))
    newest = [version for version in here.versions if version.name == "current"]
    return pinned(here, newest[0] if newest else here.versions[-1])


def _cell(answers: Sequence[AuditedAnswer]) -> str:
    """Return what a reader shows of a table, in a word or two."""
    kinds = {answer.verdict for answer in answers}
    if kinds <= {VerdictKind.UNSUPPORTED}:
        return ""
    if VerdictKind.UNKNOWN in kinds:
        return "not known"
    if kinds == {VerdictKind.REFUSED}:
        return "refuses"
    wrong = sum(answer.verdict is VerdictKind.WRONG for answer in answers)
    refused = sum(answer.verdict is VerdictKind.REFUSED for answer in answers)
    if wrong:
        return f"**{wrong} of {len(answers)} wrong**"
    return f"refuses {refused} of {len(answers)}" if refused else "right"


def _causes(table: AuditedTable) -> Iterator[str]:
    bad = (VerdictKind.WRONG, VerdictKind.REFUSED, VerdictKind.UNKNOWN)
    by_cause = grouped(
        [((a.reader, _why(a)), a.question) for a in table.answers if a.verdict in bad]
    )
    for (reader, why), queries in by_cause.items():
        yield f"- {table.name}, {reader}, {counted(len(queries), 'question', 'questions')}: {why}"


def _why(answer: AuditedAnswer) -> str:
    if answer.because:
        return f"{answer.verdict}: {_without_values(answer.because)}"
    if len(answer.read_as) == 1:
        return f"wrong: as a reader shows it with {answer.read_as[0]}"
    kinds = sorted({str(shown.kind).replace("_", " ") for shown in answer.differences})
    return f"wrong: {', '.join(kinds)}"


def _without_values(text: str) -> str:
    return " ".join(_VALUE.sub("…", _PATH.sub("…", _TASK.sub("", text))).split())[:_LONGEST]


def page(
    command: str, tables: Sequence[CheckedTable], audited: Sequence[AuditedTable]
) -> Iterator[str]:
    versions = sum(len(one.table.versions) for one in tables)
    questions = sum(one.questions for one in tables)
    wrong = [f"- {one.table.name}: {text}" for one in tables for text in one.wrong]
    yield from ("# Tables that other projects wrote", "")
    yield f"{counted(len(tables), 'table', 'tables')} of Impala, DuckDB, Delta's golden tables,"
    yield "delta-kernel-rs, delta-rs, duckdb-delta and hudi-rs, with the answers that their own"
    yield f"tests expect. What their files give by the rules of their formats: {versions} versions"
    yield f"and {questions:,} questions, {len(wrong)} of which come out otherwise. The tables are"
    yield "no part of this project; `tests/audit/` reads them where they lie beside the checkout."
    yield from ("", f"Made by `{command}`.", "", *wrong, "## What readers show", "")
    readers = list(dict.fromkeys(a.reader for one in audited for a in one.answers))
    yield "Of the newest version: all columns, how many rows, and conditions on each column. In an"
    yield "open case the specification is silent in a part, or readers differ with a reason."
    yield ""
    rows, opened = [], {one.table.name for one in tables if one.table.open_case}
    for one in audited:
        of_reader = {r: [a for a in one.answers if a.reader == r] for r in readers}
        cells = ["not known" if one.problem else _cell(of_reader[r]) for r in readers]
        rows.append([f"{one.name}{' (open case)' if one.name in opened else ''}", *cells])
    yield from (*markdown_table(["table", *readers], rows), "", "## Why", "")
    for one in audited:
        if one.problem:
            yield f"- {one.name}: {_without_values(one.problem)}"
        yield from _causes(one)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", action="append", default=[])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    tables = [checked(table) for table in expected_answers.tables(given.folder)]
    wrong = [f"{one.table.name}: {text}" for one in tables for text in one.wrong]
    print("\n".join(wrong) or "every version and question is as expected", flush=True)
    audited: Sequence[AuditedTable] = ()
    if given.reader:
        with tempfile.TemporaryDirectory() as folder:
            copies = [copied(one.table, Path(folder, "tables")) for one in tables]
            start = partial(AuditReaders, Cache.default(), Path(folder), Progress())
            readers = tuple(map(parse_reader, given.reader))
            order = [one.table.name for one in copies].index
            audited = sorted(audit(copies, readers, start, Progress()), key=lambda t: order(t.name))
    if given.out:
        options = (f" --reader {reader}" for reader in given.reader)
        command = f"python tools/foreign_tables.py FOLDER{''.join(options)}"
        lines = page(command, tables, audited)
        given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
