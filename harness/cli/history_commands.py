"""The commands of the history: when each cell turned, and the runs that are kept for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from harness.cli import options
from harness.cli.console.output import Output
from harness.cli.kept_runs import DEFAULT, keep
from harness.comparison.history import CellFilter, history_of
from harness.comparison.turn_groups import all_turns, not_right_now
from harness.core.atomic_write import atomic_write
from harness.core.counting import counted
from harness.core.errors import UsageProblem
from harness.reports import history_json, history_terminal
from harness.run import history_file, history_store, load_run, run_folder

SHOW: Final = "show"
KINDS: Final = (".parquet", ".csv")


class _ShownGroup(TyperGroup):
    """`harness history` alone is `harness history show`."""

    default = SHOW

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the library's own
        """Add the name of the command that is left out."""
        named = bool(args) and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else [self.default, *args])


app = typer.Typer(
    cls=_ShownGroup,
    help="Since when is this wrong, and what changed then? Of the runs that are kept: each run "
    "under runs/ at its end, and those of [bold]add[/bold]. Without a command: [bold]show[/bold].",
)

StoreOption = Annotated[
    Path,
    typer.Option(
        "--history",
        envvar=history_file.VARIABLE,
        metavar="FILE",
        help="The file that keeps the runs.",
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
    store: StoreOption = DEFAULT,
) -> None:
    """Show since when what is wrong is wrong, and every turn with what differed then.

    A verdict is held against the newest run before it in which the cell is known.
    A reader of another version and a table of another writer are followed, as
    harness compare does.
    """
    with history_store.opened(store) as found:
        history = history_of(found, profile, CellFilter(k, reader, scenario))
    history_terminal.render(history, output.out)
    output.end(
        history=str(store),
        runs=history_json.runs(history.runs, history.counts),
        now=history_json.groups(not_right_now(history)),
        turns=history_json.groups(all_turns(history)),
    )


@app.command()
@options.with_output
def add(
    output: Output,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of judged runs.")],
    store: StoreOption = DEFAULT,
) -> None:
    """Keep runs; one that is kept already is replaced by what it says now."""
    loaded = (load_run.load(run_folder.existing(each)) for each in runs)
    names = [keep(each, store) for each in loaded]
    output.end(f"kept in {store}: {', '.join(names)}", history=str(store), runs=names)


@app.command(name="list")
@options.with_output
def list_(output: Output, store: StoreOption = DEFAULT) -> None:
    """List the runs that are kept, the newest last."""
    with history_store.opened(store) as found:
        runs, counts = found.runs(), found.counts()
    history_terminal.render_runs(runs, counts, output.out)
    output.end(history=str(store), runs=history_json.runs(runs, counts))


@app.command()
@options.with_output
def prune(
    output: Output,
    keep: Annotated[
        int, typer.Option(min=1, help="Keep so many runs of each profile, the newest ones.")
    ],
    store: StoreOption = DEFAULT,
) -> None:
    """Remove old runs from the file; folders of runs stay as they are."""
    with history_store.opened(store) as found:
        gone = found.prune(keep)
    said = ", ".join(gone) or "nothing"
    output.end(f"removed from {store}: {said}", history=str(store), removed=list(gone))


@app.command()
@options.with_output
def export(
    output: Output,
    file: Annotated[Path, typer.Argument(help="A new file that ends in .parquet or .csv.")],
    k: options.SelectOption = "",
    reader: ReaderOption = "",
    scenario: ScenarioOption = "",
    profile: ProfileOption = "",
    store: StoreOption = DEFAULT,
) -> None:
    """Write a table with a row for each turn of each cell that some run does not find right."""
    if file.suffix not in KINDS:
        raise UsageProblem(f"{file} has another ending; allowed: {' and '.join(KINDS)}")
    with history_store.opened(store) as found:
        frame = history_of(found, profile, CellFilter(k, reader, scenario)).to_frame()
    with atomic_write(file) as part:
        frame.to_csv(part, index=False) if file.suffix == ".csv" else frame.to_parquet(part)
    output.end(f"{file}: {counted(len(frame), 'turn')}", file=str(file), turns=len(frame))


@app.command()
@options.with_output
def restore(
    output: Output,
    name: NameArgument,
    run_dir: options.RunDirOption = None,
    store: StoreOption = DEFAULT,
) -> None:
    """Make the folder of a kept run again, as harness explain, judge and report want it."""
    with history_store.opened(store) as found:
        kept = found.run(name)
        folder = run_dir or run_folder.RUNS / kept.name
        found.restore(kept, folder)
    output.end(f"restored: {folder}; next: harness judge --run-dir {folder}", run=str(folder))
