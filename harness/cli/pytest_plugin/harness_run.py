"""The one `harness run` of a test run: started, watched and ended by the process of the user."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from harness.core.atomic_write import atomic_write
from harness.core.errors import unwritable
from harness.run import run_folder
from harness.run.run_folder import run_exists
from harness.runtime import process

PROGRAM: Final = (sys.executable, "-m", "harness", "run")
FOLDER: Final = run_folder.PYTEST
CASES: Final = "cases.txt"
OUTPUT: Final = "output.txt"
ENDED: Final = "ended"
"""Files of the run's folder: what was asked for, what was said, and the exit status at last."""

GRACE_S: Final = 20.0
"""How long a run may take to end after an interrupt: it stops its engines."""
LOOK_S: Final = 3600.0
SHOWN_LINES: Final = 12


class HarnessRun:
    """A `harness run` on the selected cells."""

    def __init__(self, folder: Path, profile: str, cells: Sequence[tuple[Path, str]]) -> None:
        """Start it. `cells`: file of the scenario and case of each.

        Raises UsageProblem: there is something in the folder, such as another run's records.
        Raises EnvironmentProblem: the run's folder cannot be written.
        """
        self._folder, self._here = folder, folder / FOLDER
        self._stack = ExitStack()
        run_folder.check_new(folder)
        if self._here.exists():
            raise run_exists(folder)
        try:
            self._here.mkdir(parents=True)
            cases = "".join(f"{case}\n" for _, case in cells)
            (self._here / CASES).write_text(cases, encoding="utf-8")
        except OSError as wrong:
            raise unwritable(wrong, folder) from wrong
        files = dict.fromkeys(str(path) for path, _ in cells)
        program = (*PROGRAM, *files, "--profile", profile, "--cases", str(self._here / CASES))
        command = process.Command(
            (*program, "--run-dir", str(folder)),
            Path.cwd(),
            self._here / OUTPUT,
            dict(os.environ),  # the user's own: he starts it, and the harness passes on few of them
        )
        self._process = self._stack.enter_context(process.running(command))
        self._watch = threading.Thread(target=self._wait, daemon=True)
        self._watch.start()

    def _wait(self) -> None:
        """Write the exit status into a file: workers, who did not start the run, wait for it."""
        status = None
        while status is None:
            with suppress(TimeoutError):
                status = self._process.wait(LOOK_S)
        with atomic_write(self._here / ENDED) as part:
            part.write_text(f"{status}\n", encoding="ascii")

    def end(self, *, at_once: bool) -> int:
        """Wait for its end, or interrupt it; return its exit status, 0 when it was interrupted."""
        if not at_once:
            self._watch.join()
        interrupted = self._process.exit_code is None
        if interrupted:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGINT)
            self._watch.join(GRACE_S)
        self._stack.close()
        self._watch.join()
        return 0 if interrupted else exit_status(self._folder) or 0

    def summary(self) -> str:
        """Return where the run is, and the end of its output unless all is well."""
        status = exit_status(self._folder)
        where = f"run: {self._folder} (harness run ended with status {status})"
        return where if status == 0 else f"{where}\n{log_end(self._folder)}"


def exit_status(folder: Path) -> int | None:
    """Return the exit status of the run in a folder; None while it goes on."""
    try:
        return int((folder / FOLDER / ENDED).read_text(encoding="ascii"))
    except FileNotFoundError:
        return None


def log_end(folder: Path) -> str:
    return process.log_tail(folder / FOLDER / OUTPUT, SHOWN_LINES)
