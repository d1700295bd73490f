from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Final, cast

import pytest

from harness.core.errors import HarnessError
from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.engines.api import Connection, NoAnswerError, RefusedError, Reply
from harness.engines.python_library import LibraryConnection
from harness.engines.spark.session import Library
from harness.formats.api import Committed
from harness.formats.hudi.settings import ALLOW_DROPS
from harness.model.datatypes import parse_type
from harness.runtime.hive_mutation import MutationProgram
from harness.runtime.metastore_objects import CatalogEntry
from harness.runtime.process import ProcessProblem
from harness.scenario.cells import Variant
from harness.scenario.definition import Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.row_writes import Insert, LateUpsert
from harness.scenario.operations.services import SetTableVersion, Sync
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.statements import DeltaCall, LibraryWrite, Mutation, Sql, Statement
from harness.write import send_step, write_variants
from harness.write.next_step import VariantOutcomes
from harness.write.send_step import (
    APPLIED,
    REFUSED,
    Raised,
    StepResult,
    StepSender,
    TableRecords,
    result_of_creation,
    result_of_error,
    unknown,
)
from harness.write.state_records import VariantResult
from harness.write.write_variants import WriterSilent
from harness.write.writer_pool import SqlSession, WriteTarget
from tests.builders import written_variant
from tests.builders.written_variant import (
    ERROR,
    WRITER,
    FailsLate,
    Simulated,
    kinds,
    refuse,
    sent,
    variant,
)


def test_a_step_that_is_committed_is_applied_with_the_error_beside_it(target: WriteTarget) -> None:
    written = sent(target, FailsLate(part="select 1 as `id`"))
    assert kinds(written.records) == ["applied"] * 4
    outcome = written.records[1].outcome
    assert (outcome.instant, outcome.refusal, outcome.because) == ("200", ERROR, "")
    assert outcome.half_done
    assert [state.outcome.half_done for state in written.records[2:]] == [False, False]
    assert ("v", 1) in written.states


def test_it_is_another_outcome_than_without_the_error(target: WriteTarget) -> None:
    sent(target, Simulated())
    target.folder.mkdir()
    with pytest.raises(WriterSilent, match="committed, then failed now, but applied when"):
        sent(target, FailsLate(part="insert"))


def test_a_schema_change_of_which_the_catalog_has_nothing_is_unknown(target: WriteTarget) -> None:
    with pytest.raises(WriterSilent) as silent:
        sent(target, FailsLate(part="add columns"))
    outcome = silent.value.outcome
    assert (outcome.kind, outcome.refusal) == (OutcomeKind.UNKNOWN, None)
    assert outcome.because == (
        "the table's own records have other columns since, and the catalog has not; the error: "
        "HoodieMetaSyncException: Could not sync"
    )


@pytest.mark.parametrize(
    ("write", "sent_as"), [(Insert((2,)), "select 2 as `id`"), (LateUpsert((1,)), "f2s2r1")]
)
def test_a_write_that_answers_no_error_and_commits_nothing_did_nothing(
    target: WriteTarget, write: Operation, sent_as: str
) -> None:
    def makes(sql: str) -> tuple[str, ...]:
        return () if sent_as in sql else (f"{len(sql)}.commit",)

    steps = (Step(Insert((1,))), Step(write))
    outcome = sent(target, Simulated(makes=makes), variant(steps=steps)).records[2].outcome
    message = "no error was answered; the table's own records have no commit of it"
    assert outcome.refusal == Refusal("did nothing", message)
    assert outcome.kind is OutcomeKind.REFUSED


WRITE, SETTING = Sql("insert"), Sql("set a=b", commits=False)
FAILED = Refusal("X", "no")


def records(*writes: str, columns: tuple[str, ...] = ("id",)) -> TableRecords:
    cols = [{"name": column, "type": "string"} for column in columns]
    return TableRecords(Committed(writes), (CatalogEntry("t", {"sd": {"cols": cols}}),))


def raised(statement: Statement, before: TableRecords, *later: Statement) -> Raised:
    return Raised(FAILED, statement, later, before)


BEFORE = records("1")


AFTER, PART = records("1", "2"), unknown("a part of its statements was committed")
CATALOG_ALONE = unknown(
    "the catalog has other columns since, and the table's own records have no such change"
)
TABLE_ALONE = unknown("the table's own records have other columns since, and the catalog has not")


