"""Tables of a run where engines run already: nothing of them is left, nothing else is touched."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import pytest

from harness.artifacts.cache import Cache
from harness.conformance import table
from harness.core import atomic_write
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.read import platform_tables
from harness.read.platform_tables import PlatformTables
from harness.read.reader_servers import ReadContext
from harness.runtime.metastore_objects import CatalogEntry
from harness.usage import own_tables
from harness.usage.own_tables import OwnTables, Space
from harness.usage.rest_listing import NotToldError
from harness.write import state_store
from harness.write.state_store import State
from tests.builders.kills import kill_at, lines_of

REFUSED = "f" * 64
"""The digest of a state that the catalog does not take."""
KILLED_IN = (platform_tables, state_store, atomic_write, sys.modules[__name__])


@dataclass(frozen=True)
class FolderCatalog:
    """A catalog whose databases are folders, so that it outlives who asks it."""

    folder: Path

    def databases(self) -> tuple[str, ...]:
        return tuple(sorted(path.name for path in self.folder.iterdir()))

    def put(self, database: str, entries: Sequence[CatalogEntry], location: str) -> None:
        (self.folder / database).mkdir()
        if database.endswith(REFUSED[: state_store.DATABASE_DIGITS]):
            raise NotToldError("400 Bad Request: Unknown version 3")
        for entry in entries:
            (self.folder / database / entry.name).write_text(location, encoding="utf-8")

    def drop(self, database: str) -> None:
        shutil.rmtree(self.folder / database)


@dataclass(frozen=True)
class Platform:
    catalog: FolderCatalog
    files: Path
    context: ReadContext
    space: Space
    state: State

    def seen(self) -> list[str]:
        """All that there is, the records of what is to be removed included."""
        records = self.context.cache.root / "own_tables"
        below = [*self.catalog.folder.rglob("*"), *self.files.rglob("*"), *records.glob("*.json")]
        return sorted(map(str, below))

    def read(self) -> None:
        with PlatformTables(self.context) as tables:
            tables.register([self.state])


@pytest.fixture
def platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Platform:
    for theirs in ("catalog/sales", "catalog/harness_sales", "files/orders", "files/harness_old"):
        (tmp_path / theirs).mkdir(parents=True)
        (tmp_path / theirs / "one").write_text("theirs", encoding="utf-8")
    catalog = FolderCatalog(tmp_path / "catalog")

    @contextmanager
    def opened(_: Space) -> Iterator[FolderCatalog]:
        yield catalog

    monkeypatch.setattr(platform_tables, "_reached", opened)
    cache, files = Cache(tmp_path / "cache"), tmp_path / "files"
    space = OwnTables("harness_", "theirs", str(files)).space("thrift://theirs:9083")
    own_tables.use(space)
    context = ReadContext(cache, tmp_path / "engines", Progress())
    state = table.state(cache, table.HIVE, Progress())
    return Platform(catalog, files, context, space, state)


def test_they_are_there_for_a_while_and_then_no_more(platform: Platform) -> None:
    before, database = platform.seen(), platform.space.database(platform.state.database)
    with PlatformTables(platform.context) as tables:
        tables.register([platform.state])
        tables.register([platform.state])
        assert tables.answers(tables.running())
        assert database in platform.catalog.databases()
        location = Path((platform.catalog.folder / database / table.TYPES).read_text("utf-8"))
        copied = sorted(str(path.relative_to(location)) for path in location.rglob("*"))
        assert copied == sorted(file.path for file in state_store.file_list(platform.state))
        assert list(platform_tables.sweep(platform.context.cache)) == []  # who lives keeps them
        assert database in platform.catalog.databases()
    assert platform.seen() == before


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("format_name", [table.HIVE, "iceberg"])
def test_what_changes_there_changes_nothing_in_the_cache(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, format_name: str, *, links: bool
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise PermissionError

    state = table.state(platform.context.cache, format_name, Progress())
    before = {p: p.read_bytes() for p in state.table.rglob("*") if p.is_file()}
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", refuse)
    with PlatformTables(platform.context) as tables:
        tables.register([state])
        there = Path(platform.space.root) / state.digest
        same = [(there / p.relative_to(state.table)).samefile(p) for p in before]
        assert set(same) == {links and format_name == table.HIVE}
    assert {p: p.read_bytes() for p in state.table.rglob("*") if p.is_file()} == before
    assert state_store.load(platform.context.cache, state.digest) == state


def test_a_table_that_the_catalog_does_not_take_is_told_and_the_others_are_there(
    platform: Platform,
) -> None:
    before, refused = platform.seen(), replace(platform.state, digest=REFUSED)
    with PlatformTables(platform.context) as tables:
        tables.register([refused, platform.state])
        assert tables.refused.keys() == {REFUSED}
        assert "Unknown version 3" in tables.refused[REFUSED].message
        there = platform.catalog.folder / platform.space.database(platform.state.database)
        assert list(there.iterdir())
    assert platform.seen() == before


def test_a_kill_at_any_line_leaves_nothing_after_the_next_start(platform: Platform) -> None:
    before = platform.seen()
    every = lines_of(KILLED_IN, platform.read)
    assert every > 80
    made = 0
    for line in range(1, every + 1):
        assert kill_at(line, KILLED_IN, platform.read)
        made += platform.seen() != before
        messages = list(platform_tables.sweep(platform.context.cache))
        assert all(text.startswith(f"removed {platform.space.begin}") for text in messages)
        assert platform.seen() == before
    assert made > 40


def test_what_cannot_be_removed_is_told_and_tried_again(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = platform.seen()
    assert kill_at(lines_of(KILLED_IN, platform.read) // 2, KILLED_IN, platform.read)

    def gone(_: Space) -> NoReturn:
        raise EnvironmentProblem("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(platform_tables, "_reached", gone)
        (message,) = platform_tables.sweep(platform.context.cache)
    assert "is left, and the next run tries again to remove it: no answer" in message
    assert platform.seen() != before
    (message,) = platform_tables.sweep(platform.context.cache)
    assert message == f"removed {platform.space}"
    assert platform.seen() == before


def test_a_record_that_names_no_prefix_of_a_run_removes_nothing(platform: Platform) -> None:
    record = platform.context.cache.root / "own_tables" / "x.json"
    record.parent.mkdir()
    text = '{{"catalog": "theirs", "address": "thrift://x:1", "folder": "{0}", "begin": "{1}"}}'
    record.write_text(text.format(platform.files, ""), encoding="utf-8")
    before = platform.seen()
    (message,) = platform_tables.sweep(platform.context.cache)
    assert "is no prefix of a run's own" in message
    assert platform.seen() == before
