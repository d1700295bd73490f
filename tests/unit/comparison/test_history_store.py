"""The file that stores runs: what goes in comes out, and nothing is lost or mistaken."""

from __future__ import annotations

import datetime
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from harness.comparison import history_store
from harness.comparison.history_store import StoredRun, cell_of
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.records import VerdictKind
from harness.run import load_run
from harness.run.load_run import Run
from tests.builders import sample_run

DAY = datetime.timedelta(days=1)


@pytest.fixture
def sampled(tmp_path: Path) -> Run:
    return sample_run.make(tmp_path / "run")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "stored" / history_store.NAME


def add(file: Path, *runs: Run) -> None:
    for run in runs:
        with history_store.opened(file, new=True) as store:
            store.add(run)


def later(run: Run, days: int, name: str = "") -> Run:
    info = replace(run.info, started=run.info.started + days * DAY, id=name or run.info.id)
    return replace(run, info=info)


def stored(file: Path) -> tuple[StoredRun, ...]:
    with history_store.opened(file) as store:
        return store.runs()


def names(file: Path) -> list[str]:
    return [run.name for run in stored(file)]


def test_a_run_is_stored_with_its_plan_and_counts_and_without_its_cells_in_the_plan(
    sampled: Run, file: Path
) -> None:
    add(file, sampled)
    (run,) = stored(file)
    assert run.counts == Counter(verdict.verdict for verdict in sampled.verdicts)
    assert run.counts[VerdictKind.UNKNOWN]  # what never came is stored as unknown
    assert run.info.variants == sampled.info.variants
    assert run.info.cells == ()


def test_a_run_that_is_stored_again_is_replaced(sampled: Run, file: Path) -> None:
    add(file, sampled)
    case = next(v.case for v in sampled.verdicts if v.verdict is VerdictKind.WRONG)
    fewer = {name: verdict for name, verdict in sampled.recorded.items() if name != case}
    add(file, replace(sampled, recorded=fewer))
    (run,) = stored(file)
    unknown = sum(verdict.verdict is VerdictKind.UNKNOWN for verdict in sampled.verdicts)
    assert run.counts[VerdictKind.UNKNOWN] == unknown + 1


def test_runs_of_one_name_are_distinguished_by_their_time(sampled: Run, file: Path) -> None:
    add(file, sampled, later(sampled, 1), later(sampled, 2, "other"))
    first, second, other = names(file)
    assert first.startswith(f"{sampled.info.id}@")
    assert first != second
    assert other == "other"
    with history_store.opened(file) as store:
        assert store.run(second).name == second
        with pytest.raises(UsageProblem, match=r"nobody: not stored; .* has: "):
            store.run("nobody")


def test_a_restored_run_is_the_run(sampled: Run, file: Path, tmp_path: Path) -> None:
    add(file, sampled)
    with history_store.opened(file) as store:
        store.restore(store.run(sampled.info.id), tmp_path / "again")
        with pytest.raises(UsageProblem, match="already"):
            store.restore(store.runs()[0], tmp_path / "again")
    for name in history_store.RECORDS:
        assert (tmp_path / "again" / name).read_bytes() == (sampled.folder / name).read_bytes()
    assert load_run.load(tmp_path / "again").verdicts == sampled.verdicts


@pytest.mark.parametrize("at_once", [7, history_store.CELLS_AT_ONCE])
def test_the_cells_are_those_of_the_run(
    sampled: Run, file: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(history_store, "CELLS_AT_ONCE", at_once)
    add(file, sampled)
    with history_store.opened(file) as store:
        cells = {c.case: c for c in map(cell_of, store.rows(store.runs()[0])) if c.reader}
    assert list(cells) == [verdict.case for verdict in sampled.verdicts]
    for verdict in sampled.verdicts:
        assert cells[verdict.case].verdict is verdict.verdict
        assert bool(cells[verdict.case].places) == bool(verdict.findings)


def test_pruning_leaves_the_newest_runs_of_each_profile(sampled: Run, file: Path) -> None:
    other = replace(sampled, info=replace(sampled.info, profile="other", id="o"))
    add(file, *(later(sampled, day, f"r{day}") for day in range(4)), other)
    size = file.stat().st_size
    with history_store.opened(file) as store:
        assert store.prune(2) == ("r0", "r1")
    assert names(file) == ["o", "r2", "r3"]
    assert file.stat().st_size < size


def test_runs_that_are_stored_at_once_are_all_stored(sampled: Run, file: Path) -> None:
    runs = [later(sampled, day, f"r{day}") for day in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda run: add(file, run), runs))
    assert names(file) == [f"r{day}" for day in range(8)]
    assert [path.name for path in file.parent.iterdir()] == [history_store.NAME]


def test_what_breaks_off_leaves_the_file_as_it_was(
    sampled: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(file, sampled)
    monkeypatch.setattr(history_store, "RECORDS", (*history_store.RECORDS, 1))
    with history_store.opened(file) as store, pytest.raises(TypeError):
        store.add(sampled)
    with history_store.opened(file) as store:
        assert len(list(store.rows(store.runs()[0]))) >= len(sampled.verdicts)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"not a database, and longer than nothing" * 50, "is broken"), (b"", "holds no runs")],
)
def test_another_file_is_refused_and_left_as_it_is(file: Path, content: bytes, why: str) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(UsageProblem, match=why):
        names(file)
    assert file.read_bytes() == content


def test_the_file_of_another_program_is_left_as_it_is(sampled: Run, file: Path) -> None:
    file.parent.mkdir()
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(UsageProblem, match="holds no runs; name another file by --history"):
        add(file, sampled)


@pytest.mark.parametrize(("version", "age"), [(2, "an older"), (4, "a newer")])
def test_a_file_of_another_version_is_refused_in_one_line(
    sampled: Run, file: Path, version: int, age: str
) -> None:
    add(file, sampled)
    with sqlite3.connect(file) as raw:
        raw.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(UsageProblem, match=f"was made by {age} harness .*; move it away and add"):
        names(file)


def test_a_broken_record_is_reported_and_makes_no_run(
    sampled: Run, file: Path, tmp_path: Path
) -> None:
    add(file, sampled)
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE run SET content = x'00'")
    with pytest.raises(UsageProblem, match="is broken"), history_store.opened(file) as store:
        store.restore(store.runs()[0], tmp_path / "again")
    assert not (tmp_path / "again" / load_run.INFO).exists()


def test_who_waits_for_too_long_is_told(
    sampled: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(file, sampled)
    monkeypatch.setattr(history_store, "PATIENCE_S", 0)
    with (
        sqlite3.connect(file, isolation_level=None) as other,
        history_store.changing(other),
        pytest.raises(EnvironmentProblem, match="another harness writes"),
    ):
        add(file, sampled)
