"""A YAML text whose data are kept says what the parser reads in it, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.artifacts import cache_mark, distributions, result_cache
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.core import yaml_reader
from harness.core.errors import ScenarioProblem

TEXT = """a: [1, 2.5, -.inf, null, true, "1", é, "\\uD834\\uDD1E"]
b:
  - {c: 1e400, d: 123456789012345678901234567890}
  - e: ""
"""


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep results as a program does; return a list that gets the texts that are parsed."""
    monkeypatch.setattr(result_cache, "own_code", lambda: "code")
    seen, parse = list[str](), yaml_reader.parse

    def listed(text: str, path: str) -> yaml_reader.Document:
        seen.append(text)
        return parse(text, path)

    monkeypatch.setattr(yaml_reader, "parse", listed)
    return seen


@pytest.fixture
def cache() -> Cache:
    cache = Cache.default()
    cache_mark.claim(cache)
    return cache


def same(one: yaml_reader.Document, other: yaml_reader.Document) -> bool:
    return repr(one.data) == repr(other.data) and list(one.lines.items()) == list(
        other.lines.items()
    )


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("text", [TEXT.replace("1e400", ".inf"), "", "text", "[]", "- 1\n- a: b\n"])
def test_a_text_is_parsed_once_and_says_the_same(parsed: list[str], text: str) -> None:
    first, again = (
        result_cache.parse_yaml(text, "one.yaml"),
        result_cache.parse_yaml(text, "other.yaml"),
    )
    assert parsed == [text]
    assert same(again, first)
    assert same(again, yaml_reader.parse(text, "x"))
    assert (first.path, again.path) == ("one.yaml", "other.yaml")


@pytest.mark.usefixtures("cache", "parsed")
def test_what_is_shipped_is_read_as_the_parser_reads_it() -> None:
    for name in ("trino-476", "spark-3.5.8-hudi-1.0.2"):
        text, path = distributions._text(name)
        result_cache.parse_yaml(text, path)
        assert same(result_cache.parse_yaml(text, path), yaml_reader.parse(text, path))


@pytest.mark.usefixtures("cache")
def test_another_text_is_parsed(parsed: list[str]) -> None:
    result_cache.parse_yaml("a: 1", "x")
    assert result_cache.parse_yaml("a: 2", "x").data == {"a": 2}
    assert parsed == ["a: 1", "a: 2"]


@pytest.mark.usefixtures("cache")
def test_what_is_wrong_is_told_each_time(parsed: list[str]) -> None:
    for path in ("one.yaml", "other.yaml"):
        with pytest.raises(ScenarioProblem, match=f"{path}:2: "):
            result_cache.parse_yaml("a: 1\na: 2\n", path)
    assert len(parsed) == 2


@pytest.mark.usefixtures("parsed")
def test_a_place_in_what_is_kept_is_found_for_messages(cache: Cache) -> None:
    for _ in range(2):
        document = result_cache.parse_yaml("a:\n  - b\n  - c\n", "x.yaml")
        document.note(("a", 1), "wrong")
        with pytest.raises(ScenarioProblem, match=r"x\.yaml:3: wrong"):
            document.problems.raise_if_any()
    assert list((cache.root / result_cache.FOLDER).glob("??/*"))


@pytest.mark.usefixtures("parsed")
def test_what_is_kept_is_what_a_cache_holds(cache: Cache) -> None:
    result_cache.parse_yaml("a: 1", "x")
    (cache.root / cache_mark.MARK).unlink()
    cache_mark.check(cache)


@pytest.mark.parametrize("place", ["folder", "missing", "~nobody-is-called-so/cache"])
def test_what_is_no_cache_stays_as_it_is(
    parsed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    named = place if place.startswith("~") else str(tmp_path / place)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, named)
    for _ in range(2):
        assert result_cache.parse_yaml("a: 1", "x").data == {"a": 1}
    assert len(parsed) == 2
    assert list(tmp_path.rglob("*")) == [folder]
