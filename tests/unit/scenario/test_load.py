import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.errors import ScenarioProblem
from harness.model.datatypes import FORMS, PRIMITIVES, Primitive
from harness.plan.profile import loads_profiles
from harness.scenario.dump import dump
from harness.scenario.load import load, loads
from harness.scenario.notices import notices
from harness.scenario.operations.columns import AddColumn, DropColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, Rewrites, Touch
from harness.scenario.operations.services import Compact

A5 = """about: A column is added in the middle.
source: source-findings A5
table:
  columns: {id: string, ts: long, f1: string, f2: string}
  key: id
  order_by: ts
formats: [hudi-cow, hudi-mor]
settings: {rewrites: [none, some]}
views: [snapshot, read_optimized]
steps:
  - insert: [1, 2]
  - add_column: {name: f3, type: string, after: f1}
  - touch
  - drop_column: f2
  - rename_column: {name: f1, to: f1_new}
    quiet: true
  - touch: all
  - compact
"""
HEAD = A5[: A5.index("steps:")]
PATH = "scenarios/hudi/a5.yaml"


def problems(text: str) -> list[str]:
    with pytest.raises(ScenarioProblem) as wrong:
        loads(text, "x/y.yaml")
    return [line.removeprefix("x/y.yaml:") for line in str(wrong.value).splitlines()]


def steps(*texts: str) -> str:
    return HEAD + "steps:\n" + "".join(f"  - {text}\n" for text in texts)


def test_a_file_becomes_the_same_scenario_as_the_constructors_make() -> None:
    text = Primitive("string")
    scenario = loads(A5, PATH)
    assert [(step.operation, step.quiet) for step in scenario.steps] == [
        (Insert((1, 2)), False),
        (AddColumn("f3", text, after="f1"), False),
        (Touch(), False),
        (DropColumn("f2"), False),
        (RenameColumn("f1", "f1_new"), True),
        (Touch(Rewrites.ALL), False),
        (Compact(), False),
    ]
    assert [step.line for step in scenario.steps] == [11, 12, 13, 14, 15, 17, 18]
    assert (scenario.name, scenario.path, scenario.source) == (
        "hudi/a5",
        PATH,
        "source-findings A5",
    )
    assert scenario.table.fixed == ("id", "ts")
    assert scenario.formats == ("hudi-cow", "hudi-mor")
    assert scenario.settings == {"rewrites": ("none", "some")}
    assert scenario.views == ("snapshot", "read_optimized")


def test_a_file_is_named_by_its_folder_and_itself(tmp_path: Path) -> None:
    (tmp_path / "hudi").mkdir()
    file = tmp_path / "hudi" / "mine.yaml"
    file.write_text(A5, encoding="utf-8")
    assert replace(load(file), path=PATH, name="hudi/a5") == loads(A5, PATH)
    assert load(str(file)).name == "hudi/mine"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("about:", "abuot:", "1: a scenario has no 'abuot'; did you mean 'about'? allowed: table,"),
        ("f2: string", "f2: blob", "4: table: columns.f2: 'blob' is not a type; allowed: boolean"),
        ("key: id", "key: [id]", '5: table: key: ["id"] is given; allowed: text (quote it)'),
        ("key: id", "kee: id", "5: table has no 'kee'; did you mean 'key'? allowed: columns, key"),
        ("key: id", "key: f9", "5: table: key: there is no column 'f9'; there are: id, ts, f1"),
        ("id: string", "id: date", "5: table: key: 'id' is date; allowed: string, int, long"),
        ("order_by: ts", "order_by: id", "5: table: 'id' stands twice in key, order_by"),
        ("[hudi-cow,", "[7,", "7: a scenario: formats.0: 7 is given; allowed: text (quote it)"),
        ("hudi-mor", "hudi-cow", "7: formats: one stands twice"),
        ("[none, some]", "[]", "8: rewrites: no value; allowed: none, some, all"),
        ("[none, some]", "[none, few]", "8: settings.rewrites: there is no 'few'; allowed: none"),
        ("[snapshot,", "[snap,", "9: views: there is no 'snap'; did you mean 'snapshot'?"),
        ("insert: [1, 2]", "insret: [1]", "11: step 1 insret: there is no such operation; did you"),
        ("[1, 2]", "[1, true]", "11: step 1 insert: keys.1: true is given; allowed: a whole numb"),
        ("[1, 2]", "1", "11: step 1 insert: keys: 1 is given; allowed: a list [ … ]"),
        ("after: f1", "afte: f1", "12: step 2 add_column has no 'afte'; did you mean 'after'?"),
        ("type: string,", "", "12: step 2 add_column: 'type' is missing; keys: name, type, first"),
        (
            "type: string",
            "type: {a: int}",
            '12: step 2 add_column: type: a type is text such as int or "struct',
        ),
        ("- compact", "- compact: 3", "18: step 7 compact: write it as in `- compact`"),
        ("- compact", "- update: [4]", "18: step 7 update: write it as in `- update: {keys: [1], "),
        ("- compact", "- 3", "18: step 7 is not an operation; write `- operation: …`"),
        ("- compact", "- quiet: true", "18: step 7 has no operation; give one"),
        ("- compact", "- {compact: , touch: }", "18: step 7 has 2 operations (compact, touch)"),
        ("quiet: true", "quiet: 1", "16: step 5: quiet is true or false"),
        ("quiet: true", "by: [a]", "16: step 5: by is the name of a writer, such as trino-476"),
        ("touch: all", "touch: many", '17: step 6 touch: rewrites: "many": input should be'),
    ],
)
def test_a_wrong_form_is_reported_with_its_line_and_what_is_allowed(
    old: str, new: str, message: str
) -> None:
    errors = problems(A5.replace(old, new, 1))
    assert [text for text in errors if text.startswith(message)]
    assert len(errors) <= 2  # a key that is misspelt is missing too


