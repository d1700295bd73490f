"""The options and arguments of the command line that several commands have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, ParamSpec, TypeVar

import typer

from harness.artifacts.cache import OFFLINE
from harness.cli.console.output import Output
from harness.cli.judged_run import Ending
from harness.cli.named_parts import NamedParts
from harness.cli.stored_runs import HistoryOption
from harness.core.errors import UsageProblem, printable
from harness.core.runtime_names import RUNTIMES, WAREHOUSES
from harness.run import run_folder

P = ParamSpec("P")
T = TypeVar("T")

QUICK_START: Final = "quick-start"
"""The default profile."""


RuntimeName = StrEnum("RuntimeName", {name: name for name in RUNTIMES})  # type: ignore[misc]
WarehouseName = StrEnum("WarehouseName", {name: name for name in WAREHOUSES})  # type: ignore[misc]


def _folder(text: str) -> Path:
    """Read a run's folder: an empty text, as of an unset variable, would be the current folder.

    Raises:
        BadParameter: it is empty.

    """
    if not str(text):
        raise typer.BadParameter("it is empty; name the run's folder, or leave the option out")
    return Path(text)


def _newest(folder: Path) -> Path:
    """Return a run's folder; where it is the latest run, say if another was begun since."""
    message = run_folder.passed_over() if folder == run_folder.LATEST_RUN else ""
    if message:
        typer.echo(f"harness: {printable(message)}", err=True)
    return folder


ScenariosArgument = Annotated[
    list[Path] | None,
    typer.Argument(help="Scenario files or folders; by default those of the profile."),
]
ScenariosOption = Annotated[
    list[Path] | None,
    typer.Option("--scenarios", help="Scenario files or folders, with profiles.yaml beside them."),
]
OwnOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--scenarios", help="Your scenarios' folder; what 'harness engines add' wrote is beside it."
    ),
]
ProfileOption = Annotated[
    str, typer.Option(help="A shipped profile, or one of profiles.yaml beside your scenarios.")
]
ProfileOrPartsOption = Annotated[
    str | None,
    typer.Option(
        help="A shipped profile, or one of profiles.yaml beside your scenarios. Without it, and "
        "with --format, --writer or --reader, the run is made of just these.",
        show_default=QUICK_START,
    ),
]
FormatOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Write tables of this format, such as hudi-mor, instead of those of the profile. Can "
        "be given several times."
    ),
]
WriterOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Write with this distribution, such as 'spark-3.5.8-hudi-1.0.2{table_version=6}', "
        "instead of the writers of the profile. Can be given several times."
    ),
]
RunDirOption = Annotated[
    Path | None,
    typer.Option(
        parser=_folder, metavar="PATH", help="The run's folder; by default a new one under runs/."
    ),
]
OldRunOption = Annotated[
    Path,
    typer.Option(
        "--run-dir", parser=_folder, callback=_newest, metavar="PATH", help="The run's folder."
    ),
]
CaseArgument = Annotated[
    list[str], typer.Argument(help="A case: its name, or parts of the name that fit no other case.")
]
SelectOption = Annotated[str, typer.Option("-k", help="Only cells whose case contains this text.")]
CellsOption = Annotated[
    bool, typer.Option("--cells", help="List every cell, not only their number.")
]
ExpectedOption = Annotated[
    bool,
    typer.Option(
        "--expected",
        help="Show step by step what is sent to write a table and which table is expected then: of "
        "the first variant of each scenario and format, or with -k of all that it selects.",
    ),
]
CasesOption = Annotated[
    Path | None, typer.Option(help="Only the cases listed in this file, one on each line.")
]
RuntimeOption = Annotated[
    RuntimeName | None,
    typer.Option(help="How every engine is run, whatever the profile and --reader say."),
]
WarehouseOption = Annotated[
    WarehouseName | None,
    typer.Option(
        help="Where every reader finds its tables: in an object store, to which they are served by "
        "S3's protocol. Without it, on the disk."
    ),
]
ReaderOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Ask this reader, such as 'trino-476@container{use-column-names=false}', instead of "
        "the readers of the profile. Can be given several times; --runtime applies to it too."
    ),
]
ReadersOption = Annotated[
    Path | None,
    typer.Option(
        "--readers",
        metavar="FILE",
        help="Ask the readers of this file (readers.yaml) instead of those of the profile.",
    ),
]
MetastoreOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Through which metastore the readers ask, such as 'hive-metastore-4.0.1', whatever "
        "the profile says.",
    ),
]
OfflineOption = Annotated[
    bool, typer.Option(envvar=OFFLINE, help="Download nothing; a missing file is an error.")
]
FreshOption = Annotated[bool, typer.Option(help="Ask every question again; use no cached answer.")]
ShowOption = Annotated[
    bool,
    typer.Option(help="Do not fail because of findings: a status of 1 becomes 0."),
]
FailOnFlakyOption = Annotated[
    bool,
    typer.Option(
        "--fail-on-flaky",
        help="End with 1 also because of cells that were answered only when asked again, or "
        "otherwise by a fresh server, known ones too.",
    ),
]
GithubOption = Annotated[
    bool | None,
    typer.Option(
        "--github/--no-github",
        help="Write the summary of a GitHub job, and annotations on the lines of scenarios.",
        show_default="in GitHub Actions",
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume", help="Resume a run: the one in --run-dir, or else the run begun last."
    ),
]
TimeoutOption = Annotated[
    float, typer.Option(min=1, help="Seconds after which a reader's query counts as unanswered.")
]
WriteTimeoutOption = Annotated[
    float,
    typer.Option(min=1, help="Seconds after which a writer's statement counts as unanswered."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print only the result.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON, one object a line.")]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose", help="Show the log on standard error too; a run keeps it in harness.log."
    ),
]
PARTS: Final = {
    "format": FormatOption,
    "writer": WriterOption,
    "reader": ReaderOption,
    "readers": ReadersOption,
}
"""The options that make `NamedParts`."""
ENDING: Final = {
    "show": (ShowOption, False),
    "fail_on_flaky": (FailOnFlakyOption, False),
    "github": (GithubOption, None),
    "history": (HistoryOption, None),
}
"""The options that make an `Ending`, each with its default."""
OUTPUT: Final = {"quiet": QuietOption, "json": JsonOption, "verbose": VerboseOption}
"""The options that make an `Output`."""
PLANNED_ALREADY: Final = (
    "scenarios",
    "folders",
    "profile",
    "k",
    "cases",
    "fresh",
    "runtime",
    "warehouse",
    "format",
    "writer",
    "reader",
    "readers",
    "metastore",
)
"""Options that are part of a run's plan."""


