"""A command shows bars and the matrix to a person, JSON lines to a program, or little if asked."""

import json
import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, TextIO

from rich import progress as rich_progress
from rich.console import Console
from rich.table import Column
from rich.text import Text

from harness.cli import process
from harness.core import progress as core_progress
from harness.core.errors import DEFECT, HarnessError, problem_of
from harness.core.progress import Count, Progress, megabytes
from harness.reports import lines

if TYPE_CHECKING:
    from harness.judge.gate import Gate
    from harness.run.load_run import Run

LAST_WORD_S: Final = 1.0
"""How long an interruption waits for a line that is being written; its reader may be gone."""
OUT: Final = Console(width=None if sys.stdout.isatty() else lines.WIDTH)
MINUTE_S: Final = 60.0
_DRAWN_A_SECOND: Final = 2
"""How often bars are drawn; ten times, rich's default, takes a hundredth of a processor."""
_BAR: Final = 12
"""The width of a bar: the words beside it say more."""


@dataclass(frozen=True, slots=True)
class Output:
    quiet: bool = False
    """Only the result."""
    json: bool = False
    verbose: bool = False
    """The log on standard error as well."""

    def progress(self) -> Progress:
        if self.json:
            return JsonProgress(sys.stdout)
        if self.quiet:
            return Progress()
        if self.verbose or not sys.stderr.isatty():  # lines of the log would break bars
            return PlainProgress(sys.stderr)
        return TerminalProgress(Console(file=sys.stderr))

    @property
    def out(self) -> Console:
        """Where a result is shown to people: nowhere when a program reads."""
        return Console(quiet=True) if self.json else OUT

    def end(self, text: str = "", /, *, status: int = 0, **facts: object) -> None:
        """Report the result of a command: in words to people, as facts to a program."""
        if self.json:
            JsonProgress(sys.stdout).send("end", status=status, **facts)
        elif text:
            say(text)

    def report(self, run: "Run") -> dict[str, str]:
        """Write the reports that every run has, show the matrix; return where they are."""
        from harness.reports import html, junit, terminal  # noqa: PLC0415 - few commands make pages

        page = html.write(run, run.folder)
        files = {"junit": str(junit.write(run, run.folder)), "html": str(page)}
        if not (self.quiet or self.json):
            terminal.render(run, OUT, page)
        return files

    def result(self, run: "Run", result: "Gate", status: int) -> None:
        self.end(
            "\n".join(result.reasons),
            status=status,
            reasons=list(result.reasons),
            totals=dict(Counter(str(verdict.verdict) for verdict in run.verdicts)),
            flaky=result.flaky,
            run=str(run.folder),
            reports=self.report(run),
        )

    @contextmanager
    def working_on(self, folder: Path, command: str = "run") -> Iterator[None]:
        """Work on a run: an interruption says how to resume it."""
        here = Path.cwd()
        shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
        message = f"interrupted; resume with: harness {command} --resume --run-dir {shown}"
        with process.ending_at_once(partial(self._interrupted, message)):
            yield

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Do all of a command, planning too: with --json, its failure is the last event."""
        with ExitStack() as stack:
            stack.enter_context(process.ending_at_once(partial(self._interrupted, "interrupted")))
            if self.verbose:
                from harness.run import run_log  # noqa: PLC0415

                handler = logging.StreamHandler(sys.stderr)
                if not (self.quiet or self.json):  # else progress would be there twice
                    handler.addFilter(lambda record: record.name != core_progress.LOGGER.name)
                stack.enter_context(run_log.logging_to(handler))
            try:
                yield
            except Exception as error:
                if self.json:
                    problem = problem_of(error) or HarnessError(f"{DEFECT} ({error!r})")
                    self.end(status=problem.exit_status, problem=str(problem))
                raise

    def _interrupted(self, problem: str, status: int) -> None:
        if self.json:
            # Until the process is gone, other threads would report answers that come.
            JsonProgress.speaking.acquire(timeout=LAST_WORD_S)
            self.end(status=status, problem=problem)
        print(f"harness: {problem}", file=sys.stderr, flush=True)


def say(text: str, console: Console = OUT, style: str = "") -> None:
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


class _LineProgress(Progress):
    """A display of lines: at each part of a task, and once a minute of all that run."""

    parts: ClassVar[int]
    paced: ClassVar[frozenset[str]]
    """The units of the tasks that are shown between their beginning and end."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._out, self._clock, self._last = out, clock, 0.0
        self._running: list[Count] = []

    def begun(self, count: Count) -> None:
        self.show("start", [count])
        if count.unit in self.paced:
            if not self._running:  # a minute begins with the first task
                self._last = self._clock()
            self._running.append(count)

    def moved(self, count: Count, before: int) -> None:
        if count.unit in self.paced and (due := self._due(count, before)):
            self.show("progress", due)

    def ended(self, count: Count) -> None:
        if count in self._running:
            self._running.remove(count)
        if not count.given_up:
            self.show("done", [count])

    def _due(self, count: Count, before: int) -> Sequence[Count]:
        if (now := self._clock()) - self._last >= MINUTE_S:
            self._last = now
            return tuple(self._running)
        parts, total = self.parts, count.total
        passed = total and before * parts // total != count.made * parts // total
        return (count,) if passed else ()

    def show(self, event: str, counts: Sequence[Count]) -> None:
        """Write what happened to tasks: `start`, `progress` or `done`."""
        raise NotImplementedError

    def line(self, text: str) -> None:
        """Write a line in one piece: several threads may write."""
        self._out.write(f"{text}\n")
        self._out.flush()


