"""What the checks of a reader gave, and the exit status that this is. Pure."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from harness.artifacts.cache import Cache
from harness.core.atomic_write import atomic_write

GOOD: Final = 0
FAILURES: Final = 1
BROKE: Final = 3


class CheckOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    """The engine, or what the harness makes of it, does otherwise than it must."""
    NOT_APPLICABLE = "not applicable"
    UNKNOWN = "unknown"
    """The check could not be made; nothing is known."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    outcome: CheckOutcome = CheckOutcome.PASSED
    seen: str = ""


def failed(seen: str) -> CheckResult:
    return CheckResult(CheckOutcome.FAILED, seen)


def unknown(reason: str = "") -> CheckResult:
    """Return the result of a check that could not be made; no reason: that of the one before."""
    return CheckResult(CheckOutcome.UNKNOWN, reason)


@dataclass(frozen=True, slots=True)
class Conformance:
    reader: str
    engine: str
    version: str
    runtime: str
    date: str
    """The day on which it was checked, in UTC."""
    fidelity: str
    """How far its engine is what others run; of a container the image and its digest."""
    results: Mapping[str, CheckResult]
    """By the names of the checks, in their order."""
    start_s: float = 0.0
    """The seconds until its first server answered; 0 where none did."""
    peak_mb: int = 0

    def number(self, outcome: CheckOutcome) -> int:
        return sum(result.outcome is outcome for result in self.results.values())

    @property
    def summary(self) -> str:
        """The counts of outcomes: `13 passed, 1 not applicable`."""
        counts = ((self.number(outcome), outcome) for outcome in CheckOutcome)
        return ", ".join(f"{count} {what}" for count, what in counts if count)


def status(conformances: Iterable[Conformance]) -> int:
    """Return 3 if anything is unknown, else 1 if anything failed, else 0."""
    outcomes = {
        result.outcome for conformance in conformances for result in conformance.results.values()
    }
    if not outcomes or CheckOutcome.UNKNOWN in outcomes:
        return BROKE
    return FAILURES if CheckOutcome.FAILED in outcomes else GOOD


FOLDER: Final = "conformance"
_RESULT: Final = TypeAdapter(Conformance)


def keep(conformance: Conformance, cache: Cache) -> None:
    """Keep a result in the place of the one before."""
    file = _file(conformance.reader, cache)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as part:
        part.write_bytes(_RESULT.dump_json(conformance, indent=1))


def latest(reader: str, cache: Cache) -> Conformance | None:
    """Return the last result of a reader; None: it was not checked here, or it cannot be read."""
    try:
        return _RESULT.validate_json(_file(reader, cache).read_bytes())
    except (OSError, ValidationError):
        return None


def _file(reader: str, cache: Cache) -> Path:
    return cache.root / FOLDER / f"{hashlib.sha256(reader.encode()).hexdigest()[:16]}.json"
