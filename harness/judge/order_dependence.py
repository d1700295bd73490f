"""Two answers of a reader to one question: a fresh server's, and one of a server that knew others.

Where they differ, at least one is wrong. What is judged beside is the answer of the fresh server.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from harness.core.grouping import grouped
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


def with_order(verdict: Verdict, answer: Answer, key: str) -> Verdict:
    """Return the verdict on an answer with what the earlier answer to the same question tells.

    `answer` is as it was recorded; `key`: the name of the key column.
    """
    if answer.earlier is None:
        return verdict
    places = tuple(_places(answer, answer.earlier, key)) or (Witness("", "", None, None),)
    columns = tuple(dict.fromkeys(witness.column for witness in places if witness.column))
    kind, responsible = FindingKind.ORDER_DEPENDENT, Responsible.READER
    finding = Finding(kind, columns, places[0], places, responsible)
    after = answer.after and f"one that is asked {answer.after} first gives that one too"
    because = "; ".join(filter(None, (WHY, after, verdict.because)))
    findings = (finding, *verdict.findings)
    return replace(verdict, verdict=VerdictKind.WRONG, findings=findings, because=because)


def _places(answer: Answer, earlier: Answer, key: str) -> Iterator[Witness]:
    """Yield where they differ: `expected` is of the fresh server, `actual` of the other one."""
    now, before = answer.labels, earlier.labels
    if answer.refusal is None:
        for name in dict.fromkeys((*now, *before)):
            if (name in now) != (name in before):
                here, there = (name if name in labels else None for labels in (now, before))
                yield Witness("", name, here, there)
    rows, others = _by_key(answer, key), _by_key(earlier, key)
    for at in dict.fromkeys((*rows, *others)):
        for row, other in zip_longest(rows.get(at, ()), others.get(at, ())):
            if row is None or other is None:
                yield Witness(at, "", row, other)
                continue
            values = dict(zip(now, row, strict=True))
            for name, value in zip(before, other, strict=True):
                if name in values and not same(values[name], value):
                    yield Witness(at, name, values[name], value)


def _by_key(answer: Answer, key: str) -> dict[str, list[tuple[Value, ...]]]:
    """Return the rows by the text of their key, in one order; all under "" where there is none."""
    names = [label.lower() for label in answer.labels]
    at = names.index(key.lower()) if key.lower() in names else None
    rows = sorted(answer.rows, key=repr)
    return grouped([("" if at is None else text_of(row[at]), row) for row in rows])
