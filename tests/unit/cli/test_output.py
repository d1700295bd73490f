"""Every long command has a quiet form and a JSON form for programs."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import app, runs
from harness.cli.reproduce import shrink
from harness.cli.runs import Resources
from harness.core.records import VerdictKind
from harness.run import load_run, pipeline
from harness.scenario.cells import Plan
from tests.builders.scenario_texts import MOVED

Capture = pytest.CaptureFixture[str]

WRONG_USE, BROKEN = 2, 3
NOTED = "some progress"


@pytest.fixture(autouse=True)
def nothing_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what takes long only say that it goes on."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(MOVED, encoding="utf-8")
    monkeypatch.setattr(pipeline, "fetch_all", lambda _n, _c, progress: progress.note(NOTED))
    monkeypatch.setattr(pipeline, "write_states", lambda _, work: work.progress.note(NOTED))


@pytest.mark.parametrize(
    ("command", "facts", "result"),
    [
        ("fetch --profile first", {"cache", "distributions"}, ""),
        ("write mine.yaml --profile first", {"run"}, "written: "),
    ],
)
def test_people_read_words_or_only_the_result_and_programs_all(
    command: str, facts: set[str], result: str, capsys: Capture
) -> None:
    assert app.main(command.split()) == 0
    assert NOTED in capsys.readouterr().err
    assert app.main([*command.split(), "--quiet"]) == 0
    printed = capsys.readouterr()
    assert (printed.err, printed.out[: len(result)]) == ("", result)
    assert bool(printed.out) is bool(result)
    assert app.main([*command.split(), "--json"]) == 0
    printed = capsys.readouterr()
    *notes, end = events(printed.out)
    assert {"event": "note", "text": NOTED} in notes
    assert not printed.err
    assert (end["event"], end["status"]) == ("end", 0)
    assert set(end) == {"event", "status", *facts}


def events(message: str) -> list[dict[str, Any]]:
    """Return the events of standard output, which holds nothing else."""
    return [json.loads(line) for line in message.splitlines()]


def test_reproducing_tells_programs_the_causes_or_what_was_found(
    judged: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(shrink, "run_all", lambda *_: None)
    command = ["reproduce", "--run-dir", str(judged), "--json"]
    assert app.main(command) == 0
    (end,) = events(capsys.readouterr().out)
    causes = end["causes"]
    assert causes
    assert all(cause.keys() == {"cause", "cases", "witness"} for cause in causes)
    assert app.main([*command, "--all"]) == BROKEN
    (end,) = events(capsys.readouterr().out)
    # What the run saw is written before anything smaller is looked for.
    assert end["status"] == BROKEN
    assert [(one["cause"], one["smallest"]) for one in end["reproducers"]] == [
        (cause["cause"], False) for cause in causes
    ]
    assert all(Path(one["folder"]).is_dir() for one in end["reproducers"] if one["folder"])


def test_a_remedy_tells_programs_the_effect_of_each_setting(
    judged: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def nothing(_: Plan, resources: Resources) -> SimpleNamespace:
        resources.output.progress().note(NOTED)
        return SimpleNamespace(verdicts=())

    monkeypatch.setattr(runs, "execute", nothing)
    case = next(
        verdict.case
        for verdict in load_run.load(judged).verdicts
        if verdict.verdict is VerdictKind.WRONG and verdict.reader.startswith("trino")
    )
    command = ["remedy", case, "--run-dir", str(judged)]
    assert app.main([*command, "--json"]) == BROKEN
    note, end = events(capsys.readouterr().out)
    assert (note["text"], end["status"], end["case"]) == (NOTED, BROKEN, case)
    assert {entry["verdict"] for entry in end["effects"]} == {"unknown"}
    assert app.main([*command, "--quiet"]) == BROKEN
    capture_result = capsys.readouterr()
    assert not capture_result.err
    assert capture_result.out