@pytest.mark.parametrize(
    ("error", "after", "schema", "result"),
    [
        (raised(WRITE, BEFORE), AFTER, False, APPLIED),
        (raised(WRITE, BEFORE, WRITE), BEFORE, False, REFUSED),
        # A setting that was not put back takes nothing from a commit.
        (raised(WRITE, BEFORE, SETTING), AFTER, False, APPLIED),
        (raised(SETTING, AFTER), AFTER, False, APPLIED),
        (raised(WRITE, BEFORE, WRITE), AFTER, False, PART),
        (raised(WRITE, AFTER), AFTER, False, PART),
        (raised(WRITE, BEFORE), records("1", columns=("id", "n")), False, CATALOG_ALONE),
        (raised(WRITE, BEFORE), AFTER, True, TABLE_ALONE),
        (raised(WRITE, BEFORE), records("1", "2", columns=("id", "n")), True, APPLIED),
    ],
)
def test_the_records_of_the_table_say_what_became_of_a_step_with_an_error(
    error: Raised, after: TableRecords, result: StepResult, *, schema: bool
) -> None:
    assert result_of_error(error, BEFORE, after, schema=schema) == result


@pytest.mark.parametrize("at", ["before", "statement", "after"])
def test_records_that_contradict_each_other_leave_it_unknown(at: str) -> None:
    unclear = TableRecords(unclear="two files claim to be the newest")
    before, statement, after = (
        unclear if moment == at else BEFORE for moment in ("before", "statement", "after")
    )
    result = result_of_error(raised(WRITE, statement), before, after)
    assert result == StepResult(OutcomeKind.UNKNOWN, "two files claim to be the newest")


def test_a_table_is_created_once_the_catalog_has_it() -> None:
    assert result_of_creation(replace(BEFORE, entries=()), "") == REFUSED
    assert result_of_creation(BEFORE, "") == APPLIED
    result = result_of_creation(BEFORE, "there is no table in the folder")
    assert result.because == "the catalog has the table, and there is no table in the folder"


FRAMED: Final = variant(steps=(Step(Insert(keys=(1,))), Step(WriteFrame((1, 2)))))


@dataclass
class TakesFrames(Simulated):
    frames: list[tuple[str, Mapping[str, str], str]] = field(default_factory=list)

    def append(
        self, query: str, format_: str, options: Mapping[str, str], path: str, *, timeout_s: float
    ) -> None:
        assert format_ == "hudi"
        self.frames.append((query, options, path))
        self.run(query, timeout_s=timeout_s)


def test_it_is_told_all_of_the_session_and_where_the_table_is(target: WriteTarget) -> None:
    spark = TakesFrames()
    outcome = sent(target, spark, FRAMED).records[-1].outcome
    ((query, options, path),) = spark.frames
    assert (outcome.kind, outcome.instant) == (OutcomeKind.APPLIED, "300")
    assert outcome.statements[0].startswith(f"DataFrame: {query}; append as hudi")
    assert path == str(spark.folder)
    assert options["hoodie.schema.on.read.enable"] == "true"
    assert options["hoodie.datasource.hive_sync.database"] == target.database
    assert options[ALLOW_DROPS] == "false"  # the session allows it


TO_6, TO_9 = Step(SetTableVersion(6)), Step(SetTableVersion(9))
INSERT = Step(Insert(keys=(1,)))


@dataclass
class Versioned(FailsLate):
    version: str = "9"
    compacts: bool = False

    def __post_init__(self) -> None:
        self.makes = self._makes

    def _makes(self, sql: str) -> tuple[str, ...]:
        if "to_version" not in sql:
            return ("100.commit",)
        assert self.folder is not None
        properties = self.folder / ".hoodie" / "hoodie.properties"
        properties.write_text(f"hoodie.table.version={self.version}\n")
        return ("200.commit",) if self.compacts else ()


def last(write_target: WriteTarget, spark: Simulated, *steps: Step) -> Outcome:
    return sent(write_target, spark, variant(steps=(INSERT, *steps))).records[-1].outcome


def test_a_version_that_is_there_then_is_applied(target: WriteTarget) -> None:
    records = sent(target, Versioned(), variant(steps=(INSERT, TO_9))).records
    assert (records[2].outcome.kind, records[2].outcome.instant) == (OutcomeKind.APPLIED, "")
    assert [state.table_version for state in records] == ["6", "6", "9"]


