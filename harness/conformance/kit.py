"""The conformance kit: what every reader must do, in whichever runtime.

pytest makes the checks. Servers of the reader run one after another: the first is asked and
stopped; the next is asked what never ends, and is killed. What each leaves behind is looked for.
"""

import datetime
import os
import socket
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import psutil
import pytest

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.conformance import checks, table
from harness.conformance.checks import CheckedEngine, KitTables
from harness.conformance.results import CheckOutcome, CheckResult, Conformance, failed, unknown
from harness.core import refusals, tolerances
from harness.core.concurrency import JobThreads
from harness.core.errors import DEFECT, EnvironmentProblem, HarnessError
from harness.core.progress import Count, Progress
from harness.core.runtime_names import CONTAINER, ENDPOINT, MetastoreChoice, in_runtime
from harness.core.texts import counted
from harness.engines.api import Engine, NoAnswerError, Question, RefusedError
from harness.engines.python_library import PythonLibrary
from harness.formats import facts
from harness.model.query import Query
from harness.read.platform_tables import catalog_for
from harness.read.questions import load_engine, text_of
from harness.read.reader_servers import EngineStart, ReadContext, SharedMetastore
from harness.runtime import container_network, docker_daemon, image_choice, metastore
from harness.runtime.api import Served
from harness.runtime.process import LOOPBACK, POLL_S, until
from harness.scenario.cells import Reader
from harness.usage import own_tables
from harness.write.state_store import State

GONE_S: Final = 15.0
"""How long something that was ended may take to be gone."""

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
    containers: frozenset[str] = frozenset()
    mounted: frozenset[str] = frozenset()
    volumes: frozenset[str] = frozenset()
    """All volumes, anybody's: they bear no label."""


def docker_objects() -> DockerObjects:
    """Return what there is at the Docker daemon; EnvironmentProblem: none answers."""
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
        self.problem = ""
        """Why it could not be looked for."""
        self.left: dict[str, list[str]] = {name: [] for name in LEFTOVER_ASSERTS}
        self._look = look or DockerObjects
        self._contained = look is not None
        self._running: tuple[psutil.Process, ...] = ()
        self._port = 0
        self._mounted: frozenset[str] = frozenset()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look for what is left, however the context ends, of what began in it.

        Where that cannot be looked for at the end, the results are unknown.
        """
        before, there = _children(), self._look()
        self.note(0)
        try:
            yield
        finally:
            try:
                self._end(before, there)
            except HarnessError as problem:
                self.problem = str(problem)

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
        if self.problem:
            return dict.fromkeys(self.left, unknown(self.problem))
        by_check = {
            name: failed(f"left: {', '.join(left)}") if left else CheckResult()
            for name, left in self.left.items()
        }
        if not self._contained:
            by_check[OBJECTS] = CheckResult(CheckOutcome.NOT_APPLICABLE, "it runs as a process")
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


def _listened_on(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(POLL_S)
        return probe.connect_ex((LOOPBACK, port)) == 0


WORST_FIRST: Final = (
    *(CheckOutcome.FAILED, CheckOutcome.UNKNOWN),
    *(CheckOutcome.PASSED, CheckOutcome.NOT_APPLICABLE),
)
CHECKS: Final = {
    name.removeprefix("test_").replace("_", "-"): check
    for group in (checks.TestAnswers, checks.TestFaults)
    for name, check in vars(group).items()
    if name.startswith("test_")
}
ASSERTS: Final[Mapping[str, str]] = {
    **{name: check.__doc__[0].lower() + check.__doc__[1:-1] for name, check in CHECKS.items()},
    **LEFTOVER_ASSERTS,
}
"""What each check asserts, in their order."""
PYTEST_ARGUMENTS: Final = (
    *("--pyargs", checks.__name__, "--config-file", os.devnull, "--noconftest", "--assert=plain"),
    *("--disable-plugin-autoload", "--capture=no", "-p", "no:terminal", "-p", "no:cacheprovider"),
    *("-p", "no:logging", "-p", "no:faulthandler", "-p", "no:threadexception"),
)
"""pytest runs the checks whatever the user's own configuration of it is, and prints nothing."""

