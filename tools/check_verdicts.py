"""Check verdicts by the tables' files, with none of the judge's code.

    python tools/check_verdicts.py sample RUN_OR_RECORDING … --seed COMMIT --out FILE
    python tools/check_verdicts.py check RUN_OR_RECORDING … --out FILE

`sample` takes, at random, cells in which somebody is held responsible: so many in all, so many of
every format and responsible, and writes a JSON line for each. It works out for each of these what
the table's files say (`tools/table_files.py` reads those of a run; of a recording there is what it
has of them), and whose doing that is by the rules below, puts that beside the verdict, and ends
with 1 where the two disagree. What it cannot decide somebody looks at: a line with `"by": "hand"`
stays as it is when `check` does the same for a list of before.

The rules: a reader is responsible for a value where the table holds what was expected, by its own
record of names, or, where it keeps none, in whichever column; the writer where it holds what was
shown, and no column what was expected. The folder is where its name alone says what was shown, the
catalog where the entry that was asked does not list the folder or column, the history where the
table's record of names leads to another column than the one with what was expected. The columns are
where Hive shows what the list of columns that the catalog keeps of a row's partition leaves of the
value, and the file has it as it was expected, under the table's name: else two rules may have done
it. A row that is not shown is the reader's if a file holds it as it was expected, one that should
not be there if none does, and one that is there twice if the table has it once. All else is
undecided.
"""

import argparse
import datetime
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from harness.run import pipeline

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness.artifacts.cache import Cache
from harness.core.errors import UsageProblem
from harness.core.records import FileValues, Finding, StateRecord, Witness
from harness.model.canonical import MapValue
from harness.model.file_facts import ColumnStatistics, FileFact
from harness.model.query import ALL, Comparison, Condition, Query
from harness.run import load_run
from harness.run.load_run import INFO
from harness.scenario.cells import Cell
from tests.builders import recordings
from tools.shared import table
from tools.table_files import Paths, StoredRow, Written, by_history, folders, left_of, rows_of

READER: Final = "reader"
WRITER: Final = "writer"
CATALOG: Final = "catalog"
COLUMNS: Final = "columns"
FOLDER: Final = "folder"
HISTORY: Final = "history"
STATISTICS: Final = "statistics"
UNDECIDED: Final = "undecided"
NOBODY: Final = ("None", "model", "unsure")
"""What a finding says where nobody is held responsible."""
ENTRIES: Final = {"read_optimized": "t_ro", "snapshot": "t_rt"}
"""The catalog entry of a Hudi table that is asked for a view; else `t`."""
BY_LISTS: Final = "hive-"
"""The reader that goes by the catalog's lists of columns of partitions."""
BASE_ONLY: Final = "read_optimized"
BY_FIELD_ID: Final = ("iceberg", "delta")
FINDING: Final = TypeAdapter(Finding)


class CheckedCell(NamedTuple):
    """A cell that was judged."""

    cell: Cell
    kind: str
    findings: tuple[Finding, ...] = ()
    query: Query = ALL

    @property
    def responsible(self) -> list[str]:
        return sorted({str(f.responsible) for f in self.findings} - set(NOBODY))


class CheckedVariant(NamedTuple):
    """A variant with what was recorded and judged of it, whether of a run or of a recording."""

    format: str
    key: str
    states: Sequence[StateRecord]
    cells: Sequence[CheckedCell]
    tables: Mapping[int, Path] = {}
    """Those that are in the cache, by step."""


Columns = Sequence[tuple[str, str]]
"""The names and types of a list of columns in the catalog, those of partitions left out."""


