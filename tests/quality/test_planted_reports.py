"""Public reports of 2025 and 2026: who plants one is found, under its name and held responsible.

Each line of `REPORTS` takes a shipped scenario up to a step and plants what the report tells: into
the answer (`shown`), where the files are right, into the files (`stored`), which the reader shows
as they are, or into what is told of them. Without it the same answer is right.
docs/results/bugs.md names the reports by the same numbers.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pytest

from harness.core.records import (
    Answer,
    Column,
    FileValues,
    FindingKind,
    Outcome,
    OutcomeKind,
    Refusal,
    Responsible,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.judge.expected_state import column_types
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import judge
from harness.model.canonical import Value, text_of
from harness.model.file_facts import (
    ColumnStatistics,
    FileFact,
    FileKind,
    Lineage,
    StatisticsSource,
    StoredStatistics,
    bound,
)
from harness.model.query import ROW_COUNT, Query
from harness.model.query_shapes import query
from harness.model.truth import History, row_values
from harness.plan import load_scenarios, scenarios_folder
from harness.scenario import load
from harness.scenario.cells import Cell, Variant
from harness.scenario.definition import Scenario
from harness.write.next_step import VariantOutcomes
from tests.builders.judged_story import blamed
from tests.quality.asked import passes

SHIPPED: Final = {scenario.name: scenario for scenario in load_scenarios(scenarios_folder())}
PAGE: Final = Path(__file__).parents[2] / "docs/results/bugs.md"
LINEAGE: Final = "lineage"
ANOTHER_READER: Final = "spark-4.1.4-iceberg-1.12.0"
DROPPED: Final = """\
table:
  columns: {id: string, ts: long, b: int, s: "struct<a: int, t: string>"}
  key: id
  order_by: ts
formats: [iceberg]
steps:
  - insert: {rows: [{id: "1", b: 10, s: {a: 1, t: x}}, {id: "2", b: 20, s: {a: 2, t: y}}]}
  - delete_by_value: [{b: 10}]
  - drop_column: b
  - insert: {rows: [{id: "3", s: {a: 3, t: z}}]}
  - delete_by_value: [{s.a: 3}]
