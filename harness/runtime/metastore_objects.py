"""Catalog entries as data: Thrift structs of the metastore to JSON and back. Pure.

An entry has the table's location replaced by a placeholder, so that a copy can be registered
elsewhere.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeVar

from harness.model import partition_paths

LOCATION: Final = "{location}"
"""Stands for the absolute path of the table's folder; a scheme before it (`file:`) is kept."""

NOT_THERE: Final = "-__PLACEHOLDER__"
"""What such a location ends with."""
_HIVE: Final = "org.apache.hadoop.hive"
_CLASSES: Final = {
    "parquet": ("MapredParquet", "ql.io.parquet", "ql.io.parquet.serde.ParquetHiveSerDe"),
    "orc": ("Orc", "ql.io.orc", "ql.io.orc.OrcSerde"),
    "avro": ("AvroContainer", "ql.io.avro", "serde2.avro.AvroSerDe"),
}
"""How Hive's classes for the files of a kind begin, their package, and its serializer."""

PROVIDER: Final = "spark.sql.sources.provider"
DELTA: Final = {PROVIDER: "delta"}
ICEBERG: Final = {"table_type": "ICEBERG"}
"""By which engines know the tables of a format."""
Columns = tuple[tuple[str, str], ...]
"""Names and Hive types."""
JsonData = Any
"""What `json` can write: None, bool, int, str, lists, and mappings with text keys."""


class ThriftStruct(Protocol):
    thrift_spec: Any


AnyStruct = TypeVar("AnyStruct", bound=ThriftStruct)


@dataclass(frozen=True, slots=True)
class WriteIds:
    """Which writes of a transactional table count: the metastore numbers them from 1."""

    highest: int = 0
    """All later ones are of the future."""
    aborted: tuple[int, ...] = ()
    open: tuple[int, ...] = ()
    """Those of transactions that did not end."""

    @property
    def committed(self) -> tuple[int, ...]:
        without = {*self.aborted, *self.open}
        return tuple(number for number in range(1, self.highest + 1) if number not in without)


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One table, of any database."""

    name: str
    table: dict[str, JsonData]
    """The Thrift `Table` by field names, unset fields left out, without its database."""
    partitions: tuple[dict[str, JsonData], ...] = ()
    """Its Thrift `Partition`s, each with a storage descriptor of its own."""
    write_ids: WriteIds | None = None
    """Of a transactional table; None of any other."""

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Name and Hive type of the columns, in order; partition columns last."""
        both = (*self.table["sd"]["cols"], *self.table.get("partitionKeys", ()))
        return tuple((column["name"], column["type"]) for column in both)


@dataclass(frozen=True, slots=True)
class CatalogHistory:
    """What the catalog has of a table, and what it had when files of the table were written."""

    now: tuple[CatalogEntry, ...] = ()
    then: Mapping[str, tuple[CatalogEntry, ...]] = field(default_factory=dict)
    """By the instant of each step that made one, what it had after that step."""

    def at_instant(self, instant: str) -> tuple[CatalogEntry, ...]:
        return self.then.get(instant, self.now)


def plain_entry(
    name: str, columns: Iterable[tuple[str, str]], location: str = LOCATION, kind: str = "parquet"
) -> CatalogEntry:
    """Return the entry of a plain Hive table; columns are names and Hive types."""
    begin, package, serde = _CLASSES[kind]
    storage = {
        "cols": [{"name": column, "type": kind} for column, kind in columns],
        "location": location if "://" in location else f"file:{location}",
        "inputFormat": f"{_HIVE}.{package}.{begin}InputFormat",
        "outputFormat": f"{_HIVE}.{package}.{begin}OutputFormat",
        "serdeInfo": {"serializationLib": f"{_HIVE}.{serde}", "parameters": {}},
        "parameters": {},
    }
    return CatalogEntry(name, {"tableName": name, "sd": storage, "parameters": {}})


def with_parameters(
    made: CatalogEntry, parameters: Mapping[str, str], of_serde: Mapping[str, str] | None = None
) -> CatalogEntry:
    table = {**made.table, "parameters": {**made.table["parameters"], **parameters}}
    if of_serde:
        serde = table["sd"]["serdeInfo"]
        table["sd"] = {**table["sd"], "serdeInfo": {**serde, "parameters": {**of_serde}}}
    return replace(made, table=table)


