"""What every file in `harness/operations` must satisfy; a new one is picked up by its name."""

from __future__ import annotations

import dataclasses
import re

import pytest
from pydantic import TypeAdapter

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.load import loads
from harness.scenario.operations import name_of, registry
from harness.scenario.operations.api import Operation

TABLE = """
table:
  columns: {id: string, ts: long, n: int, f1: string, s: "struct<a: string, b: int>"}
  key: id
  order_by: ts
steps:
  - insert: [1, 2]
  - insert: [3]
"""
EXAMPLES = {
    "abort_transactions": "",
    "add_column": "{name: s.c, type: long, after: a}",
    "add_files": "{keys: [4], rows: [{id: 5, f1: x}]}",
    "add_partition_field": "bucket(4, f1)",
    "archive": "",
    "begin_write": "{update: [1], insert: [4], delete: [2]}",
    "change_nullability": "{name: f1, nullable: false}",
    "change_partition_column": "{column: n, rename: m}",
    "change_type": "{name: n, to: long}",
    "clean": "",
    "cluster": "",
    "commit_write": "",
    "compact": "",
    "create_tag": "",
    "delete": "[2]",
    "delete_partition": "2",
    "drop_column": "f1",
    "drop_partition_field": "truncate(2, f1)",
    "failed_write": "[1, 4]",
    "killed_write": "[1, 4]",
    "insert": "{keys: [4], rows: [{id: 5, f1: x, s: {a: y, b: 1}}]}",
    "late_delete": "[2]",
    "late_upsert": "[1, 3]",
    "merge": "{update: [1], insert: [4], delete: [2]}",
    "move_column": "{name: f1, after: ts}",
    "move_row": "{key: 1, to: 2}",
    "mutate": "{update: [1], insert: [4], delete: [2]}",
    "overwrite": "{keys: [2, 4], of: table}",
    "rename_column": "{name: s.b, to: c}",
    "replace_partition_field": "{field: 'truncate(2, f1)', by: n}",
    "restore": "",
    "rewrite_manifests": "",
    "rewrite_position_deletes": "",
    "rollback": "",
    "rollback_to_snapshot": "2",
    "savepoint": "",
    "set_table_version": "6",
    "sync": "",
    "touch": "all",
    "truncate": "",
    "update": "{keys: [1, 3], set: [f1, s]}",
    "upsert": "[3, 4]",
    "write_with_metadata": "{keys: [2, 4], prefix: run., metadata: {run.id: '17'}, by: frame}",
    "write_frame": "{keys: [2, 4], columns: [id, ts, g, f1], types: {g: int}, reconcile: true}",
}
"""One possible use of each operation on the table above, as a scenario file writes it."""

FIRST = {
    "abort_transactions": "  - killed_write: [1, 4]\n",
    "restore": "  - savepoint\n  - delete: [1]\n",
    "commit_write": "  - begin_write: {update: [1]}\n",
    **dict.fromkeys(
        ("drop_partition_field", "replace_partition_field"),
        "  - add_partition_field: truncate(2, f1)\n",
    ),
    "rollback_to_snapshot": "  - upsert: [1, 4]\n",
}
"""What some need to be there before them."""

NAMES = sorted(registry())
SERVICES = {
    *("archive", "clean", "cluster", "compact", "set_table_version"),
    *("commit_write", "restore", "rollback", "savepoint", "sync"),
    *("rewrite_manifests", "rewrite_position_deletes", "rollback_to_snapshot", "create_tag"),
    "abort_transactions",
}
"""Those for which each format has words of its own."""


def scenario(name: str) -> Scenario:
    step = f"  - {name}: {EXAMPLES[name]}".rstrip(": ")
    parted = name in {"change_partition_column", "delete_partition", "move_row"}
    by = "  partition_by: [n]\nsteps:" if parted else "steps:"
    return loads(f"{TABLE.replace('steps:', by)}{FIRST.get(name, '')}{step}\n", "family/name.yaml")


def example(name: str) -> Operation:
    return scenario(name).steps[-1].operation


def around(name: str) -> tuple[Truth, Truth]:
    """The truth before and after the example."""
    found = scenario(name)
    applied = [True] * len(found.steps)
    before, after = expected_history.history(found, merge_on_read=True, applied=applied)[-2:]
    return before, after


