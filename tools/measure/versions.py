"""A run as a Markdown table of writers by readers: what each reader makes of each writer's tables.

    python tools/measure/versions.py RUN > docs/results/versions.md
    python tools/measure/versions.py RUN --each

For runs of one story by many versions: a place of the table holds all cells of a writer and a
reader, most of them right first. With `--each`, tables of each scenario, and no list of readers.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.core.parties import Party
from harness.core.records import Verdict, VerdictKind
from harness.plan import controls
from harness.run import load_run
from harness.run.load_run import Run
from tools.markdown_table import table


def main() -> None:
    """Print the tables of a run, one for each format."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("run", type=Path, help="the folder of a judged run")
    options.add_argument("--each", action="store_true", help="tables of each scenario")
    given = options.parse_args()
    run = load_run.load(given.run)
    for line in each_scenario(run) if given.each else page(run):
        print(line)


def page(run: Run) -> Iterator[str]:
    """Yield the lines of all tables, and what the readers are."""
    formats = dict.fromkeys(each.format for each in run.info.variants)
    for name in formats:
        yield from (f"## {name}", "", *of_format(run, name), "")
    yield from (f"- `{each.reader}`: {each.fidelity}" for each in run.info.readers)


def each_scenario(run: Run) -> Iterator[str]:
    """Yield the same tables of each scenario alone."""
    tables = dict.fromkeys((each.scenario, each.format) for each in run.info.variants)
    for scenario, name in sorted(tables):
        if scenario != controls.SCENARIO:
            yield from (f"### {scenario}, {name}", "", *of_format(run, name, scenario), "")


def of_format(run: Run, format_name: str, scenario: str = "") -> Iterator[str]:
    """Yield the table of a format: a row for each reader, a column for each writer.

    Of a scenario alone, where one is named.
    """
    variants = [
        each
        for each in run.info.variants
        if each.scenario != controls.SCENARIO and scenario in {"", each.scenario}
    ]
    of = {each.id: each.writers[0] for each in variants if each.format == format_name}
    writers = list(dict.fromkeys(of.values()))
    readers = [each.reader for each in run.info.readers]
    asked = [each for each in run.verdicts if each.variant in of and each.view != "write"]
    rows = [
        (f"`{reader}`", *(cell(asked, of, writer, reader) for writer in writers))
        for reader in readers
    ]
    undone = (each for each in run.step_verdicts if each.verdict is not VerdictKind.WRONG)
    own = [each for each in undone if each.variant in of]
    refused = (sum(of[each.variant] == writer for each in own) for writer in writers)
    steps = ("steps that the writer did not do", *(str(each or "none") for each in refused))
    return table(("reader", *(f"`{each}`" for each in writers)), (steps, *rows))


def cell(asked: list[Verdict], of: dict[str, str], writer: str, reader: str) -> str:
    """Return what a reader makes of a writer's tables: the kinds of verdicts and of findings."""
    own = [each for each in asked if of[each.variant] == writer and each.reader == reader]
    found = Counter(word(each) for each in own)
    ordered = sorted(found.items(), key=lambda each: (each[0] != "correct", -each[1], each[0]))
    return "<br>".join(f"{what} ({number})" for what, number in ordered) or "not asked"


def word(verdict: Verdict) -> str:
    """Return what a verdict is called; a wrong one by what is found, and if the writer did it."""
    if verdict.verdict is not VerdictKind.WRONG:
        return str(verdict.verdict)
    found = " + ".join(dict.fromkeys(str(each.kind) for each in verdict.findings))
    written = {each.party for each in verdict.findings} == {Party.WRITER}
    return f"**{found}**, written so" if written else f"**{found}**"


if __name__ == "__main__":
    main()
