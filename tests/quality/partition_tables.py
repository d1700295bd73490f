"""Tables whose partition values stand in the names of folders, with their writers and readers.

Nothing of `harness.model.partition_paths` is used: names are made and understood by other means.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import quote, unquote

from harness.core.records import (
    Answer,
    Column,
    FileValues,
    FindingKind,
    Outcome,
    OutcomeKind,
    Responsible,
    StateRecord,
    Verdict,
)
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import judge
from harness.model.canonical import Value
from harness.model.conversion import cast_text, convert
from harness.model.datatypes import DataType
from harness.model.file_facts import FileFact, FileKind
from harness.model.partition_paths import ListedAs
from harness.model.query import Query
from harness.model.truth import History, Row, Truth, row_values
from harness.scenario.cells import Cell, Variant
from harness.scenario.definition import Scenario
from harness.scenario.load import loads

DEFAULT: Final = "__HIVE_DEFAULT_PARTITION__"
STORY: Final = """
table:
  columns: {id: string, f1: string, day: date, amount: "decimal(6, 2)", flag: boolean, p: string}
  key: id
  partition_by: [day, amount, flag, p]
steps:
  - insert:
      rows:
        - {id: plain, day: "2024-02-29", amount: "1.50", flag: true, p: a}
        - {id: upper, day: "2024-02-29", amount: "1.50", flag: true, p: A}
        - {id: other, day: "1969-12-31", amount: "-0.05", flag: false, p: "a=b"}
        - {id: signs, day: "2024-03-05", amount: "10", flag: true, p: "a/b: 100% %2F 'q' größe"}
        - {id: none, day: null, amount: null, flag: null, p: null}
        - {id: empty, day: "2024-02-29", amount: "1.50", flag: true, p: ""}
"""
Named = Callable[[Value], str]
"""Gives the part of a folder's name that stands for a value."""
Understood = Callable[[str], str | None]
"""Gives the text of a value from that part; None for NULL."""


@cache
def scenario() -> Scenario:
    return loads(STORY, "story.yaml")


@cache
def history() -> History:
    return scenario().truths(merge_on_read=False).history()


def shown_values(row: Row) -> dict[str, Value]:
    schema = history()[-1].schema
    return dict(zip(schema.names, row_values(row, schema), strict=True))


def escaped(value: Value) -> str:
    return DEFAULT if value is None else quote(cast_text(value), safe=" ")


def empty_as_null(value: Value) -> str:
    return escaped(value if value != "" else None)


def unescaped(part: str) -> str | None:
    return None if part == DEFAULT else unquote(part)


@dataclass(frozen=True)
class Partitioned:
    """A table after its one write: a file for each row."""

    named: Named = escaped
    stored: bool = False
    """Whether files have the partition columns as well."""
    listed_as: ListedAs = ()
    """What the catalog says of folders in other words than their names."""
    prefix: str = ""
    """What stands before the names of folders in the paths of files."""
    held: Callable[[Value], Value] = lambda value: value
    """Gives what a file holds of a value."""

    @property
    def truth(self) -> Truth:
        return history()[-1]

    def folder(self, row: Row) -> str:
        shown = shown_values(row)
        return "/".join(
            f"{name}={self.named(shown[name])}" for name in self.truth.table.partition_by
        )

    def case(self) -> RecordedVariant:
        form = "hudi-cow" if self.stored else "hive-parquet"
        sql = scenario().steps[0].operation.sql(*history())
        written = Outcome(1, OutcomeKind.APPLIED, "1", statements=tuple(sql))
        rows = self.truth.rows.values()
        files = tuple(map(self._file, rows))
        values = tuple(self._values(number, row) for number, row in enumerate(rows))
        states = (
            StateRecord("variant", Outcome(0, OutcomeKind.APPLIED, "0"), "d"),
            StateRecord("variant", written, "d", files, values=values, listed_as=self.listed_as),
        )
        variant = Variant("variant", scenario(), form, {}, ("writer", "writer"))
        return RecordedVariant(variant, merge_on_read=False, states=states)

    @property
    def _names(self) -> tuple[str, ...]:
        by = self.truth.table.partition_by
        return tuple(n for n in self.truth.schema.names if self.stored or n not in by)

    def _file(self, row: Row) -> FileFact:
        path = f"{self.prefix}{self.folder(row)}/{row.key}.parquet"
        columns = tuple((name, "string") for name in self._names)
        return FileFact(path, FileKind.BASE, path, "1", columns, (row.key,))

    def _values(self, number: int, row: Row) -> FileValues:
        shown = shown_values(row)
        return FileValues(number, self._names, (tuple(self.held(shown[n]) for n in self._names),))


@dataclass(frozen=True)
class FolderReader:
    understood: Understood = unescaped
    change: Mapping[str, Callable[[Value], Value]] | None = None
    """What becomes of the values of a column."""
    ahead: int = 0
    """By how many files the folder it goes by is another one."""
    by_file: bool = False
    """Whether it takes all values from the files."""

    def rows(self, table: Partitioned, query: Query) -> Iterator[tuple[Value, ...]]:
        rows = list(table.truth.rows.values())
        for at, row in enumerate(rows):
            folder, values = table.folder(rows[(at + self.ahead) % len(rows)]), shown_values(row)
            values |= {} if self.by_file else dict(self._values(folder, table.truth))
            if all(condition.holds(values[condition.path]) for condition in query.conditions):
                yield tuple(values.values())

    def _values(self, folder: str, truth: Truth) -> Iterator[tuple[str, Value]]:
        for level in folder.split("/"):
            name, _, part = level.partition("=")
            value = self._value(self.understood(part), truth.schema.find(name).type)
            yield name, (self.change or {}).get(name, lambda same: same)(value)

    def _value(self, text: str | None, type_: DataType) -> Value:
        # Only a text can be shown as it stands; of other types NULL's name gives NULL.
        if str(type_) != "string" and text in {DEFAULT, "\\N"}:
            return None
        if str(type_) == "boolean" and text is not None:
            return text == "true"
        return convert(text, type_)


def shifted(day: Value) -> Value:
    return day and day - datetime.timedelta(days=1)


def unscaled(amount: Value) -> Value:
    return amount if amount is None else decimal.Decimal(f"{amount.normalize():f}")


def verdicts(
    table: Partitioned, readers: Sequence[FolderReader], query: Query | None = None
) -> Sequence[Verdict]:
    asked = query or Query()
    schema = table.truth.schema
    columns = tuple(Column(f.name, str(f.type), str(f.type)) for f in schema.fields)
    cells = [Cell("variant", 1, f"engine-{n}", "snapshot", "all") for n in range(len(readers))]
    answers = {
        cell.case: Answer(
            cell.case, "select", columns, tuple(each.rows(table, asked)), question=asked
        )
        for cell, each in zip(cells, readers, strict=True)
    }
    return judge(table.case(), cells, answers)


def story(verdict: Verdict) -> set[tuple[FindingKind, Responsible | None, str, str]]:
    return {
        (finding.kind, finding.responsible, place.key, place.column)
        for finding in verdict.findings
        for place in finding.places
    }
