"""Calls of Delta's library from the worker (`worker.py`), which this file is copied beside.

A transaction of Delta tells an observer which phase it comes to, and the library has one that waits
there (`PhaseLockingTransactionExecutionObserver` of Delta 3.3.2 and 4.0.0). When it comes to the
phase of its commit, all data files are written, and nothing of the new version is
(`OptimisticTransactionImpl.commitImpl`, `beginDoCommit`). It imports nothing but for types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

REQUESTED: Final = "Requested"
"""The state of a barrier at which somebody waits (`AtomicBarrier.State`)."""
_BARRIERS: Final[dict[str, Any]] = {}
"""What holds the commit of each table."""


def call(spark: SparkSession, settings: Mapping[str, str], request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as `write_client.call`
    """Call a function of this module; `method`, and `table` with its database or its `path`."""
    if "path" in request:
        return OF_LOG[request["method"]](spark, request["path"])
    return METHODS[request["method"]](spark._jvm, request["table"])  # noqa: SLF001 - Delta's Java


def hold_commit(jvm: Any, table: str) -> None:  # noqa: ANN401 - Py4J's object
    """Let the next transaction of this session wait before its commit: each thread has its own."""
    delta = jvm.org.apache.spark.sql.delta
    phases = delta.fuzzer.OptimisticTransactionPhases.forName(table)
    for before in (phases.initialPhase(), phases.preparePhase()):
        before.entryBarrier().unblock()
    _BARRIERS[table] = phases.commitPhase().entryBarrier()
    observer = delta.fuzzer.PhaseLockingTransactionExecutionObserver(phases)
    delta.TransactionExecutionObserver.setObserver(observer)


def is_waiting(jvm: Any, table: str) -> bool:  # noqa: ANN401 - as above
    return str(_BARRIERS[table].load().toString()) == REQUESTED


def _log(spark: SparkSession, path: str) -> Any:  # noqa: ANN401 - Py4J's object
    """Return the log as it is now, whoever wrote it: one that is kept may be older."""
    jvm: Any = spark._jvm  # noqa: SLF001 - as above
    session = spark._jsparkSession  # noqa: SLF001 - as above
    # Each thread has its own, and a checkpoint asks for it.
    jvm.org.apache.spark.sql.SparkSession.setActiveSession(session)
    log = jvm.org.apache.spark.sql.delta.DeltaLog
    log.clearCache()
    return log.forTable(session, path)


def checkpoint(spark: SparkSession, path: str) -> None:
    """Do what a commit does after every `delta.checkpointInterval` others (`Checkpoints`)."""
    _log(spark, path).checkpoint()


def analyze(spark: SparkSession, path: str) -> None:
    """Add each file again with statistics of all its rows (`StatisticsCollection`)."""
    jvm: Any = spark._jvm  # noqa: SLF001 - as above
    statistics = jvm.org.apache.spark.sql.delta.stats.StatisticsCollection
    all_files = (getattr(statistics, f"recompute$default${at}")() for at in (4, 5))
    session = spark._jsparkSession  # noqa: SLF001 - as above
    statistics.recompute(session, _log(spark, path), jvm.scala.Option.empty(), *all_files)


METHODS: Final[Mapping[str, Any]] = {"hold_commit": hold_commit, "is_waiting": is_waiting}
OF_LOG: Final[Mapping[str, Any]] = {"checkpoint": checkpoint, "analyze": analyze}
