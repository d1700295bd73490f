"""Every recorded answer of a real engine, judged again: no verdict changes unseen.

Where a check was changed on purpose, the verdicts of today are accepted with the command that a
failure names; see docs/contributing.md. Right answers of a few variants are spoilt as well.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from harness.core.records import FindingKind, Responsible, Verdict, VerdictKind
from harness.judge.gate import MOST_OPEN
from harness.judge.verdicts import judge
from harness.scenario.cells import Cell, parse_reader
from tests.builders import recorded_lines, recordings, replay, tidy_records
from tests.builders.recordings import Recorded, VerdictRecord
from tests.builders.spoilt_answers import CHANGES, Changed, changed

HERE: Final = Path(__file__).parent
ROOTS: Final = tuple(sorted(path for path in HERE.iterdir() if recordings.folders(path)))
FOLDERS: Final = tuple(folder for root in ROOTS for folder in recordings.folders(root))
ACCEPT: Final = "python tools/record.py --accept tests/recorded/"
SHOWN: Final = 200
"""So many lines of changed verdicts are shown."""
VARIANTS: Final = 4
"""Right answers of so many variants of a scenario are spoilt."""
SPOILT: Final = 20
"""So many right answers of a variant are spoilt, in each way."""
NO_PROFILES: Final = {"lists", "open", "reports", "ways"}
"""Recordings that are made to show what is left open, each way of reading, or one fault each."""
MOST_NOBODYS: Final = 0.001
"""The share of wrong answers that may be unexplained, and that of those that are nobody's doing."""
ADMITTED: Final = {("row left out", "least"), ("NULL", "old"), ("NULL", "empty")}
"""The ways of spoiling rows of that recording that make of a right answer one that is open."""
LARGEST: Final = 8_000_000
"""Bytes of all recordings."""
OF_ONE_MACHINE: Final = re.compile(
    r"(?<![\w.)])(?<!s3:/)/\w+/|@[0-9a-f]{4}|\bs_[0-9a-f]{16}|(?<=[\w\]]):\d{4,5}\b"
)
FITTING: Final = {
    "NULL": {FindingKind.LOST_VALUE, FindingKind.MISSING_RENAME},
    "another row's": {FindingKind.UNEXPLAINED},
    "another column's": {FindingKind.MISALIGNED},
    "altered": {FindingKind.ALTERED_VALUE, FindingKind.UNEXPLAINED},
    "row left out": {FindingKind.LOST_ROW},
    "row twice": {FindingKind.DUPLICATE},
}
"""What each way of spoiling an answer may be called."""
WITH_DISTINCT_VALUES: Final = {"quick_start"}
"""Recordings in which a value tells for sure whose it is. Elsewhere are partition columns of two
values, booleans and values given by a scenario: what is wrong is found there as well, and may fit
another name, or nobody's doing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The recorded variants of a scenario."""

    recording: str
    variants: tuple[Recorded, ...]


def _name(folder: Path) -> str:
    return str(folder.relative_to(HERE))


@pytest.fixture(scope="module", params=FOLDERS, ids=_name)
def entry(request: pytest.FixtureRequest) -> Entry:
    """Read a scenario's recording: only now, since each test process collects all tests."""
    folder: Path = request.param
    return Entry(folder.relative_to(HERE).parts[0], recordings.read(folder))


def test_recorded_answers_are_judged_as_they_were_and_at_once_as_at_last(entry: Entry) -> None:
    was = {
        cell: verdict for variant in entry.variants for cell, verdict in variant.verdicts.items()
    }
    judged = [replay.judged_twice(variant) for variant in entry.variants]
    now = {cell: verdict for _, of_variant in judged for cell, verdict in of_variant.items()}
    changes = replay.differences(was, now)
    left_out = f"… and {len(changes) - SHOWN} more lines" if len(changes) > SHOWN else ""
    shown, accept = "\n".join((*changes[:SHOWN], left_out)), f"{ACCEPT}{entry.recording}"
    assert not changes, f"\n{shown}\nwhere that is right, accept it and review it:\n  {accept}"
    # Where the model is in doubt a wrong answer is unknown at last; no recording has such a cell.
    early = {cell: kind for of_variant, _ in judged for cell, kind in of_variant.items()}
    assert {cell: kind for cell, kind in early.items() if kind != now[cell]["verdict"]} == {}


def test_one_thing_changed_in_a_right_answer_is_found_there_and_nowhere_else(entry: Entry) -> None:
    chance = random.Random(entry.variants[0].variant.scenario.name)  # noqa: S311 - no secret
    some = chance.sample(entry.variants, min(VARIANTS, len(entry.variants)))
    bad = [
        text
        for recorded in some
        for text in _missed(recorded, distinct=entry.recording in WITH_DISTINCT_VALUES)
    ]
    assert not bad, "\n".join(bad)


