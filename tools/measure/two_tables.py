"""Every reader of a run is asked for two tables: one of the run, and another made of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.run import load_run
from harness.runtime import metastore_client, provide
from harness.runtime.api import MetastoreUris
from harness.runtime.metastore_client import Catalog
from harness.scenario.cells import parse_reader
from harness.write.table_state import State
from tools.markdown_table import table
from tools.measure.again import said


class TwoTables(Protocol):
    """A table of a run after a step, and the other one."""

    @property
    def variant(self) -> str:
        """The table's variant."""

    @property
    def step(self) -> int:
        """The step."""

    @property
    def before(self) -> State:
        """The table itself."""

    @property
    def database(self) -> str:
        """Where the other one is registered."""

    def register(self, catalog: Catalog, /) -> None:
        """Make both tables in a metastore."""


Two = TypeVar("Two", bound=TwoTables)


@dataclass(frozen=True, slots=True)
class TwoTablesOptions:
    """What somebody typed."""

    run: Path
    folder: Path
    """A new one, absolute."""
    reader: str


def options(doc: str) -> TwoTablesOptions:
    """Parse what was typed; `doc`: of the program, whose first line is its help."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a new one, for processes")
    parser.add_argument("--reader", default="", help="part of the readers' names; all without it")
    given = parser.parse_args()
    return TwoTablesOptions(given.run, given.folder.resolve(), given.reader)


def told(head: Sequence[str], counts: Mapping[tuple[str, str, str], int], same: str) -> int:
    """Print how often each thing came; return status 1 where one is not the same."""
    print("\n".join(table(head, ((*at, str(n)) for at, n in counts.items()))))
    return int(any(what != same for _, _, what in counts))


def answers(
    found: load_run.Run, reader: str, tables: Sequence[Two], folder: Path
) -> Iterator[tuple[Two, str, str, str]]:
    """Yield the tables with a reader, what it shows of the first one, and of the other.

    Args:
        found: the run.
        reader: part of the readers' names; empty: all of them.
        tables: what they are asked for.
        folder: for the processes.

    """
    (folder / "metastore").mkdir(parents=True)
    with provide.start_metastore(Cache.default(), folder / "metastore", Progress()) as shared:
        with metastore_client.connect(shared.uri) as catalog:
            for each in tables:
                each.register(catalog)
        for number, name in enumerate(each for each in found.readers if reader in each):
            place = folder / str(number)
            place.mkdir()
            for of, own, other in _asked(found, name, tables, shared.uris, place):
                yield of, name, own, other


def _asked(
    found: load_run.Run, reader: str, tables: Sequence[Two], uris: MetastoreUris, place: Path
) -> Iterator[tuple[Two, str, str]]:
    parsed = parse_reader(reader)
    there = provide.runtime(distributions.load(parsed.distribution), Cache.default(), Progress())
    serving = engines.load(there.distribution.engine).serve(there, uris, place, Progress())
    with serving as server, closing(server.connect(dict(parsed.settings))) as connection:
        for each in tables:
            sql = _sql(found, reader, each)
            other = sql.replace(each.before.database, each.database)
            yield each, said(connection, sql), said(connection, other)


def _sql(found: load_run.Run, reader: str, of: TwoTables) -> str:
    cases = (
        each.case
        for each in found.info.cells
        if (each.variant, each.step, each.reader) == (of.variant, of.step, reader)
        and (each.view, each.query) == ("snapshot", "all")
    )
    return found.answers[next(cases)].sql
