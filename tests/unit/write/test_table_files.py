from __future__ import annotations

import pytest

from harness.model.file_facts import FileFact, FileKind
from harness.model.partition_paths import ListedAs
from harness.runtime.metastore_objects import CatalogEntry
from harness.write.state_records import TableFiles

META = "_hoodie_commit_time"


def storing(column: str) -> FileFact:
    """Return a base file of one column."""
    return FileFact("f", FileKind.BASE, "g", "1", ((column, "string"),))


@pytest.mark.parametrize(
    ("listed", "stored", "bare"),
    [("id", META, True), (META, META, False), ("id", "id", False), (META, "id", False)],
)
def test_a_table_is_bare_where_only_files_have_the_meta_columns(
    listed: str, stored: str, *, bare: bool
) -> None:
    entry = CatalogEntry("t", {"sd": {"cols": [{"name": listed, "type": "string"}]}})
    assert TableFiles((entry,), (storing(stored),)).bare is bare


def test_values_that_the_catalog_gives_in_other_words_than_the_folder_are_kept() -> None:
    def part(folder: str, *values: str) -> dict[str, object]:
        return {"sd": {"location": f"file:{{location}}/{folder}"}, "values": list(values)}

    def listed(*entries: tuple[dict[str, object], ...], stored: str = "p") -> ListedAs:
        made = tuple(
            CatalogEntry(f"t{n}", {"sd": {"cols": []}}, entry) for n, entry in enumerate(entries)
        )
        return TableFiles(made, (storing(stored),)).listed_as(("p",))

    null = "__HIVE_DEFAULT_PARTITION__"
    assert listed((part("p=a", "a"), part("a", "a"), part(f"p={null}", null))) == ()
    assert listed((part("p=a%3Db", "a=b"),)) == (("p=a%3Db", ("a=b",)),)
    assert listed((part("p=a%3Db", "a%3Db"),)) == (("p=a%3Db", ("a%3Db",)),)
    assert listed((part("p=a%3Db", "a=b"),), stored="id") == ()
    assert listed((part("p=a%3Db", "a%3Db"),), stored="id") == (("p=a%3Db", ("a%3Db",)),)
    assert listed((part("p=x", null),)) == (("p=x", (None,)),)
    assert listed((part("p=x", "y"),), (part("p=x", "z"),)) == ()  # two entries, two opinions
