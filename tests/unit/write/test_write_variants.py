from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from harness.artifacts import distributions
from harness.artifacts.cache_cleanup import sweep
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.records import Outcome, OutcomeKind, Refusal, StateRecord
from harness.engines.api import NoAnswerError, RefusedError
from harness.formats.api import FileFactError
from harness.formats.hudi import files as hudi_files
from harness.formats.hudi.records import HudiTable
from harness.model.datatypes import parse_type
from harness.model.file_facts import FileFact, FileKind
from harness.scenario.cells import Variant
from harness.scenario.definition import Step
from harness.scenario.operations.columns import AddColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, Update
from harness.scenario.operations.services import Compact
from harness.scenario.operations.unfinished_writes import BeginWrite, CommitWrite, KilledWrite
from harness.write import state_store, write_variants
from harness.write.state_records import VariantResult
from harness.write.write_variants import WriterSilent
from harness.write.writer_pool import WriteTarget
from tests.builders.written_variant import (
    STEPS,
    WAITING,
    WITH_N,
    WRITER,
    MakeIceberg,
    Simulated,
    kinds,
    refuse,
    sent,
    variant,
)


def test_every_step_is_sent_recorded_with_its_instant_and_frozen(target: WriteTarget) -> None:
    spark = Simulated()
    written = sent(target, spark)
    assert kinds(written.records) == ["applied"] * 4
    assert [record.outcome.instant for record in written.records] == ["", "200", "300", "400"]
    assert list(written.states) == [("v", step) for step in range(4)]
    assert not target.folder.exists()
    assert spark.sent[2] == "alter table db.t add columns (`n` int)"
    assert written.records[2].outcome.statements == (
        "alter table {database}.t add columns (`n` int)",
    )


def test_all_states_of_a_table_with_absolute_paths_have_one_home_in_the_cache(
    target: WriteTarget,
) -> None:
    what = replace(variant(), format="iceberg")
    states = sent(target, Simulated(MakeIceberg(), folder=target.folder), what).states.values()
    (home,) = {state.home for state in states}
    assert len(states) == 4
    assert home.parent == target.cache.root / "tables"
    assert (home / "metadata").is_dir()
    result = write_variants.find_variant(what, target.cache)
    assert result is not None
    assert {state.home for state in result.states.values()} == {home}
    assert sweep(target.cache) == ()


def test_what_a_writer_that_fell_silent_leaves_at_home_is_the_next_sweeps(
    target: WriteTarget,
) -> None:
    make_iceberg = MakeIceberg()

    def reply(sql: str) -> None:
        make_iceberg(sql)
        if sql.startswith("insert"):
            raise NoAnswerError("no answer within 300 s")

    spark = Simulated(reply, folder=target.folder)
    with pytest.raises(WriterSilent):
        sent(target, spark, replace(variant(), format="iceberg"))
    assert len(sweep(target.cache)) == 1


def test_a_refusal_is_an_outcome_and_its_state_is_kept(target: WriteTarget) -> None:
    written = sent(target, Simulated(refuse("add columns")))
    assert kinds(written.records) == ["applied", "applied", "refused", "applied"]
    assert written.records[2].outcome.refusal == Refusal("java.lang.X", "no")
    assert ("v", 2) in written.states


def test_a_refused_rename_of_case_only_leaves_the_session_as_it_was(target: WriteTarget) -> None:
    make_iceberg = MakeIceberg()

    def reply(sql: str) -> None:
        refuse("rename column")(sql)
        make_iceberg(sql)

    spark = Simulated(reply, folder=target.folder)
    steps = (Step(RenameColumn("n", "N")), Step(AddColumn("m", parse_type("int"))))
    what = replace(variant(steps=steps), format="iceberg")
    scenario = replace(what.scenario, table=WITH_N)
    outcome = sent(target, spark, replace(what, scenario=scenario)).records[1].outcome
    assert outcome.kind is OutcomeKind.REFUSED
    assert [sql for sql in spark.sent if sql.startswith("set")] == [
        "set spark.sql.caseSensitive=true",
        "set spark.sql.caseSensitive=false",
    ]
    assert "add column" in spark.sent[-1]


def test_of_a_refused_step_no_other_statement_is_sent_any_more(target: WriteTarget) -> None:
    spark = Simulated(refuse("compaction"))
    steps = (STEPS[0], Step(Compact()))
    sent(target, spark, replace(variant(steps=steps), format="hudi-mor"))
    assert ["compaction" in sql for sql in spark.sent] == [False, False, True]


