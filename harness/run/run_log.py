"""The log of a run, `harness.log` in its folder: what the harness did, and when."""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from harness import __version__
from harness.core.records import Answer, OutcomeKind, StateRecord
from harness.core.texts import without_login

LOG: Final = "harness.log"
HARNESS: Final = logging.getLogger("harness")
"""Above all loggers of the harness."""
_LOGGER: Final = logging.getLogger("harness.run")
_LINE: Final = "%(asctime)sZ %(levelname)s %(name)s: %(message)s"


class _Formatter(logging.Formatter):
    """Lines in UTC, tracebacks too without the logins of addresses."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s.%03d"

    def format(self, record: logging.LogRecord) -> str:
        return without_login(super().format(record))


class LogFile(logging.FileHandler):
    """The file of a run, to which every command that works on the run adds."""

    _open_to_records = True

    def close(self) -> None:
        self._open_to_records = False
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, the first of which opens the file; none opens it again once it is closed.

        A thread that outlives the work may log at the very moment in which the file is closed.
        """
        if not self._open_to_records:
            return
        try:
            super().emit(record)
        except OSError:  # it cannot be opened, as in a run that only others may write to
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Drop what cannot be written: a log breaks nothing off, the records of a run do."""


@contextmanager
def logging_to(handler: logging.Handler) -> Iterator[None]:
    handler.setFormatter(_Formatter(_LINE))
    before = HARNESS.level
    HARNESS.addHandler(handler)
    HARNESS.setLevel(logging.INFO)
    try:
        yield
    finally:
        HARNESS.setLevel(before)
        HARNESS.removeHandler(handler)
        with suppress(OSError):  # what could not be written is tried once more
            handler.close()


@contextmanager
def run_log(folder: Path) -> Iterator[None]:
    """Add to the log of a run; whatever breaks off the work is there with its traceback."""
    file = LogFile(folder / LOG, encoding="utf-8", delay=True, errors="backslashreplace")
    with logging_to(file):
        _LOGGER.info("harness %s works on this run", __version__)
        try:
            yield
        except Exception:
            _LOGGER.exception("broken off")
            raise


def log_answer(answer: Answer) -> None:
    """Log each try that got no answer, and an answer that never came."""
    for attempt in () if answer.reused else answer.attempts:
        _LOGGER.info("%s: no answer at one try: %s", answer.case, attempt.what)
    if answer.unknown:
        _LOGGER.warning("%s: unknown: %s", answer.case, answer.unknown)


def log_states(states: Iterable[StateRecord]) -> None:
    for state in (one for one in states if one.outcome.kind is OutcomeKind.UNKNOWN):
        at, why = state.outcome.step, state.outcome.because
        _LOGGER.warning("%s: step %d: unknown: %s", state.variant, at, why)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Log when a phase begins and ends; a decorator as well."""
    began = time.monotonic()
    _LOGGER.info("%s: begun", name)
    try:
        yield
    finally:
        _LOGGER.info("%s: over after %.1f s", name, time.monotonic() - began)
