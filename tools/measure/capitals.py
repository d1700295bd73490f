"""Read plain tables whose files call the columns as the catalog does, but in capitals.

    python tools/measure/capitals.py RUN FOLDER [--reader hive-3.1.3]

The metastore has names in lower case alone, and whoever writes files need not. Of every plain table
without partitions of a finished run, the files after its first insert are copied with the names of
columns, and of the parts of structs, in capitals; the copy is registered as the table itself is,
and every reader is asked for both. Prints whether they look the same to it, and what is NULL in the
copy alone. Status 1 where anything is otherwise.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.artifacts.cache import Cache
from harness.formats.hive import spark_files
from harness.run import load_run, pipeline
from harness.runtime.metastore_client import Catalog
from harness.write import state_store
from harness.write.table_state import State
from tools.measure import two_tables

if TYPE_CHECKING:
    import pyarrow

HEAD: Final = ("tables", "reader", "what came", "how often")
SAME: Final = "the same"
EMPTY: Final = "NULL in every column"
STEP: Final = 1


@dataclass(frozen=True, slots=True)
class Copy:
    """A table after its first insert, and its copy."""

    variant: str
    format: str
    before: State
    folder: Path
    step: int = STEP

    @property
    def database(self) -> str:
        """Where the copy is registered."""
        return f"{self.before.database}_capitals"

    def register(self, catalog: Catalog) -> None:
        """Make both tables in a metastore."""
        state_store.register(catalog, self.before)
        catalog.register(self.database, self.before.frozen.entries, str(self.folder))


def copies(
    found: load_run.Run, states: Mapping[tuple[str, int], State], folder: Path
) -> Iterator[Copy]:
    """Copy the tables of a run into a folder."""
    for number, variant in enumerate(found.info.variants):
        state, write = states.get((variant.id, STEP)), WRITERS.get(variant.format)
        if write is None or state is None or any(e.partitions for e in state.frozen.entries):
            continue
        to = folder / str(number)
        to.mkdir(parents=True)
        for path in spark_files.found(state.table):
            write(path, to / path.name)
        yield Copy(variant.id, variant.format, state, to)


def capitals(value: Any) -> Any:  # noqa: ANN401 - of any type
    """Return a value with the names of the parts of structs in capitals; a map is a list of pairs.

    >>> capitals([{"a": {"b": 1}}])
    [{'A': {'B': 1}}]
    """
    match value:
        case dict():
            return {name.upper(): capitals(each) for name, each in value.items()}
        case list():
            return [capitals(each) for each in value]
    return value


def arrow_type(type_: pyarrow.DataType) -> pyarrow.DataType:
    """Return a type with the names of parts in capitals."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_struct(type_):
        return pa.struct([(each.name.upper(), arrow_type(each.type)) for each in type_])
    if pa.types.is_list(type_):
        return pa.list_(arrow_type(type_.value_type))
    return type_


def _in_capitals(found: pyarrow.Table) -> pyarrow.Table:
    import pyarrow as pa  # noqa: PLC0415

    schema = pa.schema([(each.name.upper(), arrow_type(each.type)) for each in found.schema])
    return pa.Table.from_pylist(capitals(found.to_pylist()), schema=schema)


def _parquet(path: Path, to: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(_in_capitals(parquet.read_table(path, partitioning=None)), to)


def _orc(path: Path, to: Path) -> None:
    from pyarrow import orc  # noqa: PLC0415

    orc.write_table(_in_capitals(orc.read_table(path)), to)


def _avro(path: Path, to: Path) -> None:
    import fastavro  # noqa: PLC0415

    with path.open("rb") as source, to.open("wb") as target:
        reader = fastavro.reader(source)
        fastavro.writer(target, avro_schema(reader.writer_schema), map(capitals, reader))


def avro_schema(schema: Any) -> Any:  # noqa: ANN401 - Avro's JSON
    """Return an Avro schema with the names of fields in capitals; those of types stay.

    >>> avro_schema({"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]})
    {'type': 'record', 'name': 'r', 'fields': [{'name': 'A', 'type': 'int'}]}
    """
    match schema:
        case list():
            return [avro_schema(each) for each in schema]
        case {"fields": fields}:
            own = [{**f, "name": f["name"].upper(), "type": avro_schema(f["type"])} for f in fields]
            return {**schema, "fields": own}
        case dict():
            return {name: avro_schema(each) for name, each in schema.items()}
    return schema


WRITERS: Final[Mapping[str, Callable[[Path, Path], None]]] = {
    "hive-parquet": _parquet,
    "hive-orc": _orc,
    "hive-avro": _avro,
}


def came(own: str, copied: str) -> str:
    """Return what is different in an answer about the copy."""
    if own == copied or own.startswith("refused: ") or not own.startswith("["):
        return SAME if own == copied else own
    if not copied.startswith("["):
        return copied
    (heads, rows), (other_heads, others) = json.loads(own), json.loads(copied)
    if heads != other_heads or len(rows) != len(others):
        return f"other columns or rows: {copied}"
    empty = [
        name
        for at, (name, _) in enumerate(heads)
        if all(json.loads(row)[at] is None for row in others)
        and any(json.loads(row)[at] is not None for row in rows)
    ]
    if len(empty) == len(heads):
        return EMPTY
    return f"NULL: {', '.join(empty)}" if empty else f"other values: {copied}"


def main() -> int:
    """Ask every reader; print what came of it."""
    given = two_tables.options(__doc__ or "")
    found = load_run.load(given.run)
    states = pipeline.states_of(found.states, Cache.default())
    made = list(copies(found, states, given.folder / "tables"))
    counts = Counter[tuple[str, str, str]]()
    for of, name, own, copied in two_tables.answers(found, given.reader, made, given.folder):
        counts[f"`{of.format}`", f"`{name}`", came(own, copied)] += 1
    return two_tables.told(HEAD, counts, SAME)


if __name__ == "__main__":
    raise SystemExit(main())
