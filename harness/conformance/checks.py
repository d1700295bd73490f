"""The checks that every reader must pass, as tests for pytest, and the engine that is checked.

`harness.conformance.kit.Servers` has the fixtures. A check that takes `on` is made for each format
that the reader is asked about. Reports say the docstring of a check.
"""

import datetime
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from typing import Final

import pytest

from harness.conformance import table
from harness.core.errors import HarnessError
from harness.core.records import Column
from harness.core.texts import counted
from harness.core.tolerances import MILLISECONDS, Declared, for_format
from harness.engines.api import (
    Connection,
    NoAnswerError,
    Question,
    ReaderSettings,
    RefusedError,
    Reply,
    Server,
)
from harness.formats import facts
from harness.judge.understand import OTHERS, milliseconds
from harness.model.canonical import Value, same, text_of
from harness.model.query import ALL, Query
from harness.read import TIMEOUT_S
from harness.runtime.api import Running
from harness.runtime.process import until

SESSIONS: Final = 4
NOT_THERE: Final = "no_such"
ENDLESS_S: Final = 8.0
"""How long to wait for a question that has no end."""
WINDOW_S: Final = 4.0
QUIET_S: Final = 60.0
"""How long a server may go on with a question that nobody waits for."""
QUIETER: Final = 4
"""By which factor a quiet server uses its processors less than with the question."""
DEATH_S: Final = 30.0
"""How soon a death is noticed, and a question must be under way."""
IN_PROCESS: Final = "it has no process of its own, or none that the harness has started"

Note = Callable[[str, object], None]
"""`record_property` of pytest: notes what was `seen`."""


@dataclass(frozen=True, slots=True)
class KitTables:
    """The tables of one format, and all that is asked about them."""

    database: str
    format: str

    def question(self, query: Query = ALL, table_name: str = table.TYPES) -> Question:
        settings = table.SETTINGS.get(self.format, {})
        return Question(self.database, table_name, facts(self.format), query, settings=settings)

    def wrong(self) -> Mapping[str, Question | str]:
        return {
            "a table that is not there": self.question(table_name=NOT_THERE),
            "a column that is not there": self.question(Query(columns=(NOT_THERE,))),
            "what is no statement": "select )",
        }

    def of_sessions(self) -> Mapping[str, Question]:
        names = [name for name, _, _ in table.columns(self.format)][:SESSIONS]
        return {name: self.question(Query(columns=(name,))) for name in names}

    def questions(self) -> tuple[Question | str, ...]:
        """Return what every reader is asked, but for what has no end."""
        first = self.question(Query(count=True)), self.question()
        return (*first, *self.wrong().values(), *self.of_sessions().values())


@dataclass(frozen=True, slots=True)
class CheckedEngine:
    """A server of the reader that is checked, and the tables of one format in its metastore."""

    server: Server
    settings: ReaderSettings
    endless: Callable[[Question], str]
    """Returns a statement that takes years, of a question that counts the rows of a table."""
    tables: KitTables = KitTables("", table.HIVE)
    declared: Declared = field(default_factory=dict)
    running: Running | None = None
    timeout_s: float = TIMEOUT_S
    no_null_of: tuple[str, ...] = ()
    """The kinds of types of which the engine has no NULL, as its lock data say."""

    @property
    def columns(self) -> table.Columns:
        return table.columns(self.tables.format)

    def connect(self) -> Connection:
        return self.server.connect(self.settings)

    def ask(self, query: Query = ALL) -> Reply:
        """Ask in a session of its own; raises as `Connection.ask` does."""
        with closing(self.connect()) as connection:
            return connection.ask(self.tables.question(query), timeout_s=self.timeout_s)

    def ask_endless(self, timeout_s: float) -> str:
        """Ask what has no end; return why there was no answer (its first line).

        The check fails where anything else comes of it.
        """
        question = self.tables.question(Query(count=True), table.MANY)
        tables = [(question.database, question.table)]
        statement = self.endless(question)
        try:
            with closing(self.connect()) as session:
                rows = session.run(statement, timeout_s=timeout_s, tables=tables).rows
        except NoAnswerError as silence:
            return str(silence).partition("\n")[0]
        except RefusedError as refused:
            pytest.fail(f"a missing answer was reported as a refusal: {refused}")
        except HarnessError as broke:
            pytest.fail(f"a missing answer was reported as a failure of the harness: {broke}")
        pytest.fail(f"a question without end was answered with {rows}")


