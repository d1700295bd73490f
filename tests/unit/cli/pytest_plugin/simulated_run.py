"""Stands in for `harness run` in tests of the pytest plugin: real plans and records, no engine.

What it does to which cells stands in the variable SIMULATED, as `text in the case=what,…`;
everything else is answered rightly.
"""

import datetime
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.cli import plan_options
from harness.core import jsonl
from harness.core.records import (
    Answer,
    Attempt,
    Column,
    Outcome,
    OutcomeKind,
    Refusal,
    StateRecord,
    Verdict,
)
from harness.judge import verdicts
from harness.run import load_run, plan_record
from harness.run.run_judge import case_of
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
    load_run.write_info(folder, plan_record.info_of(plan, "simulated", NOW))
    states = tuple(_states(plan))
    jsonl.write_all(folder / load_run.STATES, states)
    with jsonl.adding(folder / load_run.ANSWERS) as add:
        for cell in plan.cells:
            add(_answers(cell, plan, states))
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


def _message_of(case: str) -> str:
    pairs = (part.rpartition("=") for part in os.environ.get("SIMULATED", "").split(",") if part)
    return next((what for text, _, what in pairs if text in case), "right")


def _states(plan: Plan) -> Iterator[StateRecord]:
    for variant in plan.variants:
        for step in range(len(variant.scenario.steps) + 1):
            skipped = _message_of(f"step {step}") == SKIPPED
            kind = OutcomeKind.SKIPPED if skipped else OutcomeKind.APPLIED
            version = os.environ.get("SIMULATED_VERSION", "")
            yield StateRecord(variant.id, Outcome(step, kind), "", table_version=version)


def _answers(cell: Cell, plan: Plan, states: tuple[StateRecord, ...]) -> Iterator[Answer]:
    nothing = Answer(cell.case, "select * from t")
    (variant,) = (variant for variant in plan.variants if variant.id == cell.variant)
    local = tuple(state for state in states if state.variant == variant.id)
    case = case_of(variant, local)
    result: tuple[Verdict, ...] = verdicts.judge(case, [cell], {cell.case: nothing})
    expected = result[0].expected if result else None
    if expected is None or (message := _message_of(cell.case)) == "silent":
        return
    columns = tuple(Column(name, text, text) for name, text in expected.columns)
    right = replace(nothing, columns=columns, rows=expected.rows)
    if message == "right":
        yield right
    elif message == "wrong":
        yield replace(right, rows=expected.rows[1:])
    elif message == "unknown":
        tried = Attempt("the server died", "its last words\n\tat a.B")
        yield replace(nothing, unknown="the server died", attempts=(tried,))
    elif message == "refused":
        yield replace(nothing, refusal=Refusal("HIVE_BAD_DATA", "cannot read it"))
    elif message == "spared":
        yield replace(nothing, not_applicable="it was not sent", probe="another case")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
