"""The options and arguments of the command line that several commands have."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from harness.audit.limits import MOST_ROWS, AuditLimits
from harness.cli.named_parts import QUICK_START, NamedParts
from harness.cli.output import Output
from harness.comparison import history
from harness.core.errors import UsageProblem
from harness.core.runtime_names import OFFLINE, RUNTIMES, WAREHOUSES
from harness.core.texts import printable
from harness.run import run_folder

if TYPE_CHECKING:
    from harness.audit.table_list import TableAddress
    from harness.cli.plan_options import PlanOverrides
    from harness.cli.runs import Ending

Command = Callable[..., int | None]
"""Returns the exit status; None for 0."""


RuntimeName = StrEnum("RuntimeName", {name: name for name in RUNTIMES})  # type: ignore[misc]
WarehouseName = StrEnum("WarehouseName", {name: name for name in WAREHOUSES})  # type: ignore[misc]


def _folder(text: str) -> Path:
    """Read a run's folder; empty, as of an unset variable, it would be the current folder."""
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
        help="A shipped profile, or one of profiles.yaml beside your scenarios. Without it your "
        "scenarios are asked what people ask of such tables, of --format, --writer and --reader.",
        show_default=QUICK_START,
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
    list[str],
    typer.Argument(
        metavar="CHECK…", help="The name of a check, or parts of it that no other check's name has."
    ),
]
SelectOption = Annotated[str, typer.Option("-k", help="Only checks whose name contains this text.")]
CellsOption = Annotated[
    bool, typer.Option("--checks", "--cells", help="List every check, not only their number.")
]
ExpectedOption = Annotated[
    bool,
    typer.Option(
        "--expected",
        help="Show for each step what is sent to write the table, and the table that is expected "
        "then: of the first variant of each scenario and format, or of all that -k selects.",
    ),
]
CasesOption = Annotated[
    Path | None, typer.Option(help="Only the checks named in this file, one on each line.")
]
QueryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--query",
        help="Ask this instead of the queries of the profile: 'all', 'story', "
        "'where(f1 not = 5)', 'count_where(f1 is null)' … Can be given several times.",
    ),
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        metavar="NAME=VALUE",
        help="Write tables with this setting, such as 'format_version=3' or "
        "'delete_mode=copy-on-write,merge-on-read', whatever the scenario and the profile say. "
        "Can be given several times.",
    ),
]
OfflineOption = Annotated[
    bool, typer.Option(envvar=OFFLINE, help="Download nothing; a missing file is an error.")
]
FreshOption = Annotated[bool, typer.Option(help="Ask every question again; use no cached answer.")]
_HISTORY: Final = typer.Option(
    "--history",
    envvar=history.VARIABLE,
    metavar="FILE",
    help="The file in which runs are stored, each at its end; without it "
    f"{history.USUAL}, for runs under runs/.",
)
HistoryFileOption = Annotated[Path, _HISTORY]
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
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what every reader would be sent; send nothing.")
]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose", help="Show the log on standard error too; a run keeps it in harness.log."
    ),
]
PlatformOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file that names engines that run already and catalogs (docs/platform.md): "
        "production-trino@endpoint is a reader, lake:sales.orders a table.",
    ),
]
DatabaseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--database",
        metavar="PATTERN",
        help="Only databases of this name, such as 'sales*'; of a folder, its own folders. "
        "Can be given several times.",
    ),
]


def use_platform(file: Path | None) -> None:
    """Make the engines and catalogs of a platform file known, if one is named."""
    from harness.plan import platform_file  # noqa: PLC0415 - few commands have one

    if file:
        platform_file.register_file(file)


PLANNED_ALREADY: Final = (
    *("scenarios", "folders", "profile", "k", "cases", "fresh", "runtime", "warehouse", "dry_run"),
    *("format", "writer", "reader", "readers", "metastore", "query", "setting"),
)
"""Options that are part of a run's plan."""

Added = Mapping[str, tuple[object, object]]
"""Options by name, each with its annotation and its default."""


