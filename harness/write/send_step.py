"""Second stage of writing: the statements of a step are sent to its writer, and have an outcome.

That a statement raised says nothing of its commit: the table's own records do.
"""

import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Protocol
from uuid import uuid4

from harness.core import refusals
from harness.core.arrow import pa, pq
from harness.core.errors import HarnessError
from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.arrow_values import arrow_type
from harness.engines.spark.session import Library, Session, Spark
from harness.formats.api import NO_COMMIT, Committed, FileFactError
from harness.formats.hive.format import staged
from harness.formats.iceberg.table import POINTER
from harness.model.canonical import MapValue, Value
from harness.model.datatypes import parse_type
from harness.model.file_facts import FileFact
from harness.model.identifiers import TABLE
from harness.model.simulation.column_resolution import META
from harness.runtime.metastore_client import Catalog, CatalogRefusedError
from harness.runtime.metastore_objects import (
    CatalogEntry,
    CatalogHistory,
    plain_entry,
    with_parameters,
)
from harness.runtime.process import ProcessProblem
from harness.scenario.operations.api import StepTrace
from harness.scenario.operations.spark_sql import quoted
from harness.scenario.statements import (
    LOCATION,
    LOCK_FOLDER,
    PIPE,
    TRANSACTIONS,
    ArrowFile,
    ClientCall,
    DeathPoint,
    DeltaCall,
    FrameWrite,
    IcebergCall,
    KilledSql,
    LibraryCall,
    LibraryWrite,
    Mutation,
    NameFiles,
    Register,
    RegisterInStore,
    ResumeWaiting,
    SetColumns,
    Sql,
    Statement,
    WaitingSql,
    filled,
)
from harness.write import state_records, stopped_writer
from harness.write.next_step import NextStep, VariantOutcomes
from harness.write.stopped_writer import NotWaitingError, WaitingWrite
from harness.write.writer_pool import SqlSession, SqlWriter, WriteTarget


def write_parquet(table: Path, file: ArrowFile) -> Path:
    """Write it under a name as Spark gives it, by which Hive's tables know who wrote a file."""
    fields = [pa.field(name, arrow_type(parse_type(text))) for name, text in file.columns]
    values = [
        pa.array([_plain(row[at]) for row in file.rows], field.type)
        for at, field in enumerate(fields)
    ]
    path = table / file.folder / f"part-00000-{uuid4()}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.Table.from_arrays(values, schema=pa.schema(fields)),
        path,
        use_deprecated_int96_timestamps=file.int96,
    )
    return path


HIVE_FILE: Final = re.compile(r"\d{6}_\d+(_copy_\d+)?")


def name_files(table: Path) -> None:
    """Name the files that Hive wrote last as Spark names its own; see `NameFiles`."""
    job = f"part-00000-{uuid4()}"
    for path in sorted(table.rglob("*")):
        if HIVE_FILE.fullmatch(path.name) and path.is_file() and not staged(path, table):
            path.rename(path.with_name(f"{job}-{path.name}"))
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def _plain(value: Value) -> object:
    match value:
        case MapValue():
            return [(_plain(key), _plain(pair)) for key, pair in value.pairs]
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case tuple():
            return [_plain(element) for element in value]
    return value


