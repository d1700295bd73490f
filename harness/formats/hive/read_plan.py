"""How the rows of a plain folder of Parquet, ORC or Avro files come out of them.

Nothing says which columns such a table has but the files, or the entry of a catalog. Columns go by
their names, whatever their case (Apache Hive, "LanguageManual DDL"), those of text files by their
places. What a reader makes of files of which the columns were renamed or got other types is not
said anywhere; so the plan says which.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from harness.core.arrow import kinds, pa
from harness.engines.arrow_values import array_of, arrow_type, canonical_type
from harness.engines.hive import values as hive_values
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file, hive_text, table_folder, typed_text
from harness.formats.files.column_parts import ARRAY, MAP, STRUCT, ColumnPart, in_path, walk
from harness.formats.files.hive_text import TextForm, TextRows
from harness.formats.files.table_folder import TableFolder
from harness.formats.read_plan import FileColumns, Id, PlannedFile, ReadPlan
from harness.model import partition_paths
from harness.model.canonical import Value
from harness.model.datatypes import ELEMENT, KEY, VALUE, parse_type
from harness.runtime.metastore_objects import CatalogEntry


@dataclass(frozen=True, slots=True)
class DeclaredPartition:
    location: str
    values: partition_paths.Texts
    columns: tuple[tuple[str, str], ...]
    """A partition has a list of its own, which schema changes of the table may leave as it is."""


@dataclass(frozen=True, slots=True)
class DeclaredColumns:
    """Names and Hive types as a catalog has them."""

    columns: tuple[tuple[str, str], ...]
    partition_by: tuple[tuple[str, str], ...] = ()
    partitions: tuple[DeclaredPartition, ...] | None = None
    """None where folders say which there are."""
    text: TextForm | None = None
    """Of text files, which say nothing themselves."""
    by_name: bool = False
    """Whether Hive finds the columns of a file by their names, wherever they stand: those of
    Parquet (`DataWritableReadSupport`, unless `parquet.column.index.access` is set) and of Avro
    (Avro specification, "Schema Resolution"). With ORC it is a setting of each reader
    (`orc.force.positional.evolution`)."""

    @classmethod
    def of(cls, entry: CatalogEntry) -> DeclaredColumns:
        """Return what an entry of a metastore says; it has the table's location in it."""
        table, storage = entry.table, entry.table["sd"]
        keys = _columns(table.get("partitionKeys", ()))
        serde = storage.get("serdeInfo", {})
        properties = {**table.get("parameters", {}), **serde.get("parameters", {})}
        read_by, text = storage.get("inputFormat", ""), None
        if read_by.endswith("TextInputFormat"):
            text = TextForm.of(serde.get("serializationLib", ""), properties)
        by_place = properties.get("parquet.column.index.access", "").lower() == "true"
        by_name = "Avro" in read_by or ("Parquet" in read_by and not by_place)
        partitions = tuple(
            DeclaredPartition(
                part["sd"]["location"],
                partition_paths.with_nulls(part["values"]),
                _columns(part["sd"].get("cols", ())) or _columns(storage["cols"]),
            )
            for part in entry.partitions
        )
        return cls(_columns(storage["cols"]), keys, partitions if keys else None, text, by_name)


