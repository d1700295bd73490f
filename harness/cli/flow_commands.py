"""The verbs of the flow, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness import reports
from harness.artifacts.cache import Cache
from harness.cli import options, plan_options, runs, show_plan
from harness.cli.output import OUT, Output
from harness.cli.plan_options import NamedParts, PlanOverrides
from harness.cli.runs import Ending, Resources, begun, looked_at, resumed
from harness.plan import custom_distributions, shipped
from harness.plan.profile import load_profiles
from harness.read.reader_servers import TIMEOUT_S
from harness.run import load_run, pipeline, plan_record, run_folder
from harness.run.pipeline import TimeLimits
from harness.run.run_folder import LATEST_RUN
from harness.run.run_judge import with_strategy_answers
from harness.run.run_log import run_log
from harness.write import writer_pool


def quick_start(paths: Sequence[Path], named: NamedParts) -> str | None:
    """Return the quick start of a format where that format is all that is named."""
    if paths or len(named.formats) != 1 or named.writers or named.readers or named.file:
        return None
    name = f"{plan_options.QUICK_START}-{named.formats[0]}"
    return name if name in load_profiles(shipped.profiles_file()) else None


@options.with_overrides
@options.with_parts
def plan(
    named: NamedParts,
    overrides: PlanOverrides,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    k: options.SelectOption = "",
    cells: options.CellsOption = False,
    expected: options.ExpectedOption = False,
) -> None:
    """Show what a run would do: variants, readers, checks; what is left out, and why."""
    paths = options.paths(scenarios, folders)
    chosen = profile or quick_start(paths, named)
    made = plan_options.make(paths, chosen, k, None, overrides, named)
    show_plan.show(made, OUT, cells=cells)
    if expected:
        show_plan.show_expected(made, OUT, every=bool(k))
    plan_options.check_asks(made)


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


@options.with_output
@options.with_overrides
@options.with_parts
@options.with_ending
def run(
    output: Output,
    named: NamedParts,
    overrides: PlanOverrides,
    ending: Ending,
    context: typer.Context,
    scenarios: options.ScenariosArgument = None,
    folders: options.ScenariosOption = None,
    profile: options.ProfileOrPartsOption = None,
    run_dir: options.RunDirOption = None,
    k: options.SelectOption = "",
    cases: options.CasesOption = None,
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
        chosen = profile or quick_start(paths, named)
        made = plan_options.make(paths, chosen, k, cases, overrides, named)
        plan_options.check_asks(made)
        working = begun(made, run_dir, resources, fresh=fresh)
    with working as work:
        info = load_run.read_info(work.folder)
        made = plan_record.plan_of(info) if resume else made
        judged = pipeline.run(made, work, fresh=info.fresh, resume=resume)
        return runs.end_judged(judged, output, ending)


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
    paths = options.paths(scenarios, folders)
    made = plan_options.make(paths, profile or quick_start(paths, named), k, named=named)
    plan_options.check_asks(made)
    resources = Resources(output, Cache.default(offline=offline))
    with begun(made, run_dir, resources) as work:
        pipeline.fetch_plan(made, work)
        pipeline.write_states(made, work)
    message = f"written: {work.folder}; next: harness read --run-dir {work.folder}"
    output.end(message, run=str(work.folder))


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


@options.with_output
@options.with_ending
def judge(output: Output, ending: Ending, run_dir: options.OldRunOption = LATEST_RUN) -> int:
    """Judge the recorded answers of a run again; start no engine."""
    folder = run_folder.existing(run_dir)
    load_run.check(folder)  # in a folder that is no run not even a lock is left
    with run_folder.locked(folder), run_log(folder):
        return runs.end_judged(pipeline.judge_run(folder), output, ending)


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
