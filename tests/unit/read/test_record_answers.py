"""A question asked again of a fresh server: alike or not, and what is kept for later runs."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.core import jsonl
from harness.core.concurrency import ClosableQueue
from harness.core.progress import Count
from harness.core.records import Answer, Attempt, Column, Part, Refusal
from harness.engines.api import Question
from harness.formats import facts
from harness.model.query import Query
from harness.read import read_states
from harness.read.questions import CellQuestion, Response
from harness.read.read_states import CHANGED, AnswerCache, record_of_both, same_answer
from harness.scenario.cells import Cell, Reader
from harness.write import state_store
from harness.write.state_store import State


@pytest.fixture
def state(tmp_path: Path) -> State:
    folder = tmp_path / "state"
    (folder / state_store.TABLE).mkdir(parents=True)
    (folder / state_store.TABLE / "file").write_text("1")
    return State("d" * 64, folder, SimpleNamespace(home=""))  # type: ignore[arg-type]


def asked(number: int, state: State) -> tuple[CellQuestion, Answer]:
    cell = Cell("v", number, "r", "snapshot", "all")
    question = Question("db", "t", facts("hudi-cow"), Query())
    sql, files = f"q{number}", state_store.file_list(state)
    cell_question = CellQuestion(
        cell, Reader("r"), state, question, sql, f"{number:02}", "id", ("id",), files=files
    )
    return cell_question, Answer(cell.case, sql, (Column("id", "int"),), ((1,),))


def came(number: int, state: State) -> Response:
    question, answer = asked(number, state)
    return Response(answer, question)


def recorded(
    responses: list[Response], folder: Path, cells: Count | None = None
) -> tuple[list[Answer], AnswerCache]:
    """Return what is passed on of responses that come at once, and the answers that are kept."""
    queue, answers = ClosableQueue[Response](), AnswerCache(folder / "answers")
    queue.put_all(responses)
    queue.close()
    return list(read_states.record(queue, answers, cells or Count("ask", 9))), answers


def test_every_cell_is_counted_by_what_came_of_it_at_once(tmp_path: Path, state: State) -> None:
    cells = Count("ask queries", 8)
    question, answer = asked(1, state)
    others = (replace(answer, refusal=Refusal("X", "y")), replace(answer, unknown="time-out"))
    there = (replace(answer, reused=True), Answer("v", "", not_applicable="nothing is written"))
    queue = ClosableQueue[Response]()
    queue.put_all(Response(other, question) for other in (answer, *others))
    passed = read_states.record(queue, AnswerCache(tmp_path / "answers"), cells)
    next(passed)
    assert (cells.made, cells.by) == (3, "r"), "before they are passed on"
    queue.put_all(map(Response, there))
    queue.close()
    assert len(list(passed)) == 4
    assert (cells.left, cells.by) == (3, "r")
    counted = {"answered": 1, "refused": 1, "silent": 1, "reused": 1, "not asked": 1}
    assert cells.outcomes == counted


def test_an_answer_from_files_that_changed_is_unknown_and_never_kept(
    tmp_path: Path, state: State
) -> None:
    first, second = came(1, state), came(2, state)
    (before,), answers = recorded([first], tmp_path)
    (state.table / "file").write_text("other")
    (after,), _ = recorded([second], tmp_path)
    assert (before.unknown, after.unknown) == ("", CHANGED)
    assert after.rows == ()
    assert answers.find("01", "x") is not None
    assert answers.find("02", "x") is None


def recorded_again(again: Answer, folder: Path, state: State) -> tuple[Answer, Answer | None]:
    """Return what is recorded of a first answer that was kept, and what is kept afterwards."""
    question, first = asked(1, state)
    answers, responses = AnswerCache(folder / "answers"), ClosableQueue[Response]()
    answers.store(question.address, first)
    responses.put_all([Response(replace(again, case=first.case), question)])
    responses.close()
    cells = {first.case: first}
    (result,) = read_states.record(responses, answers, Count("ask again", 1), cells)
    return result, answers.find(question.address, first.case)


def test_an_answer_that_came_again_is_kept_as_such(tmp_path: Path, state: State) -> None:
    _, first = asked(1, state)
    answer, cached = recorded_again(replace(first, seconds=7.0), tmp_path, state)
    assert (answer.again, answer.earlier) == (True, None)
    assert cached is not None
    assert cached.again


def test_of_two_answers_that_differ_none_is_kept(tmp_path: Path, state: State) -> None:
    _, first = asked(1, state)
    answer, cached = recorded_again(replace(first, rows=((2,),)), tmp_path, state)
    assert answer.earlier is not None
    assert answer.earlier.rows == first.rows
    assert cached is None


def test_without_a_second_answer_the_first_one_is_asked_for_again_later(
    tmp_path: Path, state: State
) -> None:
    _, first = asked(1, state)
    again = Answer("", "q", unknown="x", attempts=(Attempt("y"),))
    answer, cached = recorded_again(again, tmp_path, state)
    assert answer == first
    assert cached is not None
    assert not cached.again


FIRST = Answer(
    "c",
    "q",
    (Column("id", "string", "string"), Column("n", "int", "int")),
    (("1", 1), ("2", None)),
    seconds=1.0,
)
OTHER = replace(FIRST, rows=(("1", 1), ("2", 0)))


@pytest.mark.parametrize(
    "again",
    [
        replace(FIRST, seconds=2.0, sql="q2"),
        replace(FIRST, rows=FIRST.rows[::-1]),
        replace(FIRST, columns=FIRST.columns[::-1], rows=tuple(row[::-1] for row in FIRST.rows)),
    ],
    ids=["time", "order of rows", "order of columns"],
)
def test_answers_of_one_content_are_the_same(again: Answer) -> None:
    assert same_answer(again, FIRST)
    assert record_of_both(again, FIRST) == replace(again, again=True)


@pytest.mark.parametrize(
    "again",
    [
        OTHER,
        replace(FIRST, rows=FIRST.rows[:1]),
        replace(FIRST, rows=(*FIRST.rows, FIRST.rows[0])),
        replace(FIRST, rows=(("1", 1.0), ("2", None))),
        replace(FIRST, columns=(FIRST.columns[0], Column("m", "int", "int"))),
        Answer("c", "q", refusal=Refusal("K", "m")),
    ],
    ids=["a value", "a row less", "a row twice", "a type", "a name", "a refusal"],
)
def test_another_answer_has_the_first_one_with_it_and_both_are_recorded(again: Answer) -> None:
    answer = record_of_both(again, FIRST)
    assert (answer.again, answer.earlier) == (True, replace(FIRST, case="", sql=""))
    assert replace(answer, again=False, earlier=None) == again
    assert jsonl.parse(Answer, jsonl.dump(answer)) == answer


ANSWER = Answer("a", "q", (Column("id", "varchar", "string"),), (("1",),))


def test_an_answer_is_found_again_but_never_an_unknown_or_flaky_one(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    cache.store("aa01", ANSWER)
    cache.store("aa02", Answer("b", "q", unknown="time-out"))
    tries = (Attempt("connection lost"),)
    cache.store("aa03", Answer("c", "q", ANSWER.columns, ANSWER.rows, attempts=tries))
    column = Part("f1", "q", unknown="time-out")
    cache.store("aa04", Answer("d", "q", refusal=Refusal("X", "broken"), parts=(column,)))
    result = cache.find("aa01", "other case")
    assert result is not None
    assert (result.case, result.rows, result.reused) == ("other case", (("1",),), True)
    assert [cache.find(f"aa0{number}", "x") for number in (2, 3, 4, 5)] == [None] * 4


def test_an_answer_that_the_disk_did_not_get_whole_is_asked_again(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    cache.store("01", ANSWER)
    (path,) = tmp_path.glob("01/*.json")
    path.write_bytes(path.read_bytes()[:20])
    assert cache.find("01", "x") is None
    assert not list(tmp_path.glob("parts/*"))