def test_a_table_made_otherwise_than_asked_for_is_a_refusal(target: WriteTarget) -> None:
    asked = replace(variant(), settings={"table_version": "8"})
    written = sent(target, Simulated(), asked)
    assert kinds(written.records) == ["refused", "skipped", "skipped", "skipped"]
    assert list(written.states) == [("v", 0)]


COMPACTED = (Step(Insert(keys=(1,))), Step(Update(keys=(1,), set=("n",))), Step(Compact()))


def compacted(
    write_target: WriteTarget, patch: pytest.MonkeyPatch, facts: tuple[FileFact, ...], *made: str
) -> tuple[StateRecord, ...]:
    def makes(sql: str) -> tuple[str, ...]:
        if "compaction" in sql:
            return made if "'run'" in sql else ()
        return ("100_110.deltacommit",) if "insert" in sql else ("200_210.deltacommit",)

    patch.setattr(hudi_files, "facts", lambda *_: facts)
    what = replace(variant(steps=COMPACTED), format="hudi-mor")
    scenario = replace(what.scenario, table=WITH_N)
    return sent(write_target, Simulated(makes=makes), replace(what, scenario=scenario)).records


def test_a_compaction_that_has_nothing_to_do_and_makes_nothing_is_applied(
    target: WriteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = compacted(target, monkeypatch, (replace(WAITING, kind=FileKind.BASE),))[3]
    assert (record.outcome.kind, record.outcome.instant) == (OutcomeKind.APPLIED, "")


def test_an_instant_that_an_earlier_step_requested_holds_the_rows_of_that_time(
    target: WriteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 150 was requested before the update of 200 was there, and is carried out by the compaction.
    records = compacted(target, monkeypatch, (WAITING,), "150_310.commit", "320_330.commit")
    assert records[3].outcome.instant == "320"
    assert records[3].others == (("150", 1),)
    assert [record.others for record in records[:3]] == [(), (), ()]


def test_each_step_is_sent_to_its_own_writer_in_one_session_for_each(target: WriteTarget) -> None:
    asked: list[str] = []
    spark = Simulated()

    def writer_for(name: str, number: int = 1, /) -> Any:  # noqa: ANN401
        asked.append(name)
        return spark

    newer = "spark-3.5.8-hudi-1.0.2"
    write_variants.write_variant(
        replace(variant(), writers=(WRITER, WRITER, newer, newer)), target, writer_for
    )
    assert asked == [WRITER, newer]
    assert len(spark.sent) == 4


def test_a_state_says_its_table_version_and_why_its_files_tell_nothing(
    target: WriteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    def facts(*_: object) -> tuple[FileFact, ...]:
        raise FileFactError("a file of an unknown kind")

    monkeypatch.setattr(hudi_files, "facts", facts)
    monkeypatch.setattr(HudiTable, "properties", {"hoodie.table.version": "8"})
    record = sent(target, Simulated()).records[2]
    assert (record.table_version, record.files) == ("8", ())
    assert record.layout == "a file of an unknown kind"


def test_silence_ends_the_variant_and_its_step_is_not_kept(target: WriteTarget) -> None:
    def reply(sql: str) -> None:
        if "add columns" in sql:
            raise NoAnswerError("no answer within 300 s")

    with pytest.raises(WriterSilent) as silent:
        sent(target, Simulated(reply))
    assert silent.value.outcome.kind is OutcomeKind.UNKNOWN
    assert silent.value.outcome.because == "no answer within 300 s"
    assert kinds(silent.value.done.records) == ["applied", "applied"]
    assert len(list((target.cache.root / "states").glob("*/state.json"))) == 2


def test_a_variant_is_found_again_whole_or_not_at_all(target: WriteTarget) -> None:
    assert write_variants.find_variant(variant(), target.cache) is None
    written = sent(target, Simulated())
    result = write_variants.find_variant(variant(), target.cache)
    assert result is not None
    assert result.states == written.states
    assert result.records == tuple(replace(state, reused=True) for state in written.records)
    longer = variant(steps=(*STEPS, Step(Insert(keys=(3,)))))
    assert write_variants.find_variant(longer, target.cache) is None


def test_a_refused_step_is_found_again_with_what_it_meant_for_later_ones(
    target: WriteTarget,
) -> None:
    needing = (*STEPS, Step(AddColumn("m", parse_type("int"), after="n")))
    written = sent(target, Simulated(refuse("`n` int")), variant(steps=needing))
    result = write_variants.find_variant(variant(steps=needing), target.cache)
    assert result is not None
    assert kinds(result.records) == kinds(written.records)
    assert kinds(result.records) == ["applied", "applied", "refused", "applied", "skipped"]


def test_states_that_are_no_longer_kept_are_left_out(target: WriteTarget) -> None:
    written = sent(target, Simulated())
    gone = replace(written.records[1], digest="0" * 64)
    result = write_variants.load((written.records[0], gone), target.cache)
    assert list(result) == [("v", 0)]
    assert result["v", 0] == state_store.load(target.cache, written.records[0].digest)


def test_what_breaks_in_the_harness_is_no_outcome(target: WriteTarget) -> None:
    def reply(_: str) -> None:
        raise EnvironmentProblem("the metastore does not answer")

    with pytest.raises(EnvironmentProblem):
        sent(target, Simulated(reply))


def test_an_error_of_a_full_disk_is_no_refusal_and_nothing_of_it_is_kept(
    target: WriteTarget,
) -> None:
    def full(sql: str) -> None:
        if "alter table" in sql:
            raise RefusedError(Refusal("X", "y", cause="IOException: No space left on device"), 0.1)

    with pytest.raises(WriterSilent) as silent:
        sent(target, Simulated(full))
    assert silent.value.outcome.kind is OutcomeKind.UNKNOWN
    assert "this machine has too little for it: No space left on device" in (
        silent.value.outcome.because
    )
    assert write_variants.find_variant(variant(), target.cache) is None


class SimulatedPool:
    def __init__(self, silent: dict[str, int]) -> None:
        self.context = SimpleNamespace(progress=Progress())
        self.silent = silent
        self.processes = 0

    def close(self) -> None:
        self.processes += 1

    def target(self) -> None:
        """Nothing is made."""

    def writer(self, _: str) -> None:
        """Nothing runs."""

    def write(self, variant: Variant, *_: object) -> VariantResult:
        if self.silent.get(variant.id, 0):
            self.silent[variant.id] -= 1
            outcome = Outcome(1, OutcomeKind.UNKNOWN, because="dead")
            raise WriterSilent(outcome)
        return VariantResult((StateRecord(variant.id, Outcome(0, OutcomeKind.APPLIED), ""),), {})


Group = Callable[[dict[str, int]], tuple[SimulatedPool, dict[str, list[str]]]]


@pytest.fixture(name="written")
def _written(monkeypatch: pytest.MonkeyPatch) -> Group:
    def group(silent: dict[str, int]) -> tuple[SimulatedPool, dict[str, list[str]]]:
        pool = SimulatedPool(silent)
        monkeypatch.setattr(write_variants, "write_variant", pool.write)
        some = [variant("a"), variant("b")]
        results = write_variants._write_group(some, pool)  # type: ignore[arg-type]
        return pool, {result.records[0].variant: kinds(result.records) for result in results}

    return group


def test_a_variant_whose_writer_fell_silent_is_written_once_more_alone(written: Group) -> None:
    pool, result = written({"a": 1})
    assert result == {"b": ["applied"], "a": ["applied"]}
    assert pool.processes == 2


def test_after_the_second_silence_the_step_is_unknown_and_the_others_stand(written: Group) -> None:
    _, result = written({"a": 2})
    assert result == {"b": ["applied"], "a": ["unknown"]}


def test_who_kills_its_writer_shares_it_with_no_other() -> None:
    local = variant("a", steps=(Step(KilledWrite(keys=(1,))),))
    assert write_variants._group(local) != write_variants._group(variant("b"))


def test_a_second_writer_takes_as_much_memory_again() -> None:
    begins = variant("a", steps=(Step(BeginWrite(insert=(1,))), Step(CommitWrite())))
    one, two = (write_variants.memory_mb([variant]) for variant in (variant("b"), begins))
    assert two - one == distributions.load(begins.writers[0]).memory_mb


def test_a_server_that_is_killed_runs_beside_the_one_that_goes_on() -> None:
    dies = variant("a", steps=(Step(KilledWrite(keys=(1,))),))
    hive = replace(dies, format="hive-acid", writers=("hive-3.1.3",) * 2)
    one, two = (write_variants.memory_mb([variant]) for variant in (variant("b"), dies))
    assert one == two, "a process of Spark that was killed is replaced by another one"
    calm = replace(hive, scenario=variant("b").scenario)
    one, two = (write_variants.memory_mb([variant]) for variant in (calm, hive))
    assert two - one == distributions.load("hive-3.1.3").memory_mb
