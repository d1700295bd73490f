from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.records import Outcome, OutcomeKind
from harness.model.file_facts import FileFact, FileKind
from harness.model.partition_paths import ListedAs
from harness.runtime.metastore_objects import CatalogEntry
from harness.write.table_state import Frozen, State

META = "_hoodie_commit_time"


def state(*listed: str, stored: str = "id", partitions: tuple[str, ...] = ()) -> State:
    """Return a state whose one catalog entry lists columns and whose one file stores one."""
    columns, keys = ([{"name": n, "type": "string"} for n in some] for some in (listed, partitions))
    entry = CatalogEntry("t", {"sd": {"cols": columns}, "partitionKeys": keys})
    fact = FileFact("f", FileKind.BASE, "g", "1", ((stored, "string"),))
    outcome = Outcome(1, OutcomeKind.APPLIED, "1")
    return State("d" * 64, Path("states/d"), Frozen(outcome, (entry,), (fact,), ("", "1")))


def test_columns_are_those_of_the_catalog_without_hudis_own() -> None:
    found = state("_hoodie_record_key", "id", partitions=("p",))
    assert found.columns == {"t": ("id", "p")}
    assert found.database == f"s_{'d' * 16}"


def test_the_catalogs_columns_are_those_that_all_entries_list() -> None:
    one, other = state("_hoodie_commit_time", "id", "f"), state("id", "g")
    assert one.catalog == ("id", "f")
    entries = (*one.frozen.entries, replace(other.frozen.entries[0], name="t_ro"))
    assert replace(one, frozen=replace(one.frozen, entries=entries)).catalog == ()


def test_the_catalogs_types_are_in_our_words_and_those_that_all_entries_have() -> None:
    found = state(META, "id", "n")
    cols = [{"name": name, "type": t} for name, t in (("id", "bigint"), ("n", "uniontype<int>"))]
    other = replace(found.frozen.entries[0], table={"sd": {"cols": cols}})
    retyped = replace(found, frozen=replace(found.frozen, entries=(other,)))
    assert (found.catalog_types, retyped.catalog_types) == (("string", "string"), ("long", ""))
    both = replace(found, frozen=replace(found.frozen, entries=(*found.frozen.entries, other)))
    assert (both.catalog, both.catalog_types) == (("id", "n"), ())


def test_hudis_own_columns_are_those_that_the_catalog_lists() -> None:
    assert state(META, "id", "_hoodie_mine").listed == {"t": frozenset({META})}


@pytest.mark.parametrize(
    ("listed", "stored", "bare"),
    [("id", META, True), (META, META, False), ("id", "id", False), (META, "id", False)],
)
def test_a_state_is_bare_where_only_files_have_the_meta_columns(
    listed: str, stored: str, *, bare: bool
) -> None:
    assert state(listed, stored=stored).bare is bare


def test_values_that_the_catalog_gives_in_other_words_than_the_folder_are_kept() -> None:
    def part(folder: str, *values: str) -> dict[str, object]:
        return {"sd": {"location": f"file:{{location}}/{folder}"}, "values": list(values)}

    def listed(*entries: tuple[dict[str, object], ...], stored: str = "p") -> ListedAs:
        made = tuple(
            CatalogEntry(f"t{n}", {"sd": {"cols": []}}, each) for n, each in enumerate(entries)
        )
        fact = FileFact("f", FileKind.BASE, "g", "1", ((stored, "string"),))
        frozen = Frozen(Outcome(1, OutcomeKind.APPLIED), made, (fact,), ())
        return State("d", Path("folder"), frozen).listed_as(("p",))

    null = "__HIVE_DEFAULT_PARTITION__"
    assert listed((part("p=a", "a"), part("a", "a"), part(f"p={null}", null))) == ()
    assert listed((part("p=a%3Db", "a=b"),)) == (("p=a%3Db", ("a=b",)),)
    assert listed((part("p=a%3Db", "a%3Db"),)) == (("p=a%3Db", ("a%3Db",)),)
    assert listed((part("p=a%3Db", "a=b"),), stored="id") == ()
    assert listed((part("p=a%3Db", "a%3Db"),), stored="id") == (("p=a%3Db", ("a%3Db",)),)
    assert listed((part("p=x", null),)) == (("p=x", (None,)),)
    assert listed((part("p=x", "y"),), (part("p=x", "z"),)) == ()  # two entries, two opinions
