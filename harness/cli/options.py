"""The options of the command line that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from harness.artifacts.cache import OFFLINE
from harness.core.errors import UsageProblem, printable
from harness.run import run_folder

QUICK_START: Final = "quick-start"
"""The profile of who names none."""


def _folder(text: str) -> Path:
    """Read a run's folder: an empty text, as of a variable that is not set, would be the one here.

    Raises:
        BadParameter: it is empty.

    """
    if not str(text):
        raise typer.BadParameter("it is empty; name the run's folder, or leave the option out")
    return Path(text)


def _newest(folder: Path) -> Path:
    """Take a run's folder; where it is the latest run, tell of one that was begun since."""
    said = run_folder.passed_over() if folder == run_folder.LATEST_RUN else ""
    if said:
        typer.echo(f"harness: {printable(said)}", err=True)
    return folder


Scenarios = Annotated[
    list[Path] | None,
    typer.Argument(help="Scenario files or folders; without any, those of the profile."),
]
Folders = Annotated[
    list[Path] | None,
    typer.Option("--scenarios", help="The same as naming them without the option."),
]
Profile = Annotated[
    str, typer.Option(help="A shipped profile, or one of profiles.yaml beside your scenarios.")
]
RunDir = Annotated[
    Path | None,
    typer.Option(
        parser=_folder, metavar="PATH", help="The run's folder; a new one under runs/ unless given."
    ),
]
OldRun = Annotated[
    Path,
    typer.Option(
        "--run-dir", parser=_folder, callback=_newest, metavar="PATH", help="The run's folder."
    ),
]
Select = Annotated[str, typer.Option("-k", help="Only cells whose case contains this text.")]
Cells = Annotated[bool, typer.Option("--cells", help="Name every cell, not only their numbers.")]
Cases = Annotated[
    Path | None, typer.Option(help="Only the cases that this file names, one on each line.")
]
Offline = Annotated[
    bool, typer.Option(envvar=OFFLINE, help="Download nothing; what is missing is an error.")
]
Fresh = Annotated[bool, typer.Option(help="Ask again what earlier runs have asked.")]
Show = Annotated[
    bool, typer.Option(help="Show only: end 0 unless the status is 2 (wrong use) or 3 (unknown).")
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with a run: --run-dir, or the one begun last."),
]
Timeout = Annotated[
    float, typer.Option(min=1, help="Seconds after which a reader's query counts as unanswered.")
]
WriteTimeout = Annotated[
    float,
    typer.Option(min=1, help="Seconds after which a writer's statement counts as unanswered."),
]
Verify = Annotated[bool, typer.Option("--verify", help="Hash again every artifact that is kept.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Tell only the result.")]
Json = Annotated[bool, typer.Option("--json", help="Tell all as JSON, one object a line.")]
PLANNED_ALREADY: Final = ("scenarios", "folders", "profile", "k", "cases", "fresh")
"""Options that a run which is resumed was planned with."""


def check_resumed(context: typer.Context) -> None:
    """Check that who goes on with a run says nothing of its plan.

    Raises:
        UsageProblem: they do.

    """
    given = [
        name
        for name in PLANNED_ALREADY
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    ]
    if given:
        raise UsageProblem(
            f"--resume goes on with a run as it was planned: leave out {', '.join(given)}, or "
            "begin another run without --resume"
        )
