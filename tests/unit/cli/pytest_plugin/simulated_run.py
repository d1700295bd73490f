"""Stands in for `harness run` in tests of the pytest plugin: real plans and records, no engine.

What it does to which cells stands in the variable SIMULATED, as `text in the case=what,…`;
everything else is answered rightly.
"""

from __future__ import annotations

import datetime
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.cli import plan_options
from harness.core import jsonl
from harness.core.attempts import Attempt
from harness.core.records import (
    Answer,
    Column,
    Outcome,
    OutcomeKind,
    Refusal,
    StateRecord,
    Verdict,
)
from harness.judge import verdicts
from harness.run import load_run, plan_record, run_info
from harness.run.follow_run import LiveVerdicts
from harness.run.run_judge import RunJudge, case_of
from harness.scenario.cells import Cell, Plan

NOW = datetime.datetime(2031, 5, 6, tzinfo=datetime.UTC)
SKIPPED = "skipped"


def main(arguments: list[str]) -> int:
    """Take the arguments of `harness run` that the plugin gives."""
    at = arguments.index("--profile")
    options = dict(zip(arguments[at::2], arguments[at + 1 :: 2], strict=True))
    folder, cases = Path(options["--run-dir"]), Path(options["--cases"])
    with (folder.parent / "started").open("a", encoding="utf-8") as started:
        started.write(f"{os.getpid()}\n")
    if dies := os.environ.get("SIMULATED_DEATH"):
        sys.stderr.write("the last words\n")
        return int(dies)
    plan = plan_options.make(list(map(Path, arguments[:at])), options["--profile"], "", cases)
    run_info.write_info(folder, plan_record.info_of(plan, "simulated", NOW))
    states = tuple(_states(plan))
    jsonl.write_all(folder / load_run.STATES, states)
    live = LiveVerdicts(plan, RunJudge(plan), folder)
    live.judge.add_states(states)
    with jsonl.adding(folder / load_run.ANSWERS) as add:
        for cell in plan.cells:
            for answer in _answers(cell, plan, states):
                add([answer])
                live.add_answer(answer)
    if os.environ.get("SIMULATED_INTERRUPT"):
        return _interrupt(folder)
    return int(os.environ.get("SIMULATED_STATUS", "0"))


def _interrupt(folder: Path) -> int:
    """Interrupt pytest as Ctrl-C does, and say when that comes back."""
    try:
        os.kill(os.getppid(), signal.SIGINT)
        signal.pause()
    except KeyboardInterrupt:
        (folder.parent / "interrupted").touch()
    return 130


def _said(case: str) -> str:
    pairs = (each.rpartition("=") for each in os.environ.get("SIMULATED", "").split(",") if each)
    return next((what for text, _, what in pairs if text in case), "right")


def _states(plan: Plan) -> Iterator[StateRecord]:
    for variant in plan.variants:
        for step in range(len(variant.scenario.steps) + 1):
            skipped = _said(f"step {step}") == SKIPPED
            kind = OutcomeKind.SKIPPED if skipped else OutcomeKind.APPLIED
            version = os.environ.get("SIMULATED_VERSION", "")
            yield StateRecord(variant.id, Outcome(step, kind), "", table_version=version)


def _answers(cell: Cell, plan: Plan, states: tuple[StateRecord, ...]) -> Iterator[Answer]:
    nothing = Answer(cell.case, "select * from t")
    (variant,) = (each for each in plan.variants if each.id == cell.variant)
    own = tuple(each for each in states if each.variant == variant.id)
    case = case_of(variant, own)
    found: tuple[Verdict, ...] = verdicts.judge(case, [cell], {cell.case: nothing})
    expected = found[0].expected if found else None
    if expected is None or (said := _said(cell.case)) == "silent":
        return
    columns = tuple(Column(name, text, text) for name, text in expected.columns)
    right = replace(nothing, columns=columns, rows=expected.rows)
    if said == "right":
        yield right
    elif said == "wrong":
        yield replace(right, rows=expected.rows[1:])
    elif said == "worse":
        yield replace(right, rows=tuple((*row[:-1], None) for row in expected.rows[1:]))
    elif said == "unknown":
        tried = Attempt("the server died", "its last words\n\tat a.B")
        yield replace(nothing, unknown="the server died", attempts=(tried,))
    elif said == "refused":
        yield replace(nothing, refusal=Refusal("HIVE_BAD_DATA", "cannot read it"))
    elif said == "spared":
        yield replace(nothing, void="it was not sent", probe="another case")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
