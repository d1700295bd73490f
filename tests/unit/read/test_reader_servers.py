"""The metastore of a reading phase, simulated: replaced when it is gone, states registered anew."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.runtime_names import USUAL_METASTORE, MetastoreChoice
from harness.read import reader_servers
from harness.read.reader_servers import SharedMetastore
from harness.runtime.metastore_client import CatalogGoneProblem
from harness.runtime.process import EndedProblem


@dataclass
class Simulated:
    """A metastore that a test can kill (`up`) or stop (`silent`)."""

    uri: str
    up: bool = True
    silent: bool = False
    states: list[str] = field(default_factory=list)
    store: None = None
    bucket: None = None

    def alive(self) -> bool:
        return self.up

    def log_tail(self) -> str:
        return "the end of the log"

    def has(self, database: str) -> bool:
        if self.silent or not self.up:
            raise CatalogGoneProblem("thrift://gone:1", "connection refused")
        return database in self.states


class Farm:
    """Starts them; `dying`: so many end as soon as a state is registered."""

    def __init__(self, dying: int = 0) -> None:
        self.made: list[Simulated] = []
        self.ended: list[str] = []
        self.dying = dying

    @contextmanager
    def serve(self, _: object, register: Callable[[Any], None]) -> Iterator[Any]:
        made = Simulated(f"thrift://{len(self.made)}")
        self.made.append(made)
        try:
            register(made)
            yield made
        finally:
            self.ended.append(made.uri)

    @contextmanager
    def connect(self, uri: str, **_: float) -> Iterator[Simulated]:
        yield next(server for server in self.made if server.uri == uri)

    def register(self, client: Simulated, state: str, _: None) -> None:
        client.up = len(self.made) > self.dying
        client.has(state)
        client.states.append(state)


@pytest.fixture
def farm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Farm:
    result = Farm(getattr(request, "param", 0))
    monkeypatch.setattr(reader_servers, "start_metastore", result.serve)
    monkeypatch.setattr("harness.read.reader_servers.metastore_client.connect", result.connect)
    monkeypatch.setattr("harness.read.reader_servers.state_store.register", result.register)
    return result


def shared(farm: Farm, choice: MetastoreChoice = USUAL_METASTORE) -> SharedMetastore:
    shared_metastore = SharedMetastore(SimpleNamespace(metastore=choice))  # type: ignore[arg-type]
    shared_metastore.add(["a", "b"])  # type: ignore[list-item]
    return shared_metastore


def test_one_metastore_holds_every_state_and_ends_with_the_phase(farm: Farm) -> None:
    with shared(farm) as catalog:
        first = catalog.running()
        assert catalog.running() is first
        assert catalog.answers(first)
    assert farm.made[0].states == ["a", "b"]
    assert farm.ended == ["thrift://0"]


@pytest.mark.parametrize("failure", ["up", "silent"])
def test_one_that_is_gone_is_replaced_with_every_state_in_it(farm: Farm, failure: str) -> None:
    with shared(farm) as catalog:
        first = catalog.running()
        setattr(farm.made[0], failure, failure == "silent")
        assert not catalog.answers(first)
        assert catalog.running().uri == "thrift://1"
        assert catalog.answers(catalog.running())
        assert farm.ended == ["thrift://0"]
        assert farm.made[1].states == ["a", "b"]


@pytest.mark.parametrize("farm", [1], indirect=True)
def test_one_that_ends_while_states_are_registered_is_started_once_more(farm: Farm) -> None:
    with shared(farm) as catalog:
        assert catalog.running().uri == "thrift://1"
    assert farm.ended == ["thrift://0", "thrift://1"]


@pytest.mark.parametrize("farm", [2], indirect=True)
def test_one_that_ends_each_time_is_a_problem_with_its_log(farm: Farm) -> None:
    with shared(farm) as catalog, pytest.raises(EndedProblem, match="the end of the log"):
        catalog.running()
    assert len(farm.made) == 2


def test_one_that_was_replaced_answers_to_nobody_although_it_would(farm: Farm) -> None:
    with shared(farm) as catalog:
        first = catalog.running()
        farm.made[0].silent = True
        catalog.running()
        farm.made[0].silent = False
        assert not catalog.answers(first)


def test_what_was_upgraded_takes_no_more_states_and_is_made_anew_with_all(farm: Farm) -> None:
    with shared(farm, MetastoreChoice("new", "old")) as catalog:
        first = catalog.running()
        assert catalog.running() is first
        catalog.add(["c"])  # type: ignore[list-item]
        assert catalog.running() is not first
    assert [server.states for server in farm.made] == [["a", "b"], ["a", "b", "c"]]
