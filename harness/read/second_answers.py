"""What comes of a question that was answered before and is asked again, then of a fresh server.

Nothing is known here of which answer is right: two answers of a reader to one question are alike or
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.core.records import Answer

Content = tuple[Sequence[str], Sequence[str]]


def second(answer: Answer, first: Answer) -> Answer:
    """Return the record of a question that was asked twice.

    Args:
        answer: a fresh server's. Where that gave none, the record stays as it was.
        first: a table.

    """
    if answer.unknown or answer.not_applicable:
        return first
    earlier = None if alike(answer, first) else replace(first, case="", sql="", attempts=())
    return replace(answer, again=True, earlier=earlier)


def alike(one: Answer, other: Answer) -> bool:
    """Return whether two answers show the same; the order of rows and of columns is no part."""
    return one.has_table == other.has_table and _content(one) == _content(other)


def _content(answer: Answer) -> Content:
    labels = answer.labels
    order = sorted(range(len(labels)), key=labels.__getitem__)
    return sorted(labels), sorted(repr([row[at] for at in order]) for row in answer.rows)
