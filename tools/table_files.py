"""The rows of a table as its own files and logs say, with no code of the judge or of the formats.

What a faultless reader shows is worked out anew, simply, from each format's specification:
Iceberg's metadata and manifests, Delta's log, Hudi's timeline and log files, the folders of Hive's
transactional tables. A row that it cannot date (versions of which the later has the lower ordering
value) is `doubtful`, and so is what depends on a rule that is not here.
"""

from __future__ import annotations

import base64
import io
import json
import re
import struct
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pyorc
from pyarrow import orc
from pyroaring import BitMap64

NULL_FOLDER: Final = "__HIVE_DEFAULT_PARTITION__"
DELETED: Final = 2
"""How an operation of Hive's transactional files says that a row is deleted, and the status of an
entry of Iceberg's manifests that a file is."""
ACID_ROW: Final = "row"
"""Hive's transactional files have the columns of a table as parts of this one."""
TEXT: Final = "\x01"
"""Between the fields of Hive's text files."""
HIDDEN: Final = ("_", ".")
"""How the names of files begin that are no data of Hive's."""


class StoredRow(NamedTuple):
    file: str
    """Relative to the table's folder."""
    values: Mapping[str, Any]
    """By the names of the file; of a text file by the numbers of its fields."""
    current: Mapping[str, Any] | None
    """By the table's names of now, where the table's own records say which is which."""
    doubtful: str = ""
    step: int = -1
    """The step that wrote it, where that was recorded."""


class Written(str):
    """A value that a folder's name, a log or a text file holds as text."""

    __slots__ = ()


Paths = Mapping[Any, str]
"""The dotted path of each field by its id; elements of a list are called `element`."""


class StoredFile(NamedTuple):
    """A data file's content, with the paths of its columns by their ids, where it has these."""

    rows: list[dict[str, Any]]
    paths: dict[object, str]


def read_file(path: Path) -> list[dict[str, Any]] | None:
    """Return the rows of a Parquet, ORC or Avro file; None of any other."""
    stored = read_stored(path)
    return stored and stored.rows


def read_stored(path: Path) -> StoredFile | None:
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic == b"Obj\x01":
            reader = fastavro.reader(file)
            paths = dict(_avro_paths(reader.writer_schema, ""))
            return StoredFile([dict(row) for row in reader if isinstance(row, dict)], paths)
        if magic == b"PAR1":
            return _parquet(path)
        if magic.startswith(b"ORC"):
            paths = dict(_orc_paths(pyorc.Reader(file).schema, ""))
            file.seek(0)
            try:
                return StoredFile(orc.ORCFile(path).read().to_pylist(), paths)
            except pa.ArrowInvalid:  # a moment that has no nanoseconds in 64 bits
                names = list(getattr(pyorc.Reader(file).schema, "fields", ()))
                file.seek(0)
                rows = [dict(zip(names, row, strict=True)) for row in pyorc.Reader(file)]
                return StoredFile(rows, paths)
    return None


def _parquet(source: Path | io.BytesIO) -> StoredFile:
    table = pq.ParquetFile(source).read()
    paths = [pair for field in table.schema for pair in _parquet_paths(field, field.name)]
    return StoredFile(table.to_pylist(), dict(paths))


def _parquet_paths(field: pa.Field, path: str) -> Iterator[tuple[object, str]]:
    field_id = (field.metadata or {}).get(b"PARQUET:field_id")
    if field_id is not None:
        yield int(field_id), path
    if pa.types.is_struct(field.type):
        for part in field.type:
            yield from _parquet_paths(part, f"{path}.{part.name}")
    if pa.types.is_list(field.type):
        yield from _parquet_paths(field.type.value_field, f"{path}.element")


