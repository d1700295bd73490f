"""Steps that were done and yet answered with an error: half-done, in the words of all reports."""

from __future__ import annotations

from harness.core.records import HALF_DONE, Outcome, OutcomeKind


def half_done(outcome: Outcome) -> bool:
    return outcome.kind is OutcomeKind.APPLIED and outcome.refusal is not None


def failed(outcome: Outcome) -> bool:
    """Return whether there is anything to say of a step: it is half-done, or was not applied."""
    return outcome.kind is not OutcomeKind.APPLIED or half_done(outcome)


def word(outcome: Outcome) -> str:
    """Return what became of a step.

    >>> from harness.core.records import Refusal
    >>> word(Outcome(1, OutcomeKind.APPLIED)), word(Outcome(2, OutcomeKind.APPLIED, refusal=Refusal("X", "no")))
    ('applied', 'committed, then failed')
    """  # noqa: E501 - one expression
    return HALF_DONE if half_done(outcome) else str(outcome.kind)


def error_name(outcome: Outcome) -> str:
    """Return the name of a step's error as baselines know it; empty where there was none.

    >>> from harness.core.records import Refusal
    >>> error_name(Outcome(2, OutcomeKind.APPLIED, refusal=Refusal("SyncException", "no")))
    'committed, then SyncException'
    """
    if outcome.refusal is None:
        return ""
    return f"committed, then {outcome.refusal.kind}" if half_done(outcome) else outcome.refusal.kind
