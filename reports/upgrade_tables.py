"""The expected table, the old answer and the new one beside each other, wrong places marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.comparison.cell_pairs import CellPair
from harness.comparison.result import ComparedSide, SideComparison
from harness.core.records import Answer, Expected, Verdict, VerdictKind, labelled
from harness.model.canonical import Value
from harness.reports.marks import HEAD, WHOLE, Mark, Marks, Note, marks
from harness.reports.sentences import refusal_text
from harness.reports.words import FINDINGS, exact, short
from harness.run.load_run import Run

MOST_ROWS: Final = 40
LONGEST_ERROR: Final = 2000
NO_ROW: Final = "no such row"
NO_ROWS: Final = "no rows"
UNMARKED: Final = Marks((), (), (), ())


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value or a column's name as the page shows it."""

    text: str
    type: str = ""
    """Of a column."""
    null: bool = False
    kind: str = ""
    """The finding by which the place is wrong; empty where it is right."""
    label: str = ""
    """Whose value it is, or how it is wrong."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One table, or what there is instead of it."""

    title: str
    answered: bool
    """Whether a reader gave it; else it is what the truth expects."""
    columns: tuple[ShownValue, ...] = ()
    rows: tuple[tuple[ShownValue, ...], ...] = ()
    """An empty one stands for a row that this table does not have."""
    left_out: int = 0
    """So many rows are not shown."""
    instead: str = ""
    """An error, or why there is no answer; empty where there is a table."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside each other, and what is wrong in the new answer."""

    panels: tuple[Panel, ...] = ()
    notes: tuple[Note, ...] = ()


def beside(pair: CellPair, found: SideComparison) -> Beside:
    """Return the tables of a pair of cells; a right old answer is the expected one."""
    old, new = pair.old, pair.new
    if old is None or new is None or pair.is_step:
        return Beside()
    before, after = _title("Before", old, pair, found.old), _title("After", new, pair, found.new)
    seen = _marked(new, found.new.run)
    right = old.verdict is VerdictKind.CORRECT and old.expected == new.expected
    shown = [
        _expected(
            f"Expected, and before: {old.reader}" if right else "Expected", new.expected, seen
        )
    ]
    shown += [] if right else [_answered(before, old, found.old.run)]
    panels = (*filter(None, shown), _answered(after, new, found.new.run))
    return Beside(panels, seen.notes)


def _title(when: str, verdict: Verdict, pair: CellPair, side: ComparedSide) -> str:
    same = pair.old and pair.new and pair.old.reader == pair.new.reader
    return f"{when}: {verdict.reader}{f', with {side.name}' if same else ''}"


def _marked(verdict: Verdict, run: Run) -> Marks:
    answer = run.answers.get(verdict.case)
    if answer is None or verdict.expected is None or not answer.has_table:
        return UNMARKED
    columns, key = labelled(answer.question, answer.columns), run.variant(verdict.variant).key
    return marks(verdict.expected, columns, answer.rows, verdict.findings, key)


def _expected(title: str, expected: Expected | None, seen: Marks) -> Panel | None:
    if expected is None:
        return None
    lines = [left for left, _ in seen.pairs] if seen.pairs else range(len(expected.rows))
    return _panel(title, expected.columns, expected.rows, list(lines), (seen.expected, seen.notes))


def _answered(title: str, verdict: Verdict, run: Run) -> Panel:
    answer = run.answers.get(verdict.case)
    if answer is None or not answer.has_table:
        return Panel(title, answered=True, instead=_instead(verdict, answer))
    seen, heads = _marked(verdict, run), [(each.name, each.type) for each in answer.columns]
    lines = [right for _, right in seen.pairs] if seen.pairs else range(len(answer.rows))
    return _panel(title, heads, answer.rows, list(lines), (seen.found, seen.notes), answered=True)


def _instead(verdict: Verdict, answer: Answer | None) -> str:
    if answer and answer.refusal:
        return refusal_text(answer.refusal, LONGEST_ERROR)
    return short(verdict.because or str(verdict.verdict), LONGEST_ERROR)


_Marked = tuple[Sequence[Mark], Sequence[Note]]


def _panel(
    title: str,
    heads: Sequence[tuple[str, str]],
    rows: Sequence[tuple[Value, ...]],
    lines: Sequence[int | None],
    marked: _Marked,
    *,
    answered: bool = False,
) -> Panel:
    """Return a table: its rows in the order of the lines, None where it has no such row."""
    columns = (
        _value(name, name, _at(HEAD, at, marked), of_type=type_)
        for at, (name, type_) in enumerate(heads)
    )
    shown = (
        ()
        if line is None
        else tuple(_value(each, "", _at(line, at, marked)) for at, each in enumerate(rows[line]))
        for line in lines[:MOST_ROWS]
    )
    left = max(len(lines) - MOST_ROWS, 0)
    return Panel(title, answered, tuple(columns), tuple(shown), left)


def _at(row: int, column: int, marked: _Marked) -> Note | None:
    """Return what is wrong at a place; a note on a whole row is one on each of its values."""
    found, notes = marked
    here = (e for e in found if e.row == row and (e.column == column or _whole(e, row)))
    first = next(here, None)
    return notes[first.note] if first else None


def _whole(mark: Mark, row: int) -> bool:
    return mark.column == WHOLE and row != HEAD


def _value(value: Value, name: str, note: Note | None, of_type: str = "") -> ShownValue:
    text = name or ("NULL" if value is None else exact(value))
    if note is None:
        return ShownValue(text, of_type, value is None)
    label = note.whose or FINDINGS[note.kind].label
    return ShownValue(text, of_type, value is None, note.kind.value, label, note.text)
