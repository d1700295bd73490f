"""`harness matrix`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.output import Output
from harness.cli.upgrade import known
from harness.comparison import evidence
from harness.reports import matrix
from harness.scenario.cells import CONTROL


@options.with_output
def write_matrix(
    output: Output,
    out: Annotated[
        Path, typer.Option("--out", parser=Path, metavar="FILE", help="Where the page is written.")
    ] = Path(matrix.FILE),
) -> None:
    """Write all that is known as a page: operations by readers and versions, over all formats.

    It opens offline. From an answer it leads to the shortest scenario that shows it, the SQL and
    what trackers have of it. No engine is started.
    """
    store = evidence.opened(known.file())
    run = store.run(list(store.readers), None, lambda variant, _: variant.scenario != CONTROL).run
    texts = store.texts()
    scenarios = {name: texts.get(digest, "") for name, digest in run.info.scenarios.items()}
    run = replace(run, info=replace(run.info, scenarios=scenarios))
    page = matrix.write(run, list(map(str, store.sources)), out)
    output.end(f"written: {page}", file=str(page), answers=len(run.verdicts))