class StoredTable(NamedTuple):
    """What is read of a table, by its own files or as it was recorded, and what a catalog lists."""

    rows: Sequence[StoredRow]
    key: str
    columns: Sequence[str] = ()
    """Of the catalog's entry, those of partitions last; none where nobody reads by it."""
    listed: frozenset[str] | None = None
    """The folders that it lists; None where it lists none of any table of that format."""
    statistics: Sequence[ColumnStatistics] = ()
    """Those that were recorded because files contradict them."""
    statements: Sequence[tuple[int, str]] = ()
    """Those that were sent until the view's step, each with its step."""
    lists: Mapping[str, Columns] = {}
    """The catalog's columns of the partition in each folder, where they are not `list_of_table`."""
    list_of_table: Columns = ()

    def versions(self, key: str) -> list[StoredRow]:
        at = str(self.columns.index(self.key)) if self.key in self.columns else self.key

        def is_called(row: StoredRow) -> bool:
            values = (row.values[name] for name in (self.key, at) if name in row.values)
            return any(key in map(str, variants_of(value)) for value in values)

        return list(filter(is_called, self.rows))


class ByFiles(NamedTuple):
    """Whose doing one place is by the files, and what was found."""

    who: str
    evidence: str


def variants(path: Path) -> Iterator[CheckedVariant]:
    """Read a run's folder or a recording."""
    if not (path / INFO).exists():
        yield from map(_of_recording, recordings.read_all(path))
        return
    run = load_run.load(path)
    cells = {cell.case: cell for cell in run.info.cells}
    try:
        frozen = pipeline.states_of(run.states, Cache.default())
    except UsageProblem as problem:
        print(f"{problem}: what was recorded of the files is used", file=sys.stderr)
        frozen = {}
    for info in run.info.variants:
        verdicts = [verdict for verdict in run.verdicts if verdict.variant == info.id]
        answers = {v.case: run.answers.get(v.case) for v in verdicts if v.findings}
        yield CheckedVariant(
            info.format,
            info.key,
            [state for state in run.states if state.variant == info.id],
            [
                CheckedCell(
                    cells[verdict.case],
                    str(verdict.verdict),
                    verdict.findings,
                    answer.question if (answer := answers.get(verdict.case)) else ALL,
                )
                for verdict in verdicts
            ],
            {step: state.table for (name, step), state in frozen.items() if name == info.id},
        )


def _of_recording(recorded: recordings.Recorded) -> CheckedVariant:
    return CheckedVariant(
        recorded.variant.format,
        recorded.variant.scenario.table.key,
        recorded.states,
        [
            CheckedCell(
                cell,
                verdict["verdict"],
                tuple(map(_finding, verdict.get("findings", ()))),
                answer.question if (answer := recorded.answers.get(cell)) else ALL,
            )
            for cell, verdict in recorded.verdicts.items()
        ],
    )


def _finding(recorded: Mapping[str, Any]) -> Finding:
    """Return a finding of a recording, in which the first of its places is not repeated."""
    return FINDING.validate_python({"witness": recorded["places"][0], **recorded})


# Values


def plain(value: object) -> object:
    """Return a value so that what engines, files and records call the same is equal.

    >>> plain(Decimal("1.50")) == plain(1.5), plain(datetime.datetime(2024, 1, 2, 3))
    (True, '2024-01-02T03:00:00')
    >>> plain({"a": (1, None)}), plain(MapValue((("k", 1),)))
    ((('a', ('1', None)),), (('k', '1'),))
    """
    match value:
        case None | bool() | str():
            return value
        case int() | float() | Decimal():
            number = Decimal(str(value))
            return f"{number.normalize():f}" if number.is_finite() else str(number)
        case datetime.datetime():
            utc = value.astimezone(datetime.UTC) if value.tzinfo else value
            return utc.replace(tzinfo=None).isoformat()
        case datetime.date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case MapValue():
            return tuple(sorted(((plain(k), plain(v)) for k, v in value.pairs), key=str))
        case dict():
            return tuple((name, plain(part)) for name, part in value.items())
        case list() | tuple():
            return tuple(map(plain, value))
    return str(value)


