from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs

from harness.formats.files import table_folder
from harness.formats.files.table_folder import TableFolder, UnreadableError, at, holding


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file:{}/"])
def test_a_location_of_the_disk_is_read_in_every_form(tmp_path: Path, form: str) -> None:
    (tmp_path / "b c").write_text("x")
    (tmp_path / ".hidden").mkdir()
    folder = at(form.format(tmp_path))
    assert [(file.name, file.folder) for file in folder.listed()] == [
        (".hidden", True),
        ("b c", False),
    ]
    assert folder.text("b c") == b"x"
    assert folder.text("gone") is None
    assert folder.listed("gone") == ()
    assert folder.exists()
    assert not at(f"{tmp_path}/gone").exists()


def test_a_table_in_a_store_is_read_through_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    store = fs.FileSystem.from_uri("mock:///")[0]
    store.create_dir("bucket/t/p=1")
    with store.open_output_stream("bucket/t/p=1/a.parquet") as file:
        file.write(b"abc")
    monkeypatch.setattr(table_folder, "_files", lambda scheme, _: {"s3": store}[scheme])
    folder = at("s3a://key:secret@bucket/t/")
    assert folder == TableFolder("bucket/t", store)
    assert [[file.path for file in files] for files in folder.walk()] == [[], ["p=1/a.parquet"]]
    with folder.opened("p=1/a.parquet") as actual:
        assert actual.read() == b"abc"
    assert holding(folder, "s3a://bucket/t", "s3://bucket/t/m/v1.json") == (folder, "m/v1.json")
    assert holding(folder, "s3a://bucket/t", "s3n://bucket/tt/v1.json")[0].root == "bucket/tt"


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("", "the catalog has no location of it"),
        ("nowhere://user:secret@host/t", "Unrecognized filesystem type"),
    ],
)
def test_a_location_that_nothing_reads_is_reported(location: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why) as raised:
        at(location)
    assert "secret" not in str(raised.value)


def test_a_folder_that_may_not_be_read_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forbidding:
        def get_file_info(self, _: object) -> object:
            raise PermissionError(13, "Permission denied")

    with pytest.raises(UnreadableError, match="Permission denied"):
        TableFolder("/x", Forbidding()).listed()


def test_credentials_in_what_a_store_says_are_left_out() -> None:
    class Talking:
        def get_file_info(self, _: object) -> object:
            raise pa.ArrowInvalid("cannot open s3://key:secret@bucket/t\nDetail: more")

    with pytest.raises(UnreadableError) as raised:
        TableFolder("/x", Talking()).listed()
    assert str(raised.value) == "cannot open s3://bucket/t"


def test_a_record_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_folder, "LARGEST", 1 << 20)
    (tmp_path / "a").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(UnreadableError, match="a is larger than 1 MiB"):
        at(str(tmp_path)).text("a")
