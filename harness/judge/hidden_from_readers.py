"""The rows and columns of files that catalog, statistics or schema may hide from readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, zip_longest
from typing import Final

from harness.core.records import Responsible, StateRecord
from harness.judge import compare
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.judge.recorded_variant import RecordedVariant
from harness.model.canonical import Unpredicted, Value, same, text_of
from harness.model.file_facts import FileFact
from harness.model.partition_paths import folder_of
from harness.model.query import Query, at
from harness.model.schema import Field
from harness.model.simulation.catalog import Lists
from harness.model.truth import History, Row, Truth, named, row_values

_COLUMNS: Final = frozenset({DifferenceKind.EXTRA_COLUMN, DifferenceKind.ABSENT_COLUMN})
_ROWS: Final = frozenset({DifferenceKind.EXTRA_ROW, DifferenceKind.ABSENT_ROW})


@dataclass(frozen=True)  # no slots, for cached_property
class PartitionLists:
    """The catalog's lists of the columns of partitions, for one question about a view of a table.

    A reader that uses them shows what they give, whatever the files hold (`core.tolerances.LISTS`).
    An answer that shows just that is the fault of whoever left a list out of date. Where it was not
    recorded and only follows from the steps, that is one of two explanations: nobody is named.
    """

    state: ExpectedState
    """The expected state of the whole view, not only of the rows that are asked for."""
    query: Query
    lists: Lists | None
    """None where they are not known."""

    def responsible(self, difference: Difference) -> Responsible | None:
        """Return who is responsible for a difference that is the reader's if there are none."""
        if self.lists is None:
            lost = difference.actual is None or difference.kind is not DifferenceKind.CELL
            changed = len({truth.schema for truth in self.state.history}) > 1
            return None if lost and changed else Responsible.READER
        match self._gives(difference):
            case None:
                return None
            case True:
                return Responsible.COLUMNS if self.lists.recorded else None
        return Responsible.READER

    def _gives(self, difference: Difference) -> bool | None:
        """Return whether the lists give the wrong answer; None where that cannot be predicted."""
        if difference.kind is DifferenceKind.CELL:
            return self._gives_value(difference)
        if not self._predicted(self._rows, [condition.path for condition in self.query.conditions]):
            return None
        taken = {key for key, row in self._rows.items() if self.query.takes(row)}
        match difference.kind:
            case DifferenceKind.ABSENT_ROW if not self.query.limit:
                return difference.key in self._rows and difference.key not in taken
            case DifferenceKind.EXTRA_ROW:
                return difference.key in taken
            case DifferenceKind.COUNT | DifferenceKind.EXTREME:
                if not self._predicted(taken, self.query.columns):
                    return None
                rows = [tuple(self._rows[key].values()) for key in taken]
                (number,), *_ = self.query.answer(self.state.schema.names, rows)
                return same(number, difference.actual)
        return False

    def _predicted(self, keys: Iterable[str], paths: Sequence[str]) -> bool:
        return not any(
            isinstance(at(self._rows[key], path), Unpredicted) for key in keys for path in paths
        )

    def _gives_value(self, difference: Difference) -> bool | None:
        name = difference.column.partition(".")[0].partition("[")[0]
        row = self.state.keys.get(difference.key)
        if row is None or not self.state.schema.has(name):
            return False
        expected, given = self.state.shown(row)[name], self._rows[difference.key][name]
        if isinstance(given, Unpredicted):
            return None
        field = self.state.schema.find(name)
        whole = Difference(DifferenceKind.CELL, difference.key, name, expected, given, field)
        return any(
            other.location == difference.location and same(other.actual, difference.actual)
            for other in compare.parts_of(self.state, whole, field)
        )

    @cached_property
    def _rows(self) -> Mapping[str, Mapping[str, Value]]:
        """The rows as the lists give them, by the text of the key."""
        return {text_of(row.key): self._given(row) for row in self.state.rows.values()}

    def _given(self, row: Row) -> Mapping[str, Value]:
        shown, lists = self.state.shown(row), self.lists
        if lists is None or row.group[1] not in lists.partitions:
            return shown
        by, places = self.state.history[-1].table.partition_by, count()
        return {
            name: value if name in by else lists.shown(value, next(places), row)
            for name, value in shown.items()
        }


