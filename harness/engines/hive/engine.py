"""HiveServer2 as a reader, asked over Thrift with PyHive.

What was written to a Hudi table since an instant is asked for by settings, which choose files, and
a condition on older rows in these (Hudi documentation, "Incremental query" of Hive). Hive 3 is not
asked for a table as it was: `hoodie.<table>.consume.commit` (apache/hudi#2809) is no time travel to
its maintainers (apache/hudi#6479), and `iceberg.mr.snapshot.id` (1.4.3) is not documented.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.artifacts.endpoint import Endpoint
from harness.artifacts.fetch import Installation
from harness.core import tolerances
from harness.core.progress import Progress
from harness.core.records import Column
from harness.core.runtime_names import CONTAINER
from harness.core.setting_values import SettingValues
from harness.core.tolerances import Declared, Tally
from harness.engines import engine_support
from harness.engines.api import (
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
from harness.engines.hive import values
from harness.engines.hive.errors import HiveError
from harness.engines.hive.values import FETCH, MAP_REDUCE, TEZ, HiveResult
from harness.engines.query_sql import reply, select
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.model.identifiers import SINCE, quoted
from harness.model.query import Comparison
from harness.runtime import hive_launcher, template
from harness.runtime.api import MetastoreUris, Running, RunsElsewhere, Runtime, Served, Surroundings
from harness.runtime.process import ProcessProblem

_NOT_YET: Final = "Hive has no words for it before version 4"
_NO_NAMES: Final = "it has no words for a tag or a branch"
TIME_TRAVEL: Final[TimeTravel] = {
    ("hudi", INCREMENTAL): TimeTravelWords(
        "(select * from {table} where `_hoodie_commit_time` > '{instant}')", alias=SINCE
    ),
    ("hudi", AS_OF): _NOT_YET,
    ("iceberg", AS_OF): _NOT_YET,
    ("iceberg", TAG): _NO_NAMES,
    ("iceberg", BRANCH): _NO_NAMES,
}


def _prefix(question: Question) -> str:
    return f"set hoodie.{question.table.partition('_')[0]}.consume"


if TYPE_CHECKING:
    from harness.engines.hive.client import HiveClient

MARK: Final = "`"
_NESTED: Final = ("array", "map", "struct", "uniontype")


_TEXT: Final = "cast({0} as string)"
_BITS: Final = "java_method('java.lang.Double', 'doubleToLongBits', cast({0} as double))"
FINGERPRINTS: Final = FingerprintWords(
    {
        "boolean": "case when {0} then 'true' when not {0} then 'false' end",
        "integer": _TEXT,
        "float": f"case when {{0}} is null then null when {_BITS} = '9221120237041090560' "
        f"then 'NaN' else {_BITS} end",
        "decimal": "replace(format_number({0}, {scale}), ',', '')",
        "date": "cast(datediff({0}, cast('1970-01-01' as date)) as string)",
        "timestamp": "cast(unix_timestamp({0}) * 1000000 "
        f"+ cast(rpad(concat(substr({_TEXT}, 21), '0'), 6, '0') as bigint) as string)",
        "string": _TEXT,
        "binary": "lower(hex({0}))",
    },
    structs=False,
)
"""Hive's manual, "Operators and UDFs": no function is called for each element of a list. The bits
of NaN are those of `Double.doubleToLongBits`. Of a NULL struct in a Parquet file Hive 3.1.3 says
that it is not NULL, in conditions and in `case`, though it shows it as NULL."""


@dataclass(frozen=True, slots=True)
class HiveConnection:
    client: HiveClient
    declared: Declared
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    """What is entered for each question, before its time begins."""

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        *before, query = statements(question)
        try:
            for statement in before:
                self.run(statement, timeout_s=timeout_s)
            answer = self._answer(query, timeout_s, question)
        finally:
            if question.past is not None:
                self.run(f"{_prefix(question)}.mode=SNAPSHOT", timeout_s=timeout_s)
        return replace(answer, sent="; ".join((*before, query)))

    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        return self._answer(statement, timeout_s)

    def _answer(self, sql: str, timeout_s: float, question: Question | None = None) -> Reply:
        with self.turn():
            started = time.monotonic()
            try:
                result = self.client.run(sql, timeout_s)
                seconds = time.monotonic() - started
                left_s = max(timeout_s - seconds, 1.0)
                types = self._types(question, result, left_s)
            except HiveError as error:
                raise RefusedError(error.refusal, time.monotonic() - started) from error
            about = (question.format.name, question.settings) if question else ("", {})
            declared = tolerances.for_format(self.declared, *about)
            return reply_of(result, types, seconds, declared, sql)

    def close(self) -> None:
        self.client.close()

    def _types(
        self, question: Question | None, result: HiveResult, timeout_s: float
    ) -> tuple[str, ...]:
        """Return the types of the columns; of nested ones the server names only the outermost.

        Those of another statement than a question stay so, and their values stay text.
        """
        types = tuple(kind for _, kind in result.columns)
        if question is None or not any(kind in _NESTED for kind in types):
            return types
        table = quoted(f"{question.database}.{question.table}", MARK)
        described = self.client.run(f"describe {table}", timeout_s).rows
        columns = {row[0]: row[1] for row in described if row[1] and not row[0].startswith("#")}
        return nested_types(question.query.columns, result, columns)


def statements(question: Question) -> tuple[str, ...]:
    """Return what is sent for a question; settings of the reader are the session's."""
    query = select(question, MARK, TIME_TRAVEL, words=FINGERPRINTS)
    if question.past is None:
        return (query,)
    prefix, instant = _prefix(question), question.past.instant
    since = (f"{prefix}.mode=INCREMENTAL", f"{prefix}.start.timestamp={instant}")
    return (*since, f"{prefix}.max.commits=-1", query)  # all writes since


