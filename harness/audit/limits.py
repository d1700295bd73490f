"""What the audit of a table may cost."""

from dataclasses import dataclass
from typing import Final

TIMEOUT_S: Final = 300.0
MOST_ROWS: Final = 10_000
"""Tables with more rows are compared by fingerprints."""


@dataclass(frozen=True, slots=True)
class AuditLimits:
    """What a table may cost; what is over it is not known."""

    timeout_s: float = TIMEOUT_S
    """For each question."""
    seconds: float | None = None
    """For all questions of one reader."""
    size: int | None = None
    """Bytes of data files."""
    fetched: int = MOST_ROWS
    """Of tables with more rows all are fetched by nobody."""


NO_LIMITS: Final = AuditLimits()
