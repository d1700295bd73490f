"""Lists of pairs of cells for people: one line for the steps after which the same was seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from harness.comparison.cell_pairs import CellPair
from harness.comparison.result import SideComparison
from harness.core.counting import counted
from harness.core.errors import printable
from harness.core.grouping import grouped
from harness.core.records import Verdict, VerdictKind
from harness.reports.sentences import refusal_text, witness_text
from harness.reports.summary import numbers
from harness.reports.upgrade_words import became
from harness.reports.words import FINDINGS, LONGEST, NOT_WORDED, VERDICTS, short, worded
from harness.run.load_run import Run

NOT_ASKED = "not asked"
MOST_TABLES: Final = 500
"""So many tables of a list are told; of a million cells the rest would fill a browser's memory."""


@dataclass(frozen=True, slots=True)
class CellLine:
    """The same change of the same question, after one step or several."""

    steps: str
    asked: str
    """The view, and the query where it is not the whole table."""
    reader: str
    old: str
    new: str
    said: str
    """What was seen first."""


@dataclass(frozen=True, slots=True)
class VariantCells:
    """The lines of one table."""

    variant: str
    lines: tuple[CellLine, ...]


def lists(pairs: Iterable[CellPair], found: SideComparison) -> tuple[VariantCells, ...]:
    """Return all pairs, table by table."""
    of = grouped((each.either.variant, each) for each in pairs)
    some = islice(of.items(), MOST_TABLES)
    told = [VariantCells(name, tuple(_lines(each, found))) for name, each in some]
    if (more := len(of) - MOST_TABLES) > 0:
        told.append(VariantCells(f"and {counted(more, 'more table')}: harness explain CASE", ()))
    return tuple(told)


def _lines(pairs: Iterable[CellPair], found: SideComparison) -> Iterator[CellLine]:
    alike = grouped((_key(each), each) for each in pairs)
    for (asked, reader, old, new), of in alike.items():
        steps = sorted({each.either.step for each in of})
        said = worded(of[0].either.case, partial(_said, of, found), NOT_WORDED)
        yield CellLine(numbers(steps), asked, reader, old, new, said)


def _key(pair: CellPair) -> tuple[str, str, str, str]:
    either = pair.either
    if pair.is_step:
        return "the step itself", "", _word(pair.old), _word(pair.new)
    query = "" if either.query == "all" else f" {either.query}"
    asked = f"{either.view.replace('_', '-')}{query}"
    old, new = (each.reader if each else "" for each in (pair.old, pair.new))
    reader = became(old, new) if old and new else old or new
    return asked, reader, _word(pair.old), _word(pair.new)


def _word(verdict: Verdict | None) -> str:
    """Return a verdict in a word or two."""
    if verdict is None:
        return NOT_ASKED
    if verdict.verdict is VerdictKind.WRONG:
        kinds = dict.fromkeys(FINDINGS[each.kind].label for each in verdict.findings)
        return ", ".join(kinds)
    return VERDICTS[verdict.verdict].label


def _said(pairs: Sequence[CellPair], found: SideComparison) -> str:
    pair = pairs[0]
    sides = [(each, of) for each, of in ((pair.new, found.new), (pair.old, found.old)) if each]
    silent = [(v, of) for v, of in sides if v.verdict is VerdictKind.UNKNOWN]
    if silent:
        verdict, side = silent[0]
        return printable(f"{side.name}: {short(verdict.because)}")
    told = filter(None, (_seen(verdict, side.run) for verdict, side in sides))
    return printable(next(told, ""))


def _seen(verdict: Verdict, run: Run) -> str:
    """Return the first wrong place, or the error."""
    if verdict.findings:
        first = verdict.findings[0]
        return witness_text(first.kind, first.witness)
    answer = run.answers.get(verdict.case)
    refusal = refusal_text(answer.refusal, LONGEST) if answer and answer.refusal else ""
    return refusal or short(verdict.because)
