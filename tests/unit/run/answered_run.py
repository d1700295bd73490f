"""A recorded run that is not judged, and what may become of its records."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.core import jsonl
from harness.run import load_run
from harness.run.load_run import Run

RECORDED: Final = Path(__file__).parents[2] / "recorded" / "findings_a5"


def make(folder: Path) -> Run:
    """Record the run in a new folder as it would be recorded today."""
    folder.mkdir()
    for name in (load_run.INFO, load_run.STATES, load_run.ANSWERS):
        shutil.copyfile(RECORDED / name, folder / name)
    reuse(load_run.load(folder), reused=False)
    return load_run.load(folder)


def reuse(run: Run, *, reused: bool) -> None:
    """Record that all of a run comes from an earlier one, or that nothing does."""
    answers = [replace(answer, reused=reused) for answer in run.answers.values()]
    jsonl.write_all(run.folder / load_run.ANSWERS, answers)
    states = [replace(state, reused=reused) for state in run.states]
    jsonl.write_all(run.folder / load_run.STATES, states)
