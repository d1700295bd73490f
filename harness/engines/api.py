"""What every engine file offers: how its server is started, asked, and understood.

`engines/<engine>/engine.py` holds one object named `ENGINE` that satisfies `Engine`. Client
libraries are imported inside the functions that need them, so that planning, judging and
reporting work where no engine is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress
from harness.core.records import Column, Refusal
from harness.core.tolerances import Normalised
from harness.engines.format_facts import FormatFacts, Wording
from harness.model.canonical import OwnTexts, Value
from harness.model.query import Query
from harness.runtime.api import Configuration, MetastoreUris, Runtime

METASTORE: Final = "thrift://METASTORE:9083"
"""Stands for the metastore of whoever sends questions by hand."""

ReaderSettings = Mapping[str, str]
"""The settings of a reader, e.g. `{"use-column-names": "false"}`; absent means the default."""
PlannedReads = frozenset[tuple[FormatFacts, tuple[tuple[str, str], ...]]] | None
"""Formats with the settings of readers that will ask about them; None: any of them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query on one catalog entry."""

    database: str
    table: str
    format: FormatFacts
    """Some engines choose a connector by it."""
    query: Query
    past: Wording | None = None
    """Of a question about the past."""
    key: str = ""
    """The column that tells rows apart; some words for the past name it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Rows as the engine gave them, in canonical values."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    seconds: float
    confirmed: str = ""
    normalised: tuple[Normalised, ...] = ()
    """The declared differences that were evened out."""
    raw: OwnTexts = ()
    left_out: tuple[tuple[Column, tuple[Value, ...]], ...] = ()
    """Hudi's own columns, each with its values row by row; no part of `columns` and `rows`."""


class RefusedError(Exception):
    """An engine answered a statement with an error, and is there."""

    def __init__(self, refusal: Refusal, seconds: float) -> None:
        """`seconds`: how long it took to say so."""
        super().__init__(f"{refusal.kind}: {refusal.message}")
        self.refusal = refusal
        self.seconds = seconds


class NoAnswerError(Exception):
    """There was no answer at all: connection lost, time-out, process dead.

    Nothing more can be asked of it.
    """


class Connection(Protocol):
    """One session with the settings of one reader."""

    def ask(self, sql: str, *, timeout_s: float) -> Reply:
        """Send a query and fetch all rows.

        Raises:
            RefusedError: the server answered with an error.
            NoAnswerError: it did not answer within `timeout_s`, or the connection broke.

        """

    def close(self) -> None:
        """End the session; never raises."""


class Server(Protocol):
    """A running engine."""

    def connect(self, settings: ReaderSettings) -> Connection:
        """Open a session.

        Raises:
            NoAnswerError: the server cannot be reached.

        """

    def alive(self) -> bool:
        """Return whether the process still runs."""

    def spent(self) -> bool:
        """Whether another server should be asked from now on: this one has used itself up."""

    def log_tail(self) -> str:
        """Return the end of the server's log (about 40 lines)."""

    def peak_memory_mb(self) -> int:
        """Return the most resident memory seen, in MiB."""


class Engine(Protocol):
    """What an engine gives."""

    settings: Mapping[str, tuple[str, ...]]
    """The settings a reader of this engine may name, each with the allowed values."""

    def sql(self, question: Question, settings: ReaderSettings) -> str:
        """Return the query in this engine's SQL, identifiers quoted."""

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        """Return why a reader cannot be asked about tables of a format; empty when it can.

        `settings` have the names and values of `settings` above. Known from data alone: what an
        engine only refuses when it is asked is an answer, and is asked for.
        """

    def by_hand(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> tuple[str, ...]:
        """Return what comes before a query by hand, so that a session has these settings.

        Lines of SQL where a session can be told; else what stands in a file, as comments.
        """

    def ask_code(self) -> str:
        """Return a digest of what shapes answers beside the artifacts: configuration, ask code."""

    def configuration(self, distribution: Distribution) -> Configuration:
        """Return what a container is told in which people ask the engine by its own clients."""

    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> AbstractContextManager[Server]:
        """Start the server, ready when a real query succeeds; stop it at the end.

        `folder` is empty and the server's own; its log and configuration lie there. What is not
        `planned` may be missing: a server of the Trino family starts faster without it.

        Raises:
            EnvironmentProblem: it did not get ready; the message holds the end of its log.

        """
