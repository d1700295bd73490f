import datetime
import decimal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final
from urllib.parse import quote, unquote

import pytest

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
    VerdictKind,
)
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import judge
from harness.model.canonical import Value
from harness.model.conversion import cast_text, convert
from harness.model.datatypes import DataType
from harness.model.file_facts import FileFact, FileKind
from harness.model.partition_paths import ListedAs
from harness.model.query import Comparison, Condition, Query
from harness.model.truth import History, Row, Truth, row_values
from harness.reports.findings import finding_text
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
    in_file: Callable[[Value], Value] = lambda value: value
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
        return FileValues(
            number, self._names, (tuple(self.in_file(shown[n]) for n in self._names),)
        )


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
            cell.case, "select", columns, tuple(reader.rows(table, asked)), question=asked
        )
        for cell, reader in zip(cells, readers, strict=True)
    }
    return judge(table.case(), cells, answers)


def story(verdict: Verdict) -> set[tuple[FindingKind, Responsible | None, str, str]]:
    return {
        (finding.kind, finding.responsible, place.key, place.column)
        for finding in verdict.findings
        for place in finding.witnesses
    }


RIGHT = FolderReader()
BOTH = pytest.mark.parametrize("stored", [False, True], ids=["in folders", "in files too"])
LOST, ALTERED = FindingKind.LOST_VALUE, FindingKind.ALTERED_VALUE


def null_by_its_name(part: str) -> str | None:
    return DEFAULT if part == DEFAULT else unescaped(part)


def null_in_text(part: str) -> str | None:
    return "\\N" if part == DEFAULT else unescaped(part)


def not_unescaped(part: str) -> str | None:
    return None if part == DEFAULT else part


@BOTH
def test_who_reads_folders_rightly_is_right(stored: bool) -> None:  # noqa: FBT001 - a parameter
    (verdict,) = verdicts(Partitioned(stored=stored), [RIGHT])
    assert (verdict.verdict, verdict.findings) == (VerdictKind.CORRECT, ())


@BOTH
def test_an_empty_text_in_the_folder_of_null_is_lost_by_the_writer(stored: bool) -> None:  # noqa: FBT001
    for verdict in verdicts(Partitioned(empty_as_null, stored=stored), [RIGHT, RIGHT]):
        assert verdict.verdict is VerdictKind.WRONG
        assert story(verdict) == {(LOST, Responsible.FOLDER, "empty", "p")}
        (finding,) = verdict.findings
        folder = f"day=2024-02-29/amount=1.50/flag=true/p={DEFAULT}"
        assert (finding.witness.folder, finding.witness.file) == (folder, "")
        text = finding_text(finding)
        assert f"from the folder's name {folder}; expected ''" in text
        assert "the writer is to blame" in text


@BOTH
@pytest.mark.parametrize(
    ("where", "kind"),
    [
        (Condition("p", Comparison.NULL), FindingKind.GHOST_ROW),
        (Condition("p", Comparison.EQUAL, "", "string"), FindingKind.LOST_ROW),
    ],
)
def test_so_is_a_row_that_is_asked_for_by_it(
    stored: bool,  # noqa: FBT001
    where: Condition,
    kind: FindingKind,
) -> None:
    table = Partitioned(empty_as_null, stored=stored)
    for verdict in verdicts(table, [RIGHT, RIGHT], Query(where=where)):
        assert story(verdict) == {(kind, Responsible.FOLDER, "empty", "")}


def test_who_shows_what_files_hold_is_right_and_the_folders_name_stays_the_writers() -> None:
    table = Partitioned(empty_as_null, stored=True)
    by_file, by_folder = verdicts(table, [FolderReader(by_file=True), RIGHT])
    assert (by_file.verdict, by_file.findings) == (VerdictKind.CORRECT, ())
    assert story(by_folder) == {(LOST, Responsible.FOLDER, "empty", "p")}


def lost(value: Value) -> Value:
    return None if value == "A" else value


def test_the_name_of_nulls_folder_is_the_writers_where_files_hold_null_for_a_text_as_well() -> None:
    table = Partitioned(lambda value: escaped(lost(value)), stored=True, in_file=lost)
    by_name, right = verdicts(table, [FolderReader(null_by_its_name), RIGHT])
    assert story(by_name) == {
        (ALTERED, Responsible.READER, "none", "p"),
        (ALTERED, Responsible.FOLDER, "upper", "p"),
    }
    assert story(right) == {(LOST, Responsible.WRITER, "upper", "p")}


