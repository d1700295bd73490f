import re
from pathlib import Path

from harness.judge.baseline import parse
from harness.judge.baseline.apply import FIRST, LAST, VERSIONS
from harness.judge.baseline.known import NAMES

PAGE = (Path(__file__).parents[4] / "docs" / "baselines.md").read_text(encoding="utf-8")


def test_the_example_is_read() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert len(parse(example, "scenarios/hudi/rename_add_drop.known.yaml")) == 2


def test_every_condition_is_named() -> None:
    rows = "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))
    assert {*NAMES, "reader.<setting>", "variant.<setting>"} <= set(re.findall(r"`(.*?)`", rows))


def test_the_order_of_the_conditions_is_the_one_that_is_used() -> None:
    (order,) = re.findall(r"in this order and keeps those it needs: (.*?)\.", PAGE, re.DOTALL)
    named = [name for name in re.findall(r"\w+", order) if name in NAMES]
    assert named == [*FIRST, *VERSIONS, *LAST]
