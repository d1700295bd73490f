"""DataFusion as a reader of Hudi tables, by hudi-rs, and of plain Hive tables of Parquet files.

hudi-rs is a table provider of DataFusion (`hudi[datafusion]` of the Python index): it makes
batches of the table's files, and DataFusion does all the rest of a query, which it may hand down
conditions and columns of. It reads no catalog: where a table lies, the metastore is asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.core.records import Column
from harness.engines import bundles, query_sql
from harness.engines.api import (
    Connection,
    NoAnswerError,
    PlannedReads,
    Question,
    ReaderSettings,
    RefusedError,
    Reply,
    Server,
)
from harness.engines.code_digest import code_digest
from harness.engines.datafusion import session, tables
from harness.engines.datafusion.launch import START_S, DataFusionProgram
from harness.engines.datafusion.session import DataFusionSession
from harness.engines.datafusion.tables import Told
from harness.engines.datafusion.values import canonical, canonical_type
from harness.engines.format_facts import FormatFacts
from harness.runtime import metastore_client
from harness.runtime.api import Configuration, MetastoreUris, Running, Runtime, Served
from harness.runtime.metastore_client import CatalogGoneProblem, CatalogRefusedError

KEYS: Final = {
    "coerce-int96": "datafusion.execution.parquet.coerce_int96",
    "pushdown-filters": "datafusion.execution.parquet.pushdown_filters",
}
"""DataFusion's own key for each setting of a reader; one that is absent is left as it is."""
FILES: Final = "parquet"
"""The one kind of data files that DataFusion's wheel reads of those that formats have."""


@dataclass(frozen=True, slots=True)
class DataFusionConnection:
    """One session; see `harness.engines.api.Connection`."""

    session: DataFusionSession
    metastore: str
    conf: Mapping[str, str]

    def ask(self, sql: str, *, timeout_s: float) -> Reply:
        """Send a query and fetch all rows; raises as `Connection.ask` says."""
        found = self.session.run(sql, self._tables(sql), self.conf, timeout_s)
        fields = found.table.schema
        told = tuple(
            Column(each.name, str(each.type), canonical_type(each.type)) for each in fields
        )
        columns = [[canonical(value) for value in each] for each in found.table.columns]
        rows = tuple(zip(*columns, strict=True))
        shown, values = query_sql.drop_meta(told, rows)
        confirmed = ", ".join(f"{key}={value}" for key, value in self.conf.items())
        meta = query_sql.left_out(told, rows)
        return Reply(shown, values, found.seconds, confirmed, left_out=meta)

    def _tables(self, sql: str) -> list[Told]:
        """Return the tables that a query may name, as far as the metastore has them."""
        try:
            with metastore_client.connect(self.metastore) as catalog:
                pairs = [(*each, catalog.table(*each)) for each in tables.named(sql)]
        except CatalogGoneProblem as gone:
            raise NoAnswerError(str(gone)) from None
        except CatalogRefusedError as refused:
            raise RefusedError(refused.refusal, 0.0) from None
        return [tables.told(*each) for each in pairs if each[-1] is not None]

    def close(self) -> None:
        """End the session; never raises."""
        self.session.close()


@dataclass(frozen=True, slots=True)
class DataFusionServer(Served):
    """A running worker."""

    port: int
    token: str
    metastore: str

    def connect(self, settings: ReaderSettings) -> Connection:
        """Open a session; raises NoAnswerError when the process is gone."""
        try:
            found = session.opened(self.running, self.port, self.token)
        except OSError as problem:
            raise NoAnswerError(f"{problem}; its log:\n{self.log_tail()}") from None
        return DataFusionConnection(found, self.metastore, session_conf(settings))


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
        return code_digest("datafusion")

    def configuration(self, distribution: Distribution) -> Configuration:
        """Raise UsageProblem: there is no image."""
        raise UsageProblem(f"{distribution.name} is a library of Python and has no image")

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
        return _serve(runtime, metastore, folder)


@contextmanager
def _serve(runtime: Runtime, metastore: MetastoreUris, folder: Path) -> Iterator[Server]:
    metastore_client.check(metastore.host)
    program = DataFusionProgram(runtime.distribution)

    def ready(running: Running, port: int) -> DataFusionServer:
        server = DataFusionServer(running, port, program.token, metastore.host)
        with closing(session.opened(running, port, program.token)) as first:
            first.run("select 1", (), {}, START_S)
        return server

    with runtime.start(program, metastore, folder, ready) as found:
        yield found


def session_conf(settings: ReaderSettings) -> dict[str, str]:
    """Return DataFusion's own keys and values for the settings of a reader. Pure.

    >>> session_conf({"coerce-int96": "us"})
    {'datafusion.execution.parquet.coerce_int96': 'us'}
    """
    return {KEYS[name]: value for name, value in settings.items()}


ENGINE = DataFusionEngine()
