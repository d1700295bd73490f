"""Hudi's log files: blocks of records, as Avro or as Parquet, and of deleted keys. Pure.

A block is `#HUDI#`, its length in bytes (8), the format version (4), the block type (4), a header,
the content's length (8), the content, a footer, and a length (8) for reading backwards. Header and
footer are a count (4) of pairs: type (4), length (4), text. Numbers are big-endian.
Source: Hudi technical specification, "Log file format"; real files of 0.15.0 and 1.0.2.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from io import BytesIO
from typing import Any, Final

from harness.core.arrow import fastavro, pa
from harness.engines import arrow_values
from harness.formats.api import FileFactError, FileRows
from harness.formats.files import arrow_file, avro_table
from harness.formats.files.parquet import canonical
from harness.model.canonical import Value

MAGIC: Final = b"#HUDI#"
LOG_VERSION: Final = 1
CONTENT_VERSION: Final = 3
"""Of the content of delete blocks that are Avro; those of before are Java objects, which are not
read (`HoodieDeleteBlock.deserialize`)."""
DATA_VERSIONS: Final = (1, 2, CONTENT_VERSION)
"""Of the content of Avro data blocks, which is laid out alike (seen with Hudi 0.10.0, 0.12.0 and
0.15.0)."""
INSTANT_TIME, TARGET_INSTANT_TIME, SCHEMA, COMPACTED_TIMES, IS_PARTIAL = 0, 1, 2, 4, 7
"""Numbers of the header's entries (`HoodieLogBlock.HeaderMetadataType`)."""


class BlockKind(IntEnum):
    """Types of blocks; the others (HFile, change data) are not read."""

    COMMAND = 0
    """Takes back what its file group has of an instant that failed."""
    DELETE = 1
    AVRO_DATA = 3
    PARQUET_DATA = 5
    """Its content is a whole Parquet file; records that are rows of Spark are written so."""


DATA: Final = frozenset({BlockKind.AVRO_DATA, BlockKind.PARQUET_DATA})
"""Blocks of records."""


@dataclass(frozen=True, slots=True)
class LogBlock:
    """One block as it stands in the file."""

    kind: BlockKind
    header: Mapping[int, str]
    content: bytes

    @property
    def instant(self) -> str:
        return self.header[INSTANT_TIME]

    @property
    def target(self) -> str:
        """The instant that a command takes back."""
        return self.header.get(TARGET_INSTANT_TIME, "")

    @property
    def compacted(self) -> bool:
        """Whether it stands for blocks of other instants that are there too."""
        return COMPACTED_TIMES in self.header

    @property
    def partial(self) -> bool:
        """Whether its records have the updated columns alone."""
        return self.header.get(IS_PARTIAL) == "true"

    @property
    def schema(self) -> dict[str, Any]:
        """The Avro schema that its records were written with."""
        schema: dict[str, Any] = json.loads(self.header[SCHEMA])
        return schema


