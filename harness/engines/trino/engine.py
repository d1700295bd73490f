"""Trino as a reader, and with it the engines it was called before (see `presto`).

Which error codes say nothing of the query is decided in `client.py`; what a refusal means in words
is in `core/refusals.py`.

Every server holds, for Hudi tables and for plain Hive tables, a catalog with the engine's default
and one for each value of `use-column-names`. On versions without a connector for Hudi the hive
connector is behind the `hudi` catalogs; where two connectors read Hudi tables, a reader chooses
with `connector`. Iceberg tables have a catalog of their own without that setting, and ORC files a
setting of their own with catalogs of its own.

What differs by version is in the distribution's `settings`: `main`, `client_headers`, `plugins`,
`config`; for each kind of catalog its connector (`connectors`), properties (`hive_catalog` …), the
property that maps columns by name (`column_names`) and the one that lists files by Hudi's metadata
table (`metadata_table`); and the kinds among which a reader may choose (`hudi_connectors`).

Plain Hive tables are read with microseconds (`hive.timestamp-precision`, by default milliseconds).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Final
from uuid import uuid4

from harness.artifacts.distribution import Distribution
from harness.artifacts.endpoint import Endpoint
from harness.artifacts.fetch import Installation
from harness.core import tolerances
from harness.core.arrow import pa, pq
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.runtime_names import AT, CONTAINER
from harness.core.setting_values import SettingValues
from harness.engines import engine_support, query_sql
from harness.engines.api import (
    METASTORE,
    Connection,
    NoAnswerError,
    PlannedReads,
    Question,
    ReaderSettings,
    RefusedError,
    Server,
    TimeTravel,
    TimeTravelWords,
)
from harness.engines.engine_support import code_digest
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.engines.query_sql import newest_changes
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.model.query import LINEAGE
from harness.runtime import metastore_client, template
from harness.runtime.api import MetastoreUris, Running, RunsElsewhere, Runtime, Served, Surroundings
from harness.runtime.metastore_client import CatalogRefusedError
from harness.runtime.metastore_objects import plain_entry
from harness.runtime.process import LOOPBACK

DATABASE: Final = "harness_ready"
"""Of a table that a new server must be able to read before it counts as ready."""


def make_ready_table(metastore_uri: str, folder: Path) -> str:
    """Make a Hive Parquet table of one row in the new `folder`; return its name in DATABASE.

    A Trino 476 that answers `select 1` can refuse every table for some seconds, NO_NODES_AVAILABLE.

    Raises EnvironmentProblem: the metastore does not answer, or refuses the table.
    """
    folder.mkdir()
    pq.write_table(pa.table({"id": [1]}), folder / "one.parquet")
    name = f"t_{uuid4().hex}"
    try:
        with metastore_client.connect(metastore_uri) as client:
            client.register(DATABASE, [plain_entry(name, [("id", "bigint")])], str(folder))
    except CatalogRefusedError as refused:
        raise EnvironmentProblem(f"the metastore at {metastore_uri}: {refused}") from refused
    return name


TEMPLATES: Final = "trino"
READY_S: Final = 300.0
"""How long a start may take: 10 to 20 s on an idle machine, minutes were seen on a busy one."""
READY_QUERY_S: Final = 30.0
_QUICK: Final = ("-XX:MetaspaceSize=512m",)
"""Java begins with 21 MB for classes, and collects all garbage each time that it needs more."""


@dataclass(frozen=True, slots=True)
class TrinoServer(Served):
    port: int
    distribution: Distribution
    statement: Callable[[ReaderSettings, Question], tuple[str, str]]
    """Returns the catalog that a question is about, by the reader's settings, and the SQL."""

    endpoint: Endpoint | None = None
    """Of a server that runs already; the port is its own."""

    def connect(self, settings: ReaderSettings) -> Connection:
        """Return a session whose server has told how its catalogs read; raises NoAnswerError."""
        # Imported here: the client library is not needed to plan, judge or report.
        from harness.engines.trino.client import TrinoConnection  # noqa: PLC0415

        there, distribution = self.endpoint, self.distribution
        declared = tolerances.declared_for(distribution.name)
        address = there.host_and_port if there else (LOOPBACK, self.port)
        headers, statement = distribution.text("client_headers"), partial(self.statement, settings)
        session = TrinoConnection(address, headers, declared, statement, there)
        families = {name: family for family, name in there.catalogs.items()} if there else {}
        try:
            session.confirm(families or connectors(distribution))
        except NoAnswerError as problem:
            session.close()
            raise NoAnswerError(f"{there.address}: {problem}" if there else problem) from problem
        return session


