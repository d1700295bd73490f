"""The ways the harness stops with a message for people, each with the exit status it ends in.

A message says what was given, what is allowed and what to do next; the command line prints it
and shows no traceback. What an engine answers is never one of these: refusals and time-outs are
data (see ``harness.record``).
"""

from __future__ import annotations


class HarnessError(Exception):
    """The harness itself or what it needs broke; nothing is known about the engines."""

    exit_status = 3


class UsageProblem(HarnessError):
    """A command line, profile or setting that cannot be meant."""

    exit_status = 2


class ScenarioProblem(UsageProblem):
    """A scenario or baseline file is wrong: ``file:line: what is wrong; what is allowed``."""


class EnvironmentProblem(HarnessError):
    """This machine lacks something: a download, a checksum that fits, memory, a port, a program."""
