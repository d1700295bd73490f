"""`harness audit`: the words, the file, the exit status."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.audit.comparison import TableDifferenceKind
from harness.audit.limits import AuditLimits
from harness.audit.records import AuditedTable, ShownDifference
from harness.cli import app, audit_command
from harness.model.query import Comparison, Condition, Query
from tests.builders.audited_answers import (
    PINNED,
    READER,
    REFUSED,
    RIGHT,
    UNKNOWN,
    WRONG,
    finds,
    table,
)

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit_command, "tables_at", lambda *_: (PINNED,))


def audit(*options: str) -> int:
    return app.main(["audit", "/t", "--reader", READER, *options])


def test_right_answers_are_one_line_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, table(RIGHT))
    assert audit() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "All is right: duckdb-1.5.5 in 1 question about 1 table (orders): 1 correct."
    assert lines[3] == "- orders (delta, 2 rows in 1 file): 1 correct"
    report = json.loads(Path("runs/audit-0/audit.json").read_text(encoding="utf-8"))
    assert report["tables"][0]["answers"][0]["verdict"] == "correct"
    assert (report["status"], report["answer"]) == (0, f"{lines[0]}")


def test_a_wrong_answer_is_shown_with_where_it_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, table(RIGHT, WRONG, REFUSED))
    assert audit() == 1
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "(orders): 1 wrong; 1 refused; 1 correct." in " ".join(lines)
    at = lines.index("Table by table") + 1
    assert lines[at : at + 9] == [
        "- orders (delta, 2 rows in 1 file): 1 wrong, 1 refused, 1 correct",
        "duckdb-1.5.5: wrong",
        "asked: all columns",
        "as it is shown by a reader with no deletes",
        "name is NULL instead of a in [1, a] (row 0 of p=1/f.parquet)",
        "this row is not shown: [2, b] (row 7 of p=2/g.parquet)",
        "this row should not be there: [3, c]",
        "… and 3 more",
        "duckdb-1.5.5: refused: E: not this one",
    ]


@pytest.mark.parametrize(
    "audited", [table(UNKNOWN), AuditedTable("orders", "delta", "/t", problem="a file is gone")]
)
def test_what_is_not_known_is_status_3(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, audited: AuditedTable
) -> None:
    finds(monkeypatch, table(RIGHT, WRONG), audited)
    assert audit() == 3
    shown = capsys.readouterr().out
    assert audited.problem or audited.answers[0].because in shown
    assert shown.startswith("Not all is right")  # which is said first
    finds(monkeypatch, table(RIGHT), audited)
    assert audit() == 3
    assert capsys.readouterr().out.startswith("Not all is known")


def test_readers_must_be_named(capsys: Capture) -> None:
    assert app.main(["audit", "/t"]) == 2
    assert "name the readers to ask" in capsys.readouterr().err


def test_tables_must_be_named(capsys: Capture) -> None:
    assert app.main(["audit", "--reader", READER]) == 2
    assert "name a table" in capsys.readouterr().err


def test_a_shadow_fails_for_nothing_but_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    finds(monkeypatch, table(WRONG, UNKNOWN))
    assert audit("--shadow") == 0
    assert "1 wrong" in capsys.readouterr().out

    def breaks(*_: object) -> None:
        raise RuntimeError("nobody thought of it")

    monkeypatch.setattr(audit_command, "look", breaks)
    assert audit("--shadow") == 0
    assert "nobody thought of it" in capsys.readouterr().err
    assert audit() == 3
    assert audit("--shadow", "--reader", "nobody-1") == 2


KNOWN = """
- table: "ord*"
  reader: duckdb
  differs:
  - value name
  - lost_row
  owner: the lake team
  date: "2026-11-29"
  because: they wait for a release
