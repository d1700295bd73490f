"""Two answers of a reader to one question: a fresh server's, and one of a server that knew others.

Where they differ, at least one of them is wrong, whatever the truth is: a finding of the reader's.
What is judged beside is the answer of the fresh server, which anybody gets who asks only this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.model.canonical import Value, same, text_of

WHY: Final = "a fresh server gave another answer than one that had answered other questions before"

_Row = tuple[Value, ...]


def with_order(verdict: Verdict, answer: Answer, key: str) -> Verdict:
    """Return the verdict on an answer with what the earlier answer to the same question tells.

    Args:
        verdict: on the answer as it is.
        answer: as it was recorded.
        key: the name of the key column.

    """
    if answer.earlier is None:
        return verdict
    differences = tuple(_places(answer, answer.earlier, key)) or (Witness("", "", None, None),)
    columns = tuple(
        dict.fromkeys(difference.column for difference in differences if difference.column)
    )
    kind = FindingKind.ORDER_DEPENDENT
    finding = Finding(kind, columns, differences[0], differences, Responsible.READER)
    return replace(
        verdict,
        verdict=VerdictKind.WRONG,
        findings=(finding, *verdict.findings),
        because="; ".join(filter(None, (WHY, _after(answer), verdict.because))),
    )


def _after(answer: Answer) -> str:
    """Say which question brings the earlier answer about, where one was found."""
    return f"one that is asked {answer.after} first gives that one too" if answer.after else ""


def _places(answer: Answer, earlier: Answer, key: str) -> Iterator[Witness]:
    """Yield where they differ: `expected` is of the fresh server, `found` of the other one."""
    now, before = answer.labels, earlier.labels
    if answer.refusal is None:
        for name in dict.fromkeys((*now, *before)):
            if (name in now) != (name in before):
                here, there = (name if name in each else None for each in (now, before))
                yield Witness("", name, here, there)
    rows, others = _by_key(answer, key), _by_key(earlier, key)
    for at in dict.fromkeys((*rows, *others)):
        for row, other in zip_longest(rows.get(at, ()), others.get(at, ())):
            if row is None or other is None:
                yield Witness(at, "", row, other)
            else:
                yield from _cells(at, dict(zip(now, row, strict=True)), before, other)


def _cells(key: str, row: dict[str, Value], names: Sequence[str], other: _Row) -> Iterator[Witness]:
    for name, value in zip(names, other, strict=True):
        if name in row and not same(row[name], value):
            yield Witness(key, name, row[name], value)


def _by_key(answer: Answer, key: str) -> dict[str, list[_Row]]:
    """Return the rows by the text of their key, in one order; all under "" where there is none."""
    names = [label.lower() for label in answer.labels]
    at = names.index(key.lower()) if key.lower() in names else None
    result: dict[str, list[_Row]] = {}
    for row in sorted(answer.rows, key=repr):
        result.setdefault("" if at is None else text_of(row[at]), []).append(row)
    return result