Serve = Callable[[], AbstractContextManager[Sequence[CheckedEngine]]]
"""Starts a server of the reader that is checked, and stops it at the end of the context; the same
server stands there once for each format that the reader is asked about."""


class Servers:
    """The plugin of pytest that gives the checks a reader's servers, and takes their results.

    Each class of checks gets a server of its own; one that ends before all were made is replaced.
    """

    def __init__(self, formats: Sequence[str], leftovers: Leftovers, count: Count) -> None:
        self.start_s = 0.0
        self.peak_mb = 0
        self._formats, self._leftovers, self._count = formats, leftovers, count
        self._results: dict[str, dict[str, CheckResult]] = {name: {} for name in CHECKS}
        self._engines: Sequence[CheckedEngine] = ()

    def check(self, serve: Serve) -> None:
        self._serve = serve
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            os.environ.pop(name, None)
        pytest.main(list(PYTEST_ARGUMENTS), plugins=[self])

    def results(self) -> Mapping[str, CheckResult]:
        """Return the results of all checks; what was not checked is unknown, with the reason."""
        made = {name: worst(results) for name, results in self._results.items() if results}
        left = self._leftovers.results() if self.start_s else {}
        missing = [name for name in ASSERTS if name not in {**made, **left}]
        reasons = {missing[0]: self._leftovers.problem or "no server got ready"} if missing else {}
        return {
            name: made.get(name) or left.get(name) or unknown(reasons.get(name, ""))
            for name in ASSERTS
        }

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        metafunc.parametrize("format_", self._formats)

    @pytest.fixture(scope="class")
    def server(self) -> Iterator[ExitStack]:
        self._engines = ()
        with ExitStack() as stack:
            yield stack

    @pytest.fixture
    def last_engine(self, server: ExitStack, format_: str) -> CheckedEngine:
        """Return the engine as the check before has left it."""
        del server
        return self._engines[self._formats.index(format_)]

    @pytest.fixture
    def on(self, server: ExitStack, format_: str, request: pytest.FixtureRequest) -> CheckedEngine:
        """Return an engine that lives, to be asked about the tables of a format."""
        at = self._formats.index(format_)
        if not (self._engines and self._engines[0].server.alive()):
            if at:
                pytest.skip("the server ended when it was asked about the format before")
            try:
                self._start(server)
            except HarnessError as problem:
                request.session.shouldstop = str(problem)
                raise
        return self._engines[at]

    def _start(self, server: ExitStack) -> None:
        server.close()
        began = time.monotonic()
        server.enter_context(self._leftovers.watching())
        self._engines = server.enter_context(self._serve())
        self.start_s = self.start_s or time.monotonic() - began
        self._leftovers.note(getattr(self._engines[0].server, "port", 0))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Function, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        error = call.excinfo.value if call.excinfo else None
        if call.when == "teardown" and error:
            self._leftovers.problem = str(error)
        elif call.when == "call" or error:
            name = item.originalname.removeprefix("test_").replace("_", "-")
            result = result_of(error, str(dict(item.user_properties).get("seen", "")))
            self._results[name][item.callspec.id] = result
            self._count.count_result(name, str(result.outcome))
            if self._engines:
                self.peak_mb = max(self.peak_mb, self._engines[0].server.peak_memory_mb())
        return report


def result_of(error: BaseException | None, seen: str = "") -> CheckResult:
    """Return the result of a check that noted what was seen, or ended with an error."""
    match error:
        case None:
            return CheckResult(seen=seen)
        case pytest.skip.Exception():
            return CheckResult(CheckOutcome.NOT_APPLICABLE, str(error))
        case pytest.fail.Exception():
            return failed(str(error))
        case RefusedError():
            return failed(f"refused: {error}")
        case NoAnswerError():
            return failed(f"no answer: {error}")
        case HarnessError():
            return unknown(str(error))
    return unknown(f"{DEFECT} ({error!r})")