class PlainProgress(_LineProgress):
    """Lines for logs: of a task of bytes its beginning and end, of a count its quarters too."""

    parts, paced = 4, frozenset({"things"})

    def show(self, event: str, counts: Sequence[Count]) -> None:
        if event == "progress":
            if left := [count.state for count in counts if count.left]:
                self.line("; ".join(left))
            return
        (count,) = counts
        size = megabytes(count.total) if count.unit == "bytes" else f"0 of {count.total:,}"
        self.line(f"{count.task}: {size if event == 'start' else f'done{count.results}'}")

    def note(self, text: str) -> None:
        super().note(text)
        self.line(text)


class JsonProgress(_LineProgress):
    """One JSON object a line, for programs."""

    parts, paced = 100, frozenset({"things", "bytes"})
    speaking: ClassVar = threading.RLock()
    """Locked while a line is written; who keeps it has the last word."""

    def show(self, event: str, counts: Sequence[Count]) -> None:
        for count in counts:
            if event == "start":
                self.send(event, task=count.task, total=count.total, unit=count.unit)
            else:
                self.send(
                    event,
                    task=count.task,
                    by=count.by,
                    done=count.made,
                    total=count.total,
                    left=count.left,
                    found=dict(count.outcomes),
                    judged=dict(count.judged),
                )

    def note(self, text: str) -> None:
        super().note(text)
        self.send("note", text=text)

    def send(self, event: str, **facts: object) -> None:
        with self.speaking:
            self.line(json.dumps({"event": event, **facts}))


class _Figures(rich_progress.ProgressColumn):
    """Beside a bar of bytes their number and speed, beside the others the time."""

    _SIZES = rich_progress.DownloadColumn(), rich_progress.TransferSpeedColumn()
    _TIME = rich_progress.TimeElapsedColumn()

    def render(self, task: rich_progress.Task) -> Text:
        if task.fields["unit"] == "bytes":
            return Text(" ").join(column.render(task) for column in self._SIZES)
        return self._TIME.render(task)


class TerminalProgress(Progress):
    """Bars on a terminal, one for each task; with the last task all stay where they are."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console, self._bars = console, _bars(console)
        self._running: dict[Count, rich_progress.TaskID] = {}

    def begun(self, count: Count) -> None:
        self._bars.start()
        task = self._bars.add_task(_words(count), total=count.total, unit=count.unit)
        self._running[count] = task

    def moved(self, count: Count, before: int) -> None:  # noqa: ARG002 - lines are for steps
        if count in self._running:
            task = self._running[count]
            self._bars.update(task, completed=count.made, description=_words(count))

    def ended(self, count: Count) -> None:
        self._running.pop(count, None)
        if not self._running:
            self._bars.stop()
            self._bars = _bars(self._console)

    def note(self, text: str) -> None:
        super().note(text)
        self._console.print(text, markup=False, highlight=False)


def _words(count: Count) -> str:
    return count.task if count.unit == "bytes" else count.state


def _bars(console: Console) -> rich_progress.Progress:
    words = rich_progress.TextColumn(
        "{task.description}", markup=False, table_column=Column(ratio=1)
    )
    return rich_progress.Progress(
        *(words, rich_progress.BarColumn(_BAR), _Figures()),
        console=console,
        refresh_per_second=_DRAWN_A_SECOND,
        expand=True,
    )
