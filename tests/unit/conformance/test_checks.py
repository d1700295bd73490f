"""Each check passes with a reader that does what it must, and fails with a planted fault."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from harness.conformance import checks, kit, table
from harness.conformance.checks import Check
from harness.conformance.results import CheckOutcome
from harness.core import tolerances
from harness.model.canonical import MapValue
from tests.unit.conformance.simulated_reader import (
    BROKE,
    REFUSED,
    SILENT,
    WITHOUT_REASON,
    SimulatedReader,
    SimulatedRunning,
)

CHECKS = {check.name: check for life in kit.LIVES for check in life}
PASSED, FAILED = CheckOutcome.PASSED, CheckOutcome.FAILED
TO_MILLISECONDS = {"ts": table.INSTANT.replace(microsecond=678000)}

FAULTS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("ready", {"fault": "count"}, "was ((1,),)"),
    ("types", {"instead": {"i": 2}}, "i: 2 instead of 1"),
    ("types", {"instead": {"ti": True}}, "ti: True instead of 7"),
    ("types", {"types": {"l": "int"}}, "l: type int instead of long"),
    ("types", {"instead": TO_MILLISECONDS}, "ts: "),
    ("types", {"fault": "column"}, "the columns were ti, "),
    ("types", {"fault": "lost"}, "1 row, 1 of them with values"),
    ("types", {"fault": "twice"}, "3 rows, 2 of them with values"),
    ("types", {"fault": "texts"}, "i: '1' instead of 1"),
    ("types", {"fault": "swapped"}, "ti: -300 instead of 7"),
    ("types", {"fault": "slow"}, "no answer"),
    ("nulls", {"empty": {"d": 0.0}}, "no NULL in d: 0"),
    ("nulls", {"empty": {"st": {"a": None}}}, "no NULL in st"),
    ("nulls", {"fault": "lost"}, "of 1 row 0 begin with NULL"),
    ("nested", {"instead": {"ar": (1,)}}, "ar: (1,) instead of (1, None)"),
    ("nested", {"instead": {"m": MapValue(((2, "b"),))}}, "m: "),
    ("nested", {"types": {"md": "map<date, array<int>>"}}, "md: type map<date, array<int>>"),
    ("refused", {"wrong": 1}, "a table that is not there was answered with ((1,),)"),
    ("refused", {"wrong": WITHOUT_REASON}, "without a reason"),
    ("refused", {"wrong": SILENT}, "no answer: no answer after 1 s"),
    ("refused", {"fault": "session"}, "the session answered otherwise"),
    ("sessions", {"fault": "mixed"}, "session 1: the columns were b"),
    ("restart", {"instead": {"s": "y"}}, "s: 'y' instead of 'x'"),
    ("restart", {"empty": {"s": ""}}, "no NULL in s"),
    ("time-out", {"endless": 0}, "was answered with ((0,),)"),
    ("time-out", {"endless": REFUSED}, "a missing answer was reported as a refusal"),
    ("time-out", {"endless": BROKE}, "a missing answer was reported as a failure of the harness"),
    ("time-out", {"fault": "count"}, "afterwards it answered ((1,),)"),
    ("cancel", {"running": SimulatedRunning(goes_on=True)}, "it goes on: "),
    ("cancel", {"endless": REFUSED}, "a missing answer was reported as a refusal"),
    ("crash", {"endless": REFUSED}, "a missing answer was reported as a refusal"),
    ("crash", {"endless": BROKE}, "a missing answer was reported as a failure of the harness"),
    ("crash", {"fault": "deaf"}, "its death was not noticed"),
    ("crash", {"running": SimulatedRunning(dies=False)}, "counts as alive"),
    ("crash", {"fault": "opens"}, "opened another session"),
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here takes long to notice."""
    monkeypatch.setattr(checks, "LOOK_S", 0.01)
    for name in ("ENDLESS_S", "WINDOW_S"):
        monkeypatch.setattr(checks, name, 0.01)
    for name in ("QUIET_S", "DEATH_S"):
        monkeypatch.setattr(checks, name, 0.3)


FORMATS = ((table.HIVE,), tuple(table.LIBRARIES))


@pytest.mark.parametrize("check", CHECKS.values(), ids=lambda check: check.name)
@pytest.mark.parametrize("formats", FORMATS, ids=" ".join)
def test_a_reader_that_does_what_it_must_passes(check: Check, formats: tuple[str, ...]) -> None:
    assert kit.result_of(check, SimulatedReader().on(*formats)).outcome is PASSED


def test_of_several_formats_those_that_fail_are_named() -> None:
    result = kit.result_of(CHECKS["types"], SimulatedReader(instead={"ti": 8}).on(*FORMATS[1]))
    assert (result.outcome, result.seen) == (FAILED, "delta: ti: 8 instead of 7")


@pytest.mark.parametrize(("name", "fault", "seen"), FAULTS)
def test_a_reader_with_a_fault_fails_the_check_of_it(
    name: str, fault: dict[str, Any], seen: str
) -> None:
    result = kit.result_of(CHECKS[name], SimulatedReader(**fault).on())
    assert result.outcome is FAILED
    assert seen in result.seen


def test_each_check_can_fail() -> None:
    assert {name for name, _, _ in FAULTS} == set(CHECKS)


@pytest.mark.parametrize(("name", "other"), [("types", {"ar": (2,)}), ("nested", {"i": 2})])
def test_a_fault_of_one_kind_of_column_is_not_one_of_the_other(
    name: str, other: dict[str, Any]
) -> None:
    assert kit.result_of(CHECKS[name], SimulatedReader(instead=other).on()).outcome is PASSED


def test_a_declared_difference_is_no_fault() -> None:
    on = SimulatedReader(instead=TO_MILLISECONDS).on(
        declared=tolerances.declared_for("prestodb-0.283")
    )
    assert kit.result_of(CHECKS["types"], on).outcome is PASSED
    whole = {"ts": datetime.datetime(2024, 1, 2, 3, 4, 5)}  # noqa: DTZ001 - canonical: no zone
    on = SimulatedReader(instead=whole).on(declared=tolerances.declared_for("prestodb-0.283"))
    assert kit.result_of(CHECKS["types"], on).outcome is FAILED


def test_a_failure_of_the_harness_is_unknown_and_no_fault_of_the_reader() -> None:
    for broke in (BROKE, TypeError("a defect")):
        result = kit.result_of(CHECKS["refused"], SimulatedReader(wrong=broke).on())
        assert result.outcome is CheckOutcome.UNKNOWN
        assert str(broke) in result.seen


@pytest.mark.parametrize("name", ["cancel", "crash"])
def test_what_runs_inside_of_the_harness_cannot_be_killed(name: str) -> None:
    result = kit.result_of(CHECKS[name], SimulatedReader().on(running=None))
    assert result.outcome is CheckOutcome.NOT_APPLICABLE


def test_a_time_out_may_end_the_server_and_its_question_with_it() -> None:
    on = SimulatedReader(fault="ends").on()
    result = kit.result_of(CHECKS["time-out"], on)
    assert result.outcome is PASSED
    assert "its server was ended" in result.seen
    assert kit.result_of(CHECKS["cancel"], on).outcome is CheckOutcome.NOT_APPLICABLE
