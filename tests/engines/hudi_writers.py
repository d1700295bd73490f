"""Variants that the three writers of Hudi tables write."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness import formats
from harness.plan import Profile, Writer, plan
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario
from harness.write.state_records import VariantResult
from tests.engines.planned_run import shipped

OLD, NEW, NEWEST = (f"spark-3.5.8-hudi-{version}" for version in ("0.15.0", "1.0.2", "1.2.0"))
AXES = {"rewrites": ("some",), "partitioned": ("none",)}
every_writer = pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
both_formats = pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])

Write = Callable[[Scenario | str, str, Writer | str], VariantResult]
"""Writes a scenario, or one that comes with the harness, in a format by a writer (`conftest`)."""


def variant_of(scenario: Scenario | str, format_name: str, writer: Writer | str) -> Variant:
    if isinstance(scenario, str):
        (scenario,) = shipped(scenario)
    writers = (Writer(writer) if isinstance(writer, str) else writer,)
    profile = Profile("x", (scenario.name,), (format_name,), writers, (), axes=AXES)
    (variant,) = plan([scenario], profile, map(formats.load, formats.names())).variants
    return variant


def table_after(written: VariantResult, step: int) -> Path:
    (table,) = (state.table for (_, at), state in written.states.items() if at == step)
    return table
