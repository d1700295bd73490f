"""Small tables of which each is read wrongly by whoever forgets one rule of its format.

Each function writes a table's folder, and returns the plan and the rows that must come out of it.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa

from harness.formats.delta import change_feed
from harness.formats.delta import read_plan as delta_plan
from harness.formats.files import table_folder
from harness.formats.hudi import read_plan as hudi_plan
from harness.formats.read_plan import ReadPlan
from harness.model.canonical import MapValue
from tests.builders.delta_folder import (
    DeltaFolder,
    add,
    field,
    metadata,
    protocol,
    remove,
    struct_of,
)
from tests.builders.hudi_folder import KEY, HudiFolder, latest

Rows: TypeAlias = list[tuple[Any, ...]]
Planned: TypeAlias = tuple[ReadPlan, Rows]
DELTA = ("deletionVectors", "columnMapping", "typeWidening", "timestampNtz", "v2Checkpoint")
ID: Final = field("id", "long")


def _delta(folder: DeltaFolder, version: int | None = None) -> ReadPlan:
    return delta_plan.plan(table_folder.at(str(folder.path)), version)


def deletion_vectors(path: Path) -> Planned:
    """Of each kind; one file is added again with other rows gone, in one commit."""
    table = DeltaFolder(path)
    files = [table.data(f"{at}.parquet", {"id": [at * 10, at * 10 + 1]}) for at in range(3)]
    first = table.vector("i", 1)
    table.commit(protocol(3, *DELTA), metadata(ID))
    table.commit(add(files[0], vector=first), add(files[1]), add(files[2]))
    table.commit(
        remove(files[0], first),
        add(files[0], vector=table.vector("u", 0)),
        remove(files[1]),
        add(files[1], vector=table.vector("p", 0, 1)),
    )
    return _delta(table), [(1,), (20,), (21,)]


def partition_values(path: Path) -> Planned:
    """In the log alone; the files say something else, and escaped folders are escaped once more."""
    table = DeltaFolder(path)
    types = {"p": "string", "d": "decimal(4,2)", "t": "timestamp", "f": "float", "b": "binary"}
    parts = [field(name, type_) for name, type_ in types.items()]
    table.commit(protocol(1), metadata(*parts[:1], ID, *parts[1:], partition=tuple(types)))
    one = table.data("p=a%2Fb/1.parquet", {"id": [1], "p": ["other"]})
    two = table.data("p=__HIVE_DEFAULT_PARTITION__/2 3.parquet", {"id": [2]})
    texts = {"p": "a/b", "d": "1.5", "t": "2024-01-01T01:00:00+01:00", "f": "1.1", "b": "\x01"}
    table.commit(
        add(one.replace("%", "%25"), texts),
        add(two.replace(" ", "%20"), {"p": "", "d": None, "t": "2024-01-01 00:00:00.5"}),
    )
    moment = datetime(2024, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    single = pa.scalar(1.1, pa.float32()).as_py()
    return _delta(table), [
        ("a/b", 1, Decimal("1.50"), moment, single, b"\x01"),
        (None, 2, None, moment.replace(microsecond=500_000), None, None),
    ]


def changes(path: Path) -> Planned:
    """From files of changes, from files of rows, and from rows that vectors mark."""
    table = DeltaFolder(path)
    fields = ID, field("p", "string")
    one = table.data("1.parquet", {"id": [1, 2, 3]})
    vector = table.vector("i", 0)
    fed = metadata(*fields, partition=("p",), feed=True)
    table.commit(protocol(3, *DELTA), metadata(*fields, partition=("p",)), add(one, {"p": "a"}))
    table.commit(fed)
    table.commit(remove(one), add(one, {"p": "a"}, vector))
    table.commit(remove(one, vector), add(one, {"p": "a"}, table.vector("i", 1)))
    two = table.data("2.parquet", {"id": [4]})
    table.commit(remove(one, table.vector("i", 1)), add(two, {"p": "b"}))
    change = table.data("_change_data/1.parquet", {"id": [5], "_change_type": ["update_preimage"]})
    cdc = {"cdc": {"path": change, "partitionValues": {"p": "c"}, "dataChange": False}}
    table.commit(cdc, remove(two))
    # One path that is two files of the table, each with rows that the other's vector takes out.
    halves = table.vector("i", 0), table.vector("i", 1, 2)
    table.commit(*(add(one, {"p": "a"}, half) for half in halves))
    table.commit(*(remove(one, half) for half in halves))
    plan = change_feed.plan(table_folder.at(str(path)), 1, 7)
    return plan, [
        (1, "a", "delete", 2),
        (1, "a", "insert", 3),
        (2, "a", "delete", 3),
        (1, "a", "delete", 4),
        (3, "a", "delete", 4),
        (4, "b", "insert", 4),
        (5, "c", "update_preimage", 5),
        *((number, "a", "insert", 6) for number in (2, 3, 1)),
        *((number, "a", "delete", 7) for number in (2, 3, 1)),
    ]


def _after_checkpoint(table: DeltaFolder) -> None:
    """Remove and add what a checkpoint has, in the two versions after it."""
    table.commit(remove("0.parquet"), add("3.parquet", {"p": "3"}))
    table.commit(remove("3.parquet"), add("0.parquet", {"p": "0"}), remove("1.parquet"))


def _before_checkpoint(path: Path) -> DeltaFolder:
    table = DeltaFolder(path)
    for at in range(4):
        table.data(f"{at}.parquet", {"id": [at]})
    table.commit(protocol(1), metadata(ID, field("p", "integer"), partition=("p",)))
    table.commit(*(add(f"{at}.parquet", {"p": str(at)}) for at in range(3)))
    return table


def checkpoint_in_parts(path: Path) -> Planned:
    table = _before_checkpoint(path)
    start = f"{1:020}.checkpoint"
    actions = metadata(ID, field("p", "integer"), partition=("p",)), add("0.parquet", {"p": "0"})
    table.checkpoint(f"{start}.{1:010}.{2:010}.parquet", protocol(1), *actions)
    others = (add(f"{at}.parquet", {"p": str(at)}) for at in (1, 2))
    table.checkpoint(f"{start}.{2:010}.{2:010}.parquet", *others)
    _after_checkpoint(table)
    table.checkpoint(f"{3:020}.checkpoint.{1:010}.{2:010}.parquet", protocol(1))  # not all parts
    table.forget(0, 1)
    return _delta(table, 2), [(1, 1), (2, 2), (3, 3)]


def checkpoint_with_sidecars(path: Path) -> Planned:
    table = _before_checkpoint(path)
    sidecar = "_sidecars/1.parquet"
    table.checkpoint(sidecar, *(add(f"{at}.parquet", {"p": str(at)}) for at in range(3)))
    name = f"{1:020}.checkpoint.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.parquet"
    named = {"sidecar": {"path": "1.parquet", "sizeInBytes": 1}}
    schema = metadata(ID, field("p", "integer"), partition=("p",))
    table.checkpoint(name, protocol(3, *DELTA), schema, named)
    _after_checkpoint(table)
    table.forget(0, 1)
    return _delta(table), [(0, 0), (2, 2)]


def mapped_by_name(path: Path) -> Planned:
    """A column has the name that another one had; so has a part of a struct in a list."""
    table = DeltaFolder(path)
    element = struct_of(
        field("x", "long", physical="y", number=4), field("y", "long", physical="x", number=5)
    )
    listed = {"type": "array", "elementType": element, "containsNull": True}
    table.commit(
        protocol(2),
        metadata(
            field("a", "long", physical="b", number=1),
            field("b", "long", physical="a", number=2),
            field("l", listed, physical="c", number=3),
            mode="name",
        ),
    )
    # Ids that files have do not count.
    ids = {"a": 1, "b": 2}
    name = table.data("1.parquet", {"a": [10], "b": [20], "c": [[{"x": 1, "y": 2}]]}, ids)
    table.commit(add(name))
    return _delta(table), [(20, 10, ({"x": 2, "y": 1},))]


def mapped_by_id(path: Path) -> Planned:
    table = DeltaFolder(path)
    fields = field("a", "long", physical="n", number=7), field("b", "long", physical="m", number=8)
    table.commit(protocol(3, *DELTA), metadata(*fields, mode="id"))
    name = table.data("1.parquet", {"n": [1], "m": [2]}, {"n": 8, "m": 7})
    table.commit(add(name))
    return _delta(table), [(2, 1)]


def widened(path: Path) -> Planned:
    table = DeltaFolder(path)
    mapped = {"type": "map", "keyType": "long", "valueType": "double", "valueContainsNull": True}
    table.commit(
        protocol(3, *DELTA),
        metadata(field("a", "decimal(12,2)"), field("m", mapped), field("d", "timestamp_ntz")),
    )
    old = pa.map_(pa.int8(), pa.float32())
    days = pa.array([datetime(2024, 1, 1, tzinfo=UTC).date()], pa.date32())
    columns = {"a": pa.array([7], pa.int16()), "m": pa.array([[(1, 0.5)]], old), "d": days}
    table.commit(add(table.data("1.parquet", columns)))
    moment = datetime(2024, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    return _delta(table), [(Decimal("7.00"), MapValue(((1, 0.5),)), moment)]


def _row(key: int, ts: int, v: str | None, **more: object) -> Mapping[str, Any]:
    return {KEY: str(key), "id": key, "ts": ts, "v": v, **more}


COLUMNS: Final = {"id": "long", "ts": "long", "v": "string"}
BY_TIME: Final = {
    "compaction_payload_class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
    "table_precombine_field": "ts",
}


def _hudi(table: HudiFolder, instant: str | None = None) -> ReadPlan:
    return hudi_plan.plan(table_folder.at(str(table.path)), instant)


def merged_by_ordering(path: Path) -> Planned:
    """Late versions and late deletes do not count; a delete without a value does."""
    table = HudiFolder(path, COLUMNS)
    table.create(**BY_TIME)
    table.base("g", "1", *(_row(key, 5, "base") for key in range(6)))
    late, new = _row(0, 4, "late"), _row(1, 5, "new")
    table.log("g", "1", table.rows("2", late, new), table.deletes("2", {"2": 4, "3": 6, "4": None}))
    table.log("g", "1", table.parquet_rows("3", _row(3, 5, "late"), _row(6, 1, "added")), number=2)
    for instant in "123":
        table.done(instant)
    return _hudi(table), [
        (0, 5, "base"),
        (1, 5, "new"),
        (2, 5, "base"),
        (5, 5, "base"),
        (6, 1, "added"),
    ]


def groups_of_their_own(path: Path) -> Planned:
    """One key in two groups, one id in two partitions, one group that was replaced."""
    table = HudiFolder(path, COLUMNS)
    table.create(**BY_TIME)
    table.base("g", "1", _row(1, 5, "g"), folder="p/")
    table.base("h", "1", _row(1, 9, "h"), folder="p/")
    table.base("g", "1", _row(2, 5, "q"), folder="q/")
    table.base("r", "1", _row(3, 5, "replaced"), folder="q/")
    table.log("g", "1", table.rows("2", _row(1, 6, "g2")), folder="p/")
    table.log("g", "1", table.deletes("2", {"2": None}), folder="q/")
    table.done("1")
    table.done("2")
    table.done("3", "replacecommit", record={"partitionToReplaceFileIds": {"q": ["r"]}})
    table.base("n", "3", _row(4, 5, "new"), folder="q/")
    return _hudi(table), [(1, 6, "g2"), (1, 9, "h"), (4, 5, "new")]


def taken_back(path: Path) -> Planned:
    """What a block takes back, and what no completed instant wrote, is no part of the table."""
    table = HudiFolder(path, COLUMNS)
    table.create()  # whatever is written last counts
    table.base("g", "1", _row(1, 5, "base"), _row(2, 5, "base"))
    table.base("g", "4", _row(9, 5, "never completed"))
    table.log("g", "1", table.rows("2", _row(1, 6, "taken back")))
    table.log("g", "1", table.taken_back("3", "2"), number=2)
    table.log("g", "1", table.rows("4", _row(2, 7, "never completed")), number=3)
    table.log("g", "1", table.rows("5", _row(2, 1, "last")), number=4)
    for instant in "1235":  # the second is on the timeline again, as an archived one is
        table.done(instant)
    return _hudi(table), [(1, 5, "base"), (2, 1, "last")]


def without_own_columns(path: Path) -> Planned:
    """The key is of two fields of the rows, and a column says that a row only deletes."""
    columns = {**COLUMNS, "_hoodie_is_deleted": "boolean"}
    table = HudiFolder(path, columns)
    table.create(
        populate_meta_fields="false",
        table_recordkey_fields="id,v",
        table_keygenerator_class="ComplexKeyGenerator",
    )

    def row(key: int, v: str, ts: int = 1, *, gone: bool = False) -> Mapping[str, Any]:
        return {"id": key, "ts": ts, "v": v, "_hoodie_is_deleted": gone}

    table.base("g", "1", row(1, "a"), row(1, "b"), row(2, "a"))
    table.log("g", "1", table.rows("2", row(1, "a", 2), row(2, "a", gone=True)))
    table.log("g", "1", table.deletes("3", {"id:1,v:b": None}), number=2)
    for instant in "123":
        table.done(instant)
    return _hudi(table), [(1, 2, "a", False)]


def partial_updates(path: Path) -> Planned:
    table = HudiFolder(path, COLUMNS, version=8)
    table.create(record_merge_mode="COMMIT_TIME_ORDERING", timeline_path="timeline")
    table.base("g", "1", _row(1, 5, "v"), _row(2, 5, "w"))
    table.log("g", "2", table.rows("2", {KEY: "1", "ts": 6}, partial=True))
    table.log("g", "3", table.rows("3", {KEY: "1", "v": None}, partial=True))
    for instant in "123":
        table.done(instant, at=instant + "0")
    return _hudi(table), [(1, 6, None), (2, 5, "w")]


def filled(path: Path) -> Planned:
    """The newest value that is not NULL counts of each column."""
    table = HudiFolder(path, COLUMNS)
    payload = "org.apache.hudi.common.model.PartialUpdateAvroPayload"
    table.create(**{**BY_TIME, "compaction_payload_class": payload})
    table.base("g", "1", _row(1, 5, "v"), _row(2, 5, None))
    table.log("g", "1", table.rows("2", _row(1, 6, None), _row(2, 4, "older")))
    table.done("1")
    table.done("2")
    return _hudi(table), [(1, 6, "v"), (2, 5, "older")]


def by_completion(path: Path) -> Planned:
    """A log file goes on from the base file that was there when it was completed."""
    table = HudiFolder(path, COLUMNS, version=8)
    table.create(record_merge_mode="COMMIT_TIME_ORDERING", timeline_path="timeline")
    table.base("g", "01", _row(1, 1, "first"), _row(2, 1, "first"))
    table.log("g", "02", table.rows("02", _row(1, 1, "completed late")))
    table.log("g", "03", table.rows("03", _row(1, 1, "compacted"), _row(2, 1, "compacted")))
    table.base("g", "05", _row(1, 1, "compacted"), _row(2, 1, "compacted"))
    for instant, at in {"01": "011", "02": "07", "03": "04"}.items():
        table.done(instant, at=at)
    table.done("05", "commit", at="06")
    return _hudi(table), [(1, 1, "completed late"), (2, 1, "compacted")]


def history_of_schema(path: Path) -> Planned:
    """A column was renamed, and another one has its name since."""
    table = HudiFolder(path, COLUMNS)
    table.create()
    table.base("g", "1", _row(1, 5, "v"), _row(2, 5, "w"))
    old = {0: ("id", "long"), 1: ("ts", "long"), 2: ("v", "string")}
    new = {0: ("id", "long"), 2: ("w", "string"), 3: ("v", "string")}
    names = {**COLUMNS, "w": "string"}
    block = HudiFolder(path, names).rows("3", {KEY: "2", "id": 2, "w": "w", "v": "new"})
    table.log("g", "1", block)
    table.done("1", record=latest(1, old))
    table.schemas("2", (1, old), (2, new))
    table.done("2", record=latest(2, new))
    table.done("3", record=latest(2, new))
    return _hudi(table), [(1, "v", None), (2, "w", "new")]


def as_it_was(path: Path) -> Planned:
    """At an instant a table has the columns, files and blocks of then."""
    table = HudiFolder(path, {"id": "long"})
    table.create()
    table.base("g", "1", {KEY: "1", "id": 1})
    table.base("g", "3", _row(7, 5, "later"))
    table.log("g", "1", table.deletes("2", {"1": None}))
    for instant in "123":
        table.done(instant)
    return _hudi(table, "1"), [(1,)]


def archived(path: Path) -> Planned:
    """Instants of before the timeline begins were completed; one that waits was not."""
    table = HudiFolder(path, COLUMNS)
    table.create()
    table.base("g", "1", _row(1, 5, "archived"), _row(2, 5, "archived"))
    table.log("g", "1", table.rows("2", _row(2, 6, "archived too")))
    table.log("g", "1", table.rows("4", _row(1, 6, "waits")), number=2)
    table.done("0", "clean")  # cleanings may be older than the first write that is there
    table.done("3")
    table.done("4", "deltacommit.inflight")
    return _hudi(table), [(1, 5, "archived"), (2, 6, "archived too")]


def dropped_partition_columns(path: Path) -> Planned:
    table = HudiFolder(path, {"id": "long", "p": "string"})
    table.create(
        table_partition_fields="p",
        datasource_write_drop_partition_columns="true",
        datasource_write_partitionpath_urlencode="true",
    )
    table.base("g", "1", {KEY: "1", "id": 1}, folder="p=a%2Fb/")
    table.done("1")
    return _hudi(table), [(1, "a/b")]


TABLES: Final[Mapping[str, Callable[[Path], Planned]]] = {
    table.__name__: table
    for table in (
        deletion_vectors,
        partition_values,
        changes,
        checkpoint_in_parts,
        checkpoint_with_sidecars,
        mapped_by_name,
        mapped_by_id,
        widened,
        merged_by_ordering,
        groups_of_their_own,
        taken_back,
        without_own_columns,
        partial_updates,
        filled,
        by_completion,
        history_of_schema,
        as_it_was,
        archived,
        dropped_partition_columns,
    )
}
