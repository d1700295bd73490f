from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.artifacts.cache import Cache
from harness.core.errors import HarnessError
from harness.core.records import FindingKind, Outcome, OutcomeKind, Refusal, StateRecord, Witness
from harness.engines.api import NoAnswerError, RefusedError
from harness.formats import load
from harness.formats.hudi.files import COLUMN_STATISTICS
from harness.formats.hudi.format import PREFIX, Hudi
from harness.judge import recorded_by_table
from harness.judge.recorded_variant import RecordedVariant
from harness.model.commit import ExtraMetadata
from harness.model.file_facts import IN_ORDER, ColumnStatistics, StatisticsSource, StoredStatistics
from harness.model.schema import SchemaChangeError
from harness.reports.findings import witness_text
from harness.scenario.operations.row_writes import MetadataWay, Upsert, WriteWithMetadata
from harness.scenario.statements import FrameWrite, Sql
from harness.write import write_variants
from harness.write.next_step import VariantOutcomes
from harness.write.writer_pool import WriteTarget
from tests.builders.scenarios import scenario_of
from tests.builders.stored_statistics import FACT, row
from tests.builders.written_variant import WRITER, variant

METADATA = {"run.id": "17", "run.by": "me"}
STORED = tuple(sorted(METADATA.items()))
INSTANT = "20260101000000001"
ALTER = "alter table {{database}}.t {} ({})"
SHOW = f"call show_commit_extra_metadata(table => 'db.t', instant_time => '{INSTANT}')"


def step(
    by: MetadataWay = MetadataWay.SET, pairs: dict[str, str] = METADATA, prefix: str = "run."
) -> WriteWithMetadata:
    return WriteWithMetadata((1,), pairs, prefix, by)


def statements_by(by: MetadataWay) -> tuple[Any, ...]:
    outcomes = VariantOutcomes(replace(variant(), scenario=scenario_of(step(by))))
    return outcomes.then(Outcome(0, OutcomeKind.APPLIED)).next_step().statements


@pytest.mark.parametrize(
    ("metadata", "first", "last"),
    [
        (MetadataWay.SET, f"set {PREFIX}=run.", "reset run.by"),
        (MetadataWay.QUOTED_SET, f"set {PREFIX}='run.'", "reset run.by"),
        (
            MetadataWay.TABLE_OPTIONS,
            ALTER.format(
                "set tblproperties", f"'{PREFIX}' = 'run.', 'run.id' = '17', 'run.by' = 'me'"
            ),
            ALTER.format("unset tblproperties if exists", f"'{PREFIX}', 'run.id', 'run.by'"),
        ),
    ],
)
def test_the_writer_is_told_before_the_write_and_forgets_it_even_if_that_is_refused(
    metadata: MetadataWay, first: str, last: str
) -> None:
    statements = statements_by(metadata)
    assert (statements[0].text, statements[-1].text) == (first, last)
    assert all(isinstance(statement, Sql) for statement in statements)
    assert [s.text.split()[0] for s in statements if s.commits] == ["insert"]
    assert statements[-1].in_any_case


def test_a_dataframe_is_told_in_its_options() -> None:
    (write,) = statements_by(MetadataWay.FRAME)
    assert isinstance(write, FrameWrite)
    assert {PREFIX: "run.", **METADATA}.items() <= dict(write.options).items()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (WriteWithMetadata((1,), {}, "run."), "give at least one"),
        (step(pairs={"ran.id": "1"}), "'ran.id' has no name behind the prefix; write run.…"),
        (step(pairs={"run.": "1"}), "'run.' has no name behind the prefix"),
        (step(pairs={"a bc": "1"}, prefix="a b"), "'a b' is no name of metadata; allowed: letters"),
        (step(pairs={"run.id": "a;b"}), "the value of 'run.id' cannot be told by every way"),
        (step(pairs={"run.id": "${x}"}), "the value of 'run.id'"),
        (step(pairs={"run.id": ""}), "the value of 'run.id'"),
    ],
)
def test_what_some_way_cannot_say_is_refused_with_what_is_allowed(
    wrong: WriteWithMetadata, says: str
) -> None:
    (empty,) = scenario_of().truths(merge_on_read=False).history()
    with pytest.raises(SchemaChangeError, match=re.escape(says)):
        wrong.evolve(empty)


