"""A command begins a run, resumes it or looks at it; a judged run is reported and stored."""

import datetime
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Final

from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.cli.output import Output
from harness.comparison import history
from harness.core.errors import HarnessError, UsageProblem, describe, problem_of
from harness.core.texts import printable
from harness.judge.gate import GOOD, NEW
from harness.reports import github
from harness.run import load_run, pipeline, plan_record, run_folder, run_judge
from harness.run.load_run import Run
from harness.run.pipeline import JudgedRun, TimeLimits, Work
from harness.run.run_folder import RUNS
from harness.run.run_judge import RunJudge
from harness.run.run_log import phase, run_log
from harness.runtime import work_folders
from harness.scenario.cells import Plan

MORE: Final = "Answers may lead to more: the same again, columns alone, other settings, fewer rows."
ON_GITHUB: Final = "GITHUB_ACTIONS"
"""GitHub sets it to `true` in every job ("Variables reference")."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a judged run is to end, as the options of its command say."""

    show: bool = False
    """Whether findings do not fail it."""
    fail_on_flaky: bool = False
    github: bool | None = None
    """Whether it writes for GitHub; None: where GitHub runs the command."""
    history: Path | None = None
    """The file that stores the run; None: that under runs/, if the run is there."""


def end_judged(judged: JudgedRun, output: Output, ending: Ending) -> int:
    """Report on a run that was just judged; return the exit status."""
    run = judged.run
    gate = run_judge.gate_of(run, judged.applied, fail_on_flaky=ending.fail_on_flaky)
    status = GOOD if ending.show and gate.status == NEW else gate.status
    if not _stored(run, _history_of(ending.history, run.folder)):
        status = max(status, HarnessError.exit_status)
    on_github = os.environ.get(ON_GITHUB) == "true"
    if on_github if ending.github is None else ending.github:
        # GitHub reads commands from both streams; with --json a program reads the first one.
        stream = sys.stderr if output.json else sys.stdout
        try:
            github.tell(run, gate, stream, fails=status != GOOD)
        except OSError as error:
            problem = f"the summary of the job is not written: {describe(error)}"
            print(f"harness: {problem}", file=sys.stderr)
    output.result(run, gate, status)
    return status


def _stored(run: Run, file: Path | None) -> bool:
    """Store a run where there is a file for it; say it and return False where that fails."""
    try:
        if file:
            store(run, file)
    except (HarnessError, OSError) as error:
        reason = printable(str(problem_of(error) or error))
        print(f"harness: the run is not stored for its history: {reason}", file=sys.stderr)
        return False
    return True


def store_side(run: Run, folder: Path, name: str) -> None:
    """Store a side of an upgrade whose folder is under runs/, among the upgrades of its profile."""
    info = replace(run.info, id=f"{folder.name}-{name}", profile=f"upgrade {run.info.profile}")
    _stored(replace(run, info=info), _history_of(None, folder))


def store(run: Run, file: Path) -> str:
    if run.info.cells and not run.recorded:
        raise UsageProblem(
            f"{run.folder}: nothing is judged; use harness judge, or run it to its end"
        )
    with history.opened(file, new=True) as stored:
        stored.add(run)
    return run.info.id


def check_history(file: Path | None, run_dir: Path | None) -> None:
    """Check before a run begins that it can be stored."""
    file = _history_of(file, run_dir or run_folder.LATEST_RUN)
    if file and file.exists():
        with history.opened(file):
            pass


def _history_of(file: Path | None, folder: Path) -> Path | None:
    """Return the file that is named, else for a run under runs/ the one there."""
    return file or (history.USUAL if folder.parent.resolve() == RUNS.resolve() else None)


def stored_or_folder(run: Path, file: Path) -> Path:
    """Return a run's folder, by its path or by the name of a stored run, which is restored."""
    if run.exists() or not file.is_file():
        return run_folder.existing(run)
    with history.opened(file) as store_:
        stored = store_.run(str(run))
        # Another run may have its name.
        names = chain([stored.name], (f"{stored.name}-{number}" for number in count(2)))
        for folder in (RUNS / name for name in names):
            if not folder.exists():
                store_.restore(stored, folder)
            is_run = (folder / load_run.INFO).is_file()
            if is_run and load_run.read_info(folder).started == stored.info.started:
                return run_folder.existing(folder)
    raise AssertionError("there is always another name")


