import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts import table_homes
from harness.artifacts.cache import Cache
from harness.artifacts.cache_cleanup import sweep
from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.runtime.metastore_objects import CatalogEntry, WriteIds
from harness.write import state_store
from harness.write.state_store import Frozen, State

DIGEST = "d" * 64
ENTRY = CatalogEntry(
    "t",
    {
        "tableName": "t",
        "sd": {
            "cols": [
                {"name": "_hoodie_record_key", "type": "string"},
                {"name": "id", "type": "int"},
            ],
            "location": "file:{location}",
        },
        "partitionKeys": [{"name": "p", "type": "string"}],
    },
)
APPLIED = Frozen(Outcome(1, OutcomeKind.APPLIED, "100"), (ENTRY,), ("", "100"))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    folder = tmp_path / "t"
    (folder / "empty").mkdir(parents=True)
    for name in ("a.parquet", ".a.parquet.crc"):
        (folder / name).write_text(name)
    for path in (*folder.iterdir(), folder):
        os.utime(path, ns=(10**18, 10**18))
    return folder


def test_a_state_is_a_faithful_copy_and_read_only(cache: Cache, table: Path) -> None:
    state = state_store.freeze(cache, DIGEST, table, APPLIED)
    names = sorted(path.name for path in state.table.iterdir())
    assert names == [".a.parquet.crc", "a.parquet", "empty"]
    assert {path.stat().st_mtime_ns for path in (*state.table.iterdir(), state.table)} == {10**18}
    modes = {path.stat().st_mode & 0o222 for path in (state.folder, *state.folder.rglob("*"))}
    assert modes == {0}


def test_a_state_is_found_again_as_it_was_frozen(cache: Cache, table: Path) -> None:
    refusal = Refusal("java.lang.X", "no", "CODE", "cause")
    frozen = replace(
        APPLIED, outcome=Outcome(1, OutcomeKind.REFUSED, refusal=refusal, statements=("s",))
    )
    made = state_store.freeze(cache, DIGEST, table, frozen)
    assert state_store.load(cache, DIGEST) == made
    assert made.frozen == replace(frozen, listing=state_store.file_list(made))


def test_what_is_there_already_stays(cache: Cache, table: Path) -> None:
    first = state_store.freeze(cache, DIGEST, table, APPLIED)
    (table / "later").touch()
    again = state_store.freeze(cache, DIGEST, table, replace(APPLIED, instants=("", "200")))
    assert again == first
    assert not (again.table / "later").exists()


def test_a_state_whose_files_were_changed_is_put_aside(cache: Cache, table: Path) -> None:
    state = state_store.freeze(cache, DIGEST, table, APPLIED)
    (state.table / "a.parquet").chmod(0o644)
    (state.table / "a.parquet").write_text("other")
    assert state_store.load(cache, DIGEST) is None
    assert len(list((cache.root / "states").glob(f"{DIGEST}.changed-*/state.json"))) == 1
    assert state_store.freeze(cache, DIGEST, table, APPLIED) == state_store.load(cache, DIGEST)


