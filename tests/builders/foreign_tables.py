"""Tables that other projects wrote, held against the answers beside them.

Of every version the rows that the files give are compared with those that are expected, and of
every question the answer (`expected_answers`).
"""

from collections.abc import Iterator
from typing import Final

from harness.audit import table_rows
from harness.audit.tables import PinnedTable, with_type
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.files.locations import Locations
from harness.formats.files.table_folder import UnreadableError
from harness.formats.read_plan import ReadPlan
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import UsedFormat
from tests.builders import delta_change_feed, expected_answers
from tests.builders.expected_answers import ExpectedVersion, TableWithAnswers

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
        return delta_change_feed.plan(table_folder.at(str(table.folder)), first, last)
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
