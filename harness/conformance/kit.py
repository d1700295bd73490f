"""The conformance kit: what every reader must do, in whichever runtime.

pytest makes the checks. Servers of the reader run one after another: the first is asked and
stopped; the next is asked what never ends, and is killed. What each leaves behind is looked for.
"""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.conformance import checks, table
from harness.conformance.checks import CheckedEngine
from harness.conformance.leftovers import LEFTOVER_ASSERTS, Leftovers, docker_objects
from harness.conformance.results import CheckOutcome, CheckResult, Conformance, failed, unknown
from harness.core import tolerances
from harness.core.concurrency import JobThreads
from harness.core.errors import DEFECT, HarnessError
from harness.core.progress import Count, Progress
from harness.core.runtime_names import CONTAINER, MetastoreChoice, in_runtime
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.python_library import PythonLibrary
from harness.formats import facts
from harness.read.questions import text_of
from harness.read.reader_servers import EngineStart, ReadContext, SharedMetastore
from harness.runtime import image_choice, metastore
from harness.runtime.api import Served
from harness.scenario.cells import Reader
from harness.write.state_store import State

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
            with SharedMetastore(context) as shared:
                states = {name: table.state(cache, name, progress) for name in formats}
                shared.register(states.values())
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


@contextmanager
def _serve(
    reader: Reader, shared: SharedMetastore, states: Mapping[str, State]
) -> Iterator[Sequence[CheckedEngine]]:
    planned = frozenset((facts(name), reader.settings) for name in states)
    start = EngineStart(reader.distribution, planned, shared, JobThreads(1))
    distribution = distributions.load(reader.distribution)
    with start.serve() as on:
        library = on.engine if isinstance(on.engine, PythonLibrary) else None
        in_python = library is not None and library.expressions(dict(reader.settings))
        make_endless = endless_python if in_python else endless_sql
        checked = CheckedEngine(
            on.server,
            dict(reader.settings),
            lambda question: make_endless(text_of(on.engine, reader, question)),
            declared=tolerances.declared_for(reader.distribution),
            running=on.server.running if isinstance(on.server, Served) else None,
            timeout_s=on.timeout_s,
            no_null_of=distribution.texts_if_any("no_null_of"),
        )
        yield [
            replace(checked, database=state.database_in(distribution.warehouse), format=name)
            for name, state in states.items()
        ]


def _fidelity(distribution: Distribution) -> str:
    if distribution.runtime != CONTAINER:
        return distribution.fidelity
    try:
        return image_choice.chosen(distribution.name).fidelity
    except KeyError:
        return "no image"
