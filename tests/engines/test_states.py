"""A5 of the source findings written by real Hudi, frozen, and its forks read by another Spark."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness import formats
from harness.artifacts.cache import Cache
from harness.core.records import OutcomeKind, StateRecord
from harness.engines.api import Question, Server
from harness.formats import facts
from harness.model.canonical import Value
from harness.model.datatypes import parse_type
from harness.model.query import Query
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from harness.model.table import Table
from harness.model.truth import Rows, row_values
from harness.runtime import metastore_client
from harness.runtime.metastore import Metastore
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, DropColumn, RenameColumn
from harness.scenario.operations.row_writes import Delete, Insert, Rewrites, Touch, Update
from harness.scenario.operations.services import Compact
from harness.write import state_store, write_variants
from harness.write.send_step import WriterFor
from harness.write.state_store import State
from harness.write.writer_pool import WriteTarget
from tests.engines.shared_servers import SharedServers

pytestmark = pytest.mark.engines

MINUTE = 60.0
WRITERS = ("spark-3.5.8-hudi-0.15.0", "spark-3.5.8-hudi-1.0.2")
COLUMNS = {"id": "string", "ts": "long", "f1": "string", "f2": "string"}
TABLE = Table(tuple((name, parse_type(text)) for name, text in COLUMNS.items()), "id", "ts")
STEPS: tuple[Operation, ...] = (
    Insert(keys=(1, 2)),
    Insert(keys=(3,)),
    AddColumn("f3", parse_type("string"), after="f1"),
    Touch(Rewrites.NONE),
    DropColumn("f2"),
    RenameColumn("f1", "f1_new"),
    Touch(Rewrites.NONE),
    Update(keys=("1",), set=("f3",)),
    Delete(keys=("3",)),
    Compact(),
)
RENAMED, DELETED, LAST = 6, 9, 10
FORMATS = ("hudi-cow", "hudi-mor")
Answer = list[tuple[Value, ...]]


def variant(name: str, writer: str) -> Variant:
    scenario = Scenario("hudi/a5", TABLE, tuple(map(Step, STEPS)))
    return Variant(f"{name}@{writer}", scenario, name, {}, (writer,) * (len(STEPS) + 1))


@dataclass(frozen=True)
class Stage:
    """What was written by one Hudi, what it answered in place, and a Spark to read the forks."""

    records: Mapping[tuple[str, int], StateRecord]
    states: Mapping[tuple[str, int], State]
    in_place: Mapping[tuple[str, int, str], Answer]
    reader: Server
    asked: dict[tuple[str, int, str, str], Answer] = field(default_factory=dict)

    def ask(self, name: str, step: int, view: str, flag: str) -> Answer:
        """Read a fork, once for all tests."""
        key = name, step, view, flag
        if key not in self.asked:
            database = self.states[name, step].database
            self.asked[key] = ask(self.reader, database, name, view, flag)
        return self.asked[key]


def ask(server: Server, database: str, name: str, view: str, flag: str) -> Answer:
    question = Question(database, formats.load(name).table_for(view), facts(name), Query())
    with closing(server.connect({"schema-on-read": flag})) as connection:
        rows = connection.ask(question, timeout_s=MINUTE).rows
    return sorted(rows, key=str)


@pytest.fixture(scope="module", params=WRITERS)
def stage(
    request: pytest.FixtureRequest,
    metastore: Metastore,
    servers: SharedServers,
    writer_for: WriterFor,
    tmp_path_factory: pytest.TempPathFactory,
) -> Stage:
    """States go to a cache of the test's own, so that they are really written."""
    folder = tmp_path_factory.mktemp("stage")
    own = Cache(folder / "cache")
    live = Live(servers(request.param))
    records: dict[tuple[str, int], StateRecord] = {}
    states: dict[tuple[str, int], State] = {}
    for name in FORMATS:
        database = f"{name}_{request.param}".replace("-", "_").replace(".", "_")
        place = WriteTarget(own, metastore.uri, database, folder / name)
        place.folder.mkdir()
        what = variant(name, request.param)
        for each in write_variants.write_steps(what, place, writer_for):
            live.ask(database, name, each.outcome.step)
        written = write_variants.find_variant(what, own)
        assert written is not None
        records |= {(name, r.outcome.step): r for r in written.records}
        states |= {(name, step): state for (_, step), state in written.states.items()}
    with metastore_client.connect(metastore.uri) as client:
        for state in states.values():
            state_store.register(client, state)
    return Stage(records, states, live.answers, live.server)


