"""Answers that are wrong in a chosen way, with the finding that says so."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.core.records import (
    Answer,
    Column,
    Expected,
    Finding,
    FindingKind,
    Origin,
    Witness,
    labelled,
)
from harness.model.canonical import Value, same, text_of

Row = tuple[Value, ...]
ENGINE_TYPES = {"string": "varchar", "long": "bigint"}


@dataclass(frozen=True, slots=True)
class Answered:
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    finding: Finding | None = None


def spoil(expected: Expected, kind: FindingKind | None) -> Answered:
    """Make the expected table wrong in one way; `None` leaves it right."""
    right = Answered(
        tuple(Column(name, ENGINE_TYPES.get(t, t), t) for name, t in expected.columns),
        expected.rows,
    )
    if kind is None:
        return right
    rows = {
        FindingKind.GHOST_ROW: _ghost,
        FindingKind.LOST_ROW: _lost,
        FindingKind.DUPLICATE: _twice,
    }
    return rows[kind](right) if kind in rows else _cells(right, kind)


def _ghost(right: Answered) -> Answered:
    extra: Row = ("2", *right.rows[0][1:])
    witness = Witness("2", "", None, text_of(extra))
    return replace(right, rows=(*right.rows, extra), finding=_finding("ghost_row", [witness]))


def _lost(right: Answered) -> Answered:
    witness = Witness(right.rows[-1][0], "", right.rows[-1], None)
    return replace(right, rows=right.rows[:-1], finding=_finding("lost_row", [witness]))


def _twice(right: Answered) -> Answered:
    witness = Witness(right.rows[0][0], "", None, text_of(right.rows[0]))
    return replace(
        right, rows=(*right.rows, right.rows[0]), finding=_finding("duplicate", [witness])
    )


def _cells(right: Answered, kind: FindingKind) -> Answered:
    columns = _wrong_columns(right, kind)
    rows, places = [], []
    for row in right.rows:
        result = list(row)
        for at in columns:
            result[at], origin = _wrong(kind, row, right, at)
            name = right.columns[at].name
            places.append(Witness(row[0], name, row[at], result[at], origin, text_of(result[at])))
        rows.append(tuple(result))
    return replace(right, rows=tuple(rows), finding=_finding(kind, places))


def _wrong_columns(right: Answered, kind: FindingKind) -> tuple[int, ...]:
    last = len(right.columns) - 1
    if kind is FindingKind.MISALIGNED:
        return (last - 1, last)
    if kind in {FindingKind.TYPE_DRIFT, FindingKind.ALTERED_VALUE}:
        return (2,)
    renamed = [at for at, column in enumerate(right.columns) if column.name == "f2_new"]
    return (renamed[0],) if renamed else (1,)


def _wrong(kind: FindingKind, row: Row, right: Answered, at: int) -> tuple[Value, Origin | None]:
    last = len(row) - 1
    other = last - 1 if at == last else last
    key, name = str(row[0]), right.columns[at].name
    if kind is FindingKind.MISALIGNED:
        return row[other], Origin(other + 1, right.columns[other].name, 1, key)
    if kind is FindingKind.RESURRECTED:
        return f"f3s1r{key}", Origin(3, name, 1, key)
    if kind is FindingKind.STALE:
        return f"old{key}", Origin(at + 1, name, 1, key)
    if kind is FindingKind.TYPE_DRIFT:
        return float(row[at]), None
    if kind is FindingKind.ALTERED_VALUE:
        return row[at] + 1, None
    if kind is FindingKind.UNEXPLAINED:
        return f"<i>nobody's {key}</i>", None
    return None, None


def _finding(kind: FindingKind | str, places: Sequence[Witness]) -> Finding:
    columns = tuple(dict.fromkeys(witness.column for witness in places if witness.column))
    return Finding(FindingKind(kind), columns, places[0], tuple(places))


CHANGES: Final = (
    "NULL",
    "another row's",
    "another column's",
    "altered",
    "row left out",
    "row twice",
)
"""How one thing of a right answer is changed."""


@dataclass(frozen=True, slots=True)
class Changed:
    answer: Answer
    change: str
    key: str
    column: str
    """Empty where it is a whole row."""


def changed(answer: Answer, key: str, change: str) -> Changed | None:
    """Change one thing, the same each time; None where there is nothing that can be.

    `key`: the name of the key column, which stays as it is: it says which row was changed.
    """
    names = [column.name for column in labelled(answer.question, answer.columns)]
    if key not in names or not answer.rows or answer.question.count:
        return None
    chance = random.Random(f"{answer.case} {change}")  # noqa: S311 - nothing is kept secret
    at = chance.randrange(len(answer.rows))
    row, rows = answer.rows[at], list(answer.rows)
    text = text_of(row[names.index(key)])
    if change.startswith("row"):
        rows[at : at + 1] = [row, row] if change == "row twice" else []
        return Changed(replace(answer, rows=tuple(rows), raw=()), change, text, "")
    others = [
        (column, value)
        for column, name in enumerate(names)
        if name != key
        for value in _instead(answer, key, at, column, change)
        if not same(value, row[column])
    ]
    if not others:
        return None
    column, value = chance.choice(others)
    rows[at] = (*row[:column], value, *row[column + 1 :])
    return Changed(replace(answer, rows=tuple(rows), raw=()), change, text, names[column])


def _instead(answer: Answer, key: str, at: int, column: int, change: str) -> list[Value]:
    row = answer.rows[at]
    if change == "NULL":
        return [None]
    if change == "another row's":
        return [row[column] for row in answer.rows if row[column] is not None]
    if change == "another column's":
        here = answer.columns[column].canonical
        same_type = [i for i, column in enumerate(answer.columns) if column.canonical == here]
        return [row[i] for i in same_type if answer.columns[i].name != key and row[i] is not None]
    return _altered(row[column])


def _altered(value: Value) -> list[Value]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, -value]
    return [f"{value}x", value[:-1], value.upper()] if isinstance(value, str) else []
