"""The history of ten runs of recorded answers says what comparisons of two of them say."""

from collections import Counter
from itertools import pairwise

import pytest

from harness.comparison.cell_pairs import AS_BEFORE, VerdictChange, key_of
from harness.comparison.history import History, history_of, opened
from harness.comparison.result import ComparedSide, compare
from harness.run.load_run import Run
from tests.recorded import ten_runs

NO_TURN = (*AS_BEFORE, VerdictChange.NEW, VerdictChange.GONE, VerdictChange.UNKNOWN)
NOTHING_TURNS_AFTER = ["01", "03", "08"]
Story = set[tuple[object, ...]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, ...]:
    return tuple(ten_runs.make(tmp_path_factory.mktemp("ten")))


@pytest.fixture(scope="module")
def history(runs: tuple[Run, ...], tmp_path_factory: pytest.TempPathFactory) -> History:
    path = tmp_path_factory.mktemp("kept") / "history.sqlite"
    with opened(path, new=True) as store:
        for run in runs:
            store.add(run)
        return history_of(store)


def compared(before: Run, after: Run) -> Story:
    pairs = compare(ComparedSide("a", before), ComparedSide("b", after)).pairs
    return {(*key_of(p.either), p.change) for p in pairs if p.change not in NO_TURN}


def turned(history: History, run: str, before: str) -> Story:
    return {
        (t.cell.variant, t.cell.step, t.cell.reader, t.cell.view, t.cell.query, t.change)
        for t in history.turns
        if t.run.name == run and t.before is not None and t.before.name == before
    }


def test_from_run_to_run_the_history_has_the_turns_of_a_comparison(
    runs: tuple[Run, ...], history: History
) -> None:
    expected = [compared(*pair) for pair in pairwise(runs)]
    names = [run.info.id for run in runs]
    assert [turned(history, new, old) for old, new in pairwise(names)] == expected
    assert [names[at] for at, changes in enumerate(expected) if not changes] == NOTHING_TURNS_AFTER


def test_every_turn_has_one_reader_that_differs(history: History) -> None:
    story = [turn.differs for turn in history.turns if turn.before]
    assert {len(differs) for differs in story} == {1}
    assert all(differs[0].startswith("reader ") for differs in story)
    assert {differs[0] for differs in story} >= {
        "reader trino-368 → trino-476",
        f"reader {ten_runs.TRINO} → {ten_runs.BY_POSITION}",
    }


def test_what_is_not_right_now_is_all_that_the_newest_run_has(history: History) -> None:
    now = Counter(turn.now.verdict for group in history.not_right_now for turn in group)
    counts = history.runs[-1].counts
    assert now == {kind: number for kind, number in counts.items() if kind.is_bad}
