"""The tries at a question that got no answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a question that got no answer."""

    what: str
    """How it ended: connection lost, time-out, process dead …"""
    log: str = ""
    """The end of the server's log."""
