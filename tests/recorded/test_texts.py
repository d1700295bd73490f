"""What real engines sent is read today as it was when recorded: no form of theirs is refused.

A recording keeps what was sent of a cell where that is written otherwise than its value.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.core import tolerances
from harness.core.records import Answer, Column, Part
from harness.core.tolerances import Tally
from harness.engines.hive import values as hive_values
from harness.engines.trino import values as trino_values
from harness.engines.trino.values import WireType
from harness.model.canonical import Value, same, text_of
from harness.model.datatypes import Array, DataType, Decimal, Map, Struct, Text, parse_type
from tests.builders import recorded_lines, recordings

ROOT = Path(__file__).parent
FOLDERS = [
    folder
    for name in ("full", "plain_hive", "quick_start", "time_travel", "ways")
    for folder in recordings.folders(ROOT / name)
]
SENT_AS_TEXT = {"date", "timestamp"}
NAMES = {"int": "integer", "long": "bigint", "float": "real", "binary": "varbinary"}
FLOATING = {"float", "double"}

Cell = tuple[Column, Any, Value]
"""Its column, what was sent, and what it was read as."""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_recorded_value_is_read_again_as_it_was(folder: Path) -> None:
    for reader, answer in answered(folder):
        product, tally = tolerances.product(reader), Tally(tolerances.declared_for(reader))
        for column, sent, value in cells(answer):
            if product == "spark" or not column.canonical:
                continue
            kind = parse_type(column.canonical)
            if product == "hive":
                result = hive_values.canonical(by_hive(sent, kind), kind, tally)
            else:
                result = trino_values.value_of(by_trino(sent, kind), wire(kind), tally)
            assert same(result, value), (reader, column, sent)


def answered(folder: Path) -> Iterator[tuple[str, Answer]]:
    """Each answer once, with one of the readers that gave it."""
    parsed = recorded_lines.parse(recorded_lines.read(recordings._file(folder, recordings.ANSWERS)))
    answers = recordings._answers(parsed)
    readers = {
        name: cell.reader
        for variant, body in parsed.variants.items()
        for cell, name in recorded_lines.cells(variant, body)
    }
    return ((reader, answers[name]) for name, reader in readers.items() if name in answers)


def cells(answer: Answer) -> Iterator[Cell]:
    parts: tuple[Answer | Part, ...] = (answer, *answer.parts)
    for part in parts:
        texts = {(row, at): text for row, at, text in part.raw}
        for number, row in enumerate(part.rows):
            for at, (column, value) in enumerate(zip(part.columns, row, strict=True)):
                yield column, texts.get((number, at), value), value


def by_hive(sent: Value, kind: DataType) -> Any:  # noqa: ANN401 - of any type
    if isinstance(sent, str) and str(kind) in FLOATING:
        return float(sent)
    text = isinstance(kind, Decimal) or str(kind) in SENT_AS_TEXT
    return text_of(sent) if text and sent is not None else sent


def by_trino(sent: Value, kind: DataType) -> Any:  # noqa: ANN401 - of any type
    if isinstance(sent, str):
        nested = isinstance(kind, Struct | Array | Map)
        number = str(kind) in FLOATING and sent not in {"NaN", "Infinity", "-Infinity"}
        return json.loads(sent) if nested else float(sent) if number else sent
    if isinstance(kind, Array) and sent is not None:  # of numbers: written as its value is
        return [by_trino(part, kind.element) for part in sent]
    if isinstance(kind, Map) and sent is not None:
        return dict(sent.pairs)
    text = isinstance(kind, Decimal) or str(kind) in SENT_AS_TEXT
    return text_of(sent) if text and sent is not None else sent


def wire(kind: DataType) -> WireType:
    match kind:
        case Struct(fields):
            names, inner = zip(*fields, strict=True)
            return WireType("row", tuple(map(wire, inner)), names)
        case Array(element):
            return WireType("array", (wire(element),))
        case Map(key, value):
            return WireType("map", (wire(key), wire(value)))
        case Decimal(precision, scale):
            return WireType("decimal", numbers=(precision, scale))
        case Text(name, length):
            return WireType(name, numbers=(length,))
    return WireType(NAMES.get(str(kind), "varchar" if str(kind) == "string" else str(kind)))
