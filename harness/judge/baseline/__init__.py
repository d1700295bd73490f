"""The known findings: `<scenario>.known.yaml` beside a scenario; the default is correct. Pure."""

from harness.judge.baseline.apply import Applied, Facts, Lines, Seen, all_seen, apply, update
from harness.judge.baseline.known import (
    EngineFacts,
    Expect,
    Known,
    Possible,
    Support,
    check,
    holds,
    parse,
)

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
