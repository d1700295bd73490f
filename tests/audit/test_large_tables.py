"""Large tables are compared by sums of hashes: what is planted in a reader's answers is found."""

from __future__ import annotations

import decimal
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pyarrow as pa
import pytest

from harness.audit.arrow_answers import HashedAnswers
from harness.audit.audit import SOME, audit
from harness.audit.comparison import TableDifferenceKind
from harness.audit.fingerprints import Groups, HashedRows, PlanFingerprints
from harness.audit.limits import AuditLimits
from harness.audit.records import AuditedAnswer, AuditedTable
from harness.audit.tables import PinnedTable, pinned
from harness.core.progress import Progress
from harness.core.records import Column, Refusal, VerdictKind
from harness.engines.api import Question, RefusedError, Reply
from harness.engines.arrow_values import canonical, canonical_type
from harness.engines.fingerprint_sql import FingerprintWords
from harness.formats.read_plan import ReadPlan
from harness.model.datatypes import parse_type
from harness.model.fingerprint import ComparedPart, Fingerprint
from harness.model.query import ALL
from harness.scenario.cells import Reader
from tests.builders.delta_folder import DeltaFolder, add, metadata, protocol
from tests.builders.delta_folder import field as column

READER = Reader("duckdb-1.5.5")
NUMBERS = ("integer", "float", "decimal", "date", "timestamp")
KINDS = (*NUMBERS, "boolean", "string", "binary", "array", "map")
WORDS = FingerprintWords(dict.fromkeys(KINDS, "{0}"))
FILES, ROWS = 3, 400
"""Of a table, and of a file."""
Change = Callable[[pa.Table, int], pa.Table]


@dataclass
class ShowsArrow:
    """A reader that shows given rows, and makes fingerprints of them."""

    rows: pa.Table
    words: FingerprintWords | None = WORDS
    asked: list[Question] = field(default_factory=list)
    reader: None = None

    def __call__(self, *_: object) -> Any:  # noqa: ANN401 - stands for AuditReaders
        return self

    def serve(self, name: str) -> tuple[Any, Any]:
        del name
        engine = SimpleNamespace(cannot=lambda *_: "", fingerprint_words=lambda _: self.words)
        return engine, SimpleNamespace(connect=lambda _: self)

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        assert timeout_s
        self.asked.append(question)
        asked, query = question.fingerprint, question.query
        if asked is None:
            rows = self.rows.slice(0, query.limit or len(self.rows))
            return _reply(rows) if not query.count else Reply((), ((len(rows),),), 0.1)
        if not {*query.filters} <= {*self.rows.column_names}:
            raise RefusedError(Refusal("Binder", "there is no such column"), 0.1)
        hashed = HashedRows(self.rows, asked, shown=True)
        if asked.rows:
            return _reply(self.rows.filter(pa.array(hashed.taken(query))))
        groups: dict[str, list[int]] = {}
        hashed.add(query, groups)
        sums = [(first, *s) if asked.digits else tuple(s) for first, s in groups.items()]
        return Reply((), tuple(sums), 0.1)

    def close(self) -> None:
        pass


def _reply(rows: pa.Table) -> Reply:
    columns = [Column(c.name, str(c.type), canonical_type(c.type)) for c in rows.schema]
    values = [[canonical(value) for value in values] for values in rows.columns]
    return Reply(tuple(columns), tuple(zip(*values, strict=True)), 0.1)


