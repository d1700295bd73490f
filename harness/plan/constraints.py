"""Why a combination of axis values cannot be."""

from __future__ import annotations

from collections.abc import Iterator

from harness import formats
from harness.artifacts import distributions
from harness.core.problems import one_of
from harness.formats import other_writers
from harness.formats.api import BY_FRAME, CREATED_BY, HANDOVER_VERSION, TABLE_VERSION
from harness.model.datatypes import DataType, plain_types
from harness.model.table import Table
from harness.plan.axes import Combination
from harness.plan.capabilities import Makers
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations import name_of
from harness.scenario.operations.columns import AddColumn, ChangeType
from harness.scenario.operations.row_writes import Rewrites
from harness.scenario.operations.write_frame import WriteFrame


def impossible(combination: Combination, scenario: Scenario, makers: Makers) -> str:
    """Say why; empty when the combination can be. `scenario` has its axes in it."""
    checks = (_settings(combination), _writer(combination, scenario, makers))
    return next((why for check in (*checks, _story(combination, scenario)) for why in check), "")


def _settings(combination: Combination) -> Iterator[str]:
    format_ = combination.format
    for name, value in combination.settings.items():
        if name in format_.settings and value not in format_.settings[name]:
            yield f"{format_.NAME}: {name}: {one_of(value, format_.settings[name])}"


def _writer(combination: Combination, scenario: Scenario, makers: Makers) -> Iterator[str]:
    asked = combination.settings.get(TABLE_VERSION)
    if HANDOVER_VERSION in combination.settings and not combination.sequence.at:
        yield f"{HANDOVER_VERSION}: no second writer goes on with the table"
    for name in combination.sequence.writer.distributions:
        versions = makers[name].table_versions if name in makers else ()
        if asked and versions and asked not in versions:
            yield f"{name} writes {TABLE_VERSION} {', '.join(versions)} and not {asked}"
        cannot = makers[name].cannot if name in makers else {}
        for setting in map("=".join, combination.settings.items()):
            if setting in cannot:
                yield f"{name}, {setting}: {cannot[setting]}"
        for number, step in enumerate(scenario.steps, start=1):
            if not step.by and (why := cannot.get(name_of(step.operation))):
                yield f"step {number}, {name}: {why}"


def _story(combination: Combination, scenario: Scenario) -> Iterator[str]:
    format_, sequence = combination.format, combination.sequence
    if sequence.at > len(scenario.steps):
        yield f"there is no step {sequence.at} for {sequence.writer.then} to go on from"
    if combination.rewrites is Rewrites.PARTITION and not scenario.table.partition_by:
        yield "rewrites=partition: the table has no partitions"
    by_sql = combination.settings.get(CREATED_BY) != BY_FRAME
    if format_.partitions_last and by_sql:
        yield from _partition_order(scenario.table, format_.NAME)
    yield from _types(combination, scenario)
    if why := format_.unsupported_settings(combination.settings, scenario):
        yield why
    for number, step in enumerate(scenario.steps, start=1):
        if why := format_.unsupported(step.operation) or _another(step, format_.NAME):
            yield f"step {number}: {why}"


def _another(step: Step, format_name: str) -> str:
    """Return why the writer that a step names cannot write it; empty where it can."""
    if not step.by:
        return ""
    result, facts = distributions.load(step.by), formats.facts(format_name)
    return other_writers.unsupported(result, facts, step.operation)


def _partition_order(table: Table, format_name: str) -> Iterator[str]:
    """No file would show what the order of the columns promises: Spark changes it on `create`."""
    by = table.partition_by
    if by and by != tuple(name for name, _ in table.columns)[-len(by) :]:
        names = ", ".join(by)
        yield f"{format_name}: Spark SQL puts partition columns last; {names} must stand there"


def _types(combination: Combination, scenario: Scenario) -> Iterator[str]:
    unsupported, name = combination.format.unsupported_types, combination.format.NAME
    for column, type_ in _columns(scenario) if unsupported else ():
        for plain in plain_types(type_):
            if str(plain).partition("(")[0] in unsupported:
                yield f"column {column}: {name} has no {plain}"


def _columns(scenario: Scenario) -> Iterator[tuple[str, DataType]]:
    yield from scenario.table.columns
    for step in scenario.steps:
        match step.operation:
            case AddColumn(name, type_) | ChangeType(name, type_):
                yield name, type_
            case WriteFrame(types=dict(types)):
                yield from types.items()
