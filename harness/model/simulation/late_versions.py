"""Versions of rows that log files hold and that do not stand as they are, by a merge mode.

They came late, or, of partial updates, have NULL where an older version has a value. A base file
holds what stands: it was merged when it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileFact, FileKind
from harness.model.schema import MergeMode, Schema
from harness.model.truth import History, Row, Rows, Truth, completed

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class SimulatedRow:
    row: Row
    """The version of it that the file holds; Hudi's meta columns as well, where they are known."""
    values: tuple[Value, ...]
    file: FileFact
    """What it is read from."""

    @property
    def key(self) -> str:
        return text_of(self.row.key)

    def completed(self, older: SimulatedRow, schema: Schema) -> SimulatedRow:
        pairs = zip(self.values, older.values, strict=True)
        values = tuple(mine if mine is not None else other for mine, other in pairs)
        return SimulatedRow(completed(self.row, older.row, schema), values, self.file)

    def on_top(self, older: SimulatedRow | None, there: Sequence[bool]) -> SimulatedRow:
        """Return a version of the columns that are `there` with the others of an older one."""
        if older is None:
            return self
        triples = zip(there, self.values, older.values, strict=True)
        return replace(
            self, values=tuple(mine if is_newer else old for is_newer, mine, old in triples)
        )


def file_rows(truth: Truth, fact: FileFact) -> Rows:
    """Return the rows that a file of a step may hold, in the versions that it holds."""
    if fact.kind is not FileKind.LOG:
        return truth.rows
    sent = truth.sent_contested
    return {**truth.rows, **{key: row for key, row in sent.items() if row is not None}}


def overtaken(truth: Truth, fact: FileFact, *, otherwise: bool = False) -> frozenset[str]:
    """Return the record keys of what a file of a step has in vain: it does not replace a row.

    `otherwise`: whether it is read by the merge mode that the table does not have.
    """
    mode, sent = truth.table.merge_mode, truth.sent_contested
    vain: Collection[Value] = ()
    if fact.kind is not FileKind.LOG:
        return frozenset()
    if mode is MergeMode.PARTIAL_UPDATE:
        # Who does not know of partial updates goes by the ordering column.
        vain = _older(truth) if otherwise else [key for key, row in sent.items() if row is None]
    elif (mode is MergeMode.COMMIT_TIME) is otherwise:
        vain = sent
    return frozenset(text for key in vain for text in record_keys((truth,), key))


def on_top(
    truth: Truth,
    newer: Mapping[str, Item | None],
    older: Mapping[str, Item | None],
    complete: Callable[[Item, Item], Item],
) -> Mapping[str, Item | None]:
    """Return what versions in a log file become on top of those before them, by the merge mode.

    `complete` returns a version with the values of an older one where it has NULL.
    """
    if truth.table.merge_mode is not MergeMode.PARTIAL_UPDATE:
        return newer
    late = {text for key in _older(truth) for text in record_keys((truth,), key)}
    result = dict(newer)
    for key, row in newer.items():
        old = older.get(key)
        if row is not None and old is not None:
            result[key] = complete(old, row) if key in late else complete(row, old)
    return result


def _older(truth: Truth) -> tuple[Value, ...]:
    """Return the keys of what the newest step sent with a smaller ordering value than is there."""
    sent = truth.sent_contested.items()
    return tuple(
        key
        for key, row in sent
        if key in truth.rows
        and (row is None or truth.ordering_values(row) < truth.ordering_values(truth.rows[key]))
    )


def record_keys(history: History, key: Value) -> tuple[str, str]:
    # Hudi's complex key generator writes `column:value` even for a single key column.
    return str(key), f"{history[0].table.key}:{key}"
