"""The Hive metastore that all readers, or all writers, of a run share: thrown away at the end."""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.artifacts.distributions import digest_of
from harness.artifacts.fetch import Installation
from harness.core import runtime_names
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.runtime_names import CONTAINER, PROCESS, S3, MetastoreChoice
from harness.runtime import hive_launcher, memory, metastore_client, template
from harness.runtime.api import MetastoreUris, Running, Runtime, Served, Surroundings
from harness.runtime.metastore_client import CatalogRefusedError
from harness.runtime.object_store import ObjectStore
from harness.runtime.process import (
    LOOPBACK,
    Command,
    ProcessProblem,
    finished,
    free_port,
    log_tail,
)

DISTRIBUTION: Final = runtime_names.METASTORE
TOOL: Final = "schema_tool"
"""The setting of a metastore that names the distribution which upgrades databases to it."""
READY_S: Final = 180.0
"""How long it may take to answer; 4 s on an idle machine."""

WAREHOUSE: Final = "warehouse"
DERBY: Final = "derby"
LOG: Final = "hive-log4j2.properties"
"""Hive looks for a file of this name."""
_TEMPLATES: Final = "metastore"
COMPACTS: Final = {
    "hive.compactor.worker.threads": "1",
    "hive.compactor.initiator.on": "false",
    "hive.compactor.cleaner.run.interval": "1000d",
    "mapreduce.framework.name": "local",
}
"""The settings of a metastore that carries out requested compactions and no others. It leaves the
files that they replace: a cleaner would remove them at a time that nobody can foresee."""
TAKES_ALL: Final = {"metastore.metadata.transformer.class": " "}
"""The settings of a metastore of Hive 4 that accepts transactional tables from every client, in any
folder: its `MetastoreDefaultTransformer` accepts only those of Hive, in Hive's own warehouse."""
DERBY_OPTIONS: Final = ("-Dderby.system.durability=test", "-Dderby.stream.error.file=/dev/null")
"""No waiting for the disk (the database does not outlive the run), and no log of Derby's own."""
DATABASE_SERVER: Final = "database_server"
"""The setting of a metastore whose HiveServer2 opens the database too, to ask for compactions
(`AlterTableCompactOperation` of Hive 4.0.1). Derby's files are for a single process, which can
serve others."""


def distribution_for(names: Iterable[str]) -> str:
    """Return the metastore that these distributions can reach: a container for containers."""
    result = [distributions.load(name) for name in names]
    if any(distribution.warehouse for distribution in result):
        return runtime_names.in_runtime(DISTRIBUTION, S3)
    contained = any(distribution.runtime == CONTAINER for distribution in result)
    return runtime_names.in_runtime(DISTRIBUTION, CONTAINER if contained else PROCESS)


def oldest_for(reader: Distribution) -> str:
    return str(reader.settings.get(runtime_names.OLDEST_METASTORE, ""))


def needed(choice: MetastoreChoice) -> tuple[str, ...]:
    if not choice.upgraded_from:
        return (choice.distribution,)
    return (*choice.distributions, distributions.load(choice.distribution).text(TOOL))


@dataclass(frozen=True, slots=True)
class Metastore(Served):
    uris: MetastoreUris
    warehouse: Path
    """Folder of databases and tables that are created without a location."""
    store: ObjectStore | None = None
    """What serves tables of an object store, where some are there."""

    @property
    def bucket(self) -> Path | None:
        return self.store.bucket if self.store else None

    def alive(self) -> bool:
        return self.running.alive() and (self.store is None or self.store.alive())

    @property
    def uri(self) -> str:
        return self.uris.host


