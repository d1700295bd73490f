"""The texts of an answer: all that is judged of it, and how the engine itself wrote a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from harness.core.records import Answer, Column, Finding, Part, labelled
from harness.model.canonical import Value, text_of
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


_At = TypeVar("_At")


def quoted(findings: Sequence[Finding], answer: Answer, key: str) -> tuple[Finding, ...]:
    """Return the findings with the engine's own texts; `key`: the name of the key column.

    Answers of one content have the same findings, however they were written.
    """
    texts = _unambiguous(_engine_texts(answer, key)) if findings else {}
    if not texts:
        return tuple(findings)
    differences = (difference for finding in findings for difference in finding.places)
    shown = _unambiguous(
        (witness.key, text_of(witness.actual)) for witness in differences if witness.column == key
    )
    return tuple(_quoted(finding, texts, shown, key) for finding in findings)


def _unambiguous(texts: Iterable[tuple[_At, str]]) -> dict[_At, str]:
    """Return the texts that stand alone: several parts may show a key, each with another text."""
    result: dict[_At, set[str]] = {}
    for at, text in texts:
        result.setdefault(at, set()).add(text)
    return {at: several.pop() for at, several in result.items() if len(several) == 1}


def _engine_texts(answer: Answer, key: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the texts by the key that the row shows, where no other row shows it, and the column.

    Of a column that is there twice it is the first one that is looked at.
    """
    asked: tuple[Answer | Part, ...] = (answer, *answer.parts)
    for part in asked:
        columns = labelled(answer.question, part.columns) if part is answer else part.columns
        names = [column.name for column in columns]
        if not part.raw or key not in names:
            continue
        keys = [text_of(row[names.index(key)]) for row in part.rows]
        times = Counter(keys)
        for row, column, text in part.raw:
            if times[keys[row]] == 1 and names.index(names[column]) == column:
                yield (keys[row], names[column]), text


def _quoted(
    finding: Finding, texts: Mapping[tuple[str, str], str], shown: Mapping[str, str], key: str
) -> Finding:
    """Return a finding with the texts; `shown`: what rows whose key is wrong show instead of it."""
    differences = []
    for witness in finding.places:
        row = (
            text_of(witness.actual)
            if witness.column == key
            else shown.get(witness.key, witness.key)
        )
        text = _text(texts, row, witness.column)
        differences.append(replace(witness, raw=text) if text else witness)
    return replace(finding, witness=differences[0], places=tuple(differences))


def _text(texts: Mapping[tuple[str, str], str], key: str, column: str) -> str:
    """Return the text of the cell that a place is in: that of the whole for a part of a value."""
    ends = [at for at, letter in enumerate(column) if letter in {".", "["}]
    cells = ((key, column[:end]) for end in (len(column), *reversed(ends)))
    return next((texts[cell] for cell in cells if cell in texts), "")


def content(answer: Answer) -> Hashable:
    """Return all of an answer that is judged, as texts: 1, 1.0 and true are not the same.

    The order of rows is no part of it.
    """
    parts = [
        (part.column, _heads(part.columns), _texts(part.rows), answered(part))
        for part in answer.parts
    ]
    texts = _heads(answer.columns), _texts(answer.rows), parts
    return answer.refusal is None, repr(texts)


def _texts(rows: Sequence[tuple[Value, ...]]) -> list[str]:
    return sorted(map(repr, rows))


def _heads(columns: Sequence[Column]) -> list[tuple[str, str]]:
    # The engine's own word for a type counts only where it has none in our words.
    return [(column.name, column.canonical or f"engine's {column.type}") for column in columns]