def with_output(command: Callable[..., int | None]) -> Callable[..., None]:
    """Return a command that has `--quiet`, `--json` and `--verbose` in the place of its `output`.

    What `command` returns is the exit status; of what breaks it off a program is told.
    """

    @wraps(command)
    def said(*, quiet: bool, json: bool, verbose: bool, **given: object) -> None:
        output = Output(quiet, json, verbose)
        with output.ending():
            status = command(output=output, **given)
        raise typer.Exit(status or 0)

    parameters = _parameters(command, without="output")
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in OUTPUT.items()
    ]
    return _taking(said, [*parameters, *added])


def with_parts(command: Callable[..., T]) -> Callable[..., T]:
    """Return a command that has the options of parts in the place of its `named`."""

    @wraps(command)
    def said(**given: Any) -> T:  # noqa: ANN401 - whatever the other options are
        form, writer, reader, file = (given.pop(name) for name in PARTS)
        return command(named=NamedParts(form or (), writer or (), reader or (), file), **given)

    parameters = _parameters(command, without="named")
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in PARTS.items()
    ]
    return _taking(said, [*parameters, *added])


def with_ending(command: Callable[..., T]) -> Callable[..., T]:
    """Return a command that has the options of how a judged run ends in place of its `ending`."""

    @wraps(command)
    def said(**given: Any) -> T:  # noqa: ANN401 - whatever the other options are
        named = {name: given.pop(name) for name in ENDING}
        return command(ending=Ending(**named), **given)

    parameters = _parameters(command, without="ending")
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in ENDING.items()
    ]
    return _taking(said, [*parameters, *added])


def _parameters(command: Callable[..., object], *, without: str) -> list[inspect.Parameter]:
    every = inspect.signature(command, eval_str=True).parameters
    return [parameter for name, parameter in every.items() if name != without]


def _taking(command: Callable[P, T], parameters: Sequence[inspect.Parameter]) -> Callable[P, T]:
    """Return a command whose options the library makes of these parameters."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def paths(scenarios: Sequence[Path] | None, folders: Sequence[Path] | None) -> list[Path]:
    """Return the scenarios that were named, as arguments or by the option."""
    return [*(scenarios or ()), *(folders or ())]


def check_resumed(context: typer.Context) -> None:
    """Check that no option of a plan was given together with `--resume`.

    Raises:
        UsageProblem: one was.

    """
    options = [
        name
        for name in PLANNED_ALREADY
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    ]
    if options:
        raise UsageProblem(
            f"--resume goes on with a run as it was planned: leave out {', '.join(options)}, or "
            "begin another run without --resume"
        )