"""
"""No story of it is shipped, as it ends a process of DuckDB."""

Row = Mapping[str, Value]
Rows = Sequence[Row]
Change = Callable[[Rows, History], Rows]
"""Returns the rows that are planted for the right ones of the last step, by names of columns."""


@dataclass(frozen=True)
class Table:
    """What is recorded of the last step, and the rows that a reader shows."""

    case: RecordedVariant
    question: Query
    stored: Rows
    shown: Rows
    statistics: tuple[ColumnStatistics, ...] = ()
    refusal: Refusal | None = None

    @property
    def history(self) -> History:
        return self.case.history


Plant = Callable[[Table], Table]


def asked(question: Query, rows: Rows) -> Rows:
    """Return the right answer to a question about rows, which are whole."""
    if question.groups:
        by, _ = question.columns
        values = [row[by] for row in rows]
        return [{by: value, ROW_COUNT: values.count(value)} for value in dict.fromkeys(values)]
    return [row for row in rows if passes(question, dict(row))]


def shown(change: Change) -> Plant:
    """Plant a wrong answer about right files."""
    return lambda table: replace(table, shown=change(table.shown, table.history))


def stored(change: Change) -> Plant:
    """Plant wrong files, which the reader shows as they are."""

    def plant(table: Table) -> Table:
        rows = change(table.stored, table.history)
        return replace(table, stored=rows, shown=asked(table.question, rows))

    return plant


def refuses(kind: str, message: str) -> Plant:
    return lambda table: replace(table, refusal=Refusal(kind, message))


def statistics_say(
    source: StatisticsSource, column: str, least: Value, greatest: Value, by_them: Plant
) -> Plant:
    """Plant what is said of the one data file, and an answer; without bounds: all are NULL."""

    def plant(table: Table) -> Table:
        rows = len(table.stored)
        of_file = source, FILE, column, rows, rows if least is None else 0
        wrong = ColumnStatistics(*of_file, bound(least), bound(greatest))
        return by_them(replace(table, statistics=(wrong,)))

    return plant


def loses(*keys: str) -> Change:
    """Lose rows by their keys, or all."""
    return lambda rows, _: [row for row in rows if keys and row["id"] not in keys]


def again(step: int, *keys: str) -> Change:
    """Add rows as they were after a step; without keys each that is gone since."""

    def change(rows: Rows, history: History) -> Rows:
        there = {row["id"] for row in rows}
        now = history[-1].schema.names
        old = {row["id"]: row for row in whole(history, step)}
        back = keys or [text_of(key) for key in old if key not in there]
        assert back, "no row is gone since"
        return [*rows, *({name: old[key].get(name) for name in now} for key in back)]

    return change


def older(step: int, key: str) -> Change:
    """Show a row as it was after a step."""
    return lambda rows, history: again(step, key)(loses(key)(rows, history), history)


def sets(column: str, change: Callable[[Value], Value], *keys: str) -> Change:
    def planted(rows: Rows, _: History) -> Rows:
        return [
            {**row, column: change(row[column])} if not keys or row["id"] in keys else row
            for row in rows
        ]

    return planted


def parted(rows: Rows, _: History) -> Rows:
    """Show the first group in two parts."""
    first, *others = rows
    (by,) = first.keys() - {ROW_COUNT}
    return [{by: first[by], ROW_COUNT: 1}, {by: first[by], ROW_COUNT: 2}, *others]


def whole(history: History, step: int) -> Rows:
    truth = history[step]
    names = truth.schema.names
    return [
        dict(zip(names, row_values(row, truth.schema), strict=True)) for row in truth.rows.values()
    ]


@dataclass(frozen=True)
class Report:
    number: str
    """As docs/results/bugs.md has it."""
    scenario: str
    format: str
    step: int
    plant: Plant
    finds: FindingKind | VerdictKind
    by: Responsible | None = Responsible.READER
    keys: str = ""
    """Those of the witnesses, with blanks between."""
    ask: str = "all"
    besides: FindingKind | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.number} at step {self.step}: {self.finds}"


WRITER, STATISTICS = Responsible.WRITER, Responsible.STATISTICS
ALTERED, RESURRECTED = FindingKind.ALTERED_VALUE, FindingKind.RESURRECTED
STALE = FindingKind.STALE
LOST, GHOST, TWICE = FindingKind.LOST_ROW, FindingKind.GHOST_ROW, FindingKind.DUPLICATE
FILE: Final = "1.parquet"
WRITERS: Final = {
    "delta": "spark-3.5.8-delta-3.3.2",
    "iceberg": "spark-3.5.8-iceberg-1.10.1",
    "hive-parquet": "hive-3.1.3",
    "hudi-cow": "spark-3.5.8-hudi-1.2.0",
    "hudi-mor": "spark-3.5.8-hudi-1.2.0",
}
"""Which of them wrote matters to nobody but their words."""


PURGED = "bugs/purged_vectors", "delta"
REPLACED = "bugs/replaced_columns", "delta"
PARTS = "upgrades/defaults_of_parts", "iceberg"
VALUE_DELETED = DROPPED, "iceberg"
EQUAL = "bugs/equal_ordering", "hudi-cow"
ROW_IDS = "bugs/row_lineage", "iceberg"
AT_ONCE = "bugs/merges_at_once", "iceberg"
IN_1850 = datetime.datetime(1850, 1, 1, 0, 8, 1)  # noqa: DTZ001 - canonical moments have no zone
IN_1970 = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - as above
# The log cuts it to milliseconds, and is read as up to the last microsecond of that one.
LAST = datetime.datetime(2024, 1, 1, 10, 0, 0, 123999)  # noqa: DTZ001 - as above
FINE = 'where(at = "2024-01-01 10:00:00.123456")'
HOURS = datetime.timedelta(hours=7, minutes=52, seconds=58)
NO_METADATA = refuses("DELTA_LAKE_INVALID_SCHEMA", "Metadata not found in transaction log")
NO_FIELD = refuses("ICEBERG_CANNOT_OPEN_SPLIT", "Cannot find field for id 3")


def _first_values(rows: Rows, history: History) -> Rows:
    older = whole(history, 1)
    return [{**row, "f1": old["f1"]} for row, old in zip(rows, older, strict=True)]


REPORTS: Final = (
    Report("trino#30685", *PURGED, 5, shown(again(2)), GHOST, keys="2 5"),
    Report("trino#30685", *PURGED, 6, shown(again(5, "1", "3")), TWICE, keys="1 3"),
    Report(
        "delta-rs#3201",
        *("bugs/statistics_of_one_column", "delta", 4, shown(loses("1", "2")), LOST),
        keys="1 2",
        ask="where(f1 is not null)",
    ),
    Report("trino#27805", *REPLACED, 5, NO_METADATA, VerdictKind.REFUSED),
    Report("trino#27805", *REPLACED, 5, stored(again(2)), GHOST, WRITER, "1 2"),
    Report(
        "trino#24121",
        *("bugs/checkpoint_by_trino", "delta", 5, stored(sets("p", lambda _: None, "1"))),
        *(FindingKind.LOST_VALUE, WRITER, "1"),
    ),
    Report(
        "delta-kernel-rs#2945",
        *("bugs/statistics_later", "delta", 7, shown(again(6, "3", "4")), GHOST),
        keys="3 4",
        ask="where(n is not null)",
    ),
    Report(
        "delta-rs#4613", "bugs/restored_vectors", "delta", 5, stored(loses("2")), LOST, WRITER, "2"
    ),
    Report(
        "delta-rs#4149",
        *("bugs/delete_of_a_partition", "delta", 5, stored(again(4, "2")), GHOST, WRITER, "2"),
    ),
    Report(
        "iceberg-python#3758",
        *("bugs/upsert_in_a_day", "iceberg", 4, stored(again(3, "1", "2")), TWICE, WRITER, "1 2"),
    ),
    Report(
        "iceberg#17320",
        *(*PARTS, 4, shown(sets("s", lambda _: {"a": None, "b": 9}, "nothing")), ALTERED),
        keys="nothing",
    ),
    Report(
        "iceberg#17320",
        *(*PARTS, 4, shown(again(4, "nothing")), GHOST),
        keys="nothing",
        ask="where(s.b = 9)",
    ),
    Report(
        "hive#3338",
        *("bugs/times_of_hive", "hive-parquet", 1),
        *(shown(sets("at", lambda at: at - HOURS, "old")), ALTERED),
        keys="old",
    ),
    Report(
        "hudi#18791",
        *("bugs/beginning_of_texts", "hudi-mor", 3, shown(loses()), LOST),
        keys="1 2 5 6",
        ask='where(f1 starts with "al")',
    ),
    Report(
        "hudi#10955",
        *("bugs/list_of_another_column", "hudi-mor", 2, shown(loses("1")), LOST),
        keys="1",
        ask='where(f1 in "1", "2", "3")',
    ),
    Report(
        "iceberg-rust#3122",
        *("maintenance/widened", "iceberg", 4, shown(loses()), LOST),
        keys="1 2 3 4",
        ask="where(n < 2147483648)",
    ),
    Report(
        "delta-kernel-rs#1003",
        *("evolution/filtered_columns", "delta", 1),
        *(statistics_say(StatisticsSource.DELTA, "at", IN_1970, LAST, shown(loses())), LOST),
        keys="minus",
        ask=FINE,
    ),
    Report("trino#17836", *VALUE_DELETED, 3, shown(again(1, "1")), GHOST, keys="1"),
    Report("trino#17836", *VALUE_DELETED, 3, NO_FIELD, VerdictKind.REFUSED),
    Report("trino#18625", *VALUE_DELETED, 5, shown(again(4, "3")), GHOST, keys="3"),
    Report(
        "duckdb-iceberg#940",
        *("upgrades/deletes_by_value", "iceberg", 2, shown(loses("3")), LOST),
        keys="3",
    ),
    Report("hudi#13115", *EQUAL, 2, shown(older(1, "1")), STALE, keys="1"),
    Report("hudi#13115", *EQUAL, 7, shown(loses("2")), LOST, keys="2"),
    Report(
        "polars#23428",
        *("iceberg/name_given_again", "iceberg", 3, shown(_first_values), RESURRECTED),
        keys="1 2 3",
    ),
    Report(
        "iceberg#16699",
        *(*ROW_IDS, 5, stored(sets("_row_id", lambda at: at + 20, "c")), ALTERED, WRITER, "c"),
        ask=LINEAGE,
    ),
    Report(
        "iceberg#16699",
        *(*ROW_IDS, 7, shown(sets("_last_updated_sequence_number", lambda _: 7, "c")), ALTERED),
        keys="c",
        ask=LINEAGE,
    ),
    Report(
        "delta#5249",
        *("bugs/seconds_in_the_offset", "delta", 1),
        *(
            statistics_say(StatisticsSource.DELTA, "at", IN_1850, IN_1850, shown(loses())),
            LOST,
            STATISTICS,
        ),
        keys="morning",
        ask="where(at = old)",
    ),
    Report(
        "iceberg#10357",
        *("bugs/groups_of_partitions", "iceberg", 3, shown(parted), TWICE),
        keys="1",
        ask="groups(p)",
        besides=LOST,
    ),
    Report("trino#26853", *AT_ONCE, 5, stored(again(4, "1")), TWICE, WRITER, "1"),
    Report("trino#26853", *AT_ONCE, 8, stored(again(7, "4")), GHOST, WRITER, "4"),
    Report(
        "ClickHouse#118905",
        *("bugs/days_by_clickhouse", "iceberg", 3),
        *(
            statistics_say(StatisticsSource.ICEBERG_LIST, "at", None, None, shown(loses())),
            LOST,
            STATISTICS,
        ),
        keys="1 2 3 4",
        ask="where(at is not null)",
    ),
)

NO_PARTS: Final = {"a": None, "b": None}
BEYOND: Final = (
    Report(
        "delta#2248",
        *("bugs/merged_null_structs", "delta", 2),
        *(stored(sets("s", lambda s: s or NO_PARTS)), ALTERED),
        WRITER,
        "10 5",
    ),
    Report(
        "delta#2248",
        *("bugs/merged_null_structs", "delta", 4),
        *(stored(sets("s", lambda s: s or {**NO_PARTS, "c": None}, "10", "15")), ALTERED),
        WRITER,
        "10 15",
    ),
    Report(
        "a merge adds a column without its values",
        *("evolution/merged_columns", "delta", 3),
        *(stored(sets("g", lambda _: None)), FindingKind.LOST_VALUE),
        WRITER,
        "1 6",
    ),
    Report(
        "a merge adds a part without its values",
        *("evolution/merged_columns", "iceberg", 4),
        *(stored(sets("s", lambda s: {**s, "c": None})), FindingKind.LOST_VALUE),
        WRITER,
        "3 5 7",
    ),
)
"""What is none of the thirty."""


def scenario_of(report: Report) -> Scenario:
    text = report.scenario
    result = load.loads(text, "story.yaml") if "\n" in text else SHIPPED[text]
    return replace(result, steps=result.steps[: report.step])


def numbers(history: History) -> Mapping[int, Lineage]:
    """Return what a faultless writer says of where rows come from, by step."""
    ids: dict[Value, int] = {}
    result = {}
    for truth in history:
        rows = [
            (text_of(key), ids.setdefault(key, len(ids)), row.newest)
            for key, row in truth.rows.items()
        ]
        result[truth.step] = Lineage(truth.step, tuple(rows))
    return result


def right(report: Report) -> Table:
    scenario = scenario_of(report)
    made_by = WRITERS[report.format]
    writers = (made_by, *(step.by or made_by for step in scenario.steps))
    outcomes = VariantOutcomes(
        Variant("variant", scenario, report.format, report.settings, writers)
    )
    while not outcomes.complete:
        step = outcomes.next_step()
        sent = Outcome(step.step, OutcomeKind.APPLIED, str(step.step), statements=step.texts)
        outcomes = outcomes.then(sent)
    states = [StateRecord("variant", outcome, "digest") for outcome in outcomes.outcomes]
    case = RecordedVariant(outcomes.variant, merge_on_read=False, states=tuple(states))
    question = query(report.ask, case.history[-1])
    rows = whole(case.history, report.step)
    if report.ask == LINEAGE:
        _, *names = question.columns
        of = numbers(case.history)
        states = [replace(state, lineage=of[state.outcome.step]) for state in states]
        rows = [dict(zip(("id", *names), row, strict=True)) for row in of[report.step].rows]
        case = replace(case, states=tuple(states))
    return Table(case, question, rows, rows if report.ask == LINEAGE else asked(question, rows))


def recorded(table: Table) -> RecordedVariant:
    """Return the records of the steps, the last of which left one data file."""
    last, schema = table.case.states[-1], table.history[-1].schema
    if last.lineage is not None:
        rows = tuple(tuple(row.values()) for row in table.stored)
        last = replace(last, lineage=replace(last.lineage, rows=rows))
        return replace(table.case, states=(*table.case.states[:-1], last))
    keys = tuple(text_of(row["id"]) for row in table.stored)
    columns = tuple((field.name, str(field.type)) for field in schema.fields)
    file = FileFact(FILE, FileKind.BASE, FILE, last.outcome.instant, columns, keys)
    values = FileValues(0, schema.names, tuple(tuple(row.values()) for row in table.stored))
    stored_statistics = StoredStatistics(table.statistics)
    last = replace(last, files=(file,), values=(values,), statistics=stored_statistics)
    return replace(table.case, states=(*table.case.states[:-1], last))


def verdict_on(report: Report, table: Table) -> Verdict:
    case = recorded(table)
    cell = Cell("variant", report.step, ANOTHER_READER, "snapshot", report.ask)
    schema, names = table.history[-1].schema, table.question.columns
    types = [
        (name, str(schema.find(name).type) if schema.has(name) else "long") for name in names
    ] or column_types(schema, table.question)
    columns = tuple(Column(name, type_, type_) for name, type_ in types)
    rows = tuple(tuple(row[column.name] for column in columns) for row in table.shown)
    answer = Answer(cell.case, "select", columns, rows, table.refusal, question=table.question)
    return next(v for v in judge(case, [cell], {cell.case: answer}) if v.case == cell.case)


@pytest.mark.parametrize("report", REPORTS + BEYOND, ids=str)
def test_a_report_that_is_planted_is_found_under_its_name_and_without_it_all_is_right(
    report: Report,
) -> None:
    table = right(report)
    assert verdict_on(report, table).verdict is VerdictKind.CORRECT
    verdict = verdict_on(report, report.plant(table))
    if isinstance(report.finds, VerdictKind):
        assert verdict.verdict is report.finds
        return
    kinds = {report.finds} | ({report.besides} if report.besides else set())
    assert blamed(verdict) == {(kind, report.by) for kind in kinds}
    witnesses = {witness.key for finding in verdict.findings for witness in finding.witnesses}
    assert witnesses == set(report.keys.split())


def test_a_downgrade_that_an_index_stops_is_a_refused_step_and_the_rows_stay() -> None:
    report = Report(
        "hudi#13908", "bugs/index_before_downgrade", "hudi-cow", 7, shown(loses()), LOST
    )
    table = right(report)
    stopped = Refusal("HoodieUpgradeDowngradeException", "unknown action indexing")
    last = table.case.states[-1]
    outcome = replace(last.outcome, kind=OutcomeKind.REFUSED, instant="", refusal=stopped)
    case = replace(table.case, states=(*table.case.states[:-1], replace(last, outcome=outcome)))
    (verdict,) = judge(case, [], {})
    assert (verdict.step, verdict.verdict) == (7, VerdictKind.REFUSED)
    assert verdict_on(report, replace(table, case=case)).verdict is VerdictKind.CORRECT


def test_the_page_counts_the_reports_that_are_said_and_each_of_them_is_planted() -> None:
    text = PAGE.read_text(encoding="utf-8").split("## Thirty reports", 1)[1]
    rows_said, unsaid = (part.split("\n## ")[0] for part in text.split("cannot be said:")[:2])
    numbers = [
        row.split("](")[0].lstrip("| [") for row in rows_said.splitlines() if row[:3] == "| ["
    ]
    assert f"{len(numbers)} are said" in text
    assert set(numbers) == {"hudi#13908", *(report.number for report in REPORTS)}
    left = sum(row.split(" | ")[0].count("](") for row in unsaid.splitlines() if row[:3] == "| [")
    assert len(numbers) + left == 30
