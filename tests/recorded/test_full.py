"""What the recording of the profile `full` holds, and what people said of some of its cells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from harness.scenario.cells import Cell
from tests.builders import recorded_lines, recordings
from tests.builders.recorded_lines import Parsed

FULL: Final = Path(__file__).parent / "full"
ADJUDICATED: Final = Path(__file__).parents[2] / "docs" / "results" / "adjudicated.jsonl"
VARIANTS: Final = 410
CELLS: Final = 41_431
RIGHT: Final = 246
"""So many of the cells that were looked at one by one and found right in every name are in this
plan: most of the first were of larger ones, whose conditions were others too."""
ASKED_OTHERWISE: Final = (
    "hive/without_zone[hive-parquet,twin]@spark-3.5.8-hudi-0.15.0/s2/snapshot/count(at)/"
    "trino-368{use-column-names=false}"
)
"""A cell that was looked at when its condition was another one."""


def parsed(name: str) -> Iterator[Parsed]:
    """Read the lines alone: to make answers of them all takes far longer."""
    for folder in recordings.folders(FULL):
        path = recorded_lines.find(folder, name)
        assert path, folder
        yield recorded_lines.parse(recorded_lines.read(path))


def cells(file: Parsed) -> Iterator[tuple[Cell, str]]:
    for variant, of_variant in file.variants.items():
        yield from recorded_lines.cells(variant, of_variant)


def test_the_recording_holds_the_whole_profile_and_every_question_was_put() -> None:
    planned = {variant for file in parsed(recordings.VARIANTS) for variant in file.variants}
    answered = dict(each for file in parsed(recordings.ANSWERS) for each in cells(file))
    assert len(planned) == VARIANTS
    assert {cell.variant for cell in answered} == planned
    assert len(answered) == CELLS
    assert recordings.NEVER_ASKED not in answered.values()


def names(file: Parsed, verdict: str) -> list[str]:
    """Return the findings of a verdict with their columns, as they stand in `ADJUDICATED`."""
    found = (file.once[each] for each in file.once[verdict].get("findings", ()))
    return sorted(f"{each['kind']}: {', '.join(each['columns'])}" for each in found)


def test_what_people_found_right_still_has_the_names_that_they_looked_at() -> None:
    lines_ = map(json.loads, ADJUDICATED.read_text("utf-8").splitlines())
    told = [each for each in lines_ if "run" not in each]  # the others are of other profiles
    right: Mapping[str, Any] = {
        each["case"]: each for each in told if each["right"] and each["case"] != ASKED_OTHERWISE
    }
    now = {
        cell.case: names(file, verdict)
        for file in parsed(recordings.VERDICTS)
        for cell, verdict in cells(file)
        if cell.case in right
    }
    assert len(now) == RIGHT
    assert now == {case: sorted(right[case]["findings"]) for case in now}
