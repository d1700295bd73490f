"""The legend of the terminal report: who was asked, and what its short words mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import Console

from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.model import past_views
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.reports import summary
from harness.reports.findings import FINDINGS
from harness.reports.lines import item, say
from harness.reports.sentences import metastore_lines
from harness.reports.words import VERDICTS
from harness.reports.words import VIEWS as MEANINGS
from harness.run.load_run import Run

READER: Final = 9
"""Columns of the short names."""
LABEL: Final = READER - len(" 1")
VIEWS: Final[Mapping[str, str]] = {
    "read_optimized": "read-opt.",
    "base_name": "base",
    AS_OF: "as of",
    INCREMENTAL: "since",
    TAG: "tag",
    BRANCH: "branch",
}
"""Views whose name is too long for their column."""


def short_names(run: Run) -> Mapping[str, str]:
    """Return each reader a short name: its engine, numbered where there are several of it."""
    readers = summary.readers(run)
    engines = [reader.partition("{")[0].partition("-")[0][:LABEL] for reader in readers]
    return {
        reader: f"{engine} {engines[: at + 1].count(engine)}"
        if engines.count(engine) > 1
        else engine
        for at, (reader, engine) in enumerate(zip(readers, engines, strict=True))
    }


def legend(run: Run, labels: Mapping[str, str], console: Console) -> None:
    """Print the legend; `labels`: the readers' short names."""
    say(console, "\nReaders", "bold")
    for reader, label in labels.items():
        item(console, reader, lead=f"  {label:{READER}}")
    for fidelity, names in _fidelities(run, labels).items():
        item(console, f"{', '.join(names)}: {fidelity}", lead=" -")
    for line in metastore_lines(run.info):
        item(console, line, lead=" -")
    say(console, "Their settings", "bold")
    settings_of = ((summary.settings(run, reader), label) for reader, label in labels.items())
    for settings, names in grouped(settings_of).items():
        item(console, f"{', '.join(names)}: {settings}", lead=" -")
    say(console, "Words", "bold")
    for short, meaning in _words(run):
        item(console, meaning, lead=f"  {short:{READER}}")


def _fidelities(run: Run, labels: Mapping[str, str]) -> Mapping[str, list[str]]:
    """Return what the distributions are, those alike together."""
    fidelities: dict[str, list[str]] = {}
    for reader in labels:
        known = run.readers.get(reader)
        names = fidelities.setdefault(known.fidelity if known else "fidelity not recorded", [])
        names += [name for name in (run.distribution(reader),) if name not in names]
    return fidelities


def _words(run: Run) -> Iterator[tuple[str, str]]:
    shown = {verdict.verdict for verdict in run.verdicts}
    kinds = {finding.kind for verdict in run.verdicts for finding in verdict.findings}
    words = [*(VERDICTS[kind] for kind in VERDICTS if kind in shown - {VerdictKind.WRONG})]
    words += [FINDINGS[kind] for kind in FINDINGS if kind in kinds]
    yield from ((word.short, f"{word.label}: {word.meaning}") for word in words)
    if any(verdict.known for verdict in run.verdicts):
        yield "*", "known: listed in the baseline beside the scenario"
    if any(len(verdict.findings) > 1 for verdict in run.verdicts):
        yield "+", "with more findings than this one"
    for name in dict.fromkeys(past_views.name_of(verdict.view) for verdict in run.verdicts):
        if name in MEANINGS:
            yield VIEWS.get(name, name), f"view: {MEANINGS[name]}"
