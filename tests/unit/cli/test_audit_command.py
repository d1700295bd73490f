"""`harness audit`: the words, the file, the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.audit.comparison import TableDifferenceKind
from harness.audit.records import AuditedAnswer, AuditedTable, ShownDifference
from harness.cli import app, audit_command
from harness.core.records import VerdictKind

Capture = pytest.CaptureFixture[str]
READER = "duckdb-1.5.5"
RIGHT = AuditedAnswer(READER, "all columns", "", VerdictKind.CORRECT)
WRONG = AuditedAnswer(
    READER,
    "all columns",
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
REFUSED = AuditedAnswer(READER, "count(*)", "", VerdictKind.REFUSED, "E: not this one")
UNKNOWN = AuditedAnswer(READER, "count(*)", "", VerdictKind.UNKNOWN, "it died")


def table(*answers: AuditedAnswer, name: str = "orders") -> AuditedTable:
    return AuditedTable(name, "delta", "/t", "1", (("id", "long"),), 2, 1, answers=answers)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit_command, "tables_at", lambda *_: [object()])


def finds(monkeypatch: pytest.MonkeyPatch, *tables: AuditedTable) -> None:
    monkeypatch.setattr(audit_command, "look", lambda *_: iter(tables))


def test_right_answers_are_one_line_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, table(RIGHT))
    assert app.main(["audit", "/t", "--reader", READER]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == "orders (delta, 2 rows in 1 file): 1 answer, none of them wrong"
    report = json.loads(Path(last.removeprefix("written: ")).read_text(encoding="utf-8"))
    assert report["tables"][0]["answers"][0]["verdict"] == "correct"


def test_a_wrong_answer_is_shown_with_where_it_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, table(RIGHT, WRONG, REFUSED))
    assert app.main(["audit", "/t", "--reader", READER]) == 1
    assert capsys.readouterr().out.splitlines()[:-1] == [
        "orders (delta, 2 rows in 1 file): of 3 answers 1 wrong, 1 refused",
        "  duckdb-1.5.5: wrong",
        "    asked: all columns",
        "    as it is shown by a reader with no deletes",
        "    name is NULL instead of a in [1, a] (row 0 of p=1/f.parquet)",
        "    this row is not shown: [2, b] (row 7 of p=2/g.parquet)",
        "    this row should not be there: [3, c]",
        "    … and 3 more",
        "  duckdb-1.5.5: refused: E: not this one",
        "    asked: count(*)",
    ]


@pytest.mark.parametrize(
    "audited", [table(UNKNOWN), AuditedTable("orders", "delta", "/t", problem="a file is gone")]
)
def test_what_is_not_known_is_status_3(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, audited: AuditedTable
) -> None:
    finds(monkeypatch, table(RIGHT, WRONG), audited)
    assert app.main(["audit", "/t", "--reader", READER]) == 3
    assert audited.problem or audited.answers[0].because in capsys.readouterr().out


def test_readers_must_be_named(capsys: Capture) -> None:
    assert app.main(["audit", "/t"]) == 2
    assert "name the readers to ask" in capsys.readouterr().err


def test_an_address_without_tables_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(audit_command, "tables_at", lambda *_: [])
    assert app.main(["audit", "/t", "--reader", READER]) == 2
    assert "there is no table at /t" in capsys.readouterr().err
