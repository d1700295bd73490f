"""Writers that are stopped before their commit: by a named pipe, a lock or a held commit."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Final

from harness.core.errors import HarnessError
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.spark.session import OPEN_S, Library, Session, Spark
from harness.model.identifiers import TABLE
from harness.runtime.metastore_client import Catalog
from harness.write.writer_pool import SqlWriter

LOCK: Final = "lock"
"""The name of the file that is the lock (`FileSystemBasedLockProvider`)."""
WAITING_POLL_S: Final = 0.02
"""Much less than writing a file takes."""
KILL_POLL_S: Final = 0.1


def _open_for_reader(pipe: Path) -> int | None:
    """Return the open pipe if somebody waits to read it; who reads then waits for the end."""
    with suppress(OSError):  # nobody has it open
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    return None


class NotWaitingError(Exception):
    """The statement ended without an error and never waited."""


class WaitingWrite:
    def __init__(self, asked: Future[object], release: Callable[[], None]) -> None:
        """`release`: lets the writer go on; the second time it does nothing."""
        self._asked = asked
        self.release = release

    def commit(self) -> None:
        """Let the writer go on, and wait for its answer; raises RefusedError or NoAnswerError."""
        self.release()
        self._asked.result()


def _in_thread(ask: Callable[[], object]) -> Future[object]:
    thread = ThreadPoolExecutor(1)
    asked = thread.submit(ask)
    thread.shutdown(wait=False)
    return asked


def _remove_pipe(pipe: Path) -> None:
    with suppress(FileNotFoundError):  # who read it goes on already
        # Opened at both ends it waits for nobody, and who waits to read goes on.
        both = os.open(pipe, os.O_RDWR)
        pipe.unlink()
        os.close(both)


def begin_at_lock(ask: Callable[[], object], client: Catalog, database: str) -> WaitingWrite:
    """Call `ask`, whose writer takes the table's lock in the metastore to commit, which we have.

    It returns once that is waited for. Raises NotWaitingError, RefusedError or NoAnswerError.
    """
    release = partial(client.unlock, database, TABLE, client.lock(database, TABLE))
    asked = _in_thread(ask)
    with ExitStack() as unless_waiting:
        unless_waiting.callback(release)
        while not asked.done():
            if client.is_waited_for(database, TABLE):
                unless_waiting.pop_all()
                return WaitingWrite(asked, release)
            wait([asked], WAITING_POLL_S)
    asked.result()
    raise NotWaitingError("the other writer ended without an error, and did not wait for its lock")


def begin_waiting(
    session: Session, sql: str, folder: Path, written: Callable[[], bool], timeout_s: float
) -> WaitingWrite:
    """Send a statement whose writer takes a lock to commit, and return once it waits for that.

    The lock is a named pipe in `folder`: who reads whose lock it is waits until somebody writes.
    `written`: whether it writes its files; before that it is let through. Raises NotWaitingError,
    RefusedError or NoAnswerError.
    """
    folder.mkdir(exist_ok=True)
    lock, asked = folder / LOCK, _in_thread(partial(session.run, sql, timeout_s=timeout_s))
    while not asked.done():
        if lock.is_fifo() and (opened := _open_for_reader(lock)) is not None:
            os.close(opened)
            return WaitingWrite(asked, partial(_remove_pipe, lock))
        if not lock.is_fifo() and written():
            with suppress(FileExistsError):  # it has the lock for something else
                os.mkfifo(lock)
        wait([asked], WAITING_POLL_S)
    asked.result()
    raise NotWaitingError("the other writer ended without an error, and did not wait for its lock")


def kill_at_pipe(spark: Spark, ask: Callable[[], object], pipe: Path) -> None:
    """Call `ask`, and kill the writer when it reads the named pipe."""
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    with ExitStack() as opened:

        def reads() -> bool:
            pipe_end = _open_for_reader(pipe)
            if pipe_end is not None:
                opened.callback(os.close, pipe_end)
            return pipe_end is not None

        _killed_when(reads, spark, ask)


def kill_at_lock(spark: Spark, ask: Callable[[], object], client: Catalog, database: str) -> None:
    """Call `ask`, and kill the writer when it takes the table's lock in the metastore."""
    client.lock(database, TABLE)
    try:
        _killed_when(lambda: client.is_waited_for(database, TABLE), spark, ask)
    finally:
        client.unlock(database, TABLE)


def kill_at_commit(
    spark: Spark, session: Session, ask: Callable[[], object], database: str
) -> None:
    """Call `ask`, and kill the writer when it is about to commit to its Delta table."""
    table = f"{database}.{TABLE}"

    def call(asked: Session, method: str) -> object:
        return asked.call(Library.DELTA, {"method": method, "table": table}, timeout_s=OPEN_S)

    call(session, "hold_commit")
    watcher = spark.open({})
    _killed_when(lambda: bool(call(watcher, "is_waiting")), spark, ask)


def kill_in_transaction(
    server: Spark | SqlWriter, settings: Mapping[str, str], sql: str, timeout_s: float
) -> None:
    """Send a transaction of Hive to a server of its own, and kill that before the commit."""
    if not isinstance(server, SqlWriter):
        raise HarnessError("this writer has no transactions of Hive")
    if (relay := server.relay) is None:
        raise NotWaitingError("the commit of a server in a container cannot be held")
    with closing(server.open(settings)) as session, relay.withholding():
        _killed_when(relay.has_withheld, server, partial(session.run, sql, timeout_s=timeout_s))


def _killed_when(
    reached: Callable[[], bool], writer: Spark | SqlWriter, ask: Callable[[], object]
) -> None:
    """Call `ask`, and kill the writer once it has reached something; raises RefusedError then."""
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask)
        while not (killed := reached()) and not asked.done():
            wait([asked], KILL_POLL_S)
        if killed:
            writer.kill()
    if killed and isinstance(asked.exception(), NoAnswerError):
        message = "the process was killed before the commit"
        raise RefusedError(Refusal("killed", message), 0.0) from None
    asked.result()
