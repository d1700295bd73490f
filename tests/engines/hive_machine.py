"""Metastores and servers of Hive 4 on one database, as on a machine where one of them may die."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness import engines
from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress
from harness.engines.api import Connection, Server
from harness.engines.hive.engine import BY_QUERY, COMPACTS, HiveProgram
from harness.formats.hive_acid.format import SESSION
from harness.runtime import hive_launcher, provide
from harness.runtime import metastore as metastores
from harness.runtime.api import MetastoreUris, Surroundings
from harness.runtime.metastore import Metastore
from harness.runtime.process import LOOPBACK, Command, running
from harness.runtime.process_runtime import write
from tests.engines import hdfs

HIVE: Final = "hive-4.0.1"
METASTORE: Final = "hive-metastore-4.0.1"
BY: Final = ("hive-4.2.1", "hive-4.0.1-tez-0.10.4", HIVE)
"""Of what a newer worker is made, and what is in the last one as well."""
WORKER: Final = """
import java.util.concurrent.atomic.AtomicBoolean
def urls = new File(args[0]).readLines().collect { new File(it).toURI().toURL() } as URL[]
def loader = new URLClassLoader(urls, ClassLoader.platformClassLoader)
Thread.currentThread().contextClassLoader = loader
def of = { loader.loadClass("org.apache.hadoop.hive." + it) }
def make = { of(it).getDeclaredConstructor().newInstance() }
def conf = make("conf.HiveConf")
of("ql.session.SessionState").getMethod("start", conf.class).invoke(null, conf)
def worker = make("ql.txn.compactor.Worker")
worker.conf = conf
worker.init(new AtomicBoolean())
worker.start()
worker.join()
"""
"""What HiveServer2 does to start one (`CompactorThread.initializeAndStartThread`): that of 4.2.1 is
not in the repository."""
LONG_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class Machine:
    cache: Cache
    folder: Path
    progress: Progress
    first: Metastore
    """It has the files of the database."""

    @contextmanager
    def server(self, through: str = "", name: str = HIVE, workers: int = 1) -> Iterator[Server]:
        """Start a HiveServer2; `through`: by which address it asks the metastore, if not by its."""
        threads = {"hive.compactor.worker.threads": str(workers)}
        distribution = having(distributions.load(name), threads)
        uris = MetastoreUris(through or self.first.uri, database=self.first.uris.database)
        how = provide.runtime(distribution, self.cache, self.progress)
        with engines.load("hive").serve(how, uris, self._folder(), self.progress) as server:
            yield server

    @contextmanager
    def initiator(self) -> Iterator[None]:
        """Start another metastore, as one of two or as the one that has died."""
        url = {"javax.jdo.option.ConnectionURL": self.first.uris.database}
        site = {**COMPACTS, **url, **metastores.TAKES_ALL, "hive.compactor.initiator.on": "true"}
        main = distributions.load(METASTORE).text("main")
        distribution = having(distributions.load(HIVE), site, main=main)
        how = provide.runtime(distribution, self.cache, self.progress)
        with metastores.serve(how, None, self._folder()):
            yield

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Run a worker of Hive 4.2.1 that compacts by query, without the HiveServer2 around it."""
        fetched = (fetch.ensure(distributions.load(name), self.cache, self.progress) for name in BY)
        newer, tez, older = fetched
        others = {jar.name for jar in older.jars("lib")}
        of_tez = [jar for jar in tez.jars("lib") if jar.name not in others]
        # What is in several stays that of 4.2.1; that of Hadoop lacks ZKClientConfig, for Tez.
        jars = [*newer.jars("lib"), *of_tez, *hdfs.installed(self.cache, self.progress).jars("lib")]
        site = {**tez.distribution.options("site"), **BY_QUERY, **COMPACTS}
        folder = self._folder()
        conf = folder / "conf"
        around = Surroundings(LOOPBACK, 0, self.first.uri, folder, conf, "")
        write(HiveProgram(having(newer.distribution, site)).files(around), conf)
        (conf / "worker.groovy").write_text(WORKER, encoding="utf-8")
        (conf / "jars.txt").write_text("\n".join([f"{conf}/", *map(str, jars)]), encoding="utf-8")
        arguments = (
            *(str(newer.java), *newer.distribution.java_options),
            *("-cp", hive_launcher.joined(newer.jars("loader")), "groovy.ui.GroovyMain"),
            *(str(conf / "worker.groovy"), str(conf / "jars.txt")),
        )
        with running(Command(arguments, folder, folder / "worker.log")):
            yield

    def _folder(self) -> Path:
        made = self.folder / f"server-{len([*self.folder.iterdir()])}"
        made.mkdir()
        return made


@contextmanager
def machine(cache: Cache, folder: Path, progress: Progress) -> Iterator[Machine]:
    """Run a metastore that serves its database, in an empty folder."""
    for name in ("metastore", "servers"):
        (folder / name).mkdir()
    starting = provide.start_metastore(
        cache, folder / "metastore", progress, METASTORE, compacts=True
    )
    with starting as running:
        yield Machine(cache, folder / "servers", progress, running)


def having(distribution: Distribution, site: Mapping[str, str], **more: str) -> Distribution:
    site = {**distribution.options_if_any("site"), **site}
    return replace(distribution, settings={**distribution.settings, "site": site, **more})


def session(server: Server) -> Connection:
    connection = server.connect({})
    for name, value in SESSION.items():
        rows(connection, f"set {name}={value}")
    return connection


def rows(connection: Connection, sql: str) -> Sequence[tuple[object, ...]]:
    return connection.run(sql, timeout_s=LONG_S).rows


def states(connection: Connection) -> list[object]:
    """Return the state of each compaction."""
    return [row[5] for row in rows(connection, "show compactions")]
