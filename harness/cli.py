"""The command line: the verbs of the flow, in their order."""

from __future__ import annotations

import datetime
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

import harness
from harness import (
    cache_commands,
    fetching,
    gate,
    interrupts,
    pipeline,
    planning,
    progress,
    reports,
    run_folder,
    run_info,
    run_plan,
    writing,
)
from harness import doctor as health
from harness import run as run_record
from harness.answering import TIMEOUT_S
from harness.cells import Plan
from harness.errors import HarnessError, UsageProblem, of_machine, printable
from harness.explain import command as explanation
from harness.remedy import command as remedies
from harness.reproduce import command as reproduction
from harness.runtimes import distributions, places
from harness.runtimes.cache import ENVIRONMENT_VARIABLE, OFFLINE, Cache
from harness.voice import OUT, Voice

ERR: Final = Console(stderr=True)
RUNS: Final = Path("runs")
QUICK_START: Final = "quick-start"

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Find silent wrong answers: write lake tables with PySpark, change their schemas, ask "
    "real Spark, Hive, Trino and Presto what they see, and judge it value by value.",
    epilog="Begin with: harness run --profile quick-start --show",
)

baseline = typer.Typer(no_args_is_help=True, help="The known findings beside the scenarios.")
app.add_typer(baseline, name="baseline")
app.add_typer(cache_commands.app, name="cache")

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
    Path | None, typer.Option(help="The run's folder; a new one under runs/ unless given.")
]
OldRun = Annotated[Path, typer.Option("--run-dir", help="The run's folder.")]
Select = Annotated[str, typer.Option("-k", help="Only cells whose case contains this text.")]
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
ReportNames = Annotated[
    list[str] | None,
    typer.Argument(help=f"Only these, of: {', '.join(reports.names())}."),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with a run that broke off: --run-dir, or the latest."),
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
LATEST_RUN: Final = RUNS / run_folder.LATEST
PLANNED_ALREADY: Final = ("scenarios", "folders", "profile", "k", "cases", "fresh")
"""Options that a run which is resumed was planned with."""


@app.command()
def plan(
    scenarios: Scenarios = None,
    folders: Folders = None,
    profile: Profile = QUICK_START,
    k: Select = "",
    cells: bool = False,
) -> None:
    """Tell what a run would do: variants, readers, cells, what is left out and why."""
    made = planning.make([*(scenarios or ()), *(folders or ())], profile, k)
    planning.show(made, OUT, cells=cells)


@app.command()
def fetch(
    scenarios: Scenarios = None,
    folders: Folders = None,
    profile: Profile = QUICK_START,
    offline: Offline = False,
) -> None:
    """Fetch the engines of a profile into the cache, verified; nothing that is there already."""
    made = planning.make([*(scenarios or ()), *(folders or ())], profile, "")
    cache = Cache.default(offline=offline)
    fetching.fetch_all(fetching.needed(made), cache, progress.for_stream(sys.stderr))


@app.command()
def run(
    context: typer.Context,
    scenarios: Scenarios = None,
    folders: Folders = None,
    profile: Profile = QUICK_START,
    run_dir: RunDir = None,
    k: Select = "",
    cases: Cases = None,
    offline: Offline = False,
    fresh: Fresh = False,
    show: Show = False,
    resume: Resume = False,
    timeout: Timeout = TIMEOUT_S,
    write_timeout: WriteTimeout = writing.TIMEOUT_S,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Do all: fetch, write, read, judge, report; end with the gate's status."""
    means = _Means(Voice(quiet, json), Cache.default(offline=offline), timeout, write_timeout)
    if resume:
        _check_resumed(context)
        working = _resumed(run_dir or LATEST_RUN, means)
    else:
        made = planning.make([*(scenarios or ()), *(folders or ())], profile, k, cases)
        working = _begun(made, run_dir, means, fresh=fresh)
    with working as work:
        info = run_info.read_info(work.folder)
        made = run_plan.plan_of(info) if resume else made
        fetching.fetch_all(fetching.needed(made), work.cache, work.progress)
        pipeline.write_and_read(made, work, fresh=info.fresh, resume=resume)
        _finish(work.folder, means.voice, show=show)


@app.command()
def write(
    scenarios: Scenarios = None,
    folders: Folders = None,
    profile: Profile = QUICK_START,
    run_dir: RunDir = None,
    k: Select = "",
    offline: Offline = False,
) -> None:
    """Write the tables and freeze a state after each step; ask nobody."""
    made = planning.make([*(scenarios or ()), *(folders or ())], profile, k)
    means = _Means(Voice(), Cache.default(offline=offline))
    with _begun(made, run_dir, means) as work:
        fetching.fetch_all(fetching.needed(made), work.cache, work.progress)
        pipeline.write_states(made, work)
    OUT.print(f"written: {work.folder}; next: harness read --run-dir {work.folder}")


@app.command()
def read(
    run_dir: OldRun = LATEST_RUN,
    reader: Annotated[
        list[str] | None, typer.Option(help="Add this reader: 'trino-476{use-column-names=false}'.")
    ] = None,
    offline: Offline = False,
    fresh: Fresh = False,
    show: Show = False,
    timeout: Timeout = TIMEOUT_S,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Ask the readers about the states of a run, then judge and report; writes no table."""
    means = _Means(Voice(quiet, json), Cache.default(offline=offline), timeout)
    with _resumed(run_dir, means) as work:
        made = run_plan.plan_of(run_info.read_info(work.folder))
        for text in reader or ():
            made = run_plan.add_reader(work.folder, planning.reader(text))
        fetching.fetch_all(fetching.needed(made), work.cache, work.progress)
        pipeline.read_answers(made, work, fresh=fresh)
        _finish(work.folder, means.voice, show=show)


@app.command()
def judge(run_dir: OldRun = LATEST_RUN, show: Show = False) -> None:
    """Judge the recorded answers of a run anew; no engine is started."""
    folder = _existing(run_dir)
    with run_folder.locked(folder):
        _finish(folder, Voice(), show=show)


@app.command()
def report(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Of: {', '.join(reports.names())}.")
    ] = None,
    run_dir: OldRun = LATEST_RUN,
) -> None:
    """Draw the reports of a judged run anew; no engine is started."""
    folder = _existing(run_dir)
    if not names:
        Voice().report(run_record.load(folder))
    for name in names or ():
        OUT.print(f"{name}: {reports.load(name).write(run_record.load(folder), folder)}")


app.command()(explanation.explain)
app.command()(reproduction.reproduce)
app.command()(remedies.remedy)


@baseline.command()
def update(run_dir: OldRun = LATEST_RUN) -> None:
    """Write what a run shows into <scenario>.known.yaml beside each scenario, for review."""
    changed = pipeline.update_baselines(_existing(run_dir))
    for path in changed:
        done = "written" if path.exists() else "removed, nothing is known any more"
        OUT.print(f"{path}: {done}", highlight=False, markup=False, soft_wrap=True)
    if changed:
        OUT.print("review them, say why in place of each TODO, then: harness judge")
    else:
        OUT.print("every baseline says already what this run shows")


@app.command()
def doctor(verify: Verify = False) -> None:
    """Tell what is there, what is missing, and what each engine needs of this machine."""
    cache = Cache.default()
    changed = health.verify(distributions.names(), cache, OUT) if verify else ()
    found = health.health(distributions.names(), cache)
    this = health.machine(cache)
    health.show(this, found, OUT)
    if changed or health.problems(this, found):
        raise typer.Exit(3)


@dataclass(frozen=True, slots=True)
class _Means:
    """What a command works with."""

    voice: Voice
    cache: Cache
    timeout_s: float = TIMEOUT_S
    write_timeout_s: float = writing.TIMEOUT_S

    def check(self, folder: Path) -> None:
        """Check that tables can be written in a run's folder, and kept in the cache."""
        places.check(folder, "--run-dir")
        places.check(self.cache.root, ENVIRONMENT_VARIABLE)

    def work(self, folder: Path) -> pipeline.Work:
        # Servers run in folders of their own, where a relative path would mean another place.
        told, times = self.voice.progress(), (self.timeout_s, self.write_timeout_s)
        return pipeline.Work(self.cache, folder.resolve(), told, *times)


@contextmanager
def _begun(
    made: Plan, run_dir: Path | None, means: _Means, *, fresh: bool = False
) -> Iterator[pipeline.Work]:
    """Begin a run; its plan is written down before anything starts."""
    started = datetime.datetime.now(datetime.UTC)
    means.check(run_dir or RUNS)
    folder = run_folder.new_folder(RUNS, made.profile, started) if run_dir is None else run_dir
    _check_new(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with run_folder.locked(folder), means.voice.telling(folder.resolve()):
        _check_new(folder)
        info = run_plan.info_of(made, folder.name, started, fresh=fresh)
        run_info.write_info(folder, info)
        if run_dir is None:
            run_folder.point_latest(folder)
        work = means.work(folder)
        pipeline.clean(work)
        yield work


def _check_new(folder: Path) -> None:
    if (folder / run_info.INFO).exists():
        raise UsageProblem(
            f"there is a run at {folder} already; go on with it by harness run --resume or "
            "harness read, or name another folder"
        )


@contextmanager
def _resumed(run_dir: Path, means: _Means) -> Iterator[pipeline.Work]:
    """Go on with a run that is there."""
    folder = _existing(run_dir)
    means.check(folder)
    run_info.read_info(folder)
    with run_folder.locked(folder), means.voice.telling(folder):
        work = means.work(folder)
        work.progress.note(f"go on with {folder}")
        pipeline.clean(work)
        yield work


def _check_resumed(context: typer.Context) -> None:
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


def _existing(folder: Path) -> Path:
    if not folder.exists():
        raise UsageProblem(f"there is no run at {folder}; make one with: harness run")
    return folder.resolve()


def _finish(folder: Path, voice: Voice, *, show: bool) -> None:
    result = gate.gate(pipeline.judge_run(folder))
    status = 0 if show and result.status == gate.NEW else result.status
    voice.result(run_record.load(folder), result, status)
    raise typer.Exit(status)


@app.callback(invoke_without_command=True)
def version(
    show_version: Annotated[bool, typer.Option("--version", help="Tell the version.")] = False,
) -> None:
    """Take what stands before the command."""
    if show_version:
        OUT.print(harness.__version__)
        raise typer.Exit


def _interrupted(_: int) -> None:
    print("harness: interrupted", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what people did wrong ends in a message, never in a traceback."""
    try:
        with interrupts.ending_at_once(_interrupted):
            app(args=arguments)
    except SystemExit as end:  # this is how the library says the status of every command
        return end.code if isinstance(end.code, int) else 0
    except HarnessError as problem:
        return _told(problem)
    except Exception as error:  # noqa: BLE001 - status 1 would say that engines were found wrong
        if isinstance(error, OSError) and (lacking := of_machine(error)):
            return _told(lacking)
        traceback.print_exc()
        ERR.print("harness: this is a defect of the harness; nothing is known of the engines")
        return HarnessError.exit_status
    return 0


def _told(problem: HarnessError) -> int:
    # A path or the end of a server's log may hold what commands a terminal.
    said = "\n".join(map(printable, f"harness: {problem}".split("\n")))
    ERR.print(said, style="red", highlight=False, markup=False, soft_wrap=True)
    return problem.exit_status
