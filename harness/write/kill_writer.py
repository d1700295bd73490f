"""A statement whose writer is killed while it waits for a named pipe, or for a lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path

from harness.core.records import Refusal
from harness.engines.spark.session import Spark, SparkRefusal, SparkSilent
from harness.model.identifiers import TABLE
from harness.runtime.metastore_client import Catalog
from harness.write import writer_pipe


def run(spark: Spark, ask: Callable[[], object], pipe: Path) -> None:
    """Ask for what reads a named pipe, and kill the process that is asked when it does.

    Raises:
        SparkRefusal: the process was killed; or Spark answered with an error before.
        SparkSilent: it did not answer in time, or died by itself.

    """
    writer_pipe.make(pipe)
    with ExitStack() as opened:

        def reads() -> bool:
            held = writer_pipe.open_to(pipe)
            if held is not None:
                opened.callback(os.close, held)
            return held is not None

        _killed_when(reads, spark, ask)


def run_locked(spark: Spark, ask: Callable[[], object], client: Catalog, database: str) -> None:
    """Ask for what takes the table's lock in the metastore, and kill who is asked when it does.

    Raises:
        SparkRefusal: the process was killed; or Spark answered with an error before.
        SparkSilent: it did not answer in time, or died by itself.

    """
    client.lock(database, TABLE)
    try:
        _killed_when(lambda: client.is_waited_for(database, TABLE), spark, ask)
    finally:
        client.unlock(database, TABLE)


def _killed_when(reached: Callable[[], bool], spark: Spark, ask: Callable[[], object]) -> None:
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask)
        while not (killed := reached()) and not asked.done():
            wait([asked], writer_pipe.LOOK_S)
        if killed:
            spark.kill()
    if killed and isinstance(asked.exception(), SparkSilent):
        told = "the process was killed before the commit"
        raise SparkRefusal(Refusal("killed", told), 0.0) from None
    asked.result()
