from __future__ import annotations

import pytest

from harness.core.errors import ScenarioProblem
from harness.judge.baseline import EngineFacts, Possible, check, parse

POSSIBLE = Possible(
    engines=(
        EngineFacts("hive", "3.1.3", "hive-3.1.3", {"path": ("fetch", "mapreduce")}),
        EngineFacts("trino", "476", "trino-476", {"use-column-names": ("true", "false")}),
    ),
    formats={"hudi-cow": ("snapshot",), "hudi-mor": ("snapshot", "read_optimized")},
    variants={"rewrites": ("none", "some")},
    steps=6,
)


def said(when: str) -> str:
    text = f"- when: {{{when}}}\n  expect: {{finding: stale}}\n  support: never\n  because: x\n"
    try:
        check(parse(text, "a.known.yaml"), POSSIBLE)
    except ScenarioProblem as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(
    "when",
    [
        "",
        "engine: hive, version: 3.1.3, distribution: hive-3.1.3, reader.path: fetch",
        "engine: hive, reader.path: unset, reader.use-column-names: unset",
        "format: hudi-mor, view: read_optimized, twin: true, variant.rewrites: some",
        "view: read_optimized",
        "view: write, step: 0",
        "query: all",
        "query: predicate(f1)",
        'step: ">=6"',
        'writer: "hive-3.1.3, trino-476"',
        "variant.rewrites: unset",
    ],
)
def test_what_some_profile_may_ask_can_be_used(when: str) -> None:
    assert said(when) == ""


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("engine: hiv", "engine: there is no 'hiv'; did you mean 'hive'?"),
        ('version: "475"', "version: there is no '475'"),
        ("distribution: trino-368", "distribution: there is no 'trino-368'"),
        ("writer: spark-1", "writer: there is no 'spark-1'"),
        ("format: iceberg", "format: there is no 'iceberg'"),
        ("view: snapshots", "view: there is no 'snapshots'; did you mean 'snapshot'?"),
        ("query: predicate", "query: 'predicate' is not a query; allowed: all, column(<column>)"),
        ("query: every(f1)", "query: 'every(f1)' is not a query; allowed: all, column(<column>)"),
        ("step: 7", "the scenario has no step 7; allowed: 0 to 6"),
        ("reader.pth: fetch", "there is no setting 'reader.pth'; did you mean 'reader.path'?"),
        ("reader.path: spark", "reader.path: there is no 'spark'"),
        ("variant.rewrites: every", "variant.rewrites: there is no 'every'"),
        (
            "engine: trino, reader.path: fetch",
            "no distribution has all of engine: trino, reader.path",
        ),
        ("format: hudi-cow, view: read_optimized", "hudi-cow has no view read_optimized; allowed"),
    ],
)
def test_what_no_profile_can_ask_is_an_error_with_its_place(when: str, why: str) -> None:
    assert said(when).startswith(f"a.known.yaml:1: no cell can use this line: {why}")
