"""What readers are declared not to know, compared with their recorded answers about all tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from harness.core.records import Answer, VerdictKind
from harness.scenario.cells import Cell, parse_reader
from tests.builders import recordings, replay
from tests.builders.recordings import VerdictRecord

ASKED: Final = Path(__file__).parent / "full" / "hudi" / "all_types"
"""One question of each reader, format and version is sent of all; some of them are here."""
REFUSAL: Final = "Unknown table versionCode:9"
"""What Hudi 1.0.2 says of a table of version 9."""
OLDER: Final = {"prestosql-350", "trino-368"}
"""Of what their Hudi knows of tables they name no version."""


@pytest.fixture(scope="module")
def judged() -> list[tuple[Cell, str, Answer, VerdictRecord]]:
    """Return each recorded cell with its table's version, what was answered, and its verdict."""
    results = []
    for recording in recordings.read(ASKED):
        versions = {state.outcome.step: state.table_version for state in recording.states}
        for cell, verdict in replay.judged(recording).items():
            answer = recording.answers.get(cell)
            if answer is not None:
                results.append((cell, versions[cell.step], answer, verdict))
    return results


def test_a_recorded_refusal_is_unsupported_where_hudi_names_the_version_and_nowhere_else(
    judged: list[tuple[Cell, str, Answer, VerdictRecord]],
) -> None:
    actual = [
        (REFUSAL in answer.refusal.message + answer.refusal.cause, verdict["verdict"])
        for cell, _, answer, verdict in judged
        if answer.refusal and parse_reader(cell.reader).distribution not in OLDER
    ]
    assert set(actual) == {(True, VerdictKind.UNSUPPORTED), (False, VerdictKind.REFUSED)}


def test_readers_that_know_older_timelines_refused_every_newer_table_and_read_older_ones(
    judged: list[tuple[Cell, str, Answer, VerdictRecord]],
) -> None:
    of_older = [
        verdict for verdict in judged if parse_reader(verdict[0].reader).distribution in OLDER
    ]
    newer = {verdict["verdict"] for _, version, _, verdict in of_older if version in {"8", "9"}}
    older = {verdict["verdict"] for _, version, _, verdict in of_older if version == "6"}
    assert newer == {VerdictKind.UNSUPPORTED}
    assert VerdictKind.UNSUPPORTED not in older
    assert VerdictKind.CORRECT in older


def test_no_recorded_answer_is_one_to_what_is_declared_unsupported(
    judged: list[tuple[Cell, str, Answer, VerdictRecord]],
) -> None:
    assert not [cell.case for cell, _, _, verdict in judged if verdict.get("disclaimed")]
