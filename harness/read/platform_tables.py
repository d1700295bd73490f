"""The tables of a run where engines run already: put there, and removed again, also after a kill.

The record of a run's prefix lies in the cache before anything is made, under a lock that ends with
the process: what has a record and no lock was left by the dead.
"""

import shutil
import tempfile
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

from filelock import Timeout
from pydantic import TypeAdapter

from harness.artifacts.cache import OWN_TABLES, Cache
from harness.core.atomic_write import atomic_write
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.records import Refusal
from harness.core.runtime_names import ENDPOINT, given
from harness.core.texts import printable
from harness.formats.files import table_folder
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.formats.iceberg import move
from harness.formats.iceberg.table import METADATA
from harness.read.reader_servers import ReadContext, SharedMetastore
from harness.runtime import metastore_client
from harness.runtime.api import MetastoreUris, RunsElsewhere
from harness.runtime.metastore import Metastore
from harness.runtime.metastore_client import Catalog, CatalogRefusedError
from harness.usage import own_tables, rest_listing
from harness.usage.own_tables import Space
from harness.usage.rest_listing import NotToldError, RestCatalog
from harness.write import state_store
from harness.write.state_store import State

AT_ONCE: Final = 8
"""Files that are copied side by side."""
NOT_TAKEN: Final = "the catalog does not take the table"
_RECORD: Final = TypeAdapter(Space)


def catalog_for(server: str, context: ReadContext) -> SharedMetastore:
    """Return what holds the tables that a server is asked about, by its distribution."""
    return (PlatformTables if given(server) == ENDPOINT else SharedMetastore)(context)


class PlatformTables(SharedMetastore):
    """Tables of a run in a catalog that runs already, from the first one to the end of the context.

    For several threads.
    """

    def register(self, states: Collection[State]) -> None:
        known = {state.digest for state in self._states}
        self.add(state for state in states if state.digest not in known)
        self.running()

    def running(self) -> Metastore:
        """Return the catalog, with every state in it; raises EnvironmentProblem."""
        space, context = own_tables.current(), self.context
        with self._lock, _reached(space) as catalog:  # before anything is made
            if self._running is None:
                context.progress.note(f"tables of this run: {space}")
                self._stack.enter_context(_recorded(context.cache, space, context.progress))
                uris = MetastoreUris(space.address)
                self._running = Metastore(RunsElsewhere(), uris, Path(space.root))
            for state in self._states[self._registered :]:
                if refusal := put(catalog, space, state, context.folder):
                    self.refused[state.digest] = refusal
                self._registered += 1
            return self._running

    def answers(self, one: Metastore) -> bool:
        with suppress(EnvironmentProblem), _reached(own_tables.current()) as catalog:
            catalog.databases()
            return self._running is one
        return False


@contextmanager
def _reached(space: Space) -> Iterator[Catalog | RestCatalog]:
    """Connect to a catalog; EnvironmentProblem: it, or the store of files, does not do its part."""
    reaching: AbstractContextManager[Catalog | RestCatalog]
    if space.address.startswith("http"):
        reaching = rest_listing.opened(space.address, space.catalog)
    else:
        reaching = metastore_client.connect(space.address)
    try:
        with reaching as catalog:
            yield catalog
    except (CatalogRefusedError, NotToldError, UnreadableError, OSError) as problem:
        raise EnvironmentProblem(printable(f"{space}: {problem}")) from problem


def put(catalog: Catalog | RestCatalog, space: Space, state: State, work: Path) -> Refusal | None:
    """Copy the files of a state into the folder, and make its tables in a database of their own.

    Return what the catalog answers where it does not take them; of others it may take.
    """
    location, database = f"{space.root}/{state.digest}", space.database(state.database)
    folder = table_folder.at(location)
    work.mkdir(parents=True, exist_ok=True)
    # What a harness that dies leaves under this name is removed with the tables being written.
    temporary = tempfile.TemporaryDirectory(prefix="table-", dir=work) if folder.store else None
    with temporary or nullcontext(folder.root) as path:
        copy = Path(path)
        _copy(state, copy)
        if state.frozen.home:
            for table in (copy, *copy.iterdir()):  # one, or some beside each other
                if (table / METADATA).is_dir():
                    move.move(table, f"{location}{str(table).removeprefix(str(copy))}")
        if folder.store:
            _upload(copy, folder)
        try:
            catalog.put(database, state.frozen.entries, location)
        except (CatalogRefusedError, NotToldError) as refused:
            return Refusal(NOT_TAKEN, printable(str(refused)))
    return None


def _copy(state: State, to: Path) -> None:
    """Copy all but checksums; the folders of a state cannot be written to, and these can.

    Only Iceberg's files name each other by absolute paths, and are changed: others may be links.
    """
    place = shutil.copyfile if state.frozen.home else state_store.link_or_copy
    to.mkdir(parents=True, exist_ok=True)
    for file in state.frozen.listing:
        source, there = f"{state.table}/{file.path}", f"{to}/{file.path}"
        if file.size == 0 and Path(source).is_dir():
            Path(there).mkdir()
        elif not state_store.is_checksum(file.path):
            place(source, there)


def _upload(copy: Path, folder: TableFolder) -> None:
    """Copy all files to an object store, which has no folders."""

    def upload(path: Path) -> None:
        with folder.files.open_output_stream(f"{folder.root}/{path.relative_to(copy)}") as out:
            out.write(path.read_bytes())

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(upload, filter(Path.is_file, copy.rglob("*"))))


def remove(space: Space) -> None:
    """Remove all whose name begins as those of a run do, and nothing else."""
    with _reached(space) as catalog:
        for database in filter(space.has, catalog.databases()):
            catalog.drop(database)
        folder = table_folder.at(space.root)
        # One by one: a store may take longer for all of them at once than its client waits.
        for below in (*(f"/{file.path}" for file in folder.listed() if file.folder), ""):
            with suppress(FileNotFoundError):
                folder.files.delete_dir(f"{folder.root}{below}")


@contextmanager
def _recorded(cache: Cache, space: Space, progress: Progress) -> Iterator[None]:
    """Let the cache tell of a space before anything is in it, and as long as anything is."""
    record = cache.root / OWN_TABLES / f"{space.begin}.json"
    with cache.lock(record):
        with atomic_write(record) as path:
            path.write_bytes(_RECORD.dump_json(space))
        try:
            yield
        finally:
            progress.note(_removed(record))


def sweep(cache: Cache) -> Iterator[str]:
    """Remove what the dead left on platforms; yield what came of it, a line of each."""
    for record in sorted((cache.root / OWN_TABLES).glob("*.json")):
        with suppress(Timeout), cache.lock(record).acquire(timeout=0):
            if record.exists():
                yield _removed(record)


def _removed(record: Path) -> str:
    """Remove what a record tells of, and then the record, for who holds its lock."""
    try:
        space = _RECORD.validate_json(record.read_bytes())
        remove(space)
    except (EnvironmentProblem, ValueError) as problem:
        return f"{record.stem}… is left, and the next run tries again to remove it: {problem}"
    record.unlink()
    record.with_name(f"{record.name}.lock").unlink()
    return f"removed {space}"
