"""An engine that is a library of Python: it runs in a worker process of its own (`python_worker`).

It asks no catalog: the metastore is asked for the entry of a table, and the worker is given what a
user of the library would give it.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core.arrow import pa
from harness.core.errors import HarnessError
from harness.core.progress import Progress
from harness.core.records import Column, Refusal
from harness.engines import python_worker, query_sql
from harness.engines.api import (
    NoAnswerError,
    PlannedReads,
    PointInTime,
    Question,
    ReaderSettings,
    RefusedError,
    Reply,
    Server,
    TimeTravel,
)
from harness.engines.arrow_values import canonical_type, canonical_values
from harness.engines.engine_support import code_digest, connect_to_worker
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.engines.library_writes import LibraryWrites, TableWrite
from harness.runtime import metastore_client
from harness.runtime.api import MetastoreUris, Running, Runtime, Served, Surroundings
from harness.runtime.metastore_client import Catalog, CatalogGoneProblem, CatalogRefusedError

if TYPE_CHECKING:
    import pyarrow

START_S: Final = 60.0
"""How long the start may take; 1 s on an idle machine."""
WORKER: Final = "worker.py"
MAX_TEXT: Final = 4000
PATH: Final = "path"
"""The parameter of an entry's SerDe that names the folder of a table that Spark made (Spark's
`HiveExternalCatalog`, `newHiveCompatibleMetastoreTable` and `storageProperties`)."""
POINTER: Final = "metadata_location"
"""The parameter of an entry that names an Iceberg table's metadata file (Iceberg's
`BaseMetastoreTableOperations`, METADATA_LOCATION_PROP)."""
DELTA_LOG: Final = "_delta_log"
"""The folder that makes a table one of Delta's (Delta's protocol, "Delta Log Entries")."""
Entry = Any
"""Thrift's own entry of a table in the metastore."""
Description = Mapping[str, Any]
"""What the worker is given of a table."""


class TableCatalog(Protocol):
    def of(self, tables: Sequence[tuple[str, str]]) -> Sequence[tuple[tuple[str, str], Entry]]:
        """Return those of the tables that it has, each with its entry.

        Raises NoAnswerError: it is gone. Raises RefusedError: it refused to answer.
        """

    def close(self) -> None:
        """End the session; never raises."""


