import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts import result_cache
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.artifacts.result_cache import ResultCache, harness_digest
from harness.core import registry, yaml_reader
from harness.core.errors import ScenarioProblem
from harness.core.records import Verdict, VerdictKind
from tests.toys.package import install

RIGHT = Verdict("v/1", "s", "v", 1, "r", "snapshot", "all", VerdictKind.CORRECT)
WRONG = replace(RIGHT, verdict=VerdictKind.WRONG)


def asked(
    cache: ResultCache, *made_from: str, makes: Verdict = RIGHT, lasts: bool = True
) -> tuple[Verdict, ...]:
    return cache.records(Verdict, made_from, lambda: (makes, makes), lambda _: lasts)


@pytest.fixture
def cache(tmp_path: Path) -> ResultCache:
    return ResultCache(tmp_path / "results", "code")


def test_what_is_made_from_the_same_is_made_once(cache: ResultCache) -> None:
    assert asked(cache, "a", "b") == asked(cache, "a", "b", makes=WRONG) == (RIGHT, RIGHT)


@pytest.mark.parametrize("other", [("a",), ("b", "a"), ("ab",), ("a", "b", ""), ("a", "B")])
def test_what_is_made_from_something_else_is_made(
    cache: ResultCache, other: tuple[str, ...]
) -> None:
    asked(cache, "a", "b")
    assert asked(cache, *other, makes=WRONG) == (WRONG, WRONG)


def test_where_code_is_not_known_or_a_result_does_not_last_nothing_is_kept(
    cache: ResultCache,
) -> None:
    unknown = replace(cache, code="")
    asked(unknown, "a")
    assert asked(unknown, "a", makes=WRONG) == (WRONG, WRONG)
    asked(cache, "a", lasts=False)  # what may be otherwise the next time
    assert not cache.folder.exists()


@pytest.mark.parametrize("left", [0, 1, 40, 65, 200, -1])
def test_of_a_file_that_is_not_whole_nothing_is_taken(cache: ResultCache, left: int) -> None:
    asked(cache, "a")
    [file] = cache.folder.glob("??/*")
    file.write_bytes(file.read_bytes()[:left])
    assert asked(cache, "a", makes=WRONG) == (WRONG, WRONG)
    assert asked(cache, "a") == (WRONG, WRONG)


def test_where_nothing_can_be_written_the_result_is_there_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("no folder")
    cache = ResultCache(tmp_path / "results", "code")
    assert asked(cache, "a") == (RIGHT, RIGHT)
    assert asked(cache, "a", makes=WRONG) == (WRONG, WRONG)


def shift(root: Path) -> None:
    """Move a line from the end of a file to the begin of the next one."""
    (root / "engines" / "lock.yaml").write_text("")
    (root / "judge" / "a.py").write_text("version: 1\na = 1\n")


CHANGES: dict[str, Callable[[Path], object]] = {
    "rewrite": lambda root: (root / "judge" / "a.py").write_text("a = 2\n"),
    "rename": lambda root: (root / "judge" / "a.py").rename(root / "judge" / "b.py"),
    "move": lambda root: (root / "judge" / "a.py").rename(root / "a.py"),
    "add": lambda root: (root / "judge" / "c.py").write_text(""),
    "remove": lambda root: (root / "engines" / "lock.yaml").unlink(),
    "rewrite data": lambda root: (root / "engines" / "lock.yaml").write_text("version: 2\n"),
    "shift": shift,
}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Make code with data; what it says of engines lies elsewhere, as the harness's own does."""
    root, data = tmp_path / "harness", tmp_path / "data"
    for folder in (root / "judge" / "__pycache__", data):
        folder.mkdir(parents=True)
    (root / "judge" / "a.py").write_text("a = 1\n")
    (data / "lock.yaml").write_text("version: 1\n")
    (root / "engines").symlink_to(data)
    return root


def digest(root: Path) -> str:
    return harness_digest.__wrapped__(root)


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_of_code_or_of_its_data_is_other_code(code: Path, change: str) -> None:
    before = digest(code)
    assert digest(code) == before
    CHANGES[change](code)
    assert digest(code) != before


