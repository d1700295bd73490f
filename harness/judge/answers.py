"""The texts of an answer: all that is judged of it, and how the engine itself wrote a value."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from harness.core.grouping import grouped
from harness.core.records import Answer, Column, Finding, Part, Witness, labelled
from harness.model.canonical import Value, text_of
from harness.model.query import Query

_At = TypeVar("_At")


@dataclass(frozen=True, slots=True)
class AnswerTable:
    query: Query
    columns: tuple[Column, ...]
    """As they are labelled in the question."""
    rows: Sequence[tuple[Value, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def tables_of(answer: Answer) -> tuple[AnswerTable, ...]:
    """Return the tables of an answer: one, or after a refusal one for each part that has rows."""
    if answer.refusal is None:
        columns = tuple(labelled(answer.question, answer.columns))
        return (AnswerTable(answer.question, columns, answer.rows),)
    return tuple(
        AnswerTable(Query(columns=tuple(c.name for c in part.columns)), part.columns, part.rows)
        for part in answer.parts
        if answered(part)
    )


def answered(part: Part) -> bool:
    return part.refusal is None and not part.unknown


def quoted(findings: Sequence[Finding], answer: Answer, key: str) -> tuple[Finding, ...]:
    """Return the findings with the engine's own texts; `key`: the name of the key column.

    Answers of one content have the same findings, however they were written.
    """
    texts = _unambiguous([*_engine_texts(answer, key)]) if findings else {}
    if not texts:
        return tuple(findings)
    # What rows whose key is wrong show instead of it.
    shown = _unambiguous(
        (witness.key, text_of(witness.actual))
        for finding in findings
        for witness in finding.witnesses
        if witness.column == key
    )

    def with_text(witness: Witness) -> Witness:
        row = shown.get(witness.key, witness.key)
        row = text_of(witness.actual) if witness.column == key else row
        text = _text(texts, row, witness.column)
        return replace(witness, raw=text) if text else witness

    results = []
    for finding in findings:
        with_texts = tuple(map(with_text, finding.witnesses))
        results.append(replace(finding, witness=with_texts[0], witnesses=with_texts))
    return tuple(results)


def _unambiguous(texts: Iterable[tuple[_At, str]]) -> dict[_At, str]:
    """Return the texts that stand alone: several parts may show a key, each with another text."""
    return {at: several[0] for at, several in grouped(texts).items() if len(set(several)) == 1}


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


def _text(texts: Mapping[tuple[str, str], str], key: str, column: str) -> str:
    """Return the text of the cell that a place is in: that of the whole for a part of a value."""
    ends = [at for at, letter in enumerate(column) if letter in {".", "["}]
    cells = ((key, column[:end]) for end in (len(column), *reversed(ends)))
    return next((texts[cell] for cell in cells if cell in texts), "")


def content(answer: Answer) -> Hashable:
    """Return all of an answer that is judged, as texts: 1, 1.0 and true are not the same.

    The order of rows is no part of it.
    """
    shown: tuple[Answer | Part, ...] = (answer, *answer.parts)
    tables = [
        (
            # The engine's own word for a type counts only where it has none in our words.
            [(c.name, c.canonical or f"engine's {c.type}") for c in table.columns],
            sorted(map(repr, table.rows)),
        )
        for table in shown
    ]
    parts = [(part.column, answered(part)) for part in answer.parts]
    return answer.refusal is None, repr((tables, parts))
