"""The architecture test can fail: each rule finds what is planted for it, and nothing beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import architecture
from tests.architecture import Source
from tests.test_architecture import ambiguous, forbidden_imports, forbidden_text, too_long


def planted(tmp_path: Path, **files: str) -> tuple[Source, ...]:
    """A `harness` of these files: `a__b` is `harness/a/b.py`, `a____init__` is its package."""
    root = tmp_path / "harness"
    for name, text in files.items():
        *folders, last = re.split("(?<=[a-z])__(?=[a-z]|__)", name)
        path = root / Path(*folders, last).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for folder in {root, *(path.parent for path in root.rglob("*.py"))}:
        (folder / "__init__.py").touch()
    return architecture.sources(root)


@pytest.mark.parametrize(
    "importing",
    [
        "from harness.engines import trino",
        "import harness.engines.trino",
        "from harness.engines.trino import ask",
        "from ...engines import trino",
        "def f():\n    from harness.engines import trino",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import harness.engines.trino",
        "import importlib\nimportlib.import_module('harness.engines.trino')",
    ],
)
def test_a_check_that_knows_an_engine_is_found(tmp_path: Path, importing: str) -> None:
    modules = planted(tmp_path, engines__trino="", judge__checks__stale=importing)
    (found,) = forbidden_imports(modules)
    assert found.startswith("harness.judge.checks.stale:")
    assert "harness.engines" in found


def test_a_part_of_its_own_layer_may_be_imported(tmp_path: Path) -> None:
    checks = "from harness.judge.checks.api import C\nfrom harness.model.values import v"
    modules = planted(
        tmp_path, judge__checks__stale=checks, judge__checks__api="", model__values=""
    )
    assert forbidden_imports(modules) == []


@pytest.mark.parametrize(
    "importing",
    [
        "import harness.model.truth",
        "from harness.model import truth",
        "from harness.model.truth import Truth",
        "from harness.model import Truth",
    ],
)
def test_an_engine_that_knows_the_truth_is_found(tmp_path: Path, importing: str) -> None:
    passing_on = "from harness.model.truth import Truth"
    modules = planted(
        tmp_path,
        model__truth="class Truth: ...",
        model____init__=passing_on,
        engines__hive=importing,
    )
    (found,) = forbidden_imports(modules)
    assert found.startswith("harness.engines.hive:1 imports harness.model.truth")


def test_an_engine_may_import_the_rest_of_the_model(tmp_path: Path) -> None:
    modules = planted(
        tmp_path, model__canonical="", engines__hive="from harness.model.canonical import Value"
    )
    assert forbidden_imports(modules) == []


@pytest.mark.parametrize("library", ["pyspark.sql", "pandas", "socket", "subprocess", "thrift"])
def test_a_pure_part_that_reaches_out_is_found(tmp_path: Path, library: str) -> None:
    modules = planted(tmp_path, model__truth=f"def f():\n    import {library}")
    assert forbidden_imports(modules) == [f"harness.model.truth:2 imports {library}"]


def test_an_engine_may_reach_out(tmp_path: Path) -> None:
    assert forbidden_imports(planted(tmp_path, engines__trino="import socket, trino")) == []


def test_anybody_may_import_the_version(tmp_path: Path) -> None:
    modules = planted(tmp_path, model__truth="from harness import __version__")
    assert forbidden_imports(modules) == []


def test_an_import_against_the_order_of_packages_is_found(tmp_path: Path) -> None:
    modules = planted(tmp_path, read__questions="from harness.cli.app import main")
    assert forbidden_imports(modules) == ["harness.read.questions:1 imports harness.cli.app.main"]


def test_shared_folders_are_imported_under_one_name_only(tmp_path: Path) -> None:
    modules = planted(tmp_path, cli="import reports.html", reports__html="")
    assert forbidden_imports(modules) == ["harness.cli:1 imports reports.html"]


def test_a_cycle_over_three_modules_is_found_wherever_the_import_stands(tmp_path: Path) -> None:
    modules = planted(
        tmp_path,
        a="import harness.b",
        b="from harness import c",
        c="def f():\n    from harness.a import g",
    )
    found = architecture.cycle(architecture.graph(modules))
    assert found == ("harness.a", "harness.b", "harness.c", "harness.a")


def test_an_import_for_types_only_makes_no_cycle(tmp_path: Path) -> None:
    modules = planted(
        tmp_path,
        a="import harness.b",
        b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import harness.a",
    )
    assert architecture.cycle(architecture.graph(modules)) == ()


def test_the_branch_for_running_code_still_makes_a_cycle(tmp_path: Path) -> None:
    guard = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    "
    modules = planted(tmp_path, a="import harness.b", b=guard + "import harness.a")
    assert architecture.cycle(architecture.graph(modules)) != ()


def test_a_diamond_is_no_cycle(tmp_path: Path) -> None:
    modules = planted(
        tmp_path, a="import harness.b, harness.c", b="import harness.d", c="import harness.d", d=""
    )
    assert architecture.cycle(architecture.graph(modules)) == ()


def test_a_long_module_is_found(tmp_path: Path) -> None:
    modules = planted(tmp_path, a="\n" * 900, b="\n" * 901)
    assert too_long(modules) == ["harness.b: 901 lines, at most 900"]


def test_a_class_name_that_is_defined_twice_is_found(tmp_path: Path) -> None:
    nested = "class A:\n    class _Row: ..."
    modules = planted(tmp_path, a="class _Row: ...", b__c=nested, d="class Other: ...")
    assert ambiguous(modules) == ["_Row: harness.a, harness.b.c"]


def test_registry_hosts_and_paths_of_one_machine_are_found() -> None:
    host, path = "repo1.{}.org".format("maven"), "/{}/lake".format("root")
    assert forbidden_text(f"fine\nsee https://{host}/x\nin {path}") == [
        "2: {}.org".format("maven"),
        "3: /{}/".format("root"),
    ]


def test_relative_and_longer_paths_are_let_through() -> None:
    inside = "/{}/a".format("work")
    assert forbidden_text(f"../x{inside} $HIVE_HOME{inside} {{base}}{inside} maven") == []