def _with(
    parameter: str, make: Callable[..., object], added: Added
) -> Callable[[Command], Command]:
    """Return a decorator: the command has these options instead of a parameter made of them."""

    def decorated(command: Command) -> Command:
        @wraps(command)
        def called(**values: Any) -> int | None:  # noqa: ANN401 - whatever the other options are
            made = make(**{name: values.pop(name) for name in added})
            return command(**{parameter: made}, **values)

        others = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [other for other in others if other.name != parameter]
        parameters += [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for name, (kind, default) in added.items()
        ]
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return called

    return decorated


def _several(text: str) -> tuple[object, None]:
    return Annotated[list[str] | None, typer.Option(help=text)], None


def _path(metavar: str, text: str) -> tuple[object, None]:
    return Annotated[Path | None, typer.Option(metavar=metavar, help=text)], None


def _choice(of: type[StrEnum], text: str) -> tuple[object, None]:
    return Annotated[of | None, typer.Option(help=text)], None


def _text(metavar: str, text: str) -> tuple[object, str]:
    return Annotated[str, typer.Option(metavar=metavar, help=text)], ""


def _limit(text: str) -> tuple[object, None]:
    return Annotated[int | None, typer.Option(min=1, help=text)], None


def _flag(name: str, text: str) -> tuple[object, bool]:
    return Annotated[bool, typer.Option(name, help=text)], False


with_parts = _with(
    "named",
    lambda format, writer, reader, readers: NamedParts(  # noqa: A006 - the options' names
        format or (), writer or (), reader or (), readers
    ),
    {
        "format": _several(
            "Write tables of this format, such as hudi-mor, instead of those of the profile. Can "
            "be given several times."
        ),
        "writer": _several(
            "Write with this distribution, such as 'spark-3.5.8-hudi-1.0.2{table_version=6}', "
            "instead of the writers of the profile. Can be given several times."
        ),
        "reader": _several(
            "Ask this reader, such as 'trino-476@container{use-column-names=false}', instead of "
            "the readers of the profile. Can be given several times; --runtime applies to it too."
        ),
        "readers": _path(
            "FILE", "Ask the readers of this file (readers.yaml) instead of those of the profile."
        ),
    },
)


def _overrides(
    runtime: str, warehouse: str, metastore: str, query: Sequence[str], setting: Sequence[str]
) -> "PlanOverrides":
    from harness.cli.plan_options import PlanOverrides  # noqa: PLC0415

    return PlanOverrides(
        runtime or "", warehouse or "", metastore, tuple(query or ()), tuple(setting or ())
    )


with_overrides = _with(
    "overrides",
    _overrides,
    {
        "runtime": _choice(
            RuntimeName, "How every engine runs, whatever the profile and --reader say."
        ),
        "warehouse": _choice(
            WarehouseName,
            "Where every reader finds its tables: in an object store that speaks S3's protocol. "
            "Without it, on the disk.",
        ),
        "metastore": _text(
            "NAME",
            "The metastore of all readers, such as 'hive-metastore-4.0.1', whatever the profile "
            "says.",
        ),
        "query": (QueryOption, None),
        "setting": (SettingOption, None),
    },
)


def _ending(**values: Any) -> "Ending":  # noqa: ANN401 - as its fields
    from harness.cli.runs import Ending  # noqa: PLC0415

    return Ending(**values)


with_ending = _with(
    "ending",
    _ending,
    {
        "show": (
            Annotated[
                bool, typer.Option(help="Do not fail because of findings: a status of 1 becomes 0.")
            ],
            False,
        ),
        "fail_on_flaky": _flag(
            "--fail-on-flaky",
            "End with 1 also for checks that were answered only when asked again, or differently "
            "by a fresh server, known ones too.",
        ),
        "github": (
            Annotated[
                bool | None,
                typer.Option(
                    "--github/--no-github",
                    help="Write the summary of a GitHub job, and annotations on the lines of "
                    "scenarios.",
                    show_default="in GitHub Actions",
                ),
            ],
            None,
        ),
        "history": (Annotated[Path | None, _HISTORY], None),
    },
)


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How somebody's own tables are named, and what is known of them."""

    tables: Path | None = None
    known: Path | None = None
    bank: Path | None = None
    shadow: bool = False
    no_values: bool = False
    platform: Path | None = None
    spark: str = ""
    most_seconds: int | None = None
    most_bytes: int | None = None
    most_rows: int = MOST_ROWS

    def of_request(self, timeout_s: float) -> Mapping[str, Any]:
        """Return what an `AuditRequest` takes as it is."""
        return {
            "known": self.known and self.known.resolve(),
            "bank": self.bank and self.bank.resolve(),
            "shadow": self.shadow,
            "no_values": self.no_values,
            "platform": self.platform and self.platform.resolve(),
            "spark": self.spark,
            "limits": AuditLimits(timeout_s, self.most_seconds, self.most_bytes, self.most_rows),
        }

    def addresses(self, named: Sequence[str]) -> "tuple[TableAddress, ...]":
        from harness.audit import table_list  # noqa: PLC0415 - what is known is said in a second

        use_platform(self.platform)
        listed = table_list.read(self.tables) if self.tables else ()
        addresses = (*map(_address, named), *listed)
        if not addresses:
            raise UsageProblem("name a table, such as /warehouse/sales.db/orders, or --tables FILE")
        return addresses


