"""The exit status, and the page of results."""

import pytest

from harness.conformance import kit, results
from harness.conformance.results import CheckOutcome, CheckResult, Conformance

GOOD, BAD = CheckResult(), results.failed("i: 2\ninstead of 1 | 3")
NONE, DARK = (
    CheckResult(CheckOutcome.NOT_APPLICABLE, "it runs as a process"),
    results.unknown("it did not start"),
)


def conformance(*first: CheckResult, reader: str = "trino-476") -> Conformance:
    every = dict.fromkeys(kit.ASSERTS, GOOD) | dict(zip(kit.ASSERTS, first, strict=False))
    where = ("trino", "476", "process", "2024-02-29", "stock")
    return Conformance(reader, *where, every, start_s=0 if DARK in first else 14.2, peak_mb=900)


@pytest.mark.parametrize(
    ("conformances", "status"),
    [
        ((conformance(),), 0),
        ((conformance(NONE),), 0),
        ((conformance(), conformance(BAD)), 1),
        ((conformance(BAD), conformance(DARK)), 3),
        ((conformance(BAD, DARK),), 3),
        ((), 3),
    ],
)
def test_unknown_comes_before_failed_and_nothing_is_unknown(
    conformances: tuple[Conformance, ...], status: int
) -> None:
    assert results.status(conformances) == status


def test_a_reader_is_reported_in_a_few_words() -> None:
    passed = len(kit.ASSERTS) - 3
    summary = f"{passed} passed, 1 failed, 1 not applicable, 1 unknown"
    assert conformance(BAD, NONE, DARK).summary == summary


def test_the_page_has_the_answer_first_then_each_check_of_each_reader() -> None:
    good, bad = conformance(), conformance(BAD, NONE, reader="hive-3.1.3@container")
    lines = kit.page((good, bad), "harness engines verify").splitlines()
    assert lines[2].startswith("1 of 2 readers conforms; failed: hive-3.1.3@container.")
    rows = {line.split(" | ")[0]: line.split(" | ")[1:] for line in lines if line.startswith("|")}
    assert len(rows["| reader"]) == 6
    checks = next(line for line in lines if line.startswith("| hive-3.1.3@container")).split(" | ")
    assert checks[1:4] == ["**no**", "n/a", "yes"]
    assert len(checks) == len(kit.ASSERTS) + 1
    assert "- hive-3.1.3@container, ready: failed: i: 2 instead of 1 | 3" in lines
    assert "| trino-476 | 2024-02-29 | trino 476 | process | 14 s | 900 MB | stock |" in lines
