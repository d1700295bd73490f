"""The command line: its commands by name, each loaded when it is named."""

import ast
import json
import sys
import traceback
from collections import UserDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

import harness
from harness.cli import process
from harness.core.errors import DEFECT, HarnessError, UsageProblem, problem_of
from harness.core.texts import printable

ERR: Final = Console(stderr=True)
COMMANDS: Final[Mapping[str, str]] = {
    "run": "flow_commands:run",
    "upgrade": "upgrade.command:upgrade",
    "explain": "explain.command:explain",
    "plan": "flow_commands:plan",
    "fetch": "flow_commands:fetch",
    "write": "flow_commands:write",
    "read": "flow_commands:read",
    "judge": "flow_commands:judge",
    "report": "flow_commands:report",
    "reproduce": "reproduce.command:reproduce",
    "remedy": "remedy:remedy",
    "matrix": "matrix_command:write_matrix",
    "compare": "upgrade.compare_command:compare_runs",
    "scan": "scan_command:scan",
    "audit": "audit_command:audit",
    "export-fixtures": "fixture_command:export_fixtures_of",
    "doctor": "doctor:doctor",
    "engines": "engine_commands:app",
    "baseline": "baseline_commands:app",
    "cache": "cache_commands:app",
    "history": "history_commands:app",
}
"""Below `harness.cli`, the function or group of commands of each name.

They stand in the order of the help: the three that most people need, then along the flow."""
GROUPS: Final[Mapping[str, str]] = {
    "engines": "Engines: which there are, other versions, images, whether they conform.",
    "baseline": "Baselines: the known findings, in files beside the scenarios.",
    "cache": "The cache: its key for CI, its content, and what of it can go.",
    "history": (
        "Since when is this wrong, and what changed then? Of the stored runs: each run under "
        "runs/ at its end, and those of [bold]add[/bold]. Without a command: "
        "[bold]show[/bold]."
    ),
}
"""What the help says of groups of commands."""
MARKUP: Final = "rich"


def help_line(name: str) -> str:
    """Return the first line of what a command says of itself; its module is read, not loaded."""
    if name in GROUPS:
        return GROUPS[name]
    module, _, function = COMMANDS[name].partition(":")
    file = Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py")
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    command = next(n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == function)
    return (ast.get_docstring(command) or "").partition("\n")[0]


@contextmanager
def _shown(name: str) -> Iterator[None]:
    """Show on a terminal which command is loaded: that takes a second."""
    if not sys.stderr.isatty():
        yield
        return
    line = f"harness {name} …"
    print(line, end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print(f"\r{' ' * len(line)}\r", end="", file=sys.stderr, flush=True)


class LaterCommands(UserDict[str, Any]):
    """Commands by name; a text stands for one until it is asked for."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - private to the library
        result = super().__getitem__(name)
        if isinstance(result, str):
            module, _, attribute = result.partition(":")
            with _shown(name):
                loaded = getattr(import_module(f"harness.cli.{module}"), attribute)
            around = typer.Typer(rich_markup_mode=MARKUP)
            around.callback()(lambda: None)  # without one, a single command has no name
            if isinstance(loaded, typer.Typer):
                around.add_typer(loaded, name=name, help=GROUPS[name])
            else:
                around.command(name)(loaded)
            result = self[name] = typer.main.get_group(around).commands[name]
        return result


class Commands(TyperGroup):
    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as the library has it
        super().__init__(**attributes)
        self.commands = LaterCommands(COMMANDS)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - the library's
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - the library's
        """Show the help, for which no command is loaded."""
        commands = self.commands
        self.commands = {name: TyperCommand(name, help=help_line(name)) for name in COMMANDS}
        super().format_help(ctx, formatter)
        self.commands = commands

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - its type is private to the library
        """Run the command that was named.

        The library would end two failures inside it with 1, a finding's status.
        """
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, EOFError) as error:
            raise RuntimeError("a process or a file that was talked to ended") from error


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=MARKUP,
    help="Find silent wrong answers: write lake tables with PySpark, change their schemas, ask "
    "real Spark, Hive, Trino and Presto what they see, and judge each answer value by value.",
    epilog="Begin with: harness run --profile quick-start --show, which is about Hudi, or with "
    "harness run --format iceberg --show; delta and hive-parquet have quick starts too.",
)


@app.callback(invoke_without_command=True)
def version(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        print(harness.__version__)
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what users do wrong ends in a message, never in a traceback."""
    try:
        with process.ending_at_once(process.print_interrupted):
            app(args=arguments)
    except SystemExit as end:  # this is how the library says the status of every command
        status = end.code if isinstance(end.code, int) else 0
        if status == UsageProblem.exit_status and "--json" in (arguments or sys.argv):
            # No command was found; who reads the output waits for an end all the same.
            message = "the command line is wrong; standard error says why"
            print(json.dumps({"event": "end", "status": status, "problem": message}), flush=True)
        return status
    except Exception as error:  # noqa: BLE001 - status 1 would say that engines are wrong
        problem = problem_of(error)
        with suppress(HarnessError):  # standard error may be what is full
            if problem:
                # A path or the end of a server's log may hold what commands a terminal.
                message = "\n".join(map(printable, f"harness: {problem}".split("\n")))
                ERR.print(message, style="red", highlight=False, markup=False, soft_wrap=True)
            else:
                traceback.print_exc()
                ERR.print(f"harness: {DEFECT}")
        return problem.exit_status if problem else HarnessError.exit_status
    return 0
