"""What a refusal of a reader that should be right is held against in the records.

Each function gives what makes the refusal checkable for the very cell: what was declared of the
table, what the files hold, what was asked; and None where the records do not bear it out.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Final

from harness.judge.case import READ_OPTIMIZED
from harness.model.canonical import MapValue, Value
from harness.model.datatypes import Array, Map, Primitive, Struct
from harness.model.file_facts import FileKind
from harness.model.schema import Field
from harness.scenario.cells import parse_reader
from tools.measure.known_good_cell import KnownGoodCell, name, short
from tools.measure.known_good_files import META

KEPT: Final = 20
"""So many commits Hudi keeps before it archives any (`hoodie.keep.min.commits`)."""
NEW_LAYOUT: Final = frozenset({"8", "9"})
"""Versions of tables of which the timeline lies in a folder of its own, with one for what is
archived."""
GREGORIAN: Final = datetime.date(1582, 10, 15)
MODERN: Final = datetime.datetime(1900, 1, 1)  # noqa: DTZ001 - canonical timestamps have no zone
HUDIS: Final = 3
"""So many of its own columns Hudi's reader for Hive asks for beside those of a query."""


def archived(known: KnownGoodCell) -> str | None:
    """Hold it against the table's version and how many writes there were."""
    writes = sum(1 for state in known.files.recorded.states if state.outcome.instant)
    if known.state.table_version not in NEW_LAYOUT or writes >= KEPT:
        return None
    version = known.state.table_version
    return f"table version {version}; {writes} writes at most, so nothing is archived before {KEPT}"


def layout(known: KnownGoodCell) -> str | None:
    """Hold it against the table's version."""
    version = known.state.table_version
    return f"table version {version}, timeline layout 2" if version in NEW_LAYOUT else None


def bare(known: KnownGoodCell) -> str | None:
    """Find a file that begins with Hudi's columns, where the catalog lists none."""
    settings = dict(parse_reader(known.reader).settings)
    if not known.state.bare or settings.get("schema-on-read") == "on":
        return None
    fact = next(each for each in known.state.files if each.kind is FileKind.BASE)
    own = [column for column, _ in fact.columns[:META]]
    return f"{name(fact.path)} begins with {own[0]} … {own[-1]}; no catalog entry lists these"


def counted(known: KnownGoodCell) -> str | None:
    """Find a column whose place in a file is taken by one of another kind."""
    settings = dict(parse_reader(known.reader).settings)
    if not known.state.bare or settings.get("use-column-names") != "false":
        return None
    partition = known.files.case.history[0].table.partition_by
    listed = [each for each in known.fields if each.name not in partition]
    fact = next(each for each in known.state.files if each.kind is FileKind.BASE)
    for place, (field, (column, type_)) in enumerate(zip(listed, fact.columns, strict=False), 1):
        if _met_otherwise(field, column, type_, known.error):
            at = f"{field.name} {field.type} is column {place} of the catalog"
            return f"{at}; column {place} of {name(fact.path)} is {column} {type_}"
    return None


def _met_otherwise(field: Field, column: str, type_: str, error: str) -> bool:
    """Return whether an error is about a column that meets this one of a file."""
    if "GroupColumnIO" in error:
        nested = isinstance(field.type, Struct | Array | Map)
        return nested and type_.partition("<")[0] not in {"struct", "list", "map"}
    named = "column" not in error or f"[{column}]" in error or f"column {field.name} of" in error
    return named and str(field.type) == "long" and type_ != "int64"


def deletes(known: KnownGoodCell) -> str | None:
    """Find a delete file of Iceberg's."""
    found = [each for each in known.state.files if each.deleted]
    if not found:
        return None
    keys = ", ".join(found[0].deleted)
    return f"{len(found)} delete file(s), one is {name(found[0].path)} for row {keys}"


def changed(known: KnownGoodCell) -> str | None:
    """Find a struct of which a file that is read has other parts than the table has now."""
    asked = known.answer.question
    heads = {path.partition(".")[0] for path in (*asked.columns, *asked.filters)}
    whole = not asked.columns and not asked.count
    for fact in known.files.read(known.cell.step, known.cell.view):
        then = known.files.case.history[known.files.written(fact)].schema
        for field in known.fields:
            own = then.by_id(field.id)
            nested = isinstance(field.type, Struct) and own is not None
            if own and nested and (whole or field.name in heads) and own.type != field.type:
                return f"{name(fact.path)} has {own.name} {own.type}, the table {field.type}"
    return None


def no_part_left(known: KnownGoodCell) -> str | None:
    """Find a log file without the one part of a struct that is asked for."""
    asked = known.answer.question
    paths = [path for path in (*asked.columns, *asked.filters) if "." in path]
    if len(set(paths)) != 1:
        return None
    head, _, part = paths[0].partition(".")
    for fact in known.files.read(known.cell.step, known.cell.view):
        types = dict(fact.columns)
        if fact.kind is FileKind.LOG and f"{part}:" not in types.get(head, f"{part}:"):
            return f"{paths[0]} is asked; {name(fact.path)} has {head} {types[head]}"
    return None


def ancient(known: KnownGoodCell) -> str | None:
    """Find a day or a moment that an older calendar may have counted otherwise."""
    for row in known.files.rows(known.cell.step, known.cell.view):
        for column, value in row.values.items():
            if any(map(_old, _plain(value))):
                return f"{name(row.file.path)} holds {column} = {value} in row {row.key}"
    return None


