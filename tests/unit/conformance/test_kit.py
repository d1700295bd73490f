"""Servers are started one after another, and nothing is known of what could not be started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.conformance import checks, kit
from harness.conformance.checks import CheckedEngine, Leftovers
from harness.conformance.kit import Servers
from harness.conformance.results import CheckOutcome
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Count, Progress
from harness.read.reader_servers import SharedMetastore
from harness.scenario.cells import parse_reader
from tests.unit.conformance.simulated_reader import SimulatedReader

NO_START = EnvironmentProblem("it did not get ready within 300 s")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "LOOK_S", 0.01)
    for name in ("ENDLESS_S", "WINDOW_S", "QUIET_S"):
        monkeypatch.setattr(checks, name, 0.01)


def checked(make: Callable[[int], SimulatedReader]) -> tuple[Servers, int]:
    """Check the servers that `make` gives by their number; how many were started too."""
    started = 0

    @contextmanager
    def serve() -> Iterator[list[CheckedEngine]]:
        nonlocal started
        started += 1
        reader = make(started)
        yield reader.on()
        reader.running.stop()

    servers = Servers(Leftovers(), Count("check", len(kit.ASSERTS)))
    servers.check(serve)
    servers.note_leftovers()
    return servers, started


def outcomes(servers: Servers) -> dict[str, CheckOutcome]:
    return {name: result.outcome for name, result in servers.results.items()}


def test_every_check_has_a_result_in_its_order_and_is_counted() -> None:
    servers, started = checked(lambda _: SimulatedReader())
    assert list(servers.results) == list(kit.ASSERTS)
    expected = dict.fromkeys(kit.ASSERTS, CheckOutcome.PASSED)
    assert outcomes(servers) == {**expected, "container": CheckOutcome.NOT_APPLICABLE}
    assert (started, servers.count.left, servers.peak_mb) == (2, 0, 7)


def test_a_server_that_a_time_out_ends_is_replaced_for_the_checks_that_are_left() -> None:
    servers, started = checked(lambda _: SimulatedReader(fault="ends"))
    assert started == 3
    assert outcomes(servers)["cancel"] is CheckOutcome.NOT_APPLICABLE
    assert outcomes(servers)["crash"] is CheckOutcome.PASSED


def test_what_a_second_server_answers_otherwise_is_found() -> None:
    servers, _ = checked(lambda number: SimulatedReader(instead={"i": number}))
    assert outcomes(servers)["types"] is CheckOutcome.PASSED
    assert outcomes(servers)["restart"] is CheckOutcome.FAILED


@pytest.mark.parametrize(
    ("fails", "known"), [(1, {"restart", "time-out", "cancel", "crash"}), (2, {"ready", "types"})]
)
def test_of_a_server_that_does_not_start_nothing_is_known(fails: int, known: set[str]) -> None:
    def make(number: int) -> SimulatedReader:
        if number == fails:
            raise NO_START
        return SimulatedReader()

    servers, _ = checked(make)
    unknown = [n for n, result in servers.results.items() if result.outcome is CheckOutcome.UNKNOWN]
    assert known.isdisjoint(unknown)
    first, *others = (servers.results[text].seen for text in unknown)
    assert first == str(NO_START)
    assert set(others) == {""}


def test_where_no_server_starts_what_is_left_is_not_known_either() -> None:
    def make(_: int) -> SimulatedReader:
        raise NO_START

    servers, _ = checked(make)
    assert set(outcomes(servers).values()) == {CheckOutcome.UNKNOWN}


def test_where_what_is_left_cannot_be_looked_for_that_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watching(_: Leftovers) -> Iterator[None]:
        yield
        raise NO_START

    monkeypatch.setattr(Leftovers, "watching", contextmanager(watching))
    monkeypatch.setattr(SharedMetastore, "register", lambda *_: None)
    monkeypatch.setattr(kit, "_serve", lambda *_: nullcontext(SimulatedReader().on()))
    conformance = kit.verify(parse_reader("trino-476"), Cache(tmp_path), tmp_path, Progress())
    outcomes = {name: result.outcome for name, result in conformance.results.items()}
    assert outcomes["ready"] is CheckOutcome.PASSED
    assert {outcomes[literal] for literal in ("crash", "process", "port")} == {CheckOutcome.UNKNOWN}
    assert conformance.results["restart"].seen == str(NO_START)


def test_a_metastore_that_does_not_start_leaves_all_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise NO_START

    monkeypatch.setattr(SharedMetastore, "register", fail)
    conformance = kit.verify(parse_reader("trino-476"), Cache(tmp_path), tmp_path, Progress())
    assert {result.outcome for result in conformance.results.values()} == {CheckOutcome.UNKNOWN}
    assert (conformance.engine, conformance.version, conformance.runtime) == (
        "trino",
        "476",
        "process",
    )


def test_a_reader_that_cannot_be_asked_about_the_table_is_wrong_use() -> None:
    with pytest.raises(UsageProblem, match="says nothing of hive-parquet tables"):
        kit.check_can_be_asked(parse_reader("hive-3.1.3{orc.force.positional.evolution=true}"))
