"""A statement whose writer is killed where it waits: for a pipe, a lock, or for its commit."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from harness.core.errors import HarnessError
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.spark.session import OPEN_S, Library, Session, Spark
from harness.model.identifiers import TABLE
from harness.runtime.metastore_client import Catalog
from harness.write import writer_pipe
from harness.write.held_write import NotHeldError
from harness.write.sql_writer import SqlWriter


def run(spark: Spark, ask: Callable[[], object], pipe: Path) -> None:
    """Ask for what reads a named pipe, and kill the process that is asked when it does.

    Raises:
        RefusedError: the process was killed; or Spark answered with an error before.
        NoAnswerError: it did not answer in time, or died by itself.

    """
    writer_pipe.make(pipe)
    with ExitStack() as opened:

        def reads() -> bool:
            pipe_end = writer_pipe.open_to(pipe)
            if pipe_end is not None:
                opened.callback(os.close, pipe_end)
            return pipe_end is not None

        _killed_when(reads, spark, ask)


def run_locked(spark: Spark, ask: Callable[[], object], client: Catalog, database: str) -> None:
    """Ask for what takes the table's lock in the metastore, and kill who is asked when it does.

    Raises:
        RefusedError: the process was killed; or Spark answered with an error before.
        NoAnswerError: it did not answer in time, or died by itself.

    """
    client.lock(database, TABLE)
    try:
        _killed_when(lambda: client.is_waited_for(database, TABLE), spark, ask)
    finally:
        client.unlock(database, TABLE)


def run_to_commit(spark: Spark, session: Session, ask: Callable[[], object], database: str) -> None:
    """Ask in a session for what commits to a Delta table, and kill who is asked when it is to.

    Raises:
        RefusedError: the process was killed; or Spark answered with an error before.
        NoAnswerError: it did not answer in time, or died by itself.

    """
    table = f"{database}.{TABLE}"

    def call(asked: Session, method: str) -> object:
        return asked.call(Library.DELTA, {"method": method, "table": table}, timeout_s=OPEN_S)

    call(session, "hold_commit")
    watcher = spark.open({})
    _killed_when(lambda: bool(call(watcher, "is_waiting")), spark, ask)


def run_transaction(
    server: Spark | SqlWriter, settings: Mapping[str, str], sql: str, timeout_s: float
) -> None:
    """Send what commits a transaction of Hive to a server of its own, and kill it when it is to.

    Args:
        server: one whose commits can be held.
        settings: of its session.
        sql: the statement.
        timeout_s: how long it may take.

    Raises:
        NotHeldError: nothing is between the server and the metastore.
        RefusedError: the process was killed; or the server answered with an error before.
        NoAnswerError: it did not answer in time, or died by itself.

    """
    if not isinstance(server, SqlWriter):
        raise HarnessError("this writer has no transactions of Hive")
    if (relay := server.relay) is None:
        raise NotHeldError("the commit of a server in a container cannot be held")
    with closing(server.open(settings)) as session, relay.withholding():
        _killed_when(relay.has_withheld, server, partial(session.run, sql, timeout_s=timeout_s))


def _killed_when(
    reached: Callable[[], bool], writer: Spark | SqlWriter, ask: Callable[[], object]
) -> None:
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask)
        while not (killed := reached()) and not asked.done():
            wait([asked], writer_pipe.LOOK_S)
        if killed:
            writer.kill()
    if killed and isinstance(asked.exception(), NoAnswerError):
        message = "the process was killed before the commit"
        raise RefusedError(Refusal("killed", message), 0.0) from None
    asked.result()
