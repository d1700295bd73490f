"""Spark's own programs in a container that only waits, with the configuration of a run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.engines.spark.conf import session_conf
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
        """Return what a run's worker starts Spark with, as Spark's programs read it."""
        conf = {**_SESSION, **session_conf(self.distribution, around)}
        return {CONF: "".join(f"{name} {_property(value)}\n" for name, value in conf.items())}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        """Return where that is, and where Spark's programs are."""
        return {"SPARK_CONF_DIR": str(around.conf), "PATH": _PATH}


def _property(value: str) -> str:
    r"""Return a value as Java's files of properties have it.

    >>> _property(r"a\b")
    'a\\\\b'
    """
    return value.replace("\\", "\\\\")