def test_a_copy_that_breaks_off_leaves_nothing(
    cache: Cache, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_store._ADAPTER, "dump_json", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        state_store.freeze(cache, DIGEST, table, APPLIED)
    assert state_store.load(cache, DIGEST) is None
    assert [path.suffix for path in (cache.root / "states").iterdir()] == [".lock"]


@pytest.mark.parametrize("kind", [OutcomeKind.UNKNOWN, OutcomeKind.SKIPPED])
def test_a_state_that_is_not_known_is_never_kept(
    cache: Cache, table: Path, kind: OutcomeKind
) -> None:
    with pytest.raises(ValueError, match="never kept"):
        state_store.freeze(cache, DIGEST, table, replace(APPLIED, outcome=Outcome(1, kind)))
    assert state_store.load(cache, DIGEST) is None


def test_the_file_list_shows_every_change(cache: Cache, table: Path) -> None:
    state = state_store.freeze(cache, DIGEST, table, APPLIED)
    before = state_store.file_list(state)
    assert state_store.file_list(state) == before
    os.utime(state.table / "empty", ns=(1, 1))
    touched = state_store.file_list(state)
    assert touched != before
    state.table.chmod(0o755)
    (state.table / "new").touch()
    assert len(state_store.file_list(state)) == len(touched) + 1


def test_the_file_list_has_the_order_of_states_frozen_long_ago(cache: Cache, table: Path) -> None:
    for name in ("b/x", "b.c", "b/a/y", "empty/z"):
        (table / name).parent.mkdir(parents=True, exist_ok=True)
        (table / name).write_text(name)
    (table / "link").symlink_to("b")
    seen = state_store.file_list(state_store.freeze(cache, DIGEST, table, APPLIED))
    top = [".a.parquet.crc", "a.parquet", "b", "b.c", "empty", "link"]
    assert [file.path for file in seen] == [*top, "b/a", "b/x", "b/a/y", "empty/z"]
    assert {file.path: file.size for file in seen if file.size < 3} == dict.fromkeys(
        ("b", "b/a", "empty", "link"), 0
    )


def test_everything_that_was_entered_is_in_the_address() -> None:
    first = state_store.address({"a": "1"}, [["create"], ["insert"]], ["w1", "w1"])
    assert first == state_store.address({"a": "1"}, [["create"], ["insert"]], ["w1", "w1"])
    others = {
        state_store.address({"a": "2"}, [["create"], ["insert"]], ["w1", "w1"]),
        state_store.address({"a": "1"}, [["create"], ["insert", ""]], ["w1", "w1"]),
        state_store.address({"a": "1"}, [["create", "insert"]], ["w1", "w1"]),
        state_store.address({"a": "1"}, [["create"], ["insert"]], ["w1", "w2"]),
        state_store.address({"a": "1"}, [["create"]], ["w1"]),
    }
    assert first not in others
    assert len(others) == 5


@pytest.fixture
def at_home(cache: Cache, table: Path) -> State:
    with table_homes.new(cache) as home:
        shutil.copytree(table, home)
        state = state_store.freeze(cache, DIGEST, home, replace(APPLIED, home=str(home)))
    shutil.rmtree(home.parent)
    return state


class Metastore:
    def __init__(self) -> None:
        self.locations: list[str] = []
        self.ended = 0

    def has(self, database: str) -> bool:
        return False

    def register(self, database: str, entries: object, location: str) -> None:
        self.locations.append(location)

    def end_transactions(self, until: int) -> None:
        self.ended = until


def registered(state: State, bucket: Path | None = None) -> str:
    metastore = Metastore()
    state_store.register(metastore, state, bucket)  # type: ignore[arg-type] # what of it is needed
    return " ".join(metastore.locations)


def test_a_table_is_in_an_object_store_without_the_files_that_a_disk_has_beside_others(
    cache: Cache, table: Path, tmp_path: Path
) -> None:
    state = state_store.freeze(cache, DIGEST, table, APPLIED)
    for _ in range(2):  # a metastore that is started again has all states anew
        assert registered(state, tmp_path) == f"s3a://states/{DIGEST}/table {state.table}"
    there = {
        str(path.relative_to(tmp_path / DIGEST / "table"))
        for path in (tmp_path / DIGEST / "table").rglob("*")
    }
    assert there == {file.path for file in state.frozen.listing} - {".a.parquet.crc"}
    assert ".a.parquet.crc" in {file.path for file in state.frozen.listing}


def test_a_table_with_a_home_is_in_no_object_store(at_home: State, tmp_path: Path) -> None:
    assert registered(at_home, tmp_path / "bucket") == at_home.frozen.home
    assert not (tmp_path / "bucket").exists()


@pytest.mark.parametrize(("folders", "last"), [((), 0), (("delta_1_3_v09", "base_4_v017"), 17)])
def test_what_a_compaction_made_counts_where_its_transaction_is_over(
    cache: Cache, table: Path, folders: tuple[str, ...], last: int
) -> None:
    for name in (*folders, "delta_5_5_0"):
        (table / "p=1" / name).mkdir(parents=True)
    entries = (CatalogEntry("t", {}, write_ids=WriteIds(5)),)
    state = state_store.freeze(cache, DIGEST, table, replace(APPLIED, entries=entries))
    metastore = Metastore()
    state_store.register(metastore, state)  # type: ignore[arg-type] # what of it is needed
    assert metastore.ended == last


def test_a_table_is_brought_home_before_it_is_read(at_home: State) -> None:
    assert state_store.file_list(at_home) == ()
    assert registered(at_home) == at_home.frozen.home
    names = sorted(path.name for path in at_home.home.iterdir())
    assert names == [".a.parquet.crc", "a.parquet", "empty"]
    assert (at_home.home / "a.parquet").samefile(at_home.table / "a.parquet")


def test_of_a_writing_that_broke_off_a_state_is_of_use_and_its_home_stays_once_it_is_read(
    cache: Cache, table: Path
) -> None:
    with suppress(KeyboardInterrupt), table_homes.new(cache) as home:
        shutil.copytree(table, home)
        state = state_store.freeze(cache, DIGEST, home, replace(APPLIED, home=str(home)))
        raise KeyboardInterrupt
    assert len(sweep(cache)) == 1
    assert not home.exists()
    registered(state)
    assert sweep(cache) == ()
    assert [file.path for file in state_store.file_list(state)] == [".a.parquet.crc", "a.parquet"]


def test_what_is_at_home_already_stays_unless_it_was_changed(at_home: State) -> None:
    registered(at_home)
    retained, changed = (at_home.home / name for name in ("a.parquet", ".a.parquet.crc"))
    copied = retained.read_bytes()
    retained.unlink()
    retained.write_bytes(copied)
    os.utime(retained, ns=(10**18, 10**18))
    changed.unlink()
    changed.write_text("other")
    registered(at_home)
    assert not retained.samefile(at_home.table / retained.name)
    assert changed.samefile(at_home.table / changed.name)
    assert sorted(path.name for path in at_home.home.iterdir()) == [
        changed.name,
        retained.name,
        "empty",
    ]


def test_later_states_add_files_at_home_and_only_changes_of_its_own_count(at_home: State) -> None:
    registered(at_home)
    before = state_store.file_list(at_home)
    assert [file.path for file in before] == [".a.parquet.crc", "a.parquet"]
    (at_home.home / "later.parquet").touch()
    assert state_store.file_list(at_home) == before
    os.utime(at_home.home / "a.parquet", ns=(1, 1))
    assert state_store.file_list(at_home) != before


def test_a_state_that_can_only_be_read_in_another_cache_counts_as_absent(
    at_home: State, cache: Cache, tmp_path: Path
) -> None:
    assert state_store.load(cache, DIGEST) == at_home
    other = Cache(tmp_path / "other")
    shutil.copytree(cache.root, other.root)
    with table_homes.new(other) as table:
        table.mkdir()
        mine = state_store.freeze(other, DIGEST, table, replace(APPLIED, home=str(table)))
    assert mine.home == table
    assert state_store.load(other, DIGEST) == mine
    shutil.rmtree(mine.folder)
    shutil.copytree(at_home.folder, mine.folder)
    assert state_store.load(other, DIGEST) is None
    assert not mine.folder.exists()


def test_where_no_links_are_allowed_a_table_is_brought_home_by_copies(
    at_home: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    registered(at_home)
    assert [file.path for file in state_store.file_list(at_home)] == [".a.parquet.crc", "a.parquet"]
    assert not (at_home.home / "a.parquet").samefile(at_home.table / "a.parquet")
    before = state_store.file_list(at_home)
    registered(at_home)
    assert state_store.file_list(at_home) == before


TIME = "_hoodie_commit_time"


def state_listing(*listed: str, partitions: tuple[str, ...] = ()) -> State:
    columns, keys = ([{"name": n, "type": "string"} for n in some] for some in (listed, partitions))
    entry = CatalogEntry("t", {"sd": {"cols": columns}, "partitionKeys": keys})
    outcome = Outcome(1, OutcomeKind.APPLIED, "1")
    return State("d" * 64, Path("states/d"), Frozen(outcome, (entry,), ("", "1")))


def test_columns_are_those_of_the_catalog_without_hudis_own() -> None:
    result = state_listing(TIME, "id", "_hoodie_mine", partitions=("p",))
    assert result.columns == {"t": ("id", "_hoodie_mine", "p")}
    assert result.listed == {"t": frozenset({TIME})}
    assert result.database == f"s_{'d' * 16}"


def test_the_catalogs_columns_are_those_that_all_entries_list() -> None:
    one, other = state_listing("_hoodie_commit_time", "id", "f"), state_listing("id", "g")
    assert one.catalog == ("id", "f")
    entries = (*one.frozen.entries, replace(other.frozen.entries[0], name="t_ro"))
    assert replace(one, frozen=replace(one.frozen, entries=entries)).catalog == ()


def test_the_catalogs_types_are_in_our_words_and_those_that_all_entries_have() -> None:
    result = state_listing(TIME, "id", "n")
    cols = [{"name": name, "type": t} for name, t in (("id", "bigint"), ("n", "uniontype<int>"))]
    other = replace(result.frozen.entries[0], table={"sd": {"cols": cols}})
    retyped = replace(result, frozen=replace(result.frozen, entries=(other,)))
    assert (result.catalog_types, retyped.catalog_types) == (("string", "string"), ("long", ""))
    both = replace(result, frozen=replace(result.frozen, entries=(*result.frozen.entries, other)))
    assert (both.catalog, both.catalog_types) == (("id", "n"), ())