UNSET = Refusal("did nothing", "no error was answered; the table version is 6")


@pytest.mark.parametrize(
    ("spark", "step", "instant", "refusal"),
    [
        (Versioned(version="6"), TO_6, "", None),
        (Versioned(version="6"), TO_9, "", UNSET),
        (Versioned(compacts=True), TO_9, "200", None),
        (Versioned(part="to_version"), TO_9, "", ERROR),  # answered after the version was set
    ],
)
def test_the_version_that_a_table_has_then_decides(
    target: WriteTarget, spark: Versioned, step: Step, instant: str, refusal: Refusal | None
) -> None:
    outcome = last(target, spark, step)
    kind = OutcomeKind.REFUSED if refusal == UNSET else OutcomeKind.APPLIED
    assert (outcome.kind, outcome.instant, outcome.refusal) == (kind, instant, refusal)


NEWER = "spark-3.5.8-hudi-1.2.0"
INSERTS = tuple(Step(Insert(keys=(key,))) for key in (1, 2, 3))
DOWN = "call downgrade_table"


@dataclass
class Growing(Versioned):
    def _makes(self, sql: str) -> tuple[str, ...]:
        versioned = "to_version" in sql
        return super()._makes(sql) if versioned else (f"{len(self.sent)}00.commit",)


@dataclass
class Fleet:
    """The sessions of several writers, of which all but the name is that of one Spark."""

    spark: Growing
    sent: list[tuple[str, str]] = field(default_factory=list)

    def of(self, name: str) -> SimpleNamespace:
        def run(sql: str, *, timeout_s: float) -> None:
            self.sent.append((name, sql))
            self.spark.run(sql, timeout_s=timeout_s)

        return SimpleNamespace(open=lambda _: SimpleNamespace(run=run))

    @property
    def downgrades(self) -> list[tuple[str, str]]:
        return [(name, sql) for name, sql in self.sent if DOWN in sql]


def handed_over(version: str = "6") -> Variant:
    made = variant(steps=INSERTS)
    settings = {"handover_version": version} if version else {}
    return replace(made, settings=settings, writers=(NEWER, NEWER, WRITER, WRITER))


def written_by(write_target: WriteTarget, fleet: Fleet, what: Variant) -> VariantResult:
    return write_variants.write_variant(what, write_target, fleet.of)  # type: ignore[arg-type]


def test_the_first_writer_does_it_before_the_first_step_of_the_other(target: WriteTarget) -> None:
    fleet = Fleet(Growing(version="6"))
    records = written_by(target, fleet, handed_over()).records
    assert [state.outcome.kind for state in records] == [OutcomeKind.APPLIED] * 4
    [(name, sql)] = fleet.downgrades
    assert (name, "SIX" in sql) == (NEWER, True)
    assert [DOWN in " ".join(state.outcome.statements) for state in records] == [0, 0, 1, 0]


def test_where_it_does_not_come_to_that_version_the_step_is_refused(target: WriteTarget) -> None:
    fleet = Fleet(Growing(version="9"))
    outcome = written_by(target, fleet, handed_over()).records[2].outcome
    assert (outcome.kind, outcome.instant) == (OutcomeKind.REFUSED, "")
    assert outcome.refusal is not None
    assert outcome.refusal.message == "no error was answered; the table version is 9"


def test_where_it_is_answered_with_an_error_the_step_is_refused_by_it(target: WriteTarget) -> None:
    fleet = Fleet(Growing(refuse(DOWN)))
    outcome = written_by(target, fleet, handed_over()).records[2].outcome
    assert outcome.kind is OutcomeKind.REFUSED
    assert outcome.refusal is not None
    assert outcome.refusal.kind == "java.lang.X"
    assert fleet.downgrades == [fleet.sent[-2]]


def test_what_is_handed_over_otherwise_is_another_state() -> None:
    def second(version: str) -> str:
        outcomes = VariantOutcomes(handed_over(version))
        while len(outcomes.outcomes) < 2:
            outcomes = outcomes.then(replace(outcomes.next_step().skip, kind=OutcomeKind.APPLIED))
        return outcomes.next_step().address

    assert second("6") != second("")


