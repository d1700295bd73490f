"""The judgement on a planted defect: its names, who is responsible, the read strategy."""

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from harness.core.records import FindingKind, Responsible, Verdict
from harness.judge.altered_value import near
from harness.judge.difference import is_empty
from harness.judge.expected_state import ExpectedState
from harness.judge.file_evidence import Layout
from harness.judge.final_attribution import with_final_attribution
from harness.judge.verdicts import JudgedVariant
from harness.model import past_views
from harness.model.canonical import Look, MapValue, Value, look_of, text_of
from tests.builders.judge_stages import findings, wrong
from tests.builders.judged_story import (
    ANEW,
    COUNTED,
    NULLS_BY_SCHEMA,
    answer_of,
    case_of,
    cell_at,
    verdict_on,
)
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, tokens_in
from tests.quality.oracle import Oracle, Position, Wrong
from tests.quality.planted import Defect

WRITER: Final = "writer: "
"""How the names of planted writers begin; all others are readers."""
STRATEGIES: Final[Mapping[str, str]] = {
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

FEW: Final = {
    *("0", "1", "-1", "", "NULL", "null", look_of(b""), look_of(()), look_of((None,))),
    *(look_of(MapValue(())), "-128", "127", "-32768", "32767", "-2147483648", "2147483647"),
    *("-9223372036854775808", "9223372036854775807"),
}

EMPTIED: Final = {FindingKind.ALTERED_VALUE, FindingKind.LOST_VALUE}
"""What it is called that a column loses its NULLs, or its elements."""


class Result(StrEnum):
    SAME = "invisible"
    """The answer is right all the same."""
    RIGHT = "right"
    UNDECIDABLE = "undecidable"
    """Some places fit two explanations; none is claimed of them, and the others are right."""
    WRONG = "wrong name"
    MISSED = "not found"


@dataclass(frozen=True, slots=True)
class Judged:
    result: Result
    detail: str = ""


def judge_defect(seen: Seen) -> Judged:
    oracle, positions = Oracle(seen), named(seen)
    wrong, claimed = oracle.wrong, dict(positions)
    twice = _twice(positions)
    if twice:
        return Judged(Result.MISSED, f"in two findings: {_some(twice)}")
    if wrong.keys() != claimed.keys():
        return Judged(Result.MISSED, f"{_some(wrong.keys() ^ claimed.keys())}")
    if not wrong:
        return Judged(Result.SAME)
    others = [defect for position, defect in wrong.items() if claimed[position] not in defect.names]
    bad = [
        other
        for other in others
        if not Excuse(oracle, wrong, claimed).holds(other, claimed[other.position])
    ]
    if bad:
        text = f"{bad[0].position} found {bad[0].actual!r} is {_some(bad[0].names)}"
        return Judged(Result.WRONG, f"{text}, not {claimed[bad[0].position]} ({len(bad)} places)")
    return Judged(Result.UNDECIDABLE if others else Result.RIGHT)


def _twice(claims: Sequence[tuple[Position, FindingKind]]) -> list[Position]:
    """Return the places that are explained twice; rows with one key are places of their own."""
    rows = {claim for claim in claims if not claim[0][1]}
    times = Counter(
        position for position, _ in (*rows, *(claim for claim in claims if claim not in rows))
    )
    return [position for position, number in times.items() if number > 1]


def named(seen: Seen) -> list[tuple[Position, FindingKind]]:
    state, layout = _judged_by(seen)
    state, reply = state.narrowed(seen.query), seen.reply
    predicted = layout.predicted(seen.query, reply.names, reply.rows)
    state = replace(state, predicted=predicted)
    places = wrong(state, seen.query, reply.columns, reply.rows)
    return [
        ((place.key, place.column), finding.kind)
        for finding in findings(places, state)
        for place in finding.witnesses
    ]


def _judged_by(seen: Seen) -> tuple[ExpectedState, Layout]:
    story, view = seen.story, seen.view
    if past_views.past(view) is None:
        return story.state(view), story.layout(view, bare=seen.bare)
    expectations, step = _variant(story, bare=seen.bare).expectations, story.truth.step
    return expectations.state(step, view), expectations.layout(step, view)


@lru_cache(maxsize=256)
def _variant(story: Story, *, bare: bool) -> JudgedVariant:
    return JudgedVariant(case_of(story, bare=bare))


def _some(things: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, things))[:4])


