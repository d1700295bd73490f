"""Spark as a reader: a JVM with the bundle of a format, a session for each reader's settings.

The session that reads is never the one that wrote: its JVM is started for reading only.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress
from harness.core.records import Column
from harness.core.setting_values import SettingValues
from harness.engines import engine_support, fingerprint_sql, query_sql
from harness.engines.api import (
    Connection,
    NoAnswerError,
    PlannedReads,
    Question,
    ReaderSettings,
    RefusedError,
    Reply,
    Server,
    TimeTravel,
    TimeTravelWords,
)
from harness.engines.engine_support import code_digest
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.engines.query_sql import newest_changes
from harness.engines.spark import launch
from harness.engines.spark import session as client
from harness.engines.spark.values import canonical_type
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.model.fingerprint import NUMBER_DIGITS
from harness.model.identifiers import quoted
from harness.runtime.api import MetastoreUris, Runtime, Served
from harness.runtime.process import EndedProblem, ProcessProblem

# Iceberg documentation, "Spark Queries" and "Branching and Tagging"; Delta documentation, "Query an
# older snapshot of a table"; Hudi documentation, "SQL Queries".
_BY_VERSION: Final = TimeTravelWords("{table} version as of {instant}")
_BY_NAME: Final = TimeTravelWords("{table} version as of '{instant}'")
TIME_TRAVEL: Final[TimeTravel] = {
    ("iceberg", AS_OF): _BY_VERSION,
    ("iceberg", TAG): _BY_NAME,
    ("iceberg", BRANCH): _BY_NAME,
    ("delta", AS_OF): _BY_VERSION,
    ("delta", INCREMENTAL): newest_changes("table_changes('{database}.{name}', {begin})"),
    ("hudi", AS_OF): TimeTravelWords("{table} timestamp as of '{instant}'"),
    ("hudi", INCREMENTAL): TimeTravelWords(
        "hudi_table_changes('{database}.{name}', 'latest_state', '{begin}')"
    ),
}

KEYS: Final = {
    "schema-on-read": ("hoodie.schema.on.read.enable",),
    "vectorized": (
        "spark.sql.parquet.enableVectorizedReader",
        "spark.sql.iceberg.vectorization.enabled",  # Iceberg reads Parquet by itself
    ),
    "data-skipping": ("hoodie.enable.data.skipping",),
    "metadata-table": ("hoodie.metadata.enable",),
    "storage-partitioned": (
        "spark.sql.sources.v2.bucketing.enabled",
        "spark.sql.sources.v2.bucketing.pushPartValues.enabled",
        "spark.sql.sources.v2.bucketing.partiallyClusteredDistribution.enabled",
        "spark.sql.iceberg.planning.preserve-data-grouping",
    ),
}
"""Spark's own keys for each setting of a reader; a setting that is absent is left as it is."""
BY: Final = "by"
PATH: Final = "path"
"""Setting of a reader: a plain table's folder is read, of which Spark tells columns and partitions
by itself (Spark's manual, "Run SQL on files directly")."""
FOLDER: Final = "file:FOLDER"
_CHAR: Final = re.compile(r"cast\('([^']*?) *' as char\(\d+\)\)")
_LOCATION: Final = "Location"
"""The row of `describe formatted` that has a table's folder."""
SWITCH: Final = {"on": "true", "off": "false"}
READY_S: Final = 120.0


NUMBER: Final = f"cast(translate(substr({{0}}, 1, {NUMBER_DIGITS}), 'abcdef', '012345') as bigint)"
HALF: Final = 100_000_000
"""Sums are of the higher and the lower digits of numbers: those of whole ones would overflow."""
FINGERPRINTS: Final = FingerprintWords(
    {
        "boolean": "cast({0} as string)",
        "integer": "cast({0} as string)",
        "float": "case when {0} is null then null when isnan({0}) then 'NaN' "
        "else java_method('java.lang.Double', 'doubleToLongBits', cast({0} as double)) end",
        "decimal": "replace(format_number({0}, {scale}), ',', '')",
        fingerprint_sql.PLAIN: "cast({0} as string)",
        "date": "cast(datediff({0}, date '1970-01-01') as string)",
        "timestamp": "cast(unix_micros(cast({0} as timestamp)) as string)",
        "string": "cast({0} as string)",
        "binary": "lower(hex({0}))",
        "array": "array_join(transform({0}, {x} -> {hash}), '')",
        "map": "array_join(array_sort(transform(map_entries({0}), {x} -> {hash})), '')",
    },
    # A sum of 38 digits takes longer than one of the higher and one of the lower digits.
    sum=f"sum({NUMBER} div {HALF}) * cast({HALF} as decimal(9, 0)) + sum({NUMBER} % {HALF})",
)
"""Spark's manual, "Built-in Functions"; sessions are in UTC."""


