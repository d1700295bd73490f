"""The rules of the layout: who may import whom, cycles, sizes, what is never tracked.

A package of `harness` that the order does not name fails the test: it is entered here on purpose.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import architecture
from tests.architecture import Source

ROOT = Path(__file__).parent.parent

PACKAGES = (
    *("model", "core", "containers", "artifacts", "runtime", "engines"),
    *("scenarios", "scenario", "formats", "usage", "plan", "write", "read", "judge"),
    *("conformance", "run", "comparison", "reports", "cli", "__main__", ""),
)
"""The packages of `harness` in the order of the flow: each imports itself and those before it."""

PURE = ("model", "core", "scenario", "plan", "judge")
"""What runs anywhere and reaches out of the process nowhere."""

NEVER = {
    "engines": ("harness.model.truth", "harness.model.history"),
    "judge": tuple(
        f"harness.{each}"
        for each in ("artifacts", "runtime", "engines", "formats", "plan", "write", "read")
    ),
    "read": ("harness.plan",),
    "reports": tuple(
        f"harness.{each}"
        for each in ("artifacts", "runtime", "engines", "formats", "plan", "write", "read")
    ),
}
"""What a package must not know although it stands before it: blind checks, blind engines."""

IMPURE = {
    "TCLIService",
    "docker",
    "http",
    "pandas",
    "py4j",
    "pyhive",
    "pymetastore",
    "pyspark",
    "requests",
    "socket",
    "subprocess",
    "testcontainers",
    "thrift",
    "trino",
    "urllib",
}
"""Libraries that reach out of the process, or too heavy for a core that runs anywhere."""

UNSHIPPED = {"containers", "reports", "scenarios", "tests"}
"""Top-level folders that no installation has under these names: say `harness.reports`."""

MOST_PACKAGES = 16
LONGEST_MODULE = 900
"""In lines; a longer one holds more than one thing."""

REGISTRIES = (
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

FORBIDDEN_TEXT = re.compile(
    r"\b(?:" + "|".join(r"\.".join(parts) for parts in REGISTRIES) + r")\b"
    r"|(?<![\w.}>)$-])/(?:work|root|home|Users)/"
)


def part(module: str) -> str:
    """The part of `harness` that a dotted name belongs to, empty for `harness` itself."""
    return module.removeprefix("harness").removeprefix(".").partition(".")[0]


def forbidden_imports(modules: Iterable[Source]) -> list[str]:
    """Return every import against the order, as `module:line imports what`."""
    modules = tuple(modules)
    passed_on = architecture.re_exports(modules)
    return [
        f"{needed.module}:{needed.line} imports {name}"
        for module in modules
        for needed in architecture.imports(module)
        if not allowed(module.name, name := architecture.origin(needed.name, passed_on))
    ]


def allowed(importer: str, name: str) -> bool:
    """Return whether a module may import a name; names outside are judged by purity alone."""
    here, there = part(importer), part(name)
    if name == "harness":
        return True
    if not f"{name}.".startswith("harness."):
        return name.partition(".")[0] not in UNSHIPPED | (IMPURE if here in PURE else set())
    if there not in PACKAGES:  # in the package itself, such as harness.__version__
        return True
    if here == there:
        return True
    never = any(f"{name}.".startswith(f"{module}.") for module in NEVER.get(here, ()))
    return not never and PACKAGES.index(there) < PACKAGES.index(here)


def too_long(modules: Iterable[Source]) -> list[str]:
    """Return every module with more lines than the limit."""
    lines = {module.name: module.text.count("\n") for module in modules}
    return [
        f"{name}: {count} lines, at most {LONGEST_MODULE}"
        for name, count in lines.items()
        if count > LONGEST_MODULE
    ]


def forbidden_text(text: str) -> list[str]:
    """The registry hosts and machine paths in a text, as `line: match`."""
    return [
        f"{number}: {match.group()}"
        for number, line in enumerate(text.splitlines(), start=1)
        for match in FORBIDDEN_TEXT.finditer(line)
    ]


def ambiguous(modules: Iterable[Source]) -> list[str]:
    """Return each class name that is defined more than once, with the modules that do."""
    places: dict[str, list[str]] = {}
    for module in modules:
        for name in architecture.classes(module):
            places.setdefault(name, []).append(module.name)
    return [f"{name}: {', '.join(of)}" for name, of in sorted(places.items()) if len(of) > 1]


def show_none(found: list[str]) -> None:
    """Fail with one line for each thing found."""
    assert not found, "\n" + "\n".join(found)


@pytest.fixture(scope="module")
def harness() -> tuple[Source, ...]:
    """Every module of the product."""
    return architecture.sources(ROOT / "harness")


def test_every_package_stands_in_the_order(harness: tuple[Source, ...]) -> None:
    assert {part(module.name) for module in harness} == set(PACKAGES)
    assert len(set(PACKAGES) - UNSHIPPED - {"__main__", ""}) <= MOST_PACKAGES


@pytest.mark.parametrize("package", sorted(set(PACKAGES) - {"__main__", ""}))
def test_every_package_says_what_comes_in_what_goes_out_and_what_it_must_not_know(
    harness: tuple[Source, ...], package: str
) -> None:
    (found,) = (each for each in harness if each.name == f"harness.{package}")
    text = " ".join((ast.get_docstring(found.tree) or "").split())
    assert [word for word in ("In: ", " Out: ", " not know ") if word not in text] == []


def test_nothing_lies_loose_beside_the_packages() -> None:
    loose = {path.name for path in (ROOT / "harness").iterdir() if path.is_file()}
    assert loose == {"__init__.py", "__main__.py", "py.typed"}


def test_every_module_imports_only_what_its_layer_may(harness: tuple[Source, ...]) -> None:
    show_none(forbidden_imports(harness))


def test_there_is_no_import_cycle(harness: tuple[Source, ...]) -> None:
    assert architecture.cycle(architecture.graph(harness)) == ()


def test_no_module_is_too_long(harness: tuple[Source, ...]) -> None:
    show_none(too_long([*harness, *architecture.sources(ROOT / "tests")]))


def test_a_class_name_has_one_meaning(harness: tuple[Source, ...]) -> None:
    show_none(ambiguous([*harness, *architecture.sources(ROOT / "tools")]))


def test_no_tracked_file_names_a_registry_or_a_path_of_one_machine() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - whichever git is on the PATH
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    paths = [ROOT / name for name in listed if name]
    files = [path for path in paths if path.is_file() and not path.is_symlink()]
    assert files
    show_none(
        [
            f"{path.relative_to(ROOT)}:{match}"
            for path in files
            for match in forbidden_text(path.read_text(encoding="utf-8", errors="replace"))
        ]
    )
