"""What Spark is given of a read plan: files grouped by schema, their projections, their deletes.

Spark reads Parquet by names, in the very types that are stored there; the rest are expressions over
these columns, and joins with small files of values and deletes. Where Spark has no type for what is
stored, or makes another value of it than Arrow does, the rows are read in this process, file by
file, and Spark is given them as they are part of the table. Nothing here is a guess: what is not
known to be equal is not left to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from harness.audit import file_rows, merge
from harness.audit.file_rows import FileTable
from harness.audit.projection import fits, full_type
from harness.core.arrow import kinds, pa, pq
from harness.engines.arrow_values import array_of, canonical_type
from harness.engines.query_sql import string
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file, typed_text
from harness.formats.files.arrow_file import ParquetFooter
from harness.formats.files.column_parts import ColumnPart
from harness.formats.files.stored_columns import StoredColumn, StoredColumns, inner
from harness.formats.read_plan import DeletedValues, Id, PlannedFile, ReadPlan
from harness.model.datatypes import ELEMENT, KEY, VALUE
from harness.model.identifiers import quoted_name

FILE: Final = "audited file"
POSITION: Final = "audited position"
"""Columns of the view: of each row the number of its file or its path, and where it stands."""
MARK: Final = "`"
_INTEGERS: Final = {"int8": 3, "int16": 5, "int32": 10, "int64": 19}
"""The most digits of each, from the narrowest on."""
_EXACT: Final = {
    *((whole, "double") for whole in ("tinyint", "smallint", "int", "float")),
    *((whole, "float") for whole in ("tinyint", "smallint")),
    *(("timestamp", "timestamp_ntz"), ("timestamp_ntz", "timestamp"), ("date", "timestamp_ntz")),
}
"""Of these Spark, in UTC, and Arrow make the same values of the other type."""
_LAST_ASCII: Final = 127
_SAFE: Final = "_-!.~'()*,;:$&+=@/"
"""What `java.net.URI` leaves as it is in a path, besides letters, digits and what is not ASCII."""


class NotInSparkError(Exception):
    """Spark is not given a file; says why."""


def ddl(type_: pa.DataType) -> str:
    """Return Spark's words for a type; raises NotInSparkError where it has none."""
    if kinds.is_struct(type_):
        return f"struct<{', '.join(f'{quoted(part.name)}: {ddl(part.type)}' for part in type_)}>"
    if kinds.is_map(type_):
        return f"map<{ddl(type_.key_type)}, {ddl(type_.item_type)}>"
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        return f"array<{ddl(type_.value_type)}>"
    ours = "binary" if kinds.is_fixed_size_binary(type_) else canonical_type(type_)
    if not ours or (kinds.is_timestamp(type_) and type_.unit == "ns"):
        raise NotInSparkError(f"Spark has no type for {type_}")
    return "bigint" if ours == "long" else ours


def quoted(name: str) -> str:
    return quoted_name(name, MARK)


def literal(text: str) -> str:
    return string(text, MARK)


def _cast(sql: str, stored: pa.DataType, type_: pa.DataType) -> str:
    """Return the expression of a value in the type of its column."""
    before, now, pair = ddl(stored), ddl(type_), (str(stored), str(type_))
    if before == now:
        return sql
    digits = _INTEGERS.get(pair[0], 0)
    exact = (before, now) in _EXACT
    if pair[1] in _INTEGERS:
        exact = 0 < digits < _INTEGERS[pair[1]]
    elif kinds.is_decimal128(type_):
        whole = type_.precision - type_.scale
        if kinds.is_decimal128(stored):
            exact = stored.scale <= type_.scale and stored.precision - stored.scale <= whole
        else:
            exact = 0 < digits <= whole
    if not exact:
        raise NotInSparkError(f"{stored} as {type_}")
    return f"cast({sql} as {now})"


