"""What a Spark JVM is started with, for writing and for reading. Pure.

Source of the values: measured with Hudi 0.15.0 on Spark 3.5.8; without them a session starts four
times slower and takes twice the memory. Whole-stage code generation stays on: without it Hudi
0.15.0 fails on every read after a schema change.
"""

from __future__ import annotations

from typing import Final

from harness.artifacts.distribution import Distribution
from harness.runtime.api import Surroundings

COMMON: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # On a loaded machine a heartbeat can come before the start is over.
    "spark.executor.heartbeatInterval": "60s",
    "spark.network.timeout": "900s",
}


def session_conf(distribution: Distribution, around: Surroundings) -> dict[str, str]:
    """Return the configuration of a JVM where it runs.

    The bundle goes on the driver's class path, not to `spark.jars`, which would copy it.
    """
    folder = around.folder
    own = ("-Duser.timezone=UTC", f"-Djava.io.tmpdir={folder}", "-XX:MetaspaceSize=256m")
    jvm = (*distribution.texts("jvm"), *own, *around.jvm)
    return {
        **COMMON,
        **distribution.options("conf"),
        "spark.driver.memory": f"{distribution.heap_mb}m",
        "spark.driver.extraClassPath": around.front,
        "spark.driver.extraJavaOptions": " ".join(map(_option, jvm)),
        "spark.hadoop.hive.metastore.uris": around.metastore,
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.local.dir": str(folder),
    }


def _option(text: str) -> str:
    r"""Quote a JVM option as Spark's launcher reads it (`CommandBuilderUtils.parseOptionString`).

    >>> _option("-Djava.io.tmpdir=/my runs")
    '"-Djava.io.tmpdir=/my runs"'
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
