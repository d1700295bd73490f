"""Runs are stored for their history as they end, and restored to be compared."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path
from typing import Annotated, Final

import typer

from harness.comparison import history_store
from harness.core.errors import HarnessError, UsageProblem, printable, problem_of
from harness.run import load_run, run_folder
from harness.run.load_run import Run

DEFAULT: Final = run_folder.RUNS / history_store.NAME

HistoryOption = Annotated[
    Path | None,
    typer.Option(
        "--history",
        envvar=history_store.VARIABLE,
        metavar="FILE",
        help=f"Store the run in this file at its end; without it, one under runs/ in {DEFAULT}.",
    ),
]


def store(run: Run, file: Path) -> str:
    """Store a run, and return its id.

    Raises:
        UsageProblem: nothing of it is judged.

    """
    if run.info.cells and not run.recorded:
        raise UsageProblem(
            f"{run.folder}: nothing is judged; use harness judge, or run it to its end"
        )
    with history_store.opened(file, new=True) as history:
        history.add(run)
    return run.info.id


def check(file: Path | None, run_dir: Path | None) -> None:
    """Check before a run begins that it can be stored."""
    file = _file_for(file, run_dir or run_folder.LATEST_RUN)
    if file and file.exists():
        with history_store.opened(file):
            pass


def store_ended(run: Run, file: Path | None) -> int:
    """Store a run that has ended, if it belongs into a file; return the exit status.

    A failure is reported, and takes nothing from the run itself.
    """
    file = _file_for(file, run.folder)
    try:
        if file:
            store(run, file)
    except (HarnessError, OSError) as error:
        reason = printable(str(problem_of(error) or error))
        typer.echo(f"harness: the run is not stored for its history: {reason}", err=True)
        return HarnessError.exit_status
    return 0


def _file_for(file: Path | None, folder: Path) -> Path | None:
    """Return the file that is named, else for a run under runs/ the one that lies there."""
    under_runs = folder.parent.resolve() == run_folder.RUNS.resolve()
    return file or (DEFAULT if under_runs else None)


def stored_or_folder(run: Path, file: Path) -> Path:
    """Return a run's folder, by its path or by the name of a stored run.

    A stored run that has no folder gets it again.
    """
    if run.exists() or not file.is_file():
        return run_folder.existing(run)
    with history_store.opened(file) as history:
        stored = history.run(str(run))
        # Another run may have its name.
        names = chain([stored.name], (f"{stored.name}-{number}" for number in count(2)))
        for folder in (run_folder.RUNS / name for name in names):
            if not folder.exists():
                history.restore(stored, folder)
            is_run = (folder / load_run.INFO).is_file()
            if is_run and load_run.read_info(folder).started == stored.info.started:
                return run_folder.existing(folder)
    raise AssertionError("there is always another name")