def _missed(recorded: Recorded, *, distinct: bool) -> Iterator[str]:
    spoilt = dict(_spoilt(recorded))
    answers = {cell.case: change.answer for cell, change in spoilt.items()}
    verdicts = judge(replay.case_of(recorded), tuple(spoilt), answers)
    by_case = {verdict.case: verdict for verdict in verdicts}
    for cell, change in spoilt.items():
        if miss := _miss(by_case[cell.case], change, distinct=distinct):
            yield miss
    twin_of_other_types = {"another column's"} if recorded.variant.twin else set()
    lacking = set(CHANGES) - twin_of_other_types - {change.change for change in spoilt.values()}
    if lacking and distinct:
        yield f"{recorded.variant.id}: nothing was spoilt so: {lacking}"


def _spoilt(recorded: Recorded) -> Iterator[tuple[Cell, Changed]]:
    key = recorded.variant.scenario.table.key
    right = [cell for cell, verdict in recorded.verdicts.items() if verdict["verdict"] == "correct"]
    chance = random.Random(recorded.variant.id)  # noqa: S311 - nothing is kept secret
    for cell in chance.sample(right, min(SPOILT, len(right))):
        answer = recorded.answers[cell]
        assert answer is not None
        for number, change in enumerate(CHANGES):
            spoilt = changed(answer, key, change)
            if spoilt is not None:
                yield _named(cell, number), spoilt


def _named(cell: Cell, number: int) -> Cell:
    """Return the cell of a reader of the same product that answers so."""
    reader = parse_reader(cell.reader)
    settings = (*reader.settings, ("spoilt", str(number)))
    return replace(cell, reader=str(replace(reader, settings=settings)))


def _miss(verdict: Verdict, spoilt: Changed, *, distinct: bool) -> str:
    result = {
        (place.key, place.column, finding.kind, finding.responsible)
        for finding in verdict.findings
        for place in finding.witnesses
    }
    right = (
        verdict.verdict is VerdictKind.WRONG
        and all(str(key) == spoilt.key for key, _, _, _ in result)
        # Trino gives names in lower case, of which no two of a table's are alike.
        and all(_within(column.lower(), spoilt.column.lower()) for _, column, _, _ in result)
        and (not distinct or {kind for _, _, kind, _ in result} <= FITTING[spoilt.change])
        and {responsible for _, _, _, responsible in result}
        <= {Responsible.READER, Responsible.READER if distinct else None}
    )
    right |= verdict.verdict is VerdictKind.OPEN and (spoilt.change, spoilt.key) in ADMITTED
    where = f"{spoilt.change} at {spoilt.key}, {spoilt.column}"
    return "" if right else f"{verdict.case}: {where}: {verdict.verdict} {result}"


def _within(path: str, column: str) -> bool:
    """Return whether a path is that of a column, or of a part of its values."""
    part = column and path.startswith((f"{column}.", f"{column}["))
    return path == column or bool(part)


@pytest.mark.parametrize("folder", FOLDERS, ids=_name)
def test_a_recording_names_no_machine_and_no_time(folder: Path) -> None:
    for path in folder.iterdir():
        text = recorded_lines.read(path)
        assert path.name.startswith(recordings.VARIANTS) or not OF_ONE_MACHINE.search(text), path
        assert {uuid[:20] for uuid in tidy_records.UUID.findall(text)} <= {
            tidy_records.group(0)[:20]
        }
        assert {instant[:10] for instant in tidy_records.INSTANT.findall(text)} <= {
            tidy_records.instant(0)[:10]
        }


@pytest.mark.parametrize(
    "root", [root for root in ROOTS if root.name not in NO_PROFILES], ids=_name
)
def test_of_a_profile_few_checks_are_left_open_and_hardly_a_wrong_one_is_unexplained(
    root: Path,
) -> None:
    recorded = (
        recording for folder in recordings.folders(root) for recording in recordings.read(folder)
    )
    verdicts = [verdict for recording in recorded for verdict in recording.verdicts.values()]
    kinds = Counter(verdict["verdict"] for verdict in verdicts)
    assert kinds["correct"]
    assert kinds["open"] <= MOST_OPEN * kinds.total()
    wrong = [verdict["findings"] for verdict in verdicts if verdict["verdict"] == "wrong"]
    unexplained = [
        findings for findings in wrong if FindingKind.UNEXPLAINED in _values(findings, "kind")
    ]
    nobodys = [findings for findings in wrong if not _values(findings, "party")]
    assert max(len(unexplained), len(nobodys)) <= MOST_NOBODYS * len(wrong)


def _values(findings: Iterable[VerdictRecord], name: str) -> set[object]:
    return {finding[name] for finding in findings if finding.get(name)}


def test_the_recordings_are_small() -> None:
    files = (path for folder in FOLDERS for path in folder.iterdir())
    assert sum(path.stat().st_size for path in files) < LARGEST