class TestAnswers:
    """What the first server is asked."""

    def test_ready(self, on: CheckedEngine) -> None:
        """The first question is answered once it counts as ready."""
        rows = on.ask(Query(count=True)).rows
        if rows != ((2,),):
            pytest.fail(f"the count of two rows was {rows}")

    def test_types(self, on: CheckedEngine) -> None:
        """Values and types of every type are as they were written."""
        check_values(on, lambda type_: "<" not in type_)

    def test_nulls(self, on: CheckedEngine, record_property: Note) -> None:
        """A row of NULLs of every type is a row of NULLs."""
        check_nulls(on)
        if on.no_null_of:
            record_property("seen", f"it has no NULL of {', '.join(on.no_null_of)}")

    def test_nested(self, on: CheckedEngine) -> None:
        """So are structs, arrays and maps, with NULLs inside."""
        check_values(on, lambda type_: "<" in type_)

    def test_refused(self, on: CheckedEngine, record_property: Note) -> None:
        """An error is a refusal with its reason; the session goes on."""
        kinds = list[str]()
        count = on.tables.question(Query(count=True))
        with closing(on.connect()) as session:
            for what, question in on.tables.wrong().items():
                try:
                    rows = _send(session, question, on.timeout_s).rows
                except RefusedError as error:
                    kinds.append(error.refusal.kind)
                    if not (error.refusal.kind and error.refusal.message):
                        pytest.fail(f"{what} was refused without a reason: {error}")
                else:
                    pytest.fail(f"{what} was answered with {rows}")
                if session.ask(count, timeout_s=on.timeout_s).rows != ((2,),):
                    pytest.fail(f"after {what} the session answered otherwise")
        record_property("seen", ", ".join(dict.fromkeys(kinds)))

    def test_sessions(self, on: CheckedEngine, record_property: Note) -> None:
        """4 sessions at once are answered what each asked."""
        asked = on.tables.of_sessions()
        together = threading.Barrier(SESSIONS)
        with ExitStack() as stack, ThreadPoolExecutor(SESSIONS) as threads:
            opened = [stack.enter_context(closing(on.connect())) for _ in asked]

            def ask(session: Connection, question: Question) -> Reply:
                together.wait(on.timeout_s)
                return session.ask(question, timeout_s=on.timeout_s)

            replies = list(threads.map(ask, opened, asked.values()))
        wrong = [
            f"session {at}: {difference}"
            for at, (name, reply) in enumerate(zip(asked, replies, strict=True))
            if (difference := difference_of(on, reply, lambda _: True, (name,)))
        ]
        if wrong:
            pytest.fail("; ".join(wrong))
        record_property("seen", f"{SESSIONS} at once")


class TestFaults:
    """What the second server is asked, which does not survive it."""

    def test_restart(self, on: CheckedEngine) -> None:
        """A server that is started anew answers the same."""
        check_values(on, lambda _: True)
        check_nulls(on)

    def test_time_out(self, on: CheckedEngine, record_property: Note) -> None:
        """A question that takes too long has no answer."""
        silence = on.ask_endless(ENDLESS_S)
        if not on.server.alive():
            silence += " (its server was ended)"
        elif (rows := on.ask(Query(count=True)).rows) != ((2,),):
            pytest.fail(f"afterwards it answered {rows}")
        record_property("seen", silence)

    def test_cancel(self, last_engine: CheckedEngine, record_property: Note) -> None:
        """Nor does its server go on with it."""
        running = last_engine.running
        if running is None:
            pytest.skip(IN_PROCESS)
        if not last_engine.server.alive() or last_engine.server.exhausted():
            pytest.skip("after a question that takes too long another server is asked")
        before, began = running.cpu_s(), time.monotonic()
        last_engine.ask_endless(ENDLESS_S)
        busy = (running.cpu_s() - before) / (time.monotonic() - began)
        quiet = _least_use(running, busy / QUIETER)
        used = f"{busy:.2f} processors with the question, {quiet:.2f} without"
        if quiet > busy / QUIETER:
            pytest.fail(f"it goes on: {used}")
        record_property("seen", used)

    def test_crash(self, on: CheckedEngine, record_property: Note) -> None:
        """A server that dies while it is asked gave no answer."""
        running = on.running
        if running is None:
            pytest.skip(IN_PROCESS)
        before = running.cpu_s()

        def kill() -> float:
            until(lambda: running.cpu_s() > before + 1, DEATH_S)
            running.stop(0)
            return time.monotonic()

        with ThreadPoolExecutor(1) as threads:
            killed = threads.submit(kill)
            silence = on.ask_endless(on.timeout_s)
            if time.monotonic() > killed.result() + DEATH_S:
                pytest.fail(f"its death was not noticed within {DEATH_S:.0f} s")
        if not until(lambda: not on.server.alive(), DEATH_S):
            pytest.fail("a server that was killed counts as alive")
        with suppress(NoAnswerError):
            on.connect().close()
            pytest.fail("a server that was killed opened another session")
        record_property("seen", silence)