def _old(value: Value) -> bool:
    if isinstance(value, datetime.datetime):
        return value < MODERN
    return isinstance(value, datetime.date) and value < GREGORIAN


def _plain(value: Value) -> Iterator[Value]:
    match value:
        case tuple():
            yield from (leaf for each in value for leaf in _plain(each))
        case dict():
            yield from (leaf for each in value.values() for leaf in _plain(each))
        case MapValue():
            yield from (leaf for pair in value.pairs for each in pair for leaf in _plain(each))
        case _:
            yield value


def widened(known: KnownGoodCell) -> str | None:
    """Find a file with the column of the condition as int, where the table has long."""
    asked = known.answer.question
    for fact in known.files.read(known.cell.step, known.cell.view):
        then = known.files.case.history[known.files.written(fact)].schema
        for field in known.fields:
            own = then.by_id(field.id)
            types = str(own.type) if own else "", str(field.type)
            if own and field.name in asked.filters and types == ("int", "long"):
                return f"{name(fact.path)} has {own.name} {own.type}, the table {field.type}"
    return None


def same_name(known: KnownGoodCell) -> str | None:
    """Find a part of a struct that a file has under the same name in another type."""
    for fact in known.files.read(known.cell.step, known.cell.view):
        then = known.files.case.history[known.files.written(fact)].schema
        for field in known.fields:
            own = then.by_id(field.id)
            old = {each.name: each for each in own.children} if own else {}
            for part in field.children:
                met = old.get(part.name, part)
                if met.id != part.id and met.type != part.type:
                    was = f"{name(fact.path)} has {field.name}.{met.name} {met.type}"
                    return f"{was} of a part that was dropped, the table's is {part.type}"
    return None


def asked_for_more(known: KnownGoodCell) -> str | None:
    """Compare the numbers in the error, where log files are merged."""
    found = re.search(r"#fieldNames: (\d+), #fieldPositions: (\d+)", known.error)
    logs = [each for each in known.state.files if each.kind is FileKind.LOG]
    if not (found and logs and known.state.bare and known.cell.view != READ_OPTIMIZED):
        return None
    if int(found[1]) - int(found[2]) != HUDIS:
        return None
    more = f"{found[1]} names and {found[2]} positions: {HUDIS} more, which no catalog entry lists"
    return f"{more}; log files are merged, such as {name(logs[0].path)}"


def operation(known: KnownGoodCell) -> str | None:
    """Find the statement whose operation the error does not know."""
    found = re.search(r'from String "(\w+)"', known.error)
    states = known.files.recorded.states[: known.cell.step + 1]
    word = found[1].partition("_")[0].lower() if found else ""
    for state in states:
        for sql in state.outcome.statements:
            if word and sql.startswith(f"{word} "):
                return f"step {state.outcome.step} sent {short(sql)}"
    return None


def _stamps(known: KnownGoodCell) -> Iterator[Field]:
    return (each for each in known.fields if "timestamp" in str(each.type))


def realtime(known: KnownGoodCell) -> str | None:
    """Find a timestamp, where log files are merged and it is what was refused alone."""
    field = next(_stamps(known), None)
    if field is None or known.cell.view == READ_OPTIMIZED:
        return None
    refused = [part.column for part in known.answer.parts if part.refusal]
    if known.answer.parts and field.name not in refused:
        return None
    fact = next(each for each in known.state.files if each.kind is FileKind.BASE)
    return f"{field.name} is {dict(fact.columns)[field.name]} in {name(fact.path)}"


def int64(known: KnownGoodCell) -> str | None:
    """Find a timestamp that a file holds as a number of microseconds."""
    field = next(_stamps(known), None)
    fact = next(iter(known.state.files), None)
    if field is None or fact is None or "[us" not in dict(fact.columns).get(field.name, ""):
        return None
    return f"{field.name} is {dict(fact.columns)[field.name]} in {name(fact.path)}, of 64 bits"


def stamp_of_bare(known: KnownGoodCell) -> str | None:
    """Find a timestamp of which nothing came, where the catalog lists none of Hudi's columns."""
    field = next((each for each in _stamps(known) if isinstance(each.type, Primitive)), None)
    if field is None or not known.state.bare:
        return None
    parts = {part.column: part for part in known.answer.parts}
    nulls = [n for n, p in parts.items() if p.rows and not any(map(_any, p.rows))]
    refused = [n for n, p in parts.items() if p.refusal]
    if field.name not in {*nulls, *refused}:
        return None
    said = f"{field.name} asked alone is " + ("NULL, and so is its key" if nulls else "refused")
    return f"{said}; no catalog entry lists Hudi's columns"


def _any(row: tuple[Value, ...]) -> bool:
    return any(value is not None for value in row)


def chance(known: KnownGoodCell) -> str | None:
    """See whether the same reader answered each column alone."""
    parts = known.answer.parts
    right = parts and not any(part.refusal for part in parts)
    return "each column asked alone by the same reader was answered" if right else None


def nothing_written(known: KnownGoodCell) -> str | None:
    """See that the table has no file."""
    return None if known.state.files else "no write was applied so far, the table has no file"


def after_refused(known: KnownGoodCell) -> str | None:
    """Find a write that was refused before."""
    before = [s.outcome for s in known.files.recorded.states[: known.cell.step]]
    refused = [each.step for each in before if each.refusal]
    return f"the write of step {refused[0]} was refused before" if refused else None
