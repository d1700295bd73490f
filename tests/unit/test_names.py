"""Names say what they hold: words that fit any result or any element name nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
EMPTY: Final = {
    *("told", "said", "wanted", "held", "kept", "found", "each", "world", "standard", "habit"),
    *("way", "party", "spot", "room", "own", "alike", "apart", "scant", "spent", "void", "idle"),
}
OF_FILES: Final = {("acceptance.py", "party"), ("second_opinion.py", "found")}
"""Keys of files that users and the tools write."""


def names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def test_nothing_has_a_name_that_fits_anything() -> None:
    folders = ("harness", "reports", "tools", "tests")
    paths = [path for name in folders for path in (ROOT / name).rglob("*.py")]
    assert len(paths) > 500
    assert {
        f"{path.relative_to(ROOT)}: {name}"
        for path in paths
        for name in names(ast.parse(path.read_text(encoding="utf-8")))
        if name in EMPTY and (path.name, name) not in OF_FILES
    } == set()
