"""The checks that every reader must pass, and the engine that is checked."""

from __future__ import annotations

import datetime
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

import psutil

from harness.conformance import table
from harness.conformance.results import CheckResult, failed, not_applicable, passed
from harness.core.counting import counted
from harness.core.errors import HarnessError
from harness.core.records import Column
from harness.core.tolerances import Declared
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
from harness.judge.understand import MILLISECONDS, milliseconds
from harness.model.canonical import Value, same, text_of
from harness.model.query import ALL, Query
from harness.read.reader_servers import TIMEOUT_S
from harness.runtime import container_network, docker_daemon
from harness.runtime.api import Running
from harness.runtime.process import LOOPBACK

GONE_S: Final = 15.0
"""How long something that was ended may take to be gone."""
LOOK_S: Final = 0.2

PROCESS: Final = "process"
PORT: Final = "port"
OBJECTS: Final = "container"
LEFTOVER_ASSERTS: Final[Mapping[str, str]] = {
    PROCESS: "no process is left, however a server ended",
    PORT: "nobody listens on its port any more",
    OBJECTS: "no container, volume or network is left",
}


@dataclass(frozen=True, slots=True)
class DockerObjects:
    """What there is at the Docker daemon."""

    containers: frozenset[str] = frozenset()
    """Those of this harness."""
    mounted: frozenset[str] = frozenset()
    """The volumes that these have."""
    volumes: frozenset[str] = frozenset()
    """All volumes, anybody's: they bear no label."""


def docker_objects() -> DockerObjects:
    """Return what there is at the Docker daemon.

    Raises EnvironmentProblem: none answers.
    """
    label = f"{container_network.OWNER}={container_network.shared().owner}"
    with closing(docker_daemon.client()) as client:
        containers = client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
        mounts = (mount for container in containers for mount in container.attrs["Mounts"])
        return DockerObjects(
            frozenset(str(container.name) for container in containers),
            frozenset(str(mount["Name"]) for mount in mounts if mount["Type"] == "volume"),
            frozenset(str(volume.name) for volume in client.volumes.list()),
        )


class Leftovers:
    """Looks for what the servers of one reader leave behind."""

    def __init__(self, look: Callable[[], DockerObjects] | None = None) -> None:
        """`look`: returns what there is at the Docker daemon; None where it is not asked."""
        self.left: dict[str, list[str]] = {name: [] for name in LEFTOVER_ASSERTS}
        self._look = look or DockerObjects
        self._contained = look is not None
        self._running: tuple[psutil.Process, ...] = ()
        self._port = 0
        self._mounted: frozenset[str] = frozenset()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look for what is left, however the context ends, of what began in it."""
        before, there = _children(), self._look()
        self.note(0)
        try:
            yield
        finally:
            self._end(before, there)

    def _end(self, before: Sequence[psutil.Process], there: DockerObjects) -> None:
        running = [process for process in self._running if process not in before]
        psutil.wait_procs(running, timeout=GONE_S)
        known = {*before, *running}
        later = [child for child in _children() if child not in known]
        self.left[PROCESS] += [_named(process) for process in (*running, *later) if _runs(process)]
        if self._port and not until(lambda: not _listened_on(self._port), GONE_S):
            self.left[PORT].append(f"{LOOPBACK}:{self._port}")
        now = self._look()
        volumes = (self._mounted - there.mounted) & now.volumes
        self.left[OBJECTS] += sorted(now.containers - there.containers)
        self.left[OBJECTS] += [f"volume {volume}" for volume in sorted(volumes)]

    def note(self, port: int) -> None:
        """Note what runs, while a server does; `port`: its own, 0 where it has none."""
        self._running, self._port = tuple(_children()), port
        self._mounted = self._look().mounted

    def close_network(self) -> None:
        """Remove the network when no container needs it any more, and look whether it is gone."""
        if self._contained:
            self.left[OBJECTS] += sorted(self._look().containers)
            network = container_network.shared()
            network.close()
            if network.owner in container_network.owners():
                self.left[OBJECTS].append("a network")

    def results(self) -> Mapping[str, CheckResult]:
        """Return the result of each check."""
        by_check = {
            name: failed(f"left: {', '.join(left)}") if left else passed()
            for name, left in self.left.items()
        }
        if not self._contained:
            by_check[OBJECTS] = not_applicable("it runs as a process")
        return by_check


def _children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return f"{process.name()} ({process.pid})"
    except psutil.NoSuchProcess:
        return str(process.pid)


def until(condition: Callable[[], bool], most_s: float) -> bool:
    """Wait for a condition; return whether it came true in time."""
    deadline = time.monotonic() + most_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_S)
    return True


def _listened_on(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(LOOK_S)
        return probe.connect_ex((LOOPBACK, port)) == 0


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CheckedEngine:
    """A server of the reader that is checked, and the tables of one format in its metastore."""

    server: Server
    settings: ReaderSettings
    endless: Callable[[Question], str]
    """Returns a statement that takes years, of a question that counts the rows of a table."""
    database: str = ""
    format: str = table.HIVE
    declared: Declared = field(default_factory=dict)
    """The declared differences of its product."""
    running: Running | None = None
    """The process or container; None where it runs inside of the harness's own process."""
    timeout_s: float = TIMEOUT_S
    """After so long a question counts as unanswered."""

    @property
    def columns(self) -> table.Columns:
        return table.columns(self.format)

    def question(self, query: Query = ALL, table_name: str = table.TYPES) -> Question:
        return Question(self.database, table_name, facts(self.format), query)

    def connect(self) -> Connection:
        return self.server.connect(self.settings)

    def ask(self, query: Query = ALL) -> Reply:
        """Ask in a session of its own; raises as `Connection.ask` does."""
        with closing(self.connect()) as connection:
            return connection.ask(self.question(query), timeout_s=self.timeout_s)

    def ask_endless(self, connection: Connection, timeout_s: float) -> Reply:
        question = self.question(Query(count=True), table.MANY)
        tables = [(question.database, question.table)]
        return connection.run(self.endless(question), timeout_s=timeout_s, tables=tables)


