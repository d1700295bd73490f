"""How the rows of a plain folder of Parquet, ORC or Avro files come out of them.

Nothing says which columns such a table has but the files, or the entry of a catalog. Columns go by
their names, whatever their case (Apache Hive, "LanguageManual DDL"). What a reader makes of files
of which the columns were renamed or got other types is not said anywhere; so the plan says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from harness.engines.arrow_values import arrow_type, canonical_type
from harness.engines.hive import values as hive_values
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file, typed_text
from harness.formats.files.column_parts import ARRAY, MAP, STRUCT, ColumnPart, walk
from harness.formats.files.table_folder import ListedFile, TableFolder
from harness.formats.read_plan import FileColumns, Id, PlannedFile, ReadPlan
from harness.model import partition_paths
from harness.model.canonical import Value
from harness.model.datatypes import ELEMENT, KEY, VALUE, parse_type

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class DeclaredColumns:
    """Names and Hive types as a catalog has them."""

    columns: tuple[tuple[str, str], ...]
    partition_by: tuple[tuple[str, str], ...] = ()


def plan(folder: TableFolder, catalog: DeclaredColumns | None = None) -> ReadPlan:
    """Plan all files of a folder, those of its partitions too.

    Raises FileFactError or UnreadableError.
    """
    listed = [file for files in folder.walk() for file in files if file.size]
    shown = [file for file in listed if file.name[0] not in "._"]
    table = PlainFolder(folder, tuple(shown), catalog)
    files = tuple(map(table.file, table.files))
    columns = (*table.columns, *table.partition_columns)
    return ReadPlan(columns, files, table.arrow_type, "", undecided=tuple(table.undecided()))


@dataclass(frozen=True)  # no slots: what is derived is kept
class PlainFolder:
    folder: TableFolder
    files: tuple[ListedFile, ...]
    catalog: DeclaredColumns | None

    @cached_property
    def _schemas(self) -> Mapping[str, pa.Schema]:
        """What each file has, by its path."""
        locations = {file.path: self.folder.location(file.path) for file in self.files}
        return {path: arrow_file.schema(location) for path, location in locations.items()}

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
        partition = {name.lower() for name in self._levels}
        if self.catalog is not None:
            parts = [_catalog_part(*column) for column in self.catalog.columns]
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
        return tuple(ColumnPart(name.lower(), name, _TEXT) for name in self._levels)

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

    def file(self, file: ListedFile) -> PlannedFile:
        fields = self._schemas[file.path]
        names = {path: path.lower() for path, _ in walk(map(_part_of, fields))}
        unread = [part.id for part in self.partition_columns]
        columns = FileColumns(names, unread=unread)
        location = self.folder.location(file.path)
        return PlannedFile(file.path, location, columns, self._constants(file.path))

    def _constants(self, path: str) -> Mapping[Id, Value]:
        folder = path.rpartition("/")[0]
        texts = partition_paths.texts(folder, self._levels)
        if len(texts) != len(self._levels):
            raise FileFactError(f"{path}: its folder does not say {', '.join(self._levels)}")
        columns = (
            (part.id, part.name, text, part.type)
            for part, text in zip(self.partition_columns, texts, strict=True)
        )
        return typed_text.constants(
            path, columns, lambda text, word: typed_text.value(text, self.arrow_type(word))
        )

    def undecided(self) -> Iterator[str]:
        """Yield where files differ from the table, or from what another one may be read as."""
        if self.catalog is None:
            for part in self.partition_columns:
                yield f"{part.name}: only names of folders say what it holds; it is shown as text"
        table = {path.lower(): part.type for path, part in walk(self.columns)}
        order = [str(part.id) for part in self.columns]
        first: dict[str, str] = {}
        for path, schema in self._schemas.items():
            stored = list(walk(map(_part_of, schema)))
            for sentence in (*_other_types(stored, table), *_other_names(schema.names, order)):
                first.setdefault(sentence, path)
        yield from (f"{path}: {sentence}" for sentence, path in first.items())


_TEXT = "string"


def _other_types(
    stored: Sequence[tuple[str, ColumnPart]], table: Mapping[str, str]
) -> Iterator[str]:
    for path, part in stored:
        now = table.get(path.lower(), part.type)
        if now != part.type:
            yield f"{path} is {part.type}, in the table {now}: no rule says how it is read"


def _other_names(names: Iterable[str], order: Sequence[str]) -> Iterator[str]:
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
    elif common != order[: len(common)] or gone:
        yield f"it has {', '.join(stored)}: readers go by name or by place; it is read by name"


def _names(path: str) -> tuple[str, ...]:
    parts = path.split("/")[:-1]
    pairs = (part.partition("=") for part in parts)
    return tuple(partition_paths.unescaped(name) for name, sign, _ in pairs if sign)


def _catalog_part(name: str, type_: str) -> ColumnPart:
    if (kind := hive_values.canonical_type(type_)) is None:
        return ColumnPart(name.lower(), name, type_)
    return _part(name, arrow_type(kind), name.lower())


def _enter(type_: pa.DataType, types: dict[str, pa.DataType]) -> None:
    for at in range(type_.num_fields):
        _enter(type_.field(at).type, types)
    if not type_.num_fields and not canonical_type(type_):
        types[str(type_)] = type_


def _part_of(field: pa.Field) -> ColumnPart:
    return _part(field.name, field.type, field.name.lower())


def _part(name: str, type_: pa.DataType, path: str) -> ColumnPart:
    """Return a column, or a part of one, with our words for types that are known by paths."""
    import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

    if kinds.is_struct(type_):
        parts = tuple(_part(f.name, f.type, f"{path}.{f.name.lower()}") for f in type_)
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
