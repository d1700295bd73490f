"""A scenario as the text of a file; read again it is the same, apart from path and lines."""

import dataclasses
import datetime
import decimal
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from harness.core.yaml_writer import block, written
from harness.model.canonical import MapValue, text_of
from harness.model.conversion import cast_text
from harness.model.datatypes import Array, Decimal, Map, Primitive, Struct, Text
from harness.model.schema import Table
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations import name_of


def dump(scenario: Scenario) -> str:
    """Return the text of a scenario's file; the scenario's name is the file's, not in the text."""
    file: dict[str, Any] = {
        "about": scenario.about,
        "source": scenario.source,
        "table": block(_table(scenario.table)),
        "formats": scenario.formats,
        "settings": scenario.settings,
        "views": scenario.views,
        "queries": scenario.queries,
        "steps": block([_step(step) for step in scenario.steps]),
    }
    return written(block({key: value for key, value in file.items() if value}), offset=2)


def _table(table: Table) -> Mapping[str, Any]:
    form = {
        "columns": {name: str(type_) for name, type_ in table.columns},
        "key": table.key,
        "order_by": table.order_by[0] if len(table.order_by) == 1 else table.order_by,
        "partition_by": table.partition_by,
        "merge_mode": table.merge_mode and table.merge_mode.value,
        "options": {name: _plain(_given(option)) for name, option in table.options},
    }
    return {key: value for key, value in form.items() if value}


def _step(step: Step) -> object:
    operation = step.operation
    fields = _given(operation)
    name, short = name_of(operation), operation.SHORT
    inner = fields[short] if list(fields) == [short] else fields
    beside: dict[str, Any] = {"by": step.by} if step.by else {}
    beside |= {"quiet": True} if step.quiet else {}
    return block({name: _plain(inner), **beside}) if fields or beside else name


def _given(form: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    """Return what a file says of it: all but the defaults."""
    values = ((field, getattr(form, field.name)) for field in dataclasses.fields(form))
    return {field.name: value for field, value in values if value != field.default}


def _plain(value: Any) -> Any:  # noqa: ANN401 - explicit rows hold anything
    match value:
        case StrEnum() | Primitive() | Decimal() | Text() | Struct() | Array() | Map():
            return str(value)
        case bytes():
            return text_of(value)
        case decimal.Decimal() | datetime.date():
            return cast_text(value)
        case MapValue():
            return {cast_text(key): _plain(pair) for key, pair in value.pairs}
        case Mapping():
            return {str(key): _plain(part) for key, part in value.items()}
        case list() | tuple():
            return list(map(_plain, value))
    return value
