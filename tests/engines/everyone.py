"""Readers that run side by side, all asked the same: in place, or a fork."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field

import psutil

from harness.artifacts.fetch import Installation
from harness.core.records import Column, OutcomeKind
from harness.engines.api import Engine, Question, RefusedError, Server
from harness.formats import facts
from harness.model.canonical import to_json
from harness.model.query import Query
from harness.runtime import metastore_client
from harness.runtime.api import Served
from harness.runtime.process import Process
from harness.scenario.cells import Reader, Variant
from harness.write import state_store, write_variants
from harness.write.send_step import WriterFor
from harness.write.state_store import State
from harness.write.writer_pool import WriteTarget

Installed = Callable[[str], Installation]
"""Gives the installation of a distribution, or skips the test (see `conftest`)."""
TooLarge = Callable[[str], str]
"""Tells why a distribution is not there and not downloaded unasked (see `conftest`)."""
TIMEOUT_S = 240.0
"""A query takes less than a second; other work on the machine may hold it up."""
GREEDY = "select cardinality(array_agg(a * 10000 + b)) from unnest(sequence(1, 9999)) x(a), unnest(sequence(1, 9999)) y(b)"  # noqa: E501
"""It keeps 100 million numbers, 0.8 GB: more than Trino or Presto may keep of its heap. PrestoDB
fills its heap and ends (`test_deaths`)."""


def process_of(server: object) -> Process:
    assert isinstance(server, Served)
    assert isinstance(server.running, Process)
    return server.running


def check_loopback(server: object) -> None:
    connections = psutil.Process(process_of(server).pid).net_connections("tcp")
    listening = {at.laddr.ip for at in connections if at.status == psutil.CONN_LISTEN}
    assert listening
    assert {ip.removeprefix("::ffff:") for ip in listening} == {"127.0.0.1"}


@dataclass(frozen=True)
class Response:
    """An answer without what may differ between equal tables: order, time, a refusal's wording."""

    columns: tuple[Column, ...] = ()
    rows: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Running:
    reader: Reader
    engine: Engine
    server: Server

    def ask(self, database: str, state: State, format_name: str) -> dict[tuple[str, str], Response]:
        """Ask for everything in each table of a state, in a new session; by reader and table."""
        settings = dict(self.reader.settings)
        with closing(self.server.connect(settings)) as connection:
            result = {}
            for table in state.columns:
                question = Question(database, table, facts(format_name), Query())
                try:
                    reply = connection.ask(question, timeout_s=TIMEOUT_S)
                except RefusedError as refused:
                    response = Response(
                        refused=f"{refused.refusal.kind} {refused.refusal.code}".strip()
                    )
                else:
                    rows = sorted(json.dumps(to_json(row)) for row in reply.rows)
                    response = Response(reply.columns, tuple(rows))
                result[str(self.reader), table] = response
            return result


@dataclass
class Watch:
    """Asks everyone in place after each step, and forks of the states later."""

    readers: Sequence[Running]
    target: WriteTarget
    format: str
    states: dict[int, State] = field(default_factory=dict)
    in_place: dict[int, Everyone] = field(default_factory=dict)

    def at_state(self, step: int, state: State) -> None:
        self.in_place[step] = ask(self.readers, self.target.database, state, self.format)
        self.states[step] = state

    def fork(self, state: State) -> Everyone:
        with metastore_client.connect(self.target.metastore_uri) as client:
            state_store.register(client, state)
        return ask(self.readers, state.database, state, self.format)

    def write(self, variant: Variant, writer_for: WriterFor) -> Sequence[OutcomeKind]:
        """Write a variant, asking everyone after each step; return what came of the steps."""
        for outcome, state in write_variants.write_steps(variant, self.target, writer_for):
            if state:
                self.at_state(outcome.step, state)
        written = write_variants.find_variant(variant, self.target.cache)
        assert written is not None
        return [record.outcome.kind for record in written.records]


Everyone = Mapping[tuple[str, str], Response]
"""What each reader said of each table."""


def ask(readers: Sequence[Running], database: str, state: State, format_name: str) -> Everyone:
    with ThreadPoolExecutor(len(readers)) as threads:
        asked = [threads.submit(reader.ask, database, state, format_name) for reader in readers]
        return {at: response for running in asked for at, response in running.result().items()}
