"""The conformance kit: what every reader must do, in whichever runtime.

Servers of the reader run one after another: the first is asked and stopped; the next is asked what
never ends, and is killed. What each leaves behind is looked for.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.conformance import checks, table
from harness.conformance.checks import (
    FAULT_CHECKS,
    READ_CHECKS,
    RESTART,
    Check,
    CheckedEngine,
    Leftovers,
    endless_python,
    endless_sql,
)
from harness.conformance.results import CheckOutcome, CheckResult, Conformance, failed, unknown
from harness.core import tolerances
from harness.core.concurrency import JobThreads
from harness.core.errors import DEFECT, HarnessError, UsageProblem
from harness.core.metastore_choice import MetastoreChoice
from harness.core.progress import Count, Progress
from harness.core.runtime_names import CONTAINER, in_runtime
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.python_library import PythonLibrary
from harness.formats import facts
from harness.read.questions import text_of
from harness.read.reader_servers import EngineStart, ReadContext, SharedMetastore
from harness.runtime import image_choice, metastore
from harness.runtime.api import Served
from harness.scenario.cells import Reader
from harness.write.state_store import State

Checks = tuple[Check, ...]
WORST_FIRST: Final = (
    *(CheckOutcome.FAILED, CheckOutcome.UNKNOWN),
    *(CheckOutcome.PASSED, CheckOutcome.NOT_APPLICABLE),
)
LIVES: Final[tuple[Checks, ...]] = (READ_CHECKS, (RESTART, *FAULT_CHECKS))
"""The checks of each server; one that ends before all were made is replaced for the rest."""
ASSERTS: Final[Mapping[str, str]] = {
    **{check.name: check.asserts for checks in LIVES for check in checks},
    **checks.LEFTOVER_ASSERTS,
}
"""What each check asserts, in their order."""

Serve = Callable[[], AbstractContextManager[Sequence[CheckedEngine]]]
"""Starts a server of the reader that is checked, and stops it at the end of the context; the same
server stands there once for each format that the reader is asked about."""


@dataclass(slots=True)
class Servers:
    """The results of a reader's servers."""

    leftovers: Leftovers
    count: Count
    results: dict[str, CheckResult] = field(default_factory=dict)
    start_s: float = 0.0
    peak_mb: int = 0

    def check(self, serve: Serve) -> None:
        """Start servers, check each, and look for what it leaves.

        Raises EnvironmentProblem: what a server left cannot be looked for.
        """
        for life in LIVES:
            left = life
            while left:
                left = self._life(serve, left)

    def _life(self, serve: Serve, checks: Checks) -> Checks:
        """Start a server and check it; return the checks for which it did not live long enough."""
        try:
            with self.leftovers.watching():
                return self._checked(serve, checks)
        except HarnessError as problem:
            left = [check.name for check in checks if check.name not in self.results]
            if not left:  # what it left could not be looked for
                raise
            self._give_up(left, problem)
            return ()

    def _checked(self, serve: Serve, checks: Checks) -> Checks:
        began = time.monotonic()
        with serve() as asked:
            on = asked[0]
            self.start_s = self.start_s or time.monotonic() - began
            self.leftovers.note(getattr(on.server, "port", 0))
            for at, check in enumerate(checks):
                if at and not (check.after_end or on.server.alive()):
                    return checks[at:]
                self._note({check.name: result_of(check, asked)})
                self.peak_mb = max(self.peak_mb, on.server.peak_memory_mb())
        return ()

    def note_leftovers(self) -> None:
        """Add the results about leftovers; they are unknown if no server ever ran."""
        results = self.leftovers.results()
        never = unknown("no server got ready")
        self._note(results if self.start_s else dict.fromkeys(results, never))

    def give_up(self, problem: HarnessError) -> None:
        """Note that the checks that were not made are unknown."""
        self._give_up([name for name in ASSERTS if name not in self.results], problem)

    def _give_up(self, names: Sequence[str], problem: HarnessError) -> None:
        """Note the problem at the first of them; it is the reason of the others too."""
        first, *others = names
        self._note({first: unknown(str(problem)), **dict.fromkeys(others, unknown())})

    def _note(self, results: Mapping[str, CheckResult]) -> None:
        for name, result in results.items():
            self.results[name] = result
            self.count.count_result(name, str(result.outcome))


