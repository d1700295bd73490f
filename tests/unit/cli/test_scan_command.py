"""`harness scan`: the file, the words, the exit status."""

import json
from pathlib import Path

import pytest

from harness.cli import app, scan_command
from harness.usage import usage_file
from harness.usage.usage_file import Usage, UsedFormat, UsedTable

Capture = pytest.CaptureFixture[str]

GOOD = UsedTable("d.a", UsedFormat.ICEBERG)
BAD = UsedTable("d.b", UsedFormat.HIVE_ORC, unread="its folder is gone")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def finds(monkeypatch: pytest.MonkeyPatch, *tables: UsedTable, **unlisted: str) -> None:
    usage = Usage(1, "thrift://m:1", "", tables, unlisted=unlisted)
    monkeypatch.setattr(scan_command, "look", lambda *_: usage)


def test_what_was_found_is_written_and_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, GOOD)
    assert app.main(["scan", "thrift://m:1"]) == 0
    assert capsys.readouterr().out == "written: usage.yaml: 1 table (1 iceberg)\n"
    assert usage_file.read(Path("usage.yaml")).tables == (GOOD,)


def test_a_table_that_cannot_be_read_is_reported_and_the_status_is_3(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, GOOD, BAD, hidden="refused")
    assert app.main(["scan", "thrift://m:1", "--out", "mine.yaml"]) == 3
    assert capsys.readouterr().out.splitlines() == [
        "written: mine.yaml: 2 tables (1 iceberg, 1 unread)",
        "not read: d.b: its folder is gone",
        "not read: hidden: refused",
    ]
    assert len(usage_file.read(Path("mine.yaml")).tables) == 2


def test_an_engine_that_runs_already_is_asked_by_the_command_that_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, GOOD)
    engine = "trino-there: {like: trino-476, address: 'http://trino', catalogs: {iceberg: lake}}"
    Path("p.yaml").write_text(f"engines:\n  {engine}\n", encoding="utf-8")
    sides = ["--from", "trino-there@endpoint", "--to", "trino-483"]
    assert app.main(["scan", "thrift://m:1", "--platform", "p.yaml", *sides]) == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert "Not known: no run of the evidence has asked trino-there@endpoint" in shown
    assert f"harness upgrade {' '.join(sides)} --usage usage.yaml --platform p.yaml --run" in shown


def test_a_program_is_told_the_same(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    finds(monkeypatch, GOOD, BAD)
    assert app.main(["scan", "thrift://m:1", "--json"]) == 3
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert end == {
        "event": "end",
        "status": 3,
        "file": "usage.yaml",
        "tables": {"iceberg": 1, "unread": 1},
    }


@pytest.mark.parametrize(
    ("address", "status", "problem"),
    [
        ("http://127.0.0.1:1", 3, "the REST catalog at http://127.0.0.1:1 does not answer"),
        ("nosuch", 2, "there is no folder nosuch; allowed: a folder, such as s3://bucket"),
        ("thrift://m", 2, "allowed: thrift://host:port"),
        ("thrift://m:port", 2, "allowed: thrift://host:port or host:port"),
        ("thrift://a:1,thrift://b:1", 2, "allowed: thrift://host:port"),
        ("thrift://127.0.0.1:1", 3, "the metastore at thrift://127.0.0.1:1 does not answer"),
        ("127.0.0.1:1", 3, "the metastore at 127.0.0.1:1 does not answer"),
    ],
)
def test_an_address_that_is_none_or_where_nobody_answers_is_reported(
    address: str, status: int, problem: str, capsys: Capture
) -> None:
    assert app.main(["scan", address]) == status
    assert problem in capsys.readouterr().err
    assert not Path("usage.yaml").exists()