@dataclass
class _FileProjection:
    """The columns of a table out of those of files with one schema, as Spark's expressions."""

    plan: ReadPlan
    file: PlannedFile
    footer: ParquetFooter
    schema: dict[str, str] = field(default_factory=dict)
    """The columns that are read: their names in the files, and their types in Spark's words."""
    values: list[tuple[Id, pa.DataType]] = field(default_factory=list)
    """What the files lack and that is not NULL in all of them."""
    _variables: Iterator[int] = field(default_factory=count)

    @cached_property
    def _columns(self) -> StoredColumns:
        return StoredColumns(self.footer.schema.empty_table(), self.file.columns)

    def select(self) -> list[str]:
        """Return the expressions of all columns of the table; raises NotInSparkError."""
        made = [self._top(part) for part in self.plan.columns]
        if not self.schema:  # there are no rows of no columns
            first = self.footer.schema.field(0)
            self.schema[first.name] = ddl(first.type)
        return made

    def keys(self, deleted: DeletedValues) -> list[str]:
        types = list(map(self.plan.arrow_type, deleted.types))
        if len(types) != len(deleted.ids) or not all(map(_compared, types)):
            raise NotInSparkError("rows are deleted by values that are not compared alike")
        return [self._key(id_, type_) for id_, type_ in zip(deleted.ids, types, strict=True)]

    def _key(self, id_: Id, type_: pa.DataType) -> str:
        stored = self._columns.top.get(id_)
        if stored is None:
            if self._columns.leaf(id_) is not None:
                raise NotInSparkError("rows are deleted by a part of a struct")
            return self._constant(id_, type_)
        sql = self._leaf(self._asked(stored), stored, type_)
        self.schema[stored.field.name] = ddl(stored.field.type)
        return sql

    def _top(self, part: ColumnPart) -> str:
        stored = self._columns.top.get(part.id)
        if stored is None:
            return self._constant(part.id, full_type(part, self.plan.arrow_type))
        sql, self.schema[stored.field.name] = self._inner(part, stored, self._asked(stored))
        return sql

    def _asked(self, stored: StoredColumn) -> str:
        """Return the name by which a column of the file is known in expressions."""
        self.schema.setdefault(stored.field.name, "")
        return f"c{list(self.schema).index(stored.field.name)}"

    def _constant(self, id_: Id, type_: pa.DataType) -> str:
        if id_ not in self.file.constants and self.plan.defaults.get(id_) is None:
            return f"cast(null as {ddl(type_)})"
        if (id_, type_) not in self.values:
            self.values.append((id_, type_))
        return f"k{self.values.index((id_, type_))}"

    def _inner(self, part: ColumnPart, stored: StoredColumn, sql: str) -> tuple[str, str]:
        """Return the expression of a part, and the type in which what it needs is stored."""
        type_ = stored.field.type
        if part.parts and not fits(part.type, type_):
            raise NotInSparkError(f"{type_} as {part.type}")
        match part.type:
            case "struct":
                return self._struct(part, stored, sql)
            case "array":
                x, elements = f"x{next(self._variables)}", stored.values.values
                element, of = self._inner(part.parts[0], inner(stored, ELEMENT, elements), x)
                made = sql if element == x else f"transform({sql}, {x} -> {element})"
                return made, f"array<{of}>"
            case "map":
                values = {KEY: stored.values.keys, VALUE: stored.values.items}
                sides = zip(
                    part.parts, (inner(stored, *side) for side in values.items()), strict=True
                )
                if any(self._inner(*side, "x")[0] != "x" for side in sides):
                    raise NotInSparkError("what is in a map changed its type")
                return sql, ddl(type_)
        return self._leaf(sql, stored, self.plan.arrow_type(part.type)), ddl(type_)

    def _struct(self, part: ColumnPart, stored: StoredColumn, sql: str) -> tuple[str, str]:
        there = self._columns.parts(stored)
        made, types, same = [], [], True
        for child in part.parts:
            if (stored_part := there.get(child.id)) is None:
                value = self._constant(child.id, full_type(child, self.plan.arrow_type))
                same = False
            else:
                before = f"{sql}.{quoted(stored_part.field.name)}"
                value, of = self._inner(child, stored_part, before)
                types.append(f"{quoted(stored_part.field.name)}: {of}")
                same = same and value == before and child.name == stored_part.field.name
            made.append(f"{literal(child.name)}, {value}")
        if not types:  # then nothing would say whether the struct is NULL
            raise NotInSparkError("a struct of which the file has no part")
        of = f"struct<{', '.join(types)}>"
        return (sql if same else f"if({sql} is null, null, named_struct({', '.join(made)}))"), of

    def _leaf(self, sql: str, stored: StoredColumn, type_: pa.DataType) -> str:
        if not self.plan.may_become(stored.field.type, type_):
            raise NotInSparkError(f"{stored.field.type} as {type_}")
        return _cast(sql, stored.field.type, type_)