@dataclass
class Excuse:
    """Answers that another explanation fits too, so that the judge may claim nothing."""

    oracle: Oracle
    wrong: dict[Position, Wrong]
    claimed: dict[Position, FindingKind]
    _looks: dict[Look, set[int]] = field(default_factory=dict)

    def holds(self, defect: Wrong, claimed: FindingKind) -> bool:
        """Return whether the finding claims nothing beyond what the answer shows."""
        if defect.line is None or defect.column is None:
            return False
        if defect.actual is None:
            return self._bare_null(defect, claimed)
        if claimed is FindingKind.STALE:
            return self._had_before(defect)
        if claimed is not FindingKind.UNEXPLAINED:
            return False
        # What is shown for nothing tells of no row: only the rest of its column may tell.
        emptied = is_empty(defect.actual, defect.column) and defect.names <= EMPTIED
        return emptied or self._several(defect)

    def _had_before(self, defect: Wrong) -> bool:
        """Whether the cell itself once held what it shows by chance, as a small number may."""
        if defect.column is None:
            return False
        column, key = defect.column.id, defect.position[0]
        now = self.oracle.rows[key].written.get(self.oracle.root(column), -1)
        versions = self.oracle.index.cells.get((column, key), {})
        return any(look_of(defect.actual) in looks for at, looks in versions.items() if at < now)

    def _bare_null(self, defect: Wrong, claimed: FindingKind) -> bool:
        """Return whether nothing beside a NULL shows whose it is: then it is called what it is."""
        line, column = defect.line, defect.column
        if line is None or column is None:
            return False
        of_row = self._of_old_row(defect, claimed) or self._of_newer_row(defect, claimed)
        renamed = self.oracle.under_another_name(defect.position[0], column.id)
        of_null = FindingKind.MISSING_RENAME if renamed else FindingKind.LOST_VALUE
        if claimed is not of_null and not of_row:
            return False
        root = self.oracle.root(column.id)
        for other in self.wrong.values():
            if other.line is None or other.column is None or other.actual is None:
                continue
            if self.claimed[other.position] is FindingKind.UNEXPLAINED:
                continue
            whole = {self.oracle.root(t.field_id) for t in tokens_in(other.token)} != {root}
            same_column = other.column.id == column.id or (
                whole and self.oracle.root(other.column.id) == root
            )
            if other.line.file == line.file and same_column:
                return False
            if FindingKind.STALE in defect.names & other.names and other.line.key == line.key:
                return False
        return True

    def _of_old_row(self, defect: Wrong, claimed: FindingKind) -> bool:
        """Whether the row is an older one, which has NULL there under today's columns too."""
        line, column = defect.line, defect.column
        if claimed is not FindingKind.STALE or line is None or column is None:
            return False
        rows = {text_of(k): row for k, row in self.oracle.history[line.step].rows.items()}
        whole = rows[line.key].values.get(self.oracle.root(column.id))
        parts = self.oracle.index.cells.get((column.id, line.key), {}).get(line.step, {None})
        # An entry that the map of then did not have is NULL as well.
        null = whole is None or (isinstance(whole, MapValue) and look_of(None) in parts)
        others = (
            other for other in self.wrong.values() if other.line and other.line.key == line.key
        )
        return null and any(FindingKind.STALE in other.names and other.actual for other in others)

    def _of_newer_row(self, defect: Wrong, claimed: FindingKind) -> bool:
        """Return whether the row is a newer one, in which the column had become NULL by then."""
        line, column = defect.line, defect.column
        if claimed is not FindingKind.PREMATURE or line is None or column is None:
            return False
        now = self.oracle.rows[line.key].written.get(self.oracle.root(column.id), -1)
        versions = self.oracle.index.cells.get((column.id, line.key), {})
        became = any(
            look_of(None) in looks for at, looks in versions.items() if now < at <= line.step
        )
        others = (
            other for other in self.wrong.values() if other.line and other.line.key == line.key
        )
        return became and any(claimed in other.names and other.actual for other in others)

    def _several(self, defect: Wrong) -> bool:
        """Return whether the value itself fits several, and its column in that file as well."""
        line, column = defect.line, defect.column
        if line is None or column is None:
            return False
        same_column = [
            other
            for other in self.wrong.values()
            if other.line is not None
            and other.line.file == line.file
            and other.column is not None
            and other.column.id == column.id
            and other.actual is not None
        ]
        constant = len({look_of(other.actual) for other in same_column}) == 1
        if len({other.position[0] for other in same_column}) < 4 or constant:  # no pattern
            return all(self._loose(other) for other in same_column)
        return bool(self._fitting(same_column)) or all(
            self._altered(other) for other in same_column
        )

    def _loose(self, defect: Wrong) -> bool:
        """Return whether others than the one have had such a value, in whatever row."""
        look = look_of(defect.actual)
        few = isinstance(defect.actual, bool) or look in FEW or near_epoch(defect.actual)
        others = len(self._had.get(look, set())) != 1
        return few or others or self._altered(defect)

    def _altered(self, defect: Wrong) -> bool:
        """Return whether it may as well be the right value, cut or rounded."""
        expected: object = self.oracle.expected(self.oracle.rows[defect.position[0]])
        for name in defect.position[1].split("."):
            expected = expected.get(name) if isinstance(expected, Mapping) else None
        return near(expected, defect.actual)

    def _fitting(self, places: list[Wrong]) -> set[int]:
        """Return the fields, other than the right one, that have all these values in their rows."""
        cells = self.oracle.index.cells
        fields = {field_id for field_id, _ in cells}
        true = {t.field_id for witness in places for t in tokens_in(witness.token)}
        return {
            id_
            for id_ in fields - true
            if all(
                look_of(p.actual)
                in {
                    look for looks in cells.get((id_, p.position[0]), {}).values() for look in looks
                }
                for p in places
            )
        }

    @property
    def _had(self) -> dict[Look, set[int]]:
        if not self._looks:
            for (field_id, _), steps in self.oracle.index.cells.items():
                for looks in steps.values():
                    for look in looks:
                        self._looks.setdefault(look, set()).add(field_id)
        return self._looks