def _orc_paths(
    schema: Any,  # noqa: ANN401 - as pyorc has it
    path: str,
) -> Iterator[tuple[object, str]]:
    if "iceberg.id" in schema.attributes:
        yield int(schema.attributes["iceberg.id"]), path
    for name, part in getattr(schema, "fields", {}).items():
        yield from _orc_paths(part, f"{path}.{name}".lstrip("."))
    if isinstance(schema, pyorc.Array):
        yield from _orc_paths(schema.type, f"{path}.element")


def _avro_paths(
    schema: Any,  # noqa: ANN401 - Avro's JSON
    path: str,
) -> Iterator[tuple[object, str]]:
    if isinstance(schema, list):
        for branch in schema:
            yield from _avro_paths(branch, path)
    if isinstance(schema, dict):
        for field in schema.get("fields", ()):
            at = f"{path}.{field['name']}".lstrip(".")
            if "field-id" in field:
                yield field["field-id"], at
            yield from _avro_paths(field["type"], at)
        if "items" in schema:
            if "element-id" in schema:
                yield schema["element-id"], f"{path}.element"
            yield from _avro_paths(schema["items"], f"{path}.element")


def schema_paths(
    fields: Iterable[Mapping[str, Any]], prefix: str = ""
) -> Iterator[tuple[object, str]]:
    """Yield the ids and paths of a schema as Iceberg and Hudi write it down, and all within."""
    for field in fields:
        yield field["id"], f"{prefix}{field['name']}"
        yield from _type_paths(field["type"], f"{prefix}{field['name']}")


def _type_paths(
    type_: Any,  # noqa: ANN401 - JSON: a name, or an object
    path: str,
) -> Iterator[tuple[object, str]]:
    if isinstance(type_, dict):
        yield from schema_paths(type_.get("fields", ()), f"{path}.")
        if "element" in type_:
            yield type_.get("element-id", type_.get("element_id")), f"{path}.element"
            yield from _type_paths(type_["element"], f"{path}.element")


def by_ids(row: Mapping[str, Any], then: Paths, now: Paths) -> dict[str, Any]:
    """Return a row by the names of now: each value of the field that has its id.

    >>> by_ids({"s": {"a": 1, "b": 2}}, {1: "s", 2: "s.a", 3: "s.b"}, {1: "t", 3: "t.a", 4: "t.b"})
    {'t': {'a': 2, 'b': None}}
    """
    children = defaultdict[str, list[tuple[object, str]]](list)
    for id_, path in now.items():
        children[path.rpartition(".")[0]].append((id_, path))

    def part(value: object, path: str) -> object:
        if isinstance(value, dict) and children[path]:
            return fields(value, path)
        if isinstance(value, list):
            return [part(element, f"{path}.element") for element in value]
        return value

    def fields(value: Mapping[str, Any], path: str) -> dict[str, Any]:
        names = {id_: stored.rpartition(".")[2] for id_, stored in then.items()}
        return {
            at.rpartition(".")[2]: part(value.get(names.get(id_, "")), at)
            for id_, at in children[path]
        }

    return fields(row, "")


def folders(path: str) -> dict[str, tuple[object, ...]]:
    """Return what the names of a file's folders may be read as: each name as it is or decoded."""
    pairs = (part.partition("=") for part in path.split("/")[:-1] if "=" in part)
    return {
        unquote(name): (None, Written(text))
        if text == NULL_FOLDER
        else (Written(unquote(text)), Written(text))
        for name, _, text in pairs
    }


def rows_of(table: Path, key: str, *, base_only: bool = False) -> list[StoredRow]:
    """Return the rows of a frozen table, whose catalog entries stand beside it."""
    state = json.loads((table.parent / "state.json").read_text(encoding="utf-8"))
    entries = {entry["name"]: entry for entry in state["entries"]}
    if (table / ".hoodie").exists():
        return list(_Hudi(table, key, base_only=base_only).rows())
    if (table / "_delta_log").exists():
        return list(_delta(table))
    if (table / "metadata").exists():
        parameters = entries["t"]["table"]["parameters"]
        return list(_Iceberg(table, parameters["metadata_location"].rpartition("/")[2]).rows())
    if ids := entries["t"].get("write_ids") if "t" in entries else None:
        return list(_hive_acid(table, files(table), frozenset({*ids["aborted"], *ids["open"]})))
    return list(_hive(table))


