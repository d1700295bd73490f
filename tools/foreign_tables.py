"""Hold tables that other projects wrote against the answers beside them.

    python tools/foreign_tables.py FOLDER

FOLDER has the tables with `<table>.yaml` and `<table>.expected.json` beside each
(`harness/audit/expected_answers.py`). Of every version the rows that the files give are compared
with those that are expected, and of every question the answer. The status is 1 where the files give
something else. What readers show of the tables `harness audit FOLDER --reader …` says.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools`

from harness.audit import expected_answers, table_rows
from harness.audit.expected_answers import ExpectedVersion, TableWithAnswers
from harness.audit.tables import PinnedTable, with_type
from harness.formats.api import FileFactError
from harness.formats.delta import change_feed
from harness.formats.files import table_folder
from harness.formats.files.locations import Locations
from harness.formats.files.table_folder import UnreadableError
from harness.formats.read_plan import ReadPlan
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import UsedFormat

CHANGES: Final = "changes_from"


def wrong(table: TableWithAnswers) -> Iterator[str]:
    """Yield where a table's files give other columns, rows or answers than are expected of it."""
    for version in table.versions:
        yield from (f"{table.name}, {version.name}: {text}" for text in _wrong(table, version))


def _wrong(table: TableWithAnswers, version: ExpectedVersion) -> Iterator[str]:
    try:
        planned = plan(table, version)
        rows = expected_answers.row_texts(
            planned.columns, table_rows.read(planned).stored_rows, table.format
        )
    except (FileFactError, UnreadableError) as problem:
        if not version.refuse:
            yield str(problem)
        return
    if version.refuse:
        yield "it is not refused"
    elif expected_answers.columns_of(planned.columns, table.format) != version.columns:
        yield "other columns"
    elif rows != version.rows or len(rows) != version.count:
        yield "other rows"
    names = tuple(part.name for part in planned.columns)
    yield from expected_answers.wrong_questions(table, version.name, names, rows)


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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    tables = expected_answers.tables(parser.parse_args().folder)
    texts = [text for table in tables for text in wrong(table)]
    print("\n".join(texts) or "every version and question is as expected")
    return bool(texts)


if __name__ == "__main__":
    sys.exit(main())