def worst(by_format: Mapping[str, CheckResult]) -> CheckResult:
    """Return the worst of the results of a check, with each format that has it."""
    outcomes = {result.outcome for result in by_format.values()}
    outcome = next(outcome for outcome in WORST_FIRST if outcome in outcomes)
    if len(by_format) == 1 or outcome is CheckOutcome.NOT_APPLICABLE:
        return next(iter(by_format.values()))
    seen = [
        f"{name}: {result.seen}"
        for name, result in by_format.items()
        if result.outcome is outcome and result.seen
    ]
    return CheckResult(outcome, "; ".join(seen))


def verify(reader: Reader, cache: Cache, folder: Path, progress: Progress) -> Conformance:
    """Check a reader that reads tables of the kit; what could not be checked is unknown.

    `folder`: the servers' logs and configuration lie below it.
    """
    distribution = distributions.load(reader.distribution)
    formats, _ = table.formats_for(reader)
    catalog = metastore.distribution_for([distribution.name])
    if oldest := metastore.oldest_for(distribution):
        catalog = in_runtime(oldest, distribution.runtime)
    context = ReadContext(cache, folder, progress, metastore=MetastoreChoice(catalog))
    leftovers = Leftovers(docker_objects if distribution.runtime == CONTAINER else None)
    with progress.count(f"check {reader}", len(CHECKS) * len(formats)) as count:
        servers = Servers(formats, leftovers, count)
        try:
            with catalog_for(distribution.name, context) as shared:
                states = {name: table.state(cache, name, progress) for name in formats}
                shared.register(states.values())
                for refusal in shared.refused.values():
                    raise EnvironmentProblem(refusals.text(refusal))
                servers.check(partial(_serve, reader, shared, states))
            leftovers.close_network()
        except HarnessError as problem:
            leftovers.problem = leftovers.problem or str(problem)
    return Conformance(
        str(reader),
        distribution.engine,
        distribution.version,
        distribution.runtime,
        datetime.datetime.now(datetime.UTC).date().isoformat(),
        _fidelity(distribution),
        servers.results(),
        servers.start_s,
        servers.peak_mb,
    )


def endless_sql(count: str) -> str:
    """Return SQL that would take years: all pairs of pairs of the rows that are to be counted.

    The condition holds for some: what can hold for none by the statistics of the files DuckDB 2.0
    answers at once.

    >>> endless_sql("select count(*) from t")
    'select count(*) from t a, t b, t c, t d where a.n + b.n + c.n + d.n = 1998'
    """
    start, _, source = count.rpartition(" from ")
    tables = ", ".join(f"{source} {name}" for name in "abcd")
    return f"{start} from {tables} where a.n + b.n + c.n + d.n = {2 * table.ROWS - 2}"


def endless_python(expression: str) -> str:
    """Return an expression of Python that asks the same again and again, without end."""
    return f"[None for _ in iter(int, 1) if ({expression}) is None]"


def statements(reader: Reader, cache: Cache, progress: Progress) -> Iterator[str]:
    """Yield what a reader is sent when it is checked; the last of each format is cancelled."""
    engine, (formats, _) = load_engine(reader.distribution), table.formats_for(reader)
    for tables in _tables(reader, {name: table.state(cache, name, progress) for name in formats}):
        for asked in tables.questions():
            yield asked if isinstance(asked, str) else text_of(engine, reader, asked)
        yield _endless(reader, engine)(tables.question(Query(count=True), table.MANY))


def _tables(reader: Reader, states: Mapping[str, State]) -> list[KitTables]:
    distribution = distributions.load(reader.distribution)
    there = {name: state.database_in(distribution.warehouse) for name, state in states.items()}
    return [KitTables(own_tables.database(distribution, at), name) for name, at in there.items()]


def _endless(reader: Reader, engine: Engine) -> Callable[[Question], str]:
    in_python = isinstance(engine, PythonLibrary) and engine.expressions(dict(reader.settings))
    make = endless_python if in_python else endless_sql
    return lambda question: make(text_of(engine, reader, question))


