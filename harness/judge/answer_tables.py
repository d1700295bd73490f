"""The tables of an answer: its rows, or those of each column asked alone after a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.core.records import Answer, Column, Part, labelled
from harness.model.canonical import Value
from harness.model.query import Query


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """A table of an answer."""

    query: Query
    columns: tuple[Column, ...]
    """As they are labelled in the question."""
    rows: Sequence[tuple[Value, ...]]
    whole: bool
    """Whether it is all that was asked for, and not a column asked alone."""

    @property
    def names(self) -> tuple[str, ...]:
        """What its columns are called."""
        return tuple(column.name for column in self.columns)


def tables_of(answer: Answer) -> tuple[AnswerTable, ...]:
    """Return the tables of an answer: one, or one for each part that has rows."""
    if answer.refusal is None:
        columns = tuple(labelled(answer.question, answer.columns))
        return (AnswerTable(answer.question, columns, answer.rows, whole=True),)
    return tuple(map(_of_part, filter(answered, answer.parts)))


def answered(part: Part) -> bool:
    return part.refusal is None and not part.unknown


def _of_part(part: Part) -> AnswerTable:
    query = Query(columns=tuple(column.name for column in part.columns))
    return AnswerTable(query, part.columns, part.rows, whole=False)
