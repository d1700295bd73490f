"""States become questions: what a state's files were is seen before anybody reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.concurrency import ClosableQueue
from harness.read import read_states
from harness.read.questions import CellQuestion, ReadQueues
from harness.read.support_probe import Probes
from harness.write import state_store, table_state
from harness.write.table_state import State, States
from tests.unit.read.test_read_states import HIVE, Questions, place, planned


@pytest.fixture
def state(tmp_path: Path) -> State:
    folder = tmp_path / "state"
    (folder / table_state.TABLE).mkdir(parents=True)
    (folder / table_state.TABLE / "file").write_text("1")
    return State("d" * 64, folder, SimpleNamespace(home="", table_version=""))  # type: ignore[arg-type]


def test_a_state_that_comes_again_has_its_files_as_they_were_before_anybody_read_it(
    tmp_path: Path, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    def about(plan: Any) -> Questions:  # noqa: ANN401 - passed on
        return Questions(plan.cells)

    def states() -> Iterator[States]:
        yield {("v1", 1): state}
        (state.table / "file").write_text("other")
        yield {("v2", 1): state}

    monkeypatch.setattr(read_states, "planned_questions", about)
    before, queue = state_store.file_list(state), ClosableQueue[CellQuestion]()
    shared: Any = SimpleNamespace(context=place(tmp_path), register=lambda _: None)
    plan, queues = planned("v1", "v2", readers=(HIVE,)), ReadQueues({HIVE: queue})
    read_states.schedule(plan, states(), shared, Probes(), queues)
    assert [each.files for each in queue.take_all()] == [before, before]
    assert state_store.file_list(state) != before
    assert queue.take_all() == [], "no more come"
