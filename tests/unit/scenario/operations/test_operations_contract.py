"""What every file in `harness/operations` must satisfy; a new one is picked up by its name."""

import dataclasses
import re

import pytest
from pydantic import TypeAdapter

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth
from harness.scenario.definition import Step
from harness.scenario.load import loads, scenario_of
from harness.scenario.operations import name_of, registry
from harness.scenario.operations.api import Example, Family, Operation, StepContext, TableKind
from harness.scenario.operations.merge_with_schema_evolution import MergeWithSchemaEvolution
from harness.scenario.operations.replace_table import ReplaceTable
from harness.scenario.operations.row_writes import AddFiles
from harness.scenario.operations.write_frame import WriteFrame

TABLE = """
table:
  columns: {id: string, ts: long, n: int, f1: string, s: "struct<a: string, b: int>"}
  key: id
  order_by: ts
steps:
  - insert: [1, 2]
  - insert: [3]
"""
NAMES = sorted(registry())
EXAMPLES = [example for name in NAMES for example in registry()[name].EXAMPLES]
every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.step)


def around(example: Example) -> tuple[Operation, Truth, Truth]:
    """Return the operation of an example, and the truth before and after it."""
    scenario = scenario_of(example)
    before, after = scenario.truths(merge_on_read=True).history()[-2:]
    return scenario.steps[-1].operation, before, after


@pytest.mark.parametrize("name", NAMES)
def test_its_class_is_a_frozen_dataclass_whose_examples_are_its_own(name: str) -> None:
    kind = registry()[name]
    assert kind.EXAMPLES, "each operation says how it is used: the docs and tests need it"
    assert {name_of(around(example)[0]) for example in kind.EXAMPLES} == {name}
    assert vars(kind)["__dataclass_params__"].frozen
    assert "__slots__" in vars(kind)
    assert kind.SHORT in ["", *vars(kind)["__dataclass_fields__"]]


@every_example
def test_its_fields_come_back_from_json(example: Example) -> None:
    operation, *_ = around(example)
    adapter = TypeAdapter[object](type(operation))
    text = adapter.dump_json(operation)
    assert adapter.validate_json(text, strict=True, extra="forbid") == operation


@every_example
def test_some_format_has_it_and_the_others_say_why_not(example: Example) -> None:
    operation, *_ = around(example)
    kinds = (TableKind(family, mor) for family in Family for mor in (False, True))
    reasons = {operation.unsupported(kind) for kind in kinds}
    assert "" in reasons
    assert not any(reason.endswith(".") for reason in reasons)


@every_example
def test_a_format_that_has_it_has_words_for_it(example: Example) -> None:
    operation, before, after = around(example)
    kinds = [TableKind(family, merge_on_read=True) for family in Family]
    for kind in (kind for kind in kinds if not operation.unsupported(kind)):
        statements = operation.statements(StepContext(kind, before, after, {}))
        if not isinstance(operation, ReplaceTable):  # its words are those of a creation
            assert operation.sql(before, after) if statements is None else statements is not None


@every_example
def test_it_evolves_the_truth_by_one_step_and_leaves_the_one_before_as_it_was(
    example: Example,
) -> None:
    operation, before, after = around(example)
    copy = dataclasses.replace(before, rows=dict(before.rows), base=dict(before.base))
    again = operation.evolve(before)
    assert after.step == before.step + 1
    assert again.rows == after.rows
    assert before == copy


@every_example
def test_it_changes_the_schema_exactly_when_it_says_so(example: Example) -> None:
    operation, before, after = around(example)
    shown = [(truth.schema, truth.spec, truth.required) for truth in (before, after)]
    # Taking a change of the schema back is none of its own.
    assert (shown[0] != shown[1]) <= operation.CHANGES_SCHEMA
    if not isinstance(operation, WriteFrame | ReplaceTable | MergeWithSchemaEvolution):
        assert not operation.CHANGES_SCHEMA or before.rows == after.rows


@every_example
def test_its_common_sql_names_the_table_by_its_placeholder_only(example: Example) -> None:
    operation, before, after = around(example)
    query = isinstance(operation, AddFiles | WriteFrame)
    for statement in operation.sql(before, after):
        assert statement.count("{table}") == (not query)


