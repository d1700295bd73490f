from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.core.progress import Count
from harness.core.records import Answer, Column, Refusal, VerdictKind
from harness.engines.api import Question
from harness.formats import facts
from harness.model.query import Query
from harness.read.answer_cache import AnswerCache
from harness.read.answer_sink import CHANGED, Keeper
from harness.read.questions import Asked
from harness.scenario.cells import Cell, Reader
from harness.write import table_state
from harness.write.table_state import State


@pytest.fixture
def state(tmp_path: Path) -> State:
    folder = tmp_path / "state"
    (folder / table_state.TABLE).mkdir(parents=True)
    (folder / table_state.TABLE / "file").write_text("1")
    return State("d" * 64, folder, SimpleNamespace(home=""))  # type: ignore[arg-type]


def asked(number: int, state: State) -> tuple[Asked, Answer]:
    cell = Cell("v", number, "r", "snapshot", "all")
    question = Question("db", "t", facts("hudi-cow"), Query())
    sql = f"q{number}"
    each = Asked(cell, Reader("r"), state, question, sql, f"{number:02}", "id", ("id",))
    return each, Answer(cell.case, sql, (Column("id", "int"),), ((1,),))


def test_answers_are_passed_on_by_the_batch_so_that_a_death_loses_few(
    tmp_path: Path, state: State
) -> None:
    found = list[Answer]()
    keeper = Keeper(AnswerCache(tmp_path / "answers"), found.append, Count("ask", 4), batch=3)
    keeper.watch([state])
    for number in range(4):
        keeper.take(*asked(number, state))
    assert [answer.sql for answer in found] == ["q0", "q1", "q2"]
    keeper.pass_on()
    assert [answer.sql for answer in found] == ["q0", "q1", "q2", "q3"]
    keeper.pass_on()
    assert len(found) == 4


def test_every_cell_is_counted_by_what_came_of_it_at_once(tmp_path: Path, state: State) -> None:
    cells = Count("ask cells", 8)
    keeper = Keeper(AnswerCache(tmp_path / "answers"), lambda _: None, cells)
    keeper.watch([state])
    each, answer = asked(1, state)
    keeper.take(each, answer)
    assert (cells.made, cells.by) == (1, "r")
    keeper.take(each, replace(answer, refusal=Refusal("X", "y")))
    keeper.take(each, replace(answer, unknown="time-out"))
    keeper.tell(replace(answer, reused=True))
    keeper.tell(Answer("v", "", void="no step has written anything yet"))
    assert (cells.left, cells.by) == (3, "r")
    keeper.rest()
    keeper.rest()
    assert cells.left == 0
    counted = {"answered": 1, "refused": 1, "silent": 1, "reused": 1, "not asked": 4}
    assert cells.outcomes == counted


def test_each_answer_is_judged_when_it_is_passed_on_be_it_asked_or_kept(
    tmp_path: Path, state: State
) -> None:
    cells = Count("ask cells", 8)

    def kind_of(answer: Answer) -> VerdictKind | None:
        if answer.void:
            return None
        return VerdictKind.UNKNOWN if answer.unknown else VerdictKind.WRONG

    keeper = Keeper(AnswerCache(tmp_path / "answers"), lambda _: None, cells, kind_of, batch=2)
    keeper.watch([state])
    keeper.take(*asked(1, state))
    assert cells.judged == {}, "its files may have changed"
    keeper.take(*asked(2, state))
    assert cells.judged == {"wrong": 2}
    keeper.tell(replace(asked(3, state)[1], reused=True))
    keeper.tell(Answer("v", "", void="no step has written anything yet"))
    assert cells.judged == {"wrong": 3}
    (state.table / "file").write_text("other")
    keeper.take(*asked(4, state))
    keeper.pass_on()
    assert cells.judged == {"wrong": 3, "unknown": 1}, "as it is recorded"


def test_a_state_that_comes_again_is_compared_with_how_it_was_before_anybody_read_it(
    tmp_path: Path, state: State
) -> None:
    found: list[Answer] = []
    keeper = Keeper(AnswerCache(tmp_path / "answers"), found.append, Count("ask", 2))
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
    keeper = Keeper(kept, found.append, Count("ask", 2))
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