def test_every_operation_has_an_example_here() -> None:
    assert sorted(EXAMPLES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_its_class_is_a_frozen_dataclass_found_by_its_file_name(name: str) -> None:
    kind = registry()[name]
    assert name_of(example(name)) == name
    assert vars(kind)["__dataclass_params__"].frozen
    assert "__slots__" in vars(kind)


@pytest.mark.parametrize("name", NAMES)
def test_its_short_form_fills_one_of_its_fields(name: str) -> None:
    kind = registry()[name]
    fields = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    assert kind.SHORT in ["", *fields]


@pytest.mark.parametrize("name", NAMES)
def test_its_fields_come_back_from_json(name: str) -> None:
    adapter = TypeAdapter[object](registry()[name])
    text = adapter.dump_json(example(name))
    assert adapter.validate_json(text, strict=True, extra="forbid") == example(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_evolves_the_truth_by_one_step_and_leaves_the_one_before_as_it_was(name: str) -> None:
    before, after = around(name)
    copy = dataclasses.replace(before, rows=dict(before.rows), base=dict(before.base))
    again = example(name).evolve(before)
    assert after.step == before.step + 1
    assert again.rows == after.rows
    assert before == copy


@pytest.mark.parametrize("name", NAMES)
def test_it_changes_the_schema_exactly_when_it_says_so(name: str) -> None:
    before, after = around(name)
    # Whether a column may have NULL the truth does not hold, and what is refused it does not do.
    unheld = {"change_nullability", "change_partition_column"}
    changed = (before.schema, before.spec) != (after.schema, after.spec) or name in unheld
    assert changed == registry()[name].CHANGES_SCHEMA
    if registry()[name].CHANGES_SCHEMA and name != "write_frame":
        assert before.rows == after.rows


@pytest.mark.parametrize("name", NAMES)
def test_its_statements_name_the_table_by_its_placeholder_only(name: str) -> None:
    before, after = around(name)
    statements = example(name).sql(before, after)
    queries = {"add_files", "write_frame"}
    assert all(statement.count("{table}") == (name not in queries) for statement in statements)
    assert bool(statements) == (name not in SERVICES)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_does_in_a_few_words(name: str) -> None:
    words = example(name).text()
    assert re.fullmatch(r"[a-z].{4,80}", words)
    assert not re.search(r"\b1 \w+s\b", words)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("insert: [3]", "there is a row with the key 3 already"),
        ("insert: [4, 4]", "the key 4 stands twice in one write"),
        ("insert: [4, '4']", "the key 4 stands twice in one write"),
        ("insert: []", "insert names no row"),
        ("insert: {rows: [{f1: x}]}", "a row needs a value for the key column 'id'"),
        ("insert: {rows: [{id: 4, q: x}]}", "there is no column 'q'; there are: id, ts"),
        ("insert: {rows: [{id: 4, s.a: x}]}", "there is no column 's.a'; there are: id, ts"),
        ("insert: {rows: [{id: 4, n: x}]}", "column 'n': 'x' has no exact form as int"),
        ("insert: {rows: [{id: 4, s: {q: 1}}]}", "there is no part 'q'; there are: a, b"),
        ("insert: {rows: [{id: 4, s: 3}]}", "'3' is no struct<a: string, b: int>"),
        ("upsert: {keys: [1], rows: [{id: 1}]}", "the key 1 stands twice in one write"),
        ("update: {keys: [9], set: [f1]}", "no row has the key 9; there are: 1, 2, 3"),
        ("update: {keys: [1], set: [ts]}", "'ts' cannot be set here; each once, there are: n,"),
        ("update: {keys: [1], set: [f1, f1]}", "'f1' cannot be set here; each once"),
        ("update: {keys: [1], set: [s.a]}", "'s.a' cannot be set here"),
        ("update: {keys: [1], set: []}", "update names no row or column"),
        ("delete: [9]", "no row has the key 9"),
        ("delete: []", "delete names no row"),
        ("delete: {absent: [3]}", "there is a row with the key 3 already"),
        ("update: {absent: [3], set: [f1]}", "there is a row with the key 3 already"),
        ("merge: {absent: [3]}", "there is a row with the key 3 already"),
        ("merge: {absent: [4], insert: [4]}", "the key 4 stands twice in one write"),
        ("overwrite: []", "overwrite names no row"),
        ("overwrite: {keys: [1], of: partition}", "the table has no partitions"),
        ("write_frame: []", "write_frame names no row"),
        ("write_frame: [1, 1]", "the key 1 stands twice in one write"),
        ("write_frame: {keys: [1], columns: [id, f1]}", "the frame lacks ts; key, ordering and"),
        ("write_frame: {keys: [1], columns: [id, ts, f1, f1]}", "the column f1 stands twice"),
        ("write_frame: {keys: [1], columns: [id, ts, g]}", "no column 'g'; a new one needs its"),
        ("write_frame: {keys: [1], types: {n: long}}", "types: 'n' has none; allowed: names in"),
        (
            "write_frame: {keys: [1], columns: [id, ts, s], types: {s: int}}",
            "no int is written into it",
        ),
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
        ("late_upsert: []", "late_upsert names no row"),
        ("late_delete: [1, 1]", "the key 1 stands twice in one write"),
        ("merge: {}", "merge names no row"),
        ("merge: {insert: [4], set: [f1]}", "'set' is of rows to update, and the merge names none"),
        ("merge: {update: [1], set: [ts]}", "'ts' cannot be set here; each once, there are: n,"),
        ("merge: {update: [1], delete: [1]}", "the key 1 stands twice in one write"),
        ("merge: {insert: [1]}", "there is a row with the key 1 already"),
        ("move_column: {name: f1}", "say where the column goes"),
        ("move_column: {name: f1, first: true, after: n}", "are two places; give one"),
        ("add_column: {name: q, type: int, first: true, after: n}", "are two places"),
    ],
)
def test_what_no_statement_can_mean_is_refused(step: str, told: str) -> None:
    found = loads(TABLE, "family/name.yaml")
    before = expected_history.history(found, merge_on_read=False, applied=[True, True])[-1]
    operation = loads_step(step)
    with pytest.raises(SchemaChangeError) as wrong:
        operation.evolve(before)
    assert told in str(wrong.value)