def as_it_is(value: Value) -> str:
    """Escape nothing but what would be a folder more, as Hudi does."""
    return escaped(value) if "/" not in str(value) else f"{value}".replace("/", "%2F")


@BOTH
@pytest.mark.parametrize(
    ("named", "understood", "by_reader", "by_writer"),
    [
        (escaped, null_by_its_name, {"none"}, set()),
        (empty_as_null, null_by_its_name, {"none"}, {"empty"}),
        (escaped, null_in_text, {"none"}, set()),
        (empty_as_null, null_in_text, {"none"}, {"empty"}),
        (escaped, not_unescaped, {"other", "signs"}, set()),
        (escaped, str, {"other", "signs", "none"}, set()),
    ],
)
def test_a_folders_name_that_is_shown_otherwise_is_altered_by_the_reader_and_else_by_the_writer(
    stored: bool,  # noqa: FBT001
    named: Named,
    understood: Understood,
    by_reader: set[str],
    by_writer: set[str],
) -> None:
    (verdict,) = verdicts(Partitioned(named, stored=stored), [FolderReader(understood)])
    assert story(verdict) == {
        *((ALTERED, Responsible.READER, key, "p") for key in by_reader),
        *((ALTERED, Responsible.FOLDER, key, "p") for key in by_writer),
    }


def test_who_unescapes_a_name_that_was_not_escaped_altered_what_the_file_holds() -> None:
    (verdict,) = verdicts(Partitioned(as_it_is, stored=True), [RIGHT])
    assert story(verdict) == {(ALTERED, Responsible.READER, "signs", "p")}


@BOTH
def test_true_is_nulls_name_where_the_row_shows_the_name_and_else_nobodys(stored: bool) -> None:  # noqa: FBT001
    flags = {"flag": lambda value: True if value is None else value}
    table = Partitioned(stored=stored)
    beside, alone = verdicts(
        table, [FolderReader(null_by_its_name, flags), FolderReader(change=flags)]
    )
    assert story(beside) == {(ALTERED, Responsible.READER, "none", text) for text in ("p", "flag")}
    assert story(alone) == {(FindingKind.UNEXPLAINED, Responsible.READER, "none", "flag")}


@BOTH
@pytest.mark.parametrize(
    ("column", "change", "kind"),
    [("day", shifted, ALTERED), ("amount", unscaled, FindingKind.TYPE_DRIFT)],
)
def test_a_folders_text_read_as_another_type_is_the_readers(
    stored: bool,  # noqa: FBT001
    column: str,
    change: Callable[[Value], Value],
    kind: FindingKind,
) -> None:
    (verdict,) = verdicts(Partitioned(stored=stored), [FolderReader(change={column: change})])
    assert {wrong[:2] for wrong in story(verdict)} == {(kind, Responsible.READER)}
    assert {wrong[3] for wrong in story(verdict)} == {column}


@BOTH
def test_values_of_another_partition_are_the_readers_and_named_with_the_partition(
    stored: bool,  # noqa: FBT001
) -> None:
    (verdict,) = verdicts(Partitioned(stored=stored), [FolderReader(ahead=1)])
    assert {responsible for _, responsible, _, _ in story(verdict)} == {Responsible.READER}
    places = {(key, column) for _, _, key, column in story(verdict)}
    assert {key for key, column in places if column == "p"} == {
        *("plain", "upper", "other", "signs", "none", "empty")
    }
    assert {kind for kind, _, _, _ in story(verdict)} == {LOST, FindingKind.UNEXPLAINED}
    folders = {place.folder for finding in verdict.findings for place in finding.witnesses}
    assert folders == {""}  # no name of the row's own folder says so


def test_what_the_catalog_says_of_a_folder_counts_before_its_name() -> None:
    table = Partitioned(stored=True)
    row = table.truth.rows["other"]
    by_catalog = FolderReader(change={"p": lambda value: "a%3Db" if value == "a=b" else value})
    assert story(verdicts(table, [by_catalog])[0]) == {(ALTERED, Responsible.READER, "other", "p")}
    listed = ((table.folder(row), ("1969-12-31", "-0.05", "false", "a%3Db")),)
    (verdict,) = verdicts(replace(table, listed_as=listed), [by_catalog])
    assert story(verdict) == {(ALTERED, Responsible.FOLDER, "other", "p")}


def test_what_no_name_tells_is_nobodys() -> None:
    table = Partitioned(prefix="deeper/")
    right, wrong = verdicts(table, [RIGHT, FolderReader(null_by_its_name)])
    assert right.verdict is VerdictKind.CORRECT
    assert {(responsible, key) for _, responsible, key, _ in story(wrong)} == {(None, "none")}
