"""Lists of tables: what they may say, and what becomes of an address that names none."""

from pathlib import Path

import pytest

from harness.audit import table_list
from harness.audit.table_list import TableAddress, pinned_tables
from harness.audit.tables import PinnedTable
from harness.core.errors import ScenarioProblem, UsageProblem
from harness.formats.files.table_folder import ListedFile, TableFolder, UnreadableError
from harness.usage.usage_file import UsedTable
from tests.builders.delta_folder import DeltaFolder, metadata, protocol
from tests.builders.delta_folder import field as column


def read(folder: Path, text: str) -> tuple[TableAddress, ...]:
    file = folder / "tables.txt"
    file.write_text(text, encoding="utf-8")
    return table_list.read(file)


def delta(path: Path) -> str:
    folder = DeltaFolder(path)
    folder.commit(protocol(1), metadata(column("id", "long")))
    return str(path)


def test_a_line_is_an_address_and_names_of_tables(tmp_path: Path) -> None:
    text = (
        "# ours\n\n/a/b  # an apostrophe's no quote here\n'/with a blank' s.x 't*.*'\ns3://b/p#1\n"
    )
    assert read(tmp_path, text) == (
        TableAddress("/a/b"),
        TableAddress("/with a blank", ("s.x", "t*.*")),
        TableAddress("s3://b/p#1"),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("/a\n'/b\n", ":2: No closing quotation; quote an address"),
        ("/a\n/b orders\n", ":2: 'orders' is no database.table; allowed: an address"),
        ("# nothing\n", ":1: the list names no table"),
        ("/a\n''\n", ":2: the address is empty"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ScenarioProblem) as wrong:
        read(tmp_path, text)
    assert f"{tmp_path / 'tables.txt'}{problem}" in str(wrong.value)


def test_an_address_that_is_wrong_hides_no_other(tmp_path: Path) -> None:
    orders, absent = delta(tmp_path / "w.db" / "orders"), str(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    note = tmp_path / "w.db" / "ord.txt"
    note.write_text("a note beside the tables")
    with pytest.raises(UsageProblem, match=r"ord\.txt is a file; allowed: a folder"):
        pinned_tables([TableAddress(str(note))])
    addresses = (absent, str(tmp_path / "empty"), orders, f"{tmp_path}/*.db/ord*")
    first, second, third = pinned_tables([TableAddress(address) for address in addresses])
    assert isinstance(first, UsedTable)
    assert isinstance(second, UsedTable)
    assert isinstance(third, PinnedTable)
    assert first.unread.startswith(f"there is no folder {absent}")
    assert second.unread == f"there is no table at {tmp_path / 'empty'}"
    assert third.table.location == orders
    for wrong in (absent, str(tmp_path / "empty")):
        with pytest.raises(UsageProblem, match="there is no"):
            pinned_tables([TableAddress(wrong)])


def test_missing_rights_are_a_line_about_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, orders = tmp_path / "closed", delta(tmp_path / "orders")
    closed.mkdir()
    listed = TableFolder.listed

    def without_rights(self: TableFolder, below: str = "") -> tuple[ListedFile, ...]:
        if f"{self.root}/{below}".rstrip("/").endswith("closed"):
            raise UnreadableError("Permission denied")
        return listed(self, below)

    monkeypatch.setattr(TableFolder, "listed", without_rights)
    readable, unread = pinned_tables([TableAddress(str(tmp_path))])
    assert isinstance(readable, PinnedTable)
    assert readable.table.location == orders
    assert isinstance(unread, UsedTable)
    assert (unread.name, unread.unread) == ("closed", "Permission denied")


def test_names_choose_tables_of_a_catalog(tmp_path: Path) -> None:
    for name in ("sales.db/orders", "sales.db/items", "other.db/orders"):
        delta(tmp_path / name)

    def names(*patterns: str) -> list[str]:
        tables = pinned_tables([TableAddress(str(tmp_path), patterns)])
        return [table.table.name for table in tables if isinstance(table, PinnedTable)]

    assert names("Sales.ord*") == ["sales.orders"]
    assert sorted(names("sales.items", "o*.*")) == ["other.orders", "sales.items"]
    with pytest.raises(UsageProblem, match=r"there is no table like sales\.none at"):
        names("sales.none")
