"""A merge whose source has columns that the table lacks adds them, and no other row has a value."""

from typing import Final

import pytest

from harness import formats
from harness.artifacts import distributions
from harness.formats import load, other_writers
from harness.model.datatypes import parse_type
from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth
from harness.scenario.derived import twin
from harness.scenario.load import loads
from harness.scenario.operations.api import Operation
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.merge_with_schema_evolution import MergeWithSchemaEvolution
from harness.scenario.statements import LibraryWrite, recorded

STORY: Final = """
table:
  columns: {id: string, ts: long, f1: string, s: "struct<a: string, b: int>"}
  key: id
  order_by: ts
steps:
  - insert: [1, 2, 3]
  - merge_with_schema_evolution:
      {columns: {g: long, s.c: int}, update: [1], insert: [4], delete: [2]}
"""
DELTA_RS: Final = "deltalake-1.6.6"


def step() -> tuple[Operation, Truth, Truth]:
    scenario = loads(STORY, "a/b.yaml")
    before, after = scenario.survey.history[1:]
    return scenario.operations[1], before, after


def sent(format_name: str) -> list[str]:
    return [recorded(statement) for statement in load(format_name).wording(*step(), {})]


def test_rows_of_the_source_have_values_in_the_new_columns_and_all_others_have_null() -> None:
    _, before, after = step()
    assert after.schema.names == ("id", "ts", "f1", "s", "g")
    new, part = (after.schema.find(path).id for path in ("g", "s.c"))
    assert min(new, part) > before.schema.last_id
    struct = after.schema.find("s")
    values = {
        key: (row.values.get(new), row.of(struct).get(part)) for key, row in after.rows.items()
    }
    assert values.pop("3") == (None, None)
    assert set(values) == {"1", "4"}
    assert None not in {value for pair in values.values() for value in pair}


def test_what_was_before_is_known_for_an_undo() -> None:
    _, before, after = step()
    assert after.before_last is before


def test_delta_is_told_by_a_setting_and_iceberg_by_words_of_sql() -> None:
    switch, delta, back = sent("delta")
    setting = "set spark.databricks.delta.schema.autoMerge.enabled="
    assert (switch, back) == (f"{setting}true", f"{setting}false")
    (iceberg,) = sent("iceberg")
    words, _, rest = iceberg.partition(" into ")
    assert (words, f"merge into {rest}") == ("merge with schema evolution", delta)
    assert "`g` union all" in delta
    assert delta.endswith(
        "when matched and s1.`id` in ('2') then delete when matched then update set * "
        "when not matched then insert *"
    )


def test_delta_rs_is_told_to_merge_the_schemas_and_is_given_the_rows_to_delete() -> None:
    (write,) = other_writers.wording(
        distributions.load(DELTA_RS), formats.load("delta"), *step(), {}
    )
    assert isinstance(write, LibraryWrite)
    assert "merge_schema=True)" in write.expression
    assert write.expression.count("{'id': '") == 3
    assert "'\"g\"': 'source.\"g\"'" in write.expression


def test_a_merge_without_a_new_column_is_no_such_merge() -> None:
    _, before, _ = step()
    with pytest.raises(SchemaChangeError, match="a merge without new ones is 'merge'"):
        MergeWithSchemaEvolution({}, update=(1,)).evolve(before)
    with pytest.raises(SchemaChangeError, match="there is a column 'f1' already"):
        MergeWithSchemaEvolution({"f1": parse_type("int")}, update=(1,)).evolve(before)


def test_a_twin_gives_its_columns_the_type_of_the_others() -> None:
    other = twin(loads(STORY, "a/b.yaml"))
    assert other
    assert other.operations[1].typed() == dict.fromkeys(("g", "s.c"), parse_type("string"))


def test_without_its_only_column_it_is_a_merge() -> None:
    operation, *_ = step()
    one = operation.without("s.c")
    assert one
    assert set(one.typed()) == {"g"}
    assert one.without("g") == Merge((1,), (4,), (2,))
