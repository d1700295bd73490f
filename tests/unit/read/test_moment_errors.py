"""Errors that may be owed to the moment are asked once more; the same error again is a refusal."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from tests.unit.read.test_ask_engine import BROKEN, GOOD, ask, asked

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
    found, servers = ask(script, [asked("q")])
    assert servers == 1
    assert found["q"].rows == GOOD.rows
    (attempt,) = found["q"].attempts
    assert "StackOverflowError" in attempt.what


def test_an_error_of_the_moment_that_comes_again_is_a_refusal_and_both_are_recorded() -> None:
    found, _ = ask({"q": [DEEP], "id": [DEEP]}, [asked("q")])
    assert found["q"].refusal == DEEP.refusal
    assert not found["q"].unknown
    assert len(found["q"].attempts) == 1


INTERNAL = RefusedError(Refusal("INTERNAL_SERVER_ERROR", "a.B: no", "500"), 0.1)
SILENT = NoAnswerError("no answer within 120 s")


def test_an_error_of_the_engine_in_itself_that_comes_again_is_a_refusal() -> None:
    found, servers = ask({"q": [INTERNAL], "id": [GOOD], "id+f1": [GOOD]}, [asked("q")])
    assert servers == 1
    assert found["q"].refusal == INTERNAL.refusal
    assert [part.rows for part in found["q"].parts] == [GOOD.rows, GOOD.rows]
    assert len(found["q"].attempts) == 1


@pytest.mark.parametrize("replies", [[INTERNAL, SILENT], [SILENT, INTERNAL], [DEEP, INTERNAL]])
def test_an_error_of_the_moment_that_does_not_come_again_is_no_refusal(replies: list[Any]) -> None:
    found, _ = ask({"q": replies, "id": [GOOD], "id+f1": [GOOD]}, [asked("q")])
    assert found["q"].refusal is None
    assert found["q"].unknown
    assert len(found["q"].attempts) == 2


def test_an_error_of_the_engine_in_itself_before_an_answer_is_one_attempt() -> None:
    found, _ = ask({"q": [INTERNAL, GOOD], "id": [GOOD], "id+f1": [GOOD]}, [asked("q")])
    assert found["q"].rows == GOOD.rows
    (attempt,) = found["q"].attempts
    assert attempt.what.endswith("INTERNAL_SERVER_ERROR (500): a.B: no")