def _rows(number: int) -> pa.Table:
    """Return the rows of a file: ids, and texts of which some are empty and some NULL."""
    ids = range(number * ROWS, (number + 1) * ROWS)
    names = [("", None, "a", f"b{at}")[at % 4] for at in ids]
    amounts = [decimal.Decimal(at).scaleb(-2) for at in ids]
    parts = [{"x": at % 7, "y": f"y{at % 5}"} for at in ids]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array(names),
            "amount": pa.array(amounts, pa.decimal128(12, 2)),
            "one": pa.array([at % 11 for at in ids], pa.int64()),
            "two": pa.array([at % 13 for at in ids], pa.int64()),
            "s": pa.array(parts, pa.struct({"x": pa.int64(), "y": pa.string()})),
        }
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> DeltaFolder:
    folder = DeltaFolder(tmp_path_factory.mktemp("large") / "orders")
    parts = [{"name": "x", "type": "long", "nullable": True, "metadata": {}}, column("y", "string")]
    types = {"id": "long", "name": "string", "amount": "decimal(12,2)", "one": "long"}
    fields = [column(name, type_) for name, type_ in (types | {"two": "long"}).items()]
    fields.append(column("s", {"type": "struct", "fields": parts}))
    folder.commit(protocol(1), metadata(*fields))
    files = [
        folder.data(f"{at}.parquet", {n: _rows(at)[n] for n in _rows(at).column_names})
        for at in range(FILES)
    ]
    folder.commit(*map(add, files))
    return folder


def audited(table: DeltaFolder, reader: ShowsArrow, **limits: Any) -> AuditedTable:  # noqa: ANN401
    limit = AuditLimits(**{"fetched": ROWS, **limits})
    tables = tuple(pinned(str(table.path), ()))
    (result,) = audit(tables, [READER], reader, Progress(), limits=limit)
    return result


def of_all(result: AuditedTable) -> AuditedAnswer:
    return next(answer for answer in result.answers if answer.query == ALL)


def whole() -> pa.Table:
    return pa.concat_tables(map(_rows, range(FILES)))


def with_value(rows: pa.Table, name: str, changed: dict[int, Any]) -> pa.Table:
    values = rows[name].to_pylist()
    for at, value in changed.items():
        values[at] = value
    index = rows.column_names.index(name)
    return rows.set_column(index, name, pa.array(values, rows.schema.field(name).type))


def value_changed(rows: pa.Table, at: int) -> pa.Table:
    return with_value(rows, "one", {at: 99})


def part_changed(rows: pa.Table, at: int) -> pa.Table:
    return with_value(rows, "s", {at: {"x": None, "y": "y0"}})


def row_lost(rows: pa.Table, at: int) -> pa.Table:
    return pa.concat_tables([rows.slice(0, at), rows.slice(at + 1)])


def row_twice(rows: pa.Table, at: int) -> pa.Table:
    return pa.concat_tables([rows, rows.slice(at, 1)])


def columns_swapped(rows: pa.Table, at: int) -> pa.Table:
    begin = at // ROWS * ROWS
    one, two = (rows[name].to_pylist() for name in ("one", "two"))
    span = range(begin, begin + ROWS)
    swapped = with_value(rows, "one", {index: two[index] for index in span})
    return with_value(swapped, "two", {index: one[index] for index in span})