@dataclass(frozen=True, slots=True)
class TrinoProgram:
    """A server with some catalogs; see `runtime.api.Program`."""

    distribution: Distribution
    catalogs: Callable[[str], Catalogs]
    """Given the URI of the metastore, returns the values of each catalog."""
    log: str = "server.log"
    ready_s: float = READY_S
    not_yet: tuple[type[Exception], ...] = (NoAnswerError, RefusedError)

    def files(self, around: Surroundings) -> Mapping[str, str]:
        local = around.installation is not None
        values = {
            "address": around.host,
            "port": around.port,
            "plugins": around.folder / "plugin" if local else "",
            "catalogs": around.conf / "catalog",
            "properties": self.distribution.options("config"),
        }
        files = {"config.properties": template.render(TEMPLATES, "config.properties", values)}
        for name, catalog in self.catalogs(around.metastore).items():
            text = template.render(TEMPLATES, "catalog.properties", catalog)
            files[f"catalog/{name}.properties"] = text
        return files

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        return {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        return class_path(installation)

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        plugins = around.folder / "plugin"  # those that are needed: others cost start-up and memory
        plugins.mkdir(exist_ok=True)  # from a start that did not get its port
        for name in installation.distribution.texts("plugins"):
            if not (plugins / name).is_symlink():
                (plugins / name).symlink_to(class_path(installation)[-1].parent / "plugin" / name)
        config = around.conf / "config.properties"
        return command_line(installation, around.folder, config, around.jvm)


def first_questions(catalogs: Iterable[str], table: str) -> list[str]:
    """Return what a new server must answer: schemas through each catalog, and a table."""
    schemas = (f'show schemas from "{catalog}"' for catalog in catalogs)
    return [*schemas, f'select id from "{READY}"."{DATABASE}"."{table}"']


def command_line(
    installation: Installation, folder: Path, config: Path, jvm: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the command line; the servers need no launcher. `jvm`: options beside its own."""
    patches, jars = class_path(installation)[:-1], class_path(installation)[-1] / "*"
    class_path_text = os.pathsep.join(map(str, (*patches, jars)))
    return (
        *(str(installation.java), *installation.distribution.java_options, *_QUICK, *jvm),
        *(f"-Djava.io.tmpdir={folder / 'tmp'}", f"-Dconfig={config}"),
        *("-cp", class_path_text, installation.distribution.text("main")),
    )


def class_path(installation: Installation) -> tuple[Path, ...]:
    """Return the folders of the class path: of patched classes, if there are any, and of jars.

    Raises EnvironmentProblem: the distribution has no server tree.
    """
    if installation.home is None:
        raise EnvironmentProblem(f"{installation.distribution.name} has no server archive")
    patches = (installation.patches,) if installation.patches else ()
    return (*patches, installation.home / "lib")


COLUMN_NAMES: Final = "use-column-names"
ORC_COLUMN_NAMES: Final = "orc.use-column-names"
CONNECTOR: Final = "connector"
METADATA: Final = "metadata-table"
SETTINGS: Final = MappingProxyType(
    {
        COLUMN_NAMES: SettingValues(
            ("true", "false"),
            "maps columns of Parquet files by name, or else by position; of Iceberg's files, which "
            "PrestoDB alone can be asked for so, or else by field id",
        ),
        ORC_COLUMN_NAMES: SettingValues(("true", "false"), "the same for ORC files"),
        CONNECTOR: SettingValues(("hive", "hudi"), "the connector that reads Hudi tables"),
        METADATA: SettingValues(
            ("on", "off"), "the connector `hudi` lists files by the metadata table"
        ),
    }
)

READY: Final = "hive"
"""The catalog through which a new server is tried: the only kind that reads plain Hive tables."""
CHOOSES: Final = "hudi"
"""The family of tables for which CONNECTOR may choose another kind of catalog than their own."""

Catalogs = Mapping[str, Mapping[str, object]]
"""What the template of each catalog is filled with, by the catalog's name."""

_SUFFIXES: Final = MappingProxyType({"": "", "true": "_by_name", "false": "_by_position"})
"""What the setting adds to a catalog's name: one server holds a catalog for each value."""
_METADATA: Final = MappingProxyType({"": "", "on": "_metadata_on", "off": "_metadata_off"})
_SWITCH: Final = MappingProxyType({"on": "true", "off": "false"})
_PROPERTIES: Final = MappingProxyType({COLUMN_NAMES: "column_names", METADATA: "metadata_table"})
"""Where a distribution says what the property of a setting is called, by kind of catalog."""
_ORC_CATALOG: Final = f"{READY}_orc"
IMAGE_CONNECTORS: Final = "image_connectors"
"""The setting with what the official image has beside `connectors`."""
IMAGE_CATALOG: Final = "image_catalog"
"""The properties of their catalogs."""
_ORC_PROPERTY: Final = f"hive.{ORC_COLUMN_NAMES}"


def catalog_name(format_: FormatFacts, settings: ReaderSettings) -> str:
    """Return the name of the catalog for a format and settings."""
    if _is_plain_orc(format_) and ORC_COLUMN_NAMES in settings:
        return _ORC_CATALOG + _SUFFIXES[settings[ORC_COLUMN_NAMES]]
    metadata = _METADATA[settings.get(METADATA, "")]
    return _kind(format_, settings) + _SUFFIXES[settings.get(COLUMN_NAMES, "")] + metadata


def kinds(distribution: Distribution) -> Mapping[str, str]:
    """Return the connector of each kind of catalog; an image may have more than the jars here."""
    of_image = (
        distribution.options_if_any(IMAGE_CONNECTORS) if distribution.runtime == CONTAINER else {}
    )
    return {**distribution.options("connectors"), **of_image}


def connectors(distribution: Distribution) -> dict[str, str]:
    values = catalog_values(distribution, "")
    return {name: str(value["connector"]) for name, value in values.items()}


def needed_catalogs(catalogs: Catalogs, planned: PlannedReads) -> Catalogs:
    """Return the catalogs that are asked, and the one through which a new server is tried.

    Each loads the classes of its connector anew: seven took half the CPU of a start of Trino 476.
    """
    if planned is None:
        return catalogs
    names = {READY, *(catalog_name(format_, dict(settings)) for format_, settings in planned)}
    return {name: values for name, values in catalogs.items() if name in names}


def catalog_values(distribution: Distribution, metastore_uri: str) -> Catalogs:
    """Return what the template of a catalog is filled with, by the catalog's name."""
    by_kind = kinds(distribution)
    catalogs: dict[str, dict[str, object]] = {}
    for name, kind, mapping in _catalogs(distribution):
        has_connector = kind in distribution.options("connectors")
        properties = distribution.options(f"{kind}_catalog" if has_connector else IMAGE_CATALOG)
        catalogs[name] = {
            "connector": by_kind[kind],
            "metastore_uri": metastore_uri,
            "properties": {**properties, **mapping},
        }
    return catalogs


def _catalogs(distribution: Distribution) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield each catalog's name, its kind, and the properties that the settings of readers are."""
    names, metadata = (distribution.options_if_any(key) for key in _PROPERTIES.values())
    for kind in kinds(distribution):
        mapped = _SUFFIXES if kind in names else ("",)
        listed = _METADATA if kind in metadata else ("",)
        for by_name, by_metadata in product(mapped, listed):
            properties = {names[kind]: by_name} if by_name else {}
            properties |= {metadata[kind]: _SWITCH[by_metadata]} if by_metadata else {}
            yield kind + _SUFFIXES[by_name] + _METADATA[by_metadata], kind, properties
    for value in SETTINGS[ORC_COLUMN_NAMES]:
        yield _ORC_CATALOG + _SUFFIXES[value], READY, {_ORC_PROPERTY: value}


def _is_plain_orc(format_: FormatFacts) -> bool:
    return (format_.family, format_.files) == (READY, "orc")


def _kind(format_: FormatFacts, settings: ReaderSettings) -> str:
    chosen = settings.get(CONNECTOR, format_.family)
    return chosen if format_.family == CHOOSES else format_.family


_IN_NAME: Final = TimeTravelWords("{table}", suffix="@{instant}")
_NO_NAMES: Final = "it has no words for a tag or a branch"
# Manual of Trino, "Iceberg connector", "Delta Lake connector", "table_changes"; manual of PrestoDB,
# "Delta Lake connector". The catalogs are called by the families (`catalog_name`).
TRINO: Final[TimeTravel] = {
    ("iceberg", AS_OF): TimeTravelWords("{table} for version as of {instant}"),
    ("iceberg", TAG): TimeTravelWords("{table} for version as of '{instant}'"),
    ("iceberg", BRANCH): TimeTravelWords("{table} for version as of '{instant}'"),
    ("delta", AS_OF): TimeTravelWords("{table} for version as of {instant}"),
    ("delta", INCREMENTAL): newest_changes(
        'table("delta".system.table_changes('
        "schema_name => '{database}', table_name => '{name}', since_version => {instant}))"
    ),
    ("hudi", AS_OF): "its connector has no words for it",
}
PRESTO: Final[TimeTravel] = {
    # NOT_FOUND, `t@<snapshot>` of `HiveTableOperations`: the metastore is asked for all.
    ("iceberg", AS_OF): "it finds no table with a snapshot in its name (seen on 0.283)",
    ("iceberg", TAG): _NO_NAMES,
    ("iceberg", BRANCH): _NO_NAMES,
    ("delta", AS_OF): TimeTravelWords("{table}", suffix="@v{instant}"),
    ("hudi", AS_OF): "its connectors have no words for it",
}


_MOMENT: Final = "cast({0} at time zone 'UTC' as timestamp(6))"
FINGERPRINTS: Final = FingerprintWords(
    {
        "boolean": "cast({0} as varchar)",
        "integer": "cast({0} as varchar)",
        "float": "case when is_nan({0}) then 'NaN' "
        "else cast(from_big_endian_64(to_ieee754_64(cast({0} as double))) as varchar) end",
        "decimal": "cast({0} as varchar)",
        "date": "cast(date_diff('day', date '1970-01-01', {0}) as varchar)",
        "timestamp": "cast(date_diff('second', timestamp '1970-01-01 00:00:00', "
        f"date_trunc('second', {_MOMENT})) * 1000000 "
        f"+ cast(substr(cast({_MOMENT} as varchar), -6) as bigint) as varchar)",
        "string": "cast({0} as varchar)",
        "binary": "lower(to_hex({0}))",
        "array": "array_join(transform({0}, {x} -> {hash}), '')",
        "map": "array_join(array_sort(transform(map_entries({0}), {x} -> {hash})), '')",
    },
    hash="lower(to_hex(md5(to_utf8({0}))))",
    entry=("{x}[1]", "{x}[2]"),
)
"""Trino's manual, "Binary functions", "Date and time functions", "Array functions". PrestoDB has no
`translate`, and PrestoSQL no timestamps of six digits in all of its connectors: they have none."""


class TrinoEngine:
    settings: Mapping[str, tuple[str, ...]] = SETTINGS
    unasked: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self, words: TimeTravel = TRINO, fingerprints: FingerprintWords | None = FINGERPRINTS
    ) -> None:
        self._words = words
        self._fingerprints = fingerprints

    def statements(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, ...]:
        return (self._statement(distribution, settings, question)[1],)

    def time_travel(self, distribution: Distribution) -> TimeTravel:
        """Return the words of a version; families of `snapshot_in_name` have no others."""
        named = distribution.texts_if_any("snapshot_in_name")
        return {**self._words, **{(family, AS_OF): _IN_NAME for family in named}}

    def _statement(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, str]:
        """Return the catalog, which follows from the format and the settings, and the query.

        What says where rows come from are hidden columns (manual, "Iceberg connector").
        """
        endpoint, format_ = distribution.endpoint, question.format
        name = endpoint.catalogs[format_.family] if endpoint else catalog_name(format_, settings)
        words = self.time_travel(distribution)
        ansi, nan = query_sql.ANSI, query_sql.NAN_FUNCTION
        sql = query_sql.select(question, ansi, words, name, nan, self._fingerprints)
        for column in LINEAGE if question.query.columns[1:] == LINEAGE else ():
            sql = sql.replace(f'"{column}"', f'"${column[1:]}" as "{column}"')
        return name, sql

    def fingerprint_words(self, settings: ReaderSettings) -> FingerprintWords | None:
        return self._fingerprints

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        name, connector = distribution.name, settings.get(CONNECTOR)
        if there := distribution.endpoint:
            known = format_.family in there.catalogs
            lacks = f"its platform file names no catalog for {format_.family} tables"
            return engine_support.cannot_set(distribution, settings) or lacks * (not known)
        if connector and connector not in distribution.texts("hudi_connectors"):
            return f"{name} has one connector for Hudi tables: leave out {CONNECTOR}={connector}"
        if format_.family not in kinds(distribution):
            why = f"{name} has no connector for {format_.family} tables"
            in_image = format_.family in distribution.options_if_any(IMAGE_CONNECTORS)
            return f"{why}; the official image has it: {name}{AT}{CONTAINER}" if in_image else why
        if connector and format_.family not in {CHOOSES, connector}:
            return f"{CONNECTOR}={connector} does not read {format_.family} tables"
        other = COLUMN_NAMES if _is_plain_orc(format_) else ORC_COLUMN_NAMES
        if other in settings:
            return f"{other} says nothing of {format_.name} tables"
        kind = _kind(format_, settings)
        for setting, key in _PROPERTIES.items():
            if setting in settings and kind not in distribution.options_if_any(key):
                return f"the {kind} connector of {name} has no setting {setting}"
        return ""

    def by_hand(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> tuple[str, ...]:
        if distribution.endpoint:  # whose catalog the query names
            return ()
        name = catalog_name(format_, settings)
        values = catalog_values(distribution, METASTORE)[name]
        lines = template.render(TEMPLATES, "catalog.properties", values).splitlines()
        return (f"-- etc/catalog/{name}.properties:", *(f"--   {line}" for line in lines))

    def ask_code(self) -> str:
        return code_digest(TEMPLATES)

    def attach(self, distribution: Distribution, endpoint: Endpoint) -> Server:
        """See `api.Attaches`."""
        statement = partial(self._statement, distribution)
        _, port = endpoint.host_and_port
        return TrinoServer(RunsElsewhere(), port, distribution, statement, endpoint)

    @contextmanager
    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> Iterator[Server]:
        distribution = runtime.distribution
        progress.note(f"start {distribution.name}")

        def catalogs(uri: str) -> Catalogs:
            return needed_catalogs(catalog_values(distribution, uri), planned)

        program = TrinoProgram(distribution, catalogs, ready_s=READY_S)
        table = make_ready_table(metastore.host, folder / "ready")
        names = tuple(catalogs(metastore.host))
        left: dict[Running, list[str]] = {}

        def ready(running: Running, port: int) -> TrinoServer:
            statement = partial(self._statement, distribution)
            server = TrinoServer(running, port, distribution, statement)
            questions = left.setdefault(running, first_questions(names, table))
            with (
                engine_support.metastore_first(metastore.host),
                closing(server.connect({})) as session,
            ):
                while questions:  # once is enough of each
                    session.run(questions[0], timeout_s=READY_QUERY_S)
                    del questions[0]
            return server

        with runtime.start(program, metastore, folder, ready) as server:
            progress.note(f"{distribution.name} answers on port {server.port}")
            yield server


ENGINE = TrinoEngine()
