"""Reports of trackers of 2025 and 2026: who plants such a defect is found by its name."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

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
    StatisticsSource,
    StoredStatistics,
    bound,
)
from harness.model.query_shapes import query
from harness.model.truth import row_values
from harness.plan import load_scenarios, scenarios_folder
from harness.scenario.cells import Cell, Variant

SHIPPED: Final = {scenario.name: scenario for scenario in load_scenarios(scenarios_folder())}
READER: Final = "spark-3.5.8-delta-3.3.2"
Rows = Sequence[tuple[Value, ...]]


def case_of(
    name: str, format_: str, steps: int, refused: Mapping[int, Refusal] | None = None
) -> RecordedVariant:
    """Return the records of the first steps of a shipped scenario, without its files."""
    scenario = SHIPPED[name]
    scenario = replace(scenario, steps=scenario.steps[:steps])
    variant = Variant("variant", scenario, format_, {}, ("writer",) * (steps + 1))
    states = [
        StateRecord("variant", Outcome(at, OutcomeKind.APPLIED, instant=str(at)), "digest")
        for at in range(steps + 1)
    ]
    for at, refusal in (refused or {}).items():
        states[at] = replace(states[at], outcome=Outcome(at, OutcomeKind.REFUSED, "", refusal))
    return RecordedVariant(variant, merge_on_read=False, states=tuple(states))


def verdict_on(case: RecordedVariant, rows: Rows, text: str = "all") -> Verdict:
    step = len(case.states) - 1
    truth, cell = case.history[step], Cell("variant", step, READER, "snapshot", text)
    asked = query(text, truth)
    columns = tuple(Column(name, type_, type_) for name, type_ in column_types(truth.schema, asked))
    answer = Answer(cell.case, "select", columns, tuple(rows), question=asked)
    return next(v for v in judge(case, [cell], {cell.case: answer}) if v.case == cell.case)


def rows_of(case: RecordedVariant, step: int) -> dict[str, tuple[Value, ...]]:
    truth = case.history[step]
    return {text_of(key): row_values(row, truth.schema) for key, row in truth.rows.items()}


def blamed(verdict: Verdict) -> set[tuple[FindingKind, Responsible | None]]:
    return {(finding.kind, finding.responsible) for finding in verdict.findings}


def test_a_row_that_statistics_of_another_moment_exclude_is_lost_by_the_writer() -> None:
    case = case_of("bugs/seconds_in_the_offset", "delta", 1)
    truth, rows = case.history[1], rows_of(case, 1)
    names = truth.schema.names
    columns = tuple((name, str(truth.schema.find(name).type)) for name in names)
    file = FileFact("1.parquet", FileKind.BASE, "1.parquet", "1", columns, ("morning",))
    values = FileValues(0, names, tuple(rows.values()))
    known = replace(case.states[1], files=(file,), values=(values,))
    plain = replace(case, states=(case.states[0], known))
    at = rows["morning"][names.index("at")]
    assert isinstance(at, datetime.datetime)
    cut = bound(at + datetime.timedelta(seconds=28))
    of_log = ColumnStatistics(StatisticsSource.DELTA, file.path, "at", 1, 0, cut, cut)
    with_log = replace(known, statistics=StoredStatistics((of_log,)))
    wrong = replace(case, states=(case.states[0], with_log))
    asked = "where(at = old)"
    assert verdict_on(wrong, tuple(rows.values()), asked).verdict is VerdictKind.CORRECT
    assert blamed(verdict_on(wrong, (), asked)) == {(FindingKind.LOST_ROW, Responsible.STATISTICS)}
    assert blamed(verdict_on(plain, (), asked)) == {(FindingKind.LOST_ROW, Responsible.READER)}


def test_a_downgrade_that_an_index_stops_is_a_refused_step() -> None:
    refused = Refusal("HoodieUpgradeDowngradeException", "unknown action indexing")
    case = case_of("bugs/index_before_downgrade", "hudi-cow", 7, {7: refused})
    (verdict,) = judge(case, [], {})
    assert (verdict.step, verdict.verdict) == (7, VerdictKind.REFUSED)
    rows = tuple(rows_of(case, 7).values())
    assert verdict_on(case, rows).verdict is VerdictKind.CORRECT, "the rows stay as they were"
