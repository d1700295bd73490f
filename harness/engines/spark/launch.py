"""Start the worker that holds a Spark JVM (`spark.worker`), for `spark.session` to speak to."""

import json
import os
import secrets
import shlex
import struct
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.engines.engine_support import connect_to_worker
from harness.engines.spark import delta_client, iceberg_client, plan_client, worker, write_client
from harness.engines.spark.session import Spark
from harness.runtime.api import MetastoreUris, Running, Runtime, Surroundings
from harness.runtime.process import LOOPBACK, ProcessProblem
from harness.runtime.process_runtime import ProcessRuntime

# Measured with Hudi 0.15.0 on Spark 3.5.8: without them a start takes four times as long and twice
# the memory. Whole-stage code generation stays on: without it Hudi 0.15.0 fails on every read after
# a schema change.
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
    """Return the configuration of a JVM; `spark.jars` would copy the bundle in front."""
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
    """Quote a JVM option for Spark's launcher (`CommandBuilderUtils.parseOptionString`)."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


SPARK: Final = "spark.sql."
HUDI: Final = "hoodie."
_UTF8: Final = 1


def unread_properties(names: Iterable[str], class_path: Sequence[Path]) -> tuple[str, ...]:
    """Return which of these properties of Spark's SQL or of Hudi no class of a class path reads.

    Spark takes any name, and Hudi never hears of it. A class that reads a property has its name
    among its constants, or the beginning of one that is put together at a point; then nothing is
    known. None of the 637 keys of Hudi 1.0.2 (`ConfigProperty`) is named in vain, nor of the 207 of
    Spark 3.5.8 (`SET -v`). Source: Java Virtual Machine Specification (Java SE 17), 4.4.7.
    """
    names = tuple(names)
    added = [path for path in class_path if path.is_file()]
    spark_jars = [jar for folder in class_path for jar in sorted(folder.glob("spark-*.jar"))]
    spark, hudi = ([name for name in names if name.startswith(family)] for family in (SPARK, HUDI))
    return (*_absent(spark, (*spark_jars, *added)), *_absent(hudi, added))


def _absent(names: Iterable[str], jars: Iterable[Path]) -> tuple[str, ...]:
    left = {name: _constants(name) for name in names}
    for compiled in _classes(jars):
        left = {name: of for name, of in left.items() if not any(map(compiled.__contains__, of))}
        if not left:
            break
    return tuple(left)


def _constants(name: str) -> tuple[bytes, ...]:
    """Return the constants by which a class reads a property, as its file has them."""
    family = SPARK if name.startswith(SPARK) else HUDI
    points = [at for at, letter in enumerate(name) if letter == "." and at >= len(family)]
    beginnings = (name[:end] for at in points for end in (at, at + 1))
    texts = (beginning.encode() for beginning in (name, *beginnings))
    return tuple(struct.pack(">BH", _UTF8, len(text)) + text for text in texts)


def _classes(jars: Iterable[Path]) -> Iterator[bytes]:
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class"):
                    yield archive.read(name)


JAVA: Final = """\
#!/bin/sh
# Java without options that Spark's scripts give and this Java does not know.
for each; do
    shift
    case "$each" in {left_out}) ;; *) set -- "$@" "$each" ;; esac
done
exec {java} "$@"
"""
START_S: Final = 180.0
"""How long the JVM and its first session may take; 8 s on a calm machine."""
CONF: Final = "conf.json"
WORKER: Final = "worker.py"
BESIDE: Final = {
    "write_client.py": write_client,
    "iceberg_client.py": iceberg_client,
    "delta_client.py": delta_client,
    "plan_client.py": plan_client,
}


@dataclass(frozen=True, slots=True)
class SparkProgram:
    distribution: Distribution
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    log: str = "spark.log"
    ready_s: float = START_S
    not_yet: tuple[type[Exception], ...] = (OSError,)

    def files(self, around: Surroundings) -> Mapping[str, str]:
        programs = {WORKER: worker, **BESIDE}
        texts = {
            name: Path(str(module.__file__)).read_text(encoding="utf-8")
            for name, module in programs.items()
        }
        return {CONF: json.dumps(session_conf(self.distribution, around), indent=1), **texts}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        variables = {worker.TOKEN: self.token}
        if around.installation is None:
            return variables
        home = around.installation.home
        if home is not None:
            variables["SPARK_HOME"] = str(home)
        java_home = self._java_home(around.folder)
        return variables | {
            "JAVA_HOME": str(around.installation.java_home if java_home is None else java_home),
            "SPARK_LOCAL_IP": LOOPBACK,
            # Nobody else's configuration. It stands on the class path, which archives of classes
            # belong to: so no folder of this run's, and nothing that there is.
            "SPARK_CONF_DIR": os.devnull,
            "PYSPARK_PYTHON": sys.executable,
        }

    def class_path(self, installation: Installation) -> Sequence[Path]:
        front = installation.jars("front")
        if installation.home is not None:
            return (*front, installation.home / "jars")
        pyspark = find_spec("pyspark")
        places = pyspark.submodule_search_locations if pyspark else None
        return (*front, *(Path(folder) / "jars" for folder in places or ()))

    def command(
        self,
        installation: Installation,  # PySpark finds it by SPARK_HOME
        around: Surroundings,
    ) -> tuple[str, ...]:
        if home := self._java_home(around.folder):
            without = self.distribution.texts_if_any("java_without")
            _write_java(home, installation.java_home / "bin" / "java", without)
        program = (sys.executable, "-I", str(around.conf / WORKER))
        return (*program, around.host, str(around.port), str(around.conf / CONF))

    def _java_home(self, folder: Path) -> Path | None:
        """Return the JAVA_HOME that is made for it; None: the JRE's own will do."""
        return folder / "java" if self.distribution.texts_if_any("java_without") else None


def _write_java(home: Path, java: Path, without: Sequence[str]) -> None:
    """Write the program `java` of a JAVA_HOME: the real one, which is not given some options."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)  # from a start that did not get its port
    left_out = "|".join(map(shlex.quote, without))
    text = JAVA.format(left_out=left_out, java=shlex.quote(str(java)))
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)


def _check_properties(program: SparkProgram, installation: Installation) -> None:
    """Check that somebody reads the properties of a configuration that somebody has changed."""
    made = program.distribution
    names = made.options("conf") if made.overlay else ()
    if unread_names := unread_properties(names, program.class_path(installation)):
        reason = f"{made.name} does not take its configuration"
        raise ProcessProblem(f"{reason}: no class reads a property {', '.join(unread_names)}")


def spark(
    runtime: Runtime, metastore: MetastoreUris, folder: Path
) -> AbstractContextManager[Spark]:
    """Run a JVM of a Spark distribution in an empty folder, where its log lies; end it.

    Raises ProcessProblem: nobody reads a property that somebody has set, or it did not start in
    time. Raises EndedProblem: it ended before it was ready; both with the end of its log.
    """
    program = SparkProgram(runtime.distribution, ready_s=START_S)
    if isinstance(runtime, ProcessRuntime):
        _check_properties(program, runtime.installation)

    def ready(running: Running, port: int) -> Spark:
        hello = (worker.HELLO, worker.HELLO_S)
        return Spark(running, connect_to_worker(port, program.token, *hello), port)

    return runtime.start(program, metastore, folder, ready, Spark.end)