def test_all_problems_of_a_file_are_reported_at_once() -> None:
    text = (
        A5.replace("[none, some]", "[none, few]")
        .replace("touch\n", "tuch\n")
        .replace("f2\n", "3\n")
    )
    assert [problem.split(":")[0] for problem in problems(text)] == ["8", "13", "14"]


@pytest.mark.parametrize("text", ["", "- a\n", "7\n", "table: 3\nsteps: []\n"])
def test_what_is_no_scenario_at_all_is_reported_in_words(text: str) -> None:
    assert "is given; allowed: a mapping { … }" in problems(text)[0]


def test_a_step_that_cannot_be_done_is_reported_by_number_and_name_with_what_is_there() -> None:
    assert problems(steps("insert: [1]", "rename_column: {name: f9, to: g}", "insert: [1]")) == [
        "12: step 2 rename_column: there is no column 'f9'; there are: id, ts, f1, f2",
        "13: step 3 insert: there is a row with the key 1 already",
    ]


@pytest.mark.parametrize(
    "step",
    [
        "drop_column: id",
        "rename_column: {name: ts, to: t}",
        "move_column: {name: p, first: true}",
        "change_type: {name: ts, to: double}",
    ],
)
def test_key_ordering_and_partition_columns_stay_as_they_are(step: str) -> None:
    head = HEAD.replace("f2: string}", "p: string}").replace("  key", "  partition_by: [p]\n  key")
    (message,) = problems(f"{head}steps:\n  - {step}\n")
    assert "is a key, ordering or partition column and stays; others: f1" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (steps(*["touch"] * 40), "40 steps: traceable values tell at most 39 apart"),
        (steps(f"insert: {list(range(500))}"), "step 1 insert: 500 rows: traceable values tell at"),
        (
            steps(f"insert: {list(range(250))}", f"upsert: {list(range(200, 500))}"),
            "500 rows with different keys: traceable values",
        ),
        (
            steps(*(f"add_column: {{name: c{at}, type: 'array<int>'}}" for at in range(30))),
            "64 columns (parts of nested ones and dropped ones count): traceable values tell at",
        ),
    ],
)
def test_what_traceable_values_cannot_tell_apart_is_refused(text: str, message: str) -> None:
    assert message in problems(text)[0]


def test_a_change_of_type_that_the_values_do_not_fit_is_refused() -> None:
    messages = problems(steps("insert: [1]", "change_type: {name: f1, to: boolean}"))
    assert messages[0].startswith(
        "12: step 2 change_type: row 1: 'f3s1r1' has no exact form as bool"
    )


def test_the_ordering_column_does_not_fall_with_a_version_of_a_row() -> None:
    equal = steps("insert: [1]", "upsert: {rows: [{id: 1, ts: 201001}]}")
    assert loads(equal, "family/name.yaml").survey.history[-1].rows["1"].newest == 2
    rows = "upsert: {rows: [{id: 1, ts: 5}]}"
    assert "goes from 201001 to 5; it must not fall" in problems(steps("insert: [1]", rows))[0]
    null = "insert: {rows: [{id: 1, ts: null}]}"
    for more in ("upsert: [1]", "late_upsert: [1]", "late_delete: [1]"):
        text = "step 1 insert: row 1: the ordering column has no value; it needs one"
        assert problems(steps(null, more))[0].endswith(text)