@dataclass(frozen=True, slots=True)
class HiddenFromReaders:
    """Rows, by their keys, and columns, by their names."""

    unlisted: AbstractSet[str] = frozenset()
    """Rows in partitions that the catalog does not list."""
    excluded: Sequence[AbstractSet[str]] = ()
    """Rows that stored statistics exclude, for each place where such are stored."""
    unknown: bool = False
    """Whether there are statistics that may exclude rows, and are not known."""
    columns: AbstractSet[str] = frozenset()
    """Those that the catalog lists, in lower case; none where that is not known."""
    outdated: Mapping[str, str] = field(default_factory=dict)
    """Those of them that it lists with a type that they had before, with that type."""
    mistaken: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    """Those that the table's own history of its schema takes for other fields, with these."""
    lost: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    """The columns, and parts of structs, that the table's own records do not lead to in files which
    hold them, with the keys of the rows there."""
    conditions: AbstractSet[str] = frozenset()
    """The columns of the question's conditions, in lower case."""
    taken: Mapping[str, bool] = field(default_factory=dict)
    """Whether the conditions take a row of one of these files, whose values are read as the table's
    own records lead to them, by the text of its key; none where that is not known."""
    lists: PartitionLists | None = None
    """What the catalog's lists of the columns of partitions give to a reader that goes by them;
    None for any other, and where there are none."""

    def history(self, difference: Difference) -> Responsible | None:
        """Return who is responsible for what a reader shows against the files.

        A row that a condition on a mistaken column chooses is the history's doing if the records
        lead to that choice; where that is not known nobody is named.
        """
        column, origin = difference.column, difference.origin
        others = self.mistaken.get(_root(column), ())
        nothing_leads = difference.key in self.lost.get(column, ()) and difference.actual is None
        if nothing_leads or (origin is not None and origin.field_id in others):
            return Responsible.HISTORY
        chosen = difference.kind not in {DifferenceKind.CELL, DifferenceKind.COLUMN_TYPE}
        misled = {_root(path) for path in (*self.mistaken, *self.lost)}
        if not (chosen and self.conditions & misled):
            return Responsible.READER
        if difference.kind not in _ROWS or difference.key not in self.taken:
            return None
        led = self.taken[difference.key] is (difference.kind is DifferenceKind.EXTRA_ROW)
        return Responsible.HISTORY if led else Responsible.READER

    def lists_otherwise(self, difference: Difference) -> bool:
        """Return whether the catalog has a column too many, too few, or of before, as an answer."""
        name = difference.column.lower()
        if difference.kind is DifferenceKind.COLUMN_TYPE and not difference.key:
            return self.outdated.get(name) == text_of(difference.actual)
        part_of_listed = _root(name).partition("[")[0] in self.columns - {name}
        if not self.columns or difference.kind not in _COLUMNS or part_of_listed:
            return False
        return (name in self.columns) is (difference.kind is DifferenceKind.EXTRA_COLUMN)


def hidden_from_readers(
    case: RecordedVariant,
    step: int,
    view: str,
    query: Query,
    excluded: Sequence[AbstractSet[str]],
    lists: PartitionLists | None = None,
) -> HiddenFromReaders:
    """Return what the writer may have kept from readers; `excluded`: by stored statistics."""
    state, history = case.state_of[step], case.history[: step + 1]
    folders = set(case.unlisted(step, view))
    hidden = (file for file in state.files if folder_of(file.path) in folders)
    of_rows = (
        frozenset(key for file in hidden for key in file.keys),
        excluded,
        bool(query.conditions and state.statistics.unknown),
    )
    conditions = frozenset(map(_root, query.filters))
    if case.past(view, step) is not None:
        return HiddenFromReaders(*of_rows, conditions=conditions)
    misled = list(_misled_columns(state.files, case.made(step), history))
    lost: dict[str, frozenset[str]] = {}
    for column in misled:
        if path := history[-1].schema.path_of(column.id):
            lost[path] = lost.get(path, frozenset()) | frozenset(column.keys)
    return HiddenFromReaders(
        *of_rows,
        _listed(state, history),
        _outdated_types(state, history),
        _mistaken(state, history, misled),
        lost,
        conditions,
        _taken(state, history, misled, query),
        lists,
    )


def _root(path: str) -> str:
    return path.partition(".")[0].lower()


def _listed(state: StateRecord, history: History) -> frozenset[str]:
    """Return the columns that the catalog lists, in lower case; none where it has none of a table.

    Of a Delta table Spark lists `col array<string>` alone, which nobody goes by (class
    HiveExternalCatalog, EMPTY_DATA_SCHEMA).
    """
    listed = frozenset(map(str.lower, state.catalog))
    names = {name.lower() for truth in history for name in truth.schema.names}
    return listed if listed & names else frozenset()


def _outdated_types(state: StateRecord, history: History) -> Mapping[str, str]:
    """Return the columns, in lower case, that the catalog lists with a type of before."""
    listed = dict(zip(map(str.lower, state.catalog), state.catalog_types, strict=False))
    result: dict[str, str] = {}
    for column in history[-1].schema.fields:
        name, then = column.name.lower(), (t.schema.by_id(column.id) for t in history[:-1])
        type_ = listed.get(name, "")
        if type_ != str(column.type) and type_ in {str(field.type) for field in then if field}:
            result[name] = type_
    return result


