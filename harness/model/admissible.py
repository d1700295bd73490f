"""What base files alone show, told by the files: the truth of a read-optimized view.

Of each file group the newest base file counts, and its rows are those of the table when that file
was written; a group that has only log files shows nothing (Hudi documentation, "Table & Query
Types": a read-optimized query exposes only the base files of the latest file slices).

The files only tell which version of a row applies. That a row exists, and what it holds, the model
says: files that lack a row, or hold one that the model does not have, tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from harness.model.canonical import Value, text_of
from harness.model.files import FileFact, FileKind
from harness.model.resolution import LayoutError, slices, version
from harness.model.truth import History, Row, Rows


@dataclass(frozen=True, slots=True)
class Base:
    """The rows in base files, and how sure that is."""

    rows: Rows
    """As the files tell; as the model lays them out where they tell nothing."""
    doubt: str = ""
    """Why the files tell nothing; empty when `rows` are the only ones that are right."""
    tables: int = 1
    """How many tables a right reader could show, as far as is known; 1 without a doubt."""

    @property
    def why(self) -> str:
        """Say why the rows are not exact, and how far they are not; empty when they are."""
        if not self.doubt:
            return ""
        each = "each row in any version that it has had, or not at all"
        return f"{self.doubt}; not exact: {self.tables:,} tables are admissible, {each}"


def base_rows(
    history: History, files: Sequence[FileFact], steps: Mapping[str, int], unread: str = ""
) -> Base:
    """Give the rows that the base files show by themselves at the end of a history.

    `steps`: the step that made each instant. `unread`: why there are no file facts.
    """
    if not history[-1].merge_on_read:
        return Base(history[-1].rows)
    if unread:
        return Base(history[-1].base, unread, _admissible(history))
    try:
        rows = _held(history, files, steps)
        _check(history, files, steps, rows)
    except LayoutError as doubt:
        return Base(history[-1].base, str(doubt), _admissible(history))
    return Base(rows)


def _held(
    history: History, files: Sequence[FileFact], steps: Mapping[str, int]
) -> dict[Value, Row]:
    found: dict[Value, Row] = {}
    bases = [base for base, _ in slices(files, steps) if base is not None]
    for base in bases:
        for key in base.keys:
            row = version(history, base, key, steps)
            if row.key in found:
                raise LayoutError(f"row {key}: two file groups hold it in their newest base files")
            found[row.key] = row
    return found


def _check(
    history: History, files: Sequence[FileFact], steps: Mapping[str, int], rows: Rows
) -> None:
    """See that the files have every row of the model: a group that is lost shows nothing either.

    Raises:
        LayoutError: they lack one.

    """
    truth = history[-1]
    newest = [fact for base, logs in slices(files, steps) for fact in (base, *logs) if fact]
    there = {key for fact in newest for key in _texts(history, fact)}
    cleared = _cleared(history, files, steps)
    for key, row in (*truth.rows.items(), *truth.base.items()):
        text = text_of(key)
        gone = truth.gone.get(key)
        if text in there or key in rows or (gone is not None and gone <= cleared.get(text, -1)):
            continue
        held = max(row.written.values(), default=0)
        raise LayoutError(f"row {text}: files hold none, the model says that of step {held}")


def _cleared(
    history: History, files: Sequence[FileFact], steps: Mapping[str, int]
) -> dict[str, int]:
    """Give for each row that a base file ever held the step that last wrote its group anew."""
    bases = [fact for fact in files if fact.kind is FileKind.BASE]
    last: dict[str, int] = {}
    for fact in bases:
        last[fact.file_group] = max(steps[fact.instant], last.get(fact.file_group, -1))
    return {key: last[fact.file_group] for fact in bases for key in _texts(history, fact)}


def _texts(history: History, fact: FileFact) -> Iterator[str]:
    # Hudi's complex key generator writes `column:value` even for a single key column.
    prefix = f"{history[0].table.key}:"
    return (key.removeprefix(prefix) for key in fact.keys)


def _admissible(history: History) -> int:
    versions: dict[Value, set[tuple[int, ...]]] = {}
    for key, row in _ever(history):
        versions.setdefault(key, set()).add(tuple(row.written.values()))
    return prod(len(each) + 1 for each in versions.values())


def _ever(history: History) -> Iterator[tuple[Value, Row]]:
    return (pair for truth in history for pair in truth.rows.items())
