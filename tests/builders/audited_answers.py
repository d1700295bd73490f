"""What audits come to, made up: answers of every kind, and audits that find them."""

from collections.abc import Iterator
from typing import Any

import pytest

from harness.audit.comparison import TableDifferenceKind
from harness.audit.records import AuditedAnswer, AuditedTable, ShownDifference
from harness.audit.tables import PinnedTable
from harness.cli import audit_command
from harness.core.records import VerdictKind
from harness.model.query import ALL, Query
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import UsedFormat

READER = "duckdb-1.5.5"
COUNTED = Query(count=True)
RIGHT = AuditedAnswer(READER, ALL, "", VerdictKind.CORRECT)
WRONG = AuditedAnswer(
    READER,
    ALL,
    "",
    VerdictKind.WRONG,
    differences=(
        ShownDifference(
            TableDifferenceKind.VALUE, "name", "[1, a]", "a", "NULL", "p=1/f.parquet", 0
        ),
        ShownDifference(TableDifferenceKind.LOST_ROW, "", "[2, b]", "", "", "p=2/g.parquet", 7),
        ShownDifference(TableDifferenceKind.EXTRA_ROW, "", "[3, c]", "", ""),
        ShownDifference(TableDifferenceKind.ABSENT_COLUMN, "more", "", "", ""),
    ),
    total=6,
    read_as=("no deletes",),
)
REFUSED = AuditedAnswer(READER, COUNTED, "", VerdictKind.REFUSED, "E: not this one")
UNKNOWN = AuditedAnswer(READER, COUNTED, "", VerdictKind.UNKNOWN, "it died")


def table(*answers: AuditedAnswer, name: str = "orders") -> AuditedTable:
    columns, asked = (("id", "long"),), tuple(dict.fromkeys(answer.query for answer in answers))
    return AuditedTable(name, "delta", "/t", "1", columns, 2, 1, questions=asked, answers=answers)


PINNED = PinnedTable(CatalogTable("orders", UsedFormat.DELTA, location="/t"))


def finds(monkeypatch: pytest.MonkeyPatch, *tables: AuditedTable) -> None:
    """Let audits come to these tables, but for those that were audited before."""

    def look(*arguments: Any) -> Iterator[AuditedTable]:  # noqa: ANN401 - stands for `audit`
        audited = arguments[-1]
        for one in tables:
            entry = CatalogTable(one.name, UsedFormat.DELTA, location=one.location)
            yield audited(PinnedTable(entry), one.identity) or one

    monkeypatch.setattr(audit_command, "look", look)
