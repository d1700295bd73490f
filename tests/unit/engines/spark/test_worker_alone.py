"""The worker as it runs in an image: one file, the standard library and PySpark, Python 3.8."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from harness.engines.spark import worker

SOURCE = Path(worker.__file__).read_text(encoding="utf-8")
NEWER = {"removeprefix", "removesuffix", "pairwise", "batched", "cache", "zoneinfo", "tomllib"}
"""Names of the standard library since Python 3.9 that somebody may reach for."""


def test_it_is_written_in_python_3_8() -> None:
    ast.parse(SOURCE, feature_version=(3, 8))
    names = {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.Attribute | ast.Name)
    }
    assert names & NEWER == set()


def test_it_imports_nothing_but_the_standard_library_and_pyspark() -> None:
    found: set[str] = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add((node.module or "").partition(".")[0])
    assert found - set(sys.stdlib_module_names) == {"pyspark", "py4j"}
