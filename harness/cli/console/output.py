"""The output of a command: bars and the matrix for a person, JSON lines for a program, or little.

With `--json`, standard output holds one JSON object a line and nothing else, each with `event`:

| event | what it holds |
| --- | --- |
| `start` | `task`, `total`, `unit` (`bytes` or `things`) |
| `progress`, `done` | `task`, `by` (the last one), `done`, `total`, `left`, `found`, `judged` |
| `note` | `text` |
| `end`, the last one | `status`; what came of it, as the documentation lists it; or `problem` |
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console

from harness.cli import signals
from harness.cli.console.progress_display import JsonProgress, PlainProgress, for_stream
from harness.core import progress as core_progress
from harness.core.errors import DEFECT, HarnessError, problem_of
from harness.core.progress import Progress
from harness.judge.gate import Gate
from harness.reports import html, junit, lines, terminal
from harness.run import run_log
from harness.run.load_run import Run

LAST_WORD_S: Final = 1.0
"""How long an interruption waits for a line that is being written; its reader may be gone."""
OUT: Final = Console(width=None if sys.stdout.isatty() else lines.WIDTH)


@dataclass(frozen=True, slots=True)
class Output:
    """How a command was asked to say what it does."""

    quiet: bool = False
    """Only the result."""
    json: bool = False
    verbose: bool = False
    """The log on standard error as well."""

    def progress(self) -> Progress:
        """Return the display of progress."""
        if self.json:
            return JsonProgress(sys.stdout)
        if self.quiet:
            return Progress()
        # Lines of the log would break bars.
        return PlainProgress(sys.stderr) if self.verbose else for_stream(sys.stderr)

    @property
    def out(self) -> Console:
        """Where a result is shown to people: nowhere when a program reads."""
        return Console(quiet=True) if self.json else OUT

    def end(self, text: str = "", *, status: int = 0, **facts: object) -> None:
        """Tell the result of a command that judges nothing: in words, or to a program as facts."""
        if self.json:
            self._end(status, **facts)
        elif text:
            say(text)

    def report(self, run: Run) -> dict[str, Path]:
        """Write the reports that every run has, show the matrix; return where they are."""
        files = {"junit": junit.write(run, run.folder), "html": html.write(run, run.folder)}
        if not (self.quiet or self.json):
            terminal.render(run, OUT, files["html"])
        return files

    def result(self, run: Run, result: Gate, status: int) -> None:
        """Report, and say why the gate ends as it does."""
        files = {name: str(path) for name, path in self.report(run).items()}
        if not self.json:
            for sentence in result.reasons:
                say(sentence)
            return
        totals = Counter(str(verdict.verdict) for verdict in run.verdicts)
        facts = {"reasons": list(result.reasons), "totals": dict(totals), "flaky": result.flaky}
        self._end(status, **facts, run=str(run.folder), reports=files)

    @contextmanager
    def working_on(self, folder: Path) -> Iterator[None]:
        """Work on a run: who interrupts is told how to resume it."""
        message = f"interrupted; resume with: harness run --resume --run-dir {_shown(folder)}"
        with signals.ending_at_once(partial(self._interrupted, message)):
            yield

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Do all of a command, planning too: a program is told of whatever breaks it off."""
        with ExitStack() as stack:
            stack.enter_context(signals.ending_at_once(partial(self._interrupted, "interrupted")))
            if self.verbose:
                stack.enter_context(run_log.logging_to(self._log()))
            try:
                yield
            except Exception as error:
                if self.json:
                    problem = problem_of(error) or HarnessError(f"{DEFECT} ({error!r})")
                    self._end(problem.exit_status, problem=str(problem))
                raise

    def _log(self) -> logging.Handler:
        handler = logging.StreamHandler(sys.stderr)
        if not (self.quiet or self.json):  # else progress would be there twice
            handler.addFilter(lambda record: record.name != core_progress.LOGGER.name)
        return handler

    def _interrupted(self, problem: str, status: int) -> None:
        if self.json:
            # Until the process is gone, other threads would tell of answers that come.
            JsonProgress.speaking.acquire(timeout=LAST_WORD_S)
            self._end(status, problem=problem)
        print(f"harness: {problem}", file=sys.stderr, flush=True)

    def _end(self, status: int, **facts: object) -> None:
        JsonProgress(sys.stdout).tell("end", status=status, **facts)


def say(text: str) -> None:
    """Print a line on standard output as it is."""
    OUT.print(text, highlight=False, markup=False, soft_wrap=True)


def _shown(folder: Path) -> Path:
    """Return the path as short as it can be typed here."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
