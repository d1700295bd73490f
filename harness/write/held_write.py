"""A statement of a second writer, which waits before its commit until it is told to go on."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.engines.spark.session import Session, SparkRows
from harness.write import writer_pipe

LOCK: Final = "lock"
"""The name of the file that is the lock (`FileSystemBasedLockProvider`)."""
LOOK_S: Final = 0.02
"""So often it is looked how far the writer is: much less than writing a file takes."""


class NotHeldError(Exception):
    """The statement ended, told no error, and never waited."""


class HeldWrite:
    """A write whose files are there and whose commit is not."""

    def __init__(self, asked: Future[SparkRows], lock: Path) -> None:
        """`lock`: the named pipe for which the writer waits, or will in a moment."""
        self._asked = asked
        self._lock = lock

    def commit(self) -> None:
        """Let the writer go on, and wait for its answer.

        Raises:
            RefusedError: Spark answered with an error.
            NoAnswerError: it did not answer in time, or died.

        """
        self.let_go()
        self._asked.result()

    def let_go(self) -> None:
        """Let the writer go on, and do not wait."""
        with suppress(FileNotFoundError):  # it goes on already
            writer_pipe.take_away(self._lock)


def begin(
    session: Session, sql: str, folder: Path, written: Callable[[], bool], timeout_s: float
) -> HeldWrite:
    """Send a statement whose writer takes a lock to commit, and return once it waits for that.

    The lock is a named pipe: who looks whose it is waits until somebody writes into it.

    Args:
        session: of the second writer.
        sql: the statement.
        folder: where its lock is; it is made here.
        written: tells whether it writes its files: before that it is let through.
        timeout_s: how long it may take in all.

    Raises:
        NotHeldError: the statement ended without an error and never waited.
        RefusedError: Spark answered with an error before.
        NoAnswerError: it did not answer in time, or died.

    """
    folder.mkdir(exist_ok=True)
    lock, thread = folder / LOCK, ThreadPoolExecutor(1)
    asked = thread.submit(session.run, sql, timeout_s=timeout_s)
    thread.shutdown(wait=False)
    while not asked.done():
        if lock.is_fifo() and writer_pipe.let_through(lock):
            return HeldWrite(asked, lock)
        if not lock.is_fifo() and written():
            with suppress(FileExistsError):  # it has the lock for something else
                os.mkfifo(lock)
        wait([asked], LOOK_S)
    asked.result()
    raise NotHeldError("the other writer ended without an error, and did not wait for its lock")
