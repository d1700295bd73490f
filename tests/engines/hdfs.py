"""HDFS on loopback: a name node and a data node in one process (Hadoop's `MiniDFSCluster`)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core.progress import Progress
from harness.runtime import hive_launcher
from harness.runtime.api import Running, Surroundings
from harness.runtime.process import LOOPBACK
from harness.runtime.process_runtime import ProcessRuntime

LOCK: Final = Path(__file__).with_suffix(".yaml")
READY: Final = "HDFS answers"
SCRIPT: Final = f"""
import java.util.concurrent.CountDownLatch
import org.apache.hadoop.hdfs.HdfsConfiguration
import org.apache.hadoop.hdfs.MiniDFSCluster
def conf = new HdfsConfiguration()
conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, args[0])
new MiniDFSCluster.Builder(conf).nameNodePort(args[1] as int).numDataNodes(1).build().waitActive()
println "{READY}"
new CountDownLatch(1).await()
"""


@dataclass(frozen=True, slots=True)
class _Program:
    """The cluster; see `runtime.api.Program`."""

    distribution: Distribution
    log: str = "hdfs.log"
    ready_s: float = 120.0
    not_yet: tuple[type[Exception], ...] = (TimeoutError,)

    def files(self, around: Surroundings) -> Mapping[str, str]:
        return {"cluster.groovy": SCRIPT}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        return {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        return (*installation.jars("loader"), *installation.jars("lib"))

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        return (
            *(str(installation.java), *self.distribution.java_options, *around.jvm),
            *("-cp", hive_launcher.joined([*self.class_path(installation)])),
            *("groovy.ui.GroovyMain", str(around.conf / "cluster.groovy")),
            *(str(around.folder), str(around.port)),
        )


def installed(cache: Cache, progress: Progress) -> Installation:
    distribution = distributions.parse(LOCK.read_text(encoding="utf-8"), str(LOCK))
    return fetch.ensure(distribution, cache, progress)


@contextmanager
def serving(cache: Cache, folder: Path, progress: Progress) -> Iterator[str]:
    """Run a cluster in an empty folder; yield its address."""
    installation = installed(cache, progress)

    def ready(running: Running, port: int) -> str:
        if READY not in running.log_tail():
            raise TimeoutError(running.log_tail())
        return f"hdfs://{LOOPBACK}:{port}"

    program = _Program(installation.distribution)
    with ProcessRuntime(installation).start(program, None, folder, ready) as address:
        yield address