@every_example
def test_it_says_what_it_does_in_a_few_words(example: Example) -> None:
    words = around(example)[0].text()
    assert re.fullmatch(r"[a-z].{3,80}", words)
    assert not re.search(r"\b1 \w+s\b", words)


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("insert: [3]", "there is a row with the key 3 already"),
        ("insert: [4, 4]", "the key 4 stands twice in one write"),
        ("insert: []", "insert names no row"),
        ("insert: {rows: [{f1: x}]}", "a row needs a value for the key column 'id'"),
        ("insert: {rows: [{id: 4, q: x}]}", "there is no column 'q'; there are: id, ts"),
        ("insert: {rows: [{id: 4, n: x}]}", "column 'n': 'x' has no exact form as int"),
        ("insert: {rows: [{id: 4, s: {q: 1}}]}", "there is no part 'q'; there are: a, b"),
        ("insert: {rows: [{id: 4, s: 3}]}", "'3' is no struct<a: string, b: int>"),
        ("upsert: {keys: [1], rows: [{id: 1}]}", "the key 1 stands twice in one write"),
        ("update: {keys: [9], set: [f1]}", "no row has the key 9; there are: 1, 2, 3"),
        ("update: {keys: [1], set: [ts]}", "'ts' cannot stand here; each once, there are: n,"),
        ("update: {keys: [1], set: [f1, f1]}", "'f1' cannot stand here; each once"),
        ("update: {keys: [1], set: []}", "update names no row or column"),
        ("replace_table: {columns: {id: string, p: int}}", "'ts' stays, as long, in its role"),
        ("delete: [9]", "no row has the key 9"),
        ("create_index: {column: f1, expression: lower}", "'by' and 'expression' stand together"),
        ("create_index: zz", "there is no column 'zz'"),
        ("delete: {absent: [3]}", "there is a row with the key 3 already"),
        ("merge: {absent: [3]}", "there is a row with the key 3 already"),
        ("merge: {absent: [4], insert: [4]}", "the key 4 stands twice in one write"),
        ("overwrite: {keys: [1], of: partition}", "the table has no partitions"),
        ("write_frame: {keys: [1], columns: [id, f1]}", "the frame lacks ts; key, ordering and"),
        ("write_frame: {keys: [1], columns: [id, ts, f1, f1]}", "the column f1 stands twice"),
        ("write_frame: {keys: [1], columns: [id, ts, g]}", "no column 'g'; a new one needs its"),
        ("write_frame: {keys: [1], types: {n: long}}", "types: 'n' has none; allowed: names in"),
        (
            "write_frame: {keys: [1], columns: [id, ts, n], types: {n: date}}",
            "'n' is int, and no date is written into it; allowed: int, long, float, double, string",
        ),
        (
            "write_frame: {keys: [1], columns: [id, ts, f1], types: {f1: int}}",
            "column 'f1': 'f4s3r1' has no exact form as int",
        ),
        ("delete_partition: 1", "the table has no partitions; use delete or truncate"),
        ("late_upsert: [9]", "no row has the key 9; allowed: 1, 2, 3"),
        ("merge: {}", "merge names no row"),
        ("merge: {insert: [4], set: [f1]}", "'set' is of rows to update, and the merge names none"),
        ("move_column: {name: f1}", "say where the column goes"),
        ("move_column: {name: f1, first: true, after: n}", "are two places; give one"),
        ("add_column: {name: q, type: int, first: true, after: n}", "are two places"),
    ],
)
def test_what_no_statement_can_mean_is_refused(step: str, problem: str) -> None:
    scenario = loads(TABLE, "family/name.yaml")
    before = scenario.truths(merge_on_read=False).history()[-1]
    operation = loads_step(step)
    with pytest.raises(SchemaChangeError) as wrong:
        operation.evolve(before)
    assert problem in str(wrong.value)


def loads_step(text: str) -> Operation:
    """An operation read by its form alone, whether it is possible or not."""
    from harness.core.yaml_reader import parse  # noqa: PLC0415
    from harness.scenario.load import _step  # noqa: PLC0415 - what it means is not to be checked

    document = parse(f"steps:\n  - {text}\n", "family/name.yaml")
    step = _step(document.data["steps"][0], 0, document)
    document.problems.raise_if_any()
    assert isinstance(step, Step)
    return step.operation


def test_a_key_has_the_type_of_the_key_column_and_parts_of_a_struct_are_stored_by_their_ids() -> (
    None
):
    step = Example("insert: {keys: [5], rows: [{id: 6, s: {a: y, b: 1}}]}", "")
    _, before, after = around(step)
    assert set(after.rows) - set(before.rows) == {"5", "6"}
    ids = [after.schema.find(path).id for path in ("s", "s.a", "s.b")]
    assert after.rows["6"].values[ids[0]] == {ids[1]: "y", ids[2]: 1}


def merge_of(step: str) -> tuple[Truth, str]:
    scenario = loads(f"{TABLE}  - merge: {step}\n", "family/name.yaml")
    before, after = scenario.truths(merge_on_read=True).history()[-2:]
    (statement,) = scenario.steps[-1].operation.sql(before, after)
    return after, statement


def test_a_merge_that_sets_a_column_leaves_the_others_as_they_were() -> None:
    after, statement = merge_of("{update: [1], set: [f1]}")
    step = after.step
    names = {field.name: field.id for field in after.schema.fields}
    new = {name for name, at in names.items() if after.rows["1"].written[at] == step}
    assert new == {"f1", "ts"}
    source = statement.partition(") as s1 on ")[0]
    assert set(re.findall(r" as `(\w+)`", source)) == {"id", "ts", "f1"}
    assert statement.endswith("when matched then update set `ts` = s1.`ts`, `f1` = s1.`f1`")


def test_the_source_of_a_merge_may_have_its_columns_in_the_opposite_order() -> None:
    after, usual = merge_of("{update: [1]}")
    turned, statement = merge_of("{update: [1], source: reversed}")
    assert turned.rows == after.rows
    sources = (text.partition(") as s1 on ")[0] for text in (usual, statement))
    first, second = (re.findall(r" as `(\w+)`", source) for source in sources)
    assert second == first[::-1] != first