def _send(session: Connection, question: Question | str, timeout_s: float) -> Reply:
    if isinstance(question, str):
        return session.run(question, timeout_s=timeout_s)
    return session.ask(question, timeout_s=timeout_s)


def check_values(on: CheckedEngine, compares: Callable[[str], bool]) -> None:
    """Compare the columns of these types with what was written."""
    if difference := difference_of(on, on.ask(), compares):
        pytest.fail(difference)


def check_nulls(on: CheckedEngine) -> None:
    rows = on.ask().rows
    empty = [row for row in rows if row and row[0] is None]
    if len(empty) != 1:
        counts = f"of {counted(len(rows), 'row')} {len(empty)} begin with NULL"
        pytest.fail(f"{counts}, and one was written so")
    there = [
        f"{name}: {text_of(value)}"
        for (name, type_, _), value in zip(on.columns, empty[0], strict=False)
        if value is not None and type_.partition("<")[0] not in on.no_null_of
    ]
    if there:
        pytest.fail(f"no NULL in {'; '.join(there)}")


def difference_of(
    on: CheckedEngine, reply: Reply, compares: Callable[[str], bool], names: Sequence[str] = ()
) -> str:
    """Return how an answer, which has the columns of these names, or all, differs from the table.

    Values and types are compared where `compares` says so of the type that was written.
    """
    written = [column for column in on.columns if not names or column[0] in names]
    names_seen = [column.name for column in reply.columns]
    if names_seen != [name for name, _, _ in written]:
        return f"the columns were {', '.join(names_seen)}"
    full = [row for row in reply.rows if row[0] is not None]
    if (len(full), len(reply.rows)) != (1, 2):
        rows = counted(len(reply.rows), "row")
        return f"{rows}, {len(full)} of them with values, instead of 2, 1"
    differences = list[str]()
    for (name, type_, value), column, answered in zip(written, reply.columns, full[0], strict=True):
        if compares(type_) and (text := _difference(on, column, answered, type_, value)):
            differences.append(f"{name}: {text}")
    return "; ".join(differences)


def _difference(
    on: CheckedEngine, column: Column, answered: Value, type_: str, value: Value
) -> str:
    declared = (OTHERS.get(name, ()) for name in for_format(on.declared, on.tables.format))
    if column.canonical != type_ and not any((column.canonical, type_) in of for of in declared):
        return f"type {column.canonical or column.type} instead of {type_}"
    if isinstance(value, datetime.datetime) and MILLISECONDS in on.declared:
        value = milliseconds(value)  # the product can show no more of it
    return "" if same(answered, value) else f"{answered!r} instead of {value!r}"


def _least_use(running: Running, enough: float) -> float:
    """Return the least use of processors over a window; no more are looked at when it is enough."""
    deadline, least = time.monotonic() + QUIET_S, float("inf")
    while least > enough and time.monotonic() < deadline:
        before, began = running.cpu_s(), time.monotonic()
        time.sleep(WINDOW_S)
        least = min(least, (running.cpu_s() - before) / (time.monotonic() - began))
    return least
