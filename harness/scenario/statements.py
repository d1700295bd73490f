"""What a writer is told, as data: Spark SQL, or a call of the metastore or of a library. Pure.

Placeholders stand for what differs between two runs: `{database}`, `{location}`, the absolute path
of the table's folder, and `{instant of step 3}`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from harness.core.runtime_names import DEFAULT_DATABASE, WRITTEN_BUCKET
from harness.model.canonical import Value, text_of
from harness.model.identifiers import TABLE

DATABASE: Final = "{database}"
LOCATION: Final = "{location}"
TABLE_NAME: Final = f"{DATABASE}.{TABLE}"
ALTER_TABLE: Final = f"alter table {TABLE_NAME}"
TABLE_ARGUMENT: Final = f"table => '{TABLE_NAME}'"
"""How procedures get the table."""
PIPE: Final = ".pipe"
"""What the name of the named pipe has behind the path of the table's folder."""
TRANSACTIONS: Final = "{open transactions}"
"""Stands for the numbers of the transactions that have locks of the table."""
LOCK_FOLDER: Final = ".held"
"""The same of the folder of the lock for which a second writer waits."""
COMMIT: Final = "commit"
ABORT: Final = "abort"
"""How the transaction of a batch ends."""


class OwnProgram(StrEnum):
    """A program of ours that carries a statement out: how the text begins that records it."""

    MUTATION = "Mutation API, then "
    HUDI = "write client: "
    ICEBERG = "Iceberg: "
    DELTA = "Delta: "


_INSTANT: Final = re.compile(r"\{instant of step (\d+)\}")


Scalar = str | int | float | bool | None | tuple[str | int | None, ...]
"""What a library is given: Py4J makes Java's values of them."""


@dataclass(frozen=True, slots=True)
class Sql:
    text: str
    in_any_case: bool = False
    """Also sent after a statement of the same step that was refused: it puts a setting back."""
    commits: bool = True
    """Whether it is about the table itself, and not only about the session."""
    by_maker: bool = False
    """Whether the writer that made the table is told, whoever does the step."""
    killed: bool = False
    """Whether its writer is killed when it reads the named pipe beside the table's folder."""

    @property
    def record(self) -> str:
        return f"by the writer that made the table: {self.text}" if self.by_maker else self.text


@dataclass(frozen=True, slots=True)
class _Sent:
    """What is sent to a writer; most of it commits something to the table itself."""

    commits: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class SetColumns(_Sent):
    """Give a table other columns in the metastore; its files stay as they are."""

    columns: tuple[tuple[str, str], ...]
    """Name and Hive type, in order, without partition columns."""
    cascade: bool
    """The existing partitions too."""


@dataclass(frozen=True, slots=True)
class RegisterInStore(_Sent):
    """Make the table known at its address in an object store, as `{database}` in `default`."""

    path: ClassVar[str] = f"s3://{WRITTEN_BUCKET}/{DATABASE}"
    record: ClassVar[str] = (
        f"metastore: register the table as {DEFAULT_DATABASE}.{DATABASE} at {path}"
    )
    commits: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Register(_Sent):
    """Tell the metastore of the table's folder, for a writer that tells it nothing."""

    columns: tuple[tuple[str, str], ...]
    """Name and Hive type."""
    parameters: tuple[tuple[str, str], ...]
    """By which engines know a table of its format."""
    commits: ClassVar[bool] = False

    @property
    def record(self) -> str:
        return f"metastore: register {json.dumps({**dict(self.columns), **dict(self.parameters)})}"


@dataclass(frozen=True, slots=True)
class NameFiles(_Sent):
    """Give the files that Hive wrote a name that tells who did, as those of Spark have it.

    Hive calls the files of every write and partition alike, and no reader goes by their names.
    """

    record: ClassVar[str] = "files: a name for those of this write"
    commits: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class ClientCall(_Sent):
    """A call of Hudi's write client: it changes the table, and tells the metastore nothing."""

    method: str
    """Of `BaseHoodieWriteClient`."""
    arguments: tuple[str, ...]
    """As text: a name, a position, or the Avro schema of a type."""
    options: tuple[tuple[str, str], ...] = ()
    """What the client is told besides the settings of the session."""


@dataclass(frozen=True, slots=True)
class IcebergCall(_Sent):
    """A call of Iceberg's library, for what no SQL of Spark does; see `iceberg_client.py`."""

    method: str
    arguments: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class DeltaCall(_Sent):
    """A call of Delta's library, for what no SQL of Spark does; see `delta_client.py`."""

    method: str

    @property
    def record(self) -> str:
        return f"{OwnProgram.DELTA}{self.method}"


@dataclass(frozen=True, slots=True)
class ArrowFile(_Sent):
    """A Parquet file that PyArrow writes into a folder of the table; no catalog is told."""

    folder: str
    """Relative to the table's; empty for its own."""
    columns: tuple[tuple[str, str], ...]
    """Name and type, in our words, in order."""
    rows: tuple[tuple[Value, ...], ...]
    int96: bool
    """Whether timestamps have 96 bits."""

    @property
    def record(self) -> str:
        names = dict(self.columns)
        rows = [dict(zip(names, map(text_of, row), strict=True)) for row in self.rows]
        content = json.dumps({"columns": names, "rows": rows, "int96": self.int96})
        return f"PyArrow: a file in {LOCATION}/{self.folder}: {content}"


