from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import formats
from harness.core.errors import ScenarioProblem
from harness.core.problems import one_of
from harness.core.yaml_reader import MAX_BYTES, parse, read
from harness.core.yaml_writer import block, written
from harness.scenario.operations import registry


def problem(text: str) -> str:
    with pytest.raises(ScenarioProblem) as wrong:
        parse(text, "a.yaml")
    return str(wrong.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("-.inf", float("-inf")),
        ("true", True),
        ("null", None),
        ("yes", "yes"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2024-02-29", "2024-02-29"),
        ('"7"', "7"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    scalar = parse(f"a: {text}\n", "a.yaml").data["a"]
    assert (scalar, type(scalar)) == (value, type(value))


def test_every_key_and_item_knows_its_line() -> None:
    document = parse("a:\n  - x\n  - b: 1\n    c: {d: 2,\n      e: 3}\n", "a.yaml")
    paths = [("a",), ("a", 0), ("a", 1), ("a", 1, "c"), ("a", 1, "c", "d"), ("a", 1, "c", "e")]
    assert [document.line(path) for path in paths] == [1, 2, 3, 4, 4, 5]
    assert document.line(("a", 1, "c", "unknown", 3)) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b: &x 1\n", "a.yaml:1: an anchor (&) has no place here"),
        ("b: 1\nc: *x\n", "a.yaml:2: an alias (*) has no place here"),
        ("b: !!python/object:os.system x\n", "a.yaml:1: a tag (!) has no place here"),
        ("%YAML 1.1\n---\na: 1\n", "a.yaml:1: a directive (%) has no place here"),
        ("# a\n%MINE 1\n---\na: 1\n", "a.yaml:2: a directive (%) has no place here"),
        ("b: {}\nc:\n  <<: {}\n", "a.yaml:3: a merge key (<<) has no place here"),
        ("b: 1\nc: 2\nb: 3\n", "a.yaml:3: the key 'b' stands twice"),
        ("&k b: 1\n", "a.yaml:1: an anchor (&) has no place here"),
        ("[1]: 2\n", "a.yaml:1: a key is text, not a list or mapping"),
        ("a: 1\n---\nb: 2\n", "a.yaml:2: a second document (---) has no place here"),
        ("a:\n  b: [1\n", "a.yaml:3: not YAML: "),
        ("a:\n\tb: 1\n", "a.yaml:2: not YAML: found character"),
        ("a: \x01\n", "a.yaml:1: not YAML: unacceptable character"),
        (f"a: {'9' * 200}\n", "a.yaml:1: a number has at most 100 digits"),
        ("a: " + "[" * 50, "a.yaml:1: nested deeper than 40 levels"),
        ("#" * (MAX_BYTES + 1), "a.yaml:1: the text is longer than 262144 characters"),
    ],
)
def test_what_is_more_than_plain_data_is_refused_with_its_line(text: str, message: str) -> None:
    assert problem(text).startswith(message)


def test_a_file_that_is_too_long_is_not_read_on(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ScenarioProblem, match="longer than 262144 bytes"):
        read(tmp_path / "a.yaml")


def test_a_file_that_is_no_utf_8_is_a_problem_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(ScenarioProblem, match=r"a\.yaml:2: not UTF-8"):
        read(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{a: decimal(10, 2)}", 'decimal(10, 2) is cut at its comma; put it in quotes: "dec'),
        ("{t: {a: decimal(10,2), b: int}}", "decimal(10, 2) is cut at its comma"),
        ("{a: map<int, map<int, int>>, b: int}", '"map<int, map<int, int>>"'),
        ("{a: struct<x: int, y: int>}", "text with a colon in it wants quotes"),
    ],
)
def test_a_type_that_braces_cut_is_to_be_put_in_quotes(text: str, message: str) -> None:
    shown = problem(text)
    assert message in shown
    assert "\n" not in shown


def test_what_only_looks_cut_is_data_like_any_other() -> None:
    assert parse("{a: '(x', b: null, c: ')'}", "a.yaml").data == {"a": "(x", "b": None, "c": ")"}
    assert parse("{a: f(x, b): 1}", "a.yaml").data == {"a": "f(x", "b)": 1}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("mor", "'hudi-mor'"),
        ("COW", "'hudi-cow'"),
        ("parquet", "'hive-parquet'"),
        ("hudi", "'hudi-cow' or 'hudi-mor'"),
        ("iceburg", "'iceberg'"),
    ],
)
def test_a_part_of_a_name_is_taken_for_what_people_shorten(given: str, meant: str) -> None:
    assert one_of(given, formats.names()).startswith(f"did you mean {meant}? allowed: ")


@pytest.mark.parametrize("given", ["", "sqlite", "-"])
def test_nothing_is_guessed_where_nothing_is_near(given: str) -> None:
    assert one_of(given, formats.names()).startswith("allowed: ")


def test_a_part_of_many_names_is_no_guess() -> None:
    assert one_of("rename", registry()).startswith("did you mean 'rename_column'? ")
    assert "did you mean" not in one_of("x", [f"x-{number}" for number in range(4)])


def test_entries_of_a_block_get_a_line_each_and_what_is_in_them_has_only_one() -> None:
    steps = block([block({"insert": [1, "a"]}), "touch"])
    root = block({"about": "x " * 100, "key": {"a": "b", "c": [True, None]}, "steps": steps})
    assert written(root, offset=2) == (
        f'about: "{"x " * 100}"\nkey: {{a: b, c: [true, null]}}\n'
        "steps:\n  - insert: [1, a]\n  - touch\n"
    )


@pytest.mark.parametrize(
    "text", ["yes", "No", "on", "n", "null", "True", "7", "a b", "", "2031-12-24"]
)
def test_a_text_that_some_reader_takes_for_something_else_stands_in_quotes(text: str) -> None:
    assert written(block([text]), offset=0) == f'- "{text}"\n'


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5))
def test_every_text_is_read_back(texts: list[str]) -> None:
    text = written(block({"texts": texts, "each": block(texts)}), offset=2)
    assert parse(text, "a.yaml").data == {"texts": texts, "each": texts}
