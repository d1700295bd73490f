"""Whole rows that are as a newer table has them, where a view shows an older one.

That is the table of now where the view shows base files alone, and that of each later step where it
goes back. A row that only the newer one holds is there, one that it lacks is not, or the predicate
is held against the newer version of a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.core.records import Origin
from harness.judge import match_rows
from harness.judge.expected_state import ExpectedState
from harness.judge.match_rows import Matching
from harness.model.canonical import text_of
from harness.model.truth import Row, Truth

NewerTables = Sequence[tuple[Truth, Mapping[str, Row]]]
"""The newer tables, the oldest first, with the rows asked for by the texts of their keys."""


def origins(state: ExpectedState, names: Sequence[str], result: Matching) -> dict[str, Origin]:
    """Return the state of each row that is too many, or absent, by the text of its key.

    `names`: what the columns of the answer are called.
    """
    if not state.newer:
        return {}
    truths = state.later or state.history[-1:]
    rows = ({text_of(row.key): row for row in rows.values()} for rows in state.newer)
    newer = list(zip(truths, rows, strict=True))
    early = {**_early(state, newer, names, result), **_gone(state, newer, result)}
    name = state.history[0].table.key
    return {key: Origin(state.key_id, name, _step(truth, key), key) for key, truth in early.items()}


def _early(
    state: ExpectedState, newer: NewerTables, names: Sequence[str], result: Matching
) -> dict[str, Truth]:
    """Return the rows that are there too early, with the newest table that has them."""
    early = {}
    for key, values in result.extra:
        having = [(truth, rows[key]) for truth, rows in newer if key in rows]
        older = _older(state, key) if having else None
        if older is not None:
            newest = max(match_rows.right(state, row, names, values) for _, row in having)
            having = having if newest > match_rows.right(state, older, names, values) else []
        if having:
            early[key] = having[-1][0]
    return early


def _older(state: ExpectedState, key: str) -> Row | None:
    """Return the older version of a row that the predicate leaves out, or that was deleted then."""
    then = state.history if state.later else ()
    tables = (state.left_out, *(truth.rows for truth in reversed(then)))
    rows = (row for table in tables for k, row in table.items() if text_of(k) == key)
    return next(rows, None)


def _gone(state: ExpectedState, newer: NewerTables, result: Matching) -> dict[str, Truth]:
    """Return absent rows that a newer table lacks, but where all their file group is absent.

    Each with the first such table.
    """
    there, gone = result.there, {}
    stay = [key for key in state.keys if all(key in rows for _, rows in newer)]
    for key, row in state.keys.items():
        lacking = [truth for truth, rows in newer if key not in rows]
        if key in there or not lacking:
            continue
        others = [key for key in stay if state.keys[key].group == row.group] or stay
        if not others or there.intersection(others):
            gone[key] = lacking[0]
    return gone


def _step(truth: Truth, key: str) -> int:
    """Return the step of a row's newest state in a table."""
    row = next((each for k, each in truth.rows.items() if text_of(k) == key), None)
    gone = next((step for k, step in truth.gone.items() if text_of(k) == key), truth.step)
    return gone if row is None else max(row.written.values(), default=gone)
