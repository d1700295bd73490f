"""The examples that operations give of themselves, as scenarios of one table."""

from __future__ import annotations

from typing import Final

from harness.scenario.definition import Scenario
from harness.scenario.load import loads
from harness.scenario.operations.api import Example

TABLE: Final = """
table:
  columns:
    id: string
    ts: long
    p: int
    n: int
    f1: string
    f2: string
    at: timestamp
    s: "struct<a: string, b: int>"
  key: id
  order_by: ts
  partition_by: [p]
steps:
  - insert: [1, 2]
  - insert: [3, 4]
  - upsert: [4]
"""


def scenario_of(example: Example) -> Scenario:
    """Return the scenario whose last step is the example."""
    steps = "".join(f"  - {step}\n" for step in (*example.after, example.step))
    return loads(TABLE + steps, "examples/operation.yaml")