def loads_step(text: str) -> Operation:
    """An operation read by its form alone, whether it is possible or not."""
    from harness.core.yaml_reader import parse  # noqa: PLC0415
    from harness.scenario.load import _steps  # noqa: PLC0415 - what it means is not to be checked

    document = parse(f"steps:\n  - {text}\n", "family/name.yaml")
    (step,) = _steps(document.data["steps"], document)
    document.problems.raise_if_any()
    assert isinstance(step, Step)
    return step.operation


def test_a_key_is_turned_into_the_type_of_the_key_column() -> None:
    before, after = around("insert")
    assert list(after.rows) == ["1", "2", "3", "4", "5"]
    assert set(before.rows) == {"1", "2", "3"}


def test_explicit_parts_of_a_struct_are_kept_by_their_ids() -> None:
    _, after = around("insert")
    ids = [after.schema.find(path).id for path in ("s", "s.a", "s.b")]
    assert after.rows["5"].values[ids[0]] == {ids[1]: "y", ids[2]: 1}


def test_values_that_are_not_finite_are_written_as_casts_of_their_text() -> None:
    columns = "table: {columns: {id: string, d: double}, key: id}\n"
    found = loads(
        columns + "steps: [insert: {rows: [{id: 1, d: -.inf}, {id: 2, d: .nan}]}]\n", "a/b.yaml"
    )
    before, after = expected_history.history(found, merge_on_read=False, applied=[True])
    (statement,) = found.steps[0].operation.sql(before, after)
    assert "cast('-inf' as double)" in statement
    assert "cast('nan' as double)" in statement


def merge_of(step: str) -> tuple[Truth, str]:
    """The truth after a merge, and its statement."""
    found = loads(f"{TABLE}  - merge: {step}\n", "family/name.yaml")
    applied = [True] * len(found.steps)
    before, after = expected_history.history(found, merge_on_read=True, applied=applied)[-2:]
    (statement,) = found.steps[-1].operation.sql(before, after)
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


def test_a_merge_that_sets_a_column_and_inserts_has_a_source_of_all_columns() -> None:
    after, statement = merge_of("{update: [1], insert: [4], set: [f1]}")
    source = statement.partition(") as s1 on ")[0]
    assert set(re.findall(r" as `(\w+)`", source)) >= set(after.schema.names)
    assert "update set `ts` = s1.`ts`, `f1` = s1.`f1` when not matched then insert" in statement


def test_the_source_of_a_merge_may_have_its_columns_in_the_opposite_order() -> None:
    after, usual = merge_of("{update: [1]}")
    turned, statement = merge_of("{update: [1], source: reversed}")
    assert turned.rows == after.rows
    first, second = (
        re.findall(r" as `(\w+)`", text.partition(") as s1 on ")[0]) for text in (usual, statement)
    )
    assert second == first[::-1] != first
