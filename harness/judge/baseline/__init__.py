"""The known findings: `<scenario>.known.yaml` beside a scenario; the default is correct. Pure."""

from __future__ import annotations

from harness.judge.baseline.apply import Applied, Lines, apply
from harness.judge.baseline.known import Expect, Known, Support, holds
from harness.judge.baseline.parse_known import parse
from harness.judge.baseline.possible import EngineFacts, Possible, check
from harness.judge.baseline.seen import Facts, Seen, all_seen
from harness.judge.baseline.update_known import update

__all__ = [
    "Applied",
    "EngineFacts",
    "Expect",
    "Facts",
    "Known",
    "Lines",
    "Possible",
    "Seen",
    "Support",
    "all_seen",
    "apply",
    "check",
    "holds",
    "parse",
    "update",
]