@dataclass(frozen=True, slots=True)
class Resources:
    output: Output
    cache: Cache
    limits: TimeLimits = field(default_factory=TimeLimits)

    def check(self, folder: Path, how: str) -> None:
        """Check that tables can be written in a run's folder, which `how` names, and cached."""
        work_folders.check(folder, how)
        work_folders.check(self.cache.root, ENVIRONMENT_VARIABLE)
        self.cache.check()

    def work(self, folder: Path) -> Work:
        # Servers run in folders of their own, where a relative path would name another file.
        return Work(self.cache, folder.resolve(), self.output.progress(), self.limits)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@contextmanager
def begun(
    made: Plan, run_dir: Path | None, resources: Resources, *, fresh: bool = False
) -> Iterator[Work]:
    """Begin a run; its plan is written down before anything starts."""
    started = _now()
    resources.check(run_dir or RUNS, "--run-dir")
    if run_dir is not None:
        run_folder.check_new(run_dir)
    folder = run_folder.new_folder(RUNS, made.profile, started) if run_dir is None else run_dir
    run_folder.make(folder)
    with run_folder.locked(folder), resources.output.working_on(folder.resolve()):
        run_folder.check_new(folder)  # another harness may have been first
        info = plan_record.info_of(made, folder.name, started, fresh=fresh)
        load_run.write_info(folder, info)
        if run_dir is None:
            run_folder.point_begun(folder)
        with _logged_work(folder, resources) as work:
            for line in (*made.chosen, *(f"left out to save time: {w}" for w in made.left_out)):
                work.progress.note(line)
            yield work
            run_folder.show(folder)


@contextmanager
def resumed(run_dir: Path, resources: Resources, *, shows: bool = True) -> Iterator[Work]:
    folder = run_folder.existing(run_dir)
    resources.check(folder, "--run-dir")
    load_run.read_info(folder)
    working = resources.output.working_on(folder)
    with run_folder.locked(folder), working, _logged_work(folder, resources) as work:
        work.progress.note(f"go on with {folder}")
        yield work
        if shows:
            run_folder.show(folder)


@contextmanager
def looked_at(run_dir: Path, what: str) -> Iterator[Path]:
    """Yield the whole path of a run's folder, whose log says that `what` is done; lock nothing."""
    folder = run_folder.existing(run_dir)
    load_run.check(folder)  # in a folder that is no run not even a log is left
    with run_log(folder), phase(what):
        yield folder


@contextmanager
def _logged_work(folder: Path, resources: Resources) -> Iterator[Work]:
    with run_log(folder):
        work = resources.work(folder)
        pipeline.clean(work)
        yield work


@contextmanager
def new_folder(resources: Resources, name: str, run_dir: Path | None = None) -> Iterator[Path]:
    """Yield a folder for what a command does besides the user's runs: `run_dir`, else under runs/.

    Where it ends before anything was written the folder does not stay.
    """
    if run_dir is None:
        resources.check(RUNS, "the current folder")
        folder = run_folder.new_folder(RUNS, name, _now()).resolve()
    else:
        resources.check(run_dir, "--run-dir")
        run_folder.check_new(run_dir)
        run_folder.make(run_dir)
        folder = run_dir.resolve()
    try:
        yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()  # which only an empty one lets happen


def execute(plan: Plan, resources: Resources, note: str = "") -> Run:
    """Write and ask what is not in the cache, and judge, in a folder of its own under runs/."""
    with new_folder(resources, plan.profile) as folder:
        with run_folder.locked(folder), _logged_work(folder, resources) as work:
            if note:
                work.progress.note(note)
            ask(plan, work)
            pipeline.judge_run(folder)
        return load_run.load(folder)


def dry_run(plans: Iterable[Plan], resources: Resources) -> int:
    """Write the tables of plans here, and print what every reader would be sent about them."""
    sent = list[str]()
    with new_folder(resources, "dry-run") as folder:
        with run_folder.locked(folder), _logged_work(folder, resources) as work:
            for plan in plans:
                _write(replace(plan, readers=(), cells=()), work)  # no reader is fetched
                sent += pipeline.statements(plan, work)
        return unsent(sent, resources.output)


def unsent(statements: Iterable[str], output: Output, more: str = MORE) -> int:
    """Print what would be sent; return the exit status."""
    sent = list(dict.fromkeys(statements))
    last = f"Nothing was sent. {more}".strip() if sent else "No statement would be sent."
    output.end("\n".join([*sent, last]), sent=sent)
    return GOOD


def ask(plan: Plan, work: Work, judge: RunJudge | None = None) -> None:
    """Write and ask what is not in the cache; judge nothing."""
    _write(plan, work)
    pipeline.read_answers(plan, work, judge, fresh=False)


def _write(plan: Plan, work: Work) -> None:
    load_run.write_info(work.folder, plan_record.info_of(plan, work.folder.name, _now()))
    pipeline.fetch_plan(plan, work)
    pipeline.write_states(plan, work)
