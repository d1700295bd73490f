"""Where engines are asked side by side, and one engine's turn there.

Its server is started when its first question is there, and stopped when no more come.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness import engines
from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.core.concurrency import Lanes
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress, started
from harness.core.queue import Handover
from harness.core.records import Answer
from harness.engines.api import Engine, PlannedReads, Server
from harness.read import ask_server, questions
from harness.read.answer_sink import Keeper, KindOf, nothing
from harness.read.ask_question import TIMEOUT_S, Manner
from harness.read.questions import Asked
from harness.read.shared_metastore import SharedCatalog
from harness.read.support_probe import Probes
from harness.runtime import memory, work_folders

CONNECTIONS: Final = 2
"""Connections that ask one server at once."""
SERVERS: Final = 2
"""Engines that are asked side by side, where memory allows: while one starts another answers."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a reading phase works."""

    cache: Cache
    folder: Path
    """The run's own folder for servers, logs and configuration."""
    progress: Progress
    fresh: bool = False
    """Ask again what earlier runs have asked."""
    timeout_s: float = TIMEOUT_S
    """After so long a query counts as unanswered."""
    kind_of: KindOf = nothing
    room: memory.Room = field(default_factory=memory.Room)
    """The memory of what runs side by side, writers included."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What the engines that are asked side by side share."""

    where: Reading
    shared: SharedCatalog
    keeper: Keeper
    waiting: Mapping[str, Handover[Asked]]
    """The questions for each server, as they come."""
    lanes: Lanes = field(default_factory=lambda: Lanes(SERVERS))
    probes: Probes = field(default_factory=Probes)

    def left(self, found: Iterable[Asked | Answer]) -> list[Asked]:
        """Return the questions that have to be asked; answers that are there are passed on."""
        left = []
        for each in found:
            answer = self._kept(each) if isinstance(each, Asked) else each
            if answer is not None:
                self.keeper.tell(answer)
            elif isinstance(each, Asked):
                left.append(each)
        return left

    def _kept(self, asked: Asked) -> Answer | None:
        if self.where.fresh:
            return None
        answer = self.keeper.kept.find(asked.address, asked.cell.case)
        if answer is not None:
            self.probes.told(asked, answer)
        return answer

    def give(self, asked: Sequence[Asked]) -> None:
        """Return questions to their servers, once these can find the states."""
        states = {each.state.digest: each.state for each in asked}.values()
        self.shared.add(states)
        self.shared.running()
        self.keeper.watch(states)
        for name, group in questions.by_server(asked).items():
            self.waiting[name].give(group)

    def close(self) -> None:
        """Say that no more questions come."""
        for each in self.waiting.values():
            each.close()


def engine_of(distribution: str) -> Engine:
    """Return the engine of a distribution."""
    return engines.load(distributions.load(distribution).engine)


@dataclass(slots=True)
class _Turn:
    """The questions for one server: those that come, and those taken that have no answer yet."""

    name: str
    planned: PlannedReads
    desk: Desk
    left: dict[str, Asked] = field(default_factory=dict)
    held: list[Asked] = field(default_factory=list)
    """Those taken that are not sent before it is known what became of a probe."""
    answers: int = 0

    def more(self) -> Sequence[Asked]:
        """Wait for further questions; what was answered is passed on before."""
        self.desk.keeper.pass_on()
        due = self._due()
        while not due and (taken := self.desk.waiting[self.name].take()):
            self.held += questions.in_sessions(taken)
            due = self._due()
        self.left.update({each.cell.case: each for each in due})
        return due

    def _due(self) -> Sequence[Asked]:
        """Return what can be sent now; nothing that was sent waits for an answer."""
        sifted = self.desk.probes.sift(self.held)
        self.held = sifted.held
        for answer in sifted.spared:
            self.desk.keeper.tell(answer)
        return sifted.due

    def told(self, asked: Asked, answer: Answer) -> None:
        """Take an answer."""
        self.desk.lanes.check()
        self.desk.probes.told(asked, answer)
        self.desk.keeper.take(asked, answer)
        self.left.pop(answer.case, None)
        self.answers += 1


def take_turn(name: str, planned: PlannedReads, desk: Desk) -> None:
    """Ask one server until no more questions come; `planned`: what they may be about."""
    turn, progress = _Turn(name, planned, desk), desk.where.progress
    first, began = turn.more(), time.monotonic()
    if not first:
        return
    try:
        peak = _ask_all(first, turn)
    except EnvironmentProblem as problem:
        peak = 0
        progress.note(f"{name}: {problem}")
        while turn.left or turn.more():
            for each in tuple(turn.left.values()):
                turn.told(each, _unanswered(each, f"{name}: {problem}"))
    desk.keeper.pass_on()
    seconds = time.monotonic() - began
    progress.note(f"{name}: {turn.answers} answers in {seconds:.0f} s, {peak} MB at most")


def _ask_all(first: Sequence[Asked], turn: _Turn) -> int:
    desk, where, engine = turn.desk, turn.desk.where, engine_of(turn.name)
    installation = fetch.ensure(distributions.load(turn.name), where.cache, where.progress)
    stands_on = desk.shared.running()

    @contextmanager
    def serve() -> Iterator[Server]:
        nonlocal stands_on
        with where.room.of(installation.distribution):
            desk.lanes.check()  # after a failure nothing is started any more
            stands_on = desk.shared.running()
            place = work_folders.numbered(where.folder, turn.name)
            serving = engine.serve(installation, stands_on.uri, place, where.progress, turn.planned)
            with started(turn.name, serving, where.progress) as server:
                yield server

    manner = Manner(CONNECTIONS, where.timeout_s, lambda: desk.shared.answers(stands_on), turn.more)
    return ask_server.ask_all(serve, engine, first, manner=manner, told=turn.told)


def _unanswered(asked: Asked, why: str) -> Answer:
    return Answer(asked.cell.case, asked.told, unknown=why, question=asked.question.query)