def _address(text: str) -> "TableAddress":
    """Return an address; a path from here stays what it is when the work is resumed elsewhere."""
    from harness.audit.table_list import TableAddress  # noqa: PLC0415
    from harness.usage.named_catalog import CATALOGS  # noqa: PLC0415

    elsewhere = "://" in text or text.partition(":")[0] in CATALOGS
    local = not elsewhere and (Path(text).exists() or ":" not in text)
    return TableAddress(str(Path(text).absolute()) if local and text else text)


with_tables = _with(
    "given",
    TableOptions,
    {
        "tables": _path(
            "FILE",
            "A list of tables: an address on each line, and behind it names of tables in it, such "
            "as sales.orders or 'sales.*'.",
        ),
        "known": _path(
            "FILE",
            "Differences that are known, each with its owner, date and reason; they do not count. "
            "An audit leaves a tables.known.yaml to begin with.",
        ),
        "bank": _path(
            "FOLDER",
            "Store the answers here, with the version of each table: 'harness upgrade --from "
            "banked' needs the engine no more.",
        ),
        "platform": (PlatformOption, None),
        "shadow": _flag("--shadow", "Report, and end with 0 whatever comes of it."),
        "no_values": _flag(
            "--no-values", "Show and store fingerprints instead of values of tables."
        ),
        "spark": _text(
            "MASTER",
            "Let Spark read the tables: local[*], or spark://host:port of a cluster that sees them "
            "and the folder of the audit.",
        ),
        "most_seconds": _limit("Seconds for a table and a reader; what is left is not known."),
        "most_bytes": _limit("Bytes of data files of a table; a larger one is not known."),
        "most_rows": (
            Annotated[
                int, typer.Option(min=1, help="Compare tables with more rows by fingerprints.")
            ],
            MOST_ROWS,
        ),
    },
)


def with_output(command: Command) -> Command:
    """Return a command that has the options of an `Output`, and ends with the status it returns."""

    @wraps(command)
    def ending(*, output: Output, **values: object) -> None:
        with output.ending():
            status = command(output=output, **values)
        raise typer.Exit(status or 0)

    options = {
        "quiet": _flag("--quiet", "Print only the result."),
        "json": _flag("--json", "Print only JSON, one object a line."),
        "verbose": (VerboseOption, False),
    }
    return _with("output", Output, options)(ending)


def group_with(name: str) -> type[TyperGroup]:
    """Return a group whose options belong to the command `name` where no command is named."""

    class Group(TyperGroup):
        default = name

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the library's
            named = bool(args) and (not args[0].startswith("-") or args[0] == "--help")
            return super().parse_args(ctx, args if named else [self.default, *args])

    return Group


def paths(scenarios: Sequence[Path] | None, folders: Sequence[Path] | None) -> list[Path]:
    return [*(scenarios or ()), *(folders or ())]


def check_resumed(context: typer.Context) -> None:
    options = [
        name
        for name in PLANNED_ALREADY
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    ]
    if options:
        raise UsageProblem(
            f"--resume goes on with a run as it was planned: leave out "
            f"{', '.join(options).replace('_', '-')}, or "
            "begin another run without --resume"
        )
