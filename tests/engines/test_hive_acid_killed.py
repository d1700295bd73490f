"""HiveServer2 is killed in its transaction: nobody shows its rows, though their files are there."""

from contextlib import closing
from dataclasses import replace

import pytest

from harness.artifacts.cache import Cache
from harness.core import refusals
from harness.core.records import FindingKind, OutcomeKind, VerdictKind
from harness.run.load_run import Run
from harness.runtime import metastore_client
from harness.runtime.metastore import Metastore
from harness.runtime.metastore_objects import WriteIds
from harness.scenario.cells import parse_reader
from harness.write import state_store
from harness.write.state_store import State
from tests.engines.planned_run import planned, shipped
from tests.engines.shared_servers import SharedServers

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

HIVE, TRINO = "hive-3.1.3{path=fetch, transactions=on}", "trino-476"
KILLED, WAITS, ABORT, RENAME = 3, 5, 7, 14
(STORY,) = shipped("hive_acid/killed_write")
PLAN = planned(
    [STORY], ["hive-acid"], ["hive-3.1.3"], [HIVE, TRINO], axes={"compaction": ("major",)}
)


def test_every_step_is_applied_but_an_update_that_waits_for_the_lock_of_the_dead(run: Run) -> None:
    odd = [state.outcome for state in run.states if state.outcome.kind is not OutcomeKind.APPLIED]
    assert [outcome.step for outcome in odd] == [WAITS]
    assert odd[0].refusal is not None
    assert "Error in acquiring locks" in refusals.text(odd[0].refusal)
    assert not any(state.layout for state in run.states)


def test_nobody_shows_rows_of_a_dead_writer_and_no_compaction_takes_any(run: Run) -> None:
    assert len(run.verdicts) == 2 * len(STORY.steps)
    odd = [verdict for verdict in run.verdicts if verdict.verdict is not VerdictKind.CORRECT]
    assert {(str(verdict.reader), verdict.step) for verdict in odd} == {
        (HIVE, RENAME),
        (HIVE, RENAME + 1),
    }
    kinds = {(finding.kind, finding.columns) for verdict in odd for finding in verdict.findings}
    assert kinds == {(FindingKind.MISSING_RENAME, ("g",))}


def test_a_dead_transaction_is_open_until_it_is_aborted_and_registered_so(
    run: Run, cache: Cache, metastore: Metastore, database: str
) -> None:
    numbers = {}
    with metastore_client.connect(metastore.uri) as client:
        for step in (KILLED, ABORT):
            state, copied = _state(run, cache, step), f"{database}_{step}"
            client.register(copied, state.frozen.entries, str(state.table))
            (numbers[step],) = (entry.write_ids for entry in client.entries(copied))
            assert [numbers[step]] == [entry.write_ids for entry in state.frozen.entries]
    assert numbers == {
        KILLED: WriteIds(3, open=(3,)),
        # The update had a number of its own before it was refused.
        ABORT: WriteIds(5, aborted=(3, 5)),
    }


def test_the_rows_of_the_dead_are_all_there_for_a_reader_that_takes_its_number_for_committed(
    run: Run, cache: Cache, metastore: Metastore, servers: SharedServers, database: str
) -> None:
    state = _state(run, cache, KILLED)
    taken = [replace(entry, write_ids=WriteIds(3)) for entry in state.frozen.entries]
    with metastore_client.connect(metastore.uri) as client:
        client.register(database, taken, str(state.table))
    reader = parse_reader(HIVE)
    with closing(servers(reader.distribution).connect(dict(reader.settings))) as connection:
        rows = connection.run(f"select id, f1 from {database}.t order by id", timeout_s=120).rows
    assert rows == (("1", "f3s3r1"), ("2", "f3s1r2"), ("3", "f3s2r3"), ("4", "f3s3r4"))


def _state(run: Run, cache: Cache, step: int) -> State:
    (digest,) = (state.digest for state in run.states if state.outcome.step == step)
    state = state_store.load(cache, digest)
    assert state is not None
    return state