@dataclass
class Spark:
    rows: list[dict[str, Any]]
    error: Exception | None = None
    sent: list[str] = field(default_factory=list)
    settings: Mapping[str, str] = field(default_factory=dict)

    def open(self, settings: Mapping[str, str]) -> Spark:
        self.settings = settings
        return self

    def run(self, sql: str, *, timeout_s: float) -> SimpleNamespace:
        assert timeout_s > 0
        self.sent.append(sql)
        if self.error is not None:
            raise self.error
        columns = [(name, "string") for name in self.rows[0]]
        return SimpleNamespace(columns=columns, rows=[tuple(row.values()) for row in self.rows])

    def close(self) -> None:
        self.sent.append("closed")


def shows(error: Exception | None = None) -> Spark:
    pairs = {**METADATA, "schema": "{}"}.items()
    return Spark([{"metadata_key": name, "metadata_value": value} for name, value in pairs], error)


def target_in(folder: Path) -> WriteTarget:
    return WriteTarget(Cache(folder / "cache"), "thrift://", "db", folder)


def asked(folder: Path, spark: Spark, operation: Any = None) -> ExtraMetadata | None:  # noqa: ANN401
    target = target_in(folder)
    (target.table / ".hoodie").mkdir(parents=True)
    record = {"extraMetadata": {**METADATA, "schema": "{}"}}
    (target.table / ".hoodie" / f"{INSTANT}.commit").write_text(json.dumps(record))
    outcomes = VariantOutcomes(replace(variant(), scenario=scenario_of(operation or step())))
    for number, instant in ((0, ""), (1, INSTANT)):
        outcomes = outcomes.then(Outcome(number, OutcomeKind.APPLIED, instant))
    pool: Any = {WRITER: spark}
    return write_variants.ask_metadata(outcomes, target, pool.get)


def test_the_commit_is_read_and_shown_without_what_hudi_writes_itself(tmp_path: Path) -> None:
    spark = shows()
    assert asked(tmp_path, spark) == ExtraMetadata(STORED, STORED)
    assert spark.sent == [SHOW, "closed"]


def test_nobody_is_asked_about_a_step_that_was_told_of_none(tmp_path: Path) -> None:
    assert asked(tmp_path, shows(HarnessError("asked")), Upsert((1,))) is None


ERRORS = pytest.mark.parametrize(
    ("error", "why"),
    [
        (RefusedError(Refusal("ParseException", "no alternative"), 0.1), "ParseException: no alt"),
        (NoAnswerError("no answer within 300 s"), "no answer within 300 s"),
        (HarnessError("the Spark worker failed"), "the Spark worker failed"),
    ],
)


@ERRORS
def test_where_nothing_is_shown_the_file_is_known_all_the_same(
    tmp_path: Path, error: Exception, why: str
) -> None:
    metadata = asked(tmp_path, shows(error))
    assert metadata is not None
    assert (metadata.stored, metadata.shown) == (STORED, ())
    assert why in metadata.unshown


def asked_statistics(
    folder: Path, spark: Spark, *, on: bool = True, index: bool = True
) -> StoredStatistics:
    target = target_in(folder)
    if index:
        (target.table / COLUMN_STATISTICS).mkdir(parents=True)
    settings = {"metadata_table": "on"} if on else {}
    outcomes = VariantOutcomes(replace(variant(), settings=settings))
    pool: Any = {WRITER: spark}
    outcomes = outcomes.then(Outcome(0, OutcomeKind.APPLIED))
    return write_variants.ask_statistics(outcomes, target, [FACT], pool.get)


