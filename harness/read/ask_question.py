"""Asking one question over an open connection: rows, or a refusal and each column asked alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.core import refusals
from harness.core.records import Answer, Attempt, Part, Refusal
from harness.engines import time_travel
from harness.engines.api import Connection, Engine, NoAnswerError, RefusedError, Reply
from harness.model.query import ALL
from harness.read.questions import Asked

TIMEOUT_S: Final = 120.0
"""After so long a query counts as unanswered."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How servers of an engine are asked."""

    connections: int
    """So many ask one server at once."""
    timeout_s: float = TIMEOUT_S
    """After so long a query counts as unanswered."""
    stands: Callable[[], bool] = lambda: True
    """Tells whether what every server needs (the metastore) answers."""
    more: Callable[[], Sequence[Asked]] = tuple
    """Gives further questions once there are some; none when no more come."""


def answer(
    connection: Connection,
    asked: Asked,
    engine: Engine,
    manner: Manner,
    attempts: tuple[Attempt, ...],
) -> Answer:
    """Ask one question; `attempts`: the tries at it before.

    Raises:
        NoAnswerError: there is no answer, or none that is about the question; at the first try
            also what may be owed to the moment.

    """
    case = asked.cell.case
    try:
        reply = _ask(connection, asked, asked.sql, manner)
    except RefusedError as refused:
        parts = _parts(connection, asked, engine, manner)
        _check_stands(manner, refused)
        _check_lasts([refused.refusal, *(part.refusal for part in parts)], attempts)
        return Answer(
            case, asked.told, refusal=refused.refusal, parts=parts, attempts=attempts,
            seconds=refused.seconds, question=asked.question.query,
        )  # fmt: skip
    return Answer(
        case, asked.told, reply.columns, reply.rows, attempts=attempts, seconds=reply.seconds,
        confirmed=reply.confirmed, question=asked.question.query, normalised=reply.normalised,
        raw=reply.raw,
    )  # fmt: skip


def _parts(
    connection: Connection, asked: Asked, engine: Engine, manner: Manner
) -> tuple[Part, ...]:
    """Ask each column alone, so that one bad column does not hide the rest.

    Each is asked with the key column. Where that is refused by itself, there is nothing to be had
    of the others: they are not sent, which in runs with many refusals was four questions in ten.
    """
    if asked.question.query != ALL:
        return ()
    parts: dict[str, Part] = {}
    for column in sorted(asked.columns, key=lambda name: name != asked.key):
        key = parts.get(asked.key)
        if key is not None and key.refusal:
            parts[column] = Part(column, "", refusal=key.refusal)
        else:
            parts[column] = _alone(connection, asked, column, engine, manner)
    return tuple(parts[column] for column in asked.columns)


def _alone(
    connection: Connection, asked: Asked, column: str, engine: Engine, manner: Manner
) -> Part:
    sql = time_travel.sql(engine, asked.alone(column), dict(asked.reader.settings))
    try:
        reply = _ask(connection, asked, sql, manner)
    except RefusedError as refused:
        _check_machine(refused)
        return Part(column, sql, refusal=refused.refusal)
    return Part(column, sql, reply.columns, reply.rows, normalised=reply.normalised, raw=reply.raw)


def _ask(connection: Connection, asked: Asked, sql: str, manner: Manner) -> Reply:
    """Return a reply with those of Hudi's columns that the reader should not find in the table."""
    reply = time_travel.ask(connection, asked.question, sql, manner.timeout_s)
    odd = [each for each in reply.left_out if each[0].name not in asked.meta]
    if not odd:
        return reply
    columns = (*reply.columns, *(column for column, _ in odd))
    more = zip(*(values for _, values in odd), strict=True)
    rows = tuple((*row, *added) for row, added in zip(reply.rows, more, strict=True))
    return replace(reply, columns=columns, rows=rows)


def _check_stands(manner: Manner, refused: RefusedError) -> None:
    """Take a refusal for silence when it may well be about the metastore and not the query."""
    _check_machine(refused)
    if not manner.stands():
        raise NoAnswerError(f"the metastore does not answer; the server said: {refused}")


def _check_machine(refused: RefusedError) -> None:
    """Take an error that a full disk or the like brought about for no answer: it is no refusal."""
    if why := refusals.of_machine(refused.refusal):
        raise NoAnswerError(f"{why}; the server said: {refused}")


def _check_lasts(refusals_: Iterable[Refusal | None], attempts: Sequence[Attempt]) -> None:
    """Take for no answer what may be owed to the moment, unless it comes a second time."""
    if attempts:
        return
    for each in refusals_:
        if each is not None and refusals.by_chance(each):
            raise NoAnswerError(f"this may be owed to the moment: {refusals.text(each)}")
