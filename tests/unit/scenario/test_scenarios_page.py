"""The examples of docs/scenarios.md are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.core.errors import ScenarioProblem
from harness.model.datatypes import FORMS, PRIMITIVES
from harness.plan.profile import loads_profiles
from harness.scenario.load import loads

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
