"""The tables that every reader is asked about: plain Parquet files that no engine wrote.

Every reader reads plain Hive tables, so none depends on a writer; and what Arrow wrote is no
engine's own idea of a type.
"""

from __future__ import annotations

import datetime
import re
import tempfile
from decimal import Decimal
from functools import cache as cached
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.artifacts.cache import Cache
from harness.core.records import Outcome, OutcomeKind
from harness.model.canonical import MapValue, Value, single, to_json
from harness.model.datatypes import DataType, fold, parse_type
from harness.runtime.metastore_objects import LOCATION, parquet_entry
from harness.write import state_store
from harness.write.state_store import Frozen, State

if TYPE_CHECKING:
    import pyarrow

FORMAT: Final = "hive-parquet"
TYPES: Final = "types"
"""A row of a value of each type, and a row of NULLs."""
MANY: Final = "many"
"""So many numbers that a few of them joined without a condition never end."""
ROWS: Final = 1000
DAY: Final = datetime.date(2024, 2, 29)
INSTANT: Final = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001 - canonical: no zone

COLUMNS: Final[tuple[tuple[str, str, Value], ...]] = (
    ("b", "boolean", True),
    ("ti", "tinyint", 7),
    ("si", "smallint", -300),
    ("i", "int", 1),
    ("l", "long", 2**53 + 1),
    ("r", "float", single(503002.1)),
    ("d", "double", 0.1),
    ("inf", "double", float("-inf")),
    ("n", "decimal(10, 2)", Decimal("1.10")),
    ("s", "string", "x"),
    ("dt", "date", DAY),
    ("ts", "timestamp", INSTANT),
    ("bin", "binary", b"\x00\xff"),
    (
        "st",
        "struct<a: int, n: struct<x: string, f: float>>",
        {"a": 1, "n": {"x": "y", "f": single(0.1)}},
    ),
    ("ar", "array<int>", (1, None)),
    ("m", "map<int, string>", MapValue(((1, None), (2, "b")))),
    ("md", "map<date, array<long>>", MapValue(((DAY, (5,)),))),
)
"""Name, type and value of each column of `TYPES`."""


def nested(type_: str) -> bool:
    """Return whether a type has parts."""
    return "<" in type_


def hive_type(type_: str) -> str:
    """Return a type in Hive's words.

    >>> hive_type("map<date, array<long>>"), hive_type("decimal(10, 2)")
    ('map<date,array<bigint>>', 'decimal(10,2)')
    """
    return re.sub(r"\blong\b", "bigint", type_).replace(" ", "")


def write(folder: Path) -> None:
    """Write the file of `TYPES`, its timestamps as Hive and Spark write them."""
    import pyarrow as pa  # noqa: PLC0415 - it takes a while
    from pyarrow import parquet  # noqa: PLC0415

    columns = {
        name: pa.array([_arrow_value(value), None], _arrow(parse_type(type_)))
        for name, type_, value in COLUMNS
    }
    folder.mkdir(exist_ok=True)
    parquet.write_table(
        pa.table(columns), folder / "f.parquet", use_deprecated_int96_timestamps=True
    )


def state(cache: Cache) -> State:
    """Return the tables as a frozen state in the cache; they are written where it has none."""
    content = {
        "conformance": repr([(name, type_, to_json(value)) for name, type_, value in COLUMNS]),
        "rows": str(ROWS),
    }
    digest = state_store.address(content, (), ())
    stored = state_store.load(cache, digest)
    if stored is not None:
        return stored
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / TYPES)
        _write_many(Path(folder) / MANY)
        return state_store.freeze(cache, digest, Path(folder), _frozen())


def _frozen() -> Frozen:
    types = [(name, hive_type(type_)) for name, type_, _ in COLUMNS]
    entries = (
        parquet_entry(TYPES, types, f"{LOCATION}/{TYPES}"),
        parquet_entry(MANY, [("n", "bigint")], f"{LOCATION}/{MANY}"),
    )
    return Frozen(Outcome(0, OutcomeKind.APPLIED), entries, ())


def _write_many(folder: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    folder.mkdir()
    parquet.write_table(pa.table({"n": list(range(ROWS))}), folder / "f.parquet")


@cached
def _primitives() -> dict[str, pyarrow.DataType]:
    import pyarrow as pa  # noqa: PLC0415

    return {
        "boolean": pa.bool_(),
        "tinyint": pa.int8(),
        "smallint": pa.int16(),
        "int": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "string": pa.string(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "binary": pa.binary(),
        "decimal(10, 2)": pa.decimal128(10, 2),
    }


def _arrow(type_: DataType) -> pyarrow.DataType:
    import pyarrow as pa  # noqa: PLC0415

    primitives = _primitives()
    return fold(type_, lambda plain: primitives[str(plain)], pa.struct, pa.list_, pa.map_)


def _arrow_value(value: Value) -> Any:  # noqa: ANN401 - what Arrow takes
    """Return a value as Arrow takes it: the pairs of a map as a list."""
    match value:
        case MapValue(pairs):
            return [(key, _arrow_value(of)) for key, of in pairs]
        case tuple():
            return [_arrow_value(item) for item in value]
        case dict():
            return {name: _arrow_value(item) for name, item in value.items()}
    return value