def files(table: Path) -> list[str]:
    """Return the paths of a table's data files, those of its records left out."""
    paths = (path.relative_to(table) for path in sorted(table.rglob("*")) if path.is_file())
    return [str(path) for path in paths if not any(part[0] in HIDDEN for part in path.parts)]


# Hive


def _hive(table: Path) -> Iterator[StoredRow]:
    for path in files(table):
        stored = read_stored(table / path)
        named = {name: values[0] for name, values in folders(path).items()}
        if stored is None:
            for line in (table / path).read_bytes().decode(errors="replace").split("\n")[:-1]:
                fields = {str(n): Written(text) for n, text in enumerate(line.split(TEXT))}
                yield StoredRow(path, {**fields, **named}, None)
        for row in stored.rows if stored else ():
            yield StoredRow(path, {**named, **row}, None)


class _AcidFile(NamedTuple):
    """A file of one base or delta folder of a transactional table."""

    path: str
    partition: str
    """The folder of the table or partition."""
    kind: str
    low: int
    high: int

    def lies_in(self, other: _AcidFile) -> bool:
        same = (self.partition, self.kind) == (other.partition, other.kind)
        narrower = other.high - other.low > self.high - self.low
        return same and narrower and other.low <= self.low and self.high <= other.high


def _acid_files(paths: Sequence[str]) -> Iterator[_AcidFile]:
    """Yield the files that count: of the newest base, and of deltas that no other took in.

    Source: Hive, "Hive Transactions", "Table or Partition Storage".
    """
    named = re.compile(
        r"(?P<place>.*?)/?(?P<kind>base|delta|delete_delta)_(?P<of>\d+(_\d+)*)(_v\d+)?/.*"
    )
    there = list[_AcidFile]()
    for match in filter(None, map(named.fullmatch, paths)):
        numbers = [int(text) for text in match["of"].split("_")]
        high = numbers[0] if match["kind"] == "base" else numbers[1]
        there.append(_AcidFile(match.string, match["place"], match["kind"], numbers[0], high))
    bases = dict[str, int]()
    for one in there:
        if one.kind == "base":
            bases[one.partition] = max(one.low, bases.get(one.partition, 0))
    for one in there:
        base = bases.get(one.partition, 0)
        newer = one.low == base if one.kind == "base" else one.high > base
        if newer and not any(one.lies_in(other) for other in there):
            yield one


def _hive_acid(table: Path, paths: Sequence[str], invalid: frozenset[int]) -> Iterator[StoredRow]:
    """Yield rows that no delete delta takes away; `invalid`: write ids that do not count."""
    inserted, deleted = list[tuple[_AcidFile, dict[str, Any]]](), set[tuple[object, ...]]()

    def row_id(file: _AcidFile, row: Mapping[str, Any]) -> tuple[object, ...]:
        return file.partition, row["originalTransaction"], row["bucket"], row["rowId"]

    for file in _acid_files(paths):
        for row in read_file(table / file.path) or ():
            if row["currentTransaction"] in invalid:
                continue
            if row["operation"] == DELETED:
                deleted.add(row_id(file, row))
            else:
                inserted.append((file, row))
    for file, row in inserted:
        if row_id(file, row) not in deleted:
            values = {name: value[0] for name, value in folders(f"{file.partition}/").items()}
            yield StoredRow(file.path, {**values, **row[ACID_ROW]}, None)


# What Hive leaves of a value


