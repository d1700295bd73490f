from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.core.records import FindingKind, Responsible, VerdictKind
from harness.model.canonical import Value
from harness.model.query import Comparison, Condition, Query
from harness.reports.findings import finding_text
from tests.quality.partition_tables import (
    DEFAULT,
    FolderReader,
    Named,
    Partitioned,
    Understood,
    empty_as_null,
    escaped,
    shifted,
    story,
    unescaped,
    unscaled,
    verdicts,
)

RIGHT = FolderReader()
BOTH = pytest.mark.parametrize("stored", [False, True], ids=["in folders", "in files too"])
LOST, ALTERED = FindingKind.LOST_VALUE, FindingKind.ALTERED_VALUE


def name_as_it_stands(part: str) -> str | None:
    return part


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
    table = Partitioned(lambda value: escaped(lost(value)), stored=True, held=lost)
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
        (escaped, name_as_it_stands, {"other", "signs", "none"}, set()),
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
    assert story(beside) == {(ALTERED, Responsible.READER, "none", each) for each in ("p", "flag")}
    assert story(alone) == {(FindingKind.UNEXPLAINED, Responsible.READER, "none", "flag")}


@BOTH
@pytest.mark.parametrize(
    ("column", "change", "kind"),
    [
        ("day", shifted, ALTERED),
        ("amount", unscaled, FindingKind.TYPE_DRIFT),
    ],
)
def test_a_folders_text_read_as_another_type_is_the_readers(
    stored: bool,  # noqa: FBT001
    column: str,
    change: Callable[[Value], Value],
    kind: FindingKind,
) -> None:
    (verdict,) = verdicts(Partitioned(stored=stored), [FolderReader(change={column: change})])
    assert {each[:2] for each in story(verdict)} == {(kind, Responsible.READER)}
    assert {each[3] for each in story(verdict)} == {column}


@BOTH
def test_values_of_another_partition_are_the_readers_and_told_whose(stored: bool) -> None:  # noqa: FBT001
    (verdict,) = verdicts(Partitioned(stored=stored), [FolderReader(ahead=1)])
    assert {party for _, party, _, _ in story(verdict)} == {Responsible.READER}
    spots = {(key, column) for _, _, key, column in story(verdict)}
    assert {key for key, column in spots if column == "p"} == {
        *("plain", "upper", "other", "signs", "none", "empty")
    }
    assert {kind for kind, _, _, _ in story(verdict)} == {LOST, FindingKind.UNEXPLAINED}
    folders = {place.folder for finding in verdict.findings for place in finding.places}
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
    assert {(party, key) for _, party, key, _ in story(wrong)} == {(None, "none")}
