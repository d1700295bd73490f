"""Two readers on somebody's own tables: what changes, the exit status, answers of a bank."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.audit.comparison import TableDifferenceKind
from harness.audit.known import KnownDifferences
from harness.audit.records import AuditedAnswer, AuditedTable, ShownDifference
from harness.cli import app, audit_command
from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.table_changes import TableComparison
from harness.core.records import VerdictKind
from harness.model.query import ALL, Comparison, Condition, Query
from tests.builders import audited_answers
from tests.builders.audited_answers import PINNED, REFUSED, RIGHT, UNKNOWN, WRONG, finds

Capture = pytest.CaptureFixture[str]
OLD, NEW = "duckdb-1.5.5", "polars-2.1.0"
UNSUPPORTED = replace(RIGHT, verdict=VerdictKind.UNSUPPORTED, because="it has no connector")


def wrong(*rows: str, total: int = 0, digest: str = "") -> AuditedAnswer:
    kind = TableDifferenceKind.LOST_ROW
    shown = tuple(ShownDifference(kind, "", row, "", "") for row in rows)
    number = total or len(rows)
    places = ((kind, "", number),)
    digest = digest or str(rows)
    return replace(WRONG, differences=shown, total=number, places=places, digest=digest)


def table(old: AuditedAnswer, new: AuditedAnswer, identity: str = "a") -> AuditedTable:
    sides = replace(old, reader=OLD), replace(new, reader=NEW)
    made = audited_answers.table(*sides)
    return replace(made, questions=(ALL,), identity=identity)


def compared(old: AuditedAnswer, new: AuditedAnswer) -> TableComparison:
    return TableComparison(OLD, NEW, (table(old, new),))


MANY = wrong("[1]", total=30)
IN_PART = replace(wrong("[1]", digest="c"), in_part=True)
LEFT_OPEN = replace(wrong("[1]"), verdict=VerdictKind.UNKNOWN)


@pytest.mark.parametrize(
    ("old", "new", "change", "status"),
    [
        (RIGHT, RIGHT, VerdictChange.RIGHT_AS_BEFORE, 0),
        (RIGHT, wrong("[1]"), VerdictChange.REGRESSED, 1),
        (wrong("[1]"), RIGHT, VerdictChange.FIXED, 0),
        (RIGHT, replace(REFUSED, query=ALL), VerdictChange.REGRESSED_LOUDLY, 1),
        (RIGHT, REFUSED, VerdictChange.REGRESSED_LOUDLY, 1),  # by another question: of the table
        (REFUSED, wrong("[1]"), VerdictChange.REGRESSED_SILENTLY, 1),
        (UNSUPPORTED, RIGHT, VerdictChange.FIXED, 0),
        (wrong("[1]"), wrong("[1]"), VerdictChange.WRONG_AS_BEFORE, 0),
        (wrong("[1]", "[2]"), wrong("[1]"), VerdictChange.WRONG_AS_BEFORE, 0),
        (wrong("[1]"), wrong("[1]", "[2]"), VerdictChange.WRONG_OTHERWISE, 1),
        # Of more differences than are shown nobody knows whether they are the same.
        (MANY, replace(MANY, total=29, digest="b"), VerdictChange.WRONG_OTHERWISE, 1),
        (MANY, MANY, VerdictChange.WRONG_AS_BEFORE, 0),
        (wrong("[1]"), IN_PART, VerdictChange.WRONG_OTHERWISE, 1),
        (IN_PART, IN_PART, VerdictChange.WRONG_AS_BEFORE, 0),
        (RIGHT, UNKNOWN, VerdictChange.UNKNOWN, 3),
        (RIGHT, LEFT_OPEN, VerdictChange.UNKNOWN, 3),
        (LEFT_OPEN, LEFT_OPEN, VerdictChange.OPEN_AS_BEFORE, 0),
        (REFUSED, UNSUPPORTED, VerdictChange.REFUSED_AS_BEFORE, 3),
    ],
)
def test_each_pair_of_answers_is_in_one_class(
    old: AuditedAnswer, new: AuditedAnswer, change: VerdictChange, status: int
) -> None:
    comparison = compared(old, new)
    assert [pair.change for pair in comparison.pairs] == [change]
    assert comparison.status == status


def test_a_question_that_a_side_was_not_asked_is_not_known() -> None:
    known = table(RIGHT, RIGHT)
    more = replace(known, questions=(*known.questions, Query(count=True)))
    comparison = TableComparison(OLD, NEW, (more,))
    assert comparison.pairs[-1].change is VerdictChange.UNKNOWN
    assert comparison.status == 3


def test_a_table_of_which_nothing_is_known_is_status_3() -> None:
    broken = AuditedTable("broken", "delta", "/b", problem="a file is gone")
    assert TableComparison(OLD, NEW, (table(RIGHT, RIGHT), broken)).status == 3
    assert TableComparison(OLD, NEW, (), known=KnownDifferences()).status == 3


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit_command, "tables_at", lambda *_: (PINNED,))


def upgrade(*options: str, old: str = OLD) -> int:
    return app.main(["upgrade", "--from", old, "--to", NEW, "--table", "/t", *options])


@pytest.mark.usefixtures("here")
def test_the_answer_says_what_it_is_about(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    finds(monkeypatch, table(RIGHT, wrong("[7, x]")))
    assert upgrade() == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(
        f"Do not upgrade from {OLD} to {NEW}, in 1 question about 1 table (orders): 1 right or "
        "open before, wrong without an error now."
    )
    assert "this row is not shown: [7, x]" in shown
    report = json.loads(Path("runs/upgrade-0/upgrade.json").read_text(encoding="utf-8"))
    assert (report["status"], report["decision"]) == (1, "do not upgrade")
    (pair,) = report["pairs"]
    assert (pair["change"], pair["new"]["verdict"]) == ("regressed", "wrong")
    assert pair["table"]["name"] == "orders"
    names = {path.suffix for path in Path("runs/upgrade-0").glob("upgrade.*")}
    assert names == {".html", ".md", ".txt", ".json"}


@pytest.mark.usefixtures("here")
def test_a_metastore_is_no_side_of_tables(capsys: Capture) -> None:
    assert upgrade(old="hive-metastore-2.3.10") == 2
    assert "a metastore is no side of your own tables" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_a_worse_answer_that_is_known_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    finds(monkeypatch, table(RIGHT, wrong("[1]")))
    assert upgrade() == 1
    draft = Path("runs/upgrade-0/tables.known.yaml")
    draft.write_text(draft.read_text(encoding="utf-8").replace("TODO", "us"), encoding="utf-8")
    assert upgrade("--known", str(draft)) == 0
    finds(monkeypatch, table(RIGHT, RIGHT))
    assert upgrade("--known", str(draft)) == 1  # it no longer occurs


@pytest.mark.usefixtures("here")
def test_what_both_sides_refuse_for_the_larger_part_can_be_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conditions = [Query(where=Condition(name, Comparison.NULL)) for name in ("a", "b")]
    right = table(RIGHT, RIGHT)
    refused = [
        replace(REFUSED, reader=side, query=query) for side in (OLD, NEW) for query in conditions
    ]
    questions = (*right.questions, *conditions)
    finds(monkeypatch, replace(right, questions=questions, answers=(*right.answers, *refused)))
    assert upgrade() == 3
    assert upgrade("--allow-partial") == 0


@pytest.mark.usefixtures("here")
def test_an_upgrade_on_tables_has_the_limits_of_an_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    finds(monkeypatch, table(RIGHT, RIGHT))
    limits = "--timeout", "7", "--most-seconds", "8", "--most-bytes", "9", "--most-rows", "10"
    assert upgrade(*limits, "--spark", "local[1]") == 0
    request = json.loads(Path("runs/upgrade-0/request.json").read_text(encoding="utf-8"))
    assert list(request["limits"].values()) == [7, 8, 9, 10]
    assert request["spark"] == "local[1]"


@pytest.mark.usefixtures("here")
def test_a_bank_answers_for_an_engine_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, table(RIGHT, RIGHT))
    assert upgrade("--bank", "bank") == 0
    alone = replace(table(RIGHT, wrong("[1]")), answers=table(RIGHT, wrong("[1]")).answers[1:])
    finds(monkeypatch, alone)
    assert upgrade("--bank", "bank", old=f"banked:{OLD}") == 1
    assert f"from {OLD} to {NEW}" in capsys.readouterr().out
    finds(monkeypatch, replace(alone, identity="b", version="2"))
    assert upgrade("--bank", "bank", old=f"banked:{OLD}") == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert f"the table went on since the answers of {OLD} were banked: 1 to 2" in shown
    finds(monkeypatch, replace(alone, questions=(ALL, Query(count=True))))
    assert upgrade("--bank", "bank", old=f"banked:{OLD}") == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert f"other questions were asked when the answers of {OLD} were banked" in shown
    finds(monkeypatch, replace(alone, name="another"))
    assert upgrade("--bank", "bank", old=f"banked:{OLD}") == 3
    assert "has no answer of" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--from", "banked", "--to", NEW, "--table", "/t"), "wants --bank FOLDER"),
        (
            ("--from", "banked", "--to", NEW, "--table", "/t", "--bank", "bank"),
            f"allowed: banked:{OLD}, banked:{NEW}",
        ),
        (("--from", OLD, "--to", OLD, "--table", "/t"), "nothing can change"),
        (("--from", OLD, "--to", NEW, "--bank", "bank"), "name a table"),
        (("--from", OLD, "--table", "/t"), "--to names one reader"),
        (("--from", OLD, "--to", NEW, "--table", "/t", "--as", "writer"), "about scenarios"),
        (("--resume",), "nothing to go on with; begin with: harness upgrade"),
    ],
)
def test_wrong_use_is_told_in_a_line(
    options: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    if "bank" in options:
        finds(monkeypatch, table(RIGHT, RIGHT))
        assert upgrade("--bank", "bank") == 0
    assert app.main(["upgrade", *options]) == 2
    assert problem in capsys.readouterr().err
