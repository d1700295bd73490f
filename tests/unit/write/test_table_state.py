from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.core.records import Outcome, OutcomeKind
from harness.runtime.metastore_objects import CatalogEntry
from harness.write.state_store import Frozen, State

META = "_hoodie_commit_time"


def state(*listed: str, partitions: tuple[str, ...] = ()) -> State:
    """Return a state whose one catalog entry lists columns."""
    columns, keys = ([{"name": n, "type": "string"} for n in some] for some in (listed, partitions))
    entry = CatalogEntry("t", {"sd": {"cols": columns}, "partitionKeys": keys})
    outcome = Outcome(1, OutcomeKind.APPLIED, "1")
    return State("d" * 64, Path("states/d"), Frozen(outcome, (entry,), ("", "1")))


def test_columns_are_those_of_the_catalog_without_hudis_own() -> None:
    result = state("_hoodie_record_key", "id", partitions=("p",))
    assert result.columns == {"t": ("id", "p")}
    assert result.database == f"s_{'d' * 16}"


def test_the_catalogs_columns_are_those_that_all_entries_list() -> None:
    one, other = state("_hoodie_commit_time", "id", "f"), state("id", "g")
    assert one.catalog == ("id", "f")
    entries = (*one.frozen.entries, replace(other.frozen.entries[0], name="t_ro"))
    assert replace(one, frozen=replace(one.frozen, entries=entries)).catalog == ()


def test_the_catalogs_types_are_in_our_words_and_those_that_all_entries_have() -> None:
    result = state(META, "id", "n")
    cols = [{"name": name, "type": t} for name, t in (("id", "bigint"), ("n", "uniontype<int>"))]
    other = replace(result.frozen.entries[0], table={"sd": {"cols": cols}})
    retyped = replace(result, frozen=replace(result.frozen, entries=(other,)))
    assert (result.catalog_types, retyped.catalog_types) == (("string", "string"), ("long", ""))
    both = replace(result, frozen=replace(result.frozen, entries=(*result.frozen.entries, other)))
    assert (both.catalog, both.catalog_types) == (("id", "n"), ())


def test_hudis_own_columns_are_those_that_the_catalog_lists() -> None:
    assert state(META, "id", "_hoodie_mine").listed == {"t": frozenset({META})}