def nested_types(
    paths: Sequence[str], result: HiveResult, table: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the types of an answer's columns in full.

    `paths`: those that were asked for, empty for all. `table`: Hive's types of the table's columns.
    """
    paths = paths or [_bare(name) for name, _ in result.columns]
    return tuple(
        _type_at(table, path) or kind if kind in _NESTED else kind
        for path, (_, kind) in zip(paths, result.columns, strict=True)
    )


def _type_at(table: Mapping[str, str], path: str) -> str:
    """Return Hive's type of a dotted path, empty if the table has no such place."""
    name, *inner = path.lower().split(".")
    text = table.get(name, "")
    for child in inner:
        text = values.children(text).get(child, "")
    return text


def _bare(name: str) -> str:
    """Return a column's name without the table's, which stands before it for `select *`."""
    return name.rpartition(".")[2]


def reply_of(
    result: HiveResult, types: tuple[str, ...], seconds: float, declared: Declared, sent: str = ""
) -> Reply:
    """Make a reply of raw rows, `types` being Hive's types of the columns in full."""
    tally = Tally(declared)
    kinds = [values.canonical_type(text, declared) for text in types]
    columns = tuple(
        Column(_bare(name), text, str(kind) if kind else "")
        for (name, _), text, kind in zip(result.columns, types, kinds, strict=True)
    )
    rows = tuple(
        tuple(values.canonical(value, kind, tally) for value, kind in zip(row, kinds, strict=True))
        for row in result.rows
    )
    return reply(columns, rows, seconds, sent, result.path, tally.applied(), result.rows)


READY_S: Final = 240.0
STATEMENT_S: Final = 60.0
SESSION_KEY: Final = "session_key"
"""What lock data call the key that each session gives a value of its own, see `HiveServer`."""
WHOLE_LOG: Final = 1000
"""More lines than a server has written by the time that it is ready."""
LOG: Final = "hive-log4j2.properties"
THREADS: Final = 1000
"""With more threads than these it is replaced. A job that fails leaves a thread behind that reports
its progress for ever, and with it 0.5 MB of settings; 55 threads are its own. Of 2,087 such jobs
its gigabyte was full, and a query that takes a second took ten."""

ORC_BY_POSITION: Final = "orc.force.positional.evolution"
"""Called as ORC's own setting."""
INPUT_FORMAT: Final = "input-format"
HUDI_COMBINE: Final = "hudi-combine"
"""The one that Hudi brings; without its library there is no such class."""

_SWITCH: Final = {"on": "true", "off": "false"}
_MANAGERS: Final = (("on", "Db"), ("off", "Dummy"))
_INPUT_FORMATS: Final = {
    "plain": "org.apache.hadoop.hive.ql.io.HiveInputFormat",
    "combine": "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat",
    HUDI_COMBINE: "org.apache.hudi.hadoop.hive.HoodieCombineHiveInputFormat",
}

_LAUNCH: Final = "-Djdk.lang.Process.launchMechanism=VFORK"
"""How Java starts `chmod` and the like, which Hadoop runs 30 times a job: by default through a
helper, without it a job takes a tenth less. (Where Java is killed meanwhile that helper waits for
ever, JDK-8307990; what a process leaves behind is ended in any case, `process.running`.)"""

TRANSACTIONS: Final = "transactions"
_CONCURRENCY: Final = "set hive.support.concurrency=true"

KEYS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "path": ("hive.fetch.task.conversion", {FETCH: "more", MAP_REDUCE: "none", TEZ: "none"}),
    "schema-on-read": ("hoodie.schema.on.read.enable", _SWITCH),
    ORC_BY_POSITION: (ORC_BY_POSITION, {value: value for value in _SWITCH.values()}),
    "vectorized": ("hive.vectorized.execution.enabled", _SWITCH),
    INPUT_FORMAT: ("hive.input.format", _INPUT_FORMATS),
    "statistics": ("hive.compute.query.using.stats", _SWITCH),
    TRANSACTIONS: (
        "hive.txn.manager",
        {value: f"org.apache.hadoop.hive.ql.lockmgr.{of}TxnManager" for value, of in _MANAGERS},
    ),
}
"""Hive's own key for each setting of a reader, and what its values are called there."""
MEANINGS: Final = {
    "path": "`hive.fetch.task.conversion`, and for `tez` `hive.execution.engine`, which "
    "[`hive-3.1.3-tez-0.9.2`](engines.md#hive) has",
    "schema-on-read": "Hudi's `hoodie.schema.on.read.enable`",
    ORC_BY_POSITION: "maps columns of ORC files by position, or else by name",
    "vectorized": "`hive.vectorized.execution.enabled`, in jobs",
    INPUT_FORMAT: "`hive.input.format`, in jobs: Hive's `HiveInputFormat`, its "
    "`CombineHiveInputFormat`, or Hudi's `HoodieCombineHiveInputFormat`",
    "statistics": "`hive.compute.query.using.stats`: counts and extremes are answered by what the "
    "metastore knows",
    TRANSACTIONS: "`hive.txn.manager` and `hive.support.concurrency`, of transactional tables, "
    "which Hive refuses without",
}
"""What the settings mean, as the documentation says it."""


