"""Values of files by field ids, at every depth, and back."""

from __future__ import annotations

from harness.judge.file_contents import by_ids, by_names
from harness.model.canonical import MapValue
from harness.model.schema import Field
from tests.builders.table_story import history


def deep() -> Field:
    columns = "id string, ts long, f array<map<string, struct<a: int, b: int>>>"
    return history("insert 1", columns).truth.schema.find("f")


def test_children_stand_under_their_ids_at_every_depth_and_under_their_names_again() -> None:
    column = deep()
    a, b = column.children[0].children[1].children
    value = (MapValue.of([("k", {"a": 1, "b": None})]),)
    assert by_ids(value, column) == (MapValue.of([("k", {a.id: 1, b.id: None})]),)
    assert by_names(by_ids(value, column), column) == value


def test_a_child_that_the_truth_does_not_know_keeps_its_name() -> None:
    struct = deep().children[0].children[1]
    assert by_ids({"b": 1, "z": 2}, struct) == {struct.children[1].id: 1, "z": 2}
    assert by_names({"z": 2}, struct) == {"z": 2}
