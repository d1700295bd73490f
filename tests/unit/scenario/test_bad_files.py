"""Files that nobody would write, or only to do harm: refused in words, soon, with their line."""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from harness.core.errors import MOST, ScenarioProblem
from harness.core.yaml_reader import MAX_BYTES
from harness.judge import baseline
from harness.plan import load_profiles
from harness.plan.profile import loads_profiles
from harness.scenario.derived import twin
from harness.scenario.load import load, loads

HEAD = """table:
  columns: {id: string, ts: long, f1: string, f2: double}
  key: id
  order_by: ts
steps:
"""
GOOD = HEAD + "  - insert: [1]\n"
HUNDRED_MB = 100 * 1024 * 1024

Reads = Callable[[str, str], object]
scenario = partial(loads, keeping_case=("iceberg",))
READERS: dict[str, Reads] = {
    "a scenario": scenario,
    "profiles": loads_profiles,
    "a baseline": baseline.parse,
}


def problem(text: str, reads: Reads = scenario) -> str:
    with pytest.raises(ScenarioProblem) as wrong:
        reads(text, "x/y.yaml")
    return str(wrong.value)


def lines_of(text: str) -> list[str]:
    return problem(text).splitlines()


def rows(value: str) -> str:
    return f"{HEAD}  - insert: {{rows: [{{id: 1, f2: {value}}}]}}\n"


@pytest.fixture(params=[load, load_profiles], ids=["a scenario", "profiles"])
def opens(request: pytest.FixtureRequest) -> Callable[[Path], object]:
    result: Callable[[Path], object] = request.param
    return result


def test_a_file_of_100_mb_is_refused_and_hardly_read(
    opens: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(HUNDRED_MB)
    with pytest.raises(ScenarioProblem, match=rf"huge\.yaml:1: .* longer than {MAX_BYTES} bytes"):
        opens(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.mkdir, "this is not a file; give a YAML file"),
        (os.mkfifo, "this is not a file; give a YAML file"),
        (lambda path: path.symlink_to(path), "the file cannot be read: "),
        (lambda path: path.symlink_to("/dev/zero"), "this is not a file; give a YAML file"),
    ],
    ids=["a folder", "a pipe", "a link to itself", "a device"],
)
def test_what_is_no_file_is_reported_and_not_waited_for(
    opens: Callable[[Path], object], tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / "a.yaml"
    make(path)
    with pytest.raises(ScenarioProblem, match=rf"a\.yaml:1: {message}"):
        opens(path)


@pytest.mark.parametrize("path", ["a\0.yaml", "x" * 300 + ".yaml"])
def test_a_path_that_cannot_be_is_reported(opens: Callable[[Path], object], path: str) -> None:
    with pytest.raises(ScenarioProblem, match="cannot be read"):
        opens(Path(path))


@pytest.mark.parametrize("content", [b"", b"\n", b"# nothing\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_reported(
    opens: Callable[[Path], object], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    with pytest.raises(ScenarioProblem, match=r"a\.yaml:1: "):
        opens(path)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (GOOD.encode() + b"\0", 7),
        (GOOD.replace("insert", "ins\xe4rt").encode("latin-1"), 6),
        (GOOD.replace("  -", "\t-").encode(), 6),
        (GOOD.encode("utf-16"), 1),
    ],
    ids=["NUL", "latin-1", "tab", "UTF-16"],
)
def test_bytes_that_are_no_text_are_reported_with_their_line(
    tmp_path: Path, content: bytes, line: int
) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    with pytest.raises(ScenarioProblem, match=rf"a\.yaml:{line}: not (YAML|UTF-8)"):
        load(path)


def test_marks_and_line_ends_of_other_systems_make_no_difference(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    marked = load(path)
    path.write_bytes(GOOD.encode())
    assert load(path) == marked


BOMBS = {
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n",
    "deep lists": "a: " + "[" * 8_000,
    "deep mappings": "a: " + "{a: " * 6_000,
    "deep blocks": "\n".join(" " * depth + "a:" for depth in range(600)),
    "deep dashes": "- " * 12_000,
    "question marks": "? " * 12_000,
    "python": "a: !!python/object/apply:os.system [id]\n",
    "merge": "<<: {a: 1}\n",
    "long": "a: '" + "x" * MAX_BYTES + "'\n",
    "escape": 'a: "\\UFFFFFFFF"\n',
    "half a character": 'a: "\\ud800"\n',
    "digits": f"a: {'9' * 5000}\n",
    "documents": "a: 1\n---\nb: 2\n",
}


@pytest.mark.parametrize("reads", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS.keys())
def test_what_would_blow_up_is_refused_by_every_file_that_people_write(
    text: str, reads: Reads
) -> None:
    assert problem(text, reads).startswith("x/y.yaml:")


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("array<" * 60 + "int" + ">" * 60, "is not a type: more than 10 in another"),
        ("struct<a: " * 5000 + "int" + ">" * 5000, "is not a type: it is longer than 10000"),
        ("decimal(\u0663, 1)", "'\u0663' has no place in one"),
    ],
    ids=["deep", "long", "other digits"],
)
def test_a_type_that_would_blow_up_is_refused_in_few_words(type_: str, message: str) -> None:
    (line,) = lines_of(GOOD.replace("f1: string", f"f1: '{type_}'"))
    assert message in line
    assert line.startswith("x/y.yaml:2: table: columns.f1: '")
    assert len(line) < 200


