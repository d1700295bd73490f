"""Small Iceberg tables, one for each rule of reading, with the rows that the rule gives."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

from harness.audit import table_rows
from harness.formats.files import deletion_vectors, table_folder
from harness.formats.files.locations import Locations
from harness.formats.iceberg import read_plan
from harness.formats.iceberg.table import NAME_MAPPING
from harness.formats.read_plan import ReadPlan
from harness.model.canonical import Value
from tests.builders.iceberg_folder import FIELDS, GONE, LOCATION, Entry, IcebergFolder

Row = tuple[Value, ...]
ID, A, B = 1, 2, 3
"""The ids of the three columns of numbers that tables have unless they say more."""
BY_A: Final = {
    "partition-specs": [
        {"spec-id": 0, "fields": []},
        {
            "spec-id": 1,
            "fields": [{"name": "a", "transform": "identity", "source-id": A, "field-id": 1000}],
        },
        {
            "spec-id": 2,
            "fields": [{"name": "a", "transform": "void", "source-id": A, "field-id": 1000}],
        },
    ]
}
MAPPING: Final = {
    NAME_MAPPING: json.dumps(
        [{"field-id": at, "names": [name]} for at, name in enumerate(("id", "a", "b"), start=1)]
    )
}


def column(id_: int, name: str, type_: object = "long", **more: object) -> dict[str, Any]:
    return {"id": id_, "name": name, "type": type_, "required": False, **more}


@dataclass
class Made:
    """A table that is being made."""

    files: IcebergFolder
    metadata: dict[str, Any] = field(default_factory=dict)

    def data(self, name: str, ids: Mapping[str, int] | None = None, **columns: object) -> str:
        """Write a Parquet file whose columns have ids: `id`, `a` and `b` those of the table."""
        known = {"id": ID, "a": A, "b": B, **(ids or {})}
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        fields = [f.with_metadata({"PARQUET:field_id": str(known[f.name])}) for f in table.schema]
        path = self.files._made(f"data/{name}")
        pq.write_table(table.cast(pa.schema(fields)), path)
        return f"data/{name}"

    def vector(self, name: str, of: str, *positions: int) -> Entry:
        """Write a Puffin file with one deletion vector."""
        framed = puffin(of, *positions)
        self.files._made(f"data/{name}").write_bytes(framed)
        size = int.from_bytes(framed[4:8], "big") + 8
        entry = {"record_count": len(positions), "content_offset": 4, "content_size_in_bytes": size}
        return Entry(f"data/{name}", content=1, metrics=entry, vector_of=of)

    def schemas(self, *schemas: Sequence[Mapping[str, Any]]) -> None:
        """Let the table have had several schemas; the last is the current one."""
        numbered = [{"schema-id": at, "fields": [*s]} for at, s in enumerate(schemas)]
        self.metadata |= {"schemas": numbered, "current-schema-id": len(schemas) - 1}


def puffin(of: str, *positions: int) -> bytes:
    import zlib  # noqa: PLC0415

    bitmap = deletion_vectors.MAGIC + BitMap64(positions).serialize()
    checksum = zlib.crc32(bitmap).to_bytes(4, "big")
    blob = len(bitmap).to_bytes(4, "big") + bitmap + checksum
    described = {
        "type": "deletion-vector-v1",
        "fields": [],
        "offset": 4,
        "length": len(blob),
        "properties": {"referenced-data-file": f"{LOCATION}/{of}"},
    }
    footer = json.dumps({"blobs": [described]}).encode()
    end = len(footer).to_bytes(4, "little") + bytes(4) + b"PFA1"
    return b"PFA1" + blob + b"PFA1" + footer + end


def a_file_without_ids_is_read_by_the_name_mapping(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.files.data("1.parquet", b=[3], other=[9], id=[1])))
    made.metadata["properties"] = MAPPING
    return [(1, None, 3)]


def a_column_with_a_dot_in_its_name_is_no_part_of_a_struct(made: Made) -> list[Row]:
    part = {"type": "struct", "fields": [column(3, "b")]}
    made.schemas([column(ID, "id"), column(2, "a", part), column(4, "a.b")])
    columns: dict[str, Sequence[object]] = {"a.b": [7], "a": [{"b": 5}], "id": [1]}
    path = made.files.data("1.parquet", **columns)
    made.files.commit(1, Entry(path))
    mapping = [
        {"field-id": 1, "names": ["id"]},
        {"field-id": 2, "names": ["a"], "fields": [{"field-id": 3, "names": ["b"]}]},
        {"field-id": 4, "names": ["a.b"]},
    ]
    made.metadata["properties"] = {NAME_MAPPING: json.dumps(mapping)}
    return [(1, {"b": 5}, 7)]


def columns_go_by_their_ids_whatever_their_names(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", {"a": B, "b": A}, id=[1], a=[2], b=[3])))
    return [(1, 3, 2)]


def a_column_of_the_file_goes_before_the_partitions_value(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[2], b=[3]), partition=7), spec=1)
    made.metadata |= BY_A
    return [(1, 2, 3)]


def the_partitions_value_goes_before_a_column_that_is_known_by_its_name(made: Made) -> list[Row]:
    path = made.files.data("1.parquet", id=[1], a=[2], b=[3])
    made.files.commit(1, Entry(path, partition=7), spec=1)
    made.metadata |= {"properties": MAPPING, **BY_A}
    return [(1, 7, 3)]


def a_field_of_the_spec_that_was_dropped_has_no_value(made: Made) -> list[Row]:
    path = made.files.data("1.parquet", id=[1], a=[2], b=[3])
    made.files.commit(1, Entry(path), spec=2)
    made.metadata |= {"properties": MAPPING, **BY_A}
    return [(1, 2, 3)]


def values_are_deleted_of_older_files_alone(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", id=[1, 2], a=[1, 1], b=[1, 1])))
    deletes = Entry(made.data("e.parquet", id=[1]), content=2, by=(ID,))
    made.files.commit(2, deletes, Entry(made.data("2.parquet", id=[1], a=[2], b=[2])))
    return [(2, 1, 1), (1, 2, 2)]


def positions_are_deleted_of_files_of_the_same_commit_too(made: Made) -> list[Row]:
    path = made.data("1.parquet", id=[1, 2], a=[1, 1], b=[1, 1])
    made.files.commit(1, Entry(path), Entry(made.files.deletes("d.parquet", (path, 0)), content=1))
    return [(2, 1, 1)]


def a_file_that_was_rewritten_keeps_the_age_of_its_rows(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[1], b=[1])))
    made.files.commit(2, Entry(made.data("e.parquet", id=[1, 2]), content=2, by=(ID,)))
    path = made.data("2.parquet", id=[1, 3], a=[1, 3], b=[1, 3])
    made.files.commit(3, Entry(path, sequence=1), Entry("data/1.parquet", status=GONE))
    made.files.commit(4, Entry(made.data("3.parquet", id=[2], a=[2], b=[2])))
    return [(3, 3, 3), (2, 2, 2), (1, 1, 1)][:2]


def deletes_of_another_spec_are_not_of_a_file(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[7], b=[1])), spec=0)
    path = made.data("2.parquet", id=[1], a=[7], b=[2])
    made.files.commit(2, Entry(path, partition=7), spec=1)
    made.files.commit(3, Entry(made.data("e.parquet", id=[1]), content=2, partition=7), spec=1)
    made.metadata |= BY_A
    return [(1, 7, 1)]


def deletes_of_another_partition_are_not_of_a_file(made: Made) -> list[Row]:
    for number, a in enumerate((7, 8), start=1):
        path = made.data(f"{number}.parquet", id=[1], a=[a], b=[0])
        made.files.commit(number, Entry(path, partition=a), spec=1)
    made.files.commit(3, Entry(made.data("e.parquet", id=[1]), content=2, partition=7), spec=1)
    made.metadata |= BY_A
    return [(1, 8, 0)]


def values_that_are_deleted_without_a_partition_are_deleted_of_all_files(made: Made) -> list[Row]:
    for number, a in enumerate((7, 8), start=1):
        path = made.data(f"{number}.parquet", id=[number], a=[a], b=[0])
        made.files.commit(number, Entry(path, partition=a), spec=1)
    made.files.commit(3, Entry(made.data("e.parquet", id=[1]), content=2))
    made.metadata |= BY_A
    return [(2, 8, 0)]


def a_null_is_deleted_by_a_null(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", id=[1, 2], a=[None, 1], b=[1, 1])))
    nulls = made.data("e.parquet", a=pa.array([None], pa.int64()))
    made.files.commit(2, Entry(nulls, content=2, by=(A,)))
    return [(2, 1, 1)]


def rows_are_deleted_by_a_column_that_is_gone(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", id=[1, 2], a=[5, 6], b=[1, 2])))
    made.files.commit(2, Entry(made.data("e.parquet", a=[5]), content=2, by=(A,)))
    made.schemas(FIELDS, [FIELDS[0], FIELDS[2]])
    return [(2, 2)]


def rows_are_deleted_by_the_default_of_a_column_that_their_file_lacks(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[1], b=[1])))
    deleted = {"c": 4}
    made.files.commit(2, Entry(made.data("2.parquet", deleted, id=[2], a=[2], b=[2], c=[6])))
    made.files.commit(3, Entry(made.data("e.parquet", deleted, c=[5]), content=2, by=(4,)))
    made.schemas([*FIELDS, column(4, "c", **{"initial-default": 5})])
    made.metadata["format-version"] = 3
    return [(2, 2, 2, 6)]


def a_promoted_value_is_deleted_by_one_of_the_narrow_type(made: Made) -> list[Row]:
    days, moments = pa.array([0, 1], pa.date32()), pa.array([0], pa.timestamp("us"))
    made.files.commit(1, Entry(made.data("1.parquet", {"at": 4}, id=[1, 2], at=days)))
    made.files.commit(2, Entry(made.data("e.parquet", {"at": 4}, at=moments), content=2, by=(4,)))
    made.schemas([FIELDS[0], column(4, "at", "date")], [FIELDS[0], column(5, "x", "int")])
    made.schemas([FIELDS[0], column(4, "at", "date")], [FIELDS[0], column(4, "at", "timestamp")])
    import datetime  # noqa: PLC0415

    return [(2, datetime.datetime(1970, 1, 2))]  # noqa: DTZ001 - canonical


def older_rows_have_the_default_that_a_column_began_with(made: Made) -> list[Row]:
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[1], b=[1])))
    number = column(4, "c", **{"initial-default": 5, "write-default": 6})
    inner = {"type": "struct", "fields": [column(6, "x", "string", **{"initial-default": "x"})]}
    made.schemas([*FIELDS, number, column(5, "s", inner, **{"initial-default": {}})])
    made.metadata["format-version"] = 3
    return [(1, 1, 1, 5, {"x": "x"})]


def a_part_of_a_struct_has_its_default_where_the_struct_is(made: Made) -> list[Row]:
    struct = pa.struct([pa.field("y", pa.int64(), metadata={"PARQUET:field_id": "6"})])
    values = pa.array([{"y": 1}, None], struct)
    made.files.commit(1, Entry(made.data("1.parquet", {"s": 5}, id=[1, 2], s=values)))
    parts = [column(7, "x", **{"initial-default": 5}), column(6, "y")]
    made.schemas([FIELDS[0], column(5, "s", {"type": "struct", "fields": parts})])
    made.metadata["format-version"] = 3
    return [(1, {"x": 5, "y": 1}), (2, None)]


def a_vector_stands_for_all_positions_that_are_deleted_of_its_file(made: Made) -> list[Row]:
    path = made.data("1.parquet", id=[1, 2, 3], a=[1, 2, 3], b=[0, 0, 0])
    made.files.commit(1, Entry(path))
    made.files.commit(2, Entry(made.files.deletes("d.parquet", (path, 2)), content=1))
    made.files.commit(3, made.vector("v.puffin", path, 0))
    made.metadata["format-version"] = 3
    return [(2, 2, 0), (3, 3, 0)]


def a_file_that_was_removed_is_no_part_of_the_table(made: Made) -> list[Row]:
    first = made.data("1.parquet", id=[1], a=[1], b=[1])
    second = made.data("2.parquet", id=[2], a=[2], b=[2])
    made.files.commit(1, Entry(first), Entry(second))
    gone = Entry(first, status=GONE, sequence=1)
    made.files.commit(2, Entry(second, status=0, sequence=1), gone, forget=True)
    return [(2, 2, 2)]


def a_table_without_a_snapshot_has_no_rows(made: Made) -> list[Row]:
    del made
    return []


TABLES: Final[Sequence[Callable[[Made], list[Row]]]] = (
    a_file_without_ids_is_read_by_the_name_mapping,
    a_column_with_a_dot_in_its_name_is_no_part_of_a_struct,
    columns_go_by_their_ids_whatever_their_names,
    a_column_of_the_file_goes_before_the_partitions_value,
    the_partitions_value_goes_before_a_column_that_is_known_by_its_name,
    a_field_of_the_spec_that_was_dropped_has_no_value,
    values_are_deleted_of_older_files_alone,
    positions_are_deleted_of_files_of_the_same_commit_too,
    a_file_that_was_rewritten_keeps_the_age_of_its_rows,
    deletes_of_another_spec_are_not_of_a_file,
    deletes_of_another_partition_are_not_of_a_file,
    values_that_are_deleted_without_a_partition_are_deleted_of_all_files,
    a_null_is_deleted_by_a_null,
    rows_are_deleted_by_a_column_that_is_gone,
    rows_are_deleted_by_the_default_of_a_column_that_their_file_lacks,
    a_promoted_value_is_deleted_by_one_of_the_narrow_type,
    older_rows_have_the_default_that_a_column_began_with,
    a_part_of_a_struct_has_its_default_where_the_struct_is,
    a_vector_stands_for_all_positions_that_are_deleted_of_its_file,
    a_file_that_was_removed_is_no_part_of_the_table,
    a_table_without_a_snapshot_has_no_rows,
)


def plan_of(folder: Path, snapshot: str = "", metadata: str = "") -> ReadPlan:
    locations = Locations({LOCATION: str(folder)})
    return read_plan.plan(table_folder.at(str(folder)), metadata, locations, snapshot)


def read(folder: Path, snapshot: str = "") -> list[Row]:
    return list(table_rows.read(plan_of(folder, snapshot)).rows)


def written(folder: Path, table: Callable[[Made], list[Row]]) -> list[Row]:
    """Write a table; return the rows that it must have."""
    made = Made(IcebergFolder(folder))
    expected = table(made)
    made.files.metadata(1, **made.metadata)
    return expected