class _Bytes:
    """Reads numbers and texts one after another."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self._data):
            raise FileFactError(f"the file ends at byte {len(self._data)} in the middle of a block")
        self.at += count
        return self._data[self.at - count : self.at]

    def number(self) -> int:
        return int(struct.unpack(">i", self.take(4))[0])

    def size(self) -> int:
        return int(struct.unpack(">q", self.take(8))[0])

    def texts(self) -> dict[int, str]:
        return {self.number(): self.take(self.number()).decode() for _ in range(self.number())}

    def left(self) -> bool:
        return self.at < len(self._data)


def blocks(data: bytes) -> Iterator[LogBlock]:
    """Yield the blocks of a log file, in order."""
    source = _Bytes(data)
    while source.left():
        start = source.at
        if source.take(len(MAGIC)) != MAGIC:
            raise FileFactError(f"corrupt: no block begins at byte {start}")
        yield _block(_Bytes(source.take(source.size())))


def _block(source: _Bytes) -> LogBlock:
    if (version := source.number()) != LOG_VERSION:
        raise FileFactError(f"log format version {version} is not known; {LOG_VERSION} is")
    number = source.number()
    if number not in list(BlockKind):
        raise FileFactError(
            f"a block of type {number} is not read; known: {', '.join(BlockKind.__members__)}"
        )
    block = LogBlock(BlockKind(number), source.texts(), source.take(source.size()))
    source.texts()
    source.size()
    if source.left() or INSTANT_TIME not in block.header:
        raise FileFactError("corrupt: a block's parts and its length do not agree")
    return block


def record_keys(block: LogBlock, column: str) -> tuple[str, ...]:
    rows = table(block)
    if not rows.num_rows:
        return ()
    if column not in rows.column_names:
        raise FileFactError(f"a block of records without the column {column}")
    return tuple(map(str, rows.column(column).to_pylist()))


def content(block: LogBlock) -> FileRows:
    return canonical(table(block), f"block {block.instant}")


def deletes(block: LogBlock) -> Mapping[str, tuple[Value, ...]]:
    """Return the keys that a delete block takes away, with their ordering values as stored."""
    source = _content(block)
    records = _decoded(source.take(source.number()), _DELETES)["deleteRecordList"]
    return {str(r["recordKey"]): _unwrapped(r["orderingVal"]) for r in records}


def _unwrapped(value: Any) -> tuple[Value, ...]:  # noqa: ANN401 - Avro's JSON
    if value is None:
        return ()
    wrapped = value.get("wrappedValues", (value,))
    return tuple(part and part["value"] for part in wrapped or ())


def ordering_value(stored: Value, type_: pa.DataType) -> Value:
    """Return the ordering value of a delete as a column of a type has it.

    Days, moments and exact numbers lie there as whole numbers and bytes (`_WRAPPERS`).
    """
    if isinstance(stored, bytes) and pa.types.is_decimal(type_):
        return Decimal(int.from_bytes(stored, "big", signed=True)).scaleb(-_DECIMAL_SCALE)
    if isinstance(stored, int) and pa.types.is_temporal(type_):
        width = pa.int32() if pa.types.is_date(type_) else pa.int64()
        return arrow_values.canonical(pa.scalar(stored, width).cast(type_))
    return stored


def table(block: LogBlock) -> pa.Table:
    """Return the rows of a block of records as Arrow's table; raises FileFactError."""
    if block.kind is BlockKind.PARQUET_DATA:
        return arrow_file.of_bytes(block.content, f"block {block.instant}")
    try:
        return avro_table.of_records(block.schema, _records(block))
    except ValueError as problem:
        raise FileFactError(f"block {block.instant}: {problem}") from problem


def _records(block: LogBlock) -> list[Any]:
    source = _content(block)
    records = [source.take(source.number()) for _ in range(source.number())]
    return [_decoded(record, block.schema) for record in records]


def _decoded(data: bytes, schema: dict[str, Any]) -> Any:  # noqa: ANN401 - Avro's JSON
    try:
        return fastavro.schemaless_reader(BytesIO(data), fastavro.parse_schema(schema), None)
    except (ValueError, EOFError, IndexError) as problem:
        raise FileFactError(f"a record does not fit its block's schema: {problem}") from problem


def _content(block: LogBlock) -> _Bytes:
    source = _Bytes(block.content)
    known = DATA_VERSIONS if block.kind is BlockKind.AVRO_DATA else (CONTENT_VERSION,)
    if (version := source.number()) not in known:
        can = ", ".join(map(str, known))
        raise FileFactError(f"{block.kind.name} content of version {version}; {can} can be read")
    return source


_DECIMAL_SCALE: Final = 15
"""Of `DecimalWrapper` (`HoodieMetadata.avsc`)."""
_WRAPPERS: Final = {
    "Boolean": "boolean",
    "Int": "int",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "Bytes": "bytes",
    "String": "string",
    "Date": "int",
    "Decimal": "bytes",
    "TimeMicros": "long",
    "TimestampMicros": "long",
}
"""Of a value by which versions of a row are ordered."""


def _record(name: str, **fields: object) -> dict[str, Any]:
    listed = [{"name": field, "type": type_} for field, type_ in fields.items()]
    return {"type": "record", "name": name, "fields": listed}


_DELETE: Final = _record(
    "HoodieDeleteRecord",
    recordKey=["null", "string"],
    partitionPath=["null", "string"],
    orderingVal=[
        "null",
        *(_record(f"{name}Wrapper", value=type_) for name, type_ in _WRAPPERS.items()),
        # Of several ordering fields, since Hudi 1.1.
        _record(
            "ArrayWrapper",
            wrappedValues=[
                "null",
                {
                    "type": "array",
                    "items": [
                        "null",
                        *(f"{name}Wrapper" for name in _WRAPPERS),
                        _record("LocalDateWrapper", value="int"),
                    ],
                },
            ],
        ),
    ],
)
_DELETES: Final = _record(
    "HoodieDeleteRecordList", deleteRecordList={"type": "array", "items": _DELETE}
)
"""Names and order as the classes of the bundle tell; logical types are left out."""