@dataclass(frozen=True, slots=True)
class TableRecords:
    """What a table's own records and the catalog say at one moment."""

    committed: Committed = field(default_factory=Committed)
    entries: tuple[CatalogEntry, ...] = ()
    unclear: str = ""
    """Why the records do not tell; empty where they do."""
    trace: StepTrace | None = None
    """The one field of `committed` that tells of the step; empty for those of writes and schema."""

    @property
    def done(self) -> object:
        """What tells that the step was done: equal before and after what did nothing."""
        return getattr(self.committed, self.trace) if self.trace else self.committed

    @property
    def columns(self) -> Sequence[object]:
        return [(entry.name, entry.columns) for entry in self.entries if entry.name == TABLE]

    def behind(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the entries that list other columns; these are in lower case, without types."""
        listed = {entry.name: [name.lower() for name, _ in entry.columns] for entry in self.entries}
        expected = list(columns)
        return tuple(
            entry
            for entry, names in listed.items()
            if [name for name in names if name not in META] != expected
        )


@dataclass(frozen=True, slots=True)
class Raised:
    """A statement that was answered with an error."""

    refusal: Refusal
    statement: Statement
    later: tuple[Statement, ...]
    """Those of the step that were not sent."""
    before: TableRecords
    """The records before the statement."""


@dataclass(frozen=True, slots=True)
class StepResult:
    kind: OutcomeKind
    because: str = ""
    """Why it is not known."""


APPLIED = StepResult(OutcomeKind.APPLIED)
REFUSED = StepResult(OutcomeKind.REFUSED)


def unknown(why: str) -> StepResult:
    return StepResult(OutcomeKind.UNKNOWN, why)


def result_of_error(
    raised: Raised, before: TableRecords, after: TableRecords, *, schema: bool = False
) -> StepResult:
    """Return what became of a step after the creation; `schema`: whether the catalog is told."""
    if why := before.unclear or raised.before.unclear or after.unclear:
        return unknown(why)
    earlier = raised.before.done != before.done
    changed = after.done != raised.before.done
    if not (earlier or changed):
        same = after.columns == before.columns
        why = "the catalog has other columns since, and the table's own records have no such change"
        return REFUSED if same else unknown(why)
    if any(statement.commits for statement in raised.later) or (
        raised.statement.commits and not changed
    ):
        return unknown("a part of its statements was committed")
    if schema and after.columns == before.columns:
        return unknown("the table's own records have other columns since, and the catalog has not")
    return APPLIED


def result_of_creation(after: TableRecords, wrong: str) -> StepResult:
    """Return what became of the creation of a table, which is `wrong` unless that is empty."""
    if not any(entry.name == TABLE for entry in after.entries):
        return REFUSED
    return unknown(f"the catalog has the table, and {wrong}") if wrong else APPLIED


def send_batch(statement: Mutation, session: SqlSession, database: str, timeout_s: float) -> None:
    """Send a batch ("HCatalog Streaming Mutation API"), for which rows' `ROW__ID` is looked up."""
    if session.mutations is None:
        raise HarnessError("this writer names no library of mutations")
    key = quoted(statement.key)
    # In order, since that takes a job: without one, Hive 3.1.3 shows NULL for 1 in 20 of them while
    # another session of the server fetches rows as well (`IOContextMap` is the whole process's).
    sql = f"select ROW__ID, {key} from {database}.{TABLE} order by {key}"
    rows = session.run(sql, timeout_s=timeout_s).rows
    if any(text is None for text, _ in rows):
        raise NoAnswerError("the server told no ROW__ID of some rows")
    ids = {key: json.loads(text) for text, key in rows}
    parts = ("writeid", "bucketid", "rowid")
    row_ids = {key: [row_id[part] for part in parts] for key, row_id in ids.items()}
    names = [name for name, _ in statement.columns]
    request = {
        "database": database,
        "table": TABLE,
        "columns": names,
        "types": [kind for _, kind in statement.columns],
        "buckets_by": [names.index(statement.key)],
        "rows": [
            {**row, "id": row_ids.get(row["row"][statement.key])}  # type: ignore[index]
            for row in statement.rows
        ],
        "ends": statement.ends,
    }
    try:
        refusal = session.mutations.run(request, timeout_s)
    except ProcessProblem as problem:
        raise NoAnswerError(str(problem)) from problem
    if refusal is not None:
        raise RefusedError(refusal, 0.0)


DID_NOTHING: Final = "did nothing"
"""The kind of a refusal that no engine put into words."""
NO_ERROR: Final = "no error was answered"


REFUSALS: Final = (RefusedError, CatalogRefusedError)
"""A statement was answered with an error."""


class WriterFor(Protocol):
    """`WriterPool.writer`: a process that died is replaced between two statements."""

    def __call__(self, name: str, number: int = 1, /) -> Spark | SqlWriter:
        """Return the running process of a distribution, the first or the second one."""


class StepSender:
    """Sends the steps of one variant, in one session for each writer in turn."""

    def __init__(
        self, outcomes: VariantOutcomes, target: WriteTarget, client: Catalog, writer_for: WriterFor
    ) -> None:
        """Open nothing yet; `client` is a connection to the target's metastore."""
        self._variant = outcomes.variant
        self._shape = outcomes.shape
        self._session_settings = outcomes.session
        self._handover_version = outcomes.handover_version
        self._target = target
        self._client = client
        self._writer_for = writer_for
        self._session: tuple[str, Session | SqlSession] | None = None
        self._waiting: WaitingWrite | None = None
        self._instants: dict[int, str] = {}

    def send(self, step: NextStep, files: Sequence[FileFact]) -> Outcome:
        """Send a step; refusals and silence are outcomes. `files`: the table's before it."""
        began, before = time.monotonic(), TableRecords()
        refusal, result = None, APPLIED
        try:
            refusal = self._hand_over(step)
            before = self._records(step)
            if refusal is not None:
                result = REFUSED
            elif raised := self._run_all(step, before):
                refusal, result = raised.refusal, self._result_of_error(raised, step, before)
            elif refusal := self._undone(step, before, files):
                result = REFUSED
        except (NoAnswerError, NotWaitingError) as silence:
            result = unknown(str(silence))
        if refusal is not None and (because := refusals.machine_shortage(refusal)):
            result = unknown(because)
        elif refusal is not None and result.because:
            result = replace(
                result, because=f"{result.because}; the error: {refusals.text(refusal)}"
            )
        made = self._made_since(before)
        if step.trace is StepTrace.BEGUN and result.kind is not OutcomeKind.UNKNOWN:
            # It was meant to fail: its error is no news.
            if made:
                result = unknown("the write was meant to fail, and was committed")
            refusal = None if made or result == APPLIED else refusal
        instant = made[-1] if made and result == APPLIED else ""
        self._instants[step.step] = instant
        return Outcome(
            step=step.step,
            kind=result.kind,
            instant=instant,
            refusal=None if result.because else refusal,
            because=result.because,
            statements=step.texts,
            seconds=round(time.monotonic() - began, 3),
        )

    def let_go(self) -> None:
        """Let a writer go on that still waits, as no step will do it, and close what is open."""
        self._close_session()
        if self._waiting is not None:
            self._waiting.release()

    def _hand_over(self, step: NextStep) -> Refusal | None:
        """Let the writer of the step before do what comes first; a refusal where it did not."""
        if not step.handover:
            return None
        try:
            for statement in step.handover:
                self._run(statement, self._variant.writers[step.step - 1])
        except REFUSALS as answer:
            return answer.refusal
        asked = self._handover_version
        undone = self._shape.missing_effect(self._target.table, asked, ()) if asked else ""
        return Refusal(DID_NOTHING, f"{NO_ERROR}; {undone}") if undone else None

    def _run_all(self, step: NextStep, before: TableRecords) -> Raised | None:
        """Run statements up to the first one that is refused, and those meant for any case."""
        writer = self._variant.writers[step.step]
        for at, statement in enumerate(step.statements):
            records = before if at == 0 else self._records(step)
            try:
                self._run(statement, writer)
            except REFUSALS as answer:
                left = step.statements[at + 1 :]
                for last in left:
                    if isinstance(last, Sql) and last.in_any_case:
                        with suppress(*REFUSALS):  # the first error is the one to tell
                            self._run(last, writer)
                return Raised(answer.refusal, statement, tuple(left), records)
        return None

    def _result_of_error(self, raised: Raised, step: NextStep, before: TableRecords) -> StepResult:
        """Return what became of a step that was answered with an error."""
        after, table = self._records(step), self._target.table
        if step.columns:
            # It changes nothing else, so one that was answered with an error may be done again.
            return REFUSED if after.behind(step.columns) else APPLIED
        if step.step == 0:
            wrong = self._shape.creation_problem(table, self._variant.settings)
            return result_of_creation(after, wrong)
        schema = self._variant.scenario.steps[step.step - 1].operation.CHANGES_SCHEMA
        # A client tells the catalog nothing.
        schema = schema and not isinstance(raised.statement, ClientCall)
        result = result_of_error(raised, before, after, schema=schema)
        if result != APPLIED:
            return result
        key, catalog = self._variant.scenario.table.key, CatalogHistory(after.entries)
        files = state_records.read_files(self._shape, table, key, catalog)
        made = self._made_since(before)
        half = files.layout or self._shape.partial_write(files.facts, made, step.keys)
        return unknown(half) if half else result

    def _records(self, step: NextStep) -> TableRecords:
        entries = tuple(self._client.entries(self._target.database))
        try:
            done = self._shape.committed(self._target.table, entries)
        except FileFactError as problem:
            return TableRecords(entries=entries, unclear=str(problem))
        return TableRecords(done, entries, trace=step.trace)

    def _run(self, statement: Statement, writer: str) -> None:
        target = self._target
        match statement:
            case Sql(text, killed=False):
                sql = self._filled(text)
                sender = self._variant.writers[0] if statement.by_maker else writer
                self._session_of(sender).run(sql, timeout_s=target.timeout_s)
            case KilledSql(text, DeathPoint.TRANSACTION):
                sql, process = self._filled(text), self._writer_for(writer, 2)
                settings = self._session_settings(writer)
                stopped_writer.kill_in_transaction(process, settings, sql, target.timeout_s)
            case Sql() | KilledSql():
                self._run_to_death(statement, writer)
            case WaitingSql():
                self._hold(statement, writer)
            case ResumeWaiting():
                waiting, self._waiting = self._waiting, None
                if waiting is not None:  # else nothing was held, and the table's records tell
                    waiting.commit()
            case _:
                self._call(statement, writer)

    def _call(self, statement: LibraryCall, writer: str) -> None:
        """Do what no SQL does: in the metastore, or by a format's library."""
        target, path = self._target, str(self._target.table)
        match statement:
            case SetColumns() | RegisterInStore() | Register():
                self._tell_metastore(statement)
            case NameFiles():
                name_files(target.table)
            case ClientCall(method, arguments, options):
                named = {"method": method, "arguments": arguments, "options": dict(options)}
                self._ask(Library.HUDI, writer, {**named, "table": TABLE, "path": path})
            case IcebergCall(method, arguments):
                table = f"{target.database}.{TABLE}"
                request = {"method": method, "arguments": dict(arguments), "table": table}
                places = self._ask(Library.ICEBERG, writer, request)
                if isinstance(places, list):
                    self._client.point(target.database, TABLE, POINTER, *map(str, places))
            case DeltaCall(method):
                self._ask(Library.DELTA, writer, {"method": method, "path": path})
            case ArrowFile():
                write_parquet(target.table, statement)
            case Mutation() | LibraryWrite():
                self._write(statement, writer)
            case FrameWrite(query, format_, options):
                # Its writer goes by no setting of the session, and is told all.
                every = {**self._session_settings(writer), **dict(options)}
                texts = {n: filled(value, target.database, path) for n, value in every.items()}
                self._spark_session(writer).append(
                    query, format_, texts, path, timeout_s=target.timeout_s
                )

    def _tell_metastore(self, statement: SetColumns | RegisterInStore | Register) -> None:
        database, path = self._target.database, str(self._target.table)
        match statement:
            case SetColumns(columns, cascade):
                self._client.alter_columns(database, TABLE, columns, cascade=cascade)
            case RegisterInStore(path=template):
                self._client.also_at(database, TABLE, filled(template, database, path))
            case Register(columns, parameters):
                made = plain_entry(TABLE, columns)
                made = with_parameters(made, dict(parameters), {"path": f"file:{LOCATION}"})
                self._client.register(database, (made,), path)

    def _ask(self, library: Library, writer: str, request: Mapping[str, object]) -> object:
        session, timeout_s = self._spark_session(writer), self._target.timeout_s
        return session.call(library, request, timeout_s=timeout_s)

    def _write(self, statement: Mutation | LibraryWrite, writer: str) -> None:
        session, target = self._session_of(writer), self._target
        if not isinstance(session, SqlSession):
            raise HarnessError(f"{writer} takes SQL and calls of Spark's libraries alone")
        match statement:
            case Mutation():
                send_batch(statement, session, target.database, target.timeout_s)
            case LibraryWrite(expression):
                table = (target.database, TABLE)
                session.write(self._filled(expression), table, timeout_s=target.timeout_s)

    def _run_to_death(self, statement: Sql | KilledSql, writer: str) -> None:
        """Send what the process of the writer does not outlive; the next statement has another."""
        session, self._session = self._spark_session(writer), None
        sql, target = self._filled(statement.text), self._target
        ask, process = partial(session.run, sql, timeout_s=target.timeout_s), self._spark(writer)
        match statement:
            case KilledSql(_, DeathPoint.LOCK):
                stopped_writer.kill_at_lock(process, ask, self._client, target.database)
            case KilledSql():
                stopped_writer.kill_at_commit(process, session, ask, target.database)
            case Sql():
                pipe = target.table.with_name(target.table.name + PIPE)
                stopped_writer.kill_at_pipe(process, ask, pipe)

    def _hold(self, statement: WaitingSql, writer: str) -> None:
        """Send a statement to a session of its own, which waits before it commits."""
        target, settings = self._target, {n: self._filled(v) for n, v in statement.settings}
        if not settings:
            sql, options = self._filled(statement.text), self._session_settings(writer)

            def ask() -> object:
                with closing(self._writer_for(writer).open(options)) as session:
                    return session.run(sql, timeout_s=target.timeout_s)

            self._waiting = stopped_writer.begin_at_lock(ask, self._client, target.database)
            return
        session = self._spark(writer, 2).open({**self._session_settings(writer), **settings})
        there = self._inflight()
        self._waiting = stopped_writer.begin_waiting(
            session,
            self._filled(statement.text),
            target.table.with_name(target.table.name + LOCK_FOLDER),
            lambda: self._inflight() != there,
            target.timeout_s,
        )

    def _inflight(self) -> tuple[str, ...]:
        return self._shape.committed(self._target.table, ()).inflight

    def _filled(self, text: str) -> str:
        database = self._target.database
        if TRANSACTIONS in text:
            numbers = " ".join(map(str, self._client.transactions(database, TABLE)))
            text = text.replace(TRANSACTIONS, numbers)
        return filled(text, database, str(self._target.table), self._instants)

    def _close_session(self) -> None:
        """Close the connection to a server; a session of Spark's worker has none of its own."""
        if self._session is not None and isinstance(self._session[1], SqlSession):
            self._session[1].close()
        self._session = None

    def _spark(self, writer: str, number: int = 1) -> Spark:
        """Return the process of a writer that is told more than SQL."""
        process = self._writer_for(writer, number)
        if isinstance(process, SqlWriter):
            raise HarnessError(f"{writer} takes SQL alone")
        return process

    def _spark_session(self, writer: str) -> Session:
        session = self._session_of(writer)
        if isinstance(session, SqlSession):
            raise HarnessError(f"{writer} takes SQL alone")
        return session

    def _session_of(self, writer: str) -> Session | SqlSession:
        if self._session is None or self._session[0] != writer:
            self._close_session()
            self._session = writer, self._writer_for(writer).open(self._session_settings(writer))
        return self._session[1]

    def _undone(
        self, step: NextStep, before: TableRecords, files: Sequence[FileFact]
    ) -> Refusal | None:
        """Return a refusal for a step that says all is well and did not do what there was to do."""
        if step.step == 0:
            wrong = self._shape.creation_problem(self._target.table, self._variant.settings)
            return Refusal("created otherwise", wrong) if wrong else None
        after = self._records(step)
        if step.columns:
            behind = ", ".join(after.behind(step.columns))
            why = f"the catalog does not list the table's columns in their order: {behind}"
            return Refusal(DID_NOTHING, f"{NO_ERROR}; {why}") if behind else None
        if not step.statements or after.unclear or after.done != before.done:
            return None
        operation = self._variant.scenario.steps[step.step - 1].operation
        undone = self._shape.missing_effect(self._target.table, operation, files)
        # What the metastore is told may be what it has: it knows fewer types, and no places.
        sets_columns = any(isinstance(statement, SetColumns) for statement in step.statements)
        undone = undone or (NO_COMMIT if step.changes and not sets_columns else "")
        return Refusal(DID_NOTHING, f"{NO_ERROR}; {undone}") if undone else None

    def _made_since(self, before: TableRecords) -> list[str]:
        """Return the instants of a step itself: what was planned before is of the rows of then."""
        entries = self._client.entries(self._target.database)
        there = self._shape.instants(self._target.table, entries)
        known = {*before.committed.writes, *before.committed.scheduled}
        return [instant for instant in there if instant not in known]