@dataclass
class _Group:
    projection: _FileProjection
    select: list[str]
    keys: list[list[str]]
    """Of each set of deleted values the expressions of its columns."""
    files: list[PlannedFile] = field(default_factory=list)


@dataclass
class SparkPlan:
    """A read plan as Spark is given it; methods raise FileFactError."""

    plan: ReadPlan
    folder: Path
    """An empty one, where Spark finds values, deletes, and rows that it does not read."""
    files: dict[str, PlannedFile] = field(default_factory=dict)
    """All files of which there are rows, by what the column `FILE` has."""
    by_spark: list[tuple[PlannedFile, ParquetFooter]] = field(default_factory=list)
    """The files that Spark reads."""
    read_here: dict[str, str] = field(default_factory=dict)
    """Why others are not, by theirs."""

    def request(self, view: str) -> Mapping[str, Any]:
        """Return what `engines.spark.plan_client` makes a view of, and write what it names.

        Raises NotInSparkError: Spark lacks the type of a column.
        """
        arrow_type = self.plan.arrow_type
        schema = {part.name: ddl(full_type(part, arrow_type)) for part in self.plan.columns}
        try:
            groups = [self._requested(group) for group in self._groups()]
        except (ValueError, pa.ArrowException) as problem:
            raise FileFactError(str(problem)) from problem
        ready = [self._ready(table) for table in self._tables_read_here()]
        schema |= {FILE: "string", POSITION: "bigint"}
        return {"view": view, "groups": groups, "ready": ready, "schema": _schema(schema)}

    def _groups(self) -> Sequence[_Group]:
        """Return the files by all that their expressions are made of."""
        groups: dict[object, _Group | NotInSparkError] = {}
        locations = set[str]()
        for file in self.plan.files:
            try:
                footer = _footer(file, locations)
                key = _what_counts(file, footer)
                if key not in groups:
                    groups[key] = self._new_group(file, footer)
                group = groups[key]
                if isinstance(group, NotInSparkError):
                    raise group
            except NotInSparkError as why:
                self.read_here[file.path] = str(why)
                continue
            group.files.append(file)
            self.by_spark.append((file, footer))
            self.files.update(dict.fromkeys(spellings(file), file))
        return [group for group in groups.values() if isinstance(group, _Group)]

    def _new_group(self, file: PlannedFile, footer: ParquetFooter) -> _Group | NotInSparkError:
        projection = _FileProjection(self.plan, file, footer)
        try:
            select = projection.select()
            return _Group(projection, select, list(map(projection.keys, file.deleted_values)))
        except NotInSparkError as why:
            return why

    def _requested(self, group: _Group) -> Mapping[str, Any]:
        stored = group.projection.schema
        deleted = zip(group.projection.file.deleted_values, group.keys, strict=True)
        select = zip(group.select, self.plan.columns, strict=True)
        return {
            "paths": [_path(file) for file in group.files],
            "schema": _schema(stored),
            "stored": [
                *(f"{quoted(name)} as c{at}" for at, name in enumerate(stored)),
                "_metadata.file_path as file",
                "_metadata.row_index as position",
            ],
            "values": self._values(group),
            "deleted": self._deleted(group.files),
            "deleted_values": [(self._keys(values), _equal(keys)) for values, keys in deleted],
            "select": [
                *(f"{sql} as {quoted(part.name)}" for sql, part in select),
                f"file as {quoted(FILE)}",
                f"position as {quoted(POSITION)}",
            ],
        }

    def _values(self, group: _Group) -> str:
        """Write what columns hold that the files lack; return the path, empty if nothing."""
        if not group.projection.values:
            return ""
        spelt = [(text, file) for file in group.files for text in spellings(file)]
        columns = {"file": pa.array([text for text, _ in spelt])}
        for at, (id_, type_) in enumerate(group.projection.values):
            of_files = [f.constants.get(id_, self.plan.defaults.get(id_)) for _, f in spelt]
            columns[f"k{at}"] = array_of(of_files, type_)
        return self._written(pa.table(columns))

    def _deleted(self, files: Sequence[PlannedFile]) -> str:
        """Write the positions of deleted rows; return the path, empty if nothing."""
        deleted: dict[int, list[str]] = {}
        for file in files:
            spelt = spellings(file)
            for position in file.deleted:
                deleted.setdefault(position, []).extend(spelt)
        columns = [pa.array(deleted, pa.int64()), pa.array(deleted.values(), pa.list_(pa.string()))]
        names = ["deleted_position", "deleted_in"]
        return self._written(pa.Table.from_arrays(columns, names)) if deleted else ""

    def _keys(self, deleted: DeletedValues) -> str:
        types = map(self.plan.arrow_type, deleted.types)
        looks = zip(*deleted.rows, strict=True) if deleted.rows else [()] * len(deleted.ids)
        columns = {
            f"e{at}": array_of([typed_text.value(look, type_) for look in column], type_)
            for at, (column, type_) in enumerate(zip(looks, types, strict=True))
        }
        return self._written(pa.table(columns))

    def _tables_read_here(self) -> Iterator[FileTable]:
        given = {id(file) for file, _ in self.by_spark}
        for file in self.plan.files:
            if id(file) not in given:
                yield file_rows.read(self.plan, file)[0]
        for one in self.plan.merges:
            for table in merge.read(self.plan, one):
                self.read_here[table.file.path] = "its rows are merged with others by their keys"
                yield table

    def _ready(self, table: FileTable) -> str:
        name = str(len(self.files))
        self.files[name] = table.file
        names = [*table.rows.column_names, FILE, POSITION]
        places = [pa.repeat(name, len(table.positions)), pa.array(table.positions, pa.int64())]
        return self._written(pa.Table.from_arrays([*table.rows.columns, *places], names))

    def _written(self, table: pa.Table) -> str:
        path = self.folder / f"{len(list(self.folder.iterdir()))}.parquet"
        pq.write_table(table, path)
        return str(path)


