"""The rules of the layout: who may import whom, cycles, sizes, what is never tracked.

Who may import whom is in `pyproject.toml`, as contracts of import-linter.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).parent.parent
LONGEST_MODULE: Final = 900
"""In lines; a longer one holds more than one thing."""
REGISTRIES: Final = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("maven", "org"),
    ("repo", "maven", "apache", "org"),
    ("maven", "google", "com"),
    ("central", "sonatype", "com"),
    ("npmjs", "org"),
    ("docker", "io"),
    ("quay", "io"),
    ("ghcr", "io"),
    ("gcr", "io"),
    ("crates", "io"),
    ("rubygems", "org"),
    ("nuget", "org"),
    ("anaconda", "org"),
    ("proxy", "golang", "org"),
)
"""Package registries, in parts, so that this file does not name one."""
FORBIDDEN_TEXT: Final = re.compile(
    r"\b(?:" + "|".join(r"\.".join(parts) for parts in REGISTRIES) + r")\b"
    r"|(?<![\w.}>)$-])/(?:work|root|home|Users)/"
)


@cache
def tracked() -> dict[str, Path]:
    """Return the files that Git knows, by their names from the root; links are left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - whichever git is on the PATH
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    paths = {name: ROOT / name for name in listed if name}
    return {name: path for name, path in paths.items() if path.is_file() and not path.is_symlink()}


def forbidden_text(text: str) -> list[str]:
    """Return the registry hosts and the machines' paths in a text, as `line: match`."""
    return [
        f"{number}: {match.group()}"
        for number, line in enumerate(text.splitlines(), start=1)
        for match in FORBIDDEN_TEXT.finditer(line)
    ]


def test_imports_keep_the_contracts() -> None:
    # In a process of its own: it configures logging, and switches off every logger that is there.
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    linted = subprocess.run(
        [*command, "--no-cache"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert linted.returncode == 0, linted.stdout


def test_there_is_no_import_cycle() -> None:
    graph = grimp.build_graph("harness", exclude_type_checking_imports=True, cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imported).prepare()  # raises an error that shows the cycle


def test_nothing_lies_loose_beside_the_packages() -> None:
    loose = {path.name for path in (ROOT / "harness").iterdir() if path.is_file()}
    assert loose == {"__init__.py", "__main__.py", "py.typed"}


def test_no_module_is_too_long() -> None:
    lines = {name: path.read_bytes().count(b"\n") for name, path in tracked().items()}
    python = {name: count for name, count in lines.items() if name.endswith(".py")}
    assert {name: count for name, count in python.items() if count > LONGEST_MODULE} == {}


def test_a_class_name_has_one_meaning() -> None:
    modules = defaultdict[str, list[str]](list)
    for name, path in tracked().items():
        if name.startswith(("harness/", "reports/", "tools/")) and name.endswith(".py"):
            nodes = ast.walk(ast.parse(path.read_bytes()))
            for node in (node for node in nodes if isinstance(node, ast.ClassDef)):
                modules[node.name].append(name)
    assert {name: users for name, users in modules.items() if len(users) > 1} == {}


def test_no_tracked_file_names_a_registry_or_a_path_of_one_machine() -> None:
    matches = {
        name: lines
        for name, path in tracked().items()
        if (lines := forbidden_text(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert matches == {}


def test_registry_hosts_and_paths_of_one_machine_are_recognised() -> None:
    host, path = "repo1.{}.org".format("maven"), "/{}/lake".format("root")
    assert forbidden_text(f"fine\nsee https://{host}/x\nin {path}") == [
        "2: {}.org".format("maven"),
        "3: /{}/".format("root"),
    ]
    inside = "/{}/a".format("work")
    assert forbidden_text(f"../x{inside} $HIVE_HOME{inside} {{base}}{inside} maven") == []
