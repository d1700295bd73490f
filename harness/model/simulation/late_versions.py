"""Versions of rows that came late: log files hold them, and a merge mode says whether they stand.

A base file holds what stands: what came late was merged when it was written.
"""

from __future__ import annotations

from harness.model.canonical import Value
from harness.model.file_facts import FileFact, FileKind
from harness.model.table import MergeMode
from harness.model.truth import History, Rows, Truth


def held(truth: Truth, fact: FileFact) -> Rows:
    """Return the rows that a file of a step may hold, in the versions that it holds.

    `truth`: of that step.
    """
    if fact.kind is not FileKind.LOG:
        return truth.rows
    sent = truth.sent_contested
    return {**truth.rows, **{key: row for key, row in sent.items() if row is not None}}


def overtaken(truth: Truth, fact: FileFact, *, otherwise: bool = False) -> frozenset[str]:
    """Return the record keys of what a file of a step has in vain: it does not replace a row.

    Args:
        truth: of that step.
        fact: the file.
        otherwise: whether it is read by the merge mode that the table does not have.

    """
    last_stands = (truth.table.merge_mode is MergeMode.COMMIT_TIME) is not otherwise
    if fact.kind is not FileKind.LOG or last_stands:
        return frozenset()
    sent = truth.sent_contested
    return frozenset(text for key in sent for text in record_keys((truth,), key))


def record_keys(history: History, key: Value) -> tuple[str, str]:
    """Return the texts that stand for a key in files."""
    # Hudi's complex key generator writes `column:value` even for a single key column.
    return str(key), f"{history[0].table.key}:{key}"