def _footer(file: PlannedFile, locations: set[str]) -> ParquetFooter:
    if file.stored or file.only is not None or file.location in locations:
        raise NotInSparkError("its rows are a part of what lies there")
    if file.location.rpartition("/")[2][0] in "._":  # `HadoopFSUtils.shouldFilterOutPathName`
        raise NotInSparkError("Spark does not see files of such names")
    footer = arrow_file.parquet_footer(file.location)
    if footer is None:
        raise NotInSparkError("it is no Parquet file that Spark reads as Arrow does")
    locations.add(file.location)
    return footer


def _what_counts(file: PlannedFile, footer: ParquetFooter) -> object:
    columns = file.columns
    known_by = frozenset(columns.names.items()), columns.by_id, frozenset(columns.unread)
    deletes = bool(file.deleted), tuple(map(id, file.deleted_values))
    return footer.schema.serialize().to_pybytes(), known_by, frozenset(file.constants), deletes


def _path(file: PlannedFile) -> str:
    return file.location.removeprefix("file://").removeprefix("file:")


def spellings(file: PlannedFile) -> tuple[str, ...]:
    """Return what the file's path may be in Spark's `_metadata.file_path`."""
    path = _path(file)
    if not path.startswith("/"):
        return (path,)
    # Versions of Spark write one slash or three.
    text = "".join(c if ord(c) > _LAST_ASCII else quote(c, safe=_SAFE) for c in path)
    return f"file:{text}", f"file://{text}"


def _schema(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{quoted(name)} {type_}" for name, type_ in columns.items())


def _equal(keys: Sequence[str]) -> str:
    return " and ".join(f"({sql}) <=> e{at}" for at, sql in enumerate(keys))


def _compared(type_: pa.DataType) -> bool:
    """Return whether values of a type are equal in Spark where they look alike."""
    return not (
        kinds.is_floating(type_) or kinds.is_binary(type_) or kinds.is_fixed_size_binary(type_)
    )