def _parts(type_: str) -> list[tuple[str, str]]:
    """Return the names and types of what is in a struct, an array or a map.

    >>> _parts("struct<a:int,b:array<decimal(9,2)>>"), _parts("map<string,int>")
    ([('a', 'int'), ('b', 'array<decimal(9,2)>')], [('', 'string'), ('', 'int')])
    """
    outer, _, inner = type_.removesuffix(">").partition("<")
    parts, depth = [""], 0
    for letter in inner:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    named = (part.strip().partition(":") for part in parts)
    return [
        (name.strip(), type_.strip()) if outer == "struct" else ("", name.strip() + colon + type_)
        for name, colon, type_ in named
    ]


NUMBERS: Final = re.compile(r"(tiny|small|big)?int|long|float|double|decimal\(.*\)")


def left_of(value: object, now: str, then: str) -> object:
    """Return what is left of a value of the table's type where its partition's list has another.

    Raises ValueError where it is not known. Source: Hive 3.1.3, `ObjectInspectorConverters`.

    >>> left_of({"a": 1, "b": 2}, "struct<a:int,b:int>", "struct<a:int>")
    {'a': 1, 'b': None}
    >>> left_of("x", "string", "int") is None, left_of("x", "string", "string")
    (True, 'x')
    """
    if value is None or now == then:
        return value
    if isinstance(value, dict) and now.startswith("struct<") and then.startswith("struct<"):
        there = zip(_parts(now), _parts(then), strict=False)
        left = {name: left_of(value.get(name), to, of) for (name, to), (_, of) in there}
        return {name: left.get(name) for name, _ in _parts(now)}
    if isinstance(value, list | tuple) and now.startswith("array<") and then.startswith("array<"):
        (_, to), (_, of) = *_parts(now), *_parts(then)
        return [left_of(element, to, of) for element in value]
    if isinstance(value, str) and now == "string" and NUMBERS.fullmatch(then):
        try:
            Decimal(value)
        except InvalidOperation:
            return None
    raise ValueError(f"{then} is the partition's type, {now} the table's")


# Delta


def _delta_actions(log: Path) -> Iterator[Mapping[str, Any]]:
    """Yield what the log says since its newest checkpoint, and that."""
    checkpoints = sorted(log.glob("*.checkpoint*.parquet"))
    for path in checkpoints[-1:]:
        yield from pq.read_table(path).to_pylist()
    first = int(checkpoints[-1].name.partition(".")[0]) + 1 if checkpoints else 0
    for path in sorted(log.glob("*.json")):
        if path.name[0].isdigit() and int(path.stem) >= first:
            yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _delta(table: Path) -> Iterator[StoredRow]:
    """Yield the rows by the log. Source: Delta protocol, "Action Reconciliation"."""
    live, now = dict[tuple[str, str], Mapping[str, Any]](), dict[str, Any]()
    for action in _delta_actions(table / "_delta_log"):
        now = action.get("metaData") or now
        for kind in ("remove", "add"):
            if file := action.get(kind):
                vector = file.get("deletionVector") or {}
                at = file["path"], f"{vector.get('pathOrInlineDv', '')}@{vector.get('offset', '')}"
                live.pop(at, None)
                if kind == "add":
                    live[at] = file
    mode = dict(now["configuration"] or {}).get("delta.columnMapping.mode", "none")
    fields = json.loads(now["schemaString"])["fields"]
    names = dict(_delta_paths(fields, mapped=mode != "none"))
    for file in live.values():
        gone, path = _vector(table, file.get("deletionVector") or {}), unquote(file["path"])
        given = dict(file["partitionValues"] or {}).items()
        values = {name: text and Written(text) for name, text in given}
        for number, row in enumerate(read_file(table / path) or ()):
            if number not in gone:
                whole = {**row, **values}
                yield StoredRow(path, whole, by_ids(whole, {id_: id_ for id_ in names}, names))


