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


def page(conformances: Sequence[Conformance], command: str, left: int = 0) -> str:
    """Return the page that a command made, while so many readers are left to be checked."""
    more = f" Not checked yet: {left} more." if left else ""
    checks = [
        (conformance.reader, *(SIGNS[result.outcome] for result in conformance.results.values()))
        for conformance in conformances
    ]
    lines = [
        *(
            "# Conformance of engines",
            "",
            f"{answer(conformances)}{more} Made with `{command}`.",
            "",
        ),
        *_table(("reader", *ASSERTS), checks),
        *("", "yes: passed; **no**: failed; n/a: not applicable; ?: unknown.", ""),
        *_table(("check", "what it asserts"), ASSERTS.items()),
    ]
    if noted := [line for conformance in conformances for line in notes(conformance)]:
        lines += ["", *(f"- {_plain(line)}" for line in noted)]
    head = ("reader", "date", "engine", "runtime", "ready after", "peak memory", "what ran")
    lines += ["", *_table(head, map(_facts, conformances))]
    return "\n".join(lines) + "\n"


def answer(conformances: Sequence[Conformance]) -> str:
    bad = [conformance for conformance in conformances if conformance.number(CheckOutcome.FAILED)]
    dark = [conformance for conformance in conformances if conformance.number(CheckOutcome.UNKNOWN)]
    good = sum(conformance not in bad and conformance not in dark for conformance in conformances)
    readers = "reader" if len(conformances) == 1 else "readers"
    parts = [f"{good} of {len(conformances)} {readers} {'conforms' if good == 1 else 'conform'}"]
    parts += [f"failed: {', '.join(conformance.reader for conformance in bad)}"] if bad else []
    parts += [f"unknown: {', '.join(conformance.reader for conformance in dark)}"] if dark else []
    return f"{'; '.join(parts)}."


def notes(conformance: Conformance) -> Iterator[str]:
    """Yield a line for each check that a reader failed, or of which nothing is known."""
    for name, result in conformance.results.items():
        if result.seen and result.outcome in (CheckOutcome.FAILED, CheckOutcome.UNKNOWN):
            yield f"{conformance.reader}, {name}: {result.outcome}: {result.seen}"


def _facts(conformance: Conformance) -> tuple[str, ...]:
    started = (f"{conformance.start_s:.0f} s", f"{conformance.peak_mb} MB")
    engine = f"{conformance.engine} {conformance.version}"
    return (
        conformance.reader,
        conformance.date,
        engine,
        conformance.runtime,
        *(started if conformance.start_s else ("n/a", "n/a")),
        conformance.fidelity,
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(_plain(text).replace('|', chr(92) + '|') for text in row)} |"


def _plain(text: str) -> str:
    return " ".join(text.split())
