"""Answers that are wrong in a chosen way, with the finding that says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.model.canonical import Value, text_of
from harness.record import Column, Expected, Finding, FindingKind, Origin, Witness

Row = tuple[Value, ...]
ENGINE_TYPES = {"string": "varchar", "long": "bigint"}


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer's table, and what is wrong with it."""

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
    place = Witness("2", "", None, text_of(extra))
    return replace(right, rows=(*right.rows, extra), finding=_finding("ghost_row", [place]))


def _lost(right: Answered) -> Answered:
    place = Witness(right.rows[-1][0], "", right.rows[-1], None)
    return replace(right, rows=right.rows[:-1], finding=_finding("lost_row", [place]))


def _twice(right: Answered) -> Answered:
    place = Witness(right.rows[0][0], "", None, text_of(right.rows[0]))
    return replace(right, rows=(*right.rows, right.rows[0]), finding=_finding("duplicate", [place]))


def _cells(right: Answered, kind: FindingKind) -> Answered:
    columns = _wrong_columns(right, kind)
    rows, places = [], []
    for row in right.rows:
        found = list(row)
        for at in columns:
            found[at], origin = _wrong(kind, row, right, at)
            name = right.columns[at].name
            places.append(Witness(row[0], name, row[at], found[at], origin, text_of(found[at])))
        rows.append(tuple(found))
    return replace(right, rows=tuple(rows), finding=_finding(kind, places))


def _wrong_columns(right: Answered, kind: FindingKind) -> tuple[int, ...]:
    last = len(right.columns) - 1
    if kind is FindingKind.MISALIGNED:
        return (last - 1, last)
    if kind in {FindingKind.TYPE_DRIFT, FindingKind.ALTERED_VALUE}:
        return (2,)
    renamed = [at for at, each in enumerate(right.columns) if each.name == "f2_new"]
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
    columns = tuple(dict.fromkeys(each.column for each in places if each.column))
    return Finding(FindingKind(kind), columns, places[0], tuple(places))
