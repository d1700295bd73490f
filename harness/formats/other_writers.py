"""What an engine is told of a step of a table whose format it does not make tables of. Pure.

Which engines can write to others' tables, their lock data say (`writes_steps`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from harness import engines
from harness.artifacts import object_storage
from harness.artifacts.distribution import Distribution
from harness.core.problems import one_of
from harness.core.setting_values import MOMENTS
from harness.engines.format_facts import FormatFacts
from harness.engines.library_writes import ColumnWrite, LibraryWrites, TableWrite
from harness.engines.python_library import PythonLibrary
from harness.formats import trinoql
from harness.formats.api import Format, VariantSettings
from harness.formats.hive import hiveql
from harness.formats.hive.format import SCHEMA_CHANGES, SESSION, TIMESTAMP, ZONELESS, hive_type
from harness.formats.iceberg import settings as iceberg_settings
from harness.model.datatypes import DataType, PlainType, map_plain
from harness.model.query import Comparison, Condition, literal_text
from harness.model.schema import Table
from harness.model.truth import Truth, last_write, row_values
from harness.runtime.metastore_objects import DELTA, ICEBERG
from harness.scenario.operations import name_of, registry, row_writes
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, ChangeType, DropColumn, RenameColumn
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.merge_with_schema_evolution import MergeWithSchemaEvolution
from harness.scenario.operations.row_writes import DeleteWhere, InsertWithout, Update
from harness.scenario.operations.services import SetProperty
from harness.scenario.operations.snapshots import Restore
from harness.scenario.statements import (
    LOCATION,
    LibraryWrite,
    NameFiles,
    Register,
    Sql,
    Statement,
    instant_of,
)

WRITES: Final = "writes"
"""Setting of a distribution: the families of formats whose tables it makes; without it, none."""
WRITES_STEPS: Final = "writes_steps"
"""The same of those whose tables it can write to once they are there."""


# Of the rest Hive 3 does nothing to tables of Iceberg (Iceberg documentation, "Hive").
_HIVE: Final[Mapping[str, frozenset[str]]] = {
    "hive": SCHEMA_CHANGES | {"insert", "touch"},
    "iceberg": frozenset({"insert"}),
}
"""What Hive can be told, by the family of a format."""


def family(facts: FormatFacts) -> str:
    """Return what distributions call the tables of a format where they say what they write."""
    return facts.written_by or facts.family


def makes(distribution: Distribution, facts: FormatFacts) -> bool:
    return family(facts) in distribution.texts_if_any(WRITES)


def _is_other(distribution: Distribution, facts: FormatFacts) -> bool:
    """Return whether it is told in words of its own and not in the format's."""
    return family(facts) in distribution.texts_if_any(WRITES_STEPS)


def unsupported(distribution: Distribution, facts: FormatFacts, operation: Operation) -> str:
    """Return why a distribution cannot be told a step of a table; empty where it can."""
    if not _is_other(distribution, facts):
        able = makes(distribution, facts)
        return "" if able else f"{distribution.name} writes no {facts.name} tables"
    kinds, words = registry(), _HIVE[facts.family] if distribution.engine == "hive" else None
    if words is None:
        by_sql = {name for name, kind in kinds.items() if kind in trinoql.OPERATIONS}
        words = frozenset(library_writes(distribution, facts) or by_sql)
    if untold := _untold(operation, library=bool(library_writes(distribution, facts))):
        return f"{distribution.name} is told of no {untold}"
    if (name := name_of(operation)) in words:
        return ""
    allowed = [text for text in kinds if text in words]
    return f"{distribution.name} is told of no {name}; {one_of(name, allowed)}"


def _untold(operation: Operation, *, library: bool) -> str:
    """Return what of an operation has no words; empty if all has."""
    if isinstance(operation, Merge) and (operation.absent or operation.source):
        return "merge with 'absent' or 'source'"
    if library and isinstance(operation, AddColumn):
        plain = AddColumn(operation.name, operation.type)
        return "" if operation == plain else "add_column with more than 'name' and 'type'"
    return ""


def library_writes(distribution: Distribution, facts: FormatFacts) -> LibraryWrites:
    """Return what a library of Python is told; empty for any other engine."""
    engine = engines.load(distribution.engine)
    return engine.writes.get(facts.family, {}) if isinstance(engine, PythonLibrary) else {}


def session(
    distribution: Distribution, shape: Format, settings: VariantSettings, names: Mapping[str, str]
) -> Mapping[str, str]:
    """Return what a session of a writer is told; see `Format.session`. Few others are told any."""
    if not _is_other(distribution, shape.reader_facts):
        return shape.session(settings, names)
    return SESSION if _has_plain_files(distribution, shape.reader_facts) else {}


def _has_plain_files(distribution: Distribution, facts: FormatFacts) -> bool:
    return distribution.engine == facts.family == "hive"


