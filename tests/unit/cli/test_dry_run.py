"""What `--dry-run` prints; no engine and no catalog is there, and none is asked."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import app, audit_command
from harness.conformance import table
from harness.core.records import Outcome, OutcomeKind
from harness.read import platform_tables
from harness.run import pipeline
from harness.run.pipeline import Work
from harness.scenario.cells import Plan
from tests.unit.cli.conftest import ELSEWHERE

Capture = pytest.CaptureFixture[str]

PLATFORM = """\
engines:
  trino-of-others: {like: trino-476, address: "http://127.0.0.1:1", catalogs: {hudi: a, hive: b}}
catalogs: {theirs: {address: "thrift://127.0.0.1:2"}}
own_tables: {prefix: harness_, catalog: theirs, folder: /lake}
"""
OLD = "trino-476{use-column-names=false}"


def state(step: int) -> Any:  # noqa: ANN401 - as questions are made of it
    names, kind = ("t", "t_ro", "t_rt"), OutcomeKind.APPLIED
    return SimpleNamespace(
        digest="d",
        database_in=lambda warehouse: f"s_d{warehouse}",
        frozen=SimpleNamespace(outcome=Outcome(step, kind), table_version="6", instants=()),
        columns=dict.fromkeys(names, ("id", "ts")),
        listed=dict.fromkeys(names, frozenset()),
    )


@pytest.fixture(autouse=True)
def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Plan]:
    """Return the plans whose tables were written; nothing else is done."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "platform.yaml").write_text(PLATFORM, encoding="utf-8")
    plans = list[Plan]()

    def write(plan: Plan, work: Work) -> None:
        plans.append(plan)

    def states(*_: object) -> dict[tuple[str, int], Any]:
        made = {v.id: range(len(v.scenario.steps) + 1) for v in plans[-1].variants}
        return {(name, step): state(step) for name, steps in made.items() for step in steps}

    def sent(*_: object, **__: object) -> None:
        pytest.fail("something was sent")

    def fetched(plan: Plan, _: Work) -> None:
        assert not plan.readers

    monkeypatch.setattr(pipeline, "fetch_plan", fetched)
    monkeypatch.setattr(pipeline, "write_states", write)
    monkeypatch.setattr(pipeline, "states_of", states)
    for name in ("read_answers", "write_and_read"):
        monkeypatch.setattr(pipeline, name, sent)
    monkeypatch.setattr(platform_tables, "_reached", sent)
    return plans


def dry(capsys: Capture, *command: str) -> list[str]:
    capsys.readouterr()
    platform = ["--platform", "platform.yaml", "--dry-run", "--json"]
    assert app.main([*command, *platform]) == 0
    sent: list[str] = json.loads(capsys.readouterr().out.splitlines()[-1])["sent"]
    return sent


def to(reader: str, sent: list[str]) -> list[str]:
    return [text.removeprefix(f"{reader}: ") for text in sent if text.startswith(f"{reader}: ")]


def test_a_run_shows_what_every_reader_would_be_sent(capsys: Capture, written: list[Plan]) -> None:
    readers = ["--reader", ELSEWHERE, "--reader", OLD]
    sent = dry(capsys, "run", "--profile", "first", *readers)
    there, here = to(ELSEWHERE, sent), to(OLD, sent)
    assert len(there) + len(here) == len(sent)
    selects = [text for text in there if text.startswith('select * from "a"."harness_')]
    assert selects
    assert all('_s_d"."t' in text for text in selects)
    assert 'select * from "hudi_by_position"."s_d"."t"' in here
    assert len(written) == 1


def test_an_upgrade_shows_what_both_sides_would_be_sent(
    capsys: Capture, written: list[Plan]
) -> None:
    both = ["--from", ELSEWHERE, "--to", "trino-476", "--profile", "first"]
    sent = dry(capsys, "upgrade", *both)
    there, here = to(ELSEWHERE, sent), to("trino-476", sent)
    assert len(there) == len(here) == len(sent) / 2
    assert there
    assert len(written) == 2


def test_an_upgrade_of_one_s_own_tables_shows_the_same_as_an_audit(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def statements(_: object, readers: Any, __: object) -> Iterator[Any]:  # noqa: ANN401
        yield from (("orders", str(reader), ("select 1",)) for reader in readers)

    monkeypatch.setattr(audit_command, "statements", statements)
    monkeypatch.setattr(audit_command, "tables_at", lambda *_: ())
    both = ["--from", ELSEWHERE, "--to", "trino-476", "--table", "orders"]
    assert app.main(["upgrade", *both, "--platform", "platform.yaml", "--dry-run"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == [f"orders, {ELSEWHERE}:", "select 1"]
    assert lines[2:4] == ["orders, trino-476:", "select 1"]
    assert not Path("runs").exists()


@pytest.mark.parametrize("command", ["audit", "upgrade", "run"])
def test_what_goes_on_with_something_is_no_dry_run(command: str, capsys: Capture) -> None:
    assert app.main([command, "--resume", "--dry-run"]) == 2
    line = capsys.readouterr().err
    assert "--resume goes on" in line
    assert "dry-run" in line


@pytest.mark.parametrize("unknown", [(), ("--reader", "nothing-1")])
def test_a_run_that_is_there_stays_as_it_is(
    of_others: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, unknown: tuple[str, ...]
) -> None:
    def files() -> dict[str, bytes]:
        entries = (path for path in of_others.iterdir() if path.is_file())
        return {f.name: f.read_bytes() for f in entries if f.suffix in {".json", ".jsonl"}}

    monkeypatch.setattr(pipeline, "statements", lambda plan, _: map(str, plan.readers))
    of_others.with_name("begun").symlink_to(of_others.name)
    before = files()
    asked = ["read", "--run-dir", str(of_others), "--reader", OLD, *unknown, "--dry-run"]
    assert app.main([*asked, "--platform", "platform.yaml"]) == (2 if unknown else 0)
    assert (OLD in capsys.readouterr().out) is not bool(unknown)
    assert files() == before
    assert not of_others.with_name("latest").is_symlink(), "it has nothing new to show"


def test_a_reproducer_shows_its_first_round(
    of_others: Path, capsys: Capture, written: list[Plan]
) -> None:
    check = ["hudi/add_in_the_middle[", "some]", "/s3/snapshot/all/", ELSEWHERE]
    sent = dry(capsys, "reproduce", *check, "--run-dir", str(of_others))
    assert len(to(ELSEWHERE, sent)) == len(sent)
    assert sent
    (plan,) = written
    assert len(plan.variants) > 1, "the check itself and what is smaller"
    assert not Path("reproducers").exists()


def test_the_kit_shows_its_questions_and_the_one_without_an_end(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(table, "state", lambda *_: state(0))
    sent = to(ELSEWHERE, dry(capsys, "engines", "verify", ELSEWHERE))
    assert "select )" in sent
    assert any(text.startswith('select count(*) from "b"."harness_') for text in sent)
    assert any('"many" a, "b"."harness_' in text for text in sent)
    assert len(set(sent)) == len(sent) > 8
    assert not Path("runs").exists()


def test_a_scan_sends_no_statement_and_says_so(capsys: Capture) -> None:
    named = ["--platform", "platform.yaml", "--dry-run"]
    assert app.main(["run", "--profile", "first", "--reader", ELSEWHERE, *named]) == 0
    assert "\nNothing was sent. Answers may lead to more: " in capsys.readouterr().out
    assert app.main(["scan", "theirs", *named]) == 0
    assert capsys.readouterr().out == "No statement would be sent.\n"
    assert not Path("usage.yaml").exists()