def endless_sql(count: str) -> str:
    """Return SQL that would take years: all pairs of pairs of the rows that are to be counted.

    >>> endless_sql("select count(*) from t")
    'select count(*) from t a, t b, t c, t d where a.n + b.n + c.n + d.n < 0'
    """
    start, _, source = count.rpartition(" from ")
    tables = ", ".join(f"{source} {name}" for name in "abcd")
    return f"{start} from {tables} where a.n + b.n + c.n + d.n < 0"


def endless_python(expression: str) -> str:
    """Return an expression of Python that asks the same again and again, without end."""
    return f"[None for _ in iter(int, 1) if ({expression}) is None]"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that every reader must do."""

    name: str
    asserts: str
    """A sentence for people."""
    look: Callable[[CheckedEngine], CheckResult]
    reads: bool = True
    """Whether it is about tables, so that it is made for each format."""
    after_end: bool = False
    """Whether it says something of a server that has ended, too."""


SESSIONS: Final = 4
NOT_THERE: Final = "no_such"


def ready(on: CheckedEngine) -> CheckResult:
    """Check that the first question is answered as soon as the server counts as ready."""
    rows = on.ask(Query(count=True)).rows
    return passed() if rows == ((2,),) else failed(f"the count of two rows was {rows}")


def types(on: CheckedEngine) -> CheckResult:
    """Check the columns without parts: name, type and value."""
    return _values(on, on.ask(), lambda type_: "<" not in type_)


def nested(on: CheckedEngine) -> CheckResult:
    """Check structs, arrays and maps, with NULLs in them."""
    return _values(on, on.ask(), lambda type_: "<" in type_)


def nulls(on: CheckedEngine) -> CheckResult:
    """Check that a row of NULLs is a row of NULLs."""
    rows = on.ask().rows
    empty = [row for row in rows if row and row[0] is None]
    if len(empty) != 1:
        counts = f"of {counted(len(rows), 'row')} {len(empty)} begin with NULL"
        return failed(f"{counts}, and one was written so")
    names = [name for name, _, _ in on.columns]
    there = [f"{n}: {text_of(v)}" for n, v in zip(names, empty[0], strict=False) if v is not None]
    return failed(f"no NULL in {'; '.join(there)}") if there else passed()


def restart(on: CheckedEngine) -> CheckResult:
    """Check that another server answers as the first one must."""
    results = (_values(on, on.ask(), lambda _: True), nulls(on))
    return next((result for result in results if result.outcome != passed().outcome), passed())


def refused(on: CheckedEngine) -> CheckResult:
    """Check that errors come as refusals which say what is wrong, and the session goes on."""
    kinds = []
    count = on.question(Query(count=True))
    with closing(on.connect()) as session:
        for what, question in _wrong_questions(on):
            try:
                rows = _sent(session, question, on.timeout_s).rows
                return failed(f"{what} was answered with {rows}")
            except RefusedError as error:
                kinds.append(error.refusal.kind)
                if not (error.refusal.kind and error.refusal.message):
                    return failed(f"{what} was refused without a reason: {error}")
            if session.ask(count, timeout_s=on.timeout_s).rows != ((2,),):
                return failed(f"after {what} the session answered otherwise")
    return passed(", ".join(dict.fromkeys(kinds)))


def sessions(on: CheckedEngine) -> CheckResult:
    """Check that sessions that are open at once are each answered what they asked."""
    asked = [(name, type_) for name, type_, _ in on.columns][:SESSIONS]
    together = threading.Barrier(SESSIONS)
    with ExitStack() as stack, ThreadPoolExecutor(SESSIONS) as threads:
        opened = [stack.enter_context(closing(on.connect())) for _ in asked]

        def ask(at: int) -> Reply:
            together.wait(on.timeout_s)
            question = on.question(Query(columns=(asked[at][0],)))
            return opened[at].ask(question, timeout_s=on.timeout_s)

        replies = list(threads.map(ask, range(SESSIONS)))
    wrong = [
        f"session {at}: {result.seen}"
        for at, reply in enumerate(replies)
        if (result := _values(on, reply, lambda _: True, (asked[at][0],))).seen
    ]
    return failed("; ".join(wrong)) if wrong else passed(f"{SESSIONS} at once")


def _sent(session: Connection, question: Question | str, timeout_s: float) -> Reply:
    if isinstance(question, str):
        return session.run(question, timeout_s=timeout_s)
    return session.ask(question, timeout_s=timeout_s)


def _wrong_questions(on: CheckedEngine) -> tuple[tuple[str, Question | str], ...]:
    return (
        ("a table that is not there", on.question(table_name=NOT_THERE)),
        ("a column that is not there", on.question(Query(columns=(NOT_THERE,)))),
        ("what is no statement", "selec 1"),
    )


def _values(
    on: CheckedEngine, reply: Reply, compares: Callable[[str], bool], names: Sequence[str] = ()
) -> CheckResult:
    """Compare an answer, which has the columns of these names, or all, with what was written."""
    written = [column for column in on.columns if not names or column[0] in names]
    names_seen = [column.name for column in reply.columns]
    if names_seen != [name for name, _, _ in written]:
        return failed(f"the columns were {', '.join(names_seen)}")
    full = [row for row in reply.rows if row[0] is not None]
    if (len(full), len(reply.rows)) != (1, 2):
        return failed(
            f"{counted(len(reply.rows), 'row')}, {len(full)} of them with values, instead of 2, 1"
        )
    compared = zip(written, reply.columns, full[0], strict=True)
    unlike = [
        f"{name}: {text}"
        for (name, type_, value), column, answered in compared
        if compares(type_) and (text := _unlike(column, answered, type_, _shown(on, value)))
    ]
    return failed("; ".join(unlike)) if unlike else passed()


def _unlike(column: Column, answered: Value, type_: str, value: Value) -> str:
    """Return how a value or its type is not what was written; empty where it is."""
    if column.canonical != type_:
        return f"type {column.canonical or column.type} instead of {type_}"
    return "" if same(answered, value) else f"{answered!r} instead of {value!r}"


def _shown(on: CheckedEngine, value: Value) -> Value:
    """Return a value as the product can show it."""
    if isinstance(value, datetime.datetime) and MILLISECONDS in on.declared:
        return milliseconds(value)
    return value


READ_CHECKS: Final = (
    Check("ready", "the first question is answered once it counts as ready", ready),
    Check("types", "values and types of every type are as they were written", types),
    Check("nulls", "a row of NULLs of every type is a row of NULLs", nulls),
    Check("nested", "so are structs, arrays and maps, with NULLs inside", nested),
    Check("refused", "an error is a refusal with its reason; the session goes on", refused),
    Check("sessions", f"{SESSIONS} sessions at once are answered what each asked", sessions),
)
RESTART: Final = Check("restart", "a server that is started anew answers the same", restart)

ENDLESS_S: Final = 8.0
"""How long to wait for a question that has no end."""
WINDOW_S: Final = 4.0
"""How long the use of processors is measured."""
QUIET_S: Final = 60.0
"""How long a server may go on with a question that nobody waits for."""
QUIETER: Final = 4
"""By which factor a quiet server uses its processors less than with the question."""
DEATH_S: Final = 30.0
"""How soon a death is noticed, and a question must be under way."""
IN_PROCESS: Final = "it runs inside of the harness's own process"


def time_out(on: CheckedEngine) -> CheckResult:
    """Check that a question without end gets neither answer nor refusal; the server goes on."""
    silence, problem = _ask_endless(on, ENDLESS_S)
    if problem:
        return failed(problem)
    if not on.server.alive():
        return passed(f"{silence} (its server was ended)")
    rows = on.ask(Query(count=True)).rows
    return passed(silence) if rows == ((2,),) else failed(f"afterwards it answered {rows}")


def cancel(on: CheckedEngine) -> CheckResult:
    """Check that the server does not go on with a question that nobody waits for."""
    if on.running is None:
        return not_applicable(IN_PROCESS)
    if not on.server.alive() or on.server.exhausted():
        return not_applicable("after a question that takes too long another server is asked")
    before, began = on.running.cpu_s(), time.monotonic()
    _, problem = _ask_endless(on, ENDLESS_S)
    if problem:
        return failed(problem)
    busy = (on.running.cpu_s() - before) / (time.monotonic() - began)
    quiet = _least_use(on.running, busy / QUIETER)
    used = f"{busy:.2f} processors with the question, {quiet:.2f} without"
    return passed(used) if quiet <= busy / QUIETER else failed(f"it goes on: {used}")


def crash(on: CheckedEngine) -> CheckResult:
    """Check that a server that dies while it is asked gives neither answer nor refusal."""
    running = on.running
    if running is None:
        return not_applicable(IN_PROCESS)
    outcomes = list[tuple[str, str]]()
    ask = threading.Thread(
        target=lambda: outcomes.append(_ask_endless(on, on.timeout_s)), daemon=True
    )
    before = running.cpu_s()
    ask.start()
    until(lambda: running.cpu_s() > before + 1 or not ask.is_alive(), DEATH_S)
    running.stop(0)
    ask.join(DEATH_S)
    if not outcomes:
        return failed(f"its death was not noticed within {DEATH_S:.0f} s")
    ((silence, problem),) = outcomes
    if problem:
        return failed(problem)
    if not until(lambda: not on.server.alive(), DEATH_S):
        return failed("a server that was killed counts as alive")
    try:
        on.connect().close()
    except NoAnswerError:
        return passed(silence)
    return failed("a server that was killed opened another session")


def _ask_endless(on: CheckedEngine, timeout_s: float) -> tuple[str, str]:
    """Return why there was no answer, as is right (its first line), or what happened instead."""
    try:
        with closing(on.connect()) as session:
            rows = on.ask_endless(session, timeout_s).rows
    except NoAnswerError as silence:
        return str(silence).partition("\n")[0], ""
    except RefusedError as refused:
        return "", f"a missing answer was reported as a refusal: {refused}"
    except HarnessError as broke:
        return "", f"a missing answer was reported as a failure of the harness: {broke}"
    return "", f"a question without end was answered with {rows}"


def _least_use(running: Running, enough: float) -> float:
    """Return the least use of processors over a window; no more are looked at when it is enough."""
    until, least = time.monotonic() + QUIET_S, float("inf")
    while least > enough and time.monotonic() < until:
        before, began = running.cpu_s(), time.monotonic()
        time.sleep(WINDOW_S)
        least = min(least, (running.cpu_s() - before) / (time.monotonic() - began))
    return least


FAULT_CHECKS: Final = (
    Check("time-out", "a question that takes too long has no answer", time_out, reads=False),
    Check("cancel", "nor does its server go on with it", cancel, reads=False, after_end=True),
    Check("crash", "a server that dies while it is asked gave no answer", crash, reads=False),
)
