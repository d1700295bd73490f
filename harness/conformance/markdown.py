"""The results of readers as a page in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from harness.conformance.kit import ASSERTS
from harness.conformance.results import CheckOutcome, Conformance

SIGNS: Final = {
    CheckOutcome.PASSED: "yes",
    CheckOutcome.FAILED: "**no**",
    CheckOutcome.NOT_APPLICABLE: "n/a",
    CheckOutcome.UNKNOWN: "?",
}


def page(found: Sequence[Conformance], command: str, left: int = 0) -> str:
    """Return the page: the answer, each check of each reader, and what they ran on.

    Args:
        found: the readers that were checked.
        command: what made it.
        left: so many more readers are still to be checked.

    """
    more = f" Not checked yet: {left} more." if left else ""
    lines = [
        *("# Conformance of engines", "", f"{answer(found)}{more} Made with `{command}`.", ""),
        *_table(("reader", *ASSERTS), (_checks(conformance) for conformance in found)),
        *("", "yes: passed; **no**: failed; n/a: not applicable; ?: unknown.", ""),
        *_table(("check", "what it asserts"), ASSERTS.items()),
    ]
    if noted := [line for conformance in found for line in notes(conformance)]:
        lines += ["", *(f"- {_plain(line)}" for line in noted)]
    head = ("reader", "date", "engine", "runtime", "ready after", "peak memory", "what ran")
    lines += ["", *_table(head, map(_facts, found))]
    return "\n".join(lines) + "\n"


def answer(found: Sequence[Conformance]) -> str:
    """Return the answer in a sentence."""
    bad = [conformance for conformance in found if conformance.number(CheckOutcome.FAILED)]
    dark = [conformance for conformance in found if conformance.number(CheckOutcome.UNKNOWN)]
    good = sum(conformance not in bad and conformance not in dark for conformance in found)
    readers = "reader" if len(found) == 1 else "readers"
    said = [f"{good} of {len(found)} {readers} {'conforms' if good == 1 else 'conform'}"]
    said += [f"failed: {', '.join(conformance.reader for conformance in bad)}"] if bad else []
    said += [f"unknown: {', '.join(conformance.reader for conformance in dark)}"] if dark else []
    return f"{'; '.join(said)}."


def notes(each: Conformance) -> Iterator[str]:
    """Yield a line for each check that a reader failed, or of which nothing is known."""
    for name, result in each.results.items():
        if result.seen and result.outcome in (CheckOutcome.FAILED, CheckOutcome.UNKNOWN):
            yield f"{each.reader}, {name}: {result.outcome}: {result.seen}"


def _checks(each: Conformance) -> tuple[str, ...]:
    return (each.reader, *(SIGNS[result.outcome] for result in each.results.values()))


def _facts(each: Conformance) -> tuple[str, ...]:
    started = (f"{each.start_s:.0f} s", f"{each.peak_mb} MB") if each.start_s else ("n/a", "n/a")
    engine = f"{each.engine} {each.version}"
    return (each.reader, each.date, engine, each.runtime, *started, each.fidelity)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(_plain(text).replace('|', chr(92) + '|') for text in row)} |"


def _plain(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())