def variants_of(value: object) -> Iterator[object]:
    """Yield a plain value; of a text that stands for another value, what it stands for too.

    A moment is also alike the one that an engine of milliseconds has of it.

    >>> [[*variants_of(text)] for text in (Written("1.50"), Written("true"), "1.50")]
    [['1.50', '1.5'], ['true', True], ['1.50']]
    """
    yield plain(value)
    if isinstance(value, datetime.datetime):
        yield plain(value.replace(microsecond=value.microsecond // 1000 * 1000))
    if isinstance(value, Written):
        text = str(value)
        if text in {"true", "false"}:
            yield text == "true"
        try:
            yield plain(Decimal(text))
        except InvalidOperation:
            try:
                yield plain(datetime.datetime.fromisoformat(text))
            except ValueError:
                return


def leaves(value: object) -> Iterator[object]:
    """Yield a value and all that is in it, plain."""
    yield from variants_of(value)
    match value:
        case dict():
            parts: Iterable[object] = value.values()
        case MapValue():
            parts = [part for pair in value.pairs for part in pair]
        case list() | tuple():
            parts = value
        case _:
            parts = ()
    for part in parts:
        yield from leaves(part)


def holds_all(row: StoredRow, expected: object) -> bool:
    """Return whether a row has all values that were expected of it, in whichever columns."""
    there = set(map(str, leaves(list(row.values.values()))))
    due = [leaf for leaf in leaves(expected) if leaf is not None and not isinstance(leaf, tuple)]
    return {str(leaf) for leaf in due} <= there


def _meets(row: StoredRow, condition: Condition, table: StoredTable) -> bool | None:
    """Return whether a condition holds for a row; None where that is not sure.

    Without a record of names a value is found in whichever column, and NULL by the column's name if
    nothing was renamed.
    """
    test = condition.test
    if row.current is None and test is Comparison.EQUAL:
        return plain(condition.value) in list(leaves(list(row.values.values())))
    there, value = _dig(row.values if row.current is None else row.current, condition.path)
    if row.current is None:
        by_name = there or not any(text.startswith("metastore") for _, text in table.statements)
        there = by_name and not any(_renames(text, condition.path) for _, text in table.statements)
        there = there and not any(_defaults(text, condition.path) for _, text in table.statements)
        value = None if _dropped(table, row, condition.path) else value
    if not there:
        return None
    match test:
        case Comparison.NULL:
            return value is None
        case Comparison.NOT_NULL:
            return value is not None
        case Comparison.EQUAL:
            return plain(condition.value) in list(variants_of(value))
    try:
        return value is not None and bool(value >= condition.value)
    except TypeError:
        return None


def _renames(statement: str, path: str) -> bool:
    """Return whether a statement makes a name of a path that of another column, or may do so."""
    names = (f"`{name}`" for name in path.split("."))
    words = statement.casefold().split()
    changes = {"rename", "change", "replace"} & set(words[:6])
    return bool(changes) and any(name.casefold() in statement.casefold() for name in names)


def _defaults(statement: str, path: str) -> bool:
    """Return whether a statement gives a column a default, which older files do not have."""
    return '"default"' in statement and f'"name": "{path}"' in statement


def _by_number(row: StoredRow, table: StoredTable) -> StoredRow:
    """Return a row of a text file by the names that the catalog gives to its fields, in order."""
    named = {
        name: row.values[str(at)] for at, name in enumerate(table.columns) if str(at) in row.values
    }
    return row._replace(current={**row.values, **named}) if named else row


def _dig(row: Mapping[str, object], path: str) -> tuple[bool, object]:
    """Return whether a row has a path, and what stands there; a part of NULL is NULL."""
    value: object = {name.casefold(): part for name, part in row.items()}
    for name in path.casefold().replace("[", ".").replace("]", "").split("."):
        match value:
            case None:
                return True, None
            case dict():
                parts = {str(key).casefold(): part for key, part in value.items()}
                if name not in parts:
                    return False, None
                value = parts[name]
            case list() | tuple() if name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            case _:
                return False, None
    return True, value


# What a table holds


@cache
def stored_table(folder: Path, key: str, view: str) -> StoredTable:
    """Read a table that is in the cache, and what the catalog's entry lists of it."""
    rows = rows_of(folder, base_only=view == BASE_ONLY)
    state = json.loads((folder.parent / "state.json").read_text(encoding="utf-8"))
    entries = {entry["name"]: entry for entry in state["entries"]}
    entry = entries.get(ENTRIES.get(view, "t"), entries.get("t"))
    if entry is None or (folder / "_delta_log").exists() or (folder / "metadata").exists():
        return StoredTable(rows, key)
    keys = [part["name"] for part in entry["table"]["partitionKeys"]]
    columns = [part["name"].casefold() for part in entry["table"]["sd"]["cols"]]
    places = [part["sd"]["location"].partition("{location}")[2] for part in entry["partitions"]]
    listed = frozenset(place.strip("/") for place in places)
    now = _columns(entry["table"])
    lists = {
        place.strip("/"): of_partition
        for place, part in zip(places, entry["partitions"], strict=True)
        if (of_partition := _columns(part)) and of_partition != now
    }
    shown = listed if keys else None
    return StoredTable(rows, key, (*columns, *keys), shown, lists=lists, list_of_table=now)


def _columns(data: Mapping[str, Any]) -> Columns:
    return [(column["name"], column.get("type", "")) for column in data["sd"].get("cols", ())]


class RecordedTable:
    """The rows of a variant's files as they were recorded."""

    def __init__(self, variant: CheckedVariant) -> None:
        self.variant = variant
        self.steps = {state.outcome.instant: state.outcome.step for state in variant.states}
        self.values: dict[FileFact, FileValues] = {}
        for state in variant.states:
            self.steps |= dict(state.others)
            for values in state.values:
                self.values.setdefault(state.files[values.file], values)

    def table(self, step: int, view: str) -> StoredTable:
        """Return the newest version of each row in each group of files, deleted ones left out."""
        state = next(state for state in self.variant.states if state.outcome.step == step)
        result = dict[tuple[str, str], StoredRow]()
        versions = state.schema_history.versions if state.schema_history else ()
        history: dict[str, Paths] = {
            one.instant: {id_: path for id_, path, _ in one.fields} for one in versions
        }
        order = sorted(
            enumerate(state.files), key=lambda at: (self.steps.get(at[1].instant, -1), at[0])
        )
        for _, file in order:
            if view == BASE_ONLY and str(file.kind) != "base":
                continue
            for key in file.deleted:
                result.pop((file.file_group, key), None)
            for key, values in zip(file.keys, self.rows(file), strict=False):
                row = {self.variant.key: key, **values}
                current = by_history(row, history, file.instant) if history else None
                written = self.steps.get(file.instant, -1)
                result[file.file_group, key] = StoredRow(file.path, row, current, "", written)
        unlisted = dict(state.unlisted_at).get(ENTRIES.get(view, "t"), state.unlisted)
        places = {file.path.rpartition("/")[0] for file in state.files}
        listed = frozenset(places - set(unlisted)) if unlisted else None
        name = ENTRIES.get(view, "t")
        names = [of for one in state.partition_columns or () for of in one.entries]
        entry = name if name in names else "t"
        differ = [one for one in state.partition_columns or () if entry in one.entries]
        return StoredTable(
            list(result.values()),
            self.variant.key,
            () if self.variant.format in BY_FIELD_ID else state.catalog,
            listed,
            lists={place: list_ for one in differ for list_, at in one.partitions for place in at},
            list_of_table=differ[0].table if differ else (),
        )

    def rows(self, file: FileFact) -> list[dict[str, Any]]:
        values = self.values.get(file, FileValues(0))
        names = dict(zip(file.stored_names, (name for name, _ in file.columns), strict=False))
        by_folder = {name: several[0] for name, several in folders(file.path).items()}
        columns = [names.get(name, name) for name in values.columns]
        if file.nameless:
            columns = list(map(str, range(len(columns))))
        return [{**by_folder, **dict(zip(columns, row, strict=True))} for row in values.rows]


# Whose doing it is


def decide(kind: str, place: Witness, table: StoredTable, query: Query) -> ByFiles:
    """Return who is responsible for one difference, by files and catalog."""
    if kind == "type_drift" and not place.key:
        return ByFiles(UNDECIDED, f"{place.column}: {place.expected} expected, {place.raw} shown")
    if not place.key:
        return _count(place, table, query)
    versions = table.versions(place.key)
    if len(versions) == 1 and (by_list := _of_list(kind, place, table, versions[0], query)):
        return by_list
    where = ", ".join(row.file for row in versions) or "no live file"
    doubts = [row.doubtful for row in versions if row.doubtful]
    if doubts:
        return ByFiles(UNDECIDED, doubts[0])
    match kind:
        case "lost_row":
            return _lost(place, table, versions, query)
        case "ghost_row":
            return _ghost(place, table, versions, query)
        case "duplicate":
            who = WRITER if len(versions) > 1 else READER
            return ByFiles(who, f"row {place.key} is in {where}")
    if len({str(plain(row.values)) for row in versions}) != 1:
        return ByFiles(UNDECIDED, f"row {place.key} is in {where}")
    return _value(place, table, versions[0])


# The catalog's lists of the columns of partitions


def listed_row(row: StoredRow, table: StoredTable) -> StoredRow | None:
    """Return a row by the table's names, as the list of its partition leaves it.

    It lacks the columns of which that is not known. None where the table's list holds.
    """
    listed = table.lists.get(row.file.rpartition("/")[0])
    if listed is None or row.doubtful:
        return None
    given = {name.casefold(): value for name, value in row.values.items()}
    for at, (name, now) in enumerate(table.list_of_table):
        key = name.casefold()
        if at >= len(listed):
            given[key] = None
        elif key in given:
            value = given.pop(key)
            with suppress(ValueError):
                given[key] = left_of(value, now, listed[at][1])
    return row._replace(current=given)


def _meets_by_list(row: StoredRow, table: StoredTable, query: Query) -> bool | None:
    """Return whether a row meets the conditions by what its partition's list leaves of it."""
    listed = listed_row(row, table) if row.file.rpartition("/")[0] in table.lists else row
    met = [listed and _meets(listed, one, table) for one in query.conditions]
    return None if None in met else all(met)


def _of_list(
    kind: str, place: Witness, table: StoredTable, row: StoredRow, query: Query
) -> ByFiles | None:
    """Return what to say where the list of a row's partition explains what is shown of it."""
    listed = listed_row(row, table)
    if listed is None:
        return None
    by_name = row._replace(current={name.casefold(): v for name, v in row.values.items()})
    where = f"row {place.key} in {row.file}"
    if kind in {"lost_row", "ghost_row"}:
        met = all(_meets(by_name, one, table) is True for one in query.conditions)
        shown = _meets_by_list(row, table, query)
        if shown is None or met is shown or shown is (kind == "lost_row"):
            return None
        return ByFiles(COLUMNS, f"{where}, by the list of its partition: meets {shown}")
    (known, given), (there, stored) = (
        _dig(one.current or {}, place.column) for one in (listed, by_name)
    )
    if there and not known:
        return ByFiles(UNDECIDED, f"{where}, {place.column}: not sure what the list leaves of it")
    if not known or plain(given) != plain(place.actual) or plain(given) == plain(place.expected):
        return None
    evidence = f"{where}, {place.column}: {stored!r}, by the list of its partition {given!r}"
    only = there and plain(place.expected) in list(variants_of(stored))
    return ByFiles(COLUMNS if only else UNDECIDED, evidence)


def _ghost(
    place: Witness, table: StoredTable, versions: Sequence[StoredRow], query: Query
) -> ByFiles:
    where = ", ".join(row.file for row in versions)
    if not versions:
        return ByFiles(READER, f"row {place.key} is in no live file")
    if any(_by_folder(row, query) for row in versions):
        return ByFiles(FOLDER, f"row {place.key} is in {where}, whose name meets the condition")
    numbered = [_by_number(row, table) for row in versions if "0" in row.values]
    by_order = [_meets(row, one, table) for row in numbered for one in query.conditions]
    if by_order and all(by_order):
        return ByFiles(HISTORY, f"row {place.key} is in {where}; met by the catalog's order")
    met = [_meets(row, one, table) for row in versions for one in query.conditions]
    if len(versions) == 1 and False in met:
        return ByFiles(READER, f"row {place.key} in {where} does not meet the condition")
    return ByFiles(UNDECIDED if query.conditions else WRITER, f"row {place.key} is in {where}")


def _count(place: Witness, table: StoredTable, query: Query) -> ByFiles:
    if not query.count:
        return ByFiles(UNDECIDED, "no row is named")
    met = [[_meets(row, one, table) for one in query.conditions] for row in table.rows]
    if any(row.doubtful for row in table.rows) or any(None in one for one in met):
        return ByFiles(UNDECIDED, "not sure for which rows the condition holds")
    there = [row for row, one in zip(table.rows, met, strict=True) if all(one)]
    evidence = f"{len(there)} rows of the files, expected {place.expected}, shown {place.actual}"
    if plain(place.expected) == plain(len(there)):
        seen = [row for row in there if _listed(table, row)]
        if len(seen) < len(there) and plain(place.actual) == plain(len(seen)):
            return ByFiles(CATALOG, f"{evidence}; {len(seen)} of them are in listed folders")
        met_by_list = [_meets_by_list(row, table, query) for row in table.rows]
        if met_by_list != [all(one) for one in met] and table.lists:
            if None in met_by_list:
                return ByFiles(UNDECIDED, f"{evidence}; not sure what the lists leave")
            if plain(place.actual) == plain(met_by_list.count(True)):
                return ByFiles(COLUMNS, f"{evidence}, as the lists of partitions leave them")
        statistics = _excluding(table, there, query)
        if statistics and not place.actual:
            return ByFiles(STATISTICS, f"{evidence}; {statistics[0]}")
        return ByFiles(READER, evidence)
    return ByFiles(WRITER if plain(place.actual) == plain(len(there)) else UNDECIDED, evidence)


def _listed(table: StoredTable, row: StoredRow) -> bool:
    return table.listed is None or row.file.rpartition("/")[0] in table.listed


def _lost(
    place: Witness, table: StoredTable, versions: Sequence[StoredRow], query: Query
) -> ByFiles:
    where = ", ".join(row.file for row in versions)
    if not versions:
        return ByFiles(WRITER, f"row {place.key} is in no live file")
    if not all(_listed(table, row) for row in versions):
        return ByFiles(CATALOG, f"the catalog does not list the folder of {where}")
    if any(_by_folder(row, query) is False for row in versions):
        return ByFiles(FOLDER, f"the folder says something else than {where}")
    numbered = [_by_number(row, table) for row in versions if "0" in row.values]
    if any(_meets(row, one, table) is False for row in numbered for one in query.conditions):
        return ByFiles(HISTORY, f"row {place.key} is in {where}; not met by the catalog's order")
    if statistics := _excluding(table, versions, query):
        return ByFiles(STATISTICS, f"row {place.key} is in {where}; {statistics[0]}")
    if any(holds_all(row, place.expected) for row in versions):
        return ByFiles(READER, f"row {place.key} is in {where}, with all that was expected")
    return ByFiles(UNDECIDED, f"row {place.key} is in {where}, with other values")


def _excluding(
    table: StoredTable, rows: Sequence[StoredRow], query: Query
) -> list[ColumnStatistics]:
    """Return the statistics by which no file can hold some rows that are asked for."""
    places = {place for row in rows for place in (row.file, row.file.rpartition("/")[0])}
    return [
        statistics
        for statistics in table.statistics
        if statistics.path in places and any(_excludes(statistics, one) for one in query.conditions)
    ]


def _excludes(statistics: ColumnStatistics, condition: Condition) -> bool:
    """Return whether bounds that are stored leave out a value that is asked for."""
    if statistics.column != condition.path or condition.test is not Comparison.EQUAL:
        return False
    stored = [json.loads(text or "null") for text in (statistics.least, statistics.greatest)]
    low, high, at = *stored, plain(condition.value)
    with suppress(InvalidOperation):
        low, high, at = (None if one is None else Decimal(str(one)) for one in (low, high, at))
    return at is not None and bool(
        (low is not None and at < low) or (high is not None and at > high)
    )


def _by_folder(row: StoredRow, query: Query) -> bool | None:
    """Return whether the name of a folder meets a condition; None where it tells nothing."""
    named = folders(row.file)
    for one in query.conditions:
        if one.path in named and one.path in row.values:
            value = named[one.path][0]
            if one.test is Comparison.EQUAL:
                return plain(one.value) in list(variants_of(value))
            if one.test in {Comparison.NULL, Comparison.NOT_NULL}:
                return (value is None) is (one.test is Comparison.NULL)
    return None


def _value(place: Witness, table: StoredTable, row: StoredRow) -> ByFiles:
    root = place.column.partition(".")[0].partition("[")[0].casefold()
    expected, shown = plain(place.expected), plain(place.actual)
    values = {name.casefold(): value for name, value in row.values.items()}
    numbered = any(name.isdigit() for name in values)
    named = str(list(table.columns).index(root)) if numbered and root in table.columns else root
    stands = values.get(named)
    stood = repr(plain(stands)) if named in values else "nothing under this name"
    end = f"; expected {expected!r}, shown {shown!r}"
    evidence = f"row {place.key} in {row.file}, {place.column}: {stood}{end}"
    in_folder = {name.casefold(): value for name, value in folders(row.file).items()}
    if root in in_folder and (who := _of_folder(in_folder[root], expected, shown)):
        return ByFiles(who, f"{evidence}; its folder says {in_folder[root][0]!r}")
    if table.columns and root not in map(str.casefold, table.columns):
        return ByFiles(CATALOG, f"{evidence}; the catalog does not list {root}")
    somewhere = [name for name, value in values.items() if expected in list(leaves(value))]
    if row.current is not None:
        _, value = _dig(row.current, place.column)
        by_record = f"{evidence}; by the table's record of names {plain(value)!r}"
        return ByFiles(_of_record(row.current, place, values, expected, shown), by_record)
    if expected is None and (dropped := _dropped(table, row, place.column)):
        return ByFiles(READER, f"{evidence}; a column of then, dropped by step {dropped}")
    if expected is None:
        return ByFiles(READER if stands is None and not numbered else UNDECIDED, evidence)
    if expected in list(leaves(stands)):
        return ByFiles(READER, evidence)
    if somewhere:
        evidence = f"{evidence}; expected stands in {', '.join(somewhere)}"
        return ByFiles(HISTORY if numbered else READER, evidence)
    there = named in values and shown in list(leaves(stands))
    return ByFiles(WRITER if numbered or there else UNDECIDED, evidence)


def _dropped(table: StoredTable, row: StoredRow, column: str) -> int:
    """Return the step that dropped a column since a row was written; 0 where none did."""
    quoted = ".".join(f"`{name}`" for name in column.split("."))
    for step, text in table.statements:
        if 0 <= row.step < step and text.casefold().endswith(f" drop column {quoted.casefold()}"):
            return step
    return 0


def _of_folder(says: Sequence[object], expected: object, shown: object) -> str:
    names = [one for value in says for one in variants_of(value)]
    if shown in names and expected not in names:
        return FOLDER
    return READER if expected in list(variants_of(says[0])) else ""


def _of_record(
    current: Mapping[str, object],
    place: Witness,
    values: Mapping[str, object],
    expected: object,
    shown: object,
) -> str:
    """Return who it is by what stands where the table's own record of names leads."""
    root = place.column.partition(".")[0].partition("[")[0].casefold()
    there, value = _dig(current, place.column)
    whole = {name.casefold(): part for name, part in current.items()}.get(root)
    if there and expected in list(variants_of(value)):
        return READER
    if there and shown in list(variants_of(value)):
        others = [name for name, part in values.items() if expected in list(leaves(part))]
        return HISTORY if expected is not None and others and root not in others else WRITER
    return READER if expected is not None and expected in list(leaves(whole)) else UNDECIDED


# Cells


def check(variant: CheckedVariant, checked: CheckedCell) -> dict[str, Any]:
    """Return what the files say of a cell beside its verdict."""
    cell = checked.cell
    past = cell.view.partition("(")[2].rstrip(")") if cell.view.startswith("as_of") else ""
    step = int(past or cell.step)
    if source := variant.tables.get(step):
        stored = stored_table(source, variant.key, cell.view)
    else:
        stored = RecordedTable(variant).table(step, cell.view)
    if not cell.reader.startswith(BY_LISTS):
        stored = stored._replace(lists={})
    states = [state for state in variant.states if state.outcome.step <= step]
    sent = [(s.outcome.step, text) for s in states for text in s.outcome.statements]
    stored = stored._replace(statistics=states[-1].statistics.columns, statements=sent)
    results, evidence = set[str](), dict[str, None]()
    for finding in checked.findings:
        who = str(finding.responsible)
        if who in NOBODY:
            continue
        places = [
            decide(str(finding.kind), place, stored, checked.query) for place in finding.witnesses
        ]
        decided = {place.who for place in places} - {UNDECIDED}
        results.add("agrees" if decided == {who} else "disagrees" if decided - {who} else UNDECIDED)
        telling = next((p for p in places if p.who not in {who, UNDECIDED}), None)
        telling = telling or next((p for p in places if p.who == who), places[0])
        evidence[f"{finding.kind} by {who}, {telling.who} by the files: {telling.evidence}"] = None
    worst = next(r for r in ("disagrees", UNDECIDED, "agrees") if r in results)
    files = "tables" if source else "recorded"
    return {"by": "program", "files": files, "result": worst, "evidence": list(evidence)}


def named(every: Iterable[CheckedVariant]) -> dict[str, tuple[CheckedVariant, CheckedCell]]:
    """Return the cells in which somebody is held responsible, by case, the first of each."""
    result = dict[str, tuple[CheckedVariant, CheckedCell]]()
    for variant in every:
        for checked in variant.cells:
            if checked.responsible:
                result.setdefault(checked.cell.case, (variant, checked))
    return result


def draw(
    cells: Mapping[str, tuple[CheckedVariant, CheckedCell]], number: int, least: int, seed: str
) -> list[str]:
    """Return cases drawn at random: so many of each format and responsible, so many in all."""
    order = sorted(cells)
    random.Random(seed).shuffle(order)  # noqa: S311 - to be repeated, not secret
    strata = defaultdict[tuple[str, str], list[str]](list)
    for case in order:
        variant, checked = cells[case]
        for who in checked.responsible:
            strata[variant.format, who].append(case)
    drawn = dict.fromkeys(case for _, stratum in sorted(strata.items()) for case in stratum[:least])
    rest = (case for case in order if case not in drawn)
    drawn |= dict.fromkeys(case for case, _ in zip(rest, range(number - len(drawn)), strict=False))
    return sorted(drawn)


def summary(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    counts = Counter(
        (line["format"], who, line["result"]) for line in lines for who in line["responsible"]
    )
    results = sorted({line["result"] for line in lines})
    strata = sorted({(format_, who) for format_, who, _ in counts})
    rows = [(*at, *(str(counts[*at, result]) for result in results)) for at in strata]
    yield from table(("format", "responsible", *results), rows)
    for line in lines:
        if line["result"] != "agrees":
            yield f"{line['result']}: {line['case']}"
            yield from (f"    {text}" for text in line["evidence"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("check", "sample"))
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs and recordings")
    parser.add_argument("--number", type=int, default=150, help="cells in all")
    parser.add_argument("--each", type=int, default=10, help="cells of each format and responsible")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--out", type=Path, default=Path("drawn.jsonl"), help="the list of cells")
    options = parser.parse_args()
    every = [variant for path in options.runs for variant in variants(path.resolve())]
    cells = named(every)
    if options.what == "check":
        lines = list(map(json.loads, options.out.read_text(encoding="utf-8").splitlines()))
    else:
        lines = [
            {
                "case": case,
                "format": cells[case][0].format,
                "verdict": cells[case][1].kind,
                "responsible": cells[case][1].responsible,
            }
            for case in draw(cells, options.number, options.each, options.seed)
        ]
    lines = [
        line if line.get("by") == "hand" else line | check(*cells[str(line["case"])])
        for line in lines
    ]
    print("\n".join(summary(lines)))
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    options.out.write_text(text, encoding="utf-8")
    return int(any(line.get("result") == "disagrees" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
