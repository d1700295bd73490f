"""Files of recordings: shared values are read back, whatever they are, compressed or not."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tests.builders import recorded_lines
from tests.builders.recorded_lines import Lines

VALUES = ("a", "a\nb", "\u2028", "\x85 \x0b \x1c", "größe", 5, None, [1.5, "NaN"])


def test_what_is_repeated_is_one_line_and_read_back_for_each_variant() -> None:
    made = Lines()
    for variant in ("first", "second"):
        made.add({"variant": variant})
        made.add({"named": [made.once("value", {"is": value}) for value in (*VALUES, *VALUES)]})
    read = recorded_lines.parse(made.text())
    assert len(made.lines) == len(VALUES) + 4
    for variant in ("first", "second"):
        [line] = read.variants[variant]
        assert [read.once[name]["is"] for name in line["named"]] == [*VALUES, *VALUES]


@pytest.mark.parametrize("name", ["some.jsonl", f"some.jsonl{recorded_lines.COMPRESSED}"])
def test_the_same_text_makes_the_same_bytes(name: str, tmp_path: Path) -> None:
    text = "größe\n" * 1000
    for folder in (tmp_path / "one", tmp_path / "other"):
        recorded_lines.write(folder / name, text)
        assert recorded_lines.find(folder, "some.jsonl") == folder / name
        assert recorded_lines.read(folder / name) == text
    one, other = ((tmp_path / folder / name).read_bytes() for folder in ("one", "other"))
    assert one == other
    assert (len(one) < len(text)) == name.endswith(recorded_lines.COMPRESSED)


def test_a_file_that_another_compressor_made_of_the_same_text_stays_as_it_is(
    tmp_path: Path,
) -> None:
    path, made = tmp_path / "some.jsonl.xz", lzma.compress(b"text", check=lzma.CHECK_NONE)
    path.write_bytes(made)
    recorded_lines.write(path, "text")
    assert path.read_bytes() == made
    recorded_lines.write(path, "other")
    assert recorded_lines.read(path) == "other"