BATCH = Mutation(
    (("id", "string"), ("n", "int")),
    "id",
    (
        {"do": "update", "partition": [], "row": {"id": "1", "n": 2}},
        {"do": "insert", "partition": [], "row": {"id": "9", "n": 3}},
    ),
)
ROWS = (('{"writeid":2,"bucketid":536870912,"rowid":5}', "1"), (None, "7"))
MOVED = Refusal("BucketIdException", "no")


@dataclass
class Asked:
    rows: tuple[tuple[str | None, str], ...] = ROWS[:1]

    def run(self, sql: str, *, timeout_s: float) -> Reply:
        assert sql == "select ROW__ID, `id` from db.t order by `id`"
        assert timeout_s == 1
        return Reply((), self.rows, 0.1)


@dataclass
class Program:
    answer: Refusal | Exception | None = None
    sent: list[Mapping[str, object]] = field(default_factory=list)

    def run(self, request: Mapping[str, object], timeout_s: float) -> Refusal | None:
        assert timeout_s == 1
        self.sent.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def send_mutation(program: Program, asked: Asked | None = None) -> None:
    connection = cast("Connection", asked or Asked())
    session = SqlSession(connection, cast("MutationProgram", program))
    send_step.send_batch(BATCH, session, "db", 1)


def test_rows_that_are_there_are_sent_by_their_identifiers() -> None:
    program = Program()
    send_mutation(program)
    (request,) = program.sent
    assert request["rows"] == [
        {"do": "update", "partition": [], "row": {"id": "1", "n": 2}, "id": [2, 536870912, 5]},
        {"do": "insert", "partition": [], "row": {"id": "9", "n": 3}, "id": None},
    ]
    assert (request["columns"], request["types"]) == (["id", "n"], ["string", "int"])
    assert [request[name] for name in ("database", "table", "ends")] == ["db", "t", "commit"]


def test_what_the_library_throws_is_a_refusal() -> None:
    with pytest.raises(RefusedError) as thrown:
        send_mutation(Program(MOVED))
    assert thrown.value.refusal == MOVED


def test_a_program_that_says_nothing_is_silent_as_is_a_server_without_identifiers() -> None:
    with pytest.raises(NoAnswerError, match="ended and said nothing"):
        send_mutation(Program(ProcessProblem("it ended and said nothing")))
    with pytest.raises(NoAnswerError, match="no ROW__ID"):
        send_mutation(Program(), Asked(ROWS))


ADD = AddColumn("N", parse_type("int"), after="id")
NO_CLIENT = Refusal("java.lang.X", "no")
OLD, NEW = ("id", "ts"), ("id", "n", "ts")
META = ("_hoodie_commit_time",)


def entry(name: str, columns: tuple[str, ...]) -> CatalogEntry:
    cols = [{"name": name, "type": "int"} for name in (*META, *columns)]
    return CatalogEntry(name, {"sd": {"cols": cols}})


@dataclass
class WithClient(Simulated):
    completes: bool = True
    fails: bool = False
    calls: list[Mapping[str, object]] = field(default_factory=list)

    def call(self, client: Library, request: Mapping[str, object], *, timeout_s: float) -> None:
        assert client is Library.HUDI
        assert timeout_s > 0
        self.calls.append(request)
        assert self.folder is not None
        name = "300.commit" if self.completes else "300.commit.requested"
        (self.folder / ".hoodie" / name).touch()
        if self.fails:
            raise RefusedError(NO_CLIENT, 0.1)


def client_outcome(write_target: WriteTarget, spark: Simulated, *last: Operation) -> Outcome:
    written = variant(steps=tuple(map(Step, (Insert(keys=(1,)), *last))))
    written = replace(written, settings={"schema_changes": "write_client"})
    return sent(write_target, spark, written).records[-1].outcome


def lists(monkeypatch: pytest.MonkeyPatch, *entries: CatalogEntry) -> None:
    monkeypatch.setattr(written_variant, "ENTRIES", entries)


def test_a_schema_change_is_applied_though_the_catalog_hears_nothing(target: WriteTarget) -> None:
    spark = WithClient()
    result = client_outcome(target, spark, ADD)
    assert (result.kind, result.instant) == (OutcomeKind.APPLIED, "300")
    assert result.statements == ("write client: addColumn('N', '\"int\"', '', 'id', 'AFTER')",)
    assert spark.calls[0]["method"] == "addColumn"
    assert spark.calls[0]["path"] == str(spark.folder)


