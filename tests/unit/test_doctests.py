"""Every example of the repository is run: those of docstrings, and those of written pages."""

import doctest
import importlib
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PROMPT: Final = ">>> "
FILES: Final = [
    path
    for folder in ("harness", "reports", "tools", "docs")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".md"} and PROMPT in path.read_text("utf-8")
]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=named)
def test_the_examples_of_a_file_are_true(path: Path) -> None:
    if path.suffix == ".md":
        results = doctest.testfile(str(path), module_relative=False)
    else:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        module = f"harness.{name}" if name.startswith("reports.") else name
        results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0
    assert results.failed == 0


def test_there_are_examples() -> None:
    assert len(FILES) > 20
