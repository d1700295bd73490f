"""What a Spark JVM is started with, for writing and for reading. Pure.

Source of the values: measured with Hudi 0.15.0 on Spark 3.5.8; without them a session starts four
times slower and takes twice the memory. Whole-stage code generation stays on: without it Hudi
0.15.0 fails on every read after a schema change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.runtime.api import Surroundings

CONF: Final = "spark-defaults.conf"
"""Spark's programs read it in the folder that SPARK_CONF_DIR names."""
_SESSION: Final = {"spark.master": "local[2]", "spark.sql.catalogImplementation": "hive"}
"""What the worker of a run says when it makes its session."""
_PATH: Final = "/opt/spark/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The official image does not find Spark's own programs."""


@dataclass(frozen=True, slots=True)
class SparkShell:
    """Spark's own programs; see `runtime.api.Configuration`."""

    distribution: Distribution

    def files(self, around: Surroundings) -> Mapping[str, str]:
        conf = {**_SESSION, **session_conf(self.distribution, around)}
        return {CONF: "".join(f"{name} {_property(value)}\n" for name, value in conf.items())}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        return {"SPARK_CONF_DIR": str(around.conf), "PATH": _PATH}


def _property(value: str) -> str:
    r"""Return a value as Java's files of properties have it.

    >>> _property(r"a\b")
    'a\\\\b'
    """
    return value.replace("\\", "\\\\")


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
    ours = ("-Duser.timezone=UTC", f"-Djava.io.tmpdir={folder}", "-XX:MetaspaceSize=256m")
    jvm = (*distribution.texts("jvm"), *ours, *around.jvm)
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