def _delta_paths(
    fields: Iterable[Mapping[str, Any]], at: str = "", path: str = "", *, mapped: bool
) -> Iterator[tuple[str, str]]:
    """Yield the path of each field by that of the names that files have for it."""
    for field in fields:
        stored = field["metadata"].get("delta.columnMapping.physicalName") if mapped else None
        here = f"{at}{stored or field['name']}", f"{path}{field['name']}"
        yield here
        type_, inner = field["type"], here
        if isinstance(type_, dict) and type_["type"] == "array":
            inner = f"{here[0]}.element", f"{here[1]}.element"
            yield inner
            type_ = type_["elementType"]
        if isinstance(type_, dict):
            parts = type_.get("fields", ())
            yield from _delta_paths(parts, f"{inner[0]}.", f"{inner[1]}.", mapped=mapped)


def _vector(table: Path, vector: Mapping[str, Any]) -> frozenset[int]:
    """Return the rows that are gone. Source: Delta protocol, "Deletion Vectors"."""
    if not vector:
        return frozenset()
    text = vector["pathOrInlineDv"]
    if vector["storageType"] == "i":
        stored = base64.b85decode(text)  # Z85 differs in its alphabet; none was seen
    else:
        prefix, digits = text[:-20], text[-20:]
        name = f"deletion_vector_{uuid.UUID(bytes=_z85(digits))}.bin"
        data = (table / prefix / name).read_bytes()
        at = vector.get("offset") or 0
        stored = data[at + 4 : at + 4 + vector["sizeInBytes"]]
    return frozenset(BitMap64.deserialize(stored[4:]))


def _z85(text: str) -> bytes:
    alphabet = (
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    )
    result = b""
    for at in range(0, len(text), 5):
        number = 0
        for letter in text[at : at + 5]:
            number = number * 85 + alphabet.index(letter)
        result += number.to_bytes(4, "big")
    return result


# Iceberg


