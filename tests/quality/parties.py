"""Whose doing a planted defect is, and which way of reading, asked of the product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Final

from harness.core.records import (
    Answer,
    Verdict,
    VerdictKind,
)
from harness.core.responsible import Responsible
from harness.judge.verdicts import judge
from harness.scenario.cells import Cell
from tests.builders.judged_story import ANEW, COUNTED, NULLS_BY_SCHEMA, case_of
from tests.builders.traced_answer import Seen
from tests.quality.planted import Defect

WRITER = "writer: "
"""How the names of planted writers begin; all others are readers."""


class Blamed(StrEnum):
    """On whom the findings of one history put the blame."""

    INVISIBLE = "invisible"
    """The answer is right, or the history has nothing that could go wrong."""
    RIGHT = "right party"
    UNSURE = "not sure"
    """The writer or a mistake of our own: it does not say more of what a planted writer did."""
    NOBODY = "nobody"
    """Of a finding it is not said, although the files are known."""
    WRONG = "wrong party"


class Mapped(StrEnum):
    """How many ways of reading give a wrong answer."""

    NAMED = "one, which is named"
    SEVERAL = "several, none claimed"
    LITTLE = "one, too little to name it"
    NONE = "none of those tried"
    OTHER = "another one than the planted"


MAPPED: Final[Mapping[str, str]] = {
    "columns by position": "by position",
    "columns by name": "by name",
    "base files by id, logs by name": "by id, log files by name",
    "base files by name, logs by id": "by name, log files by id",
    "base files by position, logs by id": "by position, log files by id",
    "by position, meta columns counted": COUNTED,
    "log files ignored, meta columns counted": f"{COUNTED}, base files only",
    "three of Hudi's columns under others": "by id, three of Hudi's columns under others",
    "record keys from the third column": "by id, record keys from the third column",
    "record keys from the third column, base files by name": (
        "by name, log files by id, record keys from the third column"
    ),
    "log files ignored": "by id, base files only",
    "log files ignored, by position": "by position, base files only",
    "log files ignored, by name": "by name, base files only",
    "deletes ignored": "by id, deletes ignored",
    "schema of an earlier step, by id": "by id, catalog of step {}",
    "schema of an earlier step, by name": "by name, catalog of step {}",
    "files left out by the name's statistics": "by id, files left out by name",
    "files left out by the place's statistics": "by id, files left out by position",
    "names differ only in case, case ignored": "by name in any case",
    "partitions by their own column lists": "by name, partitions by their own column lists",
    "by position, values as they are stored": "by position, values as they are stored",
    "timestamps cut to milliseconds towards 1970": "by id, timestamps in milliseconds",
    "by id, ids given anew in each file": ANEW,
    "by name, texts that are no numbers as NULL": "by name, texts that are no numbers are NULL",
    "read-optimized by position": "by position, base files only",
    "read-optimized merges all logs": "by id",
    "NULL looked for in no column that forbids it": NULLS_BY_SCHEMA,
    "every value taken to be there where NULL is forbidden": NULLS_BY_SCHEMA,
    "structs without a part in the file NULL": "by id, structs without a part in the file are NULL",
    "by position, values converted": "by position, values converted to the column's type",
    "numbers of an older catalog, for a predicate": "by id, catalog of step {}",
    "as of a step: values of then under the columns of now": "by id, catalog of step {}",
    "as of a step: columns of now, after a drop": "by id, catalog of step {}",
    "as of a step: columns by position": "by position",
    "as of a step: deletes ignored": "by id, deletes ignored",
    "since a step: everything": "by id, the begin ignored",
    "since a step: everything that a predicate holds for": "by id, the begin ignored",
    "since a step: everything, columns by position": "by position, the begin ignored",
    "since a step: one write too many": "by id, one write too many",
    "since a step: one write too many, columns by name": "by name, one write too many",
    "since a step: one write too few": "by id, one write too few",
    "since a step: nothing": "by id, nothing given",
    "since a step: columns of then": "by id, catalog of step {}",
    "since a step: columns by position": "by position",
    "since a step: columns by name": "by name",
    "since a step: log files ignored": "by id, base files only",
    "since a step: deletes ignored": "by id, deletes ignored",
}
"""The way of planted readers that read in one of those that are predicted; {} is `Seen.catalog`."""


def right_of(defect: Defect) -> Responsible:
    """Return whose doing a planted defect is to be called."""
    return Responsible.WRITER if defect.name.startswith(WRITER) else Responsible.READER


def verdict_of(defect: Defect, seed: int) -> Verdict | None:
    """Return the verdict on what a defect answers; None where it cannot be seen."""
    return _verdict(defect, defect.seen(seed), seed)


def _verdict(defect: Defect, seen: Seen | None, seed: int) -> Verdict | None:
    if seen is None:
        return None
    files = seen.files if right_of(defect) is Responsible.WRITER else None
    # Half of the catalogs list no meta columns: that must not lead to another name.
    case = case_of(seen.story, files, bare=seen.bare or seed % 2 == 1)
    cell = Cell("variant", len(case.states) - 1, "engine-1", seen.view, "all")
    reply = seen.reply
    answer = Answer(cell.case, "select", reply.columns, reply.rows, question=seen.query)
    (verdict,) = judge(case, [cell], {cell.case: answer})
    return verdict


def parties(defect: Defect, seed: int) -> set[Responsible | None]:
    """Return whose doing the findings of a defect are; none where it cannot be seen."""
    return _of(verdict_of(defect, seed))


def _of(verdict: Verdict | None) -> set[Responsible | None]:
    return {finding.party for finding in verdict.findings} if verdict else set()


def figures(defect: Defect, seeds: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """Count on whom a defect is blamed in many histories, and what is said of its way of reading.

    Says where it is not whose doing it is, or not its way.
    """
    counts: Counter[str] = Counter()
    misses: list[str] = []
    right = right_of(defect)
    for seed in seeds:
        seen = defect.seen(seed)
        verdict = _verdict(defect, seen, seed)
        found = _of(verdict)
        result, way = blamed(found, right), mapped(defect, verdict, seen)
        counts[result] += 1
        if result in {Blamed.WRONG, Blamed.NOBODY}:
            named = ", ".join(sorted(str(each or "nobody") for each in found))
            misses.append(f"{defect.name}, seed {seed}: blamed on {named}, not on the {right}")
        if (
            verdict is not None
            and verdict.verdict is VerdictKind.WRONG
            and right is Responsible.READER
        ):
            counts[way] += 1
            story = " or ".join(verdict.reproduces) or "in no way"
            misses += [f"{defect.name}, seed {seed}: read {story}"] if way is Mapped.OTHER else []
    return counts, misses


def mapped(defect: Defect, verdict: Verdict | None, seen: Seen | None = None) -> Mapped:
    """Return words about the way of reading; of a planted one it, or a part of it, must be there.

    A part alone gives the same answer where the history has nothing that would show the rest. Of
    the columns of an earlier step none is, where a value has no form in a type of then: the planted
    reader shows it as it is, which none can.
    """
    found = verdict.reproduces if verdict else ()
    true = MAPPED.get(defect.name, "")
    if seen is not None and seen.catalog is not None:
        true = true.format(seen.catalog) if seen.typed else ""
    if true and not any(f"{_one(true)}, ".startswith(f"{_one(each)}, ") for each in found):
        return Mapped.OTHER
    one = Mapped.NAMED if verdict and verdict.claimed else Mapped.LITTLE
    return (Mapped.NONE, one, Mapped.SEVERAL)[min(len(found), 2)]


def _one(way: str) -> str:
    """Return a way so that no other way to find columns is a part of it."""
    return way.replace(COUNTED, "counted").replace(ANEW, "anew")


def blamed(found: AbstractSet[Responsible | None], right: Responsible | None) -> Blamed:
    """Judge on whom the findings of an answer put the blame."""
    if not found:
        return Blamed.INVISIBLE
    if found == {right}:
        return Blamed.RIGHT
    if right is Responsible.WRITER and found <= {right, Responsible.UNSURE}:
        return Blamed.UNSURE
    return Blamed.NOBODY if found <= {right, None} else Blamed.WRONG
