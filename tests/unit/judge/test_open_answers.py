"""What specification and engines leave open: an admitted answer is open, any other one is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from harness.core import open_cases
from harness.core.records import (
    Answer,
    Column,
    FindingKind,
    Outcome,
    OutcomeKind,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.judge.expected_state import column_types
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import judge
from harness.model.canonical import Value
from harness.model.file_facts import FileFact, FileKind
from harness.model.query import Comparison, Condition, Query
from harness.scenario import load
from harness.scenario.cells import Cell, Variant

LEAST = -(1 << 31)
CUT = """\
table:
  columns: {id: string, ts: long, n: int}
  key: id
  order_by: ts
formats: [iceberg]
steps:
  - add_partition_field: truncate(10, n)
  - insert: {rows: [{id: least, ts: 1, n: -2147483648}, {id: small, ts: 1, n: -7}]}
"""
STRUCT = """\
table:
  columns: {id: string, ts: long, s: "struct<a: int>"}
  key: id
  order_by: ts
formats: [iceberg, delta, hive-parquet]
steps:
  - insert: {rows: [{id: old, ts: 1, s: {a: 1}}, {id: none, ts: 1, s: null}]}
  - add_column: {name: s.b, type: int}
  - drop_column: s.a
  - insert: {rows: [{id: new, ts: 1, s: {b: 2}}]}
"""
EMPTY = """\
table:
  columns: {id: string, ts: long, p: string}
  key: id
  order_by: ts
  partition_by: [p]
formats: [delta]
steps:
  - insert: {rows: [{id: empty, ts: 1, p: ""}, {id: full, ts: 1, p: a}]}
"""
OVERFLOWN = "data/n_trunc_10=2147483646"
OF_STRUCT = ("iceberg", "delta", "hive-parquet")
Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a writer's records tell of it; each file is `path: keys`, of the step before."""

    scenario: str
    format: str
    files: tuple[tuple[int, str, tuple[str, ...]], ...]

    @property
    def case(self) -> RecordedVariant:
        scenario = load.loads(self.scenario, "family/name.yaml")
        writers = ("writer",) * (len(scenario.steps) + 1)
        variant = Variant("variant", scenario, self.format, {}, writers)
        return RecordedVariant(variant, False, tuple(map(self._state, range(len(writers)))))  # noqa: FBT003 - the field's place

    def _state(self, step: int) -> StateRecord:
        there = [file for file in self.files if file[0] <= step]
        facts = (
            FileFact(path, FileKind.BASE, path, f"{made:03}", (("id", "string"),), keys)
            for made, path, keys in there
        )
        outcome = Outcome(step, OutcomeKind.APPLIED, f"{step:03}")
        return StateRecord("variant", outcome, "d", tuple(facts))

    def verdict(self, rows: Sequence[Row], query: Query | None = None) -> Verdict:
        (verdict,) = self.verdicts((query or Query(), rows))
        return verdict

    def verdicts(self, *asked: tuple[Query, Sequence[Row]]) -> Sequence[Verdict]:
        """Return the verdicts on the answers of one reader to several questions."""
        step, answers = len(self.case.states) - 1, dict[str, Answer]()
        cells = [Cell("variant", step, "engine-1", "snapshot", str(at)) for at in range(len(asked))]
        for cell, (query, rows) in zip(cells, asked, strict=True):
            types = column_types(self.case.history[-1].schema, query)
            columns = tuple(Column(name, kind, kind) for name, kind in types)
            answers[cell.case] = Answer(cell.case, "select", columns, tuple(rows), question=query)
        return judge(self.case, cells, answers)


TRUNCATED = Table(
    CUT, "iceberg", ((2, f"{OVERFLOWN}/f.parquet", ("least",)), (2, "data/g.parquet", ("small",)))
)
LEAST_ROW, SMALL_ROW = ("least", 1, LEAST), ("small", 1, -7)


def where(path: str, test: Comparison, value: object = "", *, count: bool = False) -> Query:
    type_ = {"n": "int"}.get(path, "string") if value != "" else ""
    return Query(where=Condition(path, test, str(value), type_), count=count)


EQUAL = where("n", Comparison.EQUAL, LEAST)


def test_a_row_under_an_overflown_partition_value_may_be_left_out() -> None:
    verdict = TRUNCATED.verdict([], EQUAL)
    assert (verdict.verdict, verdict.findings) == (VerdictKind.OPEN, ())
    assert verdict.because.startswith("partition-value-beyond-its-type: ")
    assert "Truncate Transform Details" in verdict.because


def test_what_was_written_is_right_where_another_answer_is_open() -> None:
    assert TRUNCATED.verdict([LEAST_ROW], EQUAL).verdict is VerdictKind.CORRECT


