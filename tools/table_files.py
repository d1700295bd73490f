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
from collections.abc import Iterator, Mapping, Sequence
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
    """A row that a table holds by its own records."""

    file: str
    """Relative to the table's folder."""
    values: Mapping[str, Any]
    """By the names of the file; of a text file by the numbers of its fields."""
    current: Mapping[str, Any] | None
    """By the table's names of now, where the table's own records say which is which."""
    doubtful: str = ""


class Written(str):
    """A value that a folder's name, a log or a text file holds as text."""

    __slots__ = ()


class StoredFile(NamedTuple):
    """A data file's content, with the ids of its columns where it has them."""

    rows: list[dict[str, Any]]
    ids: dict[str, int]


def read_file(path: Path) -> list[dict[str, Any]] | None:
    """Return the rows of a Parquet, ORC or Avro file; None of any other."""
    found = _file(path)
    return found and found.rows


def _file(path: Path) -> StoredFile | None:
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic == b"Obj\x01":
            reader = fastavro.reader(file)
            schema: Any = reader.writer_schema
            fields: list[Any] = schema["fields"]
            ids = {field["name"]: field["field-id"] for field in fields if "field-id" in field}
            return StoredFile([dict(row) for row in reader if isinstance(row, dict)], ids)
        if magic == b"PAR1":
            return _parquet(path)
        if magic.startswith(b"ORC"):
            try:
                rows = orc.ORCFile(path).read().to_pylist()
            except pa.ArrowInvalid:  # a moment that has no nanoseconds in 64 bits
                names = list(getattr(pyorc.Reader(file).schema, "fields", ()))
                file.seek(0)
                rows = [dict(zip(names, row, strict=True)) for row in pyorc.Reader(file)]
            file.seek(0)
            columns: Any = pyorc.Reader(file).schema
            told = {name: part.attributes for name, part in columns.fields.items()}
            ids = {n: int(a["iceberg.id"]) for n, a in told.items() if "iceberg.id" in a}
            return StoredFile(rows, ids)
    return None


def _parquet(source: Path | io.BytesIO) -> StoredFile:
    table = pq.ParquetFile(source).read()
    told = {field.name: field.metadata or {} for field in table.schema}
    ids = {n: int(t[b"PARQUET:field_id"]) for n, t in told.items() if b"PARQUET:field_id" in t}
    return StoredFile(table.to_pylist(), ids)


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
        found = _file(table / path)
        named = {name: values[0] for name, values in folders(path).items()}
        if found is None:
            for line in (table / path).read_bytes().decode(errors="replace").split("\n")[:-1]:
                fields = {str(n): Written(text) for n, text in enumerate(line.split(TEXT))}
                yield StoredRow(path, {**fields, **named}, None)
        for row in found.rows if found else ():
            yield StoredRow(path, {**named, **row}, None)


class _AcidFile(NamedTuple):
    """A file of one base or delta folder of a transactional table."""

    path: str
    place: str
    """The folder of the table or partition."""
    kind: str
    low: int
    high: int

    def lies_in(self, other: _AcidFile) -> bool:
        same = (self.place, self.kind) == (other.place, other.kind)
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
            bases[one.place] = max(one.low, bases.get(one.place, 0))
    for one in there:
        base = bases.get(one.place, 0)
        newer = one.low == base if one.kind == "base" else one.high > base
        if newer and not any(one.lies_in(other) for other in there):
            yield one


