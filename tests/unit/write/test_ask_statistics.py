from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.artifacts.cache import Cache
from harness.core.errors import HarnessError
from harness.core.records import FileValues, Outcome, OutcomeKind, Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.formats.hudi.files import COLUMN_STATISTICS
from harness.formats.hudi.format import Hudi
from harness.model.file_facts import (
    IN_ORDER,
    ColumnStatistics,
    FileFact,
    FileKind,
    StatisticsSource,
    StoredStatistics,
)
from harness.write import state_store, write_variants
from harness.write.next_step import VariantOutcomes
from harness.write.state_records import FileRowsSeen, contradicted_statistics
from harness.write.state_store import Frozen
from harness.write.writer_pool import WriteTarget
from tests.builders.stored_statistics import FACT, row
from tests.builders.written_variant import WRITER, variant

REFUSED = RefusedError(Refusal("HoodieException", "Exception when reading log file"), 0.1)


@dataclass
class Spark:
    error: Exception | None = None
    sent: list[str] = field(default_factory=list)
    settings: Mapping[str, str] = field(default_factory=dict)
    closed: int = 0

    def open(self, settings: Mapping[str, str]) -> Spark:
        self.settings = settings
        return self

    def run(self, sql: str, *, timeout_s: float) -> SimpleNamespace:
        assert timeout_s > 0
        self.sent.append(sql)
        if self.error is not None:
            raise self.error
        request = row(3, "a.parquet", "d", 0.0, 0.0)
        return SimpleNamespace(
            columns=[(name, "x") for name in request], rows=[tuple(request.values())]
        )

    def close(self) -> None:
        self.closed += 1


def asked(folder: Path, spark: Spark, *, on: bool = True, index: bool = True) -> StoredStatistics:
    target = WriteTarget(Cache(folder / "cache"), "thrift://", "db", folder)
    if index:
        (target.table / COLUMN_STATISTICS).mkdir(parents=True)
    settings = {"metadata_table": "on"} if on else {}
    outcomes = VariantOutcomes(replace(variant(), settings=settings))
    outcomes = outcomes.then(Outcome(0, OutcomeKind.APPLIED))

    pool: Any = {WRITER: spark}
    return write_variants.ask_statistics(outcomes, target, [FACT], pool.get)


WRONG = ColumnStatistics(StatisticsSource.HUDI, FACT.path, "d", 2, 0, "0.0", "0.0")


def test_the_writer_is_asked_in_a_session_of_its_own(tmp_path: Path) -> None:
    spark = Spark()
    assert asked(tmp_path, spark) == StoredStatistics((WRONG,))
    assert spark.sent == [f"select * from hudi_metadata('{tmp_path / 't'}') where type in (3, 6)"]
    assert (spark.closed, spark.settings["hoodie.metadata.enable"]) == (1, "true")


@pytest.mark.parametrize(("on", "index"), [(False, True), (True, False)])
def test_nobody_is_asked_where_there_is_no_such_index(
    tmp_path: Path, *, on: bool, index: bool
) -> None:
    spark = Spark()
    assert asked(tmp_path, spark, on=on, index=index) == IN_ORDER
    assert spark.sent == []


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (REFUSED, "HoodieException: Exception when reading log file"),
        (NoAnswerError("no answer within 300 s"), "no answer within 300 s"),
        (HarnessError("the Spark worker failed"), "the Spark worker failed"),
    ],
)
def test_a_failure_is_told_and_the_step_stays_as_it_is(
    tmp_path: Path, error: Exception, text: str
) -> None:
    assert asked(tmp_path, Spark(error)) == StoredStatistics(unknown=text)


def test_a_states_address_tells_whether_its_writer_was_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    course = VariantOutcomes(replace(variant(), settings={"metadata_table": "on"}))
    now = course.next_step().address
    monkeypatch.setattr(Hudi, "queried_statistics", lambda *_: None)
    assert course.next_step().address != now


@dataclass(frozen=True)
class Shape:
    found: tuple[ColumnStatistics, ...]

    def statistics(self, _: Path, files: list[FileFact]) -> tuple[ColumnStatistics, ...]:
        return tuple(
            statistics
            for statistics in self.found
            if statistics.path in {fact.path for fact in files}
        )


def test_those_are_kept_that_a_file_contradicts_or_may(tmp_path: Path) -> None:
    right = ColumnStatistics(StatisticsSource.PARQUET, FACT.path, "d", 2, 0, "1.5", "2.5")
    footer = replace(right, greatest="2.0")
    of_folder = ColumnStatistics(StatisticsSource.HUDI_PARTITION, "p=east", "d", 2, 0, "0.0", "0.0")
    other = replace(WRONG, column="e")  # the file has no such column
    right_folder = replace(of_folder, least="1.5", greatest="9.5")
    hudis = replace(WRONG, column="_hoodie_record_key")
    stored_statistics = StoredStatistics((WRONG, of_folder, right_folder, other, hudis))
    frozen = Frozen(Outcome(1, OutcomeKind.APPLIED), (), (), statistics=stored_statistics)
    state, seen = state_store.State("d", tmp_path, frozen), FileRowsSeen()
    seen.add([FACT], [FileValues(0, ("d",), ((1.5,), (2.5,)))])
    shape: Any = Shape((right, footer))
    first = contradicted_statistics(shape, state, [FACT], [0], seen)
    assert first == StoredStatistics((WRONG, of_folder, other, footer))
    # A later state reads no footer again, and has it all the same.
    assert set(contradicted_statistics(shape, state, [FACT], [], seen).told) == set(first.told)
    gone = replace(state, frozen=replace(frozen, statistics=IN_ORDER))
    assert contradicted_statistics(shape, gone, [], [], seen) == IN_ORDER


def test_nan_in_a_file_contradicts_no_bounds() -> None:
    seen = FileRowsSeen()
    fact = FileFact("f", FileKind.BASE, "f", "1", (("d", "double"),), ("1", "2"))
    seen.add([fact], [FileValues(0, ("d",), ((1.5,), (float("nan"),)))])
    statistics = ColumnStatistics(StatisticsSource.PARQUET, "f", "d", 2, 0, "1.5", "1.5")
    assert not seen.contradicts(statistics)
    assert not seen.contradicts(replace(statistics, greatest='{"float":"nan"}'))
    assert seen.contradicts(replace(statistics, nulls=2))
    assert seen.contradicts(replace(statistics, least="1.6"))