def _mistaken(
    state: StateRecord, history: History, misled: Sequence[_MisledColumn]
) -> Mapping[str, frozenset[int]]:
    """Return the columns that the table's own history takes for others, with those fields.

    It gives them an id that another column had, or its mapping of names, or the catalog where a
    file says nothing of its columns, leads from the column of a file to another one.
    """

    def called(name: str, history: History) -> frozenset[int]:
        fields = (field for truth in history for field in truth.schema.fields)
        return frozenset(field.id for field in fields if field.name.lower() == name.lower())

    result: dict[str, frozenset[int]] = {}
    for name, before in state.schema_history.former_names if state.schema_history else ():
        now, others = called(name, history[-1:]), called(before, history)
        if now and not now & others:
            result[name.lower()] = result.get(name.lower(), frozenset()) | others
    for column in misled:
        if column.shown_as:
            result[column.shown_as] = result.get(column.shown_as, frozenset()) | {column.id}
    return result


@dataclass(frozen=True, slots=True)
class _MisledColumn:
    """A column of a file, or a part of a struct, that nothing leads to."""

    id: int
    keys: tuple[str, ...]
    """Text of the record keys in the file."""
    step: int
    """The one that wrote the file."""
    shown_as: str = ""
    """The column of now, in lower case, whose readers are led to it; empty: none is."""


def _misled_columns(
    files: Sequence[FileFact], made: Mapping[str, int], history: History
) -> Iterator[_MisledColumn]:
    """Yield such columns of the files of the last step; `made`: the step of each instant.

    A mapping of names leads to files without ids (Iceberg), and the catalog's list, place by place,
    to those that say nothing of their columns.
    """
    now = history[-1]
    for file in (file for file in files if file.instant in made):
        then = history[made[file.instant]]
        if file.nameless:
            yield from _by_position(file.keys, then.step, _stored(then), _stored(now))
            continue
        for name in (name for name in file.lost_names if then.schema.has(name)):
            id_ = then.schema.find(name).id
            led = name in file.misled_names and now.schema.has(name)
            other = led and now.schema.find(name).id != id_
            yield _MisledColumn(id_, file.keys, then.step, _root(name) if other else "")


def _by_position(
    keys: tuple[str, ...], step: int, then: Sequence[Field], now: Sequence[Field], root: str = ""
) -> Iterator[_MisledColumn]:
    for old, new in zip_longest(then, now[: len(then)]):
        shown_as = root or (new.name.lower() if new else "")
        if new is None or new.id != old.id:
            yield _MisledColumn(old.id, keys, step, shown_as if new else "")
        else:
            yield from _by_position(keys, step, old.children, new.children, shown_as)


def _taken(
    state: StateRecord, history: History, misled: Sequence[_MisledColumn], query: Query
) -> Mapping[str, bool]:
    """Return of which rows that are read as `misled` says the conditions take which.

    Not of rows of several files, nor where a condition is on a column of which a part is misled, or
    which would be read in another type.
    """
    if not query.conditions or not misled:
        return {}
    now = history[-1]
    files = Counter(key for file in state.files for key in file.keys)
    columns = {column.name.lower(): column for column in now.schema.fields}
    led = {
        text_of(row.key): dict(zip(now.schema.names, row_values(row, now.schema), strict=True))
        for row in now.rows.values()
    }
    unknown = {key for key, count in files.items() if count > 1}
    for column in misled:
        whole = {field.id: field.name for field in now.schema.fields}.get(column.id)
        path = now.schema.path_of(column.id)
        for key in led.keys() & set(column.keys):
            if whole:
                led[key][whole] = None
            elif path and _root(path) in map(_root, query.filters):
                unknown.add(key)
    for column in (column for column in misled if column.shown_as):
        then, shown_as = history[column.step], columns[column.shown_as]
        field_then = next((f for f in then.schema.fields if f.id == column.id), None)
        rows = {text_of(row.key): row for row in then.rows.values()}
        for key in led.keys() & set(column.keys):
            if field_then is None or field_then.type != shown_as.type or key not in rows:
                unknown.add(key)
            else:
                led[key][shown_as.name] = named(rows[key].of(field_then), field_then)
    result: dict[str, bool] = {}
    for key in {key for column in misled for key in column.keys} & led.keys() - unknown:
        with suppress(ValueError):  # a value that is not predicted, or cannot be compared
            result[key] = query.takes(led[key])
    return result


def _stored(truth: Truth) -> Sequence[Field]:
    # The values of others stand in the path.
    by = truth.table.partition_by
    return [field for field in truth.schema.fields if field.name not in by]
