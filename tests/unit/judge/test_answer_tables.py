"""Questions that a table of its own answers: where rows come from, and how many a group has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from harness.core.records import (
    Answer,
    Column,
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
from harness.model.file_facts import Lineage
from harness.model.query_shapes import query
from harness.scenario import load
from harness.scenario.cells import Cell, Variant

STORY = """\
table:
  columns: {id: string, ts: long, p: int, f1: string}
  key: id
  order_by: ts
  partition_by: [p]
formats: [iceberg]
steps:
  - insert: {rows: [{id: a}, {id: b}, {id: c}]}
  - insert: {rows: [{id: d}]}
  - update: {keys: [a], set: [f1]}
  - rewrite_manifests
  - delete: [b]
"""
Numbers = Mapping[str, tuple[int | None, int | None]]
GIVEN: Sequence[Numbers] = (
    {},
    {"a": (100, 1), "b": (101, 1), "c": (102, 1)},
    {"a": (100, 1), "b": (101, 1), "c": (102, 1), "d": (103, 2)},
    {"a": (100, 3), "b": (101, 1), "c": (102, 1), "d": (103, 2)},
    {"a": (100, 3), "b": (101, 1), "c": (102, 1), "d": (103, 2)},
    {"a": (100, 3), "c": (102, 1), "d": (103, 2)},
)
"""What the files of a faultless writer say after each step."""


def case_of(numbers_of: Sequence[Numbers] = GIVEN, text: str = STORY) -> RecordedVariant:
    scenario = load.loads(text, "story.yaml")
    writers = ("spark-4.1.4-iceberg-1.12.0",) * (len(scenario.steps) + 1)
    variant = Variant("variant", scenario, "iceberg", {"format_version": "3"}, writers)
    states = tuple(
        StateRecord(
            "variant",
            Outcome(step, OutcomeKind.APPLIED, instant=str(step)),
            "digest",
            lineage=Lineage(step, tuple((key, *numbers) for key, numbers in rows.items())),
        )
        for step, rows in enumerate(numbers_of)
    )
    return RecordedVariant(variant, merge_on_read=False, states=states)


def verdict_on(
    case: RecordedVariant, rows: Sequence[tuple[Value, ...]], text: str = "lineage"
) -> Verdict:
    step = len(case.states) - 1
    cell = Cell("variant", step, "spark-4.1.4-iceberg-1.12.0", "snapshot", text)
    asked = query(text, case.history[step])
    columns = tuple(Column(name, "", kind) for name, kind in _types(asked.columns))
    answer = Answer(cell.case, "select", columns, tuple(rows), question=asked)
    verdicts = judge(case, [cell], {cell.case: answer})
    return next(verdict for verdict in verdicts if verdict.case == cell.case)


def _types(names: Sequence[str]) -> Sequence[tuple[str, str]]:
    plain = {"id": "string", "p": "int"}
    return [(name, plain.get(name, "long")) for name in names]


def rows_of(numbers: Numbers) -> list[tuple[Value, ...]]:
    return [(key, *of) for key, of in numbers.items()]


def until(step: int, *, last: Numbers | None = None) -> RecordedVariant:
    rows = [*GIVEN[:step], GIVEN[step] if last is None else last]
    lines = STORY.splitlines()
    return case_of(rows, "\n".join(lines[: len(lines) - 5 + step]))


def blamed(verdict: Verdict) -> set[tuple[FindingKind, str, Responsible | None]]:
    return {
        (finding.kind, witness.column, finding.responsible)
        for finding in verdict.findings
        for witness in finding.witnesses
    }


@pytest.mark.parametrize("step", range(1, 6))
def test_what_a_faultless_table_says_is_right_after_each_step(step: int) -> None:
    assert verdict_on(until(step), rows_of(GIVEN[step])).verdict is VerdictKind.CORRECT


def test_a_rewrite_that_gives_rows_other_ids_is_the_writers_doing() -> None:
    anew = {key: (id_ + 50, at) for key, (id_, at) in GIVEN[4].items() if id_}
    verdict = verdict_on(until(4, last=anew), rows_of(anew))
    assert blamed(verdict) == {(FindingKind.ALTERED_VALUE, "_row_id", Responsible.WRITER)}
    assert [(w.key, w.expected, w.actual) for w in verdict.findings[0].witnesses][:1] == [
        ("a", 100, 150)
    ]


def test_a_rewrite_that_counts_as_an_update_is_the_writers_doing() -> None:
    anew = {key: (id_, 4) for key, (id_, _) in GIVEN[4].items()}
    assert blamed(verdict_on(until(4, last=anew), rows_of(anew))) == {
        (FindingKind.ALTERED_VALUE, "_last_updated_sequence_number", Responsible.WRITER)
    }


def test_a_reader_that_shows_other_numbers_than_the_files_say_did_it() -> None:
    shown = {key: (id_, 9) for key, (id_, _) in GIVEN[4].items()}
    assert blamed(verdict_on(until(4), rows_of(shown))) == {
        (FindingKind.ALTERED_VALUE, "_last_updated_sequence_number", Responsible.READER)
    }


def test_an_update_without_a_new_sequence_number_is_stale_and_the_writers_doing() -> None:
    old = {**GIVEN[3], "a": (100, 1)}
    assert blamed(verdict_on(until(3, last=old), rows_of(old))) == {
        (FindingKind.STALE, "_last_updated_sequence_number", Responsible.WRITER)
    }


def test_an_update_may_give_a_row_another_id() -> None:
    other = {**GIVEN[3], "a": (104, 3)}
    verdict = verdict_on(until(3, last=other), rows_of(other))
    assert verdict.verdict is VerdictKind.OPEN
    assert "id-of-an-updated-row" in verdict.because


def test_a_reader_that_shows_no_number_has_lost_it() -> None:
    shown = [(key, None, at) for key, (_, at) in GIVEN[2].items()]
    assert blamed(verdict_on(until(2), shown)) == {
        (FindingKind.LOST_VALUE, "_row_id", Responsible.READER)
    }


def test_a_row_that_is_deleted_is_a_ghost_row() -> None:
    verdict = verdict_on(until(5), rows_of(GIVEN[4]))
    assert [finding.kind for finding in verdict.findings] == [FindingKind.GHOST_ROW]


def test_rows_get_their_numbers_with_the_first_snapshot_after_an_upgrade() -> None:
    text = STORY.replace("rewrite_manifests", "set_table_version: 3")
    text = text.replace("delete: [b]", "rewrite_manifests")
    nothing: Numbers = dict.fromkeys("abcd", (None, None))
    given: Numbers = {"a": (3, 3), "b": (1, 2), "c": (2, 2), "d": (0, 2)}
    case = case_of((*GIVEN[:4], nothing, given), text)
    before = [replace(state, lineage=None) for state in case.states[:4]]
    case = replace(case, states=(*before, *case.states[4:]))
    assert verdict_on(case, rows_of(given)).verdict is VerdictKind.CORRECT
    # A reader that counts a compaction of before the upgrade as an update.
    later = {key: (id_, 3) for key, (id_, _) in given.items()}
    assert blamed(verdict_on(case, rows_of(later))) == {
        (FindingKind.ALTERED_VALUE, "_last_updated_sequence_number", Responsible.READER)
    }
    upgraded = replace(case, states=case.states[:5])
    assert verdict_on(upgraded, rows_of(nothing)).verdict is VerdictKind.CORRECT


def test_what_files_do_not_say_is_unknown() -> None:
    case = until(2)
    silent = (*case.states[:2], replace(case.states[2], lineage=None))
    verdict = verdict_on(replace(case, states=silent), rows_of(GIVEN[2]))
    assert verdict.verdict is VerdictKind.UNKNOWN
    assert "where its rows come from" in verdict.because


def test_each_group_stands_once_with_the_number_of_its_rows() -> None:
    case = until(2)
    right: dict[Value, Value] = {0: 2, 1: 2}
    assert verdict_on(case, list(right.items()), "groups(p)").verdict is VerdictKind.CORRECT
    parted = [(0, 2), (1, 1), (1, 1)]
    kinds = {kind for kind, _, _ in blamed(verdict_on(case, parted, "groups(p)"))}
    assert FindingKind.DUPLICATE in kinds
    lost = blamed(verdict_on(case, [(0, 2)], "groups(p)"))
    assert {kind for kind, _, _ in lost} == {FindingKind.LOST_ROW}


def test_a_group_of_null_is_one_as_any_other() -> None:
    lines = [line.replace(", f1: string", "") for line in STORY.splitlines()[:7]]
    text = "\n".join([*lines, "  - insert: {rows: [{id: a, p: null}, {id: b, p: 5}]}"])
    case = case_of(({}, {}), text)
    assert verdict_on(case, [(None, 1), (5, 1)], "groups(p)").verdict is VerdictKind.CORRECT
    ((kind, _, _),) = blamed(verdict_on(case, [(5, 1)], "groups(p)"))
    assert kind is FindingKind.LOST_ROW