def near_epoch(value: Value) -> bool:
    """Return whether a time is stored as one of the few numbers, which may be anything's."""
    if isinstance(value, datetime.datetime):
        micros = (value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)  # noqa: DTZ001
        return bool({micros, micros // 1000} & {0, 1, -1})
    return isinstance(value, datetime.date) and abs(value - datetime.date(1970, 1, 1)).days <= 1


def responsible_for(defect: Defect) -> Responsible:
    return Responsible.WRITER if defect.name.startswith(WRITER) else Responsible.READER


def verdict_of(defect: Defect, seen: Seen, seed: int) -> Verdict:
    # Half of the catalogs list no meta columns: that must not lead to another name.
    bare, answer = seen.bare or seed % 2 == 1, answer_of(seen.reply, seen.query)
    if responsible_for(defect) is Responsible.WRITER:
        return verdict_on(case_of(seen.story, seen.files, bare=bare), answer, seen.view)
    cell = cell_at(seen.story, seen.view)
    verdict = _variant(seen.story, bare=bare).judge(cell, answer)
    assert verdict is not None
    (settled,) = with_final_attribution([verdict], {cell.case: answer})
    return settled


def reproduces_planted(defect: Defect, verdict: Verdict, seen: Seen) -> bool:
    """Return whether the planted read strategy, or a part of it, is among those that are named.

    A part alone gives the same answer where the history has nothing that would show the rest. Of
    the columns of an earlier step none is, where a value has no form in a type of then: the planted
    reader shows it as it is, which none can.
    """
    planted = STRATEGIES.get(defect.name, "")
    if seen.catalog is not None:
        planted = planted.format(seen.catalog) if seen.typed else ""
    return not planted or any(
        f"{_whole(planted)}, ".startswith(f"{_whole(strategy)}, ")
        for strategy in verdict.reproduces
    )


def _whole(strategy: str) -> str:
    """Return a strategy so that no other way to find columns is a part of it."""
    return strategy.replace(COUNTED, "counted").replace(ANEW, "anew")
