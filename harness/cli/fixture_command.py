"""`harness export-fixtures`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.artifacts.cache import Cache
from harness.cli import options
from harness.cli.output import Output
from harness.cli.runs import looked_at
from harness.core.errors import UsageProblem
from harness.core.problems import one_of
from harness.core.progress import megabytes
from harness.core.texts import counted
from harness.run import export_fixtures, load_run
from harness.run.export_fixtures import Selection


@options.with_output
def export_fixtures_of(
    output: Output,
    run: Annotated[Path, typer.Argument(help="The run's folder, such as runs/latest.")],
    folder: Annotated[Path, typer.Argument(help="A folder that is new, or empty.")],
    k: Annotated[
        str, typer.Option("-k", help="Only steps whose name, like 'hudi/move[…]@…/s3', has this.")
    ] = "",
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help="Only tables of this format. Can be given several times."),
    ] = None,
) -> None:
    """Export the tables of a run with the right answers, to test a reader without the harness.

    For each step that was applied: the table's files, the expected tables as JSON, and a manifest
    with their SHA-256. Reads the cache and the run; starts no engine.
    """
    with looked_at(run, "export fixtures") as there:
        result = load_run.load(there)
        known = dict.fromkeys(entry.format for entry in result.info.variants)
        for entry in formats or ():
            if entry not in known:
                raise UsageProblem(f"the run has no table of '{entry}'; {one_of(entry, known)}")
        chosen = Selection(k, tuple(formats or ()))
        cache = Cache.default(offline=True)
        cache.check()  # states are locked to be read
        manifest = export_fixtures.export(result, cache, folder, chosen)
    totals = export_fixtures.totals(manifest)
    made, left = counted(totals["fixtures"], "fixture"), counted(totals["left_out"], "step")
    text = f"{folder}: {made}, {counted(totals['files'], 'file')}, {megabytes(totals['size'])}"
    message = f"{text}; {left} without one; {export_fixtures.FILE} says what is where, and why not"
    output.end(message, folder=str(folder), **totals)
