"""What every engine file offers: how its server is started, asked, and understood.

`engines/<engine>/engine.py` holds an `ENGINE` that satisfies `Engine`. Client libraries are
imported inside the functions that need them: planning, judging and reporting work where none is
installed.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from harness.artifacts.distribution import Distribution
from harness.artifacts.endpoint import Endpoint
from harness.core.progress import Progress
from harness.core.records import Column, Refusal
from harness.core.tolerances import Normalised
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.model.canonical import OwnTexts, Value
from harness.model.fingerprint import Fingerprint
from harness.model.query import Query
from harness.runtime.api import MetastoreUris, Runtime

METASTORE: Final = "thrift://METASTORE:9083"
"""Stands for the metastore of whoever sends questions by hand."""

ReaderSettings = Mapping[str, str]
"""The settings of a reader, e.g. `{"use-column-names": "false"}`; absent means the default."""
PlannedReads = frozenset[tuple[FormatFacts, tuple[tuple[str, str], ...]]] | None
"""Formats with the settings of readers that will ask about them; None: any of them."""


@dataclass(frozen=True, slots=True)
class PointInTime:
    """Which write of a table a question about its past goes back to."""

    view: str
    """What is asked for: one of `harness.model.commit.OTHERS`."""
    instant: str
    """The write as the format names it: Hudi's instant, a version, a snapshot's id, or a tag."""
    begin: str = ""
    """Of what was written since: where that begins, in the terms of the engine's library."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query on one catalog entry."""

    database: str
    table: str
    format: FormatFacts
    query: Query
    past: PointInTime | None = None
    """None: about the table as it is now."""
    key: str = ""
    """The column that tells rows apart; some engines need it to ask for what was written since."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Those of the table."""
    fingerprint: Fingerprint | None = None
    """Sums of hashes are asked for instead of rows, or rows by their hashes; see
    `Engine.fingerprint_words`."""


@dataclass(frozen=True, slots=True)
class TimeTravelWords:
    """How an engine names the past of a table, in its own language.

    In the texts stand `{table}` for the catalog entry as the engine quotes it, `{database}` and
    `{name}` for its parts, `{key}` for the column that tells rows apart, and `{instant}` and
    `{begin}` of the point in time.
    """

    source: str
    """What stands after `from`; to an engine without SQL, a part of a call."""
    suffix: str = ""
    """What the entry's name ends with, inside its quotes."""
    alias: str = ""
    """What the source is called where it is a query itself, which has no name of its own; with a
    number where a question's own names have that one."""


TimeTravel = Mapping[tuple[str, str], TimeTravelWords | str]
"""By a format's family and a view of `harness.model.commit`: the words, or why there are none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Rows as the engine gave them, in canonical values."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    seconds: float
    sent: str = ""
    confirmed: str = ""
    normalised: tuple[Normalised, ...] = ()
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
    """There was no answer at all: connection lost, time-out, process dead. Ask no more of it."""


class Connection(Protocol):
    """One session with the settings of one reader."""

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        """Ask a question by `Engine.statements`, and fetch all rows; the reply has what was sent.

        Raises RefusedError: the server answered with an error.
        Raises NoAnswerError: it did not answer within `timeout_s`, or the connection broke.
        """

    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        """Run any statement of the engine's own language, and fetch all rows; raises as `ask`.

        `tables`: database and name of each table in the statement. A library that asks no catalog
        is told where they lie; all others find them by themselves.
        """

    def close(self) -> None:
        """End the session; never raises."""


class Server(Protocol):
    def connect(self, settings: ReaderSettings) -> Connection:
        """Open a session; NoAnswerError: the server cannot be reached."""

    def alive(self) -> bool:
        """Return whether the process still runs."""

    def exhausted(self) -> bool:
        """Whether another server should be asked from now on: this one has used itself up."""

    def log_tail(self) -> str:
        """Return the end of the server's log (about 40 lines)."""

    def peak_memory_mb(self) -> int:
        """Return the most resident memory seen, in MiB."""


@runtime_checkable
class Attaches(Protocol):
    """An engine whose servers are also asked where they run already."""

    def attach(self, distribution: Distribution, endpoint: Endpoint) -> Server:
        """Return the server that is there; nothing is sent yet."""


class Engine(Protocol):
    settings: Mapping[str, tuple[str, ...]]
    """The settings a reader of this engine may name, each with the allowed values."""
    unasked: Mapping[str, str]
    """What conditions need (`Condition.needs`) and it cannot be asked, each with the reason."""

    def statements(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, ...]:
        """Return what is sent for a question, in this engine's own language.

        The query is the last; before it stands what the session must be set to for it.
        """

    def time_travel(self, distribution: Distribution) -> TimeTravel:
        """Return how a version of the engine is asked for a table's past."""

    def fingerprint_words(self, settings: ReaderSettings) -> FingerprintWords | None:
        """Return how a reader is asked for fingerprints; None where it cannot be."""

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

        Raises EnvironmentProblem: it did not get ready; the message holds the end of its log.
        """
