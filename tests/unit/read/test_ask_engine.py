"""Asking a server: every question at most twice, deaths survived, nothing unknown kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.concurrency import ClosableQueue, JobThreads
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.records import Answer, Column, Refusal
from harness.engines.api import NoAnswerError, Question, RefusedError, Reply
from harness.formats import facts
from harness.model.query import Query
from harness.read.ask_engine import ReplaceableServer
from harness.read.questions import CellQuestion, Response
from harness.read.reader_servers import EngineServer
from harness.runtime.process import EndedProblem
from harness.scenario.cells import Cell, Reader

BROKEN = RefusedError(Refusal("GENERIC_INTERNAL_ERROR", "broken"), 0.1)
NAMED = "_hoodie_file_name"
GOOD = Reply((Column("id", "varchar", "string"),), (("1",),), 0.1)


@dataclass
class SimulatedServer:
    """Answers from a script: for each query its replies in turn, the last one again and again."""

    script: dict[str, list[Any]]
    up: bool = True
    hangs: bool = False
    bears: int = 1000
    """So many queries use it up."""
    sent: list[str] = field(default_factory=list)

    def connect(self, settings: object) -> SimulatedServer:
        if not self.up:
            raise NoAnswerError("connection refused")
        if self.hangs:
            threading.Event().wait()
        return self

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        text = text_of(question)
        self.sent.append(text)
        replies = self.script[text]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if reply == "die":
            self.up = False
            raise NoAnswerError("connection lost")
        if reply == "hang":
            self.hangs = True
            raise NoAnswerError("no answer within 120 s")
        if isinstance(reply, Exception):
            raise reply
        assert isinstance(reply, Reply)
        return replace(reply, sent=text)

    def alive(self) -> bool:
        return self.up

    def exhausted(self) -> bool:
        return len(self.sent) >= self.bears

    def log_tail(self) -> str:
        return "the end of the log"

    def peak_memory_mb(self) -> int:
        return 7

    def close(self) -> None:
        pass


def text_of(question: Question) -> str:
    """Return what scripts call a question: its columns, or the table that it is about."""
    return "+".join(question.query.columns) or question.table


def engine() -> Any:  # noqa: ANN401 - a simulated engine
    return SimpleNamespace(statements=lambda distribution, settings, question: (text_of(question),))


def asked(text: str, columns: tuple[str, ...] = ("id", "f1")) -> CellQuestion:
    reader, cell = Reader("trino-476"), Cell("v", 1, "r", "snapshot", text)
    question = Question("db", text, facts("hudi-cow"), Query())
    return CellQuestion(cell, reader, SimpleNamespace(), question, text, text, "id", columns)  # type: ignore[arg-type]


@contextmanager
def reader(
    make: Callable[[int], SimulatedServer],
    *,
    connections: int = 2,
    timeout_s: float = 120.0,
    stands: Callable[[], bool] = lambda: True,
) -> Iterator[tuple[ReplaceableServer, list[SimulatedServer | None]]]:
    """Yield what asks an engine, and the servers that `make` gave by their number.

    `stands`: whether the metastore answers.
    """
    servers: list[SimulatedServer | None] = []
    shared: Any = SimpleNamespace(
        answers=lambda _: stands(), context=SimpleNamespace(progress=Progress())
    )

    @contextmanager
    def serve() -> Iterator[EngineServer]:
        servers.append(None)
        server = servers[-1] = make(len(servers))
        yield EngineServer(server, engine(), timeout_s, SimpleNamespace(), shared)  # type: ignore[arg-type]

    start: Any = SimpleNamespace(name="x", shared=shared, threads=JobThreads(1), serve=serve)
    with ReplaceableServer(start, ClosableQueue[Response](), connections) as replaceable_server:
        yield replaceable_server, servers


def ask(
    script: dict[str, list[Any]],
    questions: list[CellQuestion],
    **how: Any,  # noqa: ANN401
) -> tuple[dict[str, Answer], int]:
    with reader(lambda _: SimulatedServer(script), **how) as (server, servers):
        result = server.ask(questions)
    return {question.text: result[question.cell.case] for question in questions}, len(servers)


def test_a_refusal_is_an_answer_and_each_column_is_asked_alone() -> None:
    result, _ = ask({"q": [BROKEN], "id": [GOOD], "id+f1": [BROKEN]}, [asked("q")])
    assert result["q"].refusal == BROKEN.refusal
    assert not result["q"].unknown
    assert [part.refusal for part in result["q"].parts] == [None, BROKEN.refusal]
    assert result["q"].parts[0].rows == (("1",),)


def test_where_the_key_alone_is_refused_the_others_are_not_sent() -> None:
    columns = ("f1", "id", "f2")
    result, _ = ask({"q": [BROKEN], "id": [BROKEN]}, [asked("q", columns)])
    parts = result["q"].parts
    assert [part.column for part in parts] == list(columns)
    assert [part.sql for part in parts] == ["", "id", ""]
    assert all(part.refusal == BROKEN.refusal for part in parts)


@pytest.mark.parametrize(
    ("expected", "names"), [((NAMED,), ["f1"]), ((), ["f1", NAMED]), (("other",), ["f1", NAMED])]
)
def test_hudi_s_columns_are_left_out_only_where_the_reader_should_find_them(
    expected: tuple[str, ...], names: list[str]
) -> None:
    meta = ((Column(NAMED, "varchar", "string"), ("a.parquet", "b.parquet")),)
    column = Column("f1", "varchar", "string")
    shown = Reply((column,), (("x",), ("y",)), 0.1, left_out=meta)
    script: dict[str, list[Any]] = {"q": [shown], "r": [BROKEN], "id": [GOOD], "id+f1": [shown]}
    questions = [replace(asked(text), meta=frozenset(expected)) for text in ("q", "r")]
    result, _ = ask(script, questions)
    for answer in (result["q"], result["r"].parts[1]):
        assert [column.name for column in answer.columns] == names
        assert answer.rows == (("x", "a.parquet")[: len(names)], ("y", "b.parquet")[: len(names)])


def test_silence_is_asked_once_more_and_both_attempts_are_recorded() -> None:
    result, _ = ask({"q": [NoAnswerError("time-out"), GOOD]}, [asked("q")])
    assert result["q"].rows == (("1",),)
    assert [attempt.what for attempt in result["q"].attempts] == ["time-out"]


def test_silence_twice_is_unknown_with_the_end_of_the_log() -> None:
    result, _ = ask({"q": [NoAnswerError("time-out")]}, [asked("q")])
    assert result["q"].unknown == "time-out"
    assert [attempt.log for attempt in result["q"].attempts] == ["the end of the log"] * 2
    assert result["q"].refusal is None


def test_a_query_that_kills_the_server_does_not_take_the_others_with_it() -> None:
    questions = [asked("killer"), *(asked(f"q{number}") for number in range(10))]
    script: dict[str, list[Any]] = {question.text: [GOOD] for question in questions}
    script["killer"] = ["die"]
    result, servers = ask(script, questions)
    assert servers >= 2
    assert result["killer"].unknown == "connection lost"
    assert all(result[f"q{number}"].rows for number in range(10))


def test_a_server_that_dies_as_soon_as_it_is_ready_is_not_started_for_ever() -> None:
    with reader(lambda _: SimulatedServer({}, up=False)) as (server, servers):
        (answer,) = server.ask([asked("q")]).values()
    assert answer.unknown == "x: it died before it was asked:\nthe end of the log"
    assert answer.attempts == ()
    assert len(servers) == 2


NOT_READY = [EndedProblem("it ended before it was ready"), EnvironmentProblem("not ready in 240 s")]


@pytest.mark.parametrize("problem", NOT_READY, ids=["ended", "late"])
@pytest.mark.parametrize("failing", [1, 2])
def test_a_server_that_does_not_get_ready_is_started_once_more_and_then_given_up(
    problem: EnvironmentProblem, failing: int
) -> None:
    def make(number: int) -> SimulatedServer:
        if number <= failing:
            raise problem
        return SimulatedServer({"q": [GOOD], "later": [GOOD]})

    with reader(make) as (server, servers):
        for sql in ("q", "later"):
            (answer,) = server.ask([asked(sql)]).values()
            assert answer.rows == (() if failing > 1 else GOOD.rows)
            assert answer.unknown == (f"x: {problem}" if failing > 1 else "")
            assert answer.attempts == ()
    assert len(servers) == 2


def test_a_server_that_hangs_is_left_and_the_others_are_asked_of_the_next_one() -> None:
    questions = [asked(f"q{number}") for number in range(10)]
    script: dict[str, list[Any]] = {question.text: [GOOD] for question in questions}
    script["q0"] = ["hang", GOOD]
    result, servers = ask(script, questions, connections=1, timeout_s=0.05)
    assert servers == 2
    assert all(answer.rows for answer in result.values())
    assert [attempt.what for attempt in result["q0"].attempts] == ["no answer within 120 s"]
    assert all(not result[f"q{number}"].attempts for number in range(1, 10))


def test_a_refusal_while_the_metastore_is_gone_is_no_answer() -> None:
    stands = iter([False, False])
    result, servers = ask(
        {"q": [BROKEN], "id": [GOOD], "id+f1": [BROKEN]},
        [asked("q")],
        connections=1,
        stands=lambda: next(stands, True),
    )
    assert servers == 2
    assert result["q"].refusal == BROKEN.refusal
    (attempt,) = result["q"].attempts
    assert "the metastore does not answer; the server said:" in attempt.what


@pytest.mark.parametrize(
    "script",
    [
        {"q": [RefusedError(Refusal("java.io.IOException", "x: No space left on device"), 0.1)]},
        {
            "q": [BROKEN],
            "id": [GOOD],
            "id+f1": [RefusedError(Refusal("X", "y", cause="java.lang.OutOfMemoryError: heap"), 0)],
        },
    ],
    ids=["the whole", "a column alone"],
)
def test_what_a_full_disk_or_too_little_memory_makes_an_engine_say_is_no_refusal(
    script: dict[str, list[Any]],
) -> None:
    script = {sql: list(replies) for sql, replies in script.items()} | {"id": [GOOD]}
    script.setdefault("id+f1", [GOOD])
    result, _ = ask(script, [asked("q")])
    assert "this machine has too little for it: " in result["q"].unknown
    assert result["q"].refusal is None
    assert len(result["q"].attempts) == 2


def test_of_a_server_that_dies_while_it_waits_nothing_is_lost() -> None:
    batches = [["a", "b"], ["c", "d"], ["e"]]
    script: dict[str, list[Any]] = {statement: [GOOD] for batch in batches for statement in batch}
    answers: list[Answer] = []
    with reader(lambda _: SimulatedServer(script)) as (server, servers):
        for batch in batches:
            if servers and servers[-1]:
                servers[-1].up = False
            answers += server.ask(list(map(asked, batch))).values()
    assert sorted(answer.sql for answer in answers) == ["a", "b", "c", "d", "e"]
    assert not any(answer.attempts for answer in answers)
    assert len(servers) == 3


def test_a_server_that_has_used_itself_up_is_replaced_and_no_try_is_lost() -> None:
    questions = [asked(f"q{number}") for number in range(8)]
    script: dict[str, list[Any]] = {question.text: [GOOD] for question in questions}
    with reader(lambda _: SimulatedServer(script, bears=3), connections=1) as (server, servers):
        answers = list(server.ask(questions).values())
    assert [len(server.sent) for server in servers if server] == [3, 3, 2]
    assert sorted(answer.sql for answer in answers) == sorted(
        question.text for question in questions
    )
    assert not any(answer.attempts or answer.unknown for answer in answers)


DEEP = RefusedError(Refusal("X", "Internal error", cause="java.lang.StackOverflowError: None"), 0.1)


@pytest.mark.parametrize(
    "script",
    [
        {"q": [DEEP, GOOD], "id": [GOOD], "id+f1": [GOOD]},
        {"q": [BROKEN, GOOD], "id": [GOOD], "id+f1": [DEEP]},
    ],
    ids=["the whole", "a column alone"],
)
def test_an_error_that_may_be_owed_to_the_moment_is_asked_once_more(
    script: dict[str, list[Any]],
) -> None:
    result, servers = ask(script, [asked("q")])
    assert servers == 1
    assert result["q"].rows == GOOD.rows
    (attempt,) = result["q"].attempts
    assert "StackOverflowError" in attempt.what


def test_an_error_of_the_moment_that_comes_again_is_a_refusal_and_both_are_recorded() -> None:
    result, _ = ask({"q": [DEEP], "id": [DEEP]}, [asked("q")])
    assert result["q"].refusal == DEEP.refusal
    assert not result["q"].unknown
    assert len(result["q"].attempts) == 1


INTERNAL = RefusedError(Refusal("INTERNAL_SERVER_ERROR", "a.B: no", "500"), 0.1)
SILENT = NoAnswerError("no answer within 120 s")


@pytest.mark.parametrize("replies", [[INTERNAL, SILENT], [SILENT, INTERNAL], [DEEP, INTERNAL]])
def test_an_error_of_the_moment_that_does_not_come_again_is_no_refusal(replies: list[Any]) -> None:
    result, _ = ask({"q": replies, "id": [GOOD], "id+f1": [GOOD]}, [asked("q")])
    assert result["q"].refusal is None
    assert result["q"].unknown
    assert len(result["q"].attempts) == 2
