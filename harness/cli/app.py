"""The command line: the verbs of the flow, in their order."""

from __future__ import annotations

import sys
import traceback
from collections import UserDict
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from typer.core import TyperGroup

import harness
from harness import reports
from harness.artifacts.cache import Cache
from harness.cli import options, plan_options, process, runs, show_plan
from harness.cli.output import OUT, Output
from harness.cli.plan_options import NamedParts
from harness.cli.runs import Ending, Resources, begun, looked_at, resumed
from harness.core.errors import DEFECT, HarnessError, UsageProblem, printable, problem_of
from harness.plan import custom_distributions
from harness.read.reader_servers import TIMEOUT_S
from harness.run import load_run, pipeline, plan_record, run_folder
from harness.run.pipeline import TimeLimits
from harness.run.run_folder import LATEST_RUN
from harness.run.run_judge import with_strategy_answers
from harness.run.run_log import run_log
from harness.write import writer_pool

ERR: Final = Console(stderr=True)
LATER: Final = {
    "explain": "explain.command:explain",
    "reproduce": "reproduce.command:reproduce",
    "remedy": "remedy:remedy",
    "upgrade": "upgrade.command:upgrade",
    "compare": "upgrade.command:compare_runs",
    "scan": "scan_command:scan",
    "export-fixtures": "fixture_command:export_fixtures_of",
    "doctor": "doctor:doctor",
    "engines": "engine_commands:app",
    "baseline": "baseline_commands:app",
    "cache": "cache_commands:app",
    "history": "history_commands:app",
}
"""The function or group of commands of each name, below `harness.cli`; loaded when it is named."""
FIRST: Final = ("run", "upgrade", "explain")
"""What most people need; the help begins with these, then come the others along the flow."""
MARKUP: Final = "rich"


class LaterCommands(UserDict[str, Any]):
    """Commands by name; a text of `LATER` stands for one until it is asked for."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - private to the library
        result = super().__getitem__(name)
        if isinstance(result, str):
            module, _, attribute = result.partition(":")
            loaded = getattr(import_module(f"harness.cli.{module}"), attribute)
            around = typer.Typer(rich_markup_mode=MARKUP)
            around.callback()(lambda: None)  # without one, a single command has no name
            if isinstance(loaded, typer.Typer):
                around.add_typer(loaded, name=name)
            else:
                around.command(name)(loaded)
            result = self[name] = typer.main.get_group(around).commands[name]
        return result


class Commands(TyperGroup):
    """All commands, in the order of the help."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as the library has it
        super().__init__(**attributes)
        commands = {**self.commands, **LATER}
        self.commands = LaterCommands({name: commands[name] for name in (*FIRST, *commands)})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - the library's
        return list(self.commands)

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
    epilog="Begin with: harness run --profile quick-start --show",
)


@app.command()
@options.with_parts
def plan(
    named: NamedParts,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    k: options.SelectOption = "",
    cells: options.CellsOption = False,
    expected: options.ExpectedOption = False,
    runtime: options.RuntimeOption = None,
    query: options.QueryOption = None,
    setting: options.SettingOption = None,
    warehouse: options.WarehouseOption = None,
    metastore: options.MetastoreOption = "",
) -> None:
    """Show what a run would do: variants, readers, checks; what is left out, and why."""
    paths = options.paths(scenarios, folders)
    where = plan_options.PlanOverrides(
        runtime or "", warehouse or "", metastore, tuple(query or ()), tuple(setting or ())
    )
    made = plan_options.make(paths, profile, k, None, where, named)
    show_plan.show(made, OUT, cells=cells)
    if expected:
        show_plan.show_expected(made, OUT, every=bool(k))
    plan_options.check_asks(made)


@app.command()
@options.with_output
def fetch(
    output: Output,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    offline: options.OfflineOption = False,
) -> None:
    """Download the engines of a run into the cache and verify them; skip those in the cache."""
    made = plan_options.make(options.paths(scenarios, folders), profile, "")
    plan_options.check_asks(made)
    cache, names = Cache.default(offline=offline), pipeline.needed_distributions(made)
    pipeline.fetch_all(names, cache, output.progress())
    output.end(cache=str(cache.root), distributions=names)


