"""Whatever happens to a scenario file: a scenario or a problem with file and line, nothing else."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.errors import ScenarioProblem
from harness.scenario.definition import Scenario
from harness.scenario.load import loads

GOOD = """about: Everything that a file may hold.
source: "nowhere: in particular"
table:
  columns: {id: string, ts: long, p: int, f1: string, n: int, s: "struct<a: int, b: array<date>>"}
  key: id
  order_by: ts
  partition_by: [p]
formats: [hudi-cow, hudi-mor]
settings: {rewrites: [none, some]}
views: [snapshot, read_optimized]
steps:
  - insert: [1, 2]
  - insert: {rows: [{id: 3, f1: x, n: 7, s: {a: 1, b: [2024-02-29]}}]}
  - add_column: {name: f3, type: "decimal(10, 2)", after: f1}
  - update: {keys: [1], set: [f1]}
  - merge: {update: [1], insert: [6], delete: [2]}
    quiet: true
  - rename_column: {name: s.a, to: größe}
  - change_type: {name: n, to: long}
  - move_column: {name: f1, first: true}
  - drop_column: f3
  - touch: all
  - compact
"""
SNIPPETS = st.sampled_from(
    [
        *("", " ", "\n", "\t", ": ", "- ", "&a ", "<<: ", "? ", "---\n", "...\n", "!!str ", "*a"),
        *",[]{}'\"#|>%@`~\\",
        *("null", "true", ".nan", ".inf", "-1", "1e999", "0x1F", "2024-02-30", "struct<"),
        *("id", "ts", "f1", "insert", "steps", "touch"),
        *("9" * 200, "x" * 300, '"\\ud800"', "array<" * 20, "decimal(", "[" * 60),
        *("\0", "\x1b[31m", "\u202e", "\ufeff", "\ud800", "😀", "Ä", "\x85", "\u2028", "\r"),
    ]
)
PLACES = st.integers(0, len(GOOD))
CHANGES = st.lists(st.tuples(PLACES, st.integers(0, 40), SNIPPETS), min_size=1, max_size=4)
LINE = re.compile(r"x/y\.yaml:\d+: \S.*|… and \d+ more")


def outcome(text: str) -> Scenario | str:
    try:
        return loads(text, "x/y.yaml")
    except ScenarioProblem as problem:
        return str(problem)


def test_the_file_that_is_changed_is_a_good_one() -> None:
    assert isinstance(outcome(GOOD), Scenario)


@settings(max_examples=60)
@given(CHANGES)
@example([(1, 0, "\x85"), (1, 0, "\x85")])
@example([(1, 0, "\u2028"), (1, 0, "\x1b[2J")])
def test_a_changed_file_is_a_scenario_or_reported_with_its_line(
    changes: list[tuple[int, int, str]],
) -> None:
    text = GOOD
    for at, length, snippet in changes:
        text = text[:at] + snippet + text[at + length :]
    scenario = outcome(text)
    if isinstance(scenario, str):
        assert all(LINE.fullmatch(line) for line in scenario.split("\n")), scenario


@settings(max_examples=40)
@given(st.text(max_size=60))
@example("\ud800")
@example("a: \x00")
@example("? - :\n")
def test_any_text_at_all_is_reported_with_its_line(text: str) -> None:
    assert isinstance(outcome(text), str)


@settings(max_examples=40)
@given(st.permutations(GOOD.splitlines()), st.integers(1, 30))
def test_lines_in_any_order_are_a_scenario_or_reported(lines: list[str], count: int) -> None:
    outcome("\n".join(lines[:count]))
