"""How the rows of an Iceberg table come out of its files.

Source: Iceberg table specification, "Scan Planning", "Column Projection", "Row-level Deletes",
"Position Delete Files", "Equality Delete Files", "Deletion Vectors", "Default values" and
"Point in Time Reads (Time Travel)".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from harness.core.arrow import pa
from harness.engines.arrow_values import canonical
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file, table_folder
from harness.formats.files.column_parts import FIELD_ID, leaves, parts_of, walk
from harness.formats.files.locations import Locations
from harness.formats.files.stored_columns import StoredColumns, converted, has_id
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.formats.iceberg import column_types, manifests, puffin
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.manifests import FileContent, Live, applies
from harness.formats.iceberg.table import NAME_MAPPING, IcebergMetadata, mapped
from harness.formats.read_plan import DeletedValues, FileColumns, Id, PlannedFile, ReadPlan
from harness.model.canonical import Look, Value, look_of

Field: TypeAlias = Mapping[str, Any]
_FILE_PATH: Final = 2147483546, "file_path"
_POSITION: Final = 2147483545, "pos"
"""Reserved ids and names of the columns of position delete files."""
_DEFAULTS_SINCE: Final = 3
_LOOKED_AT: Final = 2
"""Of so many files it is looked up whether they have ids."""


def plan(folder: TableFolder, metadata: str, locations: Locations, snapshot: str = "") -> ReadPlan:
    """Return the plan of a table; raises FileFactError, UnreadableError.

    `metadata`: the path of its metadata file in the folder, or as a catalog names it; the newest
    if none. `snapshot`: the one that is read, with its own schema; the current one if none.
    """
    path = metadata or iceberg_table.current(folder)
    whole = _metadata(folder, path, locations)
    try:
        return TableAt(whole, locations, snapshot).plan()
    except UnreadableError as problem:
        raise FileFactError(str(problem)) from problem
    except (KeyError, TypeError, AttributeError) as problem:
        raise FileFactError(f"{path}: what it says cannot be understood: {problem!r}") from problem
    except (ValueError, pa.ArrowException) as problem:
        raise FileFactError(f"{path}: {problem}") from problem


def _metadata(folder: TableFolder, path: str, locations: Locations) -> IcebergMetadata:
    if "/" in path and (path.startswith("/") or "://" in path or locations.of(path) != path):
        head, _, path = locations.of(path).rpartition("/")
        folder = table_folder.at(head)
    return IcebergMetadata(iceberg_table.read(folder, path))


@dataclass(frozen=True)  # no slots: what is derived is kept
class TableAt:
    """A table at one of its snapshots."""

    metadata: IcebergMetadata
    locations: Locations
    named: str
    """The snapshot that was asked for; empty for the current one."""

    def plan(self) -> ReadPlan:
        columns = parts_of(self.fields)
        for _, leaf in leaves(columns):
            column_types.arrow_type(leaf.type)  # an error here is one of the metadata
        return ReadPlan(
            columns,
            tuple(self._planned(file) for file in self._data),
            column_types.arrow_type,
            str(self.record.get("snapshot-id", "")),
            self._defaults,
            undecided=tuple(self._undecided()),
            may_become=column_types.may_become,
        )

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """What the metadata say of the snapshot; nothing of a table that has none."""
        if not self.named:
            return self.metadata.current
        if record := self.metadata.record(self.named):
            return record
        there = ", ".join(
            str(record["snapshot-id"]) for record in self.metadata.metadata.get("snapshots", ())
        )
        raise FileFactError(f"it has no snapshot {self.named}; it has: {there or 'none'}")

    @cached_property
    def fields(self) -> Sequence[Field]:
        """Of the snapshot's schema; of the table's own for its current state."""
        number = self.record.get("schema-id") if self.named else None
        if number is None:
            if not self.metadata.current_schema:
                raise FileFactError("its metadata have no current schema")
            return self.metadata.current_schema
        if number not in self.metadata.schemas:
            raise FileFactError(f"its metadata have no schema {number}, which the snapshot names")
        return self.metadata.schemas[number]

    @cached_property
    def _all_fields(self) -> Sequence[Field]:
        """Of all schemas, this one last: columns may be gone by which rows were deleted."""
        schemas = (*self.metadata.schemas.values(), self.fields)
        return [field for fields in schemas for field in fields]

    @cached_property
    def _specs(self) -> Mapping[int, Sequence[Field]]:
        return self.metadata.specs

    @cached_property
    def _types(self) -> Mapping[int, str]:
        return dict(column_types.types(self._all_fields))

    @cached_property
    def _defaults(self) -> Mapping[Id, Value]:
        return dict(column_types.defaults(self._all_fields))

    @cached_property
    def _names(self) -> Mapping[str, int]:
        stored = self.metadata.properties.get(NAME_MAPPING)
        if not stored:  # see `_undecided`
            return {path: int(part.id) for path, part in walk(parts_of(self.fields))}
        try:
            return mapped(stored)
        except ValueError as problem:
            raise FileFactError(f"the property {NAME_MAPPING}: {problem}") from problem

    @cached_property
    def live(self) -> Sequence[Live]:
        return tuple(manifests.live(self.record, self._specs, self._content))

    @cached_property
    def _data(self) -> Sequence[Live]:
        return [file for file in self.live if file.content is FileContent.DATA]

    @cached_property
    def deletes(self) -> Sequence[Live]:
        return [file for file in self.live if file.content is not FileContent.DATA]

    def _content(self, path: str) -> bytes:
        head, _, name = self.locations.of(path).rpartition("/")
        content = table_folder.at(head).text(name)
        if content is None:
            raise FileFactError(f"{path}: there is no such file")
        return content

    def _planned(self, file: Live) -> PlannedFile:
        constants = self._partition(file)
        # A partition's value goes before a column that is known by its name alone.
        names = {name: id_ for name, id_ in self._names.items() if id_ not in constants}
        deletes = [d for d in self.deletes if applies(d, file, self._specs)]
        return PlannedFile(
            file.path,
            self.locations.of(file.path),
            FileColumns(names, by_id=True),
            constants,
            self._deleted(file, deletes),
            tuple(
                self._deleted_values(deleted)
                for deleted in deletes
                if deleted.content is FileContent.EQUALITY_DELETES
            ),
            size=file.entry.get("file_size_in_bytes"),
        )

    def _partition(self, file: Live) -> Mapping[Id, Value]:
        """Return the values of columns by which a file's partition is divided as they are."""
        fields = zip(self._specs[file.spec], file.partition, strict=True)
        return {
            field["source-id"]: column_types.of_partition(value, self._types[field["source-id"]])
            for field, value in fields
            if field["transform"] == "identity" and field["source-id"] in self._types
        }

    def _deleted(self, file: Live, deletes: Sequence[Live]) -> frozenset[int]:
        """Return the deleted positions: by the vector if there is one, else by position files."""
        by_position = [d for d in deletes if d.content is FileContent.POSITION_DELETES]
        vectors = [d for d in by_position if d.is_vector and self._is_about(d, file)]
        if len(vectors) > 1:
            raise FileFactError(f"{file.path}: more than one deletion vector is about it")
        if vectors:
            return self._vector(vectors[0])
        about = (d for d in by_position if not d.is_vector and self._is_about(d, file))
        path = self.locations.of(file.path)
        return frozenset[int]().union(*(self._positions(d).get(path, ()) for d in about))

    def rows_deleted(self, file: Live) -> Iterator[tuple[Live, Sequence[int]]]:
        """Yield the files that delete rows of a data file, each with the positions of these."""
        there = [d for d in self.deletes if applies(d, file, self._specs)]
        has_vector = any(d.is_vector and self._is_about(d, file) for d in there)
        for deletes in there:
            if deletes.content is FileContent.EQUALITY_DELETES:
                gone = self._deleted_values(deletes)
                looks = enumerate(self._looks(file, deletes.entry["equality_ids"]))
                yield deletes, [at for at, values in looks if values in gone.rows]
            elif deletes.is_vector or not has_vector:
                yield deletes, sorted(self._deleted(file, [deletes]))

    def _is_about(self, deletes: Live, file: Live) -> bool:
        path = deletes.entry.get("referenced_data_file")
        return path is None or self.locations.of(path) == self.locations.of(file.path)

    def _vector(self, vector: Live) -> frozenset[int]:
        try:
            return puffin.deleted_positions(self._content(vector.path), vector.entry)
        except ValueError as problem:
            raise FileFactError(f"{vector.path}: {problem}") from problem

    def _positions(self, deletes: Live) -> Mapping[str, frozenset[int]]:
        """Return the positions that a file deletes, by where the data files lie."""
        if deletes.path not in self._read_positions:
            stored = arrow_file.read(self.locations.of(deletes.path))
            paths, positions = (
                _column(stored, *known, deletes.path) for known in (_FILE_PATH, _POSITION)
            )
            by_path = defaultdict[str, set[int]](set)
            for path, position in zip(paths.to_pylist(), positions.to_pylist(), strict=True):
                by_path[self.locations.of(path or "")].add(position)
            self._read_positions[deletes.path] = {p: frozenset(at) for p, at in by_path.items()}
        return self._read_positions[deletes.path]

    @cached_property
    def _read_positions(self) -> dict[str, Mapping[str, frozenset[int]]]:
        return {}

    @cached_property
    def _read_values(self) -> dict[str, DeletedValues]:
        return {}

    def _deleted_values(self, deletes: Live) -> DeletedValues:
        """Return the values by which a file deletes rows ("Equality Delete Files")."""
        if deletes.path not in self._read_values:
            ids = tuple(deletes.entry["equality_ids"])
            words = tuple(self._types[number] for number in ids)
            rows = frozenset(self._looks(deletes, ids, lacking=False))
            self._read_values[deletes.path] = DeletedValues(ids, rows, words)
        return self._read_values[deletes.path]

    def _looks(
        self, file: Live, ids: Sequence[int], *, lacking: bool = True
    ) -> Iterator[tuple[Look, ...]]:
        """Yield how values look in each row of a file, which may be `lacking` some columns."""
        rows = arrow_file.read(self.locations.of(file.path))
        stored, looks = StoredColumns(rows, FileColumns(self._names, by_id=True)), []
        for number in ids:
            column = stored.leaf(number)
            if column is not None:
                kind = column_types.arrow_type(self._types[number])
                looks.append([look_of(canonical(v)) for v in converted(column.values, kind)])
            elif lacking:
                constants = {**self._defaults, **self._partition(file)}
                looks.append([look_of(constants.get(number))] * rows.num_rows)
            else:
                raise FileFactError(f"{file.path}: it lacks a column by which it deletes rows")
        return zip(*looks, strict=True)

    def _undecided(self) -> Iterator[str]:
        version = int(self.metadata.metadata["format-version"])
        if version < _DEFAULTS_SINCE and self._defaults:
            yield (
                f"columns have defaults, which format version {version} does not have: a reader "
                'may show them or NULL (Iceberg table specification, "Default values")'
            )
        if NAME_MAPPING not in self.metadata.properties:
            # Those that a migrated table began with.
            for file in sorted(self._data, key=lambda file: file.sequence)[:_LOOKED_AT]:
                if not any(map(has_id, arrow_file.schema(self.locations.of(file.path)))):
                    yield (
                        f"{file.path} has no field ids, and the table no name mapping: read by "
                        'names here; by the letter all is NULL ("Column Projection"), and of '
                        "Parquet files Iceberg's library takes columns by their places"
                    )
                    break
        data = {self.locations.of(file.path) for file in self._data}
        names = {path.rpartition("/")[2] for path in data}
        for deletes, by_path in self._read_positions.items():
            if "" in by_path:
                yield f"{deletes} has rows that name no file, which one must: they delete nothing"
            for path in sorted(by_path.keys() - data):
                if path.rpartition("/")[2] in names:
                    yield (
                        f"{deletes} deletes rows of {path}, where no data file lies, though one "
                        "elsewhere has its name: of that one they are not deleted (Iceberg table "
                        'specification, "Position Delete Files")'
                    )


def _column(stored: pa.Table, number: int, name: str, path: str) -> pa.ChunkedArray:
    """Return a reserved column of a delete file, by its id or else its name."""
    for field, column in zip(stored.schema, stored.columns, strict=True):
        if int((field.metadata or {}).get(FIELD_ID, -1)) == number or field.name == name:
            return column
    raise FileFactError(f"{path}: it has no column {name}")
