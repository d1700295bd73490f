"""The conformance kit: what every reader must do, in whichever runtime.

Servers of the reader run one after another: the first is asked and stopped; the next is asked what
never ends, and is killed. What each leaves behind is looked for.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.conformance import leftovers, table
from harness.conformance.checks import (
    FAULT_CHECKS,
    READ_CHECKS,
    RESTART,
    Check,
    CheckedEngine,
    WatchedRuntime,
)
from harness.conformance.leftovers import Leftovers
from harness.conformance.results import CheckResult, Conformance, failed, unknown
from harness.core import tolerances
from harness.core.concurrency import JobThreads
from harness.core.errors import DEFECT, HarnessError, UsageProblem
from harness.core.metastore_choice import MetastoreChoice
from harness.core.progress import Count, Progress
from harness.core.runtime_names import CONTAINER, in_runtime
from harness.engines.api import NoAnswerError, RefusedError
from harness.formats import facts
from harness.read.questions import load_engine, text_of
from harness.read.reader_servers import EngineStart, ReadContext, SharedMetastore
from harness.runtime import image_choice, metastore
from harness.runtime.api import Runtime
from harness.scenario.cells import Reader
from harness.write.state_store import State

Checks = tuple[Check, ...]
LIVES: Final[tuple[Checks, ...]] = (READ_CHECKS, (RESTART, *FAULT_CHECKS))
"""The checks of each server; one that ends before all were made is replaced for the rest."""
ASSERTS: Final[Mapping[str, str]] = {
    **{check.name: check.asserts for checks in LIVES for check in checks},
    **leftovers.ASSERTS,
}
"""What each check asserts, in their order."""

Serve = Callable[[], AbstractContextManager[CheckedEngine]]
"""Starts a server of the reader that is checked, and stops it at the end of the context."""


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

        Raises:
            EnvironmentProblem: what a server left cannot be looked for.

        """
        for checks in LIVES:
            left = checks
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
        with serve() as on:
            self.start_s = self.start_s or time.monotonic() - began
            self.leftovers.note(on.port)
            for at, check in enumerate(checks):
                if at and not (check.after_end or on.server.alive()):
                    return checks[at:]
                self._note({check.name: result_of(check, on)})
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


def result_of(check: Check, on: CheckedEngine) -> CheckResult:
    """Return the result of a check: a refusal or no answer fails it, an error leaves it unknown."""
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

    Raises:
        UsageProblem: it cannot be asked about plain Hive tables.

    """
    distribution = distributions.load(reader.distribution)
    check_can_be_asked(reader)
    contained = distribution.runtime == CONTAINER
    catalog = metastore.distribution_for([distribution.name])
    if oldest := metastore.oldest_for(distribution):
        catalog = in_runtime(oldest, distribution.runtime)
    context = ReadContext(cache, folder, progress, metastore=MetastoreChoice(catalog))
    with progress.count(f"check {reader}", len(ASSERTS)) as count:
        servers = Servers(Leftovers(leftovers.docker_objects if contained else None), count)
        try:
            with SharedMetastore(context) as shared:
                state = table.state(cache)
                shared.register([state])
                servers.check(partial(_serve, reader, shared, state))
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


def check_can_be_asked(reader: Reader) -> None:
    """Check that a reader can be asked about the tables of the kit.

    Raises:
        UsageProblem: it cannot.

    """
    if reason := _reason(reader):
        raise UsageProblem(
            f"{reader} cannot be checked, for the kit asks about plain Hive tables: {reason}"
        )


def can_be_asked(reader: Reader) -> bool:
    """Return whether a reader can be asked about the tables of the kit."""
    return not _reason(reader)


def _reason(reader: Reader) -> str:
    distribution, settings = distributions.load(reader.distribution), dict(reader.settings)
    return load_engine(distribution.name).cannot(distribution, settings, facts(table.FORMAT))


@contextmanager
def _serve(reader: Reader, shared: SharedMetastore, state: State) -> Iterator[CheckedEngine]:
    watched: list[WatchedRuntime] = []

    def watch(runtime: Runtime) -> Runtime:
        watched.append(WatchedRuntime(runtime))
        return watched[-1]

    planned = frozenset({(facts(table.FORMAT), reader.settings)})
    start = EngineStart(reader.distribution, planned, shared, JobThreads(1))
    database = state.database_in(distributions.load(reader.distribution).warehouse)
    with start.serve(watch) as on:
        yield CheckedEngine(
            *(on.server, dict(reader.settings), partial(text_of, on.engine, reader), database),
            *(tolerances.declared_for(reader.distribution), watched[-1].running, watched[-1].port),
        )


def _fidelity(distribution: Distribution) -> str:
    if distribution.runtime != CONTAINER:
        return distribution.fidelity
    try:
        return image_choice.chosen(distribution.name).fidelity
    except KeyError:
        return "no image"
