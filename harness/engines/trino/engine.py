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
from typing import Final

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
    TimeTravelWords,
)
from harness.engines.engine_support import code_digest
from harness.engines.format_facts import FormatFacts
from harness.engines.query_sql import newest_changes
from harness.engines.trino import connector_catalogs, server
from harness.engines.trino.connector_catalogs import Catalogs
from harness.engines.trino.server import TrinoProgram
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.runtime import template
from harness.runtime.api import Configuration, MetastoreUris, Runtime

_IN_NAME: Final = TimeTravelWords("{table}", suffix="@{instant}")
_NO_NAMES: Final = "it has no words for a tag or a branch"
# Manual of Trino, "Iceberg connector", "Delta Lake connector", "table_changes"; manual of PrestoDB,
# "Delta Lake connector". The catalogs are called by the families (`connector_catalogs`).
TRINO: Final[TimeTravel] = {
    ("iceberg", AS_OF): TimeTravelWords("{table} for version as of {instant}"),
    ("iceberg", TAG): TimeTravelWords("{table} for version as of '{instant}'"),
    ("iceberg", BRANCH): TimeTravelWords("{table} for version as of '{instant}'"),
    ("delta", AS_OF): TimeTravelWords("{table} for version as of {instant}"),
    ("delta", INCREMENTAL): newest_changes(
        'table("delta".system.table_changes('
        "schema_name => '{database}', table_name => '{name}', since_version => {instant}))"
    ),
    ("hudi", AS_OF): "its connector has no words for it",
}
PRESTO: Final[TimeTravel] = {
    # NOT_FOUND, `t@<snapshot>` of `HiveTableOperations`: the metastore is asked for all.
    ("iceberg", AS_OF): "it finds no table with a snapshot in its name (seen on 0.283)",
    ("iceberg", TAG): _NO_NAMES,
    ("iceberg", BRANCH): _NO_NAMES,
    ("delta", AS_OF): TimeTravelWords("{table}", suffix="@v{instant}"),
    ("hudi", AS_OF): "its connectors have no words for it",
}


def words_of_version(words: TimeTravel, distribution: Distribution) -> TimeTravel:
    """Return the words of a version.

    Lock data call by `snapshot_in_name` the families whose tables have a snapshot's id in their
    name, because this version has no words for it.
    """
    named = distribution.texts_if_any("snapshot_in_name")
    return {**words, **{(family, AS_OF): _IN_NAME for family in named}}


class TrinoEngine:
    """See `harness.engines.api.Engine`."""

    settings: Mapping[str, tuple[str, ...]] = connector_catalogs.SETTINGS

    def __init__(self, words: TimeTravel = TRINO) -> None:
        self._words = words

    def statements(
        self, distribution: Distribution, settings: ReaderSettings, question: Question
    ) -> tuple[str, ...]:
        return (self._statement(distribution, settings, question)[1],)

    def time_travel(self, distribution: Distribution) -> TimeTravel:
        return words_of_version(self._words, distribution)

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
        return connector_catalogs.cannot(distribution, settings, format_)

    def by_hand(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> tuple[str, ...]:
        name = connector_catalogs.catalog(format_, settings)
        values = connector_catalogs.catalog_values(distribution, METASTORE)[name]
        lines = template.render(server.TEMPLATES, "catalog.properties", values).splitlines()
        return (f"-- etc/catalog/{name}.properties:", *(f"--   {line}" for line in lines))

    def ask_code(self) -> str:
        return code_digest(server.TEMPLATES)

    def configuration(self, distribution: Distribution) -> Configuration:
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
        def catalogs(uri: str) -> Catalogs:
            every = connector_catalogs.catalog_values(runtime.distribution, uri)
            return connector_catalogs.needed(every, planned)

        statement = partial(self._statement, runtime.distribution)
        return server.serve(runtime, metastore, folder, progress, catalogs, statement)


ENGINE = TrinoEngine()
