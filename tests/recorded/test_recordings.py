"""Every recorded answer of a real engine, judged again: no verdict changes unseen.

Where a check was changed on purpose, the verdicts of today are accepted with the command that a
failure names; see docs/contributing.md. A new recording in this folder is met without more ado.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from harness.cells import Cell, parse_reader
from harness.judge import judge
from harness.record import FindingKind, Party, Verdict, VerdictKind
from tests.recorded import replay, store, tidy
from tests.recorded.spoilt import WAYS, Changed, changed
from tests.recorded.store import Recorded

HERE: Final = Path(__file__).parent
ROOTS: Final = tuple(sorted(path for path in HERE.iterdir() if any(path.rglob(store.VARIANT))))
ACCEPT: Final = "python tools/record.py --accept tests/recorded/"
SPOILT: Final = 100
"""So many right answers of a variant are spoilt, in each way."""
LARGEST: Final = 1_500_000
"""Bytes of a recording."""
OF_ONE_MACHINE: Final = re.compile(r"(?<![\w.])/\w+/|@[0-9a-f]{4}|\bs_[0-9a-f]{16}|:\d{4,5}\b")
FITTING: Final = {
    "NULL": {FindingKind.LOST_VALUE, FindingKind.MISSING_RENAME},
    "another row's": {FindingKind.UNEXPLAINED},
    "another column's": {FindingKind.MISALIGNED},
    "altered": {FindingKind.ALTERED_VALUE, FindingKind.UNEXPLAINED},
    "row left out": {FindingKind.LOST_ROW},
    "row twice": {FindingKind.DUPLICATE},
}
"""What each way of spoiling an answer may be called."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A recorded variant and the folder of its recording."""

    root: Path
    recorded: Recorded

    def __str__(self) -> str:
        return f"{self.root.name}: {self.recorded.variant.id}"


ENTRIES: Final = tuple(Entry(root, each) for root in ROOTS for each in store.read_all(root))
each_variant: Final = pytest.mark.parametrize("entry", ENTRIES, ids=str)


@each_variant
def test_recorded_answers_are_judged_as_they_were(entry: Entry) -> None:
    lines = replay.differences(entry.recorded.verdicts, replay.judged(entry.recorded))
    shown, accept = "\n".join(lines), f"{ACCEPT}{entry.root.name}"
    assert not lines, f"\n{shown}\nwhere that is right, accept it and review the diff:\n  {accept}"


@each_variant
def test_one_thing_changed_in_a_right_answer_is_found_there_and_nowhere_else(entry: Entry) -> None:
    recorded = entry.recorded
    spoilt = dict(_spoilt(recorded))
    answers = {cell.case: each.answer for cell, each in spoilt.items()}
    verdicts = judge(replay.case_of(recorded), tuple(spoilt), answers)
    said = {each.case: each for each in verdicts}
    bad = [text for cell, each in spoilt.items() if (text := _miss(said[cell.case], each))]
    assert not bad, "\n".join(bad)
    twin_of_other_types = {"another column's"} if recorded.variant.twin else set()
    assert {each.way for each in spoilt.values()} == set(WAYS) - twin_of_other_types


def _spoilt(recorded: Recorded) -> Iterator[tuple[Cell, Changed]]:
    key = recorded.variant.scenario.table.key
    right = [cell for cell, said in recorded.verdicts.items() if said["verdict"] == "correct"]
    chance = random.Random(recorded.variant.id)  # noqa: S311 - nothing is kept secret
    for cell in chance.sample(right, min(SPOILT, len(right))):
        answer = recorded.answers[cell]
        assert answer is not None
        for number, way in enumerate(WAYS):
            spoilt = changed(answer, key, way)
            if spoilt is not None:
                yield _named(cell, number), spoilt


def _named(cell: Cell, number: int) -> Cell:
    """Give the cell of a reader of the same product that answers so."""
    reader = parse_reader(cell.reader)
    settings = (*reader.settings, ("spoilt", str(number)))
    return replace(cell, reader=str(replace(reader, settings=settings)))


def _miss(verdict: Verdict, spoilt: Changed) -> str:
    found = {
        (place.key, place.column, finding.kind, finding.party)
        for finding in verdict.findings
        for place in finding.places
    }
    there = {(str(key), column) for key, column, _, _ in found}
    right = (
        verdict.verdict is VerdictKind.WRONG
        and there == {(spoilt.key, spoilt.column)}
        and {kind for _, _, kind, _ in found} <= FITTING[spoilt.way]
        and {party for _, _, _, party in found} == {Party.READER}
    )
    where = f"{spoilt.way} at {spoilt.key}, {spoilt.column}"
    return "" if right else f"{verdict.case}: {where}: {verdict.verdict} {found}"


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: str(root.name))
def test_a_recording_is_small_and_names_no_machine_and_no_time(root: Path) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in root.rglob("*") if path.is_file()}
    assert sum(len(text.encode()) for text in texts.values()) < LARGEST
    for path, text in texts.items():
        assert not (path.name.endswith(".jsonl") and OF_ONE_MACHINE.search(text)), path
        assert {each[:20] for each in tidy.UUID.findall(text)} <= {tidy.group(0)[:20]}
        assert {each[:10] for each in tidy.INSTANT.findall(text)} <= {tidy.instant(0)[:10]}
