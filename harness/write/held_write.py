"""A statement of a second writer, which waits before its commit until it is told to go on."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import pyarrow as pa

from harness.engines.spark.session import Session, SparkRows
from harness.write import writer_pipe


class HeldWrite:
    """A write whose files are there and whose commit is not."""

    def __init__(self, asked: Future[SparkRows], pipe: Path) -> None:
        """`pipe`: the one at which the writer waits, or will in a moment."""
        self._asked = asked
        self._pipe = pipe

    def commit(self) -> None:
        """Let the writer go on, and wait for its answer.

        Raises:
            SparkRefusal: Spark answered with an error.
            SparkSilent: it did not answer in time, or died.

        """
        self.let_go()
        self._asked.result()

    def let_go(self) -> None:
        """Let the writer go on, and do not wait."""
        writer_pipe.take_away(self._pipe)


def begin(session: Session, sql: str, folder: Path, timeout_s: float) -> HeldWrite | None:
    """Send a statement that reads the files of a folder, and return once its writer does.

    Of two pipes the first one tells that the writer is there, and at the second one it waits.
    Behind them is an ORC file without rows, for its columns. None where the statement ended before,
    and nothing was held.

    Raises:
        SparkRefusal: Spark answered with an error before.
        SparkSilent: it did not answer in time, or died.

    """
    first, second = _pipes(folder)
    thread = ThreadPoolExecutor(1)
    asked = thread.submit(session.run, sql, timeout_s=timeout_s)
    thread.shutdown(wait=False)
    while not asked.done():
        if writer_pipe.let_through(first):
            return HeldWrite(asked, second)
        wait([asked], writer_pipe.LOOK_S)
    asked.result()
    return None


def _pipes(folder: Path) -> tuple[Path, Path]:
    from pyarrow import orc  # noqa: PLC0415 - few runs need it

    folder.mkdir(exist_ok=True)
    orc.write_table(pa.table({"c": pa.array([], pa.int32())}), folder / "c")
    return writer_pipe.make(folder / "a"), writer_pipe.make(folder / "b")