"""


def test_what_is_known_does_not_count(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    places = (TableDifferenceKind.VALUE, "name", 5), (TableDifferenceKind.LOST_ROW, "", 1)
    finds(monkeypatch, table(RIGHT, replace(WRONG, places=places)))
    Path("known.yaml").write_text(KNOWN, encoding="utf-8")
    assert audit("--known", "known.yaml") == 0
    assert "the lake team, 2026-11-29: they wait for a release" in capsys.readouterr().out
    more = *places, (TableDifferenceKind.EXTRA_ROW, "", 1)
    finds(monkeypatch, table(RIGHT, replace(WRONG, places=more)))
    assert audit("--known", "known.yaml") == 1


def test_an_audit_leaves_the_lines_to_begin_with(monkeypatch: pytest.MonkeyPatch) -> None:
    finds(
        monkeypatch, table(replace(WRONG, places=((TableDifferenceKind.VALUE, "n", 1),)), REFUSED)
    )
    assert audit() == 1
    (draft,) = Path("runs/audit-0").glob("*.known.yaml")
    assert audit("--known", str(draft)) == 1  # nobody said why
    text = draft.read_text(encoding="utf-8").replace("TODO", "because so")
    draft.write_text(text, encoding="utf-8")
    assert audit("--known", str(draft)) == 0


def test_a_killed_audit_goes_on_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    first, second = (replace(table(WRONG, name=name), identity=name) for name in "ab")

    def killed(*arguments: Any) -> Iterator[AuditedTable]:  # noqa: ANN401
        del arguments
        yield first
        raise RuntimeError("killed")

    monkeypatch.setattr(audit_command, "look", killed)
    assert audit() == 3
    capsys.readouterr()
    with Path("runs/audit-0/audited.jsonl").open("ab") as file:
        file.write(b'\n{"name": "torn')
    finds(monkeypatch, replace(first, answers=()), second)  # of the first one nothing is asked
    assert app.main(["audit", "--resume"]) == 1
    shown = capsys.readouterr().out
    finds(monkeypatch, first, second)
    assert audit() == 1
    assert capsys.readouterr().out == shown.replace("audit-0", "audit-1")
    resumed, whole = (Path(f"runs/audit-{at}/audit.json").read_bytes() for at in (0, 1))
    assert resumed == whole


def test_resume_names_no_table(capsys: Capture) -> None:
    assert audit("--resume") == 2
    assert app.main(["audit", "--resume"]) == 2
    assert "nothing to go on with" in capsys.readouterr().err


def test_no_value_is_shown_or_stored(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    asked = Query(where=Condition("name", Comparison.EQUAL, "secret", "string"))
    wrong = replace(
        WRONG,
        query=asked,
        sql="select 'secret'",
        because="Odd: of 'secret'",
        differences=(
            ShownDifference(
                TableDifferenceKind.VALUE, "name", "[secret]", "secret", "x", "p=secret 1/f"
            ),
        ),
    )
    secret = replace(
        table(wrong, replace(REFUSED, because="E: secret")),
        columns=(("name", "string"),),
        questions=(asked,),
        undecided=("p=secret 1/f.parquet: no rule says so",),
    )
    broken = replace(table(name="broken"), problem="p=secret 1/f.parquet: 'secret' is no date")
    finds(monkeypatch, secret, broken)
    assert audit("--no-values", "--bank", "bank") == 3
    shown = capsys.readouterr()
    files = [path for path in Path().rglob("*") if path.is_file()]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    assert len(texts) > 7
    assert not [text for text in (shown.out, shown.err, *texts) if "secret" in text]
    assert "name is #" in shown.out
    assert audit("--no-values", "--verbose") == 2
    assert audit("--bank", "bank") == 2
    assert "was made with --no-values" in capsys.readouterr().err


def test_no_value_is_in_an_error_of_the_harness(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(audit_command, "look", breaks)
    assert audit("--no-values") == 3
    shown = capsys.readouterr()
    assert "this is a defect of the harness" in shown.err
    assert "secret" not in shown.err


def test_limits_are_those_that_were_asked_for_also_when_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def look(*arguments: Any) -> Iterator[AuditedTable]:  # noqa: ANN401 - stands for `audit`
        seen.append(arguments[4])
        return iter(())

    monkeypatch.setattr(audit_command, "look", look)
    audit("--timeout", "7", "--most-seconds", "8", "--most-bytes", "9", "--most-rows", "10")
    app.main(["audit", "--resume"])
    assert seen == [AuditLimits(7, 8, 9, 10)] * 2


def test_a_dry_run_shows_what_would_be_sent_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    sent = [("orders", READER, ("select 1", "select 2")), ("lost", "", ("it has no file",))]
    monkeypatch.setattr(audit_command, "statements", lambda *_: iter(sent))
    assert audit("--dry-run") == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:3] == [f"orders, {READER}:", "select 1", "select 2"]
    assert lines[3:5] == ["lost:", "it has no file"]
    assert lines[5].startswith("Nothing was sent.")
    assert audit("--dry-run", "--json") == 0
    listed = json.loads(capsys.readouterr().out.splitlines()[-1])["sent"]
    assert listed == [
        *(f"orders, {READER}: select {number}" for number in (1, 2)),
        "lost: it has no file",
    ]
    assert not Path("runs").exists()
