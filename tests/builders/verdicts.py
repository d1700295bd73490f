"""Verdicts and runs made by hand, for comparisons."""

import datetime
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    Outcome,
    OutcomeKind,
    Refusal,
    Responsible,
    StateRecord,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.formats import keeping_case
from harness.run import plan_record
from harness.run.load_run import WRITE, Run
from harness.scenario import load
from harness.scenario.cells import Cell, Plan, Variant, parse_reader

TEXT: Final = """
table: {columns: {id: string, ts: long, f1: string, f2: string}, key: id, order_by: ts}
steps:
  - insert: [1, 2]
  - rename_column: {name: f1, to: f1_new}
  - touch
  - compact
"""
WRITER: Final = "spark-3.5.8-hudi-0.15.0"
READER: Final = "trino-476"
NO_ERRORS: Final[Mapping[str, str]] = {}
BEGAN: Final = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
SCENARIO: Final = load.loads(TEXT, "hudi/story.yaml", keeping_case())
VARIANT: Final = Variant("hudi/story[hudi-cow]@w", SCENARIO, "hudi-cow", {}, (WRITER,) * 5)
OTHER: Final = Variant("hudi/story[hudi-mor]@w", SCENARIO, "hudi-mor", {}, (WRITER,) * 5)


def finding(
    kind: FindingKind,
    *places: tuple[str, str, str | None],
    file: str = "",
    responsible: Responsible | None = Responsible.READER,
) -> Finding:
    result = tuple(Witness(key, column, "x", value, file=file) for key, column, value in places)
    return Finding(kind, tuple(column for _, column, _ in places), result[0], result, responsible)


def verdict(
    kind: VerdictKind,
    *findings: Finding,
    step: int = 2,
    reader: str = READER,
    variant: Variant = VARIANT,
    view: str = "snapshot",
) -> Verdict:
    cell = Cell(variant.id, step, reader, view, "all")
    return Verdict(
        cell.case, variant.scenario.name, variant.id, step, reader, view, "all", kind, findings
    )


def run(
    *verdicts: Verdict,
    states: Iterable[StateRecord] = (),
    errors: Mapping[str, str] = NO_ERRORS,
    variants: tuple[Variant, ...] = (VARIANT, OTHER),
) -> Run:
    asked = [verdict for verdict in verdicts if verdict.view != WRITE]
    cells = tuple(Cell(e.variant, e.step, e.reader, e.view, e.query) for e in asked)
    readers = tuple(map(parse_reader, dict.fromkeys(query.reader for query in asked)))
    info = plan_record.info_of(Plan("p", variants, readers, cells), "run", BEGAN)
    answers = {
        case: Answer(case, "select", refusal=Refusal(name, "it failed"))
        for case, name in errors.items()
    }
    return Run(
        Path("run"), info, tuple(states), answers, {verdict.case: verdict for verdict in verdicts}
    )


def state(step: int, kind: OutcomeKind = OutcomeKind.APPLIED) -> StateRecord:
    return StateRecord(VARIANT.id, Outcome(step, kind), "digest")
