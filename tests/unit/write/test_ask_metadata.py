from __future__ import annotations

import json
import re
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
from harness.formats.hudi.statements import PREFIX
from harness.judge import recorded_by_table
from harness.judge.recorded_variant import RecordedVariant
from harness.model.commit import ExtraMetadata
from harness.model.schema import SchemaChangeError
from harness.reports.findings import witness_text
from harness.scenario.operations.row_writes import MetadataWay, Upsert, WriteWithMetadata
from harness.scenario.statements import FrameWrite, Sql
from harness.write import write_variants
from harness.write.next_step import VariantOutcomes
from harness.write.writer_pool import WriteTarget
from tests.builders.scenarios import scenario_of
from tests.builders.written_variant import WRITER, variant

TOLD = {"run.id": "17", "run.by": "me"}
STORED = tuple(sorted(TOLD.items()))
INSTANT = "20260101000000001"
ALTER = "alter table {{database}}.t {} ({})"
SHOW = f"call show_commit_extra_metadata(table => 'db.t', instant_time => '{INSTANT}')"


def step(
    by: MetadataWay = MetadataWay.SET, pairs: dict[str, str] = TOLD, prefix: str = "run."
) -> WriteWithMetadata:
    return WriteWithMetadata((1,), pairs, prefix, by)


def told_by(metadata_way: MetadataWay) -> tuple[Any, ...]:
    outcomes = VariantOutcomes(replace(variant(), scenario=scenario_of(step(metadata_way))))
    return outcomes.then(Outcome(0, OutcomeKind.APPLIED)).next_step().statements


@pytest.mark.parametrize(
    ("way", "first", "last"),
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
    way: MetadataWay, first: str, last: str
) -> None:
    statements = told_by(way)
    assert (statements[0].text, statements[-1].text) == (first, last)
    assert all(isinstance(statement, Sql) for statement in statements)
    assert [s.text.split()[0] for s in statements if s.commits] == ["insert"]
    assert statements[-1].in_any_case


def test_a_dataframe_is_told_in_its_options() -> None:
    (write,) = told_by(MetadataWay.FRAME)
    assert isinstance(write, FrameWrite)
    assert {PREFIX: "run.", **TOLD}.items() <= dict(write.options).items()


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
    error: Exception | None = None
    sent: list[str] = field(default_factory=list)

    def open(self, _settings: object) -> Spark:
        return self

    def run(self, sql: str, *, timeout_s: float) -> SimpleNamespace:
        self.sent.append(f"{sql} {timeout_s > 0}")
        if self.error is not None:
            raise self.error
        names = ("instant_time", "metadata_key", "metadata_value")
        rows = [(INSTANT, name, value) for name, value in {**TOLD, "schema": "{}"}.items()]
        return SimpleNamespace(columns=[(name, "string") for name in names], rows=rows)

    def close(self) -> None:
        self.sent.append("closed")


def asked(folder: Path, spark: Spark, operation: Any = None) -> ExtraMetadata | None:  # noqa: ANN401
    target = WriteTarget(Cache(folder / "cache"), "thrift://", "db", folder)
    (target.table / ".hoodie").mkdir(parents=True)
    record = {"extraMetadata": {**TOLD, "schema": "{}"}}
    (target.table / ".hoodie" / f"{INSTANT}.commit").write_text(json.dumps(record))
    scenario = scenario_of(operation or step())
    outcomes = VariantOutcomes(replace(variant(), scenario=scenario))
    for number, instant in ((0, ""), (1, INSTANT)):
        outcomes = outcomes.then(Outcome(number, OutcomeKind.APPLIED, instant))
    pool: Any = {WRITER: spark}
    return write_variants.ask_metadata(outcomes, target, pool.get)


def test_the_commit_is_read_and_shown_without_what_hudi_writes_itself(tmp_path: Path) -> None:
    spark = Spark()
    assert asked(tmp_path, spark) == ExtraMetadata(STORED, STORED)
    assert spark.sent == [f"{SHOW} True", "closed"]


def test_nobody_is_asked_about_a_step_that_was_told_of_none(tmp_path: Path) -> None:
    assert asked(tmp_path, Spark(HarnessError("asked")), Upsert((1,))) is None


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (RefusedError(Refusal("ParseException", "no viable alternative"), 0.1), "ParseException"),
        (NoAnswerError("no answer within 300 s"), "no answer within 300 s"),
        (HarnessError("the Spark worker failed"), "the Spark worker failed"),
    ],
)
def test_where_nothing_is_shown_the_file_is_known_all_the_same(
    tmp_path: Path, error: Exception, why: str
) -> None:
    extra_metadata = asked(tmp_path, Spark(error))
    assert extra_metadata is not None
    assert (extra_metadata.stored, extra_metadata.shown) == (STORED, ())
    assert why in extra_metadata.unshown


LOST, OTHER = FindingKind.LOST_METADATA, FindingKind.OTHER_METADATA


@pytest.mark.parametrize(
    ("kept", "kind", "place", "says"),
    [
        (
            ExtraMetadata(STORED[:1], STORED[:1]),
            LOST,
            Witness("", "run.id", "17", None),
            "of run.id the commit's file has no extra metadata; expected '17'",
        ),
        (
            ExtraMetadata((STORED[0], ("run.id", "18")), (STORED[0], ("run.id", "18"))),
            OTHER,
            Witness("", "run.id", "17", "18"),
            "of run.id the commit's file has '18'; expected '17'",
        ),
        (
            ExtraMetadata((*STORED, ("x", "1")), (*STORED, ("x", "1"))),
            OTHER,
            Witness("", "x", None, "1"),
            "of x the commit's file has '1'; expected nothing of that name",
        ),
        (
            ExtraMetadata(STORED, STORED[1:]),
            LOST,
            Witness("shown", "run.by", "me", None),
            "of run.by show_commit_extra_metadata has no extra metadata; expected 'me'",
        ),
    ],
)
def test_what_is_lost_and_what_is_other_are_two_things(
    kept: ExtraMetadata, kind: FindingKind, place: Witness, says: str
) -> None:
    ((at, (finding,)),) = recorded_by_table.findings(case(kept)).items()
    assert (at, finding.kind, finding.places) == (1, kind, (place,))
    assert witness_text(kind, place) == says
    assert kind in recorded_by_table.KINDS


@pytest.mark.parametrize(
    "kept", [None, ExtraMetadata(STORED, STORED), ExtraMetadata(STORED, (), "no answer")]
)
def test_nothing_is_wrong_where_all_is_there_or_nothing_is_known(
    kept: ExtraMetadata | None,
) -> None:
    assert recorded_by_table.findings(case(kept)) == {}


def case(retained: ExtraMetadata | None) -> RecordedVariant:
    planned = replace(variant(), scenario=scenario_of(step()))
    outcomes = (Outcome(0, OutcomeKind.APPLIED), Outcome(1, OutcomeKind.APPLIED, INSTANT))
    states = [StateRecord(planned.id, outcome, "") for outcome in outcomes]
    return RecordedVariant(
        planned, merge_on_read=False, states=[states[0], replace(states[1], metadata=retained)]
    )


def test_other_formats_refuse_the_step() -> None:
    for name in ("iceberg", "hive-parquet"):
        assert load(name).unsupported(step()).startswith(f"{name} has no write_with_metadata")
    assert load("hudi-mor").unsupported(step()) == ""
