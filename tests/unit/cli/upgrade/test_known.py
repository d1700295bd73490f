"""`harness upgrade` says what is known, starts no engine, and ends with a status for builds."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import app
from harness.cli.upgrade import engine_sides, known
from harness.comparison import evidence
from harness.comparison.evidence import Builder
from harness.core.records import FindingKind, VerdictKind
from harness.usage import usage_file
from harness.usage.usage_file import (
    VERSION,
    OldFiles,
    SchemaChange,
    Usage,
    UsedChange,
    UsedFormat,
    UsedTable,
)
from tests.builders.verdicts import finding, run, state, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
OLD, NEW = "trino-368", "trino-476"
ASKED = ["upgrade", "--from", OLD, "--to", NEW]
SHOWN = finding(FindingKind.STALE, ("1", "f1", "y"))


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of evidence: of step 1 both are right, of step 2 the new one is wrong."""
    made = run(
        *(verdict(RIGHT, step=step, reader=OLD) for step in (1, 2)),
        verdict(RIGHT, step=1, reader=NEW),
        verdict(WRONG, SHOWN, step=2, reader=NEW),
        states=[replace(state(step), table_version="6") for step in (1, 2)],
    )
    file = tmp_path / "evidence.zip"
    Builder("0.2.0").add(made, "c0ffee00").write(file)
    monkeypatch.setenv(evidence.VARIABLE, str(file))
    monkeypatch.setattr(engine_sides, "ask", asked)
    return file


def asked(*_: object, **__: object) -> int:
    return 42


def test_what_is_known_is_said_with_its_run_and_no_engine_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert app.main(ASKED) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("Do not upgrade from trino-368 to trino-476: 1 answer gets worse")
    assert "Known already, and no engine was asked: p of 2026-01-01 (harness at c0ffee00)." in text
    assert text.endswith("harness upgrade --from trino-368 --to trino-476 --run")
    assert "harness run --profile p -k" in text


def test_what_gets_worse_and_is_left_out_by_a_search_does_not_count() -> None:
    assert app.main([*ASKED, "-k", "/s1/"]) == 0


def test_a_reader_that_no_run_has_asked_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["upgrade", "--from", OLD, "--to", "trino-483"]) == 3
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("Not known: no run of the evidence has asked trino-483; it has trino-")


def test_a_format_that_one_side_has_no_connector_for_stands_in_the_first_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(evidence.VARIABLE)
    command = ["upgrade", "--from", "trino-476", "--to", "trino-483", "--no-run"]
    assert app.main(command) == 3
    first = " ".join(capsys.readouterr().out.partition("Known already")[0].split())
    why = "not on delta tables: trino-483 has no connector for delta tables; the official image"
    assert why in first
    assert "iceberg tables: trino" not in first


def test_what_is_narrowed_is_narrowed_in_the_command_that_asks_engines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app.main([*ASKED, "--format", "hudi-mor", "-k", "/s1/"])
    text = " ".join(capsys.readouterr().out.split())
    assert text.endswith("--to trino-476 --format hudi-mor -k /s1/ --run")


def test_a_reader_that_there_is_not_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["upgrade", "--from", OLD, "--to", "trino-999x"]) == 2
    assert "trino-999x" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [["--run"], ["--profile", "first"], ["my.yaml"], ["--rollout", "steps.yaml"], ["--mixed"]],
    ids=" ".join,
)
def test_engines_are_asked_with_run_and_about_what_no_evidence_has(options: list[str]) -> None:
    assert app.main([*ASKED, *options]) == 42


def test_engines_that_run_already_are_asked(tmp_path: Path) -> None:
    (platform := tmp_path / "platform.yaml").write_text(
        "engines:\n  trino-there:\n    like: trino-476\n    address: http://trino.example\n"
        "    catalogs: {hudi: hudi}\n",
        encoding="utf-8",
    )
    sides = ["--from", "trino-there@endpoint", "--to", NEW]
    assert app.main(["upgrade", *sides, "--platform", str(platform)]) == 42


def test_metastores_are_asked_of_engines() -> None:
    of = ["--from", "hive-metastore-2.3.10", "--to", "hive-metastore-3.1.3"]
    assert app.main(["upgrade", *of]) == 42


def test_a_program_gets_the_runs_and_how_much_is_composed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert app.main([*ASKED, "--json"]) == 1
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert end["decision"] == "do not upgrade"
    assert end["known"]["composed"] == 0
    assert [known_run["commit"] for known_run in end["known"]["runs"]] == ["c0ffee00"]


def test_reports_are_written_where_a_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    assert app.main([*ASKED, "--run-dir", str(folder)]) == 1
    assert {"upgrade.html", "upgrade.md", "upgrade.json"} <= {f.name for f in folder.iterdir()}


def usage(tmp_path: Path, *tables: UsedTable) -> list[str]:
    file = tmp_path / "usage.yaml"
    content = usage_file.text(Usage(VERSION, "thrift://m:9083", "2026-11-26", tables))
    file.write_text(content, encoding="utf-8")
    return ["--usage", str(file)]


def test_tables_that_an_upgrade_hits_are_named_by_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    renamed = UsedChange(SchemaChange.RENAME, "a", "b", old_files=OldFiles.YES)
    hit = UsedTable("sales.hit", UsedFormat.HUDI_COW, table_version="6", schema_changes=(renamed,))
    assert app.main([*ASKED, *usage(tmp_path, hit)]) == 1
    assert "1 table of yours can meet it: sales.hit" in " ".join(capsys.readouterr().out.split())


def test_a_table_of_which_nothing_is_known_is_no_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = UsedTable("sales.delta", UsedFormat.DELTA)
    assert app.main([*ASKED, "-k", "/s1/", *usage(tmp_path, other)]) == 3
    text = " ".join(capsys.readouterr().out.split())
    assert "Of these tables nothing is known - 1 table: no question was about delta tables" in text
    assert "--run --format delta" in text


@pytest.mark.parametrize(("reply", "status"), [("y\n", 42), ("n\n", 3)])
def test_somebody_at_a_terminal_is_asked_whether_engines_should_be(
    reply: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "at_terminal", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda _: reply == "y\n")
    assert app.main(["upgrade", "--from", OLD, "--to", "trino-483"]) == status
    assert app.main(["upgrade", "--from", OLD, "--to", "trino-483", "--no-run"]) == 3