def empty_text_is_null(rows: pa.Table, at: int) -> pa.Table:
    return with_value(rows, "name", {at // 4 * 4: None})


def values_swapped(rows: pa.Table, at: int) -> pa.Table:
    other = next(o for o in range(len(rows)) if o % 11 != at % 11)
    return with_value(rows, "one", {at: other % 11, other: at % 11})


PLANTS = [
    value_changed, part_changed, row_lost, row_twice, columns_swapped, empty_text_is_null,
    values_swapped,
]  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_an_error_planted_in_an_answer_is_found_with_its_row_and_file(
    table: DeltaFolder, plant: Change
) -> None:
    at = random.Random(plant.__name__).randrange(FILES * ROWS)  # noqa: S311 - the same each time
    reader = ShowsArrow(plant(whole(), at))
    answer = of_all(audited(table, reader))
    assert answer.verdict is VerdictKind.WRONG
    places = {(shown.file, shown.position) for shown in answer.differences}
    if plant is row_twice:
        (extra,) = answer.differences
        assert (extra.kind, extra.row.split(",")[0]) == (TableDifferenceKind.EXTRA_ROW, f"[{at}")
    elif plant is columns_swapped:
        assert {file for file, _ in places} == {f"{at // ROWS}.parquet"}
    else:
        row = at // 4 * 4 if plant is empty_text_is_null else at
        assert (f"{row // ROWS}.parquet", row % ROWS) in places
        assert len(places) == (2 if plant is values_swapped else 1)
    assert len([q for q in reader.asked if q.fingerprint and q.query == ALL]) <= 6  # statements
    assert all(len(q.query.conditions) or q.fingerprint or q.query != ALL for q in reader.asked)


def test_rows_are_found_by_the_hash_of_their_key_alone(table: DeltaFolder) -> None:
    reader = ShowsArrow(value_changed(whole(), 7))
    (shown,) = of_all(audited(table, reader)).differences
    assert shown.position == 7
    asked = [q.fingerprint for q in reader.asked if q.fingerprint and q.query == ALL]
    assert [(of.by, of.rows) for of in asked] == [((0,), False), ((0,), True)]


def test_where_a_key_is_right_no_more_sums_are_made_of_many_wrong_rows(table: DeltaFolder) -> None:
    reader = ShowsArrow(columns_swapped(whole(), 7))
    answer = of_all(audited(table, reader))
    assert {(shown.file, shown.column) for shown in answer.differences} == {
        ("0.parquet", "one"),
        ("0.parquet", "two"),
    }
    asked = [q.fingerprint for q in reader.asked if q.fingerprint and q.query == ALL]
    assert [of.rows for of in asked] == [False, True]


def test_a_key_that_many_rows_beyond_the_first_ones_have_is_none(tmp_path: Path) -> None:
    folder = DeltaFolder(tmp_path / "t")
    folder.commit(protocol(1), metadata(column("id", "long"), column("x", "long")))
    ids = [*range(SOME), *[SOME] * (FILES * ROWS - SOME)]
    rows = pa.table({"id": ids, "x": range(len(ids))})
    folder.commit(add(folder.data("0.parquet", dict(zip(rows.column_names, rows, strict=True)))))
    reader = ShowsArrow(with_value(rows, "x", {ROWS: -1}))
    (shown,) = of_all(audited(folder, reader)).differences
    assert (shown.column, shown.position, shown.actual) == ("x", ROWS, "-1")


def test_a_reader_that_shows_what_the_files_give_is_right(table: DeltaFolder) -> None:
    result = audited(table, ShowsArrow(whole()))
    assert {answer.verdict for answer in result.answers} == {VerdictKind.CORRECT}
    assert (result.rows, result.files) == (FILES * ROWS, FILES)
    assert "rows where name is null" in {answer.question for answer in result.answers}


def test_what_a_reader_cannot_make_a_fingerprint_of_is_not_passed_over(table: DeltaFolder) -> None:
    words = FingerprintWords({kind: "{0}" for kind in KINDS if kind != "decimal"})
    answer = of_all(audited(table, ShowsArrow(whole(), words)))
    assert answer.verdict is VerdictKind.UNKNOWN
    assert answer.because == "all else is right; not compared: amount (decimal(12, 2))"


def test_a_reader_that_has_no_fingerprints_is_not_judged(table: DeltaFolder) -> None:
    result = audited(table, ShowsArrow(whole(), None))
    assert {answer.verdict for answer in result.answers} == {VerdictKind.UNKNOWN}


def test_columns_that_are_not_shown_or_too_many_are_named(table: DeltaFolder) -> None:
    rows = whole().rename_columns(["id", "name", "amount", "one", "three", "s"])
    kinds = {
        (shown.kind, shown.column) for shown in of_all(audited(table, ShowsArrow(rows))).differences
    }
    assert kinds == {
        (TableDifferenceKind.ABSENT_COLUMN, "two"),
        (TableDifferenceKind.EXTRA_COLUMN, "three"),
    }


def renamed(path: Path, ids: Sequence[range]) -> DeltaFolder:
    """Return a table with a renamed column; its last file has one of the new name as well."""
    folder = DeltaFolder(path)
    fields = column("id", "long", physical="id"), column("x", "long", physical="p", number=2)
    folder.commit(protocol(2), metadata(*fields, mode="name"))
    of_files: list[dict[str, object]] = [{"id": list(of), "p": [5] * len(of)} for of in ids]
    of_files[-1]["x"] = of_files[-1]["p"]
    files = [folder.data(f"{at}.parquet", columns) for at, columns in enumerate(of_files)]
    folder.commit(*map(add, files))
    return folder


ONE_AFTER_THE_OTHER: Final = range(ROWS), range(ROWS, 2 * ROWS)
EQUAL: Final = range(ROWS), range(ROWS)


@pytest.mark.parametrize("ids", [ONE_AFTER_THE_OTHER, EQUAL])
def test_the_way_of_reading_is_named_which_gives_the_sums_of_an_answer(
    tmp_path: Path, ids: Sequence[range]
) -> None:
    shown = pa.table({"id": [*ids[0], *ids[1]], "x": [None] * ROWS + [5] * ROWS})
    answer = of_all(audited(renamed(tmp_path / "t", ids), ShowsArrow(shown)))
    assert answer.verdict is VerdictKind.WRONG
    assert answer.read_as == ("columns of files by name",)


def test_a_way_of_reading_that_gives_a_row_which_is_lost_is_not_tried_on_the_whole_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans, sums = list[ReadPlan](), PlanFingerprints.sums

    def noted(made_by: PlanFingerprints, *asked: Any) -> Sequence[Groups]:  # noqa: ANN401
        plans.append(made_by.plan)
        return sums(made_by, *asked)

    monkeypatch.setattr(PlanFingerprints, "sums", noted)
    table = renamed(tmp_path / "t", ONE_AFTER_THE_OTHER)

    def others(lost: int) -> int:
        """Return how many other ways are tried if a row is lost."""
        plans.clear()
        ids = [at for at in range(2 * ROWS) if at != lost]
        answer = of_all(audited(table, ShowsArrow(pa.table({"id": ids, "x": [5] * len(ids)}))))
        assert answer.differences[0].kind is TableDifferenceKind.LOST_ROW
        assert not answer.read_as
        return sum(plan != plans[0] for plan in plans)

    assert others(lost=0) == 1  # by name its column is not there, so that it may be lost that way
    assert others(lost=ROWS) == 0


def test_a_type_of_another_kind_is_wrong_in_every_row(table: DeltaFolder) -> None:
    rows = whole()
    texts = rows["one"].cast(pa.string())
    answer = of_all(audited(table, ShowsArrow(rows.set_column(3, "one", texts))))
    assert answer.verdict is VerdictKind.WRONG
    assert {shown.column for shown in answer.differences} == {"one"}
    assert answer.because.startswith("of at least ")


@pytest.mark.parametrize("limits", [{"size": 1}, {"seconds": -1}])
def test_what_is_over_a_limit_is_not_known(table: DeltaFolder, limits: dict[str, int]) -> None:
    result = audited(table, ShowsArrow(whole()), **limits)
    assert result.problem or {a.verdict for a in result.answers} == {VerdictKind.UNKNOWN}
    assert "bytes" in result.problem or "over" in result.answers[0].because


def test_of_what_a_library_without_sql_shows_sums_are_made_here(table: DeltaFolder) -> None:
    (pinned_table,) = pinned(str(table.path), ())
    assert isinstance(pinned_table, PinnedTable)
    library = SimpleNamespace(rows=lambda *_, **__: (_rows(0), 0.1, "scan()"))
    parts = (ComparedPart(("id",), ("id",), parse_type("long")),)
    asked = Fingerprint(parts, digits=1)

    def shown(fingerprint: Fingerprint) -> Reply:
        question = Question("d", "t", pinned_table.facts, ALL, fingerprint=fingerprint)
        return HashedAnswers(cast("Any", library)).ask(question, timeout_s=1)

    groups = {first: sums for first, *sums in shown(asked).rows}
    assert len(groups) == 16
    assert sum(sums[0] for sums in groups.values()) == ROWS
    chosen = shown(replace(asked, within=("a",), rows=True))
    assert len(chosen.rows) == groups["a"][0] > 0
    assert (chosen.sent, chosen.columns[0].canonical) == ("scan()", "long")
