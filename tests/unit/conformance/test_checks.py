"""Each check passes with a reader that does what it must, and fails with a planted fault."""

import datetime
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.conformance import checks, kit, table
from harness.conformance.checks import KitTables
from harness.conformance.results import CheckOutcome, CheckResult
from harness.core import tolerances
from harness.engines.api import Question, Reply
from harness.runtime import process
from tests.unit.conformance.simulated_reader import (
    BROKE,
    DATABASE,
    ENDLESS,
    REFUSED,
    SILENT,
    WITHOUT_REASON,
    SimulatedReader,
    SimulatedRunning,
)

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
    ("types", {"fault": "texts"}, "i: '1' instead of 1"),
    ("types", {"fault": "swapped"}, "ti: -300 instead of 7"),
    ("types", {"fault": "slow"}, "no answer"),
    ("nulls", {"empty": {"d": 0.0}}, "no NULL in d: 0"),
    ("nulls", {"fault": "lost"}, "of 1 row 0 begin with NULL"),
    ("nested", {"instead": {"ar": (1,)}}, "ar: (1,) instead of (1, None)"),
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
    ("crash", {"endless": REFUSED}, "a missing answer was reported as a refusal"),
    ("crash", {"fault": "deaf"}, "its death was not noticed"),
    ("crash", {"running": SimulatedRunning(dies=False)}, "counts as alive"),
    ("crash", {"fault": "opens"}, "opened another session"),
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "POLL_S", 0.01)
    for name in ("ENDLESS_S", "WINDOW_S"):
        monkeypatch.setattr(checks, name, 0.01)
    for name in ("QUIET_S", "DEATH_S"):
        monkeypatch.setattr(checks, name, 0.3)


def outcome(
    name: str, reader: SimulatedReader, format_: str = table.HIVE, **facts: object
) -> CheckResult:
    seen = dict[str, str]()
    (on,) = reader.on(format_, **facts)
    fixtures = {"on": on, "last_engine": on, "record_property": seen.__setitem__}
    check = kit.CHECKS[name]
    arguments = [fixtures.get(fixture) for fixture in inspect.signature(check).parameters]
    try:
        check(*arguments)
    except BaseException as error:  # noqa: BLE001 - those of pytest are no others
        return kit.result_of(error)
    return kit.result_of(None, seen.get("seen", ""))


@pytest.mark.parametrize("name", kit.CHECKS)
@pytest.mark.parametrize("format_", [table.HIVE, *table.LIBRARIES])
def test_a_reader_that_does_what_it_must_passes(name: str, format_: str) -> None:
    assert outcome(name, SimulatedReader(), format_).outcome is PASSED


@pytest.mark.parametrize(("name", "fault", "seen"), FAULTS)
def test_a_reader_with_a_fault_fails_the_check_of_it(
    name: str, fault: dict[str, Any], seen: str
) -> None:
    result = outcome(name, SimulatedReader(**fault))
    assert result.outcome is FAILED
    assert seen in result.seen


@dataclass
class RecordingReader(SimulatedReader):
    sent: list[Question | str] = field(default_factory=list)

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        self.sent.append(question)
        return super().ask(question, timeout_s=timeout_s)

    def run(self, sql: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()) -> Reply:
        self.sent.append(sql)
        return super().run(sql, timeout_s=timeout_s, tables=tables)


@pytest.mark.parametrize("format_", [table.HIVE, *table.LIBRARIES])
def test_what_a_dry_run_lists_is_all_that_the_checks_send(format_: str) -> None:
    sent = list[Question | str]()
    for name in kit.CHECKS:
        reader = RecordingReader()
        assert outcome(name, reader, format_).outcome is PASSED
        sent += [asked for asked in reader.sent if asked not in sent]
    listed = [*KitTables(DATABASE, format_).questions(), ENDLESS]
    assert sorted(map(str, sent)) == sorted(map(str, listed))


def test_each_check_can_fail() -> None:
    assert {name for name, _, _ in FAULTS} == set(kit.CHECKS)


@pytest.mark.parametrize(("name", "other"), [("types", {"ar": (2,)}), ("nested", {"i": 2})])
def test_a_fault_of_one_kind_of_column_is_not_one_of_the_other(
    name: str, other: dict[str, Any]
) -> None:
    assert outcome(name, SimulatedReader(instead=other)).outcome is PASSED


def test_a_declared_difference_is_no_fault() -> None:
    declared = tolerances.declared_for("prestodb-0.283")
    milliseconds = SimulatedReader(instead=TO_MILLISECONDS)
    assert outcome("types", milliseconds, declared=declared).outcome is PASSED
    whole = {"ts": datetime.datetime(2024, 1, 2, 3, 4, 5)}  # noqa: DTZ001 - canonical: no zone
    assert outcome("types", SimulatedReader(instead=whole), declared=declared).outcome is FAILED


def test_a_type_of_which_an_engine_has_no_null_is_left_out_and_no_other() -> None:
    empty = SimulatedReader(empty={"ar": (), "st": {"a": None, "n": None}})
    result = outcome("nulls", empty, no_null_of=("array", "struct"))
    assert (result.outcome, result.seen) == (PASSED, "it has no NULL of array, struct")
    assert outcome("nulls", empty, no_null_of=("array",)).outcome is FAILED
    plain = SimulatedReader(empty={"d": 0.0})
    assert outcome("nulls", plain, no_null_of=("array", "struct")).outcome is FAILED


@pytest.mark.parametrize("broke", [BROKE, TypeError("a defect")])
def test_a_failure_of_the_harness_is_unknown_and_no_fault_of_the_reader(broke: Exception) -> None:
    result = outcome("refused", SimulatedReader(wrong=broke))
    assert result.outcome is CheckOutcome.UNKNOWN
    assert str(broke) in result.seen


@pytest.mark.parametrize("name", ["cancel", "crash"])
def test_what_runs_inside_of_the_harness_cannot_be_killed(name: str) -> None:
    result = outcome(name, SimulatedReader(), running=None)
    assert result.outcome is CheckOutcome.NOT_APPLICABLE


def test_a_time_out_may_end_the_server_and_its_question_with_it() -> None:
    reader = SimulatedReader(fault="ends")
    result = outcome("time-out", reader)
    assert result.outcome is PASSED
    assert "its server was ended" in result.seen
    assert outcome("cancel", reader).outcome is CheckOutcome.NOT_APPLICABLE
