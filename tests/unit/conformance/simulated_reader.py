"""A reader that does what every reader must, but for one planted fault."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.conformance import checks, table
from harness.conformance.checks import CheckedEngine, KitTables
from harness.core.errors import HarnessError
from harness.core.records import Column, Refusal
from harness.engines.api import NoAnswerError, Question, ReaderSettings, RefusedError, Reply
from harness.model.canonical import Value, text_of

DATABASE = "db"
REFUSED = RefusedError(Refusal("TABLE_NOT_FOUND", "there is no such thing"), 0.1)
WITHOUT_REASON = RefusedError(Refusal("", ""), 0.1)
SILENT = NoAnswerError("no answer after 1 s")
HARMLESS = ""
ENDLESS = "what never ends"


@dataclass
class SimulatedRunning:
    """What runs; it uses processors while somebody asks what never ends."""

    goes_on: bool = False
    dies: bool = True
    killed: threading.Event = field(default_factory=threading.Event)
    used: float = 0.0
    log: Path = Path("server.log")

    def cpu_s(self) -> float:
        if self.goes_on:  # more from look to look, so that no pause of this machine makes it little
            self.used = self.used * 1000 + 1
        return self.used

    def stop(self, grace_s: float = 0) -> None:
        self.killed.set()

    def alive(self) -> bool:
        return not (self.dies and self.killed.is_set())

    def log_tail(self, lines: int = 40) -> str:
        return ""

    def log_size(self) -> int:
        return 0

    def log_since(self, start: int) -> str:
        return ""

    def peak_memory_mb(self) -> int:
        return 7

    def threads(self) -> int:
        return 1

    def wait(self, timeout_s: float) -> int:
        return 0


@dataclass
class SimulatedReader:
    """Engine, server and session in one; see `harness.engines.api`."""

    fault: str = HARMLESS
    instead: Mapping[str, Value] = field(default_factory=dict)
    """Values of the full row that are answered otherwise, by column."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Types that are answered otherwise."""
    empty: Mapping[str, Value] = field(default_factory=dict)
    """Values of the row of NULLs that are answered otherwise."""
    endless: object = SILENT
    """What comes of a question without end: an exception, or rows."""
    wrong: object = REFUSED
    """What comes of a wrong question."""
    running: SimulatedRunning = field(default_factory=SimulatedRunning)
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    after: str = ""
    """What was asked last that was refused."""

    def on(self, *formats: str, **facts: Any) -> list[CheckedEngine]:  # noqa: ANN401 - fields
        given: dict[str, Any] = {"running": self.running, "timeout_s": 1.0, **facts}
        return [
            CheckedEngine(self, {}, _endless, KitTables(DATABASE, name), **given)
            for name in formats or (table.HIVE,)
        ]

    def connect(self, settings: ReaderSettings) -> SimulatedReader:
        if self.running.killed.is_set() and self.fault != "opens":
            raise NoAnswerError("connection refused")
        return self

    def close(self) -> None:
        pass

    def alive(self) -> bool:
        return self.running.alive()

    def exhausted(self) -> bool:
        return False

    def log_tail(self) -> str:
        return ""

    def peak_memory_mb(self) -> int:
        return 7

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        query = question.query
        if checks.NOT_THERE in (question.table, *query.columns):
            return self._refuse()
        if query.count:
            count = 1 if self.fault == "count" or (self.after and self.fault == "session") else 2
            return _reply((Column("c", "bigint", "long"),), ((count,),))
        if self.fault == "slow":
            raise SILENT
        return self._rows(table.columns(question.format.name), query.columns)

    def run(self, sql: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()) -> Reply:
        return self._endless(timeout_s) if sql == ENDLESS else self._refuse()

    def _refuse(self) -> Reply:
        self.after = "an error"
        return _given(self.wrong)

    def _endless(self, timeout_s: float) -> Reply:
        self.running.used += 10
        if self.fault == "deaf":
            threading.Event().wait(timeout_s)
        self.running.killed.wait(timeout_s)
        if self.fault == "ends":
            self.running.stop()
        return _given(self.endless)

    def _rows(self, columns: table.Columns, names: Sequence[str]) -> Reply:
        shown = [column for column in columns if not names or column[0] in names]
        if self.fault == "mixed" and names:
            shown = [columns[0]]
        if self.fault == "column":
            shown = shown[1:]
        described = tuple(Column(n, t, self.types.get(n, t)) for n, t, _ in shown)
        full = tuple(self.instead.get(name, value) for name, _, value in shown)
        if self.fault == "texts":
            full = tuple(map(text_of, full))
        if self.fault == "swapped":
            full = (full[0], *full[2:1:-1], full[1], *full[3:])
        empty = tuple(self.empty.get(name) for name, _, _ in shown)
        rows = {"lost": (full,), "twice": (full, full, empty)}.get(self.fault, (full, empty))
        return _reply(described, rows)


def _endless(question: Question) -> str:
    del question
    return ENDLESS


def _given(what: Any) -> Reply:  # noqa: ANN401 - an exception, or a value
    if isinstance(what, Exception):
        raise what
    return _reply((), ((what,),))


def _reply(columns: tuple[Column, ...], rows: tuple[tuple[Value, ...], ...]) -> Reply:
    return Reply(columns, rows, 0.1)


BROKE = HarnessError("the worker failed")
"""A failure of the harness itself."""
