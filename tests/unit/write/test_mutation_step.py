"""A step that a program of Hive's Mutation API does: what it is told, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import pytest

from harness.core.errors import HarnessError
from harness.core.records import Refusal
from harness.engines.api import Connection, NoAnswerError, RefusedError, Reply
from harness.runtime.hive_mutation import MutationProgram
from harness.runtime.process import ProcessProblem
from harness.scenario.statements import Mutation
from harness.write import send_step
from harness.write.writer_pool import SqlSession

BATCH = Mutation(
    (("id", "string"), ("n", "int")),
    "id",
    (
        {"do": "update", "partition": [], "row": {"id": "1", "n": 2}},
        {"do": "insert", "partition": [], "row": {"id": "9", "n": 3}},
    ),
)
ROWS = (('{"writeid":2,"bucketid":536870912,"rowid":5}', "1"), (None, "7"))
MOVED = Refusal("BucketIdException", "no")


@dataclass
class Asked:
    """A server that says which rows there are."""

    rows: tuple[tuple[str | None, str], ...] = ROWS[:1]

    def run(self, sql: str, *, timeout_s: float) -> Reply:
        assert sql == "select ROW__ID, `id` from db.t order by `id`"
        assert timeout_s == 1
        return Reply((), self.rows, 0.1)


@dataclass
class Program:
    """A program that is told of a batch."""

    answer: Refusal | Exception | None = None
    told: list[Mapping[str, object]] = field(default_factory=list)

    def run(self, request: Mapping[str, object], timeout_s: float) -> Refusal | None:
        assert timeout_s == 1
        self.told.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def send(program: Program | None, asked: Asked | None = None) -> None:
    connection = cast("Connection", asked or Asked())
    session = SqlSession(connection, cast("MutationProgram | None", program))
    send_step.send_batch(BATCH, session, "db", 1)


def test_rows_that_are_there_are_sent_by_their_identifiers() -> None:
    program = Program()
    send(program)
    (request,) = program.told
    assert request["rows"] == [
        {"do": "update", "partition": [], "row": {"id": "1", "n": 2}, "id": [2, 536870912, 5]},
        {"do": "insert", "partition": [], "row": {"id": "9", "n": 3}, "id": None},
    ]
    assert {**request, "rows": 0} == {
        "database": "db",
        "table": "t",
        "columns": ["id", "n"],
        "types": ["string", "int"],
        "buckets_by": [0],
        "rows": 0,
        "ends": "commit",
    }


def test_what_the_library_throws_is_a_refusal() -> None:
    with pytest.raises(RefusedError) as thrown:
        send(Program(MOVED))
    assert thrown.value.refusal == MOVED


def test_a_program_that_says_nothing_is_silent_as_is_a_server_without_identifiers() -> None:
    with pytest.raises(NoAnswerError, match="ended and said nothing"):
        send(Program(ProcessProblem("it ended and said nothing")))
    with pytest.raises(NoAnswerError, match="no ROW__ID"):
        send(Program(), Asked(ROWS))


def test_a_writer_without_the_library_is_a_defect_of_the_plan() -> None:
    with pytest.raises(HarnessError, match="names no library"):
        send(None)