@app.command()
@options.with_output
@options.with_parts
@options.with_ending
def run(
    output: Output,
    named: NamedParts,
    ending: Ending,
    context: typer.Context,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    run_dir: options.RunDirOption = None,
    k: options.SelectOption = "",
    cases: options.CasesOption = None,
    runtime: options.RuntimeOption = None,
    query: options.QueryOption = None,
    setting: options.SettingOption = None,
    warehouse: options.WarehouseOption = None,
    metastore: options.MetastoreOption = "",
    offline: options.OfflineOption = False,
    fresh: options.FreshOption = False,
    resume: options.ResumeOption = False,
    timeout: options.TimeoutOption = TIMEOUT_S,
    write_timeout: options.WriteTimeoutOption = writer_pool.TIMEOUT_S,
) -> int:
    """Fetch, write, read, judge and report; the exit status says what came of it."""
    runs.check_history(ending.history, run_dir)
    limits = TimeLimits(timeout, write_timeout)
    resources = Resources(output, Cache.default(offline=offline), limits)
    if resume:
        options.check_resumed(context)
        working = resumed(run_dir or run_folder.to_resume(), resources)
    else:
        paths = options.paths(scenarios, folders)
        where = plan_options.PlanOverrides(
            runtime or "", warehouse or "", metastore, tuple(query or ()), tuple(setting or ())
        )
        made = plan_options.make(paths, profile, k, cases, where, named)
        plan_options.check_asks(made)
        working = begun(made, run_dir, resources, fresh=fresh)
    with working as work:
        info = load_run.read_info(work.folder)
        made = plan_record.plan_of(info) if resume else made
        judged = pipeline.run(made, work, fresh=info.fresh, resume=resume)
        return runs.end_judged(judged, output, ending)


@app.command()
@options.with_output
@options.with_parts
def write(
    output: Output,
    named: NamedParts,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    run_dir: options.RunDirOption = None,
    k: options.SelectOption = "",
    offline: options.OfflineOption = False,
) -> None:
    """Write the tables and freeze a state after each step; ask no reader."""
    made = plan_options.make(options.paths(scenarios, folders), profile, k, named=named)
    plan_options.check_asks(made)
    resources = Resources(output, Cache.default(offline=offline))
    with begun(made, run_dir, resources) as work:
        pipeline.fetch_plan(made, work)
        pipeline.write_states(made, work)
    message = f"written: {work.folder}; next: harness read --run-dir {work.folder}"
    output.end(message, run=str(work.folder))


@app.command()
@options.with_output
@options.with_ending
def read(
    output: Output,
    ending: Ending,
    run_dir: options.OldRunOption = LATEST_RUN,
    reader: Annotated[
        list[str] | None,
        typer.Option(help="Add this reader, such as 'trino-476{use-column-names=false}'."),
    ] = None,
    folders: options.OwnOption = None,
    offline: options.OfflineOption = False,
    fresh: options.FreshOption = False,
    timeout: options.TimeoutOption = TIMEOUT_S,
) -> int:
    """Ask the readers about the states of a run, then judge and report; write no table."""
    resources = Resources(output, Cache.default(offline=offline), TimeLimits(timeout))
    with resumed(run_dir, resources) as work:
        made = plan_record.plan_of(load_run.read_info(work.folder))
        custom_distributions.register(folders or ())
        for reader_text in reader or ():
            made = plan_record.add_reader(work.folder, plan_options.existing_reader(reader_text))
        pipeline.fetch_plan(made, work)
        live = pipeline.live_verdicts(made, work)
        pipeline.read_answers(made, work, live, fresh=fresh)
        return runs.end_judged(pipeline.judge_twice(made, work, live), output, ending)


@app.command()
@options.with_output
@options.with_ending
def judge(output: Output, ending: Ending, run_dir: options.OldRunOption = LATEST_RUN) -> int:
    """Judge the recorded answers of a run again; start no engine."""
    folder = run_folder.existing(run_dir)
    load_run.check(folder)  # in a folder that is no run not even a lock is left
    with run_folder.locked(folder), run_log(folder):
        return runs.end_judged(pipeline.judge_run(folder), output, ending)


@app.command()
def report(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Any of {', '.join(reports.names())}; by default html, junit and terminal."
        ),
    ] = None,
    run_dir: options.OldRunOption = LATEST_RUN,
    verbose: options.VerboseOption = False,
) -> None:
    """Write the reports of a judged run again; start no engine."""
    output = Output(verbose=verbose)
    with output.ending(), looked_at(run_dir, "report") as folder:
        run = with_strategy_answers(load_run.load(folder))
        if not names:
            output.report(run)
        for name in names or ():
            OUT.print(f"{name}: {reports.load(name).write(run, run.folder)}")


@app.callback(invoke_without_command=True)
def version(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        OUT.print(harness.__version__)
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
            Output(json=True).end(status=status, problem=message)
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