def _columns(columns: Iterable[Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((column["name"], column["type"]) for column in columns)


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file, and the partition that it is part of."""

    path: str
    """In the table's folder, or wherever else its partition lies."""
    location: str
    modified: float
    partition: DeclaredPartition | None = None


def plan(folder: TableFolder, catalog: DeclaredColumns | None = None) -> ReadPlan:
    """Plan all files of a folder, those of its partitions too.

    Raises FileFactError or UnreadableError.
    """
    return planned(PlainFolder(tuple(folder_files(folder, catalog)), catalog))


def planned(table: PlainFolder) -> ReadPlan:
    files = tuple(map(table.file, table.files))
    columns = (*table.columns, *table.partition_columns)
    return ReadPlan(columns, files, table.arrow_type, "", undecided=tuple(table.undecided()))


def folder_files(
    folder: TableFolder, catalog: DeclaredColumns | None, hidden: Collection[str] = ()
) -> Iterator[FolderFile]:
    """Yield the files of all partitions; those that lie elsewhere are known by their whole paths.

    `hidden`: the names of files that count although they begin as those do that do not.
    """
    partitions = catalog.partitions if catalog else None
    for partition in (None,) if partitions is None else partitions:
        there = table_folder.at(partition.location) if partition else folder
        for file in (file for files in there.walk() for file in files):
            if file.name in hidden or (file.size and file.name[0] not in "._"):
                location = there.location(file.path)
                path = location.removeprefix(f"{folder.location('').rstrip('/')}/")
                yield FolderFile(path, location, file.modified, partition)


@dataclass(frozen=True)  # no slots: what is derived is kept
class PlainFolder:
    files: tuple[FolderFile, ...]
    catalog: DeclaredColumns | None

    @cached_property
    def _schemas(self) -> Mapping[str, pa.Schema]:
        """What each file has, by its path; nothing of text files, which do not say it."""
        if self.catalog and self.catalog.text:
            return {}
        return {file.path: self.schema(file) for file in self.files}

    def schema(self, file: FolderFile) -> pa.Schema:
        return arrow_file.schema(file.location)

    @cached_property
    def _texts(self) -> Mapping[str, TextRows]:
        """The rows of each text file, by its path."""
        if self.catalog is None or self.catalog.text is None:
            return {}
        form, texts = self.catalog.text, dict[str, TextRows]()
        for file in self.files:
            head, _, name = file.location.rpartition("/")
            with table_folder.at(head).opened(name) as opened:
                texts[file.path] = hive_text.rows(opened.read(), name, self._of(file), form)
        return texts

    def _of(self, file: FolderFile) -> tuple[tuple[str, str], ...]:
        """Return the columns that the catalog has for a file."""
        return file.partition.columns if file.partition else self.catalog.columns  # type: ignore[union-attr] # only text is asked

    @cached_property
    def _other_types(self) -> Mapping[str, pa.DataType]:
        """Arrow's types that have no name of ours, by their own."""
        types: dict[str, pa.DataType] = {}
        for schema in self._schemas.values():
            for field in schema:
                _enter(field.type, types)
        return types

    def arrow_type(self, type_: str) -> pa.DataType:
        """See `ArrowType`."""
        if type_ in self._other_types:
            return self._other_types[type_]
        return arrow_type(parse_type(type_))

    @cached_property
    def columns(self) -> tuple[ColumnPart, ...]:
        """Those that are not of partitions."""
        partition = {in_path(name).lower() for name in self._levels}
        if self.catalog is not None:
            csv = self.catalog.text is not None and self.catalog.text.csv is not None
            declared = ((name, _TEXT if csv else type_) for name, type_ in self.catalog.columns)
            parts = [_catalog_part(*column) for column in declared]
        elif not self.files:
            raise FileFactError("the folder has no file, and no catalog says which columns it has")
        else:
            newest = max(self.files, key=lambda file: (file.modified, file.path))
            parts = [_part_of(field) for field in self._schemas[newest.path]]
        return tuple(part for part in parts if part.id not in partition)

    @cached_property
    def partition_columns(self) -> tuple[ColumnPart, ...]:
        if self.catalog is not None:
            return tuple(_catalog_part(*column) for column in self.catalog.partition_by)
        return tuple(ColumnPart(in_path(name).lower(), name, _TEXT) for name in self._levels)

    @cached_property
    def _levels(self) -> tuple[str, ...]:
        """The names of the columns that folders are called by."""
        if self.catalog is not None:
            return tuple(name for name, _ in self.catalog.partition_by)
        levels = {_names(file.path): file.path for file in self.files}
        if len({tuple(map(str.lower, names)) for names in levels}) > 1:
            paths = " and ".join(sorted(levels.values())[:2])
            raise FileFactError(f"{paths}: their folders are not of the same columns")
        return next(iter(levels), ())

    def file(self, file: FolderFile) -> PlannedFile:
        constants = self._constants(file)
        unread = [part.id for part in self.partition_columns]
        if text := self._texts.get(file.path):
            by_place = zip(self.columns, self._of(file), strict=False)
            names = {in_path(name): part.id for part, (name, _) in by_place}
            stored = partial(self._table, text, self._of(file))
            columns = FileColumns(names, unread=unread)
            return PlannedFile(file.path, file.location, columns, constants, stored=stored)
        columns = FileColumns(self._ids(file), unread=unread)
        return PlannedFile(file.path, file.location, columns, constants)

    def _ids(self, file: FolderFile) -> Mapping[str, Id]:
        """Return the columns by their names in a file, or by their places where it has no names."""
        schema = self._schemas[file.path]
        paths = [path for path, _ in walk(map(_part_of, schema))]
        if self.catalog is None or not all(map(_NAMELESS.fullmatch, schema.names)):
            return {path: path.lower() for path in paths}
        places = dict(zip(schema.names, (name for name, _ in self._of(file)), strict=False))
        heads = ((path, path.split(".")) for path in paths)
        return {
            path: ".".join((places[head], *rest)).lower()
            for path, (head, *rest) in heads
            if head in places
        }

    def _table(self, text: TextRows, columns: Sequence[tuple[str, str]]) -> pa.Table:
        csv = self.catalog is not None and self.catalog.text is not None and self.catalog.text.csv
        kinds = (hive_values.canonical_type(_TEXT if csv else type_) for _, type_ in columns)
        types = [arrow_type(kind) for kind in kinds if kind is not None]
        values = zip(*text.rows, strict=True) if text.rows else [()] * len(columns)
        arrays = [array_of(column, type_) for column, type_ in zip(values, types, strict=True)]
        return pa.Table.from_arrays(arrays, [name for name, _ in columns])

    def _constants(self, file: FolderFile) -> Mapping[Id, Value]:
        if file.partition:
            texts = file.partition.values
        else:
            texts = partition_paths.texts(partition_paths.folder_of(file.path), self._levels)
        if len(texts) != len(self._levels):
            raise FileFactError(f"{file.path}: its folder does not say {', '.join(self._levels)}")
        columns = (
            (part.id, part.name, text, part.type)
            for part, text in zip(self.partition_columns, texts, strict=True)
        )
        return typed_text.constants(
            file.path, columns, lambda text, word: typed_text.value(text, self.arrow_type(word))
        )

    def undecided(self) -> Iterator[str]:
        """Yield where files differ from the table, or from what another one may be read as."""
        if self.catalog is None:
            for part in self.partition_columns:
                yield f"{part.name}: only names of folders say what it holds; it is shown as text"
        read = {file.partition for file in self.files}
        for partition in (self.catalog and self.catalog.partitions) or ():
            if partition not in read and not table_folder.at(partition.location).exists():
                yield (
                    f"{partition.location}: there is no such folder, which the catalog names: "
                    "readers refuse the table, or show no row of it"
                )
        first: dict[str, str] = {}
        for file in self.files:
            for sentence in self._undecided(file):
                first.setdefault(sentence, file.path)
        yield from (f"{path}: {sentence}" for sentence, path in first.items())

    def _undecided(self, file: FolderFile) -> Iterator[str]:
        declared = (
            [in_path(name).lower() for name, _ in file.partition.columns]
            if file.partition
            else None
        )
        order = [str(part.id) for part in self.columns]
        if file.path.startswith("/") or "://" in file.path:
            yield "it lies outside of the table's folder: readers without the catalog miss it"
        if text := self._texts.get(file.path):
            if text.odd:
                yield f"{text.odd}: Hive shows NULL (LazySimpleSerDe), others may not"
            if declared is not None and declared != order and text.most > len(declared):
                yield "the catalog has fewer columns for its partition than it has values"
            elif declared is not None and declared != order[: len(declared)]:
                yield f"the catalog has {', '.join(declared)} for its partition, the table others"
            return
        schema, ids = self._schemas[file.path], self._ids(file)
        table = {path.lower(): part.type for path, part in walk(self.columns)}
        stored = [
            (str(ids[path]), part) for path, part in walk(map(_part_of, schema)) if path in ids
        ]
        partition = {in_path(name).lower() for name in self._levels}
        names = [str(ids[name]) for name in map(in_path, schema.names) if name in ids]
        names = [name for name in names if name not in partition]
        yield from _other_types(stored, table)
        by_name = self.catalog is not None and self.catalog.by_name
        yield from _other_names(names, order, by_name=by_name)
        if declared is not None and declared != order[: len(declared)]:
            yield f"the catalog has {', '.join(declared)} for its partition, the table others"
        elif declared is not None and {*order[len(declared) :]} & {*names}:
            yield "it has columns that the catalog does not have for its partition, but for others"


_TEXT = "string"
_ZONELESS = "_ntz"
_NAMELESS = re.compile(r"_col\d+")
"""What Hive before version 2 calls all columns in ORC files (HIVE-4243); readers go by their places
then (`SchemaEvolution` of ORC)."""


def _other_types(
    stored: Sequence[tuple[str, ColumnPart]], table: Mapping[str, str]
) -> Iterator[str]:
    for path, part in stored:
        now = table.get(path.lower(), part.type)
        # Hive has one type for moments, whose files may say either of it.
        if now.removesuffix(_ZONELESS) != part.type.removesuffix(_ZONELESS):
            yield f"{path} is {part.type}, in the table {now}: no rule says how it is read"


def _other_names(names: Iterable[str], order: Sequence[str], *, by_name: bool) -> Iterator[str]:
    """Yield why names and places do not lead to the same columns."""
    stored = [name.lower() for name in names]
    common = [name for name in stored if name in order]
    if stored[: len(order)] == order[: len(stored)]:
        return
    gone = [name for name in stored if name not in order]
    lacking = [name for name in order if name not in stored]
    if gone and lacking:
        yield (
            f"it has {', '.join(gone)} and lacks {', '.join(lacking)}: a column may have another "
            "name, or be another one; it is read by name"
        )
    elif not by_name and (common != order[: len(common)] or gone):
        yield f"it has {', '.join(stored)}: readers go by name or by place; it is read by name"


def _names(path: str) -> tuple[str, ...]:
    parts = path.split("/")[:-1]
    pairs = (part.partition("=") for part in parts)
    return tuple(partition_paths.unescaped(name) for name, sign, _ in pairs if sign)


def _catalog_part(name: str, type_: str) -> ColumnPart:
    if (kind := hive_values.canonical_type(type_)) is None:
        return ColumnPart(in_path(name).lower(), name, type_)
    return _part(name, arrow_type(kind), in_path(name).lower())


def _enter(type_: pa.DataType, types: dict[str, pa.DataType]) -> None:
    for at in range(type_.num_fields):
        _enter(type_.field(at).type, types)
    if not type_.num_fields and not canonical_type(type_):
        types[str(type_)] = type_


def _part_of(field: pa.Field) -> ColumnPart:
    return _part(field.name, field.type, in_path(field.name).lower())


def _part(name: str, type_: pa.DataType, path: str) -> ColumnPart:
    """Return a column, or a part of one, with our words for types that are known by paths."""
    if kinds.is_struct(type_):
        parts = tuple(_part(f.name, f.type, f"{path}.{in_path(f.name).lower()}") for f in type_)
        return ColumnPart(path, name, STRUCT, parts)
    if kinds.is_map(type_):
        key, item = (
            _part(inner, of, f"{path}.{inner}")
            for inner, of in ((KEY, type_.key_type), (VALUE, type_.item_type))
        )
        return ColumnPart(path, name, MAP, (key, item))
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        return ColumnPart(
            path, name, ARRAY, (_part(ELEMENT, type_.value_type, f"{path}.{ELEMENT}"),)
        )
    return ColumnPart(path, name, canonical_type(type_) or str(type_))