def _hive_acid(table: Path, paths: Sequence[str], invalid: frozenset[int]) -> Iterator[StoredRow]:
    """Yield rows that no delete delta takes away; `invalid`: write ids that do not count."""
    inserted, deleted = list[tuple[_AcidFile, dict[str, Any]]](), set[tuple[object, ...]]()

    def row_id(file: _AcidFile, row: Mapping[str, Any]) -> tuple[object, ...]:
        return file.place, row["originalTransaction"], row["bucket"], row["rowId"]

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
            values = {name: value[0] for name, value in folders(f"{file.place}/").items()}
            yield StoredRow(file.path, {**values, **row[ACID_ROW]}, None)


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
    names = dict[str, str]()
    for field in json.loads(now["schemaString"])["fields"]:
        stored = field["metadata"].get("delta.columnMapping.physicalName", field["name"])
        names[field["name"] if mode == "none" else stored] = field["name"]
    for file in live.values():
        gone, path = _vector(table, file.get("deletionVector") or {}), unquote(file["path"])
        given = dict(file["partitionValues"] or {}).items()
        values = {name: text and Written(text) for name, text in given}
        for number, row in enumerate(read_file(table / path) or ()):
            if number not in gone:
                whole = {**row, **values}
                current = {name: whole.get(stored) for stored, name in names.items()}
                yield StoredRow(path, whole, current)


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
                    place = manifest["partition_spec_id"], str(entry["data_file"]["partition"])
                    yield {
                        **entry["data_file"],
                        "sequence": inherited if number is None else number,
                        "place": place,
                    }

    def rows(self) -> Iterator[StoredRow]:
        every = list(self.entries())
        deletes = [entry for entry in every if entry.get("content", 0)]
        for entry in every:
            if entry.get("content", 0):
                continue
            path = self.local(entry["file_path"])
            gone, equal = self._deletes(entry, deletes)
            found = _file(path) or StoredFile([], {})
            ids = found.ids or {
                name: self.mapping[name]
                for name in found.ids or (found.rows or [{}])[0]
                if name in self.mapping
            }
            for number, row in enumerate(found.rows):
                by_id = {ids[name]: value for name, value in row.items() if name in ids}
                if number in gone or any(
                    all(by_id.get(i) == v for i, v in one.items()) for one in equal
                ):
                    continue
                parts = self._partition(entry)
                current = {
                    field["name"]: by_id.get(
                        field["id"], parts.get(field["id"], field.get("initial-default"))
                    )
                    for field in self.fields
                }
                yield StoredRow(str(path.relative_to(self.table)), row, current)

    def _partition(self, entry: Mapping[str, Any]) -> dict[int, Any]:
        specs = {spec["spec-id"]: spec["fields"] for spec in self.metadata["partition-specs"]}
        identity = [f for f in specs[entry["place"][0]] if f["transform"] == "identity"]
        return {field["source-id"]: entry["partition"].get(field["name"]) for field in identity}

    def _deletes(
        self, data: Mapping[str, Any], deletes: Sequence[Mapping[str, Any]]
    ) -> tuple[set[int], list[dict[int, Any]]]:
        """Return the positions and the values that are deleted ("Scan Planning")."""
        gone, equal = set[int](), list[dict[int, Any]]()
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
                found = _file(path) or StoredFile([], {})
                if here or everywhere:
                    equal += [
                        {
                            found.ids[n]: v
                            for n, v in row.items()
                            if found.ids.get(n) in delete["equality_ids"]
                        }
                        for row in found.rows
                    ]
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
        for place, ids in (record.get("partitionToReplaceFileIds") or {}).items():
            yield from ((place, id_) for id_ in ids)

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
            place = str(relative.parent) if len(relative.parts) > 1 else ""
            if match := base.fullmatch(path.name):
                bases[place, match[1]].append((match[2], str(relative)))
            elif match := log.fullmatch(path.name):
                logs[place, match[1]].append((match[2], int(match[3]), str(relative)))
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

    def _merged(self, versions: Sequence[_Version], place: str) -> Iterator[StoredRow]:
        found = dict[str, tuple[_Version, str]]()
        twice = list[tuple[_Version, str]]()
        for stated in versions:
            version, row = stated, stated.row or {}
            name, doubt = str(row.get("_hoodie_record_key") or row.get(self.key)), ""
            name = name.rpartition(":")[2] if name.startswith(f"{self.key}:") else name
            before = found.get(name)
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
            found[name] = version, doubt
        values = {name: value[0] for name, value in folders(f"{place}/").items()}
        for version, doubt in (*found.values(), *twice):
            last = version.row or {}
            current = self._current(last, version.instant)
            shown = current and {**values, **current}
            if not last.get("_hoodie_is_deleted"):
                yield StoredRow(version.file, {**values, **last}, shown, doubt)
            elif doubt:
                yield StoredRow(version.file, {self.key: last.get(self.key)}, None, doubt)

    def _current(self, row: Mapping[str, Any], instant: str) -> dict[str, Any] | None:
        """Return a row by the names of now, where the table keeps the history of its schema."""
        kept = sorted((self.table / ".hoodie" / ".schema").glob("[0-9]*.schemacommit"))
        if not kept:
            return None
        schemas = {
            str(one["version_id"]): one["fields"]
            for one in json.loads(kept[-1].read_text())["schemas"]
        }
        now = schemas[max(schemas, key=int)]
        then = [version for version in schemas if int(version) <= int(instant)]
        old = schemas[max(then, key=int)] if then else None
        if old is None:
            return None
        names = {field["id"]: field["name"] for field in old}
        if not set(names.values()) <= row.keys():
            return None  # the file was not written with that schema
        return {field["name"]: row.get(names.get(field["id"], "")) for field in now}


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
    of = {"type": "array", "items": delete}
    schema = fastavro.parse_schema(
        {"type": "record", "name": "ds", "fields": [{"name": "all", "type": of}]}
    )
    record: Any = fastavro.schemaless_reader(io.BytesIO(data), schema, None)
    yield from (str(one["key"]) for one in record["all"])