def creation(
    distribution: Distribution, shape: Format, table: Table, settings: VariantSettings
) -> tuple[Statement, ...]:
    """Return the statements of a writer that make the table; see `Format.create`."""
    facts, engine = shape.reader_facts, engines.load(distribution.engine)
    if not _is_other(distribution, facts):
        return shape.create(table, settings)
    if not isinstance(engine, PythonLibrary):
        return (Sql(hiveql.create_table(table, facts.files, kind="external table")),)
    columns = tuple((name, _stored(type_, facts, settings)) for name, type_ in table.columns)
    entry, known = [("col", "array<string>")], DELTA
    if facts.family == "iceberg":
        entry, known = [(name, hive_type(type_)) for name, type_ in columns], ICEBERG
    write = TableWrite(
        columns,
        table.key,
        properties=shape.properties(settings),
        partition_by=table.partition_by,
        location=f"file:{LOCATION}",
    )
    calls = map(LibraryWrite, engine.creates(write))
    return (Register(tuple(entry), tuple(known.items())), *calls)


def _stored(type_: DataType, facts: FormatFacts, settings: VariantSettings) -> DataType:
    """Return a type as the table has it: of those of Iceberg few have moments with a zone."""
    if facts.family != "iceberg" or settings.get(MOMENTS) == iceberg_settings.WITH_ZONE:
        return type_
    return map_plain(type_, _zoneless)


def _zoneless(type_: PlainType) -> DataType:
    return ZONELESS if type_ == TIMESTAMP else type_


def wording(
    distribution: Distribution,
    shape: Format,
    operation: Operation,
    before: Truth,
    after: Truth,
    settings: VariantSettings,
) -> tuple[Statement, ...]:
    """Return the statements of an operation for a writer that can be told; see `Format.wording`."""
    if _is_other(distribution, shape.reader_facts):
        facts = shape.reader_facts
        if writes := library_writes(distribution, facts):
            column = _column_write(operation, partial(_stored, facts=facts, settings=settings))
            write = replace(_write(operation, before, after), column=column)
            call = writes[name_of(operation)](write)
            return (LibraryWrite(call),) if call else ()
        if iceberg_settings.begins(operation, after, settings):
            return iceberg_settings.filled_by_trino(before, after, settings, facts)
        if facts.family in object_storage.written(distribution):
            return trinoql.wording_in_store(operation, before, after, facts)
        if distribution.engine == "hive":  # one catalog has all
            if name_of(operation) in SCHEMA_CHANGES:
                return (Sql(hiveql.changed_columns(before, after, settings)),)
            named = (NameFiles(),) if _has_plain_files(distribution, facts) else ()
            return (Sql(hiveql.whole_rows(before, after, ())), *named)
        return trinoql.wording(operation, before, after, facts)
    return shape.wording(operation, before, after, settings)


def _column_write(
    operation: Operation, stored: Callable[[DataType], DataType]
) -> ColumnWrite | None:
    match operation:
        case AddColumn(path, type_) | ChangeType(path, type_):
            is_new = isinstance(operation, AddColumn)
            return ColumnWrite(path, type=stored(type_), is_new=is_new)
        case RenameColumn(path, name):
            return ColumnWrite(path, name)
        case DropColumn(path):
            return ColumnWrite(path)
    return None


def _write(operation: Operation, before: Truth, after: Truth) -> TableWrite:
    """Return what a library of Python is told: rows, keys and conditions as plain values."""
    key = after.table.key
    rows = [row for key, row in after.rows.items() if before.rows.get(key) != row]
    gone = [row for key, row in before.rows.items() if key not in after.rows]
    set_ = operation.set if isinstance(operation, Update | Merge) else ()
    condition = None
    if isinstance(operation, DeleteWhere):
        condition = row_writes.condition(before, operation.where)
    elif gone:
        texts = [literal_text(row.key) for row in gone]
        of_type = str(after.schema.find(key).type)
        condition = Condition(key, Comparison.IN, texts[0], of_type, tuple(texts[1:]))
    saved = before.saved if isinstance(operation, Restore) else None
    merges = isinstance(operation, Merge | MergeWithSchemaEvolution)
    sent = [*rows, *gone] if merges else rows
    left_out = operation.columns if isinstance(operation, InsertWithout) else ()
    named = tuple(field for field in after.schema.fields if field.name not in left_out)
    schema = replace(after.schema, fields=named)
    return TableWrite(
        tuple((field.name, field.type) for field in named),
        key,
        tuple(row_values(row, schema) for row in sent),
        (*set_, *after.table.order_by) if set_ else (),
        condition,
        instant_of(last_write(saved)) if saved else "",
        {operation.name: operation.value} if isinstance(operation, SetProperty) else {},
    )
