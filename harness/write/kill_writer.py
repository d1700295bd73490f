"""A statement whose writer is killed while it waits for a named pipe."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from harness.core.records import Refusal
from harness.engines.spark.session import Spark, SparkRefusal, SparkSilent

LOOK_S: Final = 0.1
"""So often it is looked whether the writer waits."""


def run(spark: Spark, ask: Callable[[], object], pipe: Path) -> None:
    """Ask for what reads a named pipe, and kill the process that is asked when it does.

    Raises:
        SparkRefusal: the process was killed; or Spark answered with an error before.
        SparkSilent: it did not answer in time, or died by itself.

    """
    waits = False
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask)
        while not asked.done():
            with _read(pipe) as waits:
                if waits:
                    spark.kill()
                    break
            wait([asked], LOOK_S)
    if isinstance(asked.exception(), SparkSilent) and waits:
        told = "the process was killed before the commit"
        raise SparkRefusal(Refusal("killed", told), 0.0) from None
    asked.result()


@contextmanager
def _read(pipe: Path) -> Iterator[bool]:
    """Tell whether somebody reads the pipe; who does waits until the end."""
    try:
        there = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # nobody has it open
        yield False
        return
    try:
        yield True
    finally:
        os.close(there)
