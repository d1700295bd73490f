"""The program that writes Iceberg tables with random changes by PyIceberg, and what it reads.

`python pyiceberg_tables.py PACKAGES FOLDER SEED …`: the folders of the library, and of the tables.
It imports the standard library and PACKAGES alone. In `FOLDER/SEED` lie the table and
`answers.json`, a list of what PyIceberg makes of each snapshot (empty: the current state): the file
with its rows, or why it read none. Position deletes, deletion vectors and equality deletes, which
PyIceberg does not write, are made by hand; the rows that equality deletes leave are those that it
read before, without those of the deleted values.
"""

import datetime
import json
import random
import sys
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ROWS: Final = 6
STEPS: Final = 8
_FIELD_ID: Final = "PARQUET:field_id"
_PATH_ID: Final = "2147483546"
_POSITION_ID: Final = "2147483545"
_WIDER: Final = {"int": "long", "float": "double", "decimal(7, 2)": "decimal(11, 2)"}
_LEAVES: Final = (
    *("boolean", "int", "long", "float", "double", "decimal(7,2)", "string", "binary", "fixed[3]"),
    *("date", "time", "timestamp", "timestamptz", "uuid"),
)
_DEFAULTS: Final[dict[str, Any]] = {
    "boolean": True,
    "int": -7,
    "long": 2**40,
    "float": 1.5,
    "double": 0.1,
    "decimal(7, 2)": Decimal("1.50"),
    "string": "gone",
    "date": 3,
    "timestamp": 86_400_000_001,
}
_DAYS: Final = (-1, 0, 19_000, 30_000)
_NONE: Any = None


def module(name: str) -> Any:  # noqa: ANN401 - a library without types here
    return import_module(f"pyiceberg.{name}")


def _has_vector(task: Any) -> bool:  # noqa: ANN401 - the library's
    return any(str(file.file_format).endswith("PUFFIN") for file in task.delete_files)