def test_what_python_or_an_editor_leaves_is_no_code_and_where_code_cannot_be_read_none_is_known(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest(code)
    (code / "judge" / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"compiled")
    (code / ".#a.py").symlink_to("somebody@somewhere")  # as an editor leaves it
    assert digest(code) == before
    monkeypatch.setattr(result_cache, "_files", lambda _: iter(["gone.py"]))
    assert not digest(code)


def test_another_version_of_a_package_or_of_python_is_other_code(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {digest(code)}
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    for version in ("9.0", "9.1"):
        (tmp_path / "packages" / f"pydantic-{version}.dist-info").mkdir(parents=True)
        seen.add(digest(code))
    monkeypatch.setattr(sys, "version", "3.99")
    assert len(seen | {digest(code)}) == 4


def test_the_harness_hashes_its_own_code_and_the_data_beside_it() -> None:
    files = set(result_cache._files(str(result_cache.HARNESS)))
    expected = ("judge/verdicts.py", "artifacts/result_cache.py", "containers/__init__.py")
    assert files >= set(expected)
    assert any(file.startswith("scenarios/") and file.endswith(".yaml") for file in files)


def test_with_a_package_that_adds_to_the_harness_nothing_is_retained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_cache, "harness_digest", harness_digest)
    assert ResultCache.in_cache(Cache(tmp_path)).code
    install(tmp_path, {"formats": {"toy": "toys.format"}})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "added", registry.added.__wrapped__)
    assert not ResultCache.in_cache(Cache(tmp_path)).code


TEXT = """a: [1, 2.5, -.inf, null, true, "1", é, "\\uD834\\uDD1E"]
b:
  - {c: 1e400, d: 123456789012345678901234567890}
  - e: ""
"""


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep results as a program does; return a list that gets the texts that are parsed."""
    monkeypatch.setattr(result_cache, "harness_digest", lambda: "code")
    seen, parse = list[str](), yaml_reader.parse

    def listed(text: str, path: str) -> yaml_reader.Document:
        seen.append(text)
        return parse(text, path)

    monkeypatch.setattr(yaml_reader, "parse", listed)
    return seen


@pytest.fixture
def default_cache() -> Cache:
    cache = Cache.default()
    cache.claim()
    return cache


def content(document: yaml_reader.Document) -> tuple[str, list[object]]:
    return repr(document.data), list(document.lines.items())


@pytest.mark.usefixtures("default_cache")
@pytest.mark.parametrize("text", [TEXT.replace("1e400", ".inf"), "", "text", "[]", "- 1\n- a: b\n"])
def test_a_text_is_parsed_once_and_says_the_same(parsed: list[str], text: str) -> None:
    first, again = (
        result_cache.parse_yaml(text, "one.yaml"),
        result_cache.parse_yaml(text, "other.yaml"),
    )
    assert parsed == [text]
    assert content(again) == content(first)
    assert content(again) == content(yaml_reader.parse(text, "x"))
    assert (first.path, again.path) == ("one.yaml", "other.yaml")


@pytest.mark.usefixtures("default_cache")
def test_what_is_wrong_is_reported_each_time(parsed: list[str]) -> None:
    for path in ("one.yaml", "other.yaml"):
        document = result_cache.parse_yaml("a:\n  - b\n  - c\n", path)  # kept the second time
        document.note(("a", 1), "wrong")
        with pytest.raises(ScenarioProblem, match=f"{path}:3: wrong"):
            document.problems.raise_if_any()
        with pytest.raises(ScenarioProblem, match=f"{path}:2: "):
            result_cache.parse_yaml("a: 1\na: 2\n", path)
    assert len(parsed) == 3


@pytest.mark.parametrize("path", ["folder", "missing", "~nobody-is-called-so/cache"])
def test_what_is_no_cache_stays_as_it_is(
    parsed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    named = path if path.startswith("~") else str(tmp_path / path)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, named)
    for _ in range(2):
        assert result_cache.parse_yaml("a: 1", "x").data == {"a": 1}
    assert len(parsed) == 2
    assert list(tmp_path.rglob("*")) == [folder]
