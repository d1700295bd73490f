"""What a well-formed scenario must also be: possible from its first step to its last.

All steps are tried on the model; each that cannot be done is told with its line.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from itertools import pairwise
from typing import Final

from harness.core.problems import Problems
from harness.core.yaml_reader import Document
from harness.model.datatypes import VARIANT, Array, DataType, Map, Primitive, Struct, every_type
from harness.model.identifiers import CHANGE_COLUMNS
from harness.model.schema import Field, Schema, SchemaChangeError, schema_of
from harness.model.simulation.column_resolution import META
from harness.model.truth import History, Truth, row_values
from harness.model.values import MAX_FIELD, MAX_ROW, MAX_STEP
from harness.scenario.definition import Scenario
from harness.scenario.operations import name_of
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.indexes import CreateIndex, DropIndex
from harness.scenario.operations.unfinished_writes import BeginWrite, CommitWrite

MAX_NAME: Final = 200
_NOT_IN_NAMES: Final = frozenset(".,{}")
"""Dots part the names of a path; Spark refuses commas, by which a metastore parts columns, and puts
something else in the place of `${name}`, also in quotes."""
HUDIS: Final = frozenset({*META, "_hoodie_operation", "_hoodie_is_deleted"})
"""The names whose columns Hudi writes or goes by itself: in the last one `true` deletes the row
(`HoodieRecord`). No other one that begins with `_hoodie_` is known to it."""
KEY_TYPES: Final = ("string", "int", "long")
ORDER_TYPES: Final = ("long", "int", "double", "float", "date", "timestamp", "string")
"""Types whose generated values grow from step to step."""
PARTITION_TYPES: Final = (
    "string",
    "int",
    "long",
    "boolean",
    "date",
    "timestamp",
    "decimal",
    "binary",
)


def check(scenario: Scenario, document: Document, keeping_case: Collection[str]) -> None:
    """Note everything that cannot be; later checks need what earlier ones found right."""
    problems = document.problems
    _check_sizes(scenario, document)
    if problems:
        return
    _check_table(scenario, document)
    if problems:
        return
    survey = scenario.survey
    _check_names(scenario, survey.history, document, keeping_case)
    _check_types(scenario, survey.history, document)
    for number, wrong in survey.wrong.items():
        added = scenario.steps[number - 1].operation
        if isinstance(added, AddColumn) and "" in added.name.split("."):
            # Then it is no path to anything.
            wrong = f"{_short(added.name)} is {_wrong_name('')}"  # noqa: PLW2901
        _note(scenario, number, wrong, problems)
    _check_begun(scenario, problems)
    if len(survey.keys) > MAX_ROW:
        message = _too_many("rows with different keys", len(survey.keys), MAX_ROW)
        problems.add(scenario.steps[-1].line, message)
    if not problems:
        _check_values(scenario, problems)


def _check_sizes(scenario: Scenario, document: Document) -> None:
    """Note what is too much for traceable values; to try such steps could take for ever, too."""
    last, problems = scenario.steps[-1].line, document.problems
    if len(scenario.steps) > MAX_STEP:
        problems.add(last, _too_many("steps", len(scenario.steps), MAX_STEP))
    columns = schema_of(scenario.table.columns).last_id
    line = document.line(("table", "columns")) if columns > MAX_FIELD else last
    added = (tuple(operation.typed().items()) for operation in scenario.operations)
    columns += sum(schema_of(new).last_id for new in added)
    if columns > MAX_FIELD:
        what = "columns (parts of nested ones and dropped ones count)"
        problems.add(line, _too_many(what, columns, MAX_FIELD))
    for number, step in enumerate(scenario.steps, start=1):
        values = (getattr(step.operation, field.name) for field in fields(step.operation))  # type: ignore[arg-type]
        for count in (len(value) for value in values if isinstance(value, tuple)):
            if count > MAX_ROW:
                _note(scenario, number, _too_many("rows", count, MAX_ROW), problems)


def _too_many(what: str, count: int, most: int) -> str:
    return f"{count} {what}: traceable values tell at most {most} apart; split the file"


def _check_table(scenario: Scenario, document: Document) -> None:
    table = scenario.table
    types = dict(table.columns)
    roles: list[tuple[str, str, tuple[str, ...]]] = [("key", table.key, KEY_TYPES)]
    roles += [("order_by", name, ORDER_TYPES) for name in table.order_by]
    roles += [("partition_by", name, PARTITION_TYPES) for name in table.partition_by]
    for role, name, allowed in roles:
        if name not in types:
            have = ", ".join(types) or "none"
            wrong = f"there is no column '{name}'; there are: {have}"
        elif str(types[name]).partition("(")[0] not in allowed:
            wrong = f"'{name}' is {types[name]}; allowed: {', '.join(allowed)}"
        else:
            continue
        document.note(("table", role), f"table: {role}: {wrong}")
    for name, times in Counter(table.fixed).items():
        if times > 1:
            wrong = f"table: '{name}' stands twice in key, order_by and partition_by; once is all"
            document.note(("table", "key"), wrong)
    try:
        schema_of(table.columns, table.options)
    except SchemaChangeError as problem:
        document.note(("table", "options"), f"table: options: {problem}")
    for name, option in table.options:
        given = (option.default is not None) + bool(option.generated) + option.identity
        if given != 1 or name in table.fixed:
            wrong = f"'{name}' may have one of default, generated and identity, and no role"
            document.note(("table", "options", name), f"table: options: {wrong}")


def _check_names(
    scenario: Scenario, history: History, document: Document, keeping_case: Collection[str]
) -> None:
    lines: dict[str, int] = {}
    for truth in history:
        columns = document.line(("table", "columns"))
        line = scenario.steps[truth.step - 1].line if truth.step else columns
        for wrong in _wrong_names(scenario, truth.schema, keeping_case):
            lines.setdefault(wrong, line)
    for wrong, line in lines.items():
        document.problems.add(line, wrong)


def _wrong_names(
    scenario: Scenario, schema: Schema, keeping_case: Collection[str]
) -> Iterator[str]:
    keeping = bool(scenario.formats) and set(scenario.formats) <= set(keeping_case)
    in_any_case = set(schema.names).difference(scenario.table.fixed) if keeping else set()
    yield from _wrong_siblings(schema.fields, in_any_case, keeping_case)
    for field in schema.walk():
        yield from _wrong_siblings(field.children, set(), keeping_case)


def _wrong_siblings(
    siblings: Iterable[Field], in_any_case: set[str], keeping_case: Collection[str]
) -> Iterator[str]:
    names: dict[str, str] = {}
    for name in (field.name for field in siblings):
        other = names.setdefault(name.casefold(), name)
        if other != name:
            yield f"'{other}' and '{name}' differ only in case, and engines take them for one"
        elif why := _wrong_name(name.lower() if name in in_any_case else name, keeping_case):
            yield f"{_short(name)} is {why}"


def _short(name: str) -> str:
    return repr(name if len(name) <= MAX_NAME else name[:20] + "…")


def _wrong_name(name: str, keeping_case: Collection[str] = ()) -> str:
    """Return why a column cannot be called so; seen with Spark 3.5 and a metastore of Hive 3.1."""
    if not 0 < len(name) <= MAX_NAME or set(name) & _NOT_IN_NAMES or not name.isprintable():
        allowed = f"1 to {MAX_NAME} printable characters without . , {{ }}"
        return f"not a name for a column; allowed: {allowed}"
    if name != name.lower():
        return (
            f"not in lower case, and the metastore keeps no other names; write '{name.lower()}' "
            f"(columns may be so with formats: [{', '.join(sorted(keeping_case))}])"
        )
    if name.lower() in HUDIS:
        return f"a name of Hudi's own columns; allowed: any but {', '.join(sorted(HUDIS))}"
    if name.lower() in CHANGE_COLUMNS:
        names = ", ".join(sorted(CHANGE_COLUMNS))
        return f"a name of the columns of Delta's change data feed; allowed: any but {names}"
    return ""


def _check_types(scenario: Scenario, history: History, document: Document) -> None:
    """Note types that no reader could be judged by, each where it comes to be."""
    known: dict[int, DataType] = {}
    for truth in history:
        for field in truth.schema.fields:
            why = "" if known.get(field.id) == field.type else _unreadable_part(field.type)
            known[field.id] = field.type
            if not why:
                continue
            message = f"'{field.name}' has {why}, for not every engine's answers tell such values"
            if truth.step:
                _note(scenario, truth.step, message, document.problems)
            else:
                document.note(("table", "columns", field.name), f"table: columns: {message}")


def _check_begun(scenario: Scenario, problems: Problems) -> None:
    """Note a write that is begun while its last one waits, and a drop of what was not made."""
    waits, indexed = 0, set[str]()
    for number, step in enumerate(scenario.steps, start=1):
        if isinstance(step.operation, BeginWrite):
            if waits:
                wrong = f"the write that step {waits} began still waits; a commit_write goes first"
                _note(scenario, number, wrong, problems)
            waits = number
        elif isinstance(step.operation, CommitWrite):
            waits = 0
        elif isinstance(step.operation, CreateIndex):
            indexed.add(step.operation.column)
        elif isinstance(step.operation, DropIndex) and step.operation.column not in indexed:
            made = ", ".join(sorted(indexed)) or "none"
            wrong = f"no create_index was of '{step.operation.column}'; there are: {made}"
            _note(scenario, number, wrong, problems)


def _check_values(scenario: Scenario, problems: Problems) -> None:
    history = scenario.truths(merge_on_read=True).history()
    steps: dict[str, int] = {}
    for before, after in pairwise(history):
        for wrong in (*_inexact(after), *_not_growing(before, after)):
            steps.setdefault(wrong, after.step)
    for wrong, number in steps.items():
        _note(scenario, number, wrong, problems)


def _inexact(truth: Truth) -> Iterator[str]:
    for row in (*truth.rows.values(), *truth.base.values()):
        try:
            row_values(row, truth.schema)
        except ValueError as wrong:
            yield f"row {row.key}: {wrong}; take types that hold the values exactly"


def _not_growing(before: Truth, after: Truth) -> Iterator[str]:
    # What comes late has operations of its own, for then the table's merge mode decides.
    order, late = after.ordering, after.sent_contested
    for key, row in after.rows.items() if order else ():
        new = after.ordering_values(row)
        old = before.ordering_values(before.rows[key]) if key in before.rows else new
        if any(row.written[at] == after.step for at in order) and not (
            new >= old or late.get(key) is row
        ):
            was, now = (", ".join(map(str, values)) for values in (old, new))
            yield f"row {key}: the ordering column goes from {was} to {now}; it must not fall"


def _note(scenario: Scenario, number: int, wrong: str, problems: Problems) -> None:
    step = scenario.steps[number - 1]
    problems.add(step.line, f"step {number} {name_of(step.operation)}: {wrong}")


BINARY: Final = Primitive("binary")


def _unreadable_part(type_: DataType) -> str:
    """Return which part of a column's type cannot be read from every engine, empty when all can.

    Hive sends values with parts as text in which bytes stand as they are, without quotes
    (`SerDeUtils.getJSONString` of 3.1.3). Trino and PrestoDB send a map as an object of JSON, whose
    keys are texts: of bytes Trino's own print or base64, of values with parts a text of Java's.
    """
    for key in (inner.key for inner in every_type(type_) if isinstance(inner, Map)):
        if key == BINARY or isinstance(key, Struct | Array | Map):
            return f"a map with keys of {key}; allowed are keys without parts, and not binary"
    for alone in (BINARY, VARIANT):
        if type_ != alone and alone in every_type(type_):
            return f"{alone} inside of another type; allowed is {alone} as a column alone"
    return ""