class _Iceberg:
    """A table of Iceberg by its metadata. Source: Iceberg specification, "Scan Planning"."""

    def __init__(self, table: Path, metadata: str) -> None:
        self.table = table
        text = (table / "metadata" / metadata).read_text(encoding="utf-8")
        self.metadata: dict[str, Any] = json.loads(text)
        now = self.metadata.get("current-schema-id", 0)
        schemas = self.metadata.get("schemas") or [self.metadata["schema"]]
        self.fields = next(s["fields"] for s in schemas if s.get("schema-id", 0) == now)
        self.paths = dict(schema_paths(self.fields))
        mapping = self.metadata.get("properties", {}).get("schema.name-mapping.default", "[]")
        self.mapping = {
            name: part.get("field-id") for part in json.loads(mapping) for name in part["names"]
        }

    def local(self, path: str) -> Path:
        location = self.metadata["location"].removeprefix("file:")
        return self.table / path.removeprefix("file:").removeprefix(location).lstrip("/")

    def entries(self) -> Iterator[dict[str, Any]]:
        now = self.metadata.get("current-snapshot-id")
        snapshot = next((s for s in self.metadata["snapshots"] if s["snapshot-id"] == now), None)
        if snapshot is None:
            return
        for manifest in read_file(self.local(snapshot["manifest-list"])) or ():
            for entry in read_file(self.local(manifest["manifest_path"])) or ():
                if entry["status"] != DELETED:
                    number = entry.get("sequence_number")
                    inherited = manifest.get("sequence_number", 0)
                    partition = manifest["partition_spec_id"], str(entry["data_file"]["partition"])
                    yield {
                        **entry["data_file"],
                        "sequence": inherited if number is None else number,
                        "place": partition,
                    }

    def rows(self) -> Iterator[StoredRow]:
        every = list(self.entries())
        deletes = [entry for entry in every if entry.get("content", 0)]
        for entry in every:
            if entry.get("content", 0):
                continue
            path = self.local(entry["file_path"])
            gone, equal = self._deletes(entry, deletes)
            result = read_stored(path) or StoredFile([], {})
            then = result.paths
            if not then and result.rows:
                then = {self.mapping[n]: n for n in result.rows[0] if n in self.mapping}
            parts = {name: value for name, value in self._partition(entry) if name not in then}
            for number, row in enumerate(result.rows):
                by_id = {id_: row[name] for id_, name in then.items() if name in row}
                if number in gone or any(
                    all(by_id.get(i) == v for i, v in one.items()) for one in equal
                ):
                    continue
                current = by_ids(row, then, self.paths)
                for field in self.fields:
                    if field["id"] not in then:
                        default = field.get("initial-default")
                        current[field["name"]] = parts.get(field["id"], default)
                yield StoredRow(str(path.relative_to(self.table)), row, current)

    def _partition(self, entry: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
        specs = {spec["spec-id"]: spec["fields"] for spec in self.metadata["partition-specs"]}
        for field in specs[entry["place"][0]]:
            if field["transform"] == "identity":
                yield field["source-id"], entry["partition"].get(field["name"])

    def _deletes(
        self, data: Mapping[str, Any], deletes: Sequence[Mapping[str, Any]]
    ) -> tuple[set[int], list[dict[object, Any]]]:
        """Return the positions and the values that are deleted ("Scan Planning")."""
        gone, equal = set[int](), list[dict[object, Any]]()
        for delete in deletes:
            path, here = self.local(delete["file_path"]), delete["place"] == data["place"]
            if delete["content"] == 1 and delete["sequence"] >= data["sequence"]:
                if delete["file_format"].lower() == "puffin":
                    if delete["referenced_data_file"] == data["file_path"]:
                        at = delete["content_offset"]
                        blob = path.read_bytes()[at : at + delete["content_size_in_bytes"]]
                        gone |= set(BitMap64.deserialize(blob[8:-4]))
                elif here:
                    gone |= {
                        r["pos"]
                        for r in read_file(path) or ()
                        if r["file_path"] == data["file_path"]
                    }
            if delete["content"] == 2 and delete["sequence"] > data["sequence"]:  # noqa: PLR2004 - equality
                everywhere = not delete["partition"]
                result = read_stored(path) or StoredFile([], {})
                if here or everywhere:
                    names = {i: n for i, n in result.paths.items() if i in delete["equality_ids"]}
                    equal += [{i: row[n] for i, n in names.items()} for row in result.rows]
        return gone, equal


# Hudi


class _Version(NamedTuple):
    """A row, or that it was deleted, as a file group's files say one after another."""

    file: str
    instant: str
    row: dict[str, Any] | None
    partial: bool = False


class _Hudi:
    """A table of Hudi by its timeline. Source: Hudi technical specification, 0.15 and 1.0."""

    def __init__(self, table: Path, key: str, *, base_only: bool) -> None:
        self.table, self.key, self.base_only = table, key, base_only
        home = table / ".hoodie"
        text = (home / "hoodie.properties").read_text(encoding="utf-8")
        self.settings = dict(
            line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] != "#"
        )
        self.timeline = home / "timeline" if (home / "timeline").exists() else home
        named = re.compile(r"(\d+)(_\d+)?\.(commit|deltacommit|replacecommit)")
        done = [(m, path) for path in self.timeline.iterdir() if (m := named.fullmatch(path.name))]
        self.completed = {m[1]: (m[2] or m[1]).strip("_") for m, _ in done}
        begun = {
            re.sub(r"\D.*", "", path.name)
            for path in self.timeline.iterdir()
            if path.name[0].isdigit()
        }
        self.first = min(begun, default="")
        self.replaced = {
            at for m, path in done if m[3] == "replacecommit" for at in self._replaced(path)
        }
        ordering = self.settings.get("hoodie.table.precombine.field") or self.settings.get(
            "hoodie.table.ordering.fields"
        )
        self.ordering = (ordering or "").split(",")[0]

    def _replaced(self, path: Path) -> Iterator[tuple[str, str]]:
        data = path.read_bytes()
        if not data:
            return
        avro = data.startswith(b"Obj\x01")
        record: Any = next(iter(fastavro.reader(io.BytesIO(data)))) if avro else json.loads(data)
        for partition, ids in (record.get("partitionToReplaceFileIds") or {}).items():
            yield from ((partition, id_) for id_ in ids)

    def counts(self, instant: str) -> bool:
        """Return whether a commit is completed: on the timeline, or archived from it."""
        return instant in self.completed or instant < self.first

    def rows(self) -> Iterator[StoredRow]:
        bases, logs = (
            defaultdict[tuple[str, str], list[tuple[str, str]]](list),
            defaultdict[tuple[str, str], list[tuple[str, int, str]]](list),
        )
        base = re.compile(r"([^_]+)_[^_]+_(\d+)\.(parquet|orc|hfile)")
        log = re.compile(r"\.(.+)_(\d+)\.log\.(\d+)(_.*)?")
        for path in sorted(self.table.rglob("*")):
            relative = path.relative_to(self.table)
            if relative.parts[0] == ".hoodie" or path.name.endswith(".crc"):
                continue
            partition = str(relative.parent) if len(relative.parts) > 1 else ""
            if match := base.fullmatch(path.name):
                bases[partition, match[1]].append((match[2], str(relative)))
            elif match := log.fullmatch(path.name):
                logs[partition, match[1]].append((match[2], int(match[3]), str(relative)))
        for group in sorted({*bases, *logs} - self.replaced):
            versions = list(self._versions(bases[group], logs[group]))
            yield from self._merged(versions, group[0])

    def _versions(
        self, bases: Sequence[tuple[str, str]], logs: Sequence[tuple[str, int, str]]
    ) -> Iterator[_Version]:
        valid = [one for one in bases if self.counts(one[0])]
        start, path = max(valid, default=("", ""))
        for row in (read_file(self.table / path) or ()) if path else ():
            yield _Version(path, start, row)
        if self.base_only:
            return
        blocks = list[tuple[tuple[str, int], _Version]]()
        for instant, number, name in logs:
            if instant >= start:
                blocks += [
                    ((v.instant if self.timeline.name == "timeline" else instant, number), v)
                    for v in self._log(name)
                ]
        if self.timeline.name == "timeline":
            blocks = [(at, v) for at, v in blocks if v.instant > start or not path]
            blocks.sort(
                key=lambda one: (self.completed.get(one[1].instant, one[1].instant), one[0][1])
            )
        else:
            blocks.sort(key=lambda one: one[0])
        yield from (version for _, version in blocks)

    def _log(self, name: str) -> Iterator[_Version]:
        """Yield what the blocks of a log file say ("Log file format"), of completed commits."""
        data = io.BytesIO((self.table / name).read_bytes())

        def number(form: str = ">i") -> int:
            return int(struct.unpack(form, data.read(struct.calcsize(form)))[0])

        def texts() -> dict[int, str]:
            return {number(): data.read(number()).decode() for _ in range(number())}

        while data.read(6) == b"#HUDI#":
            number(">q")
            number()
            kind, header = number(), texts()
            content = io.BytesIO(data.read(number(">q")))
            texts()
            number(">q")
            instant = header.get(0, "")
            if self.counts(instant):
                yield from self._block(name, kind, header, content)

    def _block(
        self, name: str, kind: int, header: Mapping[int, str], content: io.BytesIO
    ) -> Iterator[_Version]:
        instant, partial = header.get(0, ""), header.get(7) == "true"
        if kind == 5:  # noqa: PLR2004 - a whole Parquet file
            for row in _parquet(content).rows:
                yield _Version(name, instant, row, partial)
        elif kind == 1:  # deleted keys
            content.read(8)
            for key in _deleted(content.read()):
                yield _Version(name, instant, {self.key: key, "_hoodie_is_deleted": True})
        elif kind == 3:  # noqa: PLR2004 - records as Avro
            schema = fastavro.parse_schema(json.loads(header[2]))
            content.read(4)
            for _ in range(struct.unpack(">i", content.read(4))[0]):
                data = io.BytesIO(content.read(struct.unpack(">i", content.read(4))[0]))
                record: Any = fastavro.schemaless_reader(data, schema, None)
                yield _Version(name, instant, record, partial)

    def _merged(self, versions: Sequence[_Version], partition: str) -> Iterator[StoredRow]:
        result = dict[str, tuple[_Version, str]]()
        twice = list[tuple[_Version, str]]()
        for stated in versions:
            version, row = stated, stated.row or {}
            name, doubt = str(row.get("_hoodie_record_key") or row.get(self.key)), ""
            name = name.rpartition(":")[2] if name.startswith(f"{self.key}:") else name
            before = result.get(name)
            if before is not None:
                old, doubt = before
                if (
                    old.instant == version.instant
                    and old.file == version.file
                    and not row.get("_hoodie_is_deleted")
                ):
                    twice.append(before)
                later, earlier = row.get(self.ordering), (old.row or {}).get(self.ordering)
                if later is not None and earlier is not None and later < earlier:
                    doubt = f"{version.file} has a lower {self.ordering} than {old.file}"
                if version.partial:
                    version = version._replace(row={**(old.row or {}), **row})
            elif version.partial:
                doubt = f"{version.file} has no whole row"
            result[name] = version, doubt
        values = {name: value[0] for name, value in folders(f"{partition}/").items()}
        for version, doubt in (*result.values(), *twice):
            last = version.row or {}
            current = self._current(last, version.instant)
            shown = current and {**values, **current}
            if not last.get("_hoodie_is_deleted"):
                yield StoredRow(version.file, {**values, **last}, shown, doubt)
            elif doubt:
                yield StoredRow(version.file, {self.key: last.get(self.key)}, None, doubt)

    def _current(self, row: Mapping[str, Any], instant: str) -> dict[str, Any] | None:
        """Return a row by the names of now, where the table keeps the history of its schema."""
        records = sorted((self.table / ".hoodie" / ".schema").glob("[0-9]*.schemacommit"))
        if not records:
            return None
        versions = json.loads(records[-1].read_text(encoding="utf-8"))["schemas"]
        history = {str(one["version_id"]): dict(schema_paths(one["fields"])) for one in versions}
        return by_history(row, history, instant)