@dataclass(frozen=True, slots=True)
class MetastoreProgram:
    """The metastore; see `runtime.api.Program`."""

    distribution: Distribution
    has_database: bool = False
    """Whether its database is there when it starts; else an image makes an empty one."""
    database_port: int = 0
    """Where it serves its database, on loopback; 0: to nobody."""
    log: str = "metastore.log"
    ready_s: float = READY_S
    not_yet: tuple[type[Exception], ...] = (EnvironmentProblem, CatalogRefusedError)

    def files(self, around: Surroundings) -> Mapping[str, str]:
        values = {
            "host": around.host,
            "database": around.folder / DERBY,
            "warehouse": around.folder / WAREHOUSE,
            "properties": self.distribution.options_if_any("site"),
        }
        return {
            "hive-site.xml": template.render(_TEMPLATES, "hive-site.xml", values),
            LOG: template.render(_TEMPLATES, LOG, {"level": "WARN"}),
        }

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        return {"IS_RESUME": "true"} if self.has_database else {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        return installation.jars("loader")

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        log4j = f"-Dlog4j.configurationFile={around.conf / LOG}"
        tmp = f"-Djava.io.tmpdir={around.folder / 'tmp'}"
        main = (installation.distribution.text("main"), "-p", str(around.port))
        result = (*DERBY_OPTIONS, *self._database_server(), tmp, log4j, *around.jvm)
        return hive_launcher.command(installation, around.conf, main, result)

    def _database_server(self) -> tuple[str, ...]:
        if not self.database_port:
            return ()
        values = {"startNetworkServer": "true", "host": LOOPBACK, "portNumber": self.database_port}
        return tuple(f"-Dderby.drda.{name}={value}" for name, value in values.items())


def serve(
    runtime: Runtime, prepared: Path | None, folder: Path, *, compacts: bool = False
) -> AbstractContextManager[Metastore]:
    """Run a metastore on a copy of a database, in an empty folder; None: it makes its own.

    `compacts`: whether a HiveServer2 may have to open the database, to ask for compactions.
    """
    memory.check(runtime.distribution)
    if prepared:
        shutil.copytree(prepared, folder / DERBY, ignore=shutil.ignore_patterns("*.lck"))
    (folder / WAREHOUSE).mkdir()

    def ready(running: Running, port: int) -> Metastore:
        uri = f"thrift://{LOOPBACK}:{port}"
        with metastore_client.connect(uri) as result:
            result.entries("default")
        inside = f"thrift://{runtime.inside}" if runtime.inside else ""
        uris = MetastoreUris(uri, inside, database if opened else "")
        return Metastore(running, uris, folder / WAREHOUSE)

    opened = 0
    if compacts and runtime.distribution.settings.get(DATABASE_SERVER) and not runtime.inside:
        opened = free_port()
    database = f"jdbc:derby://{LOOPBACK}:{opened}/{folder / DERBY}"
    program = MetastoreProgram(runtime.distribution, prepared is not None, opened, ready_s=READY_S)
    return runtime.start(program, None, folder, ready)


SCHEMA_S: Final = 300.0
"""How long making or upgrading a database may take; 10 s on an idle machine."""
SCRIPTS: Final = "scripts/metastore/upgrade/derby"
_ERROR: Final = re.compile(r"^ERROR \w{5}:", re.MULTILINE)
"""What Derby's program says of a statement, by its SQL state, and then goes on."""


def empty_database(installation: Installation, cache: Cache, progress: Progress) -> Path:
    """Return the folder of an empty metastore database, made once and then only copied."""
    home = _tree(installation)
    scripts = [home / text for text in installation.distribution.texts("schema_sql")]
    texts = [script.read_text(encoding="utf-8") for script in scripts]
    prepared = cache.tree(digest_of([*texts, installation.distribution.name]))

    def make(work: Path) -> Path:
        progress.note(f"prepare the metastore's database → {prepared}")
        _load(installation, scripts, work / "derby")
        return work / "derby"

    return cache.make_once(prepared, make)


def _load(installation: Installation, scripts: Sequence[Path], database: Path) -> None:
    """Run the SQL with Derby's own program; Hive's schematool needs a library it does not bring."""
    jars = (*installation.jars("schema"), *installation.jars("lib"))
    derby = [jar for jar in jars if jar.name.startswith("derby")]
    every, log = database.parent / "schema.sql", database.parent / "ij.log"
    every.write_text("".join(f"run '{script}';\n" for script in scripts), encoding="utf-8")
    arguments = [
        *(str(installation.java), "-Xmx256m", *DERBY_OPTIONS, "-cp", hive_launcher.joined(derby)),
        f"-Dij.database=jdbc:derby:;databaseName={database};create=true",
        *(installation.distribution.text("schema_main"), str(every)),
    ]
    status = finished(Command(tuple(arguments), database.parent, log), SCHEMA_S)
    if status or _ERROR.search(log.read_text(encoding="utf-8", errors="replace")):
        raise ProcessProblem(f"{scripts[-1].name} cannot be loaded into Derby", log_tail(log, 20))


def upgrade_database(tool: Installation, database: Path) -> Path:
    """Return a database, upgraded in its place by Hive's schema tool."""
    home, log = database.parent / "schema-tool", database.parent / "schema-tool.log"
    copy_scripts(tool, home)
    # Of some versions all jars are fetched one by one, of others they are in the archive.
    jars = (*tool.jars("lib"), *sorted((_tree(tool) / "lib").glob("*.jar")))
    arguments = [
        *(str(tool.java), *tool.distribution.java_options, *DERBY_OPTIONS),
        *("-cp", hive_launcher.joined(jars), tool.distribution.text("main"), "-verbose"),
        *("-dbType", "derby", "-upgradeSchema", "-url", f"jdbc:derby:;databaseName={database}"),
        *("-driver", "org.apache.derby.jdbc.EmbeddedDriver", "-userName", "APP", "-passWord", "-"),
    ]
    # Its script would say so; it looks for the SQL there.
    environment = {"METASTORE_HOME": str(home)}
    if finished(Command(tuple(arguments), database.parent, log, environment), SCHEMA_S):
        raise ProcessProblem(
            f"{tool.distribution.name} did not upgrade {database}", log_tail(log, 40)
        )
    return database


def copy_scripts(tool: Installation, home: Path) -> None:
    """Copy the SQL of a schema tool to where it looks for it, the wrong statements put right."""
    for script in sorted((_tree(tool) / SCRIPTS).iterdir()):
        text = script.read_text(encoding="utf-8")
        for wrong, right in tool.distribution.options_if_any("statements").items():
            text = text.replace(wrong, right)
        copy = home / SCRIPTS / script.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")


def _tree(installation: Installation) -> Path:
    if installation.home is None:
        raise EnvironmentProblem(f"{installation.distribution.name} has no archive of Hive's SQL")
    return installation.home
