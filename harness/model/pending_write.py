"""A write of a second writer: what the table is while it waits, and once it is committed. Pure.

A row that nobody else wrote meanwhile is as the second writer wrote it. Of a row that somebody did
write there are two versions, and the one that was begun first has the lesser ordering value: it
comes late, so that the table's merge mode tells which one stands. Where the second writer changes
other columns than those that were written meanwhile, both stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.model import undo
from harness.model.canonical import Value
from harness.model.schema import SchemaChangeError
from harness.model.truth import PendingWrite, Row, Truth, late, written


def begun(
    before: Truth, step: int, rows: Iterable[Row], deleted: Iterable[Value], columns: Iterable[int]
) -> Truth:
    """Return the truth after a second writer began a write: the table is as it was.

    Args:
        before: the truth before it.
        step: the number of the step.
        rows: the versions that it makes.
        deleted: the keys of the rows that it deletes.
        columns: the ids of those that alone it changes in rows that are there; none: every one.

    """
    made = tuple(rows)
    pending = PendingWrite(step, made, tuple(deleted), frozenset(columns), before.rows)
    return replace(undo.failed(before, step, made), pending=pending)


def committed(truth: Truth, step: int) -> Truth:
    pending = truth.pending
    if pending is None:
        raise SchemaChangeError("no write waits for its commit; begin_write begins one")
    now = replace(truth, pending=None, failed=(), undone=truth.undone - {pending.step})
    sent = {row.key: _upon(now, pending, row) for row in pending.rows}
    overtaken = {key: row for key, row in sent.items() if _is_overtaken(now, pending, key)}
    stand = [row for key, row in sent.items() if key not in overtaken]
    after = written(now, step, stand, pending.deleted)
    return replace(late(after, step, overtaken), before_last=now) if overtaken else after


def staged(truth: Truth) -> Truth:
    """Return the truth of the branch that the write which waits is staged in.

    Nothing that was written meanwhile is in it, and its columns are the table's (Iceberg
    documentation, "Schema selection with branches and tags").
    """
    pending = truth.pending
    if pending is None:
        return truth
    there = dict(pending.before) | {row.key: row for row in pending.rows}
    rows = {key: row for key, row in there.items() if key not in pending.deleted}
    gone = dict(truth.gone) | {key: truth.step for key in truth.rows if key not in rows}
    left = {key: at for key, at in gone.items() if key not in rows}
    return replace(truth, rows=rows, gone=left)


def _upon(now: Truth, pending: PendingWrite, row: Row) -> Row:
    """Return the version of a row once its columns are changed in the row that is there now."""
    there = now.rows.get(row.key)
    if not pending.columns or there is None:
        return row
    order = {now.column_id(now.table.order_by)} if now.table.order_by else set()
    ids = pending.columns - (order if there != pending.before.get(row.key) else set())
    return replace(
        there,
        values={**there.values, **{at: row.values[at] for at in ids}},
        written={**there.written, **{at: row.written[at] for at in ids}},
    )


def _is_overtaken(now: Truth, pending: PendingWrite, key: Value) -> bool:
    """Return whether somebody else wrote what the second writer changes of a row."""
    old, there = pending.before.get(key), now.rows.get(key)
    if not pending.columns or old is None or there is None:
        return there != old
    order = now.table.order_by and now.column_id(now.table.order_by)
    return any(
        old.written.get(at) != there.written.get(at) for at in pending.columns if at != order
    )
