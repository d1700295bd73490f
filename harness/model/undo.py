"""What takes a table back: to its newest savepoint, or to before its last write; failures. Pure.

A table that was taken back is as it was then: rows, base files, and the schema. Ids of fields that
were taken back are never given again, as those of dropped ones are not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.model.canonical import Value
from harness.model.schema import SchemaChangeError
from harness.model.truth import Row, Truth


def last_write(truth: Truth) -> int:
    """Return the step of the last write, or schema change, that stands; 0 where there is none."""
    return truth.before_last.step + 1 if truth.before_last else 0


def saved(truth: Truth, step: int) -> Truth:
    if truth.before_last is None:
        raise SchemaChangeError("nothing is written yet that could be saved")
    if has_savepoint(truth):
        raise SchemaChangeError("nothing is written since the last savepoint")
    after = replace(truth, step=step)
    return replace(after, saved=after)


def has_savepoint(truth: Truth) -> bool:
    return truth.saved is not None and last_write(truth.saved) == last_write(truth)


def restored(truth: Truth, step: int) -> Truth:
    if truth.saved is None:
        raise SchemaChangeError("there is no savepoint to go back to")
    return _back(truth, truth.saved, step)


def rolled_back(truth: Truth, step: int) -> Truth:
    if truth.before_last is None:
        raise SchemaChangeError("nothing is written yet that could be rolled back")
    if has_savepoint(truth):
        raise SchemaChangeError("the last write has a savepoint, so it cannot be rolled back")
    return _back(truth, truth.before_last, step)


def rolled_back_to(truth: Truth, step: int, number: int) -> Truth:
    """Return the truth after the rows of step `number` were made the current ones again.

    The columns stay those of now. Source: apache/iceberg#5591, "Roll back to a snapshot".
    """
    then = _after_write(truth, number)
    if then is None or number in truth.undone:
        raise SchemaChangeError(f"step {number} wrote no rows that stand; name one that did")
    if number < truth.oldest:
        raise SchemaChangeError(f"step {truth.oldest + 1} cleaned the snapshot of step {number}")
    return replace(
        truth,
        step=step,
        rows=then.rows,
        base=then.base,
        gone=_gone(truth, then, step),
        undone=truth.undone | set(range(number + 1, step)),
        before_last=truth,
    )


def _after_write(truth: Truth, number: int) -> Truth | None:
    """Return the truth as a step left it; None where the step wrote no rows."""
    now = truth
    while now.before_last is not None and last_write(now) > number:
        now = now.before_last
    if now.before_last is None or last_write(now) != number:
        return None
    return now if now.rows != now.before_last.rows else None


def failed(truth: Truth, step: int, rows: Iterable[Row]) -> Truth:
    """Return the truth after a write that died before its commit: the table is as it was.

    `rows`: the versions that it would have made.
    """
    made = tuple(rows)
    gone = {row.key: step for row in made if row.key not in truth.rows}
    return replace(
        truth, step=step, failed=made, gone={**truth.gone, **gone}, undone=truth.undone | {step}
    )


def _back(now: Truth, then: Truth, step: int) -> Truth:
    """Return the table of then as the truth after a step; rows that came since are gone."""
    return replace(
        then,
        step=step,
        schema=replace(then.schema, last_id=now.schema.last_id),
        gone=_gone(now, then, step),
        saved=now.saved,
        pending=now.pending,
        oldest=now.oldest,
        contested=now.contested,
        undone=now.undone | set(range(then.step + 1, step)),
    )


def _gone(now: Truth, then: Truth, step: int) -> dict[Value, int]:
    """Return the keys without a row, each with the step since which, once rows of then are back."""
    gone = {**now.gone, **dict.fromkeys(now.rows, step), **then.gone}
    return {key: at for key, at in gone.items() if key not in then.rows}
