"""A statement whose writer is killed while it waits for a named pipe."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from harness.core.records import Refusal
from harness.engines.spark.session import Spark, SparkRefusal, SparkSilent
from harness.write import writer_pipe


def run(spark: Spark, ask: Callable[[], object], pipe: Path) -> None:
    """Ask for what reads a named pipe, and kill the process that is asked when it does.

    Raises:
        SparkRefusal: the process was killed; or Spark answered with an error before.
        SparkSilent: it did not answer in time, or died by itself.

    """
    held = None
    writer_pipe.make(pipe)
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask)
        while not asked.done() and held is None:
            if (held := writer_pipe.open_to(pipe)) is None:
                wait([asked], writer_pipe.LOOK_S)
        if held is not None:
            spark.kill()
            wait([asked])
            os.close(held)
    if isinstance(asked.exception(), SparkSilent) and held is not None:
        told = "the process was killed before the commit"
        raise SparkRefusal(Refusal("killed", told), 0.0) from None
    asked.result()
