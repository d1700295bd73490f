"""An engine in this process that reads toy tables, and what distributions there are of it.

Its metastore is a folder: the file of a database's name holds the path of the database's table.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress
from harness.core.records import Column
from harness.engines.api import PlannedReads, Question, ReaderSettings, Reply, TimeTravel
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.runtime.api import MetastoreUris, Runtime

LOCK = """
name: toy-1
engine: toy
version: "1"
fidelity: stock
jre: "17"
heap_mb: 1
memory_mb: 1
disk_mb: 1
listens: loopback
settings: {writes: [toy], jvm: []}
"""


@dataclass(frozen=True, slots=True)
class Session:
    """See `harness.engines.api.Connection`."""

    metastore: Path
    forgets: bool
    """Whether it leaves out the last row."""

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        folder = Path((self.metastore / question.database).read_text("utf-8"))
        files = [json.loads(folder.joinpath(name).read_text("utf-8")) for name in _names(folder)]
        columns = [(name, type_) for name, type_ in files[-1]["columns"]]
        rows: dict[Any, tuple[Any, ...]] = {}
        for file in files:
            names = [name for name, _ in file["columns"]]
            for row in (dict(zip(names, values, strict=True)) for values in file["rows"]):
                rows[row["id"]] = tuple(row.get(name) for name, _ in columns)
        shown = tuple(rows.values())
        return Reply(
            tuple(Column(name, type_, type_) for name, type_ in columns),
            shown[:-1] if self.forgets else shown,
            0.1,
            _text(question),
        )

    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        raise NotImplementedError

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class ToyServer:
    """See `harness.engines.api.Server`."""

    metastore: Path

    def connect(self, settings: ReaderSettings) -> Session:
        return Session(self.metastore, settings.get("forgets") == "yes")

    def alive(self) -> bool:
        return True

    def exhausted(self) -> bool:
        return False

    def log_tail(self) -> str:
        return ""

    def peak_memory_mb(self) -> int:
        return 1


class ToyEngine:
    """See `harness.engines.api.Engine`."""

    settings: Mapping[str, tuple[str, ...]] = {"forgets": ("yes", "no")}
    unasked: Mapping[str, str] = {}

    def statements(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, ...]:
        return (_text(question),)

    def fingerprint_words(self, settings: ReaderSettings) -> FingerprintWords | None:
        del settings
        return None

    def time_travel(self, distribution: Distribution) -> TimeTravel:
        return {}

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        return "" if format_.family == "toy" else f"{distribution.name} reads toy tables alone"

    def by_hand(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> tuple[str, ...]:
        return tuple(f"set {name}={value};" for name, value in settings.items())

    def ask_code(self) -> str:
        return "1"

    @contextmanager
    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> Iterator[ToyServer]:
        yield ToyServer(Path(metastore.host))


def _text(question: Question) -> str:
    return f"{question.database}.{question.table}"


def _names(folder: Path) -> list[str]:
    return sorted((path.name for path in folder.iterdir()), key=int)


ENGINE = ToyEngine()