def test_an_index_that_no_step_made_cannot_be_dropped() -> None:
    (problem,) = problems(steps("insert: [1]", "create_index: f1", "drop_index: f2"))
    assert problem.endswith("step 3 drop_index: no create_index was of 'f2'; there are: f1")


def test_of_versions_with_the_same_first_ordering_value_the_second_decides() -> None:
    def written(second: int) -> str:
        rows = f"upsert: {{rows: [{{id: 1, ts: 7, n: {second}}}]}}"
        text = steps("insert: {rows: [{id: 1, ts: 7, n: 3}]}", rows)
        return text.replace("order_by: ts", "order_by: [ts, n]").replace("f2: string", "n: int")

    assert loads(written(4), "family/name.yaml").survey.history[-1].rows["1"].newest == 2
    assert "goes from 7, 3 to 7, 2; it must not fall" in problems(written(2))[0]


def test_a_row_does_not_move_to_another_partition() -> None:
    head = HEAD.replace("f2: string}", "p: string}").replace("  key", "  partition_by: [p]\n  key")
    text = head + "steps:\n  - insert: [1]\n  - upsert: {rows: [{id: 1, p: other}]}\n"
    assert "the row's partition 'p' is 'p1' and stays so" in problems(text)[0]


def test_explicit_values_that_tell_no_origin_are_allowed_and_noticed() -> None:
    rows = "insert: {rows: [{id: 1, f1: x, f2: x}, {id: 2, f1: y, f2: null}, {id: 3, f1: z}]}"
    lines = notices(loads(steps(rows, "touch"), "x/y.yaml"))
    assert [text.split("; allowed")[0] for text in lines] == [
        "x/y.yaml:11: step 1 insert: row 1: f1 is x, which stands in another place too",
        "x/y.yaml:11: step 1 insert: row 1: f2 is x, which stands in another place too",
        "x/y.yaml:11: step 1 insert: row 2: f2 is NULL",
    ]


def test_of_many_values_that_tell_nothing_three_are_named_and_the_others_counted() -> None:
    rows = ", ".join(f"{{id: {at}, f1: null, f2: null}}" for at in range(1, 4))
    lines = notices(loads(steps(f"insert: {{rows: [{rows}]}}"), "x/y.yaml"))
    assert len(lines) == 4
    assert "row 1: f1 is NULL" in lines[0]
    assert "step 1 insert: 3 more such values; allowed" in lines[3]


def test_queries_are_read_and_one_that_is_none_is_reported_with_its_line() -> None:
    asked = A5.replace(
        "views:", "queries: [story, 'where(f1 not in \"x\", null)', limit(2)]\nviews:"
    )
    scenario = loads(asked, PATH)
    assert scenario.queries == ("story", 'where(f1 not in "x", null)', "limit(2)")
    assert loads(dump(scenario), PATH).queries == scenario.queries
    assert problems(asked.replace("limit(2)", "limit(x)")) == [
        "9: 'limit(x)': a limit is a number from 1 to 999999"
    ]
    assert problems(asked.replace('"x",', "x,"))[0].startswith("9: 'x' is not a value; allowed")


PAGE = (Path(__file__).parents[3] / "docs" / "scenarios.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
FIRST = EXAMPLES[0]


def test_the_first_example_and_the_profile_are_read() -> None:
    assert loads(FIRST, "scenarios/hudi/mine.yaml").name == "hudi/mine"
    assert list(loads_profiles(EXAMPLES[-1], "profiles.yaml")) == ["mine"]


def test_the_page_has_each_type() -> None:
    types = {*PRIMITIVES, *FORMS}
    assert [name for name in types if not re.search(rf"`{name}[`(<]", PAGE)] == []


@pytest.mark.parametrize(
    ("old", "new"), [("after: f1", "afte: f1"), ("- compact", "- rename_column: {name: f9, to: g}")]
)
def test_the_messages_are_those_of_the_page(old: str, new: str) -> None:
    with pytest.raises(ScenarioProblem) as wrong:
        loads(FIRST.replace(old, new), "scenarios/hudi/mine.yaml")
    assert f"\n{wrong.value}\n" in PAGE