@dataclass(frozen=True, slots=True)
class Mutation(_Sent):
    """A batch of Hive's Streaming Mutation API, which a program of its own sends."""

    columns: tuple[tuple[str, str], ...]
    """Name and Hive type, in order, without partition columns."""
    key: str
    rows: tuple[Mapping[str, object], ...]
    """Each with `do`, `partition` and `row`; see `runtime/mutate.groovy`."""
    ends: str = COMMIT


@dataclass(frozen=True, slots=True)
class LibraryWrite(_Sent):
    """A write by a library of Python, as `PythonLibrary.writes` words it."""

    expression: str
    """In it stands the table as `table`."""

    @property
    def record(self) -> str:
        return f"Python: {self.expression}"


@dataclass(frozen=True, slots=True)
class FrameWrite(_Sent):
    """Write the rows of a query to the table's folder, as a DataFrame."""

    query: str
    format: str
    """As Spark's `DataFrameWriter` calls it."""
    options: tuple[tuple[str, str], ...]
    """Those of the table; what the session is told is told the writer as well."""


@dataclass(frozen=True, slots=True)
class WaitingSql(_Sent):
    """SQL of a second writer, which waits before its commit for somebody to go on."""

    text: str
    settings: tuple[tuple[str, str], ...] = ()
    """What its session is told besides: where its lock is; none: in the metastore."""

    commits: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class ResumeWaiting(_Sent):
    """The second writer goes on."""


class DeathPoint(StrEnum):
    """When the writer of a statement is killed: all files of its write are there then."""

    LOCK = "while it waits for the table's lock"
    """In the metastore: the catalog names none of the files."""
    COMMIT = "when it comes to the commit"
    """Of Delta (see `delta_client.py`): nothing of the new version is there."""
    TRANSACTION = "when it asks the metastore for the commit"
    """Of Hive: the transaction stays open."""


@dataclass(frozen=True, slots=True)
class KilledSql(_Sent):
    text: str
    at: DeathPoint


LibraryCall = (
    SetColumns
    | RegisterInStore
    | Register
    | NameFiles
    | ClientCall
    | IcebergCall
    | DeltaCall
    | ArrowFile
    | Mutation
    | LibraryWrite
    | FrameWrite
)
"""What no SQL does: the metastore does it, or a format's library."""
Statement = Sql | KilledSql | WaitingSql | ResumeWaiting | LibraryCall


def of_table(common: Iterable[str]) -> tuple[Sql, ...]:
    return tuple(Sql(text.replace("{table}", TABLE_NAME)) for text in common)


def under(
    name: str, value: str, usual: str, statements: Sequence[Statement]
) -> tuple[Statement, ...]:
    """Return statements between two that change a setting of the session and put it back.

    `usual`: the value that every step finds, also the one after a refused step.
    """
    back = Sql(f"set {name}={usual}", in_any_case=True, commits=False)
    return (Sql(f"set {name}={value}", commits=False), *statements, back)


def recorded(statement: Statement) -> str:
    """Return the text under which a statement is recorded, placeholders left in."""
    match statement:
        case (
            Sql() | RegisterInStore() | Register() | NameFiles()
            | DeltaCall() | ArrowFile() | LibraryWrite()
        ):  # fmt: skip
            return statement.record
        case KilledSql(text, at):
            return f"killed {at}: {text}"
        case SetColumns(columns, cascade):
            also = ", and of partitions" if cascade else ""
            return f"metastore: set columns {json.dumps(columns)}{also}"
        case ClientCall(method, arguments):
            return f"{OwnProgram.HUDI}{method}({', '.join(map(repr, arguments))})"
        case IcebergCall(method, arguments):
            return f"{OwnProgram.ICEBERG}{method} {json.dumps(dict(arguments))}"
        case Mutation(columns, _, rows, ends):
            content = json.dumps({"columns": dict(columns), "rows": rows})
            return f"{OwnProgram.MUTATION}{ends}: {content}"
        case FrameWrite(query, format_, options):
            return f"DataFrame: {query}; append as {format_} {json.dumps(dict(options))}"
        case WaitingSql(text, settings):
            more = f", told {json.dumps(dict(settings))}" if settings else ""
            return f"another writer, which waits before its commit{more}: {text}"
        case ResumeWaiting():
            return "the other writer commits"


def call_hudi(procedure: str, *arguments: str) -> Sql:
    return Sql(f"call {procedure}({', '.join((TABLE_ARGUMENT, *arguments))})")


def call_iceberg(procedure: str, *arguments: str) -> Sql:
    all_arguments = ", ".join((TABLE_ARGUMENT, *arguments))
    return Sql(f"call spark_catalog.system.{procedure}({all_arguments})")


def programs(texts: Iterable[str]) -> frozenset[OwnProgram]:
    """Return what carried out the statements that are recorded by these texts."""
    return frozenset(
        program for text in texts for program in OwnProgram if text.startswith(program)
    )


def instant_of(step: int) -> str:
    return f"{{instant of step {step}}}"


def instants_in(text: str) -> tuple[int, ...]:
    return tuple(int(step) for step in _INSTANT.findall(text))


def filled(
    text: str, database: str, location: str, instants: Mapping[int, str] | None = None
) -> str:
    """Return a text with its placeholders filled in; `location` stands inside a string literal.

    `instants`: those of the steps; a placeholder of one that made none stays.
    """
    literal = location.replace("\\", "\\\\").replace("'", "\\'")
    filled_in = text.replace(DATABASE, database).replace(LOCATION, literal)
    known = instants or {}
    return _INSTANT.sub(lambda step: known.get(int(step[1])) or step[0], filled_in)