class Live:
    """Asks the table where it is written, right after each step."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.answers: dict[tuple[str, int, str], Answer] = {}

    def ask(self, database: str, name: str, step: int) -> None:
        """Ask for each view that there is."""
        for view in views_at(name, step):
            for flag in ("on", "off"):
                answer = ask(self.server, database, name, view, flag)
                self.answers[name, step, f"{view} {flag}"] = answer


def views_at(name: str, step: int) -> tuple[str, ...]:
    """Return the views that there are: those of merge-on-read appear with the first write."""
    return formats.load(name).views if step else ()


def history(name: str) -> Any:  # noqa: ANN401
    scenario = variant(name, "x").scenario
    merge = formats.load(name).merge_on_read
    return scenario.truths(merge_on_read=merge).history()


def expected(name: str, step: int, view: str) -> Answer:
    truth = history(name)[step]
    rows: Rows = truth.base if view == "read_optimized" else truth.rows
    return sorted((row_values(row, truth.schema) for row in rows.values()), key=str)


def test_every_step_is_applied_and_makes_one_instant(stage: Stage) -> None:
    for (name, step), record in stage.records.items():
        assert record.outcome.kind is OutcomeKind.APPLIED, record
        nothing = step == 0 or (name == "hudi-cow" and step == LAST)
        assert bool(record.outcome.instant) is not nothing, record


def test_the_views_of_merge_on_read_appear_with_the_first_write(stage: Stage) -> None:
    assert stage.records["hudi-mor", 0].tables == ("t",)
    assert stage.records["hudi-mor", 1].tables == ("t", "t_ro", "t_rt")
    assert stage.records["hudi-cow", 1].tables == ("t",)


def test_the_catalog_has_the_new_names_right_after_the_change(stage: Stage) -> None:
    for table in ("t", "t_ro", "t_rt"):
        assert stage.states["hudi-mor", RENAMED].columns[table] == ("id", "ts", "f1_new", "f3")


@pytest.mark.parametrize("name", FORMATS)
def test_schema_on_read_answers_the_truth_after_every_step(stage: Stage, name: str) -> None:
    for step in range(1, LAST + 1):
        for view in formats.load(name).views:
            answer = stage.ask(name, step, view, "on")
            assert answer == expected(name, step, view), f"step {step}, {view}"


@pytest.mark.parametrize("name", FORMATS)
def test_without_schema_on_read_old_values_of_the_renamed_column_are_missing(
    stage: Stage, name: str
) -> None:
    answer = stage.ask(name, RENAMED, "snapshot", "off")
    assert [row[2] for row in answer] == [None] * 4
    assert [row[2] for row in expected(name, RENAMED, "snapshot")].count(None) == 0


@pytest.mark.parametrize("name", FORMATS)
def test_live_reading_gives_the_same_answers_as_reading_the_forks(stage: Stage, name: str) -> None:
    asked = {key: answer for key, answer in stage.in_place.items() if key[0] == name}
    assert len(asked) == LAST * len(formats.load(name).views) * 2
    for (_, step, what), answer in asked.items():
        view, flag = what.split()
        assert stage.ask(name, step, view, flag) == answer, f"step {step}, {what}"


@pytest.mark.parametrize("name", FORMATS)
def test_file_facts_reproduce_the_answers_by_id_and_by_name(stage: Stage, name: str) -> None:
    for step in range(1, LAST + 1):
        files = stage.records[name, step].files
        instants = {
            record.outcome.instant: number
            for (of, number), record in stage.records.items()
            if of == name and record.outcome.instant
        }
        until = history(name)[: step + 1]
        for by, flag in ((ColumnMapping.ID, "on"), (ColumnMapping.NAME, "off")):
            told = [
                each.values for each in Simulation(until, files, instants).rows(ReadStrategy(by))
            ]
            answer = stage.ask(name, step, "snapshot", flag)
            assert sorted(told, key=str) == answer, f"step {step}, {by}"


def test_a_delete_is_told_by_the_log_file_until_compaction(stage: Stage) -> None:
    deleting = [fact for fact in stage.records["hudi-mor", DELETED].files if fact.deleted]
    assert [fact.deleted for fact in deleting] == [("3",)]
    assert expected("hudi-mor", DELETED, "read_optimized") != expected(
        "hudi-mor", DELETED, "snapshot"
    )


def test_reading_changes_no_file_of_a_state(stage: Stage) -> None:
    before = {key: state_store.file_list(state) for key, state in stage.states.items()}
    for name in FORMATS:
        for flag in ("on", "off"):
            ask(stage.reader, stage.states[name, LAST].database, name, "snapshot", flag)
    assert {key: state_store.file_list(state) for key, state in stage.states.items()} == before


def test_a_written_variant_is_kept_whole(stage: Stage) -> None:
    state = stage.states["hudi-cow", LAST]
    writer = stage.records["hudi-cow", LAST].variant.partition("@")[2]
    own = Cache(Path(state.folder).parent.parent)
    kept = write_variants.find_variant(variant("hudi-cow", writer), own)
    assert kept is not None
    assert all(record.reused for record in kept.records)
    assert [r.outcome.instant for r in kept.records] == [
        stage.records["hudi-cow", step].outcome.instant for step in range(LAST + 1)
    ]
