"""The tables that readers are asked about: one of every type, and one of many rows.

A reader is asked about plain Parquet files by Arrow as a Hive table. One that reads none, and a
library of Python, which reads each format by code of its own, is asked about each format that it
reads, written by that format's library for Python.
"""

import datetime
import re
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from harness.artifacts import distributions, fetch, table_homes
from harness.artifacts.cache import Cache
from harness.conformance import table_writer
from harness.core.arrow import pa, pq
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.records import Outcome, OutcomeKind
from harness.core.setting_values import MOMENTS
from harness.engines.arrow_values import arrow_type
from harness.formats import facts
from harness.formats.iceberg.settings import WITH_ZONE
from harness.model.canonical import MapValue, Value, single, to_json
from harness.model.datatypes import parse_type
from harness.read.questions import load_engine
from harness.runtime.metastore_objects import LOCATION, CatalogEntry, plain_entry
from harness.scenario.cells import Reader
from harness.write import state_store
from harness.write.state_store import Frozen, State

HIVE: Final = "hive-parquet"
LIBRARIES: Final = {"iceberg": "pyiceberg", "delta": "deltalake"}
"""The engine whose packages write the tables of a format."""
TYPES: Final = "types"
"""A row of a value of each type, and a row of NULLs."""
MANY: Final = "many"
"""So many numbers that a few of them joined without a condition never end."""
ROWS: Final = 1000
DAY: Final = datetime.date(2024, 2, 29)
INSTANT: Final = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001 - canonical: no zone

Columns = tuple[tuple[str, str, Value], ...]
"""Name, type and value of each column."""
EVERY_COLUMN: Final[Columns] = (
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
    ("tn", "timestamp_ntz", INSTANT),
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
MISSING_TYPES: Final = {HIVE: {"timestamp_ntz"}, "iceberg": {"tinyint", "smallint"}}
"""The types that a format does not have (Hive language manual, "Hive Data Types"; Iceberg
specification, "Primitive Types")."""

SETTINGS: Final = {"iceberg": {MOMENTS: WITH_ZONE}}
"""What the tables of a format have set, where that is not its default."""


def columns(format_: str) -> Columns:
    missing = MISSING_TYPES.get(format_, set())
    return tuple(column for column in EVERY_COLUMN if column[1] not in missing)


def formats_for(reader: Reader) -> tuple[tuple[str, ...], str]:
    """Return the formats that a reader is asked about; where there are none, why not."""
    distribution, settings = distributions.load(reader.distribution), dict(reader.settings)
    engine = load_engine(distribution.name)
    reasons = {
        name: engine.cannot(distribution, settings, facts(name)) for name in (HIVE, *LIBRARIES)
    }
    if not reasons[HIVE] and not distribution.wheels:
        return (HIVE,), ""
    readable = tuple(name for name, reason in reasons.items() if not reason)
    return readable, "" if readable else "; ".join(dict.fromkeys(reasons.values()))


def hive_type(type_: str) -> str:
    return re.sub(r"\blong\b", "bigint", type_).removesuffix("_ntz").replace(" ", "")


def write(folder: Path, format_: str = HIVE) -> None:
    """Write the file of `TYPES`; timestamps of a Hive table as Hive and Spark write them."""
    values = {name: ([_arrow_value(value), None], type_) for name, type_, value in columns(format_)}
    _write_file(folder, values, int96=format_ == HIVE)


def state(cache: Cache, format_: str, progress: Progress) -> State:
    """Return the tables as a frozen state in the cache; they are written where it has none.

    Raises EnvironmentProblem: the library that writes them cannot be had, or does not write them.
    """
    content = {
        "conformance": repr([(n, type_, to_json(value)) for n, type_, value in columns(format_)]),
        "rows": str(ROWS),
        **({} if format_ == HIVE else {"format": format_}),
    }
    digest = state_store.address(content, (), ())
    stored = state_store.load(cache, digest)
    if stored is not None:
        return stored
    with tempfile.TemporaryDirectory() as folder, table_homes.new(cache) as home:
        files = Path(folder)
        write(files / TYPES, format_)
        _write_file(files / MANY, {"n": (list(range(ROWS)), "long")}, int96=False)
        if format_ == HIVE:
            return state_store.freeze(cache, digest, files, _frozen(format_))
        home.mkdir(parents=True)
        _write_by_library(cache, format_, files, home, progress)
        # The files of an Iceberg table name each other by absolute paths.
        return state_store.freeze(cache, digest, home, _frozen(format_, str(home)))


def _frozen(format_: str, home: str = "") -> Frozen:
    types = [(name, hive_type(type_)) for name, type_, _ in columns(format_)]
    entries = tuple(
        _entry(format_, name, listed)
        for name, listed in ((TYPES, types), (MANY, [("n", "bigint")]))
    )
    return Frozen(Outcome(0, OutcomeKind.APPLIED), entries, (), home=home)


def _entry(format_: str, name: str, listed: list[tuple[str, str]]) -> CatalogEntry:
    entry = plain_entry(name, listed, f"{LOCATION}/{name}")
    if format_ == "iceberg":
        pointer = f"{LOCATION}/{name}/{table_writer.METADATA}"
        entry.table["parameters"] |= {"table_type": "ICEBERG", "metadata_location": pointer}
    return entry


def _write_file(folder: Path, values: dict[str, tuple[list[Any], str]], *, int96: bool) -> None:
    arrays = {
        name: pa.array(cells, arrow_type(parse_type(type_)))
        for name, (cells, type_) in values.items()
    }
    folder.mkdir(exist_ok=True)
    pq.write_table(
        pa.table(arrays), folder / table_writer.FILE, use_deprecated_int96_timestamps=int96
    )


def _write_by_library(
    cache: Cache, format_: str, files: Path, home: Path, progress: Progress
) -> None:
    engine = LIBRARIES[format_]
    name = next(name for name in distributions.names() if distributions.load(name).engine == engine)
    packages = fetch.ensure(distributions.load(name), cache, progress).home
    program = (sys.executable, "-I", "-S", str(table_writer.__file__), str(packages), format_)
    for table in (TYPES, MANY):
        command = [*program, str(files / table), str(home / table)]
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
        if ended.returncode:
            raise EnvironmentProblem(f"{name} did not write a table:\n{ended.stderr[-4000:]}")


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
