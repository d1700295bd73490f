"""DataFusion as a reader of Hudi tables, by hudi-rs, and of plain Hive tables of Parquet files.

hudi-rs is a table provider of DataFusion (`hudi[datafusion]` of the Python index): it makes
batches of the table's files, and DataFusion does all the rest of a query, which it may hand down
conditions and columns of. It reads no catalog: where a table lies, the metastore is asked for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress
from harness.core.records import Refusal
from harness.engines import bundles, named_tables, python_program, query_sql
from harness.engines.api import (
    PlannedReads,
    Question,
    ReaderSettings,
    Reply,
    Server,
)
from harness.engines.code_digest import code_digest
from harness.engines.datafusion import answers, tables
from harness.engines.format_facts import FormatFacts
from harness.engines.python_session import (
    PythonEngine,
    PythonSession,
    entries,
    no_image,
    reply,
    served,
)
from harness.runtime.api import Configuration, MetastoreUris, Runtime

KEYS: Final = {
    "coerce-int96": "datafusion.execution.parquet.coerce_int96",
    "pushdown-filters": "datafusion.execution.parquet.pushdown_filters",
}
"""DataFusion's own key for each setting of a reader; one that is absent is left as it is."""
CAUSED: Final = "\ncaused by\n"
"""What stands before each cause in DataFusion's texts (`DataFusionError::Context`)."""
MAX_KIND: Final = 60
"""What stands before a colon is the name of an error if it is no longer."""
FILES: Final = "parquet"
"""The one kind of data files that DataFusion's wheel reads of those that formats have."""


@dataclass(frozen=True, slots=True)
class DataFusionConnection:
    """One session; see `harness.engines.api.Connection`."""

    session: PythonSession
    metastore: str
    conf: Mapping[str, str]

    def ask(self, sql: str, *, timeout_s: float) -> Reply:
        """Send a query and fetch all rows; raises as `Connection.ask` says."""
        known = [tables.told(*each) for each in entries(self.metastore, named_tables.named(sql))]
        asked = {"sql": sql, "tables": known, "conf": {**self.conf}}
        confirmed = ", ".join(f"{key}={value}" for key, value in self.conf.items())
        return reply(self.session.run(asked, timeout_s), confirmed)

    def close(self) -> None:
        """End the session; never raises."""
        self.session.close()


class DataFusionEngine:
    """See `harness.engines.api.Engine`."""

    settings: Mapping[str, tuple[str, ...]] = {
        "coerce-int96": ("ns", "us"),
        "pushdown-filters": ("true", "false"),
    }

    def sql(self, question: Question, settings: ReaderSettings) -> str:  # noqa: ARG002 - for all
        """Return the query."""
        return query_sql.select(question, query_sql.ANSI)

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        """Return why a reader cannot be asked about a format; see `Engine.cannot`."""
        why = bundles.cannot(distribution, settings, format_)
        if why or format_.files == FILES:
            return why
        return f"{distribution.name} reads no {format_.files} files"

    def by_hand(
        self,
        distribution: Distribution,  # noqa: ARG002 - the same for all
        settings: ReaderSettings,
        format_: FormatFacts,
    ) -> tuple[str, ...]:
        """Return how a table is made known in Python, as comments."""
        known = 'context.register_parquet("TABLE", "FOLDER", schema=SCHEMA)'
        if format_.family == "hudi":
            known = 'context.register_table("TABLE", hudi.HudiDataFusionDataSource("FOLDER", []))'
        conf = "".join(f'.set("{key}", "{text}")' for key, text in session_conf(settings).items())
        return (
            "-- In Python:",
            f"--   context = datafusion.SessionContext(datafusion.SessionConfig(){conf})",
            f"--   {known}",
            *([f"-- For t_ro: [('{tables.READ_OPTIMIZED}', 'true')]"] if "hudi." in known else ()),
        )

    def ask_code(self) -> str:
        """Return a digest of the sources of everything that shapes an answer."""
        return code_digest("datafusion", "harness.engines.named_tables", *python_program.SHARED)

    def configuration(self, distribution: Distribution) -> Configuration:
        """Raise UsageProblem: there is no image."""
        no_image(distribution)

    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> AbstractContextManager[Server]:
        """Start the worker, which reads all formats alike; see `Engine.serve`."""
        del planned
        progress.note(f"start {runtime.distribution.name}")
        return served(runtime, metastore, folder, WORKER)


def _connection(
    session: PythonSession, metastore: str, settings: ReaderSettings
) -> DataFusionConnection:
    return DataFusionConnection(session, metastore, session_conf(settings))


def session_conf(settings: ReaderSettings) -> dict[str, str]:
    """Return DataFusion's own keys and values for the settings of a reader. Pure.

    >>> session_conf({"coerce-int96": "us"})
    {'datafusion.execution.parquet.coerce_int96': 'us'}
    """
    return {KEYS[name]: value for name, value in settings.items()}


def refusal(class_: str, text: str) -> Refusal:
    """Return an error by what Python and Rust say of it. Pure.

    The kind is what stands before the first colon, the name of a `DataFusionError`.

    >>> refusal("ValueError", "Error during planning: table 't' not found").kind
    'Error during planning'
    >>> refusal("PanicException", "partition not used yet").kind
    'PanicException'
    """
    first, *causes = text.split(CAUSED)
    name, colon, message = first.partition(": ")
    if not colon or len(name) > MAX_KIND:
        name, message = class_, first
    return Refusal(name, message or first, cause=causes[-1] if causes else "")


WORKER: Final = PythonEngine(
    Path(answers.__file__), {"sql": "select 1", "tables": [], "conf": {}}, _connection, refusal
)
ENGINE = DataFusionEngine()
