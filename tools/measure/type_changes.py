"""Runs of `type_changes` in Markdown: which type becomes which, and who reads it.

    python tools/measure/type_changes.py RUN … > docs/results/type_changes.md

The first table says what writers allowed and refused, beside what the source document says; the
others who read what was allowed, by SQL and by the write client, column by column.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.core.records import OutcomeKind, Part, Verdict, VerdictKind
from harness.run import load_run
from harness.run.load_run import DID_NOT_RUN, WRITE, Run
from tools.markdown_table import table
from tools.measure.matrix import short

FAMILY: Final = "types/from_"
TYPES: Final = ("int", "long", "float", "double", "decimal", "string", "date")
CLAIMED: Final[Mapping[str, tuple[str, ...]]] = {
    "int": ("long", "float", "double", "string", "decimal"),
    "long": ("double", "string", "decimal"),
    "float": ("double", "string", "decimal"),
    "double": ("string", "decimal"),
    "decimal": ("string", "decimal"),
    "string": ("decimal", "date"),
    "date": ("string",),
}
"""What the source document says is allowed (digest A2)."""
PLACES: Final = {"to_": "column", "parts.": "part", "map_": "map value", "list_": "element"}
CHANGE: Final = re.compile(r"change the type of (\S+) to (\w+)")
RIGHT: Final = "right"
MARKS: Final = {RIGHT: "✓", "refused": "!", "unknown": "?"}


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One change of a type in the matrix."""

    source: str
    to: str
    place: str


@dataclass(frozen=True, slots=True)
class Made:
    """A change that a step of a variant made, or tried to make."""

    change: Change
    path: str
    step: int
    applied: bool


Seen = Mapping[Change, Mapping[str, Counter[str]]]
"""What each reader showed of a change, by its name."""


def changes(run: Run, variant: str) -> Iterator[Made]:
    """Yield what became of each change of a variant."""
    source = run.variant(variant).scenario.removeprefix(FAMILY)
    for state in run.states_of(variant):
        found = CHANGE.fullmatch(run.step(variant, state.outcome.step).text.split("(")[0])
        if found and source in TYPES:
            path, to = found.groups()
            place = next(name for start, name in PLACES.items() if path.startswith(start))
            applied = state.outcome.kind is OutcomeKind.APPLIED
            yield Made(Change(source, to, place), path, state.outcome.step, applied)


def allowed(runs: Iterable[Run]) -> Mapping[tuple[str, str], Counter[bool]]:
    """Return how often each type became each other one, and did not, in each table of the runs."""
    found: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    every = ((name, made) for run in runs for name in run.variants for made in changes(run, name))
    for _, made in dict.fromkeys(every):  # several runs may read one table
        found[made.change.source, made.change.to][made.applied] += 1
    return found


def matrix(runs: Iterable[Run]) -> Iterator[str]:
    """Yield the table of what was allowed; bold where the document says otherwise."""
    found = allowed(runs)
    rows = [[source, *(said(found, source, to) for to in TYPES)] for source in TYPES]
    yield from table(["from \\ to", *TYPES], rows)


def said(found: Mapping[tuple[str, str], Counter[bool]], source: str, to: str) -> str:
    """Return what became of a change, bold where it is not what the document says."""
    if (source, to) not in found:
        return "-"
    times = found[source, to]
    if len(times) > 1:
        return f"**allowed ({times[True]}), refused ({times[False]})**"
    word = "allowed" if times[True] else "refused"
    return word if (times[True] > 0) == (to in CLAIMED[source]) else f"**{word}**"


def seen(runs: Iterable[Run], way: str) -> Seen:
    """Return what each reader showed of each change that was made in one way.

    A cell that several runs have counts as the last one has it.
    """
    found: dict[Change, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    every = {v.case: (run, v) for run in runs for v in run.verdicts}
    for run, verdict in every.values():
        for each in _made(run, verdict, way):
            if word := of_column(run, verdict, each.path):
                found[each.change][verdict.reader][word] += 1
    return found


def _made(run: Run, verdict: Verdict, way: str) -> Iterator[Made]:
    """Yield the changes that an answer was asked after; none before the last of them is made."""
    if run.variant(verdict.variant).settings.get("schema_changes") != way or verdict.view == WRITE:
        return
    made = list(changes(run, verdict.variant))
    if verdict.step >= max((each.step for each in made), default=0):
        yield from (each for each in made if each.applied)


def of_column(run: Run, verdict: Verdict, path: str) -> str:
    """Return what an answer shows of one column; empty where it was not asked of the reader."""
    if verdict.verdict is VerdictKind.UNSUPPORTED or verdict.because == DID_NOT_RUN:
        return ""
    if verdict.verdict is VerdictKind.UNKNOWN:
        return "unknown"
    column = path.partition(".")[0] if not path.startswith("parts.") else path
    kinds = {
        f"{each.kind} ({each.party or 'not sure'})"
        for each in verdict.findings
        if any(_about(place.column, column) for place in each.places)
    }
    if kinds:
        return ", ".join(sorted(kinds))
    return _of_part(run, verdict, column.partition(".")[0])


def _about(place: str, column: str) -> bool:
    """Return whether a wrong place is in a column, or is a whole that has the column in it."""
    return (
        place == column
        or place.startswith((f"{column}.", f"{column}["))
        or place == column.partition(".")[0]
    )


def _of_part(run: Run, verdict: Verdict, column: str) -> str:
    if verdict.verdict is not VerdictKind.REFUSED:
        return RIGHT
    parts = run.answers[verdict.case].parts
    asked: Part | None = next((each for each in parts if each.column == column), None)
    if asked is None or asked.refusal is not None:
        return "refused"
    return "unknown" if asked.unknown else RIGHT


def who(found: Seen, names: Mapping[str, str]) -> Iterator[str]:
    """Yield a row for each change and a column for each reader."""
    rows = [
        [f"{at.source} → {at.to}", at.place, *(_told(found[at].get(each)) for each in names)]
        for at in sorted(found, key=lambda c: (TYPES.index(c.source), TYPES.index(c.to), c.place))
    ]
    yield from table(["change", "of a", *names.values()], rows)


def _told(times: Counter[str] | None) -> str:
    if not times:
        return ""
    if set(times) == {RIGHT}:
        return MARKS[RIGHT]
    order = sorted(times, key=lambda word: (word != RIGHT, word))
    return "<br>".join(f"{MARKS.get(each, each)} {times[each]}" for each in order)


def page(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the tables with their heads."""
    asked = {e.reader for run in runs for e in run.verdicts if e.because != DID_NOT_RUN}
    every = dict.fromkeys(each.reader for run in runs for each in run.info.readers)
    names = short(tuple(each for each in every if each in asked))
    yield from ("## What is allowed", "", *matrix(runs), "")
    for way, head in (("sql", "By SQL"), ("write_client", "By the write client")):
        yield from (f"## {head}: who reads it", "", *who(seen(runs, way), names), "")
    rows = [[name, f"`{reader}`"] for reader, name in names.items()]
    yield from ("## Readers", "", *table(["", "reader"], rows))


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a judged run")
    runs = [load_run.load(each.resolve()) for each in parser.parse_args().runs]
    print("\n".join(page(runs)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
