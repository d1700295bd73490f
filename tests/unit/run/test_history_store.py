"""The file that keeps runs: what goes in comes out, and nothing is lost or taken for another's."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from harness.comparison.kept_cells import kept_cells
from harness.core.errors import EnvironmentProblem, FileProblem, PathProblem, UsageProblem
from harness.core.records import VerdictKind
from harness.run import history_file, history_store, load_run, run_info
from harness.run.kept_run import KeptCell, digest_number
from harness.run.load_run import Run
from tests.builders import sample_run

DAY = datetime.timedelta(days=1)


@pytest.fixture
def sampled(tmp_path: Path) -> Run:
    return sample_run.make(tmp_path / "run")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "kept" / history_file.NAME


def add(store: Path, *runs: Run) -> None:
    for run in runs:
        with history_store.opened(store, new=True) as found:
            found.add(run, kept_cells(run))


def later(run: Run, days: int, name: str = "") -> Run:
    info = replace(run.info, started=run.info.started + days * DAY, id=name or run.info.id)
    return replace(run, info=info)


def names(store: Path) -> list[str]:
    with history_store.opened(store) as found:
        return [each.name for each in found.runs()]


def test_the_counts_are_those_of_the_run(sampled: Run, store: Path) -> None:
    add(store, sampled)
    with history_store.opened(store) as found:
        (counts,) = found.counts().values()
    assert counts == {
        kind: number
        for kind in VerdictKind
        if (number := sum(each.verdict is kind for each in sampled.verdicts))
    }
    assert counts[VerdictKind.UNKNOWN]  # what never came is kept as unknown


def test_a_run_that_is_kept_again_is_replaced(sampled: Run, store: Path) -> None:
    add(store, sampled)
    case = next(each.case for each in sampled.verdicts if each.verdict is VerdictKind.WRONG)
    fewer = {name: each for name, each in sampled.recorded.items() if name != case}
    add(store, replace(sampled, recorded=fewer))
    with history_store.opened(store) as found:
        ((_, counts),) = found.counts().items()
        (kept,) = found.runs()
    assert counts[VerdictKind.UNKNOWN] == 1 + sum(
        each.verdict is VerdictKind.UNKNOWN for each in sampled.verdicts
    )
    assert kept.name == sampled.info.id


def test_runs_of_one_name_are_told_apart_by_their_time(sampled: Run, store: Path) -> None:
    add(store, sampled, later(sampled, 1), later(sampled, 2, "other"))
    first, second, other = names(store)
    assert first.startswith(f"{sampled.info.id}@")
    assert first != second
    assert other == "other"
    with history_store.opened(store) as found:
        assert found.run(second).name == second
        with pytest.raises(UsageProblem, match="2 runs are kept whose names begin so"):
            found.run(sampled.info.id)
        with pytest.raises(UsageProblem, match=r"nobody: not kept; .* has: "):
            found.run("nobody")


def test_a_restored_run_is_the_run(sampled: Run, store: Path, tmp_path: Path) -> None:
    add(store, sampled)
    with history_store.opened(store) as found:
        found.restore(found.run(sampled.info.id), tmp_path / "again")
    for name in history_store.RECORDS:
        assert (tmp_path / "again" / name).read_bytes() == (sampled.folder / name).read_bytes()
    assert load_run.load(tmp_path / "again").verdicts == sampled.verdicts


def test_a_file_of_several_pieces_comes_back_whole(
    sampled: Run, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_store, "PIECE", 1000)
    test_a_restored_run_is_the_run(sampled, store, tmp_path)


def test_a_run_is_not_restored_over_another_one(sampled: Run, store: Path) -> None:
    add(store, sampled)
    with history_store.opened(store) as found, pytest.raises(UsageProblem, match="already"):
        found.restore(found.run(sampled.info.id), sampled.folder)


def test_pruning_keeps_the_newest_runs_of_each_profile(sampled: Run, store: Path) -> None:
    other = replace(sampled, info=replace(sampled.info, profile="other", id="o"))
    add(store, *(later(sampled, day, f"r{day}") for day in range(4)), other)
    size = store.stat().st_size
    with history_store.opened(store) as found:
        assert found.prune(2) == ("r0", "r1")
    assert names(store) == ["o", "r2", "r3"]
    assert store.stat().st_size < size
    with sqlite3.connect(store) as raw:
        lost = "SELECT count(*) FROM cell WHERE symptom NOT IN (SELECT number FROM symptom)"
        assert raw.execute(lost).fetchone() == (0,)
        assert raw.execute("SELECT count(DISTINCT run) FROM record").fetchone() == (3,)


def test_runs_that_are_kept_at_once_are_all_kept(sampled: Run, store: Path) -> None:
    runs = [later(sampled, day, f"r{day}") for day in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda run: add(store, run), runs))
    assert names(store) == [f"r{day}" for day in range(8)]


def test_what_breaks_off_leaves_the_file_as_it_was(sampled: Run, store: Path) -> None:
    add(store, sampled)

    def cells() -> Iterator[KeptCell]:
        yield next(kept_cells(sampled))
        raise ValueError("broken off")

    with history_store.opened(store) as found, pytest.raises(ValueError, match="broken off"):
        found.add(sampled, cells())
    with history_store.opened(store) as found:
        ((_, counts),) = found.counts().items()
    assert counts.total() == len(sampled.verdicts)


def test_one_file_is_left_and_nothing_beside_it(sampled: Run, store: Path) -> None:
    add(store, sampled)
    assert [each.name for each in store.parent.iterdir()] == [history_file.NAME]


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"not a database, and longer than nothing" * 50, "is broken"), (b"", "keeps no runs")],
)
def test_what_is_no_such_file_is_told_and_left_as_it_is(
    store: Path, content: bytes, why: str
) -> None:
    store.parent.mkdir()
    store.write_bytes(content)
    with pytest.raises(PathProblem, match=why), history_store.opened(store):
        pass
    assert store.read_bytes() == content


def test_the_file_of_another_program_is_left_as_it_is(sampled: Run, store: Path) -> None:
    store.parent.mkdir()
    with sqlite3.connect(store) as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(PathProblem, match="keeps no runs; name another file by --history"):
        add(store, sampled)


def test_a_file_of_a_newer_harness_is_told(sampled: Run, store: Path) -> None:
    add(store, sampled)
    with sqlite3.connect(store) as newer:
        newer.execute(f"PRAGMA user_version = {history_file.VERSION + 1}")
    with pytest.raises(PathProblem, match=r"newer harness \(version 2, this one knows 1\)"):
        names(store)


def test_without_a_file_no_run_is_kept(store: Path) -> None:
    with pytest.raises(PathProblem, match="no run is kept yet"):
        names(store)


def test_a_folder_in_its_place_is_told(sampled: Run, store: Path) -> None:
    store.mkdir(parents=True)
    with pytest.raises(FileProblem, match="unable to open"):
        add(store, sampled)


def test_a_broken_record_is_told(sampled: Run, store: Path, tmp_path: Path) -> None:
    add(store, sampled)
    with sqlite3.connect(store) as raw:
        raw.execute("UPDATE record SET content = x'00'")
    with pytest.raises(PathProblem, match="is broken"), history_store.opened(store) as found:
        found.restore(found.runs()[0], tmp_path / "again")
    assert not (tmp_path / "again" / run_info.INFO).exists()


def test_who_waits_for_too_long_is_told(
    sampled: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, sampled)
    monkeypatch.setattr(history_file, "PATIENCE_S", 0)
    with (
        history_file.opened(store) as held,
        history_file.changing(held),
        pytest.raises(EnvironmentProblem, match="another harness writes"),
    ):
        add(store, sampled)


def test_texts_that_only_explain_a_scenario_do_not_count(sampled: Run, store: Path) -> None:
    text = "about: one\n  more of it\ntable:\n  key: id\n"
    told = {each.id: text for each in sampled.info.variants}
    first = replace(sampled, info=replace(sampled.info, scenarios=told, id="a"))
    other = {id_: text.replace("one", "two").replace("  more of it\n", "") for id_ in told}
    changed = {id_: text.replace("key: id", "key: k") for id_ in told}
    add(store, *(
        replace(first, info=replace(first.info, scenarios=each, id=name))
        for name, each in (("a", told), ("b", other), ("c", changed))
    ))  # fmt: skip
    with history_store.opened(store) as found:
        a, b, c = (found.run(name).info.scenarios for name in "abc")
    assert a == b != c


def test_digests_fit_into_the_file() -> None:
    numbers = [digest_number(str(each)) for each in range(1000)]
    assert all(-(2**63) <= each < 2**63 for each in numbers)
    assert len(set(numbers)) == 1000
    assert digest_number("") == 0


def test_the_plan_that_is_kept_has_no_cells(sampled: Run, store: Path) -> None:
    add(store, sampled)
    with history_store.opened(store) as found:
        (kept,) = found.runs()
    assert kept.info.cells == ()
    assert kept.info.variants == sampled.info.variants
    assert run_info.read_info(sampled.folder).cells == sampled.info.cells
