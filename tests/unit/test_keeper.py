from __future__ import annotations

from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness import table_state
from harness.answer_cache import AnswerCache
from harness.cells import Cell, Reader
from harness.engines.api import Question
from harness.keeper import CHANGED, Keeper
from harness.model.query import Query
from harness.progress import QuietProgress
from harness.questions import Asked
from harness.record import Answer, Column
from harness.table_state import State
from harness.telling import PlainProgress


@pytest.fixture
def state(tmp_path: Path) -> State:
    folder = tmp_path / "state"
    (folder / table_state.TABLE).mkdir(parents=True)
    (folder / table_state.TABLE / "file").write_text("1")
    return State("d" * 64, folder, SimpleNamespace(home=""))  # type: ignore[arg-type]


def asked(number: int, state: State) -> tuple[Asked, Answer]:
    cell = Cell("v", number, "r", "snapshot", "all")
    question = Question("db", "t", "hudi-cow", Query())
    sql = f"q{number}"
    each = Asked(cell, Reader("r"), state, question, sql, f"{number:02}", "id", ("id",))
    return each, Answer(cell.case, sql, (Column("id", "int"),), ((1,),))


def test_answers_are_passed_on_by_the_batch_so_that_a_death_loses_few(
    tmp_path: Path, state: State
) -> None:
    found, out = list[Answer](), StringIO()
    progress = PlainProgress(out)
    keeper = Keeper(AnswerCache(tmp_path / "answers"), found.append, progress, batch=3)
    keeper.count("ask", 4)
    keeper.watch([state])
    for number in range(4):
        keeper.take(*asked(number, state))
    assert [answer.sql for answer in found] == ["q0", "q1", "q2"]
    progress.done()
    assert out.getvalue().splitlines()[-2:] == [
        "ask: 3 of 4 (r): 3 answered",
        "ask: done: 4 answered",
    ]
    keeper.pass_on()
    assert [answer.sql for answer in found] == ["q0", "q1", "q2", "q3"]
    keeper.pass_on()
    assert len(found) == 4


def test_answers_that_come_before_their_number_is_known_are_counted_then(
    tmp_path: Path, state: State
) -> None:
    out = StringIO()
    progress = PlainProgress(out)
    keeper = Keeper(AnswerCache(tmp_path / "answers"), lambda _: None, progress)
    keeper.watch([state])
    keeper.take(*asked(1, state))
    assert out.getvalue() == ""
    keeper.count("ask", 2)
    keeper.take(*asked(2, state))
    progress.done()
    assert out.getvalue().splitlines() == [
        "ask: 0 of 2",
        "ask: 1 of 2 (r): 1 answered",
        "ask: done: 2 answered",
    ]


def test_a_state_that_comes_again_is_compared_with_how_it_was_before_anybody_read_it(
    tmp_path: Path, state: State
) -> None:
    found: list[Answer] = []
    keeper = Keeper(AnswerCache(tmp_path / "answers"), found.append, QuietProgress())
    keeper.watch([state])
    (state.table / "file").write_text("other")
    keeper.watch([state])
    keeper.take(*asked(1, state))
    keeper.pass_on()
    assert [answer.unknown for answer in found] == [CHANGED]


def test_an_answer_from_files_that_changed_is_unknown_and_never_kept(
    tmp_path: Path, state: State
) -> None:
    found: list[Answer] = []
    kept = AnswerCache(tmp_path / "answers")
    keeper = Keeper(kept, found.append, QuietProgress())
    keeper.watch([state])
    keeper.take(*asked(1, state))
    keeper.pass_on()
    (state.table / "file").write_text("other")
    keeper.take(*asked(2, state))
    keeper.pass_on()
    assert [answer.unknown for answer in found] == ["", CHANGED]
    assert found[1].rows == ()
    assert kept.find("01", "x") is not None
    assert kept.find("02", "x") is None


def test_an_answer_that_the_disk_did_not_get_whole_is_asked_again(
    tmp_path: Path, state: State
) -> None:
    kept = AnswerCache(tmp_path)
    each, answer = asked(1, state)
    kept.keep(each.address, answer)
    (path,) = tmp_path.glob("01/*.json")
    path.write_bytes(path.read_bytes()[:20])
    assert kept.find(each.address, "x") is None
    assert not list(tmp_path.glob("parts/*"))