@pytest.mark.parametrize(
    ("number", "read_as"),
    [("1e999", "inf"), ("1e-999", "0.0"), ("0.1000000000000000000000001", "0.1")],
)
def test_a_number_that_would_become_another_one_is_reported(number: str, read_as: str) -> None:
    expected = f"x/y.yaml:6: {number} is read as {read_as}; quote it to keep every digit"
    assert problem(rows(number)) == expected


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "  - touch\n" * 2_000,
        f"{HEAD}  - insert: [{', '.join(map(str, range(3_000)))}]\n",
        "table: {columns: {id: int, "
        + ", ".join(f"c{at}: int" for at in range(1_000))
        + "}, key: id}\nsteps: [touch]\n",
        f"{HEAD}  - add_column: {{name: s, type: 'struct<"
        + ",".join(f"c{at}: int" for at in range(900))
        + ">'}\n",
    ],
    ids=["steps", "rows", "columns", "parts"],
)
def test_far_too_much_is_reported_before_it_is_tried(text: str) -> None:
    (line,) = lines_of(text)
    assert "traceable values tell at most" in line


def test_of_very_many_problems_the_first_are_reported() -> None:
    lines = lines_of(GOOD + "".join(f"k{at}: 1\n" for at in range(3000)))
    assert len(lines) <= MOST + 1
    assert lines[0].startswith("x/y.yaml:7: a scenario has no 'k0'; allowed: table")
    twice = lines_of("a: 1\n" * 3000)
    assert (len(twice), twice[-1]) == (MOST + 1, "… and 2899 more")


@pytest.mark.parametrize(
    "name",
    [
        *("", "a.b", "a,b", "${x}", "{table}", "x" * 201),
        *("a\\nb", "\\e[31m", "\\0", "\\u202e", "\\u200b", "\\x7f"),
    ],
)
def test_a_name_that_could_not_be_shown_is_refused_and_shown_harmless(name: str) -> None:
    text = problem(f'{HEAD}  - rename_column: {{name: f1, to: "{name}"}}\n')
    assert "is not a name for a column; allowed: 1 to 200 printable characters" in text
    assert text.isprintable()


@pytest.mark.parametrize("name", ["select", "a b", "é '`\\\" &*", "x" * 200, "é" * 200])
def test_any_other_name_is_taken(name: str) -> None:
    assert scenario(GOOD.replace("f1: string", f'"{name}": string'), "x/y.yaml").steps
    assert scenario(f'{GOOD}  - rename_column: {{name: f1, to: "{name}"}}\n', "x/y.yaml").steps


