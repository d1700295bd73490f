"""Types of parts that not every engine's answers tell: refused, with their line."""

from __future__ import annotations

import json

import pytest

from harness.core.errors import ScenarioProblem
from harness.scenario.derived import twin
from harness.scenario.load import loads

FILE = """table:
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


def text(type_: str, *steps: str) -> str:
    return FILE.format(type=json.dumps(type_)) + "".join(f"  - {step}\n" for step in steps)


def problems(text: str) -> list[str]:
    with pytest.raises(ScenarioProblem) as wrong:
        loads(text, "x.yaml")
    return str(wrong.value).splitlines()


@pytest.mark.parametrize(
    ("type_", "why"),
    [
        ("array<binary>", INSIDE),
        ("map<string, array<struct<a: int, b: binary>>>", INSIDE),
        ("map<binary, int>", f"a map with keys of binary{KEYS}"),
        ("map<struct<a: int>, int>", f"a map with keys of struct<a: int>{KEYS}"),
        ("array<struct<m: map<binary, int>>>", f"a map with keys of binary{KEYS}"),
    ],
)
def test_a_part_that_no_answer_tells_is_refused_with_its_line(type_: str, why: str) -> None:
    assert problems(text(type_)) == [f"x.yaml:4: table: columns: 'c' has {why}{WHY}"]


def test_such_a_part_that_a_step_makes_is_refused_at_the_step_and_told_once() -> None:
    added = 'add_column: {name: c.b, type: "array<binary>"}'
    changed = "change_type: {name: c.a, to: binary}"
    told = f"'c' has {INSIDE}{WHY}"
    assert problems(text("struct<a: string>", added, "touch")) == [
        f"x.yaml:8: step 2 add_column: {told}"
    ]
    assert problems(text("struct<a: string>", changed, "touch")) == [
        f"x.yaml:8: step 2 change_type: {told}"
    ]
    key = problems(text("map<string, int>", "change_type: {name: c.key, to: binary}"))
    assert key == [f"x.yaml:8: step 2 change_type: 'c' has a map with keys of binary{KEYS}{WHY}"]


def test_parts_do_not_become_binary_in_a_twin_though_the_first_column_is() -> None:
    columns = text("binary", 'add_column: {name: s, type: "struct<a: int, b: string>"}')
    found = twin(
        loads(columns.replace("steps:", "steps:\n  - add_column: {name: n, type: int}"), "x")
    )
    assert found is not None
    added = [step.operation.type for step in found.steps if hasattr(step.operation, "type")]
    assert list(map(str, added)) == ["binary", "struct<a: int, b: string>"]
    assert twin(loads(columns, "x")) is None
