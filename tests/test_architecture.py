"""The rules of the layout: who may import whom, cycles, sizes, docstrings, what is never tracked.

A package of `harness`, or a module of a verb, that the order does not name fails the test: it is
entered here on purpose.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median

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

MODULES: Mapping[str, tuple[str, ...]] = {
    "plan": (
        *(
            "profile",
            "profile_file",
            "capabilities",
            "metastore_support",
            "reader_support",
            "reader_defaults",
            "shipped",
            "readers_file",
            "own_distributions",
            "check_names",
        ),
        *("select_scenarios", "axes", "handover", "constraints", "variants", "writer_support"),
        *("parts", "pairs", "cell_choice", "case_filter", "product", "controls", "expected_files"),
        *("separation", "estimation"),
    ),
    "write": (
        *("table_state", "state_store", "table_files"),
        *("sql_writer", "writer_pool", "next_step", "raised_step"),
        *("writer_pipe", "held_write", "kill_writer", "send_mutation", "tell_catalog"),
        *(
            "send_step",
            *("ask_writer", "ask_statistics", "ask_metadata"),
            "freeze_step",
            "wrong_statistics",
            "state_records",
            "write_variant",
            "write_variants",
        ),
    ),
    "read": (
        *("questions", "answer_cache", "reader_servers", "support_probe", "schedule_questions"),
        *("ask_server", "ask_engine", "second_answers", "earlier_question", "record_answers"),
        "read_states",
    ),
    "judge": (
        *("predicted_rows", "place", "world", "checks", "match_rows", "newer_rows", "origins"),
        *(
            "misled_columns",
            "field_ids",
            "statement_evidence",
            "partition_values",
            "file_contents",
            "agreement",
            "file_evidence",
        ),
        *("case", "recorded_schema", "recorded_metadata"),
        *("state_files", "answer_tables", "answer_texts"),
        *("cut_history", "standard", "understand", "strategies", "table_comparison", "compare"),
        *("trace", "name", "attribute", "settle", "order_dependence", "baseline", "gate"),
        "verdicts",
    ),
}
"""The modules of a verb in the order of their use: each imports only those before it."""

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
LONGEST_FILE = 900
LONGEST_TEST = 400
"""A file of tests is a list; nobody reads it from top to bottom."""
LONGEST_FUNCTION = 40
MEDIAN_FUNCTION = 15

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
        return in_order(MODULES.get(here), part_of(importer, here), part_of(name, here))
    never = any(f"{name}.".startswith(f"{module}.") for module in NEVER.get(here, ()))
    return not never and in_order(PACKAGES, here, there)


def in_order(order: tuple[str, ...] | None, here: str, there: str) -> bool:
    """Return whether `there` stands before `here`; what is not in the order is judged elsewhere."""
    if order is None or here == there or not {here, there} <= set(order):
        return True
    return order.index(there) < order.index(here)


def part_of(module: str, package: str) -> str:
    """Return the module of a package that a dotted name belongs to, empty for the package."""
    return part(f"harness{module.removeprefix(f'harness.{package}')}")


def too_long(modules: Iterable[Source], longest: int = LONGEST_FILE) -> list[str]:
    """Files and functions over the limit."""
    found = []
    for module in modules:
        if (lines := module.text.count("\n")) > longest:
            found.append(f"{module.name}: {lines} lines, at most {longest}")
        found += [
            f"{module.name}:{function.lineno}: {function.name} has {lines} lines, "
            f"at most {LONGEST_FUNCTION}"
            for function in architecture.functions(module)
            if (lines := architecture.length(function)) > LONGEST_FUNCTION
        ]
    return found


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


@pytest.mark.parametrize("package", MODULES)
def test_every_module_of_a_verb_stands_in_its_order(
    harness: tuple[Source, ...], package: str
) -> None:
    there = {part_of(each.name, package) for each in harness if part(each.name) == package}
    assert there - {""} == set(MODULES[package])


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


def test_files_and_functions_stay_short(harness: tuple[Source, ...]) -> None:
    tests = (ROOT / "tests").rglob("*.py")
    read = (architecture.source(path.stem, path, path.read_text("utf-8")) for path in tests)
    show_none([*too_long(harness), *too_long(read, LONGEST_TEST)])


def test_the_middle_function_is_short(harness: tuple[Source, ...]) -> None:
    lengths = [architecture.length(f) for module in harness for f in architecture.functions(module)]
    assert median(lengths or [0]) <= MEDIAN_FUNCTION


def test_everything_public_has_a_docstring(harness: tuple[Source, ...]) -> None:
    show_none([name for module in harness for name in architecture.undocumented(module)])


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
