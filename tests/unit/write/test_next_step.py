from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.engines.python_library import PythonLibrary
from harness.model.datatypes import parse_type
from harness.model.schema import Table
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, DropColumn, RenameColumn
from harness.scenario.operations.indexes import BuildIndex, Indexed
from harness.scenario.operations.merge import Mutate
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.services import Checkpoint, Compact, RemoveOrphans
from harness.scenario.statements import OwnProgram
from harness.write.next_step import SOURCES, VariantOutcomes

WRITER = "spark-3.5.8-hudi-0.15.0"
MERGERS = "hoodie.datasource.write.record.merger.impls"
TABLE = Table(
    tuple((name, parse_type(text)) for name, text in (("id", "int"), ("ts", "long"), ("a", "int"))),
    "id",
    ("ts",),
)
STEPS: tuple[Operation, ...] = (
    Insert(keys=(1,)),
    AddColumn("n", parse_type("int"), after="a"),
    RenameColumn("n", "m"),
    DropColumn("a"),
    Compact(),
)


def outcomes_of(*steps: Operation, **settings: str) -> VariantOutcomes:
    scenario = Scenario("x", TABLE, tuple(map(Step, steps or STEPS)))
    writers = (WRITER,) * (len(scenario.steps) + 1)
    return VariantOutcomes(Variant("x", scenario, "hudi-cow", settings, writers))


def go(start: VariantOutcomes, **refused: bool) -> list[Outcome]:
    while not start.complete:
        step = start.next_step()
        kind = OutcomeKind.APPLIED
        if step.skipped:
            kind = OutcomeKind.SKIPPED
        elif refused.get(f"s{step.step}"):
            kind = OutcomeKind.REFUSED
        refusal = Refusal("x", "no") if kind is OutcomeKind.REFUSED else None
        start = start.then(
            Outcome(
                step.step, kind, refusal=refusal, because=step.skipped,
                statements=step.texts,
            )
        )  # fmt: skip
    return list(start.outcomes)


def test_the_creation_comes_first_and_every_step_after_it() -> None:
    outcomes = go(outcomes_of())
    assert [outcome.step for outcome in outcomes] == [0, 1, 2, 3, 4, 5]
    assert outcomes[0].statements[0].startswith("create table {database}.t")
    assert outcomes[3].statements == ("alter table {database}.t rename column `n` to `m`",)
    assert (outcomes[5].kind, outcomes[5].statements) == (OutcomeKind.APPLIED, ())
    assert len(set(addresses(outcomes_of()))) == 6, "also where nothing was sent"


def addresses(start: VariantOutcomes) -> list[str]:
    made = []
    while not start.complete:
        step = start.next_step()
        made.append(step.address)
        start = start.then(Outcome(step.step, OutcomeKind.APPLIED, statements=step.texts))
    return made


def test_a_step_that_needs_a_refused_one_is_skipped_and_says_which() -> None:
    outcomes = go(outcomes_of(), s2=True)
    assert outcomes[3].kind is OutcomeKind.SKIPPED
    assert outcomes[3].because.startswith("step 2 refused: there is no column 'n'")
    assert outcomes[4].kind is OutcomeKind.APPLIED


def test_the_table_goes_on_as_it_is_after_a_refused_step() -> None:
    (drop,) = go(outcomes_of(), s3=True)[4].statements
    assert drop == "alter table {database}.t drop column `a`"


def test_without_a_table_everything_is_skipped() -> None:
    outcomes = go(outcomes_of(), s0=True)
    assert {outcome.because for outcome in outcomes[1:]} == {"step 0 refused: there is no table"}


def test_each_writer_is_told_in_the_words_of_its_version() -> None:
    first = outcomes_of(record_merger="spark")
    newer = "spark-3.5.8-hudi-1.2.0"
    both = replace(first, variant=replace(first.variant, writers=(WRITER, *(newer,) * len(STEPS))))
    request = {name: both.session(name)[MERGERS].rpartition(".")[2] for name in (WRITER, newer)}
    assert request == {WRITER: "HoodieSparkRecordMerger", newer: "DefaultSparkRecordMerger"}
    # The first step has nothing of the newer one; the second is told by another.
    assert both.next_step().address == first.next_step().address
    created = Outcome(0, OutcomeKind.APPLIED, statements=first.next_step().texts)
    assert both.then(created).next_step().address != first.then(created).next_step().address


def test_settings_of_the_session_are_part_of_the_address() -> None:
    assert outcomes_of().next_step().address == outcomes_of(rewrites="some").next_step().address
    assert outcomes_of().next_step().address != outcomes_of(metadata_table="on").next_step().address


@pytest.mark.parametrize(
    ("program", "step", "format_name", "settings", "writer"),
    [
        (OwnProgram.MUTATION, Mutate(update=(1,)), "hive-acid", {"buckets": "2"}, "hive-3.1.3"),
        (
            OwnProgram.HUDI,
            BuildIndex(Indexed.BLOOM_FILTERS),
            "hudi-cow",
            {},
            "spark-3.5.8-hudi-1.2.0",
        ),
        (OwnProgram.ICEBERG, RemoveOrphans(), "iceberg", {}, "spark-3.5.8-iceberg-1.10.1"),
        (OwnProgram.DELTA, Checkpoint(), "delta", {}, "spark-3.5.8-delta-3.3.2"),
    ],
)
def test_a_program_of_ours_is_part_of_the_address_from_its_step_on(
    program: OwnProgram,
    step: Operation,
    format_name: str,
    settings: dict[str, str],
    writer: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    other = tmp_path / "program"
    other.write_text("another program")
    start = outcomes_of(Insert(keys=(1,)), step, Insert(keys=(2,)))
    variant = Variant("x", start.variant.scenario, format_name, settings, (writer,) * 4)
    before = addresses(replace(start, variant=variant))
    monkeypatch.setitem(SOURCES, program, other)
    after = addresses(replace(start, variant=variant))
    same = [one == other for one, other in zip(before, after, strict=True)]
    assert same == [True, True, False, False]


def test_the_code_of_a_library_that_writes_is_part_of_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = outcomes_of(Insert(keys=(1,)))
    writers = ("spark-3.5.8-delta-3.3.2", "deltalake-1.6.6")
    start = replace(start, variant=replace(start.variant, format="delta", writers=writers))
    before = addresses(start)
    monkeypatch.setattr(PythonLibrary, "ask_code", lambda self: "other code")
    same = [one == other for one, other in zip(before, addresses(start), strict=True)]
    assert same == [True, False], "the creation is Spark's alone"


def test_values_do_not_depend_on_what_was_refused() -> None:
    applied, refused = go(outcomes_of()), go(outcomes_of(), s4=True)
    assert applied[1].statements == refused[1].statements
