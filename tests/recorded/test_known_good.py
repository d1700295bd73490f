"""Each answer of a reader that should be right and was not has a line that judges it, and evidence.

The lines are worked out again for a few scenarios; for the others their cases and names are held
against the recording.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from harness.core.records import Refusal
from tests.builders import recorded_lines, recordings
from tests.builders.recorded_lines import Parsed

ROOT: Final = Path(__file__).parents[2]
FULL: Final = ROOT / "tests" / "recorded" / "full"
TOLD: Final = ROOT / "docs" / "results" / "known_good.jsonl.xz"
AT_LEAST: Final = 10_000
"""So many cells of readers that should be right are asked for."""
WORKED_OUT: Final = ("hive/without_zone", "iceberg/hard_values", "iceberg/case")


@pytest.fixture
def tool() -> ModuleType:
    return importlib.import_module("tools.measure.known_good")


@pytest.fixture(scope="module")
def told() -> dict[str, dict[str, Any]]:
    each = [json.loads(line) for line in recorded_lines.read(TOLD).splitlines()]
    assert len({line["case"] for line in each}) == len(each)
    return {line["case"]: line for line in each}


def parsed(folder: Path, name: str) -> Parsed:
    path = recorded_lines.find(folder, name)
    assert path, folder
    return recorded_lines.parse(recorded_lines.read(path))


def recorded(tool: ModuleType, folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each cell of a reader that should be right, its verdict, and the findings' names.

    Of the lines alone: to read all answers takes far longer.
    """
    variants = {
        each.id: each for each, _ in recordings._read_plan(parsed(folder, recordings.VARIANTS))
    }
    verdicts = parsed(folder, recordings.VERDICTS)
    for variant, of_variant in verdicts.variants.items():
        for cell, name in recorded_lines.cells(variant, of_variant):
            said = verdicts.once[name]
            found = [verdicts.once[each] for each in said.get("findings", ())]
            names = sorted(f"{each['kind']}: {', '.join(each['columns'])}" for each in found)
            if tool.known_good(cell, variants[variant]):
                yield cell.case, said["verdict"], names


def test_what_is_not_right_has_a_line_with_its_names_of_today_and_nothing_else_has(
    tool: ModuleType, told: dict[str, dict[str, Any]]
) -> None:
    every = [each for folder in recordings.folders(FULL) for each in recorded(tool, folder)]
    assert len(every) >= AT_LEAST
    wrong = {case: (verdict, names) for case, verdict, names in every if verdict not in tool.FINE}
    assert wrong == {case: (each["verdict"], each["findings"]) for case, each in told.items()}


def test_each_line_is_judged_and_says_by_what(
    tool: ModuleType, told: dict[str, dict[str, Any]]
) -> None:
    for case, each in told.items():
        assert each["group"] != tool.UNADJUDICATED, case
        assert all(each[name] for name in ("whose", "judgement", "evidence", "source")), case
        assert tool.AS_WRITTEN in each["evidence"] or each["whose"] == tool.DOUBTFUL, case


@pytest.mark.parametrize("name", WORKED_OUT)
def test_the_evidence_is_worked_out_of_the_recording(
    tool: ModuleType, told: dict[str, dict[str, Any]], name: str
) -> None:
    made = list(tool.lines(recordings.read(FULL / name)))
    assert len(made) > 10
    assert made == [each for case, each in told.items() if case.startswith(f"{name}[")]


def test_an_answer_that_no_way_gives_is_not_adjudicated(tool: ModuleType) -> None:
    every = (each for r in recordings.read(FULL / "iceberg" / "case") for each in tool.cells(r))
    known = next(each for each in every if each.said["verdict"] == "wrong")
    assert tool.line(known)["group"] != tool.UNADJUDICATED
    row, *rows = known.answer.rows
    other = replace(known.answer, rows=((*row[:-1], -1), *rows))
    assert tool.line(replace(known, answer=other))["group"] == tool.UNADJUDICATED


def test_a_refusal_whose_reason_the_records_do_not_bear_out_is_not_adjudicated(
    tool: ModuleType,
) -> None:
    (known, *_) = (
        each
        for r in recordings.read(FULL / "iceberg" / "case")
        for each in tool.cells(r)
        if each.said["verdict"] == "refused"
    )
    assert tool.line(known)["group"] == "delete files"
    first = replace(known, cell=replace(known.cell, step=1))  # nothing was deleted yet
    assert not any(fact.deleted for fact in first.state.files)
    other = replace(known.answer, refusal=Refusal("NOT_SUPPORTED", "another reason"))
    for each in (first, replace(known, answer=other)):
        assert tool.line(each)["group"] == tool.UNADJUDICATED
