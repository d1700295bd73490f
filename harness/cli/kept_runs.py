"""Runs are kept for their history as they end, and taken out again to be compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Annotated, Final

import typer

from harness.comparison.kept_cells import kept_cells
from harness.core.errors import HarnessError, UsageProblem, printable, problem_of
from harness.run import history_file, history_store, run_folder, run_info
from harness.run.kept_run import KeptRun
from harness.run.load_run import Run

DEFAULT: Final = run_folder.RUNS / history_file.NAME

KeptOption = Annotated[
    Path | None,
    typer.Option(
        "--history",
        envvar=history_file.VARIABLE,
        metavar="FILE",
        help=f"Keep the run in this file at its end; without it, one under runs/ in {DEFAULT}.",
    ),
]


def keep(run: Run, store: Path) -> str:
    """Keep a run, and return its id.

    Raises:
        UsageProblem: nothing of it is judged.

    """
    if run.info.cells and not run.recorded:
        raise UsageProblem(
            f"{run.folder}: nothing is judged; use harness judge, or run it to its end"
        )
    with history_store.opened(store, new=True) as found:
        found.add(run, kept_cells(run))
    return run.info.id


def check(store: Path | None, run_dir: Path | None) -> None:
    """Check before a run begins that it can be kept, where it will be."""
    place = _place(store, run_dir or run_folder.LATEST_RUN)
    if place and place.exists():
        with history_store.opened(place):
            pass


def keep_ended(run: Run, store: Path | None) -> int:
    """Keep a run that has ended, where it is to be kept; return the exit status.

    What fails is told, and takes nothing from the run itself.
    """
    place = _place(store, run.folder)
    try:
        if place:
            keep(run, place)
    except (HarnessError, OSError) as error:
        told = printable(str(problem_of(error) or error))
        typer.echo(f"harness: the run is not kept for its history: {told}", err=True)
        return HarnessError.exit_status
    return 0


def _place(store: Path | None, folder: Path) -> Path | None:
    """Return where a run is kept: as said, else with the others of the folder for runs."""
    if store:
        return store
    here = folder.parent.resolve() == run_folder.RUNS.resolve()
    return DEFAULT if here else None


def kept_or_folder(side: Path, store: Path) -> Path:
    """Return the folder of a run that is named by it, or as those that are kept are.

    One that is kept and has no folder gets it again.
    """
    if side.exists() or not store.is_file():
        return run_folder.existing(side)
    with history_store.opened(store) as found:
        kept = found.run(str(side))
        folder = next(each for each in _folders(kept) if _is_or_can_be(kept, each))
        if not folder.exists():
            found.restore(kept, folder)
    return run_folder.existing(folder)


def _folders(kept: KeptRun) -> Iterator[Path]:
    """Yield where a run may get its folder again: another one may have its name."""
    yield run_folder.RUNS / kept.name
    for number in count(2):
        yield run_folder.RUNS / f"{kept.name}-{number}"


def _is_or_can_be(kept: KeptRun, folder: Path) -> bool:
    if not folder.exists():
        return True
    there = (folder / run_info.INFO).is_file()
    return there and run_info.read_info(folder).started == kept.info.started