@dataclass(frozen=True, slots=True)
class PythonLibrary:
    """What a library of Python brings; see `harness.engines.api.Engine`."""

    name: str
    answers: Path
    """The source of what answers in the worker (see `python_worker`), which is sent a `statement`
    or an `expression`, the `tables` as `describe` has them, and `conf`."""
    families: tuple[str, ...]
    statement: Callable[[Question, ReaderSettings], str]
    describe: Callable[[str, str, Entry, PointInTime | None], Description]
    """Returns what the worker is given of a table, by database, name, entry, and what of its past
    the question is about."""
    by_hand_lines: Callable[[ReaderSettings, FormatFacts], tuple[str, ...]]
    words: TimeTravel = field(default_factory=dict, hash=False)
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    setting_families: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """The families that a setting concerns, where it is not all."""
    conf: Callable[[ReaderSettings], Mapping[str, str]] = dict
    """Returns the library's own keys and values for the settings of a reader."""
    refusal: Callable[[str, str], Refusal] = Refusal
    """Makes a refusal of an error's class and text."""
    expressions: Callable[[ReaderSettings], bool] = lambda _: False
    """Whether its statements are expressions of Python; else they are SQL."""
    first: str = "select 1"
    """What it answers as soon as it is ready."""
    files: tuple[str, ...] = ()
    """The kinds of data files that it reads; empty for all."""
    unasked: Mapping[str, str] = field(default_factory=dict, hash=False)
    fingerprints: FingerprintWords | None = None
    """How its SQL asks for them."""
    writes: Mapping[str, LibraryWrites] = field(default_factory=dict, hash=False)
    """What its worker is told of a write, by the family of the tables that it writes to."""
    creates: Callable[[TableWrite], Iterable[str]] = lambda _: ()
    """What it is told to make an empty table, where it makes any."""
    pointer: str = ""
    """The parameter of a table's entry that names what the worker answers to a write with, where
    that is not empty; empty where the table's folder has all."""
    beside: tuple[Path, ...] = ()
    """Sources that `answers` imports."""

    def fingerprint_words(self, settings: ReaderSettings) -> FingerprintWords | None:
        return None if self.expressions(settings) else self.fingerprints

    def statements(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, ...]:
        return (self.statement(question, settings),)

    def time_travel(self, distribution: Distribution) -> TimeTravel:
        return self.words

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        library = format_.family == "hive" or format_.family in distribution.settings
        if format_.family not in self.families or not library:
            return f"{distribution.name} has no reader for {format_.family} tables"
        if self.files and format_.files not in self.files:
            return f"{distribution.name} reads no {format_.files} files"
        for setting in settings:
            if format_.family not in self.setting_families.get(setting, self.families):
                return f"{setting} says nothing of {format_.name} tables"
        return ""

    def by_hand(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> tuple[str, ...]:
        return self.by_hand_lines(settings, format_)

    def ask_code(self) -> str:
        shared = ("arrow_values", "python_library", "python_worker")
        return code_digest(self.name, *(f"harness.engines.{module}" for module in shared))

    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> AbstractContextManager[Server]:
        metastore_client.check(metastore.host)
        catalog = partial(MetastoreEntries, metastore.host)
        return self.serve_tables(runtime, catalog, folder, progress)

    def serve_tables(
        self,
        runtime: Runtime,
        catalog: Callable[[], TableCatalog],
        folder: Path,
        progress: Progress,
    ) -> AbstractContextManager[LibraryServer]:
        """Start a worker that knows the tables of a catalog, which need not be a metastore.

        `catalog`: makes one for each session.
        """
        progress.note(f"start {runtime.distribution.name}")
        program = WorkerProgram(runtime.distribution, self.answers, self.beside)

        def ready(running: Running, port: int) -> LibraryServer:
            server = LibraryServer(running, port, program.token, self, catalog)
            with closing(server.open({})) as first:
                first.run(self.first, timeout_s=START_S)
            return server

        return runtime.start(program, None, folder, ready)


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    distribution: Distribution
    answers: Path
    beside: tuple[Path, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    ready_s: float = START_S
    not_yet: tuple[type[Exception], ...] = (OSError, NoAnswerError, RefusedError)

    @property
    def log(self) -> str:
        return f"{self.distribution.engine}.log"

    def files(self, around: Surroundings) -> Mapping[str, str]:
        sources = {
            WORKER: Path(python_worker.__file__),
            f"{python_worker.ANSWERS}.py": self.answers,
            **{path.name: path for path in self.beside},
        }
        return {name: path.read_text(encoding="utf-8") for name, path in sources.items()}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        # Somebody's own tables may lie in an object store, whose address and keys stand there.
        store = {name: text for name, text in os.environ.items() if name.startswith("AWS_")}
        return {**store, python_worker.TOKEN: self.token}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        return ()

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        # This Python, without what is installed for it (`-S`).
        program = (sys.executable, "-I", "-S", str(around.conf / WORKER))
        return (*program, str(installation.home), around.host, str(around.port))


@dataclass(frozen=True, slots=True)
class LibraryServer(Served):
    port: int
    token: str
    library: PythonLibrary
    catalog: Callable[[], TableCatalog]

    def connect(self, settings: ReaderSettings) -> LibraryConnection:
        try:
            return self.open(settings)
        except OSError as problem:
            raise NoAnswerError(f"{problem}; its log:\n{self.log_tail()}") from None

    def open(self, settings: ReaderSettings) -> LibraryConnection:
        hello = (python_worker.HELLO, python_worker.HELLO_S)
        connection = connect_to_worker(self.port, self.token, *hello)
        return LibraryConnection(self.running, connection, self.library, self.catalog(), settings)


class LibraryConnection:
    def __init__(
        self,
        running: Running,
        connection: socket.socket,
        library: PythonLibrary,
        catalog: TableCatalog,
        settings: ReaderSettings,
    ) -> None:
        self._running = running
        self._connection = connection
        self._answers = connection.makefile("rb")
        self._library = library
        self._catalog = catalog
        self._settings = settings
        self._conf = library.conf(settings)

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        return self._reply(*self.rows(question, timeout_s=timeout_s))

    def rows(self, question: Question, *, timeout_s: float) -> tuple[pyarrow.Table, float, str]:
        """Return an answer as Arrow has it, the seconds, and what was sent; raises as `ask`."""
        tables = [(question.database, question.table)]
        statement = self._library.statement(question, self._settings)
        return *self._answered(statement, tables, question.past, timeout_s), statement

    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        return self._reply(*self._answered(statement, tables, None, timeout_s), statement)

    def write(self, expression: str, table: tuple[str, str], *, timeout_s: float) -> None:
        """Let the worker evaluate what `PythonLibrary.writes` says of a table; raises as `run`."""
        ((_, entry),) = self._catalog.of([table])
        described = self._library.describe(*table, entry, None)
        result = "table.metadata_location" if self._library.pointer else "None"
        question = {"expression": f"({expression}, {result})[1]", "table": described}
        made, _ = self._result(question, timeout_s)
        if self._library.pointer and isinstance(self._catalog, MetastoreEntries):
            before = entry.parameters.get(self._library.pointer, "")
            (after,) = made.column(0).to_pylist()
            if after:
                self._catalog.point(table, self._library.pointer, before, after)

    def close(self) -> None:
        self._catalog.close()
        with suppress(OSError):
            self._answers.close()
            self._connection.close()

    def _reply(self, table: pyarrow.Table, seconds: float, statement: str) -> Reply:
        confirmed = ", ".join(f"{key}={value}" for key, value in self._conf.items())
        return reply_of(table, seconds, statement, confirmed)

    def _answered(
        self,
        statement: str,
        tables: Sequence[tuple[str, str]],
        past: PointInTime | None,
        timeout_s: float,
    ) -> tuple[pyarrow.Table, float]:
        described = [
            self._library.describe(*name, entry, past) for name, entry in self._catalog.of(tables)
        ]
        kind = "expression" if self._library.expressions(self._settings) else "statement"
        question = {kind: statement, "tables": described, "conf": {**self._conf}}
        return self._result(question, timeout_s)

    def _result(self, question: Mapping[str, Any], timeout_s: float) -> tuple[pyarrow.Table, float]:
        """Return the table that the worker answers with, and the seconds that it took."""
        self._connection.settimeout(timeout_s)
        try:
            head, body = self._answer(question)
        except TimeoutError:
            self._running.stop(grace_s=0)
            why = f"no answer within {timeout_s:g} s; the process was ended"
            raise NoAnswerError(why) from None
        except (OSError, ValueError) as problem:
            raise NoAnswerError(f"{problem}; its log:\n{self._running.log_tail()}") from None
        finally:
            self._running.peak_memory_mb()
        if "broke" in head:
            raise HarnessError(f"the worker failed:\n{head['broke']}")
        if "error" in head:
            class_, text = head["error"]
            raise RefusedError(self._library.refusal(class_, text[:MAX_TEXT]), head["seconds"])
        with pa.ipc.open_stream(body) as reader:
            return reader.read_all(), head["seconds"]

    def _answer(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        self._connection.sendall(json.dumps(question).encode() + b"\n")
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the process ended")
        head = json.loads(line)
        body = self._answers.read(head.get("bytes", 0))
        if len(body) != head.get("bytes", 0):
            raise ConnectionError("the process ended while it answered")
        return head, body


class MetastoreEntries:
    """Tables' entries, each time asked for anew; the connection alone is kept.

    A metastore makes a store of objects for each connection, which costs more than the question
    (Hive's `HiveMetaStore.HMSHandler`, `getMS`).
    """

    def __init__(self, metastore: str) -> None:
        self._metastore = metastore
        self._open = ExitStack()
        self._catalog: Catalog | None = None

    def of(self, tables: Sequence[tuple[str, str]]) -> Sequence[tuple[tuple[str, str], Entry]]:
        if not tables:
            return ()
        before = self._catalog is not None
        try:
            every = [(name, self._connected().table(*name)) for name in tables]
        except CatalogGoneProblem as gone:
            self.close()
            if before:  # what was left alone for long may have been closed
                return self.of(tables)
            raise NoAnswerError(str(gone)) from None
        except CatalogRefusedError as refused:
            raise RefusedError(refused.refusal, 0.0) from None
        return [(name, entry) for name, entry in every if entry is not None]

    def point(self, table: tuple[str, str], parameter: str, before: str, after: str) -> None:
        """Change what a parameter of an entry names; raises RefusedError: it names another one."""
        try:
            self._connected().point(*table, parameter, before, after)
        except CatalogRefusedError as refused:
            raise RefusedError(refused.refusal, 0.0) from None

    def _connected(self) -> Catalog:
        if self._catalog is None:
            self._catalog = self._open.enter_context(metastore_client.connect(self._metastore))
        return self._catalog

    def close(self) -> None:
        self._catalog = None
        self._open.close()


def folder_of(entry: Entry) -> str:
    storage = entry.sd
    location: str = storage.serdeInfo.parameters.get(PATH) or storage.location
    return "/" + location.removeprefix("file:").lstrip("/")


def source_of(entry: Entry) -> tuple[str, str]:
    """Return the family of a table's format, and its metadata file (Iceberg) or its folder."""
    if pointer := entry.parameters.get(POINTER):
        return "iceberg", pointer
    folder = folder_of(entry)
    return ("delta" if (Path(folder) / DELTA_LOG).is_dir() else "hive"), folder


def python_literal(text: str, type_: str, zone: str = "+00:00") -> str:
    """Return the Python of a value; what Python has no literal for is read from its text.

    `zone`: what a timestamp with a zone has behind it; nothing where the format has none.

    >>> python_literal("true", "boolean"), python_literal("1.10", "decimal(10, 2)")
    ('True', "Decimal('1.10')")
    >>> python_literal("2024-01-02 03:04:05", "timestamp")
    "datetime.fromisoformat('2024-01-02T03:04:05+00:00')"
    """
    match type_:
        case "date":
            return f"date.fromisoformat({text!r})"
        case "timestamp" | "timestamp_ntz":
            moment = text.replace(" ", "T") + (zone if type_ == "timestamp" else "")
            return f"datetime.fromisoformat({moment!r})"
        case "boolean":
            return str(text == "true")
        case "tinyint" | "smallint" | "int" | "long":
            return text
        case "float" | "double":
            return repr(float(text))
    return f"Decimal({text!r})" if type_.startswith("decimal") else repr(text)


def arrow_groups(rows: str, columns: Sequence[str]) -> str:
    """Return how many rows each value of a column has, as Arrow counts the rows of a library.

    `columns`: what both are called in the answer.
    """
    counted = f"{rows}.group_by({columns[0]!r}).aggregate([([], 'count_all')])"
    return f"{counted}.rename_columns({[*columns]!r})"


def reply_of(table: pyarrow.Table, seconds: float, sent: str = "", confirmed: str = "") -> Reply:
    every = tuple(
        Column(column.name, str(column.type), canonical_type(column.type))
        for column in table.schema
    )
    values = [canonical_values(column) for column in table.columns]
    return query_sql.reply(every, tuple(zip(*values, strict=True)), seconds, sent, confirmed)
