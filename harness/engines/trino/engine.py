"""Trino as a reader, and with it the engines it was called before (see `presto`).

Which of its error codes are refusals, and which say nothing of the query, is decided in `client.py`
(`_SAYS_NOTHING`, `_TOO_LITTLE`, `_sorted`); what a refusal means in words is in `core/refusals.py`.

Every server holds, for Hudi tables and for plain Hive tables, a catalog with the engine's default
and one for each value of `use-column-names`. On versions without a connector for Hudi the
distribution puts the hive connector behind the `hudi` catalogs, so the SQL is the same for all; on
those where two connectors read Hudi tables, a reader chooses with `connector`. Iceberg tables have
a catalog of their own; it maps columns by their ids and has no such setting. ORC files have a
setting of their own, `orc.use-column-names`, and a catalog for each of its values.

Times of day: plain Hive tables are read with microseconds (`hive.timestamp-precision`; its default
would round to milliseconds); the hudi connector of Trino 476 always gives nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress
from harness.engines import query_sql
from harness.engines.api import (
    METASTORE,
    PlannedReads,
    Question,
    ReaderSettings,
    Server,
    TimeTravel,
)
from harness.engines.code_digest import code_digest
from harness.engines.format_facts import FormatFacts
from harness.engines.trino import connector_catalogs, server, time_travel
from harness.engines.trino.connector_catalogs import Catalogs
from harness.engines.trino.server import TrinoProgram
from harness.runtime import template
from harness.runtime.api import Configuration, MetastoreUris, Runtime


class TrinoEngine:
    """See `harness.engines.api.Engine`."""

    settings: Mapping[str, tuple[str, ...]] = connector_catalogs.SETTINGS

    def __init__(self, words: TimeTravel = time_travel.TRINO) -> None:
        """`words`: for the past, whatever the version."""
        self._words = words

    def statements(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, ...]:
        return (self._statement(distribution, settings, question)[1],)

    def time_travel(self, distribution: Distribution) -> TimeTravel:
        return time_travel.of_version(self._words, distribution)

    def _statement(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, str]:
        """Return the catalog, which follows from the format and the settings, and the query."""
        catalog = connector_catalogs.catalog(question.format, settings)
        words = self.time_travel(distribution)
        return catalog, query_sql.select(question, query_sql.ANSI, words, catalog)

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        """Return why a reader cannot be asked about a format; see `Engine.cannot`."""
        return connector_catalogs.cannot(distribution, settings, format_)

    def by_hand(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> tuple[str, ...]:
        """Return the file of the catalog that is asked, as comments."""
        name = connector_catalogs.catalog(format_, settings)
        values = connector_catalogs.catalog_values(distribution, METASTORE)[name]
        lines = template.render(server.TEMPLATES, "catalog.properties", values).splitlines()
        return (f"-- etc/catalog/{name}.properties:", *(f"--   {line}" for line in lines))

    def ask_code(self) -> str:
        """Return a digest of the templates and of the sources of all that shapes an answer."""
        return code_digest(server.TEMPLATES)

    def configuration(self, distribution: Distribution) -> Configuration:
        """Return what a container is told that people use; see `Engine.configuration`."""
        catalogs = partial(connector_catalogs.catalog_values, distribution)
        return TrinoProgram(distribution, catalogs)

    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> AbstractContextManager[Server]:
        """Run a server in the empty `folder`; see `Engine.serve`."""

        def catalogs(uri: str) -> Catalogs:
            every = connector_catalogs.catalog_values(runtime.distribution, uri)
            return connector_catalogs.needed(every, planned)

        statement = partial(self._statement, runtime.distribution)
        return server.serve(runtime, metastore, folder, progress, catalogs, statement)


ENGINE = TrinoEngine()