def test_one_that_fails_after_its_commit_is_half_done_and_known(target: WriteTarget) -> None:
    result = client_outcome(target, WithClient(fails=True), ADD)
    assert (result.kind, result.refusal) == (OutcomeKind.APPLIED, NO_CLIENT)


@pytest.mark.parametrize("fails", [True, False])
def test_one_that_completes_nothing_is_refused(target: WriteTarget, *, fails: bool) -> None:
    result = client_outcome(target, WithClient(completes=False, fails=fails), ADD)
    assert result.kind is OutcomeKind.REFUSED
    assert result.refusal is not None
    assert (result.refusal == NO_CLIENT) is fails


@pytest.mark.parametrize("reply", [refuse("hive_sync"), lambda _: None])
@pytest.mark.parametrize(
    ("of_t", "of_rt", "kind"), [(NEW, NEW, OutcomeKind.APPLIED), (NEW, OLD, OutcomeKind.REFUSED)]
)
def test_a_sync_is_applied_where_every_entry_lists_the_columns_of_the_table(
    target: WriteTarget,
    monkeypatch: pytest.MonkeyPatch,
    reply: object,
    of_t: tuple[str, ...],
    of_rt: tuple[str, ...],
    kind: OutcomeKind,
) -> None:
    lists(monkeypatch, entry("t", of_t), entry("t_rt", of_rt))
    result = client_outcome(target, WithClient(reply=reply, makes=sync_makes), ADD, Sync())  # type: ignore[arg-type]
    assert (result.kind, result.instant) == (kind, "")


def test_a_sync_that_says_all_is_well_and_leaves_an_entry_behind_names_it(
    target: WriteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists(monkeypatch, entry("t", NEW), entry("t_rt", ("id", "ts", "n")))
    result = client_outcome(target, WithClient(makes=sync_makes), ADD, Sync())
    assert result.refusal is not None
    assert result.refusal.kind == "did nothing"
    assert result.refusal.message.endswith("columns in their order: t_rt")


def test_a_sync_where_there_is_nothing_to_do_is_applied(
    target: WriteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists(monkeypatch, entry("t", OLD))
    assert client_outcome(target, WithClient(makes=sync_makes), Sync()).kind is OutcomeKind.APPLIED


def sync_makes(sql: str) -> tuple[str, ...]:
    return () if "hive_sync" in sql else ("200.commit",)


@dataclass
class SimulatedLibrary(LibraryConnection):
    """Keeps what it is told to write."""

    calls: list[tuple[str, tuple[str, str]]] = field(default_factory=list)

    def write(self, expression: str, table: tuple[str, str], *, timeout_s: float) -> None:
        assert timeout_s > 0
        self.calls.append((expression, table))


def sender(target: WriteTarget, session: object) -> StepSender:
    writer = SimpleNamespace(open=lambda _: session)
    return StepSender(VariantOutcomes(variant()), target, object(), lambda *_: writer)  # type: ignore[arg-type]


def test_a_library_of_python_is_told_the_expression_and_the_table(target: WriteTarget) -> None:
    library = SimulatedLibrary()
    sender(target, SqlSession(library))._run(LibraryWrite("table.delete('{location}')"), WRITER)
    assert library.calls == [(f"table.delete('{target.table}')", (target.database, "t"))]


def test_what_takes_sql_alone_writes_by_no_library_of_python(target: WriteTarget) -> None:
    session = SqlSession(cast("Connection", object()))
    with pytest.raises(HarnessError, match="no library of Python"):
        sender(target, session)._run(LibraryWrite("table.delete()"), WRITER)
    with pytest.raises(HarnessError, match="takes SQL and calls"):
        sender(target, object())._run(LibraryWrite("table.delete()"), WRITER)


def test_the_library_of_delta_is_called_for_the_folder_of_the_table(target: WriteTarget) -> None:
    calls: list[tuple[Library, Mapping[str, object]]] = []

    def call(client: Library, request: Mapping[str, object], *, timeout_s: float) -> None:
        assert timeout_s > 0
        calls.append((client, request))

    sender(target, SimpleNamespace(call=call))._run(DeltaCall("checkpoint"), WRITER)
    path = str(target.table)
    assert calls == [(Library.DELTA, {"method": "checkpoint", "path": path})]
