"""The known findings: `<scenario>.known.yaml` beside a scenario; the default is correct. Pure."""

from __future__ import annotations

from harness.baseline.apply import Applied, apply
from harness.baseline.known import Expect, Known, Support, holds
from harness.baseline.parse import parse
from harness.baseline.possible import Engine, Possible, check
from harness.baseline.seen import Facts, Seen, seen_of
from harness.baseline.update import update

__all__ = [
    "Applied",
    "Engine",
    "Expect",
    "Facts",
    "Known",
    "Possible",
    "Seen",
    "Support",
    "apply",
    "check",
    "holds",
    "parse",
    "seen_of",
    "update",
]