class Story:
    """One table, changed at random."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)  # noqa: S311 - no secret
        self.folder = folder / str(seed)
        self.names = 0
        self.version = self.random.choice([1, 2, 2, 2])
        self.answers: list[dict[str, str]] = []
        self.table = self._created()

    # --- types and values ---------------------------------------------------------------------

    def new_name(self) -> str:
        self.names += 1
        return f"c{self.names}"

    def type_of(self, depth: int = 0) -> Any:  # noqa: ANN401 - the library's
        types = module("types")
        kind = self.random.random() if depth < 2 else 0.0
        if kind < 0.7:
            word = self.random.choice(_LEAVES)
            return types.IcebergType.handle_primitive_type(
                "int" if word == "uuid" and depth else word, lambda x: x
            )
        if kind < 0.85:
            parts = [
                types.NestedField(at + 1, self.new_name(), self.type_of(depth + 1), required=False)
                for at in range(self.random.randint(1, 3))
            ]
            return types.StructType(*parts)
        if kind < 0.93:
            return types.ListType(1, self.type_of(depth + 1), element_required=False)
        return types.MapType(
            1, types.StringType(), 2, self.type_of(depth + 1), value_required=False
        )

    def value(self, type_: Any) -> Any:  # noqa: ANN401 - of an Arrow type
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

        kinds, draw = pa.types, self.random
        if draw.random() < 0.2:
            return None
        if kinds.is_struct(type_):
            return {part.name: self.value(part.type) for part in type_}
        if kinds.is_map(type_):
            keys = draw.sample(["a", "b", "c"], draw.randint(0, 2))
            return [(key, self.value(type_.item_type)) for key in keys]
        if kinds.is_list(type_) or kinds.is_large_list(type_):
            return [self.value(type_.value_type) for _ in range(draw.randint(0, 2))]
        return self._moment(type_) if kinds.is_temporal(type_) else self._leaf(type_)

    def _leaf(self, type_: Any) -> Any:  # noqa: ANN401 - of an Arrow type
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

        kinds, draw = pa.types, self.random
        choices: dict[Any, list[Any]] = {
            kinds.is_boolean: [False, True],
            kinds.is_integer: [-1, 0, 1, 2, 2**31 - 1],
            kinds.is_floating: [0.5, 1.1, -2.25, 1e30, float("inf")],
            kinds.is_decimal: [Decimal(text) for text in ("0.00", "1.50", "-99999.99", "7.25")],
        }
        for is_kind, values in choices.items():
            if is_kind(type_):
                return draw.choice(values)
        if kinds.is_fixed_size_binary(type_) or isinstance(type_, pa.UuidType):
            size = getattr(type_, "storage_type", type_).byte_width
            return bytes(draw.choice([0, 1, 255]) for _ in range(size))
        text = draw.choice(["", "a", "é", "abc"])
        return text.encode() if "binary" in str(type_) else text

    def _moment(self, type_: Any) -> Any:  # noqa: ANN401 - of an Arrow type
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

        days = datetime.timedelta(days=self.random.choice(_DAYS))
        day = datetime.date(1970, 1, 1) + days
        time = datetime.time(self.random.randrange(24), 30, 15, self.random.randrange(10**6))
        if pa.types.is_timestamp(type_):
            zone = datetime.UTC if type_.tz else None
            return datetime.datetime.combine(day, time, zone)
        return day if pa.types.is_date(type_) else time

    def default(self, field_type: Any) -> Any:  # noqa: ANN401 - the library's type
        """Return a default of a primitive type; None for many."""
        return _DEFAULTS.get(str(field_type)) if self.random.random() < 0.6 else None

    # --- the catalog of one table -------------------------------------------------------------

    def _created(self) -> Any:  # noqa: ANN401 - the library's table
        tables, update = module("table"), module("table.update")
        serializers, types = module("serializers"), module("types")
        noop: Any = module("catalog.noop").NoopCatalog
        folder, number = self.folder, [0]

        class OneTable(noop):  # type: ignore[misc]
            def commit_table(self, table: Any, requirements: Any, updates: Any) -> Any:  # noqa: ANN401
                del requirements
                changed = update.update_table_metadata(table.metadata, updates)
                number[0] += 1
                path = f"{folder}/metadata/v{number[0]}.metadata.json"
                serializers.ToOutputFile.table_metadata(
                    changed, table.io.new_output(path), overwrite=True
                )
                return tables.CommitTableResponse(metadata=changed, metadata_location=path)

        fields = [
            types.NestedField(at + 1, self.new_name(), self.type_of(), required=False)
            for at in range(self.random.randint(2, 5))
        ]
        key = types.NestedField(100, "k", types.IntegerType(), required=False)
        (folder / "data").mkdir(parents=True)
        empty = module("table.metadata").new_table_metadata(
            module("schema").Schema(*fields, key),
            module("partitioning").UNPARTITIONED_PARTITION_SPEC,
            module("table.sorting").UNSORTED_SORT_ORDER,
            str(folder),
            {"format-version": str(self.version)},
        )
        files = module("io.pyarrow").PyArrowFileIO()
        return tables.Table(("a", "t"), empty, f"{folder}/metadata", files, OneTable("one"))

    # --- changes ------------------------------------------------------------------------------

    def append(self) -> None:
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

        schema = module("io.pyarrow").schema_to_pyarrow(self.table.schema())
        rows = [
            {field.name: self.value(field.type) for field in schema}
            for _ in range(self.random.randint(1, ROWS))
        ]
        for row in rows:
            row["k"] = self.random.choice([None, 1, 2, 3])
        columns = [pa.array([row[f.name] for row in rows], f.type) for f in schema]
        self.table.append(pa.Table.from_arrays(columns, schema=schema))

    def append_file_without_ids(self) -> None:
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES
        import pyarrow.parquet as pq  # noqa: PLC0415

        convert = module("io.pyarrow").schema_to_pyarrow
        schema = convert(self.table.schema(), include_field_ids=False)
        rows = [{field.name: self.value(field.type) for field in schema} for _ in range(ROWS)]
        for row in rows:
            row["k"] = 1
        columns = [pa.array([row[f.name] for row in rows], f.type) for f in schema]
        path = f"{self.folder}/data/plain-{self.random.randrange(10**9)}.parquet"
        pq.write_table(pa.Table.from_arrays(columns, schema=schema), path, store_schema=False)
        self.table.add_files([path])

    def _structs(self) -> list[tuple[str, ...]]:
        schema = self.table.schema()
        return [(), *((f.name,) for f in schema.fields if f.field_type.is_struct)]

    def _columns(self) -> list[Any]:
        used = {f.source_id for spec in self.table.specs().values() for f in spec.fields}
        return [f for f in self.table.schema().fields if f.field_id not in used and f.name != "k"]

    def add_column(self) -> None:
        type_ = self.type_of(1)
        above = self.random.choice(self._structs())
        with self.table.update_schema() as change:
            default = self.default(type_)
            change.add_column((*above, self.new_name()), type_, default_value=default)

    def drop_column(self) -> None:
        with self.table.update_schema(allow_incompatible_changes=True) as change:
            change.delete_column(self.random.choice(self._columns()).name)

    def drop_and_add_again(self) -> None:
        column = self.random.choice(self._columns())
        with self.table.update_schema(allow_incompatible_changes=True) as change:
            change.delete_column(column.name)
        with self.table.update_schema() as change:
            change.add_column(column.name, self.type_of(1))

    def rename(self) -> None:
        paths = [(column.name,) for column in self._columns()]
        for above in self._structs()[1:]:
            struct = self.table.schema().find_field(above[0]).field_type
            paths += [(*above, part.name) for part in struct.fields]
        with self.table.update_schema() as change:
            change.rename_column(self.random.choice(paths), self.new_name())

    def reorder(self) -> None:
        with self.table.update_schema() as change:
            change.move_first(self.random.choice(self._columns()).name)

    def widen(self) -> None:
        types = module("types").IcebergType
        paths = {(f.name,): f for f in self._columns()}
        for above in self._structs()[1:]:
            struct = self.table.schema().find_field(above[0]).field_type
            paths |= {(*above, part.name): part for part in struct.fields}
        words = {path: str(field.field_type) for path, field in paths.items()}
        path = self.random.choice([path for path, word in words.items() if word in _WIDER])
        wider = _WIDER[words[path]]
        with self.table.update_schema() as change:
            change.update_column(path, types.handle_primitive_type(wider, lambda x: x))

    def divide(self) -> None:
        kinds = {"int", "long", "string", "date", "boolean"}
        leaves = [f for f in self._columns() if str(f.field_type) in kinds]
        column = self.random.choice([*leaves, self.table.schema().find_field("k")])
        name = f"p_{column.name}_{self.random.randrange(99)}"
        with self.table.update_spec() as change:
            change.add_field(column.name, "identity", name)

    def divide_no_more(self) -> None:
        field = self.random.choice(self.table.spec().fields)
        with self.table.update_spec() as change:
            change.remove_field(field.name)

    def delete_rows(self) -> None:
        self.table.delete(f"k == {self.random.choice([1, 2, 3])}")

    # --- delete files -------------------------------------------------------------------------

    def delete_positions(self) -> None:
        # Of a file that has a vector, that has all deleted positions.
        tasks = [task for task in self.table.scan().plan_files() if not _has_vector(task)]
        task = self.random.choice(tasks)
        count = task.file.record_count
        gone = sorted(self.random.sample(range(count), self.random.randint(1, count)))
        path = f"{self.folder}/data/positions-{self.random.randrange(10**9)}.parquet"
        paths = [task.file.file_path] * len(gone)
        self._parquet(path, {"file_path": paths, "pos": gone}, [_PATH_ID, _POSITION_ID])
        self._commit(task.file, 1, path, "PARQUET", len(gone))

    def delete_by_vector(self) -> None:
        from pyroaring import BitMap64  # noqa: PLC0415 - of PACKAGES

        tasks = [task for task in self.table.scan().plan_files() if not task.delete_files]
        file = self.random.choice(tasks).file
        count = file.record_count
        gone = self.random.sample(range(count), self.random.randint(1, count))
        bitmap = bytes.fromhex("d1d33964") + BitMap64(gone).serialize()
        checksum = zlib.crc32(bitmap).to_bytes(4, "big")
        blob = len(bitmap).to_bytes(4, "big") + bitmap + checksum
        described = {
            "type": "deletion-vector-v1",
            "fields": [2147483645],
            "snapshot-id": -1,
            "sequence-number": -1,
            "offset": 4,
            "length": len(blob),
            "properties": {"referenced-data-file": file.file_path, "cardinality": str(len(gone))},
        }
        footer = json.dumps({"blobs": [described], "properties": {}}).encode()
        size = len(footer).to_bytes(4, "little")
        path = f"{self.folder}/data/vector-{self.random.randrange(10**9)}.puffin"
        content = b"PFA1" + blob + b"PFA1" + footer + size + bytes(4) + b"PFA1"
        Path(path).write_bytes(content)
        of = {"referenced_data_file": file.file_path, "content_offset": 4}
        of |= {"content_size_in_bytes": len(blob)}
        self._commit(file, 1, path, "PUFFIN", len(gone), **of)

    def delete_values(self) -> None:
        """Delete by the values of `k`, and say what is left of what PyIceberg read before."""
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

        files = [task.file for task in self.table.scan().plan_files()]
        before = self.table.scan().to_arrow()
        gone = self.random.sample([None, 1, 2, 3], 2)
        path = f"{self.folder}/data/values-{self.random.randrange(10**9)}.parquet"
        (number,) = (f.field_id for f in self.table.schema().fields if f.name == "k")
        self._parquet(path, {"k": pa.array(gone, pa.int32())}, [str(number)])
        spec = next(s for s in self.table.specs().values() if not s.fields)
        self._commit(files[0], 2, path, "PARQUET", 2, spec=spec, equality_ids=[number])
        left = [at for at, value in enumerate(before["k"].to_pylist()) if value not in gone]
        self._answer("", before.take(pa.array(left, pa.int64())))

    def _parquet(self, path: str, columns: dict[str, Any], ids: Sequence[str]) -> None:
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES
        import pyarrow.parquet as pq  # noqa: PLC0415

        table = pa.table(columns)
        fields = [f.with_metadata({_FIELD_ID: id_}) for f, id_ in zip(table.schema, ids)]  # noqa: B905
        pq.write_table(table.cast(pa.schema(fields)), path)

    def _commit(
        self,
        file: Any,  # noqa: ANN401 - the library's
        content: int,
        path: str,
        kind: str,
        count: int,
        spec: Any = _NONE,  # noqa: ANN401 - as above
        **more: object,
    ) -> None:
        """Add a snapshot with one delete file, of the partition of a data file or of a spec."""
        lib, table = module("manifest"), self.table
        snapshots, updates = module("table.snapshots"), module("table.update")
        number, current = table.metadata.new_snapshot_id(), table.current_snapshot()
        sequence = table.metadata.next_sequence_number
        sequence = sequence() if callable(sequence) else sequence
        partition = module("typedef").Record() if spec is not None else file.partition
        of_spec = spec or table.specs()[file.spec_id]

        class Deletes(lib.ManifestWriterV2):  # type: ignore[misc, name-defined]
            def content(self) -> Any:  # noqa: ANN401
                return lib.ManifestContent.DELETES

            def new_writer(self) -> Any:  # noqa: ANN401
                # With the fields that version 3 has of a vector's file.
                newest = self._with_partition(3)
                return module("avro.file").AvroOutputFile(
                    output_file=self._output_file,
                    file_schema=newest,
                    record_schema=newest,
                    schema_name="manifest_entry",
                    metadata=self._meta,
                )

        made = f"{self.folder}/metadata/deletes-{number}.avro"
        writer = Deletes(of_spec, table.schema(), table.io.new_output(made), number, "null")
        entry = lib.DataFile.from_args(
            3,
            content=lib.DataFileContent(content),
            file_path=path,
            file_format=lib.FileFormat(kind),
            partition=partition,
            record_count=count,
            file_size_in_bytes=Path(path).stat().st_size,
            **more,
        )
        with writer:
            status = lib.ManifestEntryStatus.ADDED
            writer.add_entry(
                lib.ManifestEntry.from_args(3, status=status, snapshot_id=number, data_file=entry)
            )
        listed = f"{self.folder}/metadata/snap-{number}.avro"
        with lib.write_manifest_list(
            2, table.io.new_output(listed), number, current.snapshot_id, sequence, "null"
        ) as out:
            out.add_manifests([*current.manifests(table.io), writer.to_manifest_file()])
        snapshot = snapshots.Snapshot(
            snapshot_id=number,
            parent_snapshot_id=current.snapshot_id,
            sequence_number=sequence,
            timestamp_ms=current.timestamp_ms + 1,
            manifest_list=listed,
            summary=snapshots.Summary(snapshots.Operation.DELETE),
            schema_id=table.metadata.current_schema_id,
        )
        ref = updates.SetSnapshotRefUpdate(ref_name="main", type="branch", snapshot_id=number)
        made_by = (updates.AddSnapshotUpdate(snapshot=snapshot), ref)
        table._do_commit(made_by, ())

    def upgrade(self) -> None:
        """Make the metadata those of format version 3, which alone has deletion vectors."""
        paths = self.folder.glob("metadata/v*.json")
        newest = max(paths, key=lambda path: int(path.name.split(".")[0][1:]))
        content = json.loads(newest.read_text()) | {"format-version": 3, "next-row-id": 0}
        newest.write_text(json.dumps(content))
        self.table = module("table").StaticTable.from_metadata(str(newest))

    # --- answers ------------------------------------------------------------------------------

    def _answer(self, snapshot: str, rows: Any, why: str = "") -> None:  # noqa: ANN401 - Arrow's
        import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

        name = f"answer-{snapshot or 'current'}.arrow"
        if rows is not None:
            with pa.ipc.new_file(str(self.folder / name), rows.schema) as out:
                out.write_table(rows)
        read = name if rows is not None else ""
        self.answers.append({"snapshot": snapshot, "rows": read, "why": why})

    def ask(self) -> None:
        now = [] if self.answers else [None]
        for snapshot in [*now, *(s.snapshot_id for s in self.table.snapshots())]:
            try:
                rows = self.table.scan(snapshot_id=snapshot).to_arrow()
            except Exception as problem:  # noqa: BLE001 - whatever the library raises is its answer
                self._answer(str(snapshot or ""), None, f"{type(problem).__name__}: {problem}")
            else:
                self._answer(str(snapshot or ""), rows)

    def tell(self) -> None:
        changes: list[Callable[[], None]] = [
            self.add_column, self.add_column, self.drop_column, self.drop_and_add_again,
            self.rename, self.rename, self.reorder, self.widen, self.widen, self.divide,
            self.divide_no_more, self.delete_rows, self.append_file_without_ids,
        ]  # fmt: skip
        if self.version > 1:
            changes += [self.delete_positions, self.delete_positions, self.delete_by_vector]
        self.append()
        done = list[str]()
        while sum(":" not in change for change in done) < STEPS and len(done) < 4 * STEPS:
            change = self.random.choice(changes)
            before = self.table.metadata
            try:
                change()
            except Exception as problem:  # noqa: BLE001 - what cannot be changed so stays
                self.table.metadata = before
                done.append(f"{change.__name__}: {type(problem).__name__}: {problem}")
            else:
                done.append(change.__name__)
            if self.random.random() < 0.5:
                try:
                    self.append()
                except Exception as problem:  # noqa: BLE001 - as above
                    self.table.metadata = before
                    done.append(f"append: {type(problem).__name__}: {problem}")
        if self.version > 1 and self.random.random() < 0.3:
            with suppress(Exception):  # PyIceberg does not read the table, and so says nothing
                self.delete_values()
        if "delete_by_vector" in done:
            self.upgrade()
        self.ask()
        story = {"version": self.version, "changes": done, "answers": self.answers}
        (self.folder / "answers.json").write_text(json.dumps(story))


def main(arguments: list[str]) -> None:
    packages, folder, *seeds = arguments
    sys.path.insert(0, packages)
    for seed in seeds:
        Story(int(seed), Path(folder)).tell()


if __name__ == "__main__":
    main(sys.argv[1:])
