"""The code of dataclasses is compiled once, and kept."""

import builtins
import dataclasses
import sys
from pathlib import Path

import pytest

from harness.cli import compiled


def made() -> type:
    class Row:
        key: int
        text: str = "none"

    return dataclasses.dataclass(frozen=True, slots=True)(Row)


def refused(*_: object) -> None:
    raise AssertionError("something is compiled")


def test_what_one_command_compiled_no_other_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "new" / "code"
    with compiled.dataclasses_kept(file):
        made()
    monkeypatch.setattr(builtins, "compile", refused)
    with compiled.dataclasses_kept(file):
        row = made()
        with pytest.raises(AssertionError, match="something is compiled"):
            dataclasses.make_dataclass("Other", ["another"])
    assert repr(row(7)).endswith("Row(key=7, text='none')")
    assert row(7) == row(7, "none") != row(8)
    with pytest.raises(dataclasses.FrozenInstanceError):
        row(7).key = 8
    assert "exec" not in vars(dataclasses)


@pytest.mark.parametrize("content", [b"", b"half a wri", b"\xe3"])
def test_a_file_that_is_none_is_made_anew(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "code"
    file.write_bytes(content)
    with compiled.dataclasses_kept(file):
        made()
    assert len(file.read_bytes()) > len(content)
    assert [*tmp_path.iterdir()] == [file]


def test_where_nothing_can_be_written_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with compiled.dataclasses_kept(tmp_path):  # a folder
        assert repr(made()(7)).endswith("text='none')")
