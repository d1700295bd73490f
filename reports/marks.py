"""Where findings lie in an expected and an answered table, row beside row."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.core.records import Column, Expected, Finding, FindingKind, Witness
from harness.model.canonical import Value, text_of
from harness.reports.findings import FINDINGS, engine_text, witness_text

HEAD = -1
WHOLE = -1


@dataclass(frozen=True, slots=True)
class Note:
    kind: FindingKind
    text: str
    whose: str = ""
    """The column and step that the found value was written for, `f1, step 1`, where known."""
    file: str = ""
    """The path of the file that it was read from, where known."""


@dataclass(frozen=True, slots=True)
class Mark:
    row: int
    column: int
    note: int


@dataclass(frozen=True, slots=True)
class Marks:
    """What to colour in the two tables, and how their rows belong together."""

    notes: tuple[Note, ...]
    expected: tuple[Mark, ...]
    answered: tuple[Mark, ...]
    pairs: tuple[tuple[int | None, int | None], ...]
    """Numbers of an expected and an answered row that stand beside each other."""


def marks(
    expected: Expected,
    columns: Sequence[Column],
    rows: Sequence[tuple[Value, ...]],
    findings: Sequence[Finding],
    key: str,
) -> Marks:
    left = _KeyedTable([name for name, _ in expected.columns], expected.rows, key)
    right = _KeyedTable([column.name for column in columns], rows, key)
    witnesses = [(finding.kind, witness) for finding in findings for witness in finding.witnesses]
    moved = _moved(witnesses, key)
    notes = (Note(kind, _text(kind, at), _whose(at), at.file) for kind, at in witnesses)
    return Marks(
        tuple(notes),
        tuple(_marks(left, witnesses, {})),
        tuple(_marks(right, witnesses, moved)),
        _pairs(left, right, moved),
    )


def _text(kind: FindingKind, witness: Witness) -> str:
    return "; ".join(filter(None, (witness_text(kind, witness), engine_text(witness))))


def _whose(witness: Witness) -> str:
    origin = witness.origin
    if origin is None:
        return ""
    row = f", row {origin.key}" if origin.key != witness.key else ""
    return f"{origin.name}, step {origin.step}{row}"


class _KeyedTable:
    def __init__(self, names: list[str], rows: Sequence[tuple[Value, ...]], key: str) -> None:
        self.names = names
        self.keys = [_key_text(row[names.index(key)]) if key in names else "" for row in rows]

    def column(self, path: str) -> int | None:
        root = path if path in self.names else re.split(r"[.\[]", path, maxsplit=1)[0]
        return self.names.index(root) if root in self.names else None

    def rows(self, key: str | None) -> list[int]:
        """Return the numbers of the rows with a key; a place says NULL of one without, too."""
        numbers = [at for at, other in enumerate(self.keys) if other == key]
        return self.rows(None) if not numbers and key == text_of(None) else numbers


def _key_text(value: Value) -> str | None:
    return None if value is None else text_of(value)


def _moved(witnesses: Sequence[tuple[FindingKind, Witness]], key: str) -> dict[str, str | None]:
    """Return the key that each row is answered under whose key column itself is wrong."""
    wrong = (witness for _, witness in witnesses if witness.key and witness.column == key)
    return {verdict.key: _key_text(verdict.actual) for verdict in wrong}


def _marks(
    table: _KeyedTable,
    witnesses: Sequence[tuple[FindingKind, Witness]],
    moved: dict[str, str | None],
) -> list[Mark]:
    marks_ = []
    for number, (kind, witness) in enumerate(witnesses):
        column = table.column(witness.column) if witness.column else WHOLE
        rows = table.rows(moved.get(witness.key, witness.key)) if witness.key else [HEAD]
        if FINDINGS[kind].repeats:
            rows = rows[1:]
        if column is not None:
            marks_ += [Mark(row, column, number) for row in rows]
    return marks_


def _pairs(
    left: _KeyedTable, right: _KeyedTable, moved: dict[str, str | None]
) -> tuple[tuple[int | None, int | None], ...]:
    pairs: list[tuple[int | None, int | None]] = []
    seen: set[int] = set()
    for at, key in enumerate(map(str, left.keys)):
        beside = [row for row in right.rows(moved.get(key, key)) if row not in seen]
        seen |= set(beside)
        pairs += [(at if not number else None, row) for number, row in enumerate(beside)]
        pairs += [] if beside else [(at, None)]
    extra = [(None, row) for row in range(len(right.keys)) if row not in seen]
    return (*pairs, *extra)
