"""`harness history`: since when each check is as it is, and the runs stored for that."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from harness.cli import options
from harness.cli.output import Output
from harness.cli.runs import HISTORY_FILE, store
from harness.comparison import history_store
from harness.comparison.history import history_of
from harness.core.atomic_write import atomic_write
from harness.core.counting import counted
from harness.core.errors import UsageProblem
from harness.reports import history_report, lines
from harness.run import load_run, run_folder

SHOW: Final = "show"
ENDINGS: Final = (".parquet", ".csv")


app = typer.Typer(
    cls=options.group_with(SHOW),
    help="Since when is this wrong, and what changed then? Of the stored runs: each run "
    "under runs/ at its end, and those of [bold]add[/bold]. Without a command: [bold]show[/bold].",
)

FileOption = Annotated[
    Path,
    typer.Option(
        "--history",
        envvar=history_store.VARIABLE,
        metavar="FILE",
        help="The file in which runs are stored.",
    ),
]
ProfileOption = Annotated[
    str, typer.Option(help="Only runs of this profile; without it, of the newest run's.")
]
ReaderOption = Annotated[
    str, typer.Option(help="Only this reader; * stands for anything: 'trino-*'.")
]
ScenarioOption = Annotated[
    str, typer.Option("--scenario", help="Only this scenario; * stands for anything: 'hudi/*'.")
]
NameArgument = Annotated[str, typer.Argument(metavar="RUN", help="A name of harness history list.")]


@app.command(SHOW)
@options.with_output
def show(
    output: Output,
    k: options.SelectOption = "",
    reader: ReaderOption = "",
    scenario: ScenarioOption = "",
    profile: ProfileOption = "",
    file: FileOption = HISTORY_FILE,
) -> None:
    """Show since when each wrong answer is wrong, and every turn with what differed then.

    A verdict is compared with that of the newest run before it in which the check is known.
    As in harness compare, a reader of another version and a table of another writer count as
    the same.
    """
    with history_store.opened(file) as stored:
        history = history_of(stored, profile, case=k, reader=reader, scenario=scenario)
    lines.render(history_report.document(history), output.out)
    output.end(
        history=str(file),
        runs=history_report.runs_data(history.runs),
        now=history_report.groups_data(history.not_right_now),
        turns=history_report.groups_data(history.all_turns),
    )


@app.command()
@options.with_output
def add(
    output: Output,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of judged runs.")],
    file: FileOption = HISTORY_FILE,
) -> None:
    """Store runs; a run that is stored already is replaced."""
    loaded = (load_run.load(run_folder.existing(folder)) for folder in runs)
    names = [store(run, file) for run in loaded]
    output.end(f"stored in {file}: {', '.join(names)}", history=str(file), runs=names)


@app.command(name="list")
@options.with_output
def list_(output: Output, file: FileOption = HISTORY_FILE) -> None:
    """List the stored runs, the newest last."""
    with history_store.opened(file) as stored:
        runs = stored.runs()
    lines.render([history_report.runs_table(runs)], output.out)
    output.end(history=str(file), runs=history_report.runs_data(runs))


@app.command()
@options.with_output
def prune(
    output: Output,
    keep: Annotated[
        int, typer.Option(min=1, help="Keep so many runs of each profile, the newest ones.")
    ],
    file: FileOption = HISTORY_FILE,
) -> None:
    """Remove old runs from the file; folders of runs stay as they are."""
    with history_store.opened(file) as stored:
        removed = stored.prune(keep)
    names = ", ".join(removed) or "nothing"
    output.end(f"removed from {file}: {names}", history=str(file), removed=list(removed))


@app.command()
@options.with_output
def export(
    output: Output,
    table: Annotated[
        Path, typer.Argument(metavar="FILE", help="A new file that ends in .parquet or .csv.")
    ],
    k: options.SelectOption = "",
    reader: ReaderOption = "",
    scenario: ScenarioOption = "",
    profile: ProfileOption = "",
    file: FileOption = HISTORY_FILE,
) -> None:
    """Write a table with a row for each turn of each check that is not right in some run."""
    if table.suffix not in ENDINGS:
        raise UsageProblem(f"{table} has another ending; allowed: {' and '.join(ENDINGS)}")
    with history_store.opened(file) as stored:
        frame = history_of(stored, profile, case=k, reader=reader, scenario=scenario).to_frame()
    with atomic_write(table) as part:
        frame.to_csv(part, index=False) if table.suffix == ".csv" else frame.to_parquet(part)
    output.end(f"{table}: {counted(len(frame), 'turn')}", file=str(table), turns=len(frame))


@app.command()
@options.with_output
def restore(
    output: Output,
    name: NameArgument,
    run_dir: options.RunDirOption = None,
    file: FileOption = HISTORY_FILE,
) -> None:
    """Restore the folder of a stored run, for harness explain, judge and report."""
    with history_store.opened(file) as stored:
        run = stored.run(name)
        folder = run_dir or run_folder.RUNS / run.name
        stored.restore(run, folder)
    output.end(f"restored: {folder}; next: harness judge --run-dir {folder}", run=str(folder))
