"""Every answer of the quick-start's engines, judged again: no verdict changes unseen.

The recording is of a run on real engines. Where a check was changed on purpose, the verdicts of
today are accepted with the command that a failure names; see docs/contributing.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from harness.cells import Cell, parse_reader
from harness.judge import judge
from harness.record import FindingKind, Party, Verdict, VerdictKind
from tests.recorded import replay, store, tidy
from tests.recorded.spoilt import WAYS, Changed, changed
from tests.recorded.store import Recorded

ROOT: Final = Path(__file__).parent / "quick_start"
VARIANTS: Final = store.read_all(ROOT)
ACCEPT: Final = "python tools/record.py --accept tests/recorded/quick_start"
CELLS: Final = 1216
OF_ONE_MACHINE: Final = re.compile(r"(?<![\w.])/\w+/|@[0-9a-f]{4}|\bs_[0-9a-f]{16}|:\d{4,5}\b")
each_variant: Final = pytest.mark.parametrize(
    "recorded", VARIANTS, ids=lambda each: each.variant.id
)

ALLOWED: Final = {
    "NULL": {FindingKind.LOST_VALUE, FindingKind.MISSING_RENAME},
    "another row's": {FindingKind.UNEXPLAINED},
    "another column's": {FindingKind.MISALIGNED},
    "altered": {FindingKind.ALTERED_VALUE, FindingKind.UNEXPLAINED},
    "row left out": {FindingKind.LOST_ROW},
    "row twice": {FindingKind.DUPLICATE},
}


@each_variant
def test_recorded_answers_are_judged_as_they_were(recorded: Recorded) -> None:
    lines = replay.differences(recorded.verdicts, replay.judged(recorded))
    shown = "\n".join(lines)
    assert not lines, f"\n{shown}\nwhere that is right, accept it and review the diff:\n  {ACCEPT}"


@each_variant
def test_one_thing_changed_in_a_right_answer_is_found_there_and_nowhere_else(
    recorded: Recorded,
) -> None:
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
    for cell, answer in recorded.answers.items():
        if answer is None or recorded.verdicts[cell]["verdict"] != VerdictKind.CORRECT:
            continue
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
        and {kind for _, _, kind, _ in found} <= ALLOWED[spoilt.way]
        and {party for _, _, _, party in found} == {Party.READER}
    )
    where = f"{spoilt.way} at {spoilt.key}, {spoilt.column}"
    return "" if right else f"{verdict.case}: {where}: {verdict.verdict} {found}"


def test_the_recording_holds_the_whole_quick_start() -> None:
    assert sum(len(each.answers) for each in VARIANTS) == CELLS
    assert all(each.answers.keys() <= each.verdicts.keys() for each in VARIANTS)
    verdicts = replay.counts(VARIANTS)
    assert verdicts["correct"] > 800
    assert verdicts["wrong"] > 200
    assert verdicts["refused"] > 50
    kinds = Counter(kind for each in VARIANTS for kind in _kinds(each))
    assert {"misaligned", "resurrected", "stale", "missing_rename", "lost_value"} <= kinds.keys()
    assert "unexplained" not in kinds


def _kinds(recorded: Recorded) -> Iterator[str]:
    for said in recorded.verdicts.values():
        for finding in said.get("findings", ()):
            yield finding["kind"]
            assert finding["party"] == Party.READER


def test_the_recording_is_small_and_names_no_machine_and_no_time() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in ROOT.rglob("*") if path.is_file()}
    assert sum(len(text.encode()) for text in texts.values()) < 1_500_000
    for path, text in texts.items():
        assert not (path.name.endswith(".jsonl") and OF_ONE_MACHINE.search(text)), path
        assert {each[:20] for each in tidy.UUID.findall(text)} <= {tidy.group(0)[:20]}
        assert {each[:10] for each in tidy.INSTANT.findall(text)} <= {tidy.instant(0)[:10]}