@pytest.mark.parametrize(
    ("one", "other"), [("name", "NAME"), ("straße", "STRASSE"), ("é", "É"), ("ж", "Ж")]
)
def test_names_that_differ_only_in_case_are_refused_in_any_script(one: str, other: str) -> None:
    text = problem(GOOD.replace("f1: string", f"{one}: string, {other}: string"))
    twice = f"'{one}' and '{other}' differ only in case, and engines take them for one"
    assert text == f"x/y.yaml:2: {twice}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("userId", "'userId' is not in lower case, and the metastore keeps no other names; write"),
        ("userId", "(columns may be so with formats: [iceberg])"),
        ("İ", "is not in lower case"),
        ("_hoodie_is_deleted", "is a name of Hudi's own columns; allowed: any but _hoodie_commit_"),
        ("_hoodie_record_key", "is a name of Hudi's own columns"),
        ("_change_type", "is a name of the columns of Delta's change data feed; allowed: any"),
    ],
)
def test_a_name_that_readers_would_show_otherwise_is_refused(name: str, message: str) -> None:
    assert message in problem(GOOD.replace("f1: string", f"{name}: string"))
    nested = f"{HEAD}  - add_column: {{name: s, type: 'struct<a: int>'}}\n"
    assert message in problem(f"{nested}  - rename_column: {{name: s.a, to: {name}}}\n")


def test_a_column_may_be_in_any_case_where_every_format_keeps_it() -> None:
    renamed = GOOD.replace("f1:", "userId:") + "  - rename_column: {name: userId, to: USERID}\n"
    assert len(scenario(f"formats: [iceberg]\n{renamed}", "x/y.yaml").steps) == 2
    for formats in ("", "formats: [hudi-cow]\n", "formats: [iceberg, hive-parquet]\n"):
        text = problem(formats + renamed)
        assert "'userId' is not in lower case" in text
        assert "'USERID' is not in lower case" in text


TYPED = """table:
  columns:
    id: string
    c: {type}
  key: id
steps:
  - insert: [1]
"""
KEYS = "; allowed are keys without parts, and not binary"
INSIDE = "binary inside of another type; allowed is binary as a column alone"
WHY = ", for not every engine's answers tell such values"


def typed(type_: str, *steps: str) -> str:
    return TYPED.format(type=json.dumps(type_)) + "".join(f"  - {step}\n" for step in steps)


@pytest.mark.parametrize(
    ("type_", "why"),
    [
        ("array<binary>", INSIDE),
        ("map<string, array<struct<a: int, b: binary>>>", INSIDE),
        ("array<variant>", INSIDE.replace("binary", "variant")),
        ("map<binary, int>", f"a map with keys of binary{KEYS}"),
        ("map<struct<a: int>, int>", f"a map with keys of struct<a: int>{KEYS}"),
        ("array<struct<m: map<binary, int>>>", f"a map with keys of binary{KEYS}"),
    ],
)
def test_a_part_that_no_answer_tells_is_refused_with_its_line(type_: str, why: str) -> None:
    assert lines_of(typed(type_)) == [f"x/y.yaml:4: table: columns: 'c' has {why}{WHY}"]


def test_such_a_part_that_a_step_makes_is_refused_at_the_step_and_reported_once() -> None:
    added = 'add_column: {name: c.b, type: "array<binary>"}'
    changed = "change_type: {name: c.a, to: binary}"
    expected = f"'c' has {INSIDE}{WHY}"
    assert lines_of(typed("struct<a: string>", added, "touch")) == [
        f"x/y.yaml:8: step 2 add_column: {expected}"
    ]
    assert lines_of(typed("struct<a: string>", changed, "touch")) == [
        f"x/y.yaml:8: step 2 change_type: {expected}"
    ]
    key = lines_of(typed("map<string, int>", "change_type: {name: c.key, to: binary}"))
    assert key == [f"x/y.yaml:8: step 2 change_type: 'c' has a map with keys of binary{KEYS}{WHY}"]


def test_parts_do_not_become_binary_in_a_twin_though_the_first_column_is() -> None:
    columns = typed("binary", 'add_column: {name: s, type: "struct<a: int, b: string>"}')
    result = twin(
        loads(columns.replace("steps:", "steps:\n  - add_column: {name: n, type: int}"), "x")
    )
    assert result is not None
    added = [step.operation.type for step in result.steps if hasattr(step.operation, "type")]
    assert list(map(str, added)) == ["binary", "struct<a: int, b: string>"]
    assert twin(loads(columns, "x")) is None
