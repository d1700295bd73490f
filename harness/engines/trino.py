"""Trino as a reader, and with it the engines it was called before (see `presto`).

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
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.engines import common, trino_catalogs, trino_server
from harness.engines.api import Question, Server, Settings, Wanted
from harness.progress import Progress
from harness.runtimes.distribution import Distribution
from harness.runtimes.fetch import Installation

_MODULES: Final = (
    *("harness.engines.common", "harness.engines.java_numbers"),
    *(f"harness.engines.trino_{of}" for of in ("catalogs", "http", "protocol", "server", "values")),
)


class TrinoEngine:
    """See `harness.engines.api.Engine`."""

    settings: Mapping[str, tuple[str, ...]] = trino_catalogs.SETTINGS

    def sql(self, question: Question, settings: Settings) -> str:
        """Give the query; the catalog follows from the format and the settings."""
        catalog = trino_catalogs.catalog(question.format, settings)
        return common.select(replace(question, database=f"{catalog}.{question.database}"), '"')

    def cannot(self, distribution: Distribution, settings: Settings, format_name: str) -> str:
        """Say why a reader cannot be asked about a format; see `Engine.cannot`."""
        return trino_catalogs.cannot(distribution, settings, format_name)

    def ask_code(self) -> str:
        """Give a digest of the templates and of the sources of all that shapes an answer."""
        return common.code_digest(trino_server.TEMPLATES, *_MODULES)

    def serve(
        self,
        installation: Installation,
        metastore_uri: str,
        folder: Path,
        progress: Progress,
        wanted: Wanted = None,
    ) -> AbstractContextManager[Server]:
        """Run a server in the empty `folder`; see `Engine.serve`."""
        catalogs = trino_catalogs.catalog_values(installation.distribution, metastore_uri)
        catalogs = trino_catalogs.wanted(catalogs, wanted)
        return trino_server.serve(installation, metastore_uri, folder, progress, catalogs)


ENGINE = TrinoEngine()
