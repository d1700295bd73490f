"""Each planted defect, over random histories: found under its right name, blamed on the right one,
and with its read strategy among those that reproduce the answer.

`oracle` says which name is right, by tokens that stand in the place of values (`traced_answer`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from harness.core.records import FindingKind, Responsible, VerdictKind
from harness.core.refusals import MEANINGS
from tests.quality import defects_overwrite, judged_defects
from tests.quality.defects import DEFECTS, REFUSALS, right
from tests.quality.defects_refusals import ALONE, TEXTS
from tests.quality.judged_defects import Result

SEEDS, FEWER_SEEDS = range(24), range(8)
SEEN = {Result.RIGHT, Result.UNDECIDABLE}
MISSES = {Result.WRONG, Result.MISSED}
REFUSED = [name for name in REFUSALS if name.startswith("refused: ")]
ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "by position": ("columns by position", "log files ignored, by position"),
    "by name": ("columns by name", "log files ignored, by name"),
    "case fold": ("names differ only in case, case ignored",),
    "swap of same-typed neighbours": (
        "columns of one type swapped",
        "columns of one type swapped in one file",
        "writer: values under each other's columns",
    ),
    "partition value as column": ("partition value as column",),
    "off-by-one shift": ("by position, one too far right", "by position, one too far left"),
    "meta columns shifting by five": (
        "by position, meta columns counted",
        "log files ignored, meta columns counted",
        "by position, five too far right",
    ),
    "meta columns under others": ("three of Hudi's columns under others",),
    "resurrect": ("dropped column resurrected by name",),
    "stale schema": (
        "schema of an earlier step, by id",
        "schema of an earlier step, by name",
        "table of an earlier step, rows and schema",
    ),
    "stale rows": (
        "rows of an earlier step",
        "newest file of a group overlooked",
        "one value of an older step",
        "writer: compaction writes older values",
    ),
    "ignore logs": ("log files ignored",),
    "ignore logs of one side of a pending compaction": (
        "pending compaction: log files written since ignored",
        "pending compaction: nothing but log files written since",
        "pending compaction: read-optimized as if it were carried out",
    ),
    "show what was overwritten or dropped": tuple(
        f"{what} on {on}: what was there before too"
        for what in defects_overwrite.ENDS
        for on in ("copy-on-write", "merge-on-read")
    ),
    "take a DataFrame's new column for a renamed one": (
        "DataFrame: old values under the new name",
    ),
    "keep what a DataFrame lacks": ("DataFrame: the values of before where it has none",),
    "ignore which file groups were replaced": (
        "clustering on copy-on-write: replaced file groups too",
        "clustering on merge-on-read: replaced file groups too",
        "clustering on copy-on-write: replaced file groups instead of new ones",
        "clustering on merge-on-read: replaced file groups instead of new ones",
    ),
    "ignore a restore or a rollback": (
        "restore: read as if nothing had been taken back",
        "rollback: read as if nothing had been taken back",
        "restore: log files that were taken back are merged",
        "rollback: log files that were taken back are merged",
        "restore: deleted rows stay away",
        "restore: rows that came since stay",
        "restore: the catalog's columns stay behind",
        "writer: restore leaves the files",
        "writer: rollback leaves the files",
    ),
    "show a write that failed": (
        "failed write: read as if nothing had been taken back",
        "failed write: log files that were taken back are merged",
        "writer: failed write leaves the files",
    ),
    "merge late versions by the wrong mode": (
        "late versions, event_time: read by commit_time",
        "late versions, commit_time: read by event_time",
    ),
    "ignore deletes": ("deletes ignored", "writer: deletes lost"),
    "duplicate rows": ("a row twice", "every row twice", "old file beside the new one"),
    "log records beside base rows": (
        "record keys from the third column",
        "record keys from the third column, base files by name",
    ),
    "rows of nothing but NULLs": ("rows of nothing but NULLs",),
    "lost file": ("a file lost", "files left out by the name's statistics"),
    "NULL for promoted files": ("NULL where the type was promoted",),
    "truncated decimals": ("decimals without their fraction", "decimals with one digit less"),
    "shifted zones": (
        "timestamps eight hours off",
        "timestamps of a zone with half hours",
    ),
    "float for double": ("a double declared as float", "doubles with the digits of a float"),
    "wrong output labels": ("labels of two columns swapped", "a column without its label"),
    "wrong labels of columns asked alone": tuple(ALONE),
    "predicate pushed to the wrong statistics": ("files left out by the place's statistics",),
    "right count but wrong rows": ("as many rows, but others",),
    "reordered rows (must pass)": ("rows and columns in another order (right)",),
    "another past than the one asked for": (
        "as of a step: what is now",
        "as of a step: values of then under the columns of now",
        "as of a step: one step too early",
        "as of a step: one step too late",
    ),
    "another part than what was written since": (
        "since a step: everything",
        "since a step: one write too many",
        "since a step: nothing of the newest write",
        "since a step: columns of then",
        "since a step: deleted rows too",
    ),
    "refusals of each kind": tuple(REFUSED),
    "crash midway": ("unknown: crash midway", "refused: crash midway in the columns asked alone"),
}
"""The planted defects for each way to be wrong that has to be found."""


@pytest.mark.parametrize("what", ASKED)
def test_each_way_to_be_wrong_that_has_to_be_found_is_planted(what: str) -> None:
    there = DEFECTS.keys() | REFUSALS.keys()
    assert set(ASKED[what]) <= there
    must_pass = "must pass" in what
    assert all(DEFECTS[n].harmless is must_pass for n in ASKED[what] if n in DEFECTS)


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_under_its_right_name(name: str) -> None:
    results = {seed: judged_defects.judge(DEFECTS[name], seed) for seed in SEEDS}
    assert [seed for seed, judged in results.items() if judged.result in MISSES] == []
    assert any(judged.result in SEEN for judged in results.values()) != DEFECTS[name].harmless


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_blamed_on_who_did_it_and_its_strategy_is_named(name: str) -> None:
    defect, sure = DEFECTS[name], set[Responsible | None]()
    responsible = judged_defects.responsible_for(defect)
    unsure = {Responsible.UNSURE} if responsible is Responsible.WRITER else set()
    for seed in FEWER_SEEDS:
        seen = defect.seen(seed)
        if seen is None:
            continue
        verdict = judged_defects.verdict_of(defect, seen, seed)
        blamed = {finding.responsible for finding in verdict.findings}
        assert blamed <= {responsible, *unsure}, seed
        sure |= blamed
        if verdict.verdict is VerdictKind.WRONG and responsible is Responsible.READER:
            assert judged_defects.reproduces_planted(defect, verdict, seen), seed
    assert responsible in sure or responsible is Responsible.READER


@pytest.mark.parametrize("again", [FindingKind.DUPLICATE, FindingKind.TYPE_DRIFT])
def test_a_place_that_is_explained_twice_is_a_miss(
    monkeypatch: pytest.MonkeyPatch, again: FindingKind
) -> None:
    seen = DEFECTS["a column twice"].seen(0)
    assert seen is not None
    assert judged_defects.held(seen).result is Result.RIGHT
    ((spot, kind),) = judged_defects.named(seen)
    monkeypatch.setattr(judged_defects, "named", lambda _: [(spot, kind), (spot, again)])
    assert judged_defects.held(seen).result is Result.MISSED


def test_more_rows_of_one_key_are_a_place_each() -> None:
    seen = DEFECTS["every row twice"].seen(0)
    assert seen is not None
    thrice = replace(seen, lines=seen.lines + seen.lines[: len(seen.lines) // 2])
    assert judged_defects.held(thrice).result is Result.RIGHT


@pytest.mark.parametrize("name", REFUSALS)
def test_no_answer_is_never_a_pass(name: str) -> None:
    assert [seed for seed in range(5) if not right(name, seed)] == []


@pytest.mark.parametrize(("kind", "message", "means"), MEANINGS)
def test_each_refusal_whose_meaning_is_known_is_planted(
    kind: str, message: str, means: str
) -> None:
    fits = [
        story
        for refusal, story in TEXTS.values()
        if re.fullmatch(kind or ".*", refusal.kind) and re.search(message, refusal.message)
    ]
    assert fits == [means]
