"""`tools/measure/again.py` counts what is not the same as the first time, and nothing else."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from harness.core import jsonl
from harness.core.records import Column, Refusal, Verdict, VerdictKind
from harness.engines.api import NoAnswerError, RefusedError, Reply
from harness.model.canonical import Value
from harness.run import load_run, run_info
from tests.builders import sample_run

HEADS: Final = (Column("id", "varchar", "string"), Column("n", "integer", "int"))
ROWS: Final = (("1", 1), ("2", None))
FIRST: Final = Reply(HEADS, ROWS, 0.1)


@pytest.fixture
def again() -> ModuleType:
    return importlib.import_module("tools.measure.again")


@dataclass
class Says:
    """A connection that answers so."""

    what: Reply | Exception

    def ask(self, sql: str, *, timeout_s: float) -> Reply:
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


def rows(*given: tuple[Value, ...]) -> Reply:
    return replace(FIRST, rows=given, seconds=0.2)


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        (rows(*ROWS), "same"),
        (rows(*ROWS[::-1]), "same"),
        (rows(("1", 1), ("2", 0)), "different"),
        (rows(("1", 1.0), ("2", None)), "different"),
        (rows(ROWS[0]), "different"),
        (rows(*ROWS, ROWS[1]), "different"),
        (replace(FIRST, columns=HEADS[::-1]), "different"),
        (replace(FIRST, columns=(HEADS[0], replace(HEADS[1], type="bigint"))), "different"),
        (RefusedError(Refusal("KIND", "because"), 0.1), "different"),
        (NoAnswerError("time-out"), "no answer"),
    ],
)
def test_an_answer_is_held_against_the_first(
    again: ModuleType, second: Reply | Exception, kind: str
) -> None:
    answers = again.Answers("r")
    for what in (FIRST, FIRST, second):
        answers.take(again.said(Says(what), "select 1"))
    assert answers.kinds == Counter(["same", "same", kind])


def heard(again: ModuleType, *whats: Reply | Exception) -> Any:  # noqa: ANN401 - of a tool
    """Return what is noted of a reader that says this, one after another."""
    answers = again.Answers("r")
    for what in whats:
        answers.take(again.said(Says(what), "select 1"))
    return answers


def test_refusals_are_answers_and_the_same_when_they_say_so(again: ModuleType) -> None:
    refused = [RefusedError(Refusal("KIND", text), 0.1) for text in ("a", "a", "b")]
    assert heard(again, *refused[:2]).good
    assert heard(again, *refused).kinds == {"same": 2, "different": 1}


def test_silence_is_never_the_same_not_even_as_silence(again: ModuleType) -> None:
    silent = NoAnswerError("the connection is lost")
    for found in (heard(again, silent, silent), heard(again, silent, FIRST, FIRST)):
        assert not found.good
        assert found.kinds["no answer"] > 0
        assert not found.kinds["different"]


def test_of_a_flaky_reader_it_is_told_where_it_differs(again: ModuleType) -> None:
    found = heard(again, FIRST, FIRST, rows(("1", 1), ("2", 0)), rows(("1", 5)))
    assert not found.good
    first, flaky = found.told()
    assert first.startswith("r: 2 same, 2 different; the first: ")
    assert flaky.startswith("  flaky: line 1, character ")
    assert "0]" in flaky
    assert "null]" in flaky
    assert len(list(heard(again, FIRST, FIRST).told())) == 1


Harness = Callable[[Sequence[str]], int]


@pytest.fixture
def runs(again: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[Harness]:
    """Return a list of what stands for `harness run`, one after another."""
    found: list[Harness] = []

    def done(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, found.pop(0)(command))

    monkeypatch.setattr(again.subprocess, "run", done)
    return found


def right(command: Sequence[str]) -> int:
    found = sample_run.make(folder_of(command))
    run_info.write_info(found.folder, replace(found.info, id=found.folder.parent.name))
    verdicts = [replace(each, seconds=9.0, reused=False) for each in found.recorded.values()]
    jsonl.write_all(found.folder / load_run.VERDICTS, verdicts)
    return 0


def folder_of(command: Sequence[str]) -> Path:
    folder = Path(command[command.index("--run-dir") + 1])
    folder.mkdir(exist_ok=True)
    return folder


def wrong(command: Sequence[str]) -> int:
    right(command)
    path = folder_of(command) / load_run.VERDICTS
    first, *others = jsonl.read_all(path, Verdict)
    jsonl.write_all(path, [replace(first, verdict=VerdictKind.REFUSED), *others])
    return 1


def written(again: ModuleType, folder: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> int:
    given = ["again.py", "write", "first", str(folder), "--times", str(times)]
    monkeypatch.setattr(sys, "argv", given)
    status: int = again.main()
    return status


def test_a_profile_written_anew_has_the_same_verdicts_and_reports(
    again: ModuleType,
    runs: list[Harness],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs += [right, right]
    assert written(again, tmp_path, 2, monkeypatch) == 0
    said = capsys.readouterr().out.splitlines()
    half = len(said) // 2
    assert said[half].startswith("run 1: ")
    assert said[half].endswith(" verdicts, 0 differ")
    assert said[1:half] == said[half + 1 :]
    assert (tmp_path / "0" / "canonical" / "SHA256SUMS").read_text().splitlines() == [
        line.strip() for line in said[1:half]
    ]


def test_a_verdict_that_differs_is_counted_whatever_status_the_run_ended_with(
    again: ModuleType,
    runs: list[Harness],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs += [right, wrong, right]
    assert written(again, tmp_path, 3, monkeypatch) == 1
    said = capsys.readouterr().out.splitlines()
    heads = [line.rpartition(" verdicts, ")[2] for line in said if line.startswith("run ")]
    assert heads == ["0 differ", "1 differ", "0 differ"]
    assert sum("differs: " in line for line in said) == 1
    places = {line.strip().partition(":")[0] for line in said if " instead of " in line}
    assert places == {"verdicts.jsonl", "junit.xml", "report.html", "report.txt"}
    assert written(again, tmp_path, 3, monkeypatch) == 1  # what is there is not run again


def test_a_run_that_judged_nothing_is_no_run(
    again: ModuleType, runs: list[Harness], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.append(lambda _: 3)
    with pytest.raises(SystemExit, match="status 3 and judged nothing"):
        written(again, tmp_path, 1, monkeypatch)
