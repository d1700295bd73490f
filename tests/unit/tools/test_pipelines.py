"""`tools/measure/pipelines.py` sees what is wrong with a target, and what is done to it."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from tools.measure.pipelines_events import FolderEvents
from tools.measure.pipelines_tables import KEY, HudiTable, Pipeline, Rows

FIRST, SECOND = "20260101000000001", "20260101000000002"
ONE: Rows = {"a": (1, "x")}
TWO: Rows = {"a": (2, "y"), "b": (2, "z")}


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    return importlib.import_module("tools.measure.pipelines")


def pipeline(
    folder: Path, *checkpoints: str, version: str = "6", library: str = "0.15.0"
) -> Pipeline:
    """Return a pipeline whose target has a commit for each checkpoint, empty for none."""
    for name in ("source", "target"):
        (folder / name / ".hoodie").mkdir(parents=True)
        text = f"hoodie.table.version={version}\n"
        (folder / name / ".hoodie" / "hoodie.properties").write_text(text)
    for at, checkpoint in enumerate(checkpoints, start=1):
        told = {"extraMetadata": {KEY: checkpoint, "schema": "{}"} if checkpoint else {}}
        (folder / "target" / ".hoodie" / f"{at}.commit").write_text(json.dumps(told))
    truth = {FIRST: ONE, SECOND: TWO}
    return Pipeline(HudiTable(folder / "source"), HudiTable(folder / "target"), library, truth)


def showing(rows: Sequence[tuple[str, int, str]]) -> Any:  # noqa: ANN401 - stands in for a session
    return SimpleNamespace(run=lambda _sql, timeout_s: SimpleNamespace(rows=rows, s=timeout_s))


def test_the_checkpoint_is_that_of_the_newest_commit_that_has_one(tmp_path: Path) -> None:
    assert pipeline(tmp_path / "a", FIRST, SECOND).checkpoint() == SECOND
    assert pipeline(tmp_path / "b", FIRST, "").checkpoint() == FIRST
    assert pipeline(tmp_path / "c").checkpoint() == ""


def test_what_the_target_does_not_have_is_ahead(tmp_path: Path) -> None:
    assert pipeline(tmp_path / "a").ahead() == (FIRST, SECOND)
    assert pipeline(tmp_path / "b", FIRST).ahead() == (SECOND,)


@pytest.mark.parametrize(
    ("rows", "checkpoint", "wrong"),
    [
        ([("a", 1, "x")], FIRST, ""),
        ([("a", 2, "y"), ("b", 2, "z")], SECOND, ""),
        ([("a", 1, "x"), ("a", 1, "x")], FIRST, "twice: ['a']"),
        ([], FIRST, "missing: [('a', 1, 'x')]"),
        ([("a", 2, "y"), ("b", 2, "z")], FIRST, "missing: [('a', 1, 'x')]; not of the checkpoint"),
        ([("a", 1, "x")], SECOND, "missing: [('a', 2, 'y'), ('b', 2, 'z')]; not of the checkpoint"),
        ([("a", 1, "x")], "", "not of the checkpoint: [('a', 1, 'x')]"),
    ],
)
def test_rows_that_are_not_those_of_the_checkpoint_are_told(
    tmp_path: Path, rows: list[tuple[str, int, str]], checkpoint: str, wrong: str
) -> None:
    told = pipeline(tmp_path, checkpoint).wrong(showing(rows))
    assert told.startswith(wrong)
    assert bool(told) is bool(wrong)


@pytest.mark.parametrize(
    ("version", "library", "begin"),
    [("6", "0.15.0", FIRST), ("8", "1.0.2", SECOND), ("9", "1.2.0", FIRST)],
)
def test_the_next_batch_begins_behind_the_checkpoint(
    tmp_path: Path, version: str, library: str, begin: str
) -> None:
    sent: list[str] = []
    session: Any = SimpleNamespace(
        run=lambda sql, timeout_s: sent.append(sql[: int(timeout_s) * 9]),
        append=lambda query, format_, options, path, timeout_s: sent.append(
            f"{query} {format_} {options[KEY]} {path} {timeout_s}"
        ),
    )
    made = pipeline(tmp_path, FIRST, version=version, library=library)
    made.batch(session, SECOND, {})
    assert f"'hoodie.datasource.read.begin.instanttime' = '{begin}'" in sent[0]
    assert f"'hoodie.datasource.read.end.instanttime' = '{SECOND}'" in sent[0]
    assert f"from since hudi {SECOND} {made.target.folder}" in sent[1]


def test_all_that_happens_in_a_folder_is_told_also_in_one_that_comes(tmp_path: Path) -> None:
    (tmp_path / ".hoodie").mkdir()
    with FolderEvents(tmp_path) as events:
        assert list(events.read(0)) == []
        (tmp_path / ".hoodie" / "1.inflight").write_text("x")
        (tmp_path / ".hoodie" / "1.inflight").rename(tmp_path / ".hoodie" / "1.commit")
        (tmp_path / "p=1").mkdir()
        told = list(events.read(1))
        (tmp_path / "p=1" / "a.parquet").touch()
        (tmp_path / "p=1" / "a.parquet").unlink()
        later = list(events.read(1))
    assert told == [
        *("made .hoodie/1.inflight", "written .hoodie/1.inflight"),
        *("moved away .hoodie/1.inflight", "moved .hoodie/1.commit", "made p=1"),
    ]
    assert later == [f"{what} p=1/a.parquet" for what in ("made", "written", "removed")]


def test_a_batch_is_struck_at_the_moment_or_is_over_before(program: ModuleType) -> None:
    asked: Future[None] = Future()
    events = SimpleNamespace(read=lambda _s: iter(["made a", "written a"]))
    assert program._when(asked, events, 4) == "written a"
    asked.set_result(None)
    assert program._when(asked, events, 4) == program.UNDISTURBED


SILENT = NoAnswerError("the process is gone")
HELD = RefusedError(Refusal("killed", "the process was killed before the commit"), 0.0)


@pytest.mark.parametrize(
    ("problem", "happened", "known", "at", "events"),
    [
        (None, ["made a"], None, "over before the blow", 1),
        (None, [], ("made a", 4), "over before the blow", 4),
        (SILENT, ["made a", "written a"], None, "written a", 2),
        (SILENT, [], None, "before the first file", 0),
        (SILENT, ["made b"], ("made a", 4), "made a", 4),
        (HELD, ["made b"], ("held before the commit", 0), "held before the commit", 0),
    ],
)
def test_what_came_of_a_batch_is_when_it_was_killed_and_whether_it_is_committed(
    program: ModuleType,
    tmp_path: Path,
    problem: Exception | None,
    happened: list[str],
    known: tuple[str, int] | None,
    at: str,
    events: int,
) -> None:
    asked: Future[None] = Future()
    if problem is None:
        asked.set_result(None)
    else:
        asked.set_exception(problem)
    watched = SimpleNamespace(read=lambda _s: iter(happened))
    for upto, committed in ((FIRST, True), (SECOND, False)):
        made = pipeline(tmp_path / upto, FIRST)
        blow = program.Started(made, upto, asked, watched).came(7, known)
        assert blow == program.Blow(7, at, events, committed=committed, wrong="")


def test_an_error_of_the_writer_is_no_kill(program: ModuleType, tmp_path: Path) -> None:
    asked: Future[None] = Future()
    asked.set_exception(RefusedError(Refusal("HoodieException", "no such table"), 0.0))
    watched = SimpleNamespace(read=lambda _s: iter(()))
    with pytest.raises(RefusedError, match="no such table"):
        program.Started(pipeline(tmp_path, FIRST), SECOND, asked, watched).came(7, None)


@pytest.mark.parametrize(
    ("at", "committed", "phase"),
    [
        ("held before the commit", False, "held before the commit"),
        ("removed .hoodie/.temp/1", True, "after the commit"),
        ("made .hoodie/.2.rollback.inflight.crc", False, "a batch of before is taken back"),
        ("moved .hoodie/1.commit", False, "the timeline is written"),
        ("made .hoodie/timeline/1.inflight", False, "the timeline is written"),
        ("made .hoodie/.temp/1/a.parquet.marker.MERGE", False, "data files are written"),
        ("written a.parquet", False, "data files are written"),
    ],
)
def test_the_phase_of_a_batch_is_told_by_what_happened_last(
    program: ModuleType, at: str, phase: str, *, committed: bool
) -> None:
    assert program.phase(program.Blow(1, at, 9, committed=committed, wrong="")) == phase


def test_batches_are_counted_by_their_phase(program: ModuleType) -> None:
    made = "made {}.parquet"
    found = [
        program.Blow(1, made.format("a"), 9, committed=True, wrong=""),
        program.Blow(2, made.format("b"), 8, committed=False, wrong="missing: [1]"),
        program.Blow(2, program.UNDISTURBED, 8, committed=True, wrong=""),
    ]
    assert list(program.lines(found))[2:] == [
        "| after the commit | 1 | 1 | 1 | 0 |",
        "| data files are written | 1 | 0 | 0 | 1 |",
        "| over before the blow | 1 | 1 | 1 | 0 |",
        "| all | 3 | 2 | 2 | 1 |",
    ]


def test_the_source_gets_new_rows_and_other_versions_of_old_ones(program: ModuleType) -> None:
    made = list(islice(program.changes(random.Random(1)), 30))  # noqa: S311
    keys = [key for each in made for key in each]
    assert all(len(each) == program.ROWS for each in made)
    assert program.KEYS >= len(set(keys)) > program.ROWS
    assert len(set(keys)) < len(keys)
    assert made == list(islice(program.changes(random.Random(1)), 30))  # noqa: S311