class SparkConnection:
    def __init__(self, session: client.Session, *, by_path: bool = False) -> None:
        self._session = session
        self._by_path = by_path
        self._confirmed = ", ".join(f"{key}={value}" for key, value in session.reported.items())

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        if not self._by_path:
            return self.run(_select(question), timeout_s=timeout_s)
        table = quoted(f"{question.database}.{question.table}", "`")
        described = self._session.run(f"describe formatted {table}", timeout_s=timeout_s)
        folder = next(str(value) for name, value, *_ in described.rows if name == _LOCATION)
        return self.run(_select(question, folder), timeout_s=timeout_s)

    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        result = self._session.run(statement, timeout_s=timeout_s)
        every = tuple(Column(name, type_, canonical_type(type_)) for name, type_ in result.columns)
        return query_sql.reply(every, result.rows, result.seconds, statement, self._confirmed)

    def close(self) -> None:
        self._session.close()


@dataclass(frozen=True, slots=True)
class SparkServer(Served):
    """A running JVM; 27,000 answers did not exhaust one."""

    spark: client.Spark

    @property
    def port(self) -> int:
        return self.spark.port

    def connect(self, settings: ReaderSettings) -> Connection:
        tell = tuple(key for keys in KEYS.values() for key in keys)
        session = self.spark.open(session_settings(settings), tell)
        return SparkConnection(session, by_path=settings.get(BY) == PATH)

    def alive(self) -> bool:
        return self.spark.alive()


class SparkEngine:
    settings: Mapping[str, tuple[str, ...]] = {
        "schema-on-read": SettingValues(SWITCH, "Hudi's `hoodie.schema.on.read.enable`"),
        "vectorized": SettingValues(SWITCH, "Spark's and Iceberg's vectorised readers of Parquet"),
        "data-skipping": SettingValues(
            SWITCH,
            "Hudi's `hoodie.enable.data.skipping`: leaves out files by the statistics of the "
            "metadata table",
        ),
        "metadata-table": SettingValues(
            SWITCH,
            "Hudi's `hoodie.metadata.enable`: lists files by the metadata table, without which "
            "nothing is left out by statistics",
        ),
        "storage-partitioned": SettingValues(
            SWITCH, "joins and groups Iceberg's partitions as they are stored, also in parts"
        ),
        BY: SettingValues(
            (PATH,), "reads a plain table's folder, whatever the metastore says of the table"
        ),
    }

    unasked: Mapping[str, str] = MappingProxyType({})

    def statements(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, ...]:
        return (_select(question, FOLDER if settings.get(BY) == PATH else ""),)

    def time_travel(self, distribution: Distribution) -> TimeTravel:
        return TIME_TRAVEL

    def fingerprint_words(self, settings: ReaderSettings) -> FingerprintWords | None:
        return FINGERPRINTS

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        if settings.get(BY) == PATH and (format_.family != "hive" or format_.files == "textfile"):
            return f"{BY}={PATH}: the folder of such a table alone does not say what its rows are"
        return engine_support.missing_library(distribution, settings, format_)

    def by_hand(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> tuple[str, ...]:
        conf = session_settings(settings)
        return tuple(f"set {name}={value};" for name, value in conf.items())

    def ask_code(self) -> str:
        return code_digest("spark")

    @contextmanager
    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> Iterator[Server]:
        progress.note(f"start {runtime.distribution.name}")
        with launch.spark(runtime, metastore, folder) as spark:
            server = SparkServer(spark.running, spark)
            try:
                first = server.connect({})
                first.run("show databases", timeout_s=READY_S)
            except (RefusedError, NoAnswerError) as problem:
                kind = ProcessProblem if spark.alive() else EndedProblem
                reason = f"{runtime.distribution.name} cannot use the metastore: {problem}"
                raise kind(reason, spark.running.log_tail()) from None
            first.close()
            yield server


def _select(question: Question, folder: str = "") -> str:
    sql = query_sql.select(question, "`", TIME_TRAVEL, words=FINGERPRINTS)
    if not folder:
        return sql
    sql = _CHAR.sub(r"'\1'", sql)  # a file has texts, and a user writes one
    table = quoted(f"{question.database}.{question.table}", "`")
    return sql.replace(table, quoted(question.format.files, "`") + f".`{folder}`", 1)


def session_settings(settings: ReaderSettings) -> dict[str, str]:
    return {key: SWITCH[value] for name, value in settings.items() for key in KEYS.get(name, ())}


ENGINE = SparkEngine()