def result_of(check: Check, asked: Sequence[CheckedEngine]) -> CheckResult:
    """Return the result of a check: of several formats the worst, with each that has it."""
    if len(asked) == 1 or not check.reads:
        return _result(check, asked[0])
    results = list[tuple[str, CheckResult]]()
    for on in asked:
        if not results or on.server.alive():
            results.append((on.format, _result(check, on)))
    outcomes = {result.outcome for _, result in results}
    worst = next(outcome for outcome in WORST_FIRST if outcome in outcomes)
    seen = [
        f"{name}: {result.seen}"
        for name, result in results
        if result.outcome is worst and result.seen
    ]
    return CheckResult(worst, "; ".join(seen))


def _result(check: Check, on: CheckedEngine) -> CheckResult:
    """Return a result: a refusal or no answer fails the check, an error leaves it unknown."""
    try:
        return check.look(on)
    except RefusedError as refused:
        return failed(f"refused: {refused}")
    except NoAnswerError as silence:
        return failed(f"no answer: {silence}")
    except HarnessError as problem:
        return unknown(str(problem))
    except Exception as defect:  # noqa: BLE001 - the other checks can be made
        return unknown(f"{DEFECT} ({defect!r})")


def verify(reader: Reader, cache: Cache, folder: Path, progress: Progress) -> Conformance:
    """Check a reader; what could not be checked is unknown, with the reason.

    `folder`: the servers' logs and configuration lie below it.

    Raises UsageProblem: it can be asked about none of the kit's tables.
    """
    distribution = distributions.load(reader.distribution)
    formats = check_can_be_asked(reader)
    contained = distribution.runtime == CONTAINER
    catalog = metastore.distribution_for([distribution.name])
    if oldest := metastore.oldest_for(distribution):
        catalog = in_runtime(oldest, distribution.runtime)
    context = ReadContext(cache, folder, progress, metastore=MetastoreChoice(catalog))
    with progress.count(f"check {reader}", len(ASSERTS)) as count:
        servers = Servers(Leftovers(checks.docker_objects if contained else None), count)
        try:
            with SharedMetastore(context) as shared:
                states = {name: table.state(cache, name, progress) for name in formats}
                shared.register(states.values())
                servers.check(partial(_serve, reader, shared, states))
            servers.leftovers.close_network()
            servers.note_leftovers()
        except HarnessError as problem:
            servers.give_up(problem)
    results = {name: servers.results[name] for name in ASSERTS}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Conformance(
        *(
            str(reader),
            distribution.engine,
            distribution.version,
            distribution.runtime,
            today,
            _fidelity(distribution),
        ),
        *(results, servers.start_s, servers.peak_mb),
    )


def check_can_be_asked(reader: Reader) -> tuple[str, ...]:
    """Return the formats that a reader is asked about.

    Raises UsageProblem: there are none.
    """
    formats, reason = table.formats_for(reader)
    if reason:
        raise UsageProblem(f"{reader} cannot be checked, for it reads none of our tables: {reason}")
    return formats


@contextmanager
def _serve(
    reader: Reader, shared: SharedMetastore, states: Mapping[str, State]
) -> Iterator[Sequence[CheckedEngine]]:
    planned = frozenset((facts(name), reader.settings) for name in states)
    start = EngineStart(reader.distribution, planned, shared, JobThreads(1))
    warehouse = distributions.load(reader.distribution).warehouse
    with start.serve() as on:
        in_python = isinstance(on.engine, PythonLibrary) and on.engine.expressions
        make_endless = endless_python if in_python else endless_sql
        checked = CheckedEngine(
            on.server,
            dict(reader.settings),
            lambda question: make_endless(text_of(on.engine, reader, question)),
            declared=tolerances.declared_for(reader.distribution),
            running=on.server.running if isinstance(on.server, Served) else None,
            timeout_s=on.timeout_s,
        )
        yield [
            replace(checked, database=state.database_in(warehouse), format=name)
            for name, state in states.items()
        ]


def _fidelity(distribution: Distribution) -> str:
    if distribution.runtime != CONTAINER:
        return distribution.fidelity
    try:
        return image_choice.chosen(distribution.name).fidelity
    except KeyError:
        return "no image"