def unlisted_folders(entries: Iterable[CatalogEntry], files: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of files that some partitioned table has no partition for."""
    listed = [
        set(map(_folder, catalog_entry.partitions))
        for catalog_entry in entries
        if catalog_entry.table.get("partitionKeys")
    ]
    folders = dict.fromkeys(map(partition_paths.folder_of, files))
    return tuple(folder for folder in folders if not all(folder in there for there in listed))


def listed_values(entries: Iterable[CatalogEntry]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return what catalog entries say of the values of each partition's folder, each once."""
    result: dict[str, tuple[tuple[str, ...], ...]] = {}
    for part in (part for catalog_entry in entries for part in catalog_entry.partitions):
        folder, values = _folder(part), tuple(part.get("values", ()))
        result[folder] = tuple(dict.fromkeys((*result.get(folder, ()), values)))
    return result


def column_lists(catalog_entry: CatalogEntry) -> tuple[Columns, tuple[tuple[Columns, str], ...]]:
    """Return the columns of an entry and those of each of its partitions, with its folder.

    Those that divide the table are in neither. A partition without any goes by the entry's.
    """

    def columns(data: Mapping[str, JsonData]) -> Columns:
        return tuple((column["name"], column["type"]) for column in data["sd"].get("cols", ()))

    table = columns(catalog_entry.table)
    lists = ((columns(part) or table, _folder(part)) for part in catalog_entry.partitions)
    return table, tuple(lists)


def _folder(partition: Mapping[str, JsonData]) -> str:
    location: str = partition["sd"].get("location", "")
    return location.partition(f"{LOCATION}/")[2]


def entry(table: ThriftStruct, partitions: tuple[ThriftStruct, ...] = ()) -> CatalogEntry:
    data = encode(table)
    paths = _locations(data.get("sd", {}))
    data, *parts = (
        {name: value for name, value in part.items() if name != "dbName"}
        for part in (data, *map(encode, partitions))
    )
    for hide in map(_hider, paths):
        data, *parts = (_map_texts(part, hide) for part in (data, *parts))
    return CatalogEntry(data["tableName"], data, tuple(parts))


def placed(data: dict[str, JsonData], database: str, location: str) -> dict[str, JsonData]:
    """Return the table or partition of an entry for a database and an absolute path, or a URL."""
    shown: dict[str, JsonData] = _map_texts(data, lambda text: _show(text, location))
    return {**shown, "dbName": database}


def encode(value: JsonData | ThriftStruct) -> JsonData:
    """Return the JSON form of a struct, its unset fields left out.

    >>> from pymetastore.hive_metastore.ttypes import FieldSchema
    >>> encode(FieldSchema(name="a", type="int"))
    {'name': 'a', 'type': 'int'}
    """
    if hasattr(value, "thrift_spec"):
        fields = ((spec[2], getattr(value, spec[2])) for spec in value.thrift_spec if spec)
        return {name: encode(item) for name, item in fields if item is not None}
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return value


def decode(kind: type[AnyStruct], data: dict[str, JsonData]) -> AnyStruct:
    """Return the struct whose JSON form `encode` returned; ValueError: it has no such field."""
    specs = {spec[2]: spec for spec in kind.thrift_spec if spec}
    if unknown := sorted(data.keys() - specs.keys()):
        raise ValueError(f"{kind.__name__} has no field {', '.join(unknown)}")
    # Every field given, so that none takes a default: what was unset stays unset.
    made = kind(**dict.fromkeys(specs))
    for name, value in data.items():
        _, wire_type, _, details, _ = specs[name]
        setattr(made, name, _decoded(wire_type, details, value))
    return made


def _map_texts(data: JsonData, change: Callable[[str], str]) -> JsonData:
    """Return JSON data with every text in it changed, but for the keys of mappings."""
    if isinstance(data, str):
        return change(data)
    if isinstance(data, dict):
        return {key: _map_texts(item, change) for key, item in data.items()}
    if isinstance(data, list):
        return [_map_texts(item, change) for item in data]
    return data


_STRUCT, _MAP, _LIST = 12, 13, 15
"""Wire types of the Thrift binary protocol, as `thrift.Thrift.TType` numbers them."""


def _decoded(wire_type: int, details: Any, value: JsonData) -> Any:  # noqa: ANN401 - Thrift's own shape
    if wire_type == _STRUCT:
        return decode(details[0], value)
    if wire_type == _LIST:
        return [_decoded(details[0], details[1], data) for data in value]
    if wire_type == _MAP:
        return {key: _decoded(details[2], details[3], data) for key, data in value.items()}
    return value


def _locations(storage: dict[str, JsonData]) -> list[str]:
    """Return a table's folder; Spark's tables name it in a parameter (3.5.8, SPARK-15269)."""
    location = storage.get("location", "")
    message = storage.get("serdeInfo", {}).get("parameters", {}) if NOT_THERE in location else {}
    both = (location, message.get("path", ""))
    # `file:/p`, `file:///p` and `/p` are one path.
    return [re.sub(r"^file:(//)?(?=/)", "", path).rstrip("/") for path in both if path]


def _hider(path: str) -> Callable[[str], str]:
    if not path:
        return lambda text: text
    local = re.compile(rf"(file:(?://)?)?{re.escape(path)}(?=/|$)")

    def hide(text: str) -> str:
        result = local.match(text)
        return f"{result[1] or ''}{LOCATION}{text[result.end() :]}" if result else text

    return hide


def _show(text: str, location: str) -> str:
    result = re.match(r"(file:(?://)?)?\{location\}(?=/|$)", text)
    if not result:
        return text
    scheme = "" if "://" in location else result[1] or ""
    return f"{scheme}{location}{text[result.end() :]}"
