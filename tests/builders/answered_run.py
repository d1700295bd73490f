"""A run whose readers answer what a test says."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.core import jsonl
from harness.core.records import Answer, Refusal, StateRecord, Verdict
from harness.judge.recorded_variant import RecordedVariant
from harness.run import load_run, pipeline, plan_record
from harness.scenario.cells import Cell, Plan, parse_reader
from tests.builders.spoilt_files import COLUMNS, spelled, spoilt_rows
from tests.builders.table_story import Story, history
from tests.builders.traced_answer import Files

NOW = datetime.datetime(2031, 5, 6, tzinfo=datetime.UTC)
WRITER = "spark-3.5.8-hudi-0.15.0"
READERS = "trino-476", "hive-3.1.3", "prestodb-0.283"
REFUSED = Answer("", "select", refusal=Refusal("HIVE_BAD_DATA", "cannot read it"))


@dataclass
class AnsweredRun:
    folder: Path
    cells: Sequence[Cell]

    def answers(self, at: int, answer: Answer) -> None:
        """Let a reader answer; `at`: its place."""
        with jsonl.adding(self.folder / load_run.ANSWERS) as add:
            add([replace(answer, case=self.cells[at].case)])

    def judged(self) -> dict[int, Verdict]:
        result = {
            verdict.case: verdict for verdict in pipeline.judge_run(self.folder).applied.verdicts
        }
        return {at: result[cell.case] for at, cell in enumerate(self.cells)}


def answered_run(
    folder: Path, case: RecordedVariant, readers: Sequence[str] = READERS[:2]
) -> AnsweredRun:
    steps = len(case.states)
    variant = replace(case.variant, writers=(WRITER,) * steps)
    cells = [Cell(variant.id, steps - 1, name, "snapshot", "all") for name in readers]
    plan = Plan("mine", (variant,), tuple(map(parse_reader, readers)), tuple(cells))
    return record(folder, plan, case.states)


def record(folder: Path, plan: Plan, states: Sequence[StateRecord]) -> AnsweredRun:
    load_run.write_info(folder, plan_record.info_of(plan, "simulated", NOW))
    jsonl.write_all(folder / load_run.STATES, states)
    return AnsweredRun(folder, plan.cells)


def doubtful() -> tuple[Story, Files]:
    """A rule of the model, that of conversion, lies between what was sent and the files."""
    made = history("insert 1..3; type n string; update 1 set f1", COLUMNS)
    return made, spoilt_rows(spelled, step=3)
