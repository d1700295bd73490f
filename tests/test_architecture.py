"""The rules of the layout: who may import whom, cycles, sizes, docstrings, what is never tracked.

A part of `harness` that the table does not name fails the test: it is entered here on purpose.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import pytest

from tests import architecture
from tests.architecture import Source

ROOT = Path(__file__).parent.parent

MAY_IMPORT = {
    "errors": "",
    "progress": "errors",
    "bars": "progress",
    "telling": "progress bars",
    "containers": "errors",
    "scenarios": "errors",
    # pure
    "model": "errors",
    "operations": "errors model",
    "scenario": "errors model operations",
    "shapes": "errors model",
    "views": "errors model",
    "cells": "errors model operations scenario shapes",
    "record": "model",
    "recording": "errors record",
    "differences": "errors model record",
    "foretold": "model record",
    "checks": "errors model record foretold",
    "matching": "errors model checks",
    "origins": "errors model record foretold checks",
    "newer": "errors model record checks matching",
    "compare": "errors model record checks matching origins newer",
    "diagnosis": "errors model record checks",
    "readings": "errors model",
    "layout": "errors model record foretold checks readings",
    "sent": "errors model operations",
    "field_ids": "model",
    "held": "errors model operations record sent field_ids",
    "party": "errors model operations cells record checks readings held",
    "refusals": "errors record",
    "baseline": "errors model scenario shapes views cells record",
    "unsupported": "record runtimes",
    "told": "model record foretold checks compare diagnosis layout",
    "histories": (
        "errors model scenario views cells record checks compare diagnosis differences layout held "
        "party told"
    ),
    "judge": "views cells record differences refusals unsupported layout party histories",
    "cases": "cells record formats histories",
    "kinds": "cells record judge histories cases",
    "run_info": "errors cells",
    "run": "errors model scenario cells record recording run_info",
    "reports": "errors model scenario views cells record differences baseline run_info run",
    "gate": "errors record baseline",
    # what differs from one format, engine or runtime to the next
    "formats": "errors model operations scenario record",
    # the worker: Spark reads as well
    "engines": "errors progress model record differences runtimes writer",
    "runtimes": "errors progress record containers",
    # order of I/O
    "writer": "errors progress model operations record formats runtimes",
    "plan": (
        "errors progress model operations scenario shapes views cells record readings formats "
        "engines runtimes"
    ),
    "table_state": "model record runtimes",
    "freeze": "errors progress model scenario cells record formats runtimes table_state",
    "course": "errors model operations scenario cells record formats runtimes freeze writer",
    "file_values": "errors model record formats",
    "written": "model cells record table_state course file_values",
    "writing": (
        "errors model operations cells record refusals formats runtimes table_state freeze "
        "writer course written"
    ),
    "write": (
        "errors progress model operations scenario cells record formats runtimes table_state "
        "freeze writer writing written"
    ),
    "doctor": "errors progress runtimes",
    "planning": "errors cells scenario unsupported plan formats engines runtimes reports",
    "known_files": (
        "errors cells record scenario formats engines runtimes plan run_info run baseline"
    ),
    "run_plan": "errors views cells scenario runtimes plan run_info known_files",
    "fetching": "progress cells runtimes",
    "pipeline": (
        "errors progress cells record formats runtimes table_state write writing written recording "
        "handover side_by_side desk read judge kinds cases run baseline known_files run_folder "
        "run_plan answering"
    ),
    "explain": (
        "errors model cells record recording checks matching compare histories cases layout "
        "party readings judge run_info run reports run_folder run_plan options voice"
    ),
    "reproduce": (
        "errors progress model operations scenario shapes views cells record formats "
        "engines runtimes plan table_state course writer readings judge histories run_info run "
        "reports fetching pipeline run_folder run_plan options explain voice"
    ),
    "remedy": (
        "errors cells record engines runtimes plan run_info run reports run_folder "
        "run_plan options explain reproduce voice"
    ),
    "following": (
        "errors cells record recording party judge cases run_info run baseline known_files run_plan"
    ),
    "answer_cache": "errors record recording",
    "questions": (
        "errors model scenario shapes views cells record formats engines runtimes table_state"
    ),
    "answering": "errors model cells record refusals engines questions",
    "asking": "errors progress cells record answering engines questions runtimes",
    "probing": "record unsupported questions",
    "keeper": "progress record table_state freeze answer_cache questions",
    "shared_catalog": "errors table_state freeze runtimes",
    "side_by_side": "",
    "handover": "",
    "desk": (
        "errors progress record engines runtimes questions answering asking probing keeper "
        "shared_catalog side_by_side handover"
    ),
    "run_folder": "errors run_info",
    "interrupts": "",
    "streams": "errors",
    "voice": "errors progress telling record gate reports run interrupts",
    "options": "errors runtimes run_folder",
    "opening": (
        "errors cells runtimes writing answering pipeline run_folder run_info run_plan voice"
    ),
    "read": (
        "errors progress model scenario cells record formats engines runtimes plan table_state "
        "answer_cache questions keeper shared_catalog handover desk"
    ),
}
"""What each part of `harness` may import beside itself; `OUTERMOST` may import anything."""

OUTERMOST = {"cli", "baseline_commands", "cache_commands", "pytest_plugin", "__main__", ""}

NEVER = {
    "engines": ("harness.model.truth", "harness.model.history"),
}
"""Single modules that a part must not know although it may import their package."""

NEVER_WIDENED = {
    "checks": {"engines", "formats", "writer"},
    "engines": {"checks", "compare", "diagnosis", "histories", "judge"},
    "formats": {"checks", "compare", "diagnosis", "engines", "histories", "judge"},
    "reports": {"engines", "formats", "histories", "judge", "read", "write", "writer"},
}
"""What the design rules out whatever the table comes to say: blind checks, blind engines."""

PURE = {
    "model",
    "differences",
    "foretold",
    "operations",
    "scenario",
    "checks",
    "judge",
    "baseline",
    "gate",
    "cells",
    "compare",
    "diagnosis",
    "field_ids",
    "held",
    "histories",
    "layout",
    "matching",
    "newer",
    "origins",
    "party",
    "plan",
    "readings",
    "record",
    "refusals",
    "sent",
    "shapes",
    "told",
    "unsupported",
}
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

LONGEST_FILE = 350
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
    """Every import that the table does not allow, as `module:line imports what`."""
    modules = tuple(modules)
    passed_on = architecture.re_exports(modules)
    return [
        f"{needed.module}:{needed.line} imports {name}"
        for module in modules
        for needed in architecture.imports(module)
        if not allowed(module.name, name := architecture.origin(needed.name, passed_on))
    ]


def allowed(importer: str, name: str) -> bool:
    """Whether a module may import a name; names outside the project are judged by purity alone."""
    here, there = part(importer), part(name)
    if not f"{name}.".startswith("harness."):
        return name.partition(".")[0] not in UNSHIPPED | (IMPURE if here in PURE else set())
    if here in OUTERMOST or here == there:
        return True
    never = any(f"{name}.".startswith(f"{module}.") for module in NEVER.get(here, ()))
    in_package_itself = there not in MAY_IMPORT.keys() | OUTERMOST  # such as harness.__version__
    return in_package_itself or (not never and there in MAY_IMPORT.get(here, "").split())


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


def show_none(found: list[str]) -> None:
    """Fail with one line for each thing found."""
    assert not found, "\n" + "\n".join(found)


@pytest.fixture(scope="module")
def harness() -> tuple[Source, ...]:
    """Every module of the product."""
    return architecture.sources(ROOT / "harness")


def test_every_part_of_the_harness_stands_in_the_table(harness: tuple[Source, ...]) -> None:
    unknown = {part(module.name) for module in harness} - MAY_IMPORT.keys() - OUTERMOST
    assert not unknown, "enter it in MAY_IMPORT, and below in who may import it"


def test_the_table_itself_has_layers_and_keeps_what_the_design_rules_out() -> None:
    table = {name: frozenset(inner.split()) for name, inner in MAY_IMPORT.items()}
    assert architecture.cycle(table) == ()
    assert [name for name, outer in NEVER_WIDENED.items() if table[name] & outer] == []


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