def by_history(
    row: Mapping[str, Any], history: Mapping[str, Paths], instant: str
) -> dict[str, Any] | None:
    """Return a row by the names of now; None where its file was written with another schema.

    Source: Hudi, `InternalSchemaCache`: the newest version that is not newer than the commit.
    """
    versions = [version for version in history if int(version) <= int(instant)]
    then = history[max(versions, key=int)] if versions else {}
    columns = {path for path in then.values() if "." not in path and path[:8] != "_hoodie_"}
    if not columns or not columns <= row.keys():
        return None
    return by_ids(row, then, history[max(history, key=int)])


def _deleted(data: bytes) -> Iterator[str]:
    """Yield the keys of a delete block: an array of records of key, partition, ordering value.

    The ordering value is a union of wrappers; only what stands before it is read, record by
    record, where every record begins with the branch 1 of its key.
    """
    strings: list[Any] = ["null", "string"]
    scalars = (
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "bytes",
        "string",
        "int",
        "bytes",
        "long",
        "long",
    )
    wrappers = [
        {"type": "record", "name": f"w{n}", "fields": [{"name": "value", "type": type_}]}
        for n, type_ in enumerate(scalars)
    ]
    parts = (("key", strings), ("place", strings), ("order", ["null", *wrappers]))
    delete = {"type": "record", "name": "d", "fields": [{"name": n, "type": t} for n, t in parts]}
    deletes = {"type": "array", "items": delete}
    schema = fastavro.parse_schema(
        {"type": "record", "name": "ds", "fields": [{"name": "all", "type": deletes}]}
    )
    record: Any = fastavro.schemaless_reader(io.BytesIO(data), schema, None)
    yield from (str(one["key"]) for one in record["all"])