def test_a_count_without_the_row_is_open_and_any_other_number_wrong() -> None:
    count = replace(EQUAL, count=True)
    assert TRUNCATED.verdict([(0,)], count).verdict is VerdictKind.OPEN
    assert TRUNCATED.verdict([(2,)], count).verdict is VerdictKind.WRONG


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (Query(), [SMALL_ROW]),
        (where("n", Comparison.NOT_NULL), [SMALL_ROW]),
        (where("id", Comparison.EQUAL, "least"), []),
        (where("n", Comparison.EQUAL, -7), []),
        (where("n", Comparison.AT_LEAST, LEAST), [SMALL_ROW]),
        (EQUAL, [("least", 2, LEAST)]),
        (EQUAL, [LEAST_ROW, SMALL_ROW]),
        (EQUAL, [LEAST_ROW, LEAST_ROW]),
    ],
    ids=[
        *("all", "another condition", "another column", "another row"),
        *("the value fulfils it", "another value", "a row too many", "a row twice"),
    ],
)
def test_a_wrong_answer_in_the_same_place_is_wrong(query: Query, rows: Sequence[Row]) -> None:
    verdict = TRUNCATED.verdict(rows, query)
    assert verdict.verdict is VerdictKind.WRONG
    assert verdict.findings


@pytest.mark.parametrize(
    "path", ["data/f.parquet", "data/n_trunc_10=-2147483650/f.parquet", "data/n_trunc_10=0/f"]
)
def test_a_row_is_lost_where_its_partition_value_is_no_overflow(path: str) -> None:
    table = replace(TRUNCATED, files=((2, path, ("least",)), (2, "data/g.parquet", ("small",))))
    assert table.verdict([], EQUAL).verdict is VerdictKind.WRONG


def test_a_row_is_lost_where_nothing_is_known_of_its_file() -> None:
    assert replace(TRUNCATED, files=()).verdict([], EQUAL).verdict is VerdictKind.WRONG


def structs(format_name: str, path: str = "data/f.parquet") -> Table:
    return Table(STRUCT, format_name, ((1, path, ("old", "none")), (4, "data/g.parquet", ("new",))))


NONE, NEW = ("none", 1, None), ("new", 1, {"b": 2})
OLD, OLD_NULL = ("old", 1, {"b": None}), ("old", 1, None)


@pytest.mark.parametrize("format_name", OF_STRUCT)
def test_a_struct_of_newer_parts_may_be_null(format_name: str) -> None:
    table = structs(format_name)
    assert table.verdict([OLD, NONE, NEW]).verdict is VerdictKind.CORRECT
    verdict = table.verdict([OLD_NULL, NONE, NEW])
    assert (verdict.verdict, verdict.findings) == (VerdictKind.OPEN, ())
    assert verdict.because.startswith("struct-of-newer-parts: ")


@pytest.mark.parametrize("format_name", OF_STRUCT)
@pytest.mark.parametrize(
    ("test", "rows"), [(Comparison.NULL, [OLD_NULL, NONE]), (Comparison.NOT_NULL, [NEW])]
)
def test_a_condition_takes_the_struct_for_null_as_well(
    format_name: str, test: Comparison, rows: Sequence[Row]
) -> None:
    assert structs(format_name).verdict(rows, where("s", test)).verdict is VerdictKind.OPEN


@pytest.mark.parametrize(
    "rows",
    [
        [OLD_NULL, NONE, ("new", 1, None)],
        [OLD_NULL, ("none", 1, {"b": None}), NEW],
        [OLD_NULL, NONE],
        [OLD_NULL, NONE, ("new", 1, {"b": 3})],
        [("old", 1, {"b": 1}), NONE, NEW],
        [("old", 2, None), NONE, NEW],
    ],
    ids=[
        *("a struct with its part in the file", "a struct where none was", "a row less"),
        *("another value", "the old part's value", "another column"),
    ],
)
@pytest.mark.parametrize("format_name", OF_STRUCT)
def test_another_answer_about_the_struct_is_wrong(format_name: str, rows: Sequence[Row]) -> None:
    assert structs(format_name).verdict(rows).verdict is VerdictKind.WRONG


@pytest.mark.parametrize("path", ["data/f.orc", "data/f.avro"])
def test_a_file_that_says_itself_whether_a_struct_is_there_leaves_nothing_open(path: str) -> None:
    assert structs("iceberg", path).verdict([OLD_NULL, NONE, NEW]).verdict is VerdictKind.WRONG


def test_a_struct_with_one_old_part_is_lost() -> None:
    text = STRUCT.replace("  - drop_column: s.a\n", "").replace("{b: 2}", "{a: 3, b: 2}")
    table = Table(text, "iceberg", ((1, "f.parquet", ("old", "none")), (3, "g.parquet", ("new",))))
    rows = [NONE, ("new", 1, {"a": 3, "b": 2})]
    right = table.verdict([("old", 1, {"a": 1, "b": None}), *rows])
    assert right.verdict is VerdictKind.CORRECT
    assert table.verdict([OLD_NULL, *rows]).verdict is VerdictKind.WRONG


BY_TEXT = Table(EMPTY, "delta", ((1, "p=__HIVE_DEFAULT_PARTITION__/f", ("empty",)),))
FULL = ("full", 1, "a")


