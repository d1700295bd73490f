"""Servers are started one after another, and nothing is known of what could not be started."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.conformance import checks, kit, table
from harness.conformance.checks import CheckedEngine
from harness.conformance.kit import LEFTOVER_ASSERTS, Leftovers, Servers
from harness.conformance.results import CheckOutcome, CheckResult
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Count, Progress
from harness.read.reader_servers import SharedMetastore
from harness.runtime import process
from harness.scenario.cells import parse_reader
from tests.unit.conformance.simulated_reader import SimulatedReader

NO_START = EnvironmentProblem("it did not get ready within 300 s")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "POLL_S", 0.01)
    for name in ("ENDLESS_S", "WINDOW_S", "QUIET_S"):
        monkeypatch.setattr(checks, name, 0.01)


def checked(
    make: Callable[[int], SimulatedReader], formats: Sequence[str] = (table.HIVE,)
) -> tuple[Mapping[str, CheckResult], int]:
    """Check the servers that `make` gives by their number; return how many were started too."""
    started = 0

    @contextmanager
    def serve() -> Iterator[list[CheckedEngine]]:
        nonlocal started
        started += 1
        reader = make(started)
        yield reader.on(*formats)
        reader.running.stop()

    servers = Servers(formats, Leftovers(), Count("check", 20))
    servers.check(serve)
    return servers.results(), started


def outcomes(results: Mapping[str, CheckResult]) -> dict[str, CheckOutcome]:
    return {name: result.outcome for name, result in results.items()}


def test_every_check_has_a_result_in_its_order() -> None:
    results, started = checked(lambda _: SimulatedReader())
    assert list(results) == list(kit.ASSERTS)
    expected = dict.fromkeys(kit.ASSERTS, CheckOutcome.PASSED)
    assert outcomes(results) == {**expected, "container": CheckOutcome.NOT_APPLICABLE}
    assert started == 2


def test_of_several_formats_those_that_fail_are_named() -> None:
    results, _ = checked(lambda _: SimulatedReader(instead={"ti": 8}), tuple(table.LIBRARIES))
    assert results["types"] == CheckResult(CheckOutcome.FAILED, "delta: ti: 8 instead of 7")
    assert results["nested"].outcome is CheckOutcome.PASSED


def test_a_server_that_a_time_out_ends_is_replaced_for_the_checks_that_are_left() -> None:
    results, started = checked(lambda _: SimulatedReader(fault="ends"))
    assert started == 3
    assert results["cancel"].outcome is CheckOutcome.NOT_APPLICABLE
    assert results["crash"].outcome is CheckOutcome.PASSED


def test_what_a_second_server_answers_otherwise_is_a_failure() -> None:
    results, _ = checked(lambda number: SimulatedReader(instead={"i": number}))
    assert results["types"].outcome is CheckOutcome.PASSED
    assert results["restart"].outcome is CheckOutcome.FAILED


@pytest.mark.parametrize(
    ("fails", "known"), [(1, set[str]()), (2, {*list(kit.CHECKS)[:6], *LEFTOVER_ASSERTS})]
)
def test_from_a_server_that_does_not_start_on_nothing_is_known(fails: int, known: set[str]) -> None:
    def make(number: int) -> SimulatedReader:
        if number == fails:
            raise NO_START
        return SimulatedReader()

    results, _ = checked(make)
    unknown = [name for name in kit.ASSERTS if name not in known]
    assert {results[name].outcome for name in unknown} == {CheckOutcome.UNKNOWN}
    assert CheckOutcome.UNKNOWN not in {results[name].outcome for name in known}
    assert results[unknown[0]].seen == str(NO_START)


def test_where_what_is_left_cannot_be_looked_for_that_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise NO_START

    monkeypatch.setattr(Leftovers, "_end", fail)
    monkeypatch.setattr(SharedMetastore, "register", lambda *_: None)
    monkeypatch.setattr(kit, "_serve", lambda *_: nullcontext(SimulatedReader().on()))
    results = kit.verify(parse_reader("trino-476"), Cache(tmp_path), tmp_path, Progress()).results
    assert results["ready"].outcome is CheckOutcome.PASSED
    assert {results[name].outcome for name in LEFTOVER_ASSERTS} == {CheckOutcome.UNKNOWN}
    assert results["process"].seen == str(NO_START)


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
