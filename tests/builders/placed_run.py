"""The run made by hand, with a scenario whose file is there: its steps have lines."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.run.load_run import BaselineInfo, Run, VariantInfo

FILE: Final = "my/move.yaml"
LINES: Final = {1: 5, 2: 6, 3: 7, 4: 8, 5: 9, 6: 10}
"""Where each step stands in the file."""
NAMES: Final = ("insert", "insert", "move_column", "update", "rename_column", "compact")
TEXT: Final = """table:
  columns: {id: string, ts: long, f1: string, f2: string}
  key: id
steps:
  - insert: [1, 2]
  - insert: [3]
  - move_column: {name: f1, after: f2}
  - update: {keys: [1], set: [f2]}
  - rename_column: {name: f2, to: f2_new}
  - compact
"""


def placed(run: Run, repository: Path) -> Run:
    """Write the file of `hudi/move` into a repository; return the run that names it."""
    path = repository / FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(TEXT, encoding="utf-8")
    variants = tuple(
        _named(variant) if variant.scenario == "hudi/move" else variant
        for variant in run.info.variants
    )
    baselines = {"hudi/move": BaselineInfo(str(path))}
    return replace(run, info=replace(run.info, variants=variants, baselines=baselines))


def _named(variant: VariantInfo) -> VariantInfo:
    steps = zip(variant.steps, NAMES, strict=True)
    return replace(variant, steps=tuple(replace(step, named=name) for step, name in steps))