def test_an_empty_partition_text_of_delta_may_be_null() -> None:
    assert BY_TEXT.verdict([("empty", 1, ""), FULL]).verdict is VerdictKind.CORRECT
    assert BY_TEXT.verdict([("empty", 1, None), FULL]).verdict is VerdictKind.OPEN
    null = where("p", Comparison.NULL)
    assert BY_TEXT.verdict([("empty", 1, None)], null).verdict is VerdictKind.OPEN
    assert BY_TEXT.verdict([("empty", 1, "")], null).verdict is VerdictKind.WRONG


@pytest.mark.parametrize(
    "rows",
    [
        [("empty", 1, "a"), FULL],
        [("empty", 1, None), ("full", 1, None)],
        [FULL],
        [("empty", 1, " "), FULL],
    ],
)
def test_another_answer_about_the_empty_text_is_wrong(rows: Sequence[Row]) -> None:
    assert BY_TEXT.verdict(rows).verdict is VerdictKind.WRONG


def test_an_empty_text_of_another_column_or_format_is_lost() -> None:
    files = ((1, "p=__HIVE_DEFAULT_PARTITION__/f", ("empty",)),)
    rows = [("empty", 1, None), FULL]
    loose = EMPTY.replace("  partition_by: [p]\n", "")
    assert Table(loose, "delta", files).verdict(rows).verdict is VerdictKind.WRONG
    other = Table(EMPTY.replace("delta", "iceberg"), "iceberg", files)
    assert other.verdict(rows).findings[0].kind is FindingKind.LOST_VALUE


ZERO = """\
table:
  columns: {id: string, ts: long, x: double}
  key: id
  order_by: ts
formats: [iceberg]
steps:
  - insert: {rows: [{id: minus, ts: 1, x: -0.0}, {id: plus, ts: 1, x: 0.0}]}
  - insert: {rows: [{id: one, ts: 1, x: -1.0}]}
"""
MINUS, PLUS, ONE = ("minus", 1, -0.0), ("plus", 1, 0.0), ("one", 1, -1.0)


@pytest.mark.parametrize(
    ("test", "rows", "kind"),
    [
        (Comparison.EQUAL, [MINUS, PLUS], VerdictKind.CORRECT),
        (Comparison.EQUAL, [PLUS], VerdictKind.OPEN),
        (Comparison.EQUAL, [MINUS], VerdictKind.WRONG),
        (Comparison.LESS, [ONE], VerdictKind.CORRECT),
        (Comparison.LESS, [MINUS, ONE], VerdictKind.OPEN),
        (Comparison.LESS, [("minus", 1, 0.0), ONE], VerdictKind.WRONG),
        (Comparison.LESS, [MINUS], VerdictKind.WRONG),
        (Comparison.LESS, [MINUS, PLUS, ONE], VerdictKind.WRONG),
    ],
)
def test_a_condition_may_take_minus_zero_for_less_than_zero_and_not_show_it_otherwise(
    test: Comparison, rows: Sequence[Row], kind: VerdictKind
) -> None:
    table = Table(ZERO, "iceberg", ((1, "f.parquet", ("minus", "plus")),))
    query = Query(where=Condition("x", test, "0.0", "double"))
    assert table.verdict(rows, query).verdict is kind


def test_nobody_takes_minus_zero_for_less_in_one_condition_alone() -> None:
    table = Table(ZERO, "iceberg", ((1, "f.parquet", ("minus", "plus")),))
    equal, less = (
        Query(where=Condition("x", test, "0.0", "double"))
        for test in (Comparison.EQUAL, Comparison.LESS)
    )
    other = (Query(), [MINUS, PLUS, ONE])
    one, two, _ = table.verdicts((equal, [PLUS]), (less, [MINUS, ONE]), other)
    assert (one.verdict, two.verdict) == (VerdictKind.OPEN, VerdictKind.OPEN)
    lost, right, _ = table.verdicts((equal, [PLUS]), (less, [ONE]), other)
    assert (lost.verdict, right.verdict) == (VerdictKind.WRONG, VerdictKind.CORRECT)
    assert [finding.kind for finding in lost.findings] == [FindingKind.LOST_ROW]


def test_where_several_lines_apply_each_may_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    text = STRUCT.replace("key: id\n", "key: id\n  partition_by: [p]\n").replace(
        's: "struct', 'p: string, s: "struct'
    )
    text = text.replace("s: {a: 1}", 'p: "", s: {a: 1}').replace("s: null", "p: x, s: null")
    table = Table(text.replace("s: {b: 2}", "p: x, s: {b: 2}"), "delta", structs("delta").files)
    others = [("none", 1, "x", None), ("new", 1, "x", {"b": 2})]
    both = table.verdict([("old", 1, None, None), *others])
    one = table.verdict([("old", 1, "", None), *others])
    assert (both.verdict, one.verdict) == (VerdictKind.OPEN, VerdictKind.OPEN)
    names = ("struct-of-newer-parts", "empty-partition-text")
    assert [name in both.because for name in names] == [True, True]
    assert [name in one.because for name in names] == [True, False]
    monkeypatch.setattr(open_cases, "of_format", lambda _: ())
    assert table.verdict([("old", 1, None, None), *others]).verdict is VerdictKind.WRONG
