"""PyIceberg as a reader of Iceberg tables: the specification read by code of its own.

It has hardly any code in common with Iceberg's library for Java, by which Spark, Hive and Trino
read, and neither Java nor SQL. It asks no catalog here: the metastore is asked for the metadata
file of a table, and PyIceberg opens that (`StaticTable`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress
from harness.engines import bundles, python_program
from harness.engines.api import PlannedReads, Question, ReaderSettings, Reply, Server
from harness.engines.code_digest import code_digest
from harness.engines.format_facts import FormatFacts
from harness.engines.pyiceberg import answers, python_text
from harness.engines.python_session import (
    PythonEngine,
    PythonSession,
    entries,
    no_image,
    reply,
    served,
)
from harness.runtime.api import Configuration, MetastoreUris, Runtime

FAMILY: Final = "iceberg"
POINTER: Final = "metadata_location"
"""The parameter of an entry that names the metadata file (Iceberg's `BaseMetastoreTableOperations`,
METADATA_LOCATION_PROP)."""


@dataclass(frozen=True, slots=True)
class PyIcebergConnection:
    """One session; see `harness.engines.api.Connection`."""

    session: PythonSession
    metastore: str

    def ask(self, sql: str, *, timeout_s: float) -> Reply:
        """Send an expression of Python and fetch all rows; raises as `Connection.ask` says."""
        found = entries(self.metastore, python_text.named(sql))
        places = [[*of, entry.parameters.get(POINTER, "")] for *of, entry in found]
        return reply(self.session.run({"python": sql, "tables": places}, timeout_s))

    def close(self) -> None:
        """End the session; never raises."""
        self.session.close()


class PyIcebergEngine:
    """See `harness.engines.api.Engine`."""

    settings: Mapping[str, tuple[str, ...]] = {}

    def sql(self, question: Question, settings: ReaderSettings) -> str:  # noqa: ARG002 - none
        """Return the question, an expression of Python."""
        return python_text.text(question)

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        """Return why a reader cannot be asked about a format; see `Engine.cannot`."""
        if format_.family != FAMILY:
            return f"{distribution.name} has no reader for {format_.family} tables"
        return bundles.cannot(distribution, settings, format_)

    def by_hand(
        self,
        distribution: Distribution,  # noqa: ARG002 - the same for all
        settings: ReaderSettings,  # noqa: ARG002
        format_: FormatFacts,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Return how a table is opened in Python, as comments."""
        return (
            "-- In Python:",
            "--   import pyarrow.compute as pc",
            "--   from decimal import Decimal",
            "--   from pyiceberg.expressions import *",
            "--   from pyiceberg.table import StaticTable",
            f"--   place = 'METADATA'  # the table's parameter {POINTER} in the metastore",
            "--   def table(database, name): return StaticTable.from_metadata(place)",
        )

    def ask_code(self) -> str:
        """Return a digest of the sources of everything that shapes an answer."""
        return code_digest("pyiceberg", *python_program.SHARED)

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
        """Start the worker; see `Engine.serve`."""
        del planned
        progress.note(f"start {runtime.distribution.name}")
        return served(runtime, metastore, folder, WORKER)


def _connection(
    session: PythonSession, metastore: str, settings: ReaderSettings
) -> PyIcebergConnection:
    del settings
    return PyIcebergConnection(session, metastore)


WORKER: Final = PythonEngine(Path(answers.__file__), {"python": "1", "tables": []}, _connection)
ENGINE = PyIcebergEngine()
