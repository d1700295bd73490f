"""The servers of a reading phase: the metastore that all readers share, and an engine's on it.

What an engine says while its metastore is gone says nothing of the query, so the readers are asked
only while it answers. The first engine that finds it gone gets a new one.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from harness.artifacts import distributions, object_storage
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.core.concurrency import JobThreads
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Progress, started
from harness.core.records import Refusal
from harness.core.runtime_names import ENDPOINT, USUAL_METASTORE, MetastoreChoice
from harness.engines.api import Attaches, Engine, PlannedReads, Server
from harness.engines.confined_server import ConfinedServer
from harness.read import TIMEOUT_S
from harness.read.questions import load_engine
from harness.runtime import memory, metastore_client, provide, work_folders
from harness.runtime.api import RunsElsewhere
from harness.runtime.metastore import Metastore
from harness.runtime.metastore_client import CatalogGoneProblem, CatalogRefusedError
from harness.runtime.process import EndedProblem
from harness.usage import own_tables
from harness.write import state_store
from harness.write.state_store import State


@dataclass(frozen=True, slots=True)
class ReadContext:
    cache: Cache
    folder: Path
    progress: Progress
    fresh: bool = False
    """Ask again what earlier runs have asked."""
    timeout_s: float = TIMEOUT_S
    memory_budget: memory.MemoryBudget = field(default_factory=memory.MemoryBudget)
    """The memory of what runs side by side, writers included."""
    metastore: MetastoreChoice = USUAL_METASTORE


@contextmanager
def start_metastore(
    context: ReadContext, register: Callable[[Metastore], None]
) -> Iterator[Metastore]:
    """Start a metastore, upgraded from an older one if so chosen; `register` is given each."""
    cache, progress, chosen = context.cache, context.progress, context.metastore
    database = None
    if chosen.upgraded_from:
        older = work_folders.numbered(context.folder, "older-metastore")
        with provide.start_metastore(cache, older, progress, chosen.upgraded_from) as made:
            register(made)
        database = provide.upgraded(cache, older, progress, chosen.distribution)
    folder, name = work_folders.numbered(context.folder, "metastore"), chosen.distribution
    with provide.start_metastore(cache, folder, progress, name, database) as running:
        register(running)
        yield running


class SharedMetastore:
    """The metastore with every state registered in it; replaced when it dies.

    Used as a context; a metastore is started when it is first asked for. For several threads.
    """

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self.refused: dict[str, Refusal] = {}
        """By digest, the states that a catalog of others has not taken, of which none is asked."""
        self._states: list[State] = []
        self._registered = 0
        self._stack = ExitStack()
        self._running: Metastore | None = None
        self._lock = threading.Lock()

    def register(self, states: Collection[State]) -> None:
        """Have more states registered before this returns.

        Beside a writer the first start waits for memory, as the servers do.
        """
        distribution = distributions.load(self.context.metastore.distribution)
        with nullcontext() if self._states else self.context.memory_budget.wait_for(distribution):
            self.add(states)
            self.running()

    def add(self, states: Iterable[State]) -> None:
        with self._lock:
            self._states.extend(states)

    def running(self) -> Metastore:
        """Return a metastore that answers, with every state in it.

        Raises EndedProblem: it ended; the message holds the end of its log.
        Raises CatalogGoneProblem: it answered, and then no more.
        Raises EnvironmentProblem: it does not get ready; with the end of its log.
        Raises CatalogRefusedError: it refused a state.
        """
        with self._lock:
            try:
                # An older metastore registers all states, and then upgrades its database.
                late = self.context.metastore.upgraded_from and self._registered < len(self._states)
                if self._running is None or late or not self.answers(self._running):
                    return self._started()
                self._register(self._running)
            except (EndedProblem, CatalogGoneProblem):
                # Chance, or the metastore cannot run here: the second start tells.
                return self._started()
            return self._running

    def _started(self) -> Metastore:
        self._end()
        self._registered = 0
        starting = start_metastore(self.context, self._register)
        self._running = self._stack.enter_context(starting)
        return self._running

    def _register(self, running: Metastore) -> None:
        if self._registered == len(self._states):
            return
        try:
            with metastore_client.connect(running.uri) as client:
                for state in self._states[self._registered :]:
                    state_store.register(client, state, running.bucket)
                    self._registered += 1
        except EnvironmentProblem as problem:
            if running.alive():
                raise
            raise EndedProblem(f"{problem}; the end of its log:\n{running.log_tail()}") from None

    def answers(self, one: Metastore) -> bool:
        """Return whether a metastore answers and was not replaced."""
        if self._running is not one or not one.alive():
            return False
        try:
            metastore_client.check(one.uri)
        except (EnvironmentProblem, CatalogRefusedError):
            return False
        return self._running is one

    def _end(self) -> None:
        self._running = None
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()


@dataclass(frozen=True, slots=True)
class EngineServer:
    """A server of an engine, and what asking it needs."""

    server: Server
    engine: Engine
    timeout_s: float
    metastore: Metastore
    """The one that it was started on."""
    shared: SharedMetastore

    def metastore_answers(self) -> bool:
        return self.shared.answers(self.metastore)


@dataclass(frozen=True, slots=True)
class EngineStart:
    name: str
    planned: PlannedReads
    shared: SharedMetastore
    threads: JobThreads
    """Those in which engines are asked: after a failure in one nothing is started any more."""

    @contextmanager
    def serve(self) -> Iterator[EngineServer]:
        """Start the server, once there is memory for it, and stop it at the end.

        Raises EnvironmentProblem: an artifact is missing, or a server does not get ready.
        Raises HaltedError: another thread has failed.
        """
        context, engine = self.shared.context, load_engine(self.name)
        distribution = distributions.load(self.name)
        if distribution.runtime == ENDPOINT:
            yield self._attached(engine, distribution)
            return
        with context.memory_budget.wait_for(distribution):
            self.threads.check()
            running = self.shared.running()
            if running.store is not None:
                distribution = object_storage.reaching(distribution, running.store.url)
            runtime = provide.runtime(distribution, context.cache, context.progress)
            folder = work_folders.numbered(context.folder, self.name)
            serving = engine.serve(runtime, running.uris, folder, context.progress, self.planned)
            with started(self.name, serving, context.progress) as server:
                yield EngineServer(server, engine, context.timeout_s, running, self.shared)

    def _attached(self, engine: Engine, distribution: Distribution) -> EngineServer:
        """Return a server that runs already, which is asked about the tables of this run alone."""
        if distribution.endpoint is None or not isinstance(engine, Attaches):
            raise UsageProblem(f"{self.name}: {distributions.why_not(self.name)}")
        server, running = engine.attach(distribution, distribution.endpoint), self.shared.running()
        confined = ConfinedServer(RunsElsewhere(), server, own_tables.current().check)
        return EngineServer(confined, engine, self.shared.context.timeout_s, running, self.shared)