def session_statements(settings: ReaderSettings) -> tuple[str, ...]:
    """Return what a session with these settings is told first; one left out is not touched."""
    by_tez = ("set hive.execution.engine=tez",) if settings.get("path") == TEZ else ()
    locks = (_CONCURRENCY,) if settings.get(TRANSACTIONS) == "on" else ()
    changed = (
        f"set {key}={values[settings[name]]}"
        for name, (key, values) in KEYS.items()
        if name in settings
    )
    return (*by_tez, *locks, *changed)


@dataclass(frozen=True, slots=True)
class HiveServer(Served):
    port: int
    declared: Declared
    session_key: str = ""
    """The key under which jobs of one process share what they read, where it is not one for each
    job; a session gives it a value of its own."""
    endpoint: Endpoint | None = None
    """Of a server that runs already; the port is its own."""
    late: threading.Event = field(default_factory=threading.Event)
    """Set when a question was given up."""
    by_tez: threading.Lock = field(default_factory=threading.Lock)

    def exhausted(self) -> bool:
        """Return whether what earlier questions left behind fills its memory, or keeps it busy.

        Jobs that failed leave threads; MapReduce goes on with the job of a question that was given
        up.
        """
        return self.late.is_set() or self.running.threads() > THREADS

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let one question at a time go through Tez, and end the server if one is given up.

        What tasks read is kept for the process by the name of their vertex, `Map 1` in all
        questions (`DagUtils`, `IOContextMap`); and tasks that are killed go on.
        """
        with self.by_tez:
            try:
                yield
            finally:
                if self.late.is_set():
                    self.running.stop(0)

    def connect(self, settings: ReaderSettings) -> HiveConnection:
        # Imported when it is needed: planning and judging work without the client library.
        from harness.engines.hive.client import HiveClient  # noqa: PLC0415

        first = session_statements(settings)
        if self.session_key:
            first += (f"set {self.session_key}={uuid4()}",)
        try:
            client = HiveClient(self.port, self.running, self.late, self.endpoint)
        except NoAnswerError as problem:
            if self.endpoint is None:
                raise
            raise NoAnswerError(f"{self.endpoint.address}: {problem}") from problem
        try:
            for statement in first:
                client.run(statement, STATEMENT_S)
        except HiveError as error:
            client.close()
            raise NoAnswerError(f"no session: {error}") from error
        turn = self.alone if settings.get("path") == TEZ else nullcontext
        return HiveConnection(client, self.declared, turn)


class HiveEngine:
    settings: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {name: SettingValues(values, MEANINGS[name]) for name, (_, values) in KEYS.items()}
    )
    unasked: Mapping[str, str] = MappingProxyType(
        dict.fromkeys((Comparison.NAN, Comparison.NOT_NAN), "Hive's SQL has no word for NaN")
    )

    def statements(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, ...]:
        return statements(question)

    def time_travel(self, distribution: Distribution) -> TimeTravel:
        return TIME_TRAVEL

    def fingerprint_words(self, settings: ReaderSettings) -> FingerprintWords | None:
        return FINGERPRINTS

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        if why := engine_support.cannot_set(distribution, settings):
            return why
        if ORC_BY_POSITION in settings and format_.files != "orc":
            return f"{ORC_BY_POSITION} says nothing of {format_.name} tables"
        if TRANSACTIONS in settings and not format_.transactional:
            return f"{TRANSACTIONS} says nothing of {format_.name} tables, which have none"
        if settings.get(INPUT_FORMAT) == HUDI_COMBINE and "hudi" not in distribution.settings:
            return f"{HUDI_COMBINE} is a class of Hudi, which {distribution.name} does not have"
        if settings.get("path") == TEZ and (why := _lacks_tez(distribution)):
            return why
        return engine_support.missing_library(distribution, settings, format_)

    def by_hand(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> tuple[str, ...]:
        return tuple(f"{statement};" for statement in session_statements(settings))

    def ask_code(self) -> str:
        return code_digest("hive", hive_launcher.__name__)

    def attach(self, distribution: Distribution, endpoint: Endpoint) -> Server:
        """See `api.Attaches`."""
        declared = tolerances.declared_for(distribution.name)
        _, port = endpoint.host_and_port
        return HiveServer(RunsElsewhere(), port, declared, endpoint=endpoint)

    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> AbstractContextManager[HiveServer]:
        progress.note(f"start {runtime.distribution.name}")
        declared = tolerances.declared_for(runtime.distribution.name)
        session_key = str(runtime.distribution.settings.get(SESSION_KEY, ""))
        program = HiveProgram(runtime.distribution, metastore.database, ready_s=READY_S)

        def ready(running: Running, port: int) -> HiveServer:
            server = HiveServer(running, port, declared, session_key)
            with (
                engine_support.metastore_first(metastore.host),
                closing(server.connect({})) as connection,
            ):
                connection.run("show databases", timeout_s=STATEMENT_S)
            _check_properties(program.distribution, running.log_tail(WHOLE_LOG))
            return server

        return runtime.start(program, metastore, folder, ready)


_DATABASE: Final = "javax.jdo.option.Connection"
COMPACTS: Final = {
    f"{_DATABASE}DriverName": "org.apache.derby.jdbc.ClientDriver",
    "hive.compactor.worker.threads": "1",
    "hive.compactor.worker.sleep.time": "100ms",
    "hive.compactor.wait.timeout": "2001",
    "hive.support.concurrency": "true",
    KEYS[TRANSACTIONS][0]: KEYS[TRANSACTIONS][1]["on"],
}
"""The settings of a HiveServer2 that carries out compactions, as that of Hive 4 does: by itself it
looks for one every 10 s. It looks for the end of one every 2 s, which cannot be set to less."""
BY_QUERY: Final = {"hive.execution.engine": TEZ, "hive.compactor.crud.query.based": "true"}
"""With them it compacts by queries, for which it needs Tez (`CompactorFactory` of 4.0.1)."""


@dataclass(frozen=True, slots=True)
class HiveProgram:
    distribution: Distribution
    database: str = ""
    """Of its metastore, by JDBC; with it, it carries out compactions."""
    log: str = "hive.log"
    ready_s: float = READY_S
    not_yet: tuple[type[Exception], ...] = (NoAnswerError, RefusedError)

    def files(self, around: Surroundings) -> Mapping[str, str]:
        values = {
            "port": around.port,
            "host": around.host,
            "metastore": around.metastore,
            "work": around.folder,
            "properties": {**self._compactions(), **self.distribution.options_if_any("site")},
        }
        return {
            "hive-site.xml": template.render("hive", "hive-site.xml", values),
            # Hive looks for a file of this name, whatever Log4j's own property says.
            LOG: template.render("hive", LOG, {"level": "WARN"}),
        }

    def _compactions(self) -> Mapping[str, str]:
        if not self.database:
            return {}
        by_query = BY_QUERY if TEZ in self.distribution.settings else {}
        return {f"{_DATABASE}URL": self.database, **COMPACTS, **by_query}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        return {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        return installation.jars("loader")

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        jvm = (f"-Djava.io.tmpdir={around.folder / 'tmp'}", _LAUNCH, *around.jvm)
        main = (installation.distribution.text("main"),)
        return hive_launcher.command(installation, around.conf, main, jvm)


def _lacks_tez(distribution: Distribution) -> str:
    if distribution.runtime == CONTAINER:
        return "path=tez is asked of processes only: the Tez of an image was never run"
    if TEZ in distribution.settings:
        return ""
    every = (distributions.load(name) for name in distributions.names())
    having = [other.name for other in every if other.engine == "hive" and TEZ in other.settings]
    return f"{distribution.name} does not have Tez; it is in {' and '.join(having)}"


def _check_properties(distribution: Distribution, log: str) -> None:
    """Check that Hive knows the properties that somebody has set: it goes on without them."""
    names = distribution.options_if_any("site")
    if unknown := [name for name in names if f"HiveConf of name {name} does not exist" in log]:
        problem = f"{distribution.name} does not take its configuration"
        raise ProcessProblem(f"{problem}: Hive has no property {', '.join(unknown)}")


ENGINE: Final = HiveEngine()
