"""Random Delta tables written by delta-rs, and what that reads of each version of them.

It runs in a process of its own with the packages of deltalake: nothing of the harness is imported.
In FOLDER each table is `<seed>/table`, and each version `<seed>/<version>.arrow`.
"""

from __future__ import annotations

import argparse
import datetime
import random
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa

Draw = Callable[[random.Random], Any]
TEXTS: Final = ("a", "null", "x y", "a/b", "ü", "50%", "%41", "a=b", "'", "2020", "true")
"""Some that a path or a reader might take for something else."""
MOMENT: Final = datetime.datetime(2020, 1, 1)  # noqa: DTZ001 - Arrow's type has the zone
DAY: Final = datetime.date(2020, 1, 1)
NUMBERS: Final = (0.0, 1.5, -2.25, 1e300, 0.1)


def _moment(random_: random.Random) -> datetime.datetime:
    return MOMENT + datetime.timedelta(microseconds=random_.randrange(-(2**55), 2**55))


DRAWS: Final[Mapping[str, Draw]] = {
    "int8": lambda r: r.randrange(-128, 128),
    "int16": lambda r: r.choice((-(2**15), 2**15 - 1, r.randrange(100))),
    "int32": lambda r: r.choice((-(2**31), 2**31 - 1, r.randrange(100))),
    "int64": lambda r: r.choice((-(2**63), 2**63 - 1, r.randrange(100))),
    "float32": lambda r: r.choice((0.5, -1.25, 3.0)),
    "float64": lambda r: r.choice(NUMBERS),
    "bool": lambda r: r.random() < 0.5,
    "string": lambda r: r.choice((*TEXTS, "")),
    "binary": lambda r: r.randbytes(r.randrange(4)),
    "date": lambda r: DAY + datetime.timedelta(days=r.randrange(-30_000, 30_000)),
    "timestamp": _moment,
    "timestamp_ntz": _moment,
    "decimal": lambda r: Decimal(r.randrange(-(10**9), 10**9)).scaleb(-3),
    "list": lambda r: [r.choice((None, r.randrange(9))) for _ in range(r.randrange(4))],
    "map": lambda r: [(key, r.randrange(9)) for key in r.sample("abc", r.randrange(4))],
    "struct": lambda r: {"p": r.randrange(9), "q": r.choice(TEXTS)},
    "list of structs": lambda r: [{"p": r.randrange(9)} for _ in range(r.randrange(3))],
}
PARTITIONED: Final = ("int32", "int64", "bool", "string", "date", "timestamp", "decimal")
"""Types of columns that tables are partitioned by."""


def types() -> Mapping[str, pa.DataType]:
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    return {
        **{name: pa.type_for_alias(name) for name in ("int8", "int16", "int32", "int64")},
        **{name: pa.type_for_alias(name) for name in ("float32", "float64", "bool", "string")},
        "binary": pa.binary(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ntz": pa.timestamp("us"),
        "decimal": pa.decimal128(12, 3),
        "list": pa.list_(pa.int32()),
        "map": pa.map_(pa.string(), pa.int64()),
        "struct": pa.struct({"p": pa.int64(), "q": pa.string()}),
        "list of structs": pa.list_(pa.struct({"p": pa.int64()})),
    }


class RandomTable:
    """A table that changes at random."""

    def __init__(self, seed: int, path: Path) -> None:
        self.random = random.Random(seed)  # noqa: S311 - no secret
        self.path = str(path)
        self.package = import_module("deltalake")
        self.columns: dict[str, str] = {"id": "int64"}
        self.known = dict(self.columns)
        """Those of before a restore too: a name has one type."""
        for _ in range(self.random.randrange(1, 5)):
            self.add_column()
        self.partitions = []
        if self.random.random() < 0.6:
            self.partitions = ["P"]
            self.columns["P"] = self.known["P"] = self.random.choice(PARTITIONED)
        self.next_id = 0

    def add_column(self) -> None:
        name = f"{self.random.choice(('c', 'C', 'a b', 'é', 'x.y'))}{len(self.known)}"
        self.columns[name] = self.known[name] = self.random.choice(tuple(DRAWS))

    def rows(self) -> pa.Table:
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

        count = self.random.randrange(1, 12)
        columns = {}
        for name, kind in self.columns.items():
            drawn = [self._value(name, kind) for _ in range(count)]
            columns[name] = pa.array(drawn, types()[kind])
        columns["id"] = pa.array(range(self.next_id, self.next_id + count), pa.int64())
        self.next_id += count
        return pa.table(columns)

    def _value(self, name: str, kind: str) -> Any:  # noqa: ANN401 - of any type
        if self.random.random() < 0.2:
            return None
        if name not in self.partitions:
            return DRAWS[kind](self.random)
        value = DRAWS[kind](random.Random(self.random.randrange(4)))  # noqa: S311 - few of them
        # delta-rs 1.6.6 writes the text `-1.-5` for less than zero, and refuses to read it.
        return abs(value) if kind == "decimal" else value

    def create(self) -> None:
        self.package.write_deltalake(self.path, self.rows(), partition_by=self.partitions or None)

    def change(self) -> None:
        """Do one thing of those that change rows, columns or files."""
        table = self.package.DeltaTable(self.path)
        some = self.random.randrange(self.next_id)
        match self.random.choice(("append", "append", "widen", "add", *ONCE)):
            case "append":
                self.package.write_deltalake(self.path, self.rows(), mode="append")
            case "widen":
                self.add_column()
                self.package.write_deltalake(
                    self.path, self.rows(), mode="append", schema_mode="merge"
                )
            case "add":
                self.add_column()
                name = list(self.columns)[-1]
                schema = self.rows().select([name]).schema
                fields = self.package.Schema.from_arrow(schema).fields
                table.alter.add_columns(fields)
            case "delete":
                table.delete(f"id % 7 = {some % 7}")
            case "update":
                table.update(updates={"id": "id + 100000"}, predicate=f"id % 5 = {some % 5}")
            case "overwrite":
                self.package.write_deltalake(self.path, self.rows(), mode="overwrite")
            case "compact":
                table.optimize.compact()
            case "restore" if table.version():
                table.restore(self.random.randrange(table.version()))
                self.columns = {  # those of then
                    field.name: self.known[field.name]
                    for field in self.package.DeltaTable(self.path).schema().fields
                }
            case "checkpoint":
                table.create_checkpoint()

    def answers(self, folder: Path) -> None:
        """Write what is read of each version."""
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

        for version in range(self.package.DeltaTable(self.path).version() + 1):
            table = self.package.DeltaTable(self.path, version=version)
            builder = self.package.QueryBuilder().register("t", table)
            rows = pa.table(builder.execute("select * from t").read_all())
            with pa.ipc.new_file(str(folder / f"{version}.arrow"), rows.schema) as writer:
                writer.write_table(rows)


ONCE: Final = ("delete", "delete", "update", "overwrite", "compact", "restore", "checkpoint")


def main(packages: str, folder: str, first: str, last: str) -> None:
    sys.path.insert(0, packages)
    for seed in range(int(first), int(last)):
        home = Path(folder, str(seed))
        home.mkdir()
        table = RandomTable(seed, home / "table")
        table.create()
        for _ in range(table.random.randrange(3, 9)):
            table.change()
        table.answers(home)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("packages", "folder", "first", "last"):
        parser.add_argument(name)
    main(**vars(parser.parse_args()))
