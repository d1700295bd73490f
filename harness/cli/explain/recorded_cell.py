"""Which case of a run is meant, and all that was recorded of it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from harness.core import jsonl
from harness.core.errors import UsageProblem
from harness.core.records import Answer, StateRecord, Verdict
from harness.judge.recorded_variant import RecordedVariant
from harness.run import load_run, plan_record, run_info
from harness.run.load_run import wrong_record
from harness.run.run_info import RunInfo
from harness.run.run_judge import case_of
from harness.scenario.cells import Cell

MOST: Final = 8
"""So many cases are named where one is meant."""

_Record = TypeVar("_Record", StateRecord, Answer, Verdict)


@dataclass(frozen=True, slots=True)
class RecordedCell:
    """A cell with its records."""

    info: RunInfo
    """With no other variant than the cell's."""
    cell: Cell
    case: RecordedVariant
    answer: Answer | None
    verdict: Verdict | None
    question: tuple[Verdict, ...] = ()
    """What every reader made of the same question."""


def find(folder: Path, parts: Sequence[str]) -> RecordedCell:
    """Find the one case that has all the parts in its name.

    Raises:
        UsageProblem: none has, or several do; the message names near ones.

    """
    info = run_info.read_info(folder)
    cell = only(info.cells, parts)
    states = _records(folder / load_run.STATES, StateRecord, cell.variant)
    answers = _records(folder / load_run.ANSWERS, Answer, cell.case)
    answer = next((answer for answer in answers if answer.case == cell.case), None)
    cases = {
        planned_cell.case for planned_cell in info.cells if planned_cell.question == cell.question
    }
    verdicts = _records(folder / load_run.VERDICTS, Verdict, cell.case.removesuffix(cell.reader))
    question = tuple(verdict for verdict in verdicts if verdict.case in cases)
    verdict = next((verdict for verdict in question if verdict.case == cell.case), None)
    return replace(of_cell(info, cell, tuple(states), answer, verdict), question=question)


def of_cell(
    info: RunInfo,
    cell: Cell,
    states: tuple[StateRecord, ...],
    answer: Answer | None,
    verdict: Verdict | None,
) -> RecordedCell:
    """Return a cell of a run with its records, `states` those of its variant; no other reader's."""
    info = replace(info, variants=tuple(v for v in info.variants if v.id == cell.variant))
    (variant,) = plan_record.plan_of(info).variants
    case = case_of(variant, states)
    return RecordedCell(info, cell, case, answer, verdict)


def only(cells: Sequence[Cell], parts: Sequence[str]) -> Cell:
    """Return the one cell that has all the parts in its case, or is called so.

    Raises:
        UsageProblem: none has, or several do; the message names near ones.

    """
    text = " ".join(parts)
    cases = {cell.case: cell for cell in cells}
    if text in cases:
        return cases[text]
    fits = [case for case in cases if all(part in case for part in parts)]
    if len(fits) == 1:
        return cases[fits[0]]
    if fits:
        shown = "\n  ".join(fits[:MOST])
        more = f"\n  … and {len(fits) - MOST} more" if len(fits) > MOST else ""
        raise UsageProblem(f"{len(fits)} cases match '{text}'; be more specific:\n  {shown}{more}")
    raise UsageProblem(f"no case matches '{text}'{_near(text, parts, list(cases))}")


def _near(text: str, parts: Sequence[str], cases: Sequence[str]) -> str:
    # Of a part that fits nowhere a near text would be noise: those that have the other parts.
    counted = sorted(cases, key=lambda case: -sum(part in case for part in parts))
    most = sum(part in counted[0] for part in parts) if counted else 0
    alike = [case for case in counted if sum(part in case for part in parts) == most]
    near = difflib.get_close_matches(text, alike, MOST, cutoff=0.0 if most else 0.3)
    hint = "harness plan --cells lists those of a profile, and the report those of a run"
    listed = "\n  ".join(near)
    return f"; the closest ones:\n  {listed}" if near else f"; {hint}"


def _records(path: Path, kind: type[_Record], named: str) -> Iterator[_Record]:
    """Read the records with a text that begins so; the others are not even parsed."""
    if not path.exists():
        return
    wanted = json.dumps(named, ensure_ascii=False).removesuffix('"').encode()
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if wanted in line and line.endswith(b"\n"):
                yield _parsed(path, number, kind, line)


def _parsed(path: Path, number: int, kind: type[_Record], line: bytes) -> _Record:
    try:
        return jsonl.parse(kind, line)
    except ValueError as wrong:
        raise wrong_record(path, number, str(wrong)) from wrong
