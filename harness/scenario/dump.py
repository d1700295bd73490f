"""A scenario as the text of a file; reading it gives the same scenario, apart from path and lines.

Operations are written in their short form where they have one, and everything that is a default
is left out. Explicit values made in Python that YAML has no form for (decimals, dates) become text.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import io
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from harness.model.canonical import MapValue, text_of
from harness.model.conversion import cast_text
from harness.model.datatypes import Array, Decimal, Map, Primitive, Struct, Text
from harness.model.table import Table
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Operation

_PLAIN: Final = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_NOT_PLAIN: Final = re.compile(r"true|false|null|y|n|yes|no|on|off", re.IGNORECASE)
_WIDE: Final = 1 << 20
"""No line is ever folded."""


def dump(scenario: Scenario) -> str:
    """Return text of a file that holds the scenario; its name is the file's, not in the text."""
    file: dict[str, Any] = {
        "about": scenario.about,
        "source": scenario.source,
        "table": _table(scenario.table),
        "formats": scenario.formats,
        "settings": scenario.settings,
        "views": scenario.views,
        "steps": [_step(step) for step in scenario.steps],
    }
    root = CommentedMap({key: _plain(value) for key, value in file.items() if value})
    root["steps"].fa.set_block_style()
    for step in root["steps"]:
        if isinstance(step, CommentedMap):
            step.fa.set_block_style()
    root["table"].fa.set_block_style()
    text = io.StringIO()
    _yaml().dump(root, text)
    return text.getvalue()


def _yaml() -> YAML:
    yaml = YAML(typ="rt", pure=True)
    yaml.width = _WIDE
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _table(table: Table) -> Mapping[str, Any]:
    form = {
        "columns": dict(table.columns),
        "key": table.key,
        "order_by": table.order_by,
        "partition_by": table.partition_by,
    }
    return {key: value for key, value in form.items() if value}


def _step(step: Step) -> object:
    name, fields = name_of(step.operation), _fields(step.operation)
    short = step.operation.SHORT
    inner = fields[short] if list(fields) == [short] else fields
    if step.quiet:
        return {name: inner, "quiet": True}
    return {name: inner} if fields else name


def _fields(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in dataclasses.fields(operation):  # type: ignore[arg-type] # each is a dataclass
        value = getattr(operation, field.name)
        if value != field.default:
            found[field.name] = value
    return found


def _plain(value: Any) -> Any:  # noqa: ANN401 - explicit rows hold anything
    match value:
        case StrEnum() | Primitive() | Decimal() | Text() | Struct() | Array() | Map():
            return _text(str(value))
        case str():
            return _text(value)
        case bytes():
            return _text(text_of(value))
        case decimal.Decimal() | datetime.date():
            return _text(cast_text(value))
        case MapValue():
            return _plain({cast_text(key): each for key, each in value.pairs})
        case Mapping():
            mapping = CommentedMap((_text(str(key)), _plain(each)) for key, each in value.items())
            mapping.fa.set_flow_style()
            return mapping
        case list() | tuple():
            sequence = CommentedSeq(map(_plain, value))
            sequence.fa.set_flow_style()
            return sequence
    return value


def _text(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and not _NOT_PLAIN.fullmatch(text)
    return text if plain else DoubleQuotedScalarString(text)