@contextmanager
def _serve(
    reader: Reader, shared: SharedMetastore, states: Mapping[str, State]
) -> Iterator[Sequence[CheckedEngine]]:
    planned = frozenset((facts(name), reader.settings) for name in states)
    start = EngineStart(reader.distribution, planned, shared, JobThreads(1))
    distribution = distributions.load(reader.distribution)
    with start.serve() as on:
        ours = distribution.runtime != ENDPOINT
        checked = CheckedEngine(
            on.server,
            dict(reader.settings),
            _endless(reader, on.engine),
            declared=tolerances.declared_for(reader.distribution),
            running=on.server.running if isinstance(on.server, Served) and ours else None,
            timeout_s=on.timeout_s,
            no_null_of=distribution.texts_if_any("no_null_of"),
        )
        yield [replace(checked, tables=tables) for tables in _tables(reader, states)]


def _fidelity(distribution: Distribution) -> str:
    if distribution.runtime != CONTAINER:
        return distribution.fidelity
    try:
        return image_choice.chosen(distribution.name).fidelity
    except KeyError:
        return "no image"


SIGNS: Final = {
    CheckOutcome.PASSED: "yes",
    CheckOutcome.FAILED: "**no**",
    CheckOutcome.NOT_APPLICABLE: "n/a",
    CheckOutcome.UNKNOWN: "?",
}


def page(conformances: Sequence[Conformance], command: str, left: int = 0) -> str:
    """Return the page that a command made, while so many readers are left to be checked."""
    more = f" Not checked yet: {left} more." if left else ""
    checks = [
        (conformance.reader, *(SIGNS[result.outcome] for result in conformance.results.values()))
        for conformance in conformances
    ]
    lines = [
        *("# Conformance of engines", ""),
        *(f"{answer(conformances)}{more} Made with `{command}`.", ""),
        *_table(("reader", *ASSERTS), checks),
        *("", "yes: passed; **no**: failed; n/a: not applicable; ?: unknown.", ""),
        *_table(("check", "what it asserts"), ASSERTS.items()),
    ]
    if noted := [line for conformance in conformances for line in notes(conformance)]:
        lines += ["", *(f"- {_plain(line)}" for line in noted)]
    head = ("reader", "date", "engine", "runtime", "ready after", "peak memory", "what ran")
    lines += ["", *_table(head, map(_facts, conformances))]
    return "\n".join(lines) + "\n"


def answer(conformances: Sequence[Conformance]) -> str:
    bad = [conformance for conformance in conformances if conformance.number(CheckOutcome.FAILED)]
    dark = [conformance for conformance in conformances if conformance.number(CheckOutcome.UNKNOWN)]
    good = sum(conformance not in bad and conformance not in dark for conformance in conformances)
    readers = counted(len(conformances), "reader")
    parts = [f"{good} of {readers} {'conforms' if good == 1 else 'conform'}"]
    parts += [f"failed: {', '.join(conformance.reader for conformance in bad)}"] if bad else []
    parts += [f"unknown: {', '.join(conformance.reader for conformance in dark)}"] if dark else []
    return f"{'; '.join(parts)}."


def notes(conformance: Conformance) -> Iterator[str]:
    """Yield a line for each check that a reader failed, or of which nothing is known."""
    for name, result in conformance.results.items():
        if result.seen and result.outcome in (CheckOutcome.FAILED, CheckOutcome.UNKNOWN):
            yield f"{conformance.reader}, {name}: {result.outcome}: {result.seen}"


def _facts(conformance: Conformance) -> tuple[str, ...]:
    started = (f"{conformance.start_s:.0f} s", f"{conformance.peak_mb} MB")
    engine = f"{conformance.engine} {conformance.version}"
    return (
        conformance.reader,
        conformance.date,
        engine,
        conformance.runtime,
        *(started if conformance.start_s else ("n/a", "n/a")),
        conformance.fidelity,
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(_plain(text).replace('|', chr(92) + '|') for text in row)} |"


def _plain(text: str) -> str:
    return " ".join(text.split())
