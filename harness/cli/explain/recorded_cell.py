"""Which check of a run is meant, and all that was recorded of it."""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.core.errors import UsageProblem
from harness.core.jsonl import Record
from harness.core.records import Answer, StateRecord, Verdict
from harness.judge.recorded_variant import RecordedVariant
from harness.run import load_run, plan_record
from harness.run.load_run import RunInfo
from harness.run.run_judge import case_of
from harness.scenario.cells import Cell

MOST: Final = 8
"""So many checks are named where one is meant."""


@dataclass(frozen=True, slots=True)
class RecordedCell:
    info: RunInfo
    """Without other variants than the cell's."""
    cell: Cell
    case: RecordedVariant
    answer: Answer | None
    verdict: Verdict | None
    question: tuple[Verdict, ...] = ()
    """The verdicts of all readers about the same question."""


def find(folder: Path, parts: Sequence[str]) -> RecordedCell:
    info = load_run.read_info(folder)
    cell = only(info.cells, parts)
    info = replace(info, variants=tuple(v for v in info.variants if v.id == cell.variant))
    (variant,) = plan_record.plan_of(info).variants
    states = _records(folder / load_run.STATES, StateRecord, cell.variant)
    answers = _records(folder / load_run.ANSWERS, Answer, cell.case)
    verdicts = _records(folder / load_run.VERDICTS, Verdict, cell.case.removesuffix(cell.reader))
    cases = {planned.case for planned in info.cells if planned.question == cell.question}
    question = tuple(verdict for verdict in verdicts if verdict.case in cases)
    return RecordedCell(
        info,
        cell,
        case_of(variant, tuple(states)),
        next((answer for answer in answers if answer.case == cell.case), None),
        next((verdict for verdict in question if verdict.case == cell.case), None),
        question,
    )


def only(cells: Sequence[Cell], parts: Sequence[str]) -> Cell:
    """Return the one cell that has all the parts in its case, or is called so."""
    text = " ".join(parts)
    cases = {cell.case: cell for cell in cells}
    if text in cases:
        return cases[text]
    fitting = [case for case in cases if all(part in case for part in parts)]
    if len(fitting) == 1:
        return cases[fitting[0]]
    if not fitting:
        raise UsageProblem(f"no check matches '{text}'{_near(text, parts, list(cases))}")
    listed = "\n  ".join(fitting[:MOST])
    more = f"\n  … and {len(fitting) - MOST} more" if len(fitting) > MOST else ""
    raise UsageProblem(f"{len(fitting)} checks match '{text}'; be more specific:\n  {listed}{more}")


def _near(text: str, parts: Sequence[str], cases: Sequence[str]) -> str:
    """Return the names closest to a text among those that have most of the parts."""
    fitting = [sum(part in case for part in parts) for case in cases]
    most = max(fitting, default=0)
    candidates = [case for case, number in zip(cases, fitting, strict=True) if number == most]
    near = difflib.get_close_matches(text, candidates, MOST, cutoff=0.0 if most else 0.3)
    if near:
        return "; the closest ones:\n  " + "\n  ".join(near)
    return "; harness plan --checks lists those of a profile, and the report those of a run"


def _records(path: Path, kind: type[Record], name: str) -> Iterator[Record]:
    """Read the records with a text that begins so; the others are not even parsed."""
    text = json.dumps(name, ensure_ascii=False).removesuffix('"').encode()
    return load_run.opened_records(path, kind).containing(text)