def test_the_writer_is_asked_for_statistics_in_a_session_of_its_own(tmp_path: Path) -> None:
    spark = Spark([row(3, "a.parquet", "d", 0.0, 0.0)])
    wrong = ColumnStatistics(StatisticsSource.HUDI, FACT.path, "d", 2, 0, "0.0", "0.0")
    assert asked_statistics(tmp_path, spark) == StoredStatistics((wrong,))
    sql = f"select * from hudi_metadata('{tmp_path / 't'}') where type in (3, 6)"
    assert spark.sent == [sql, "closed"]
    assert spark.settings["hoodie.metadata.enable"] == "true"


@pytest.mark.parametrize(("on", "index"), [(False, True), (True, False)])
def test_nobody_is_asked_where_there_is_no_such_index(
    tmp_path: Path, *, on: bool, index: bool
) -> None:
    asked = asked_statistics(tmp_path, shows(HarnessError("asked")), on=on, index=index)
    assert asked == IN_ORDER


@ERRORS
def test_statistics_that_are_not_told_are_unknown_and_the_step_stays_as_it_is(
    tmp_path: Path, error: Exception, why: str
) -> None:
    statistics = asked_statistics(tmp_path, shows(error))
    assert statistics.columns == ()
    assert why in statistics.unknown


def test_a_states_address_tells_whether_its_writer_was_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes = VariantOutcomes(replace(variant(), settings={"metadata_table": "on"}))
    now = outcomes.next_step().address
    monkeypatch.setattr(Hudi, "queried_statistics", lambda *_: None)
    assert outcomes.next_step().address != now


LOST, OTHER = FindingKind.LOST_METADATA, FindingKind.OTHER_METADATA
CHANGED = STORED[0], ("run.id", "18")


@pytest.mark.parametrize(
    ("extra", "kind", "witness", "text"),
    [
        (ExtraMetadata(STORED[:1], STORED), LOST, Witness("", "run.id", "17", None), "no extra"),
        (ExtraMetadata(CHANGED, CHANGED), OTHER, Witness("", "run.id", "17", "18"), "has '18'"),
        (ExtraMetadata((*STORED, ("x", "1"))), OTHER, Witness("", "x", None, "1"), "nothing of"),
        (ExtraMetadata(STORED, STORED[1:]), LOST, Witness("shown", "run.by", "me", None), "show_"),
    ],
)
def test_what_is_lost_and_what_is_other_are_two_things(
    extra: ExtraMetadata, kind: FindingKind, witness: Witness, text: str
) -> None:
    ((at, (finding, *_)),) = recorded_by_table.findings(recorded_with(extra)).items()
    assert (at, finding.kind, finding.witnesses[0]) == (1, kind, witness)
    assert text in witness_text(kind, witness)
    assert kind in recorded_by_table.KINDS


@pytest.mark.parametrize(
    "extra", [None, ExtraMetadata(STORED, STORED), ExtraMetadata(STORED, (), "no answer")]
)
def test_nothing_is_wrong_where_all_is_there_or_nothing_is_known(
    extra: ExtraMetadata | None,
) -> None:
    assert recorded_by_table.findings(recorded_with(extra)) == {}


def recorded_with(extra: ExtraMetadata | None) -> RecordedVariant:
    planned = replace(variant(), scenario=scenario_of(step()))
    outcomes = (Outcome(0, OutcomeKind.APPLIED), Outcome(1, OutcomeKind.APPLIED, INSTANT))
    created, written = (StateRecord(planned.id, outcome, "") for outcome in outcomes)
    states = [created, replace(written, metadata=extra)]
    return RecordedVariant(planned, merge_on_read=False, states=states)


def test_other_formats_refuse_the_step() -> None:
    for name in ("iceberg", "hive-parquet"):
        assert load(name).unsupported(step()).startswith(f"{name} has no write_with_metadata")
    assert load("hudi-mor").unsupported(step()) == ""
