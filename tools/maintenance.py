"""Which maintenance changes an answer: every step of runs that may change none.

    python -m tools.maintenance RUN… > docs/results/maintenance.md

An answer is held against that of the same reader to the same question before the maintenance.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from harness.comparison.history import DATABASE
from harness.core.grouping import grouped
from harness.core.records import Answer, OutcomeKind, Verdict, VerdictKind
from harness.reports.findings import finding_text
from harness.reports.words import VERDICTS
from harness.run import load_run
from harness.run.load_run import Run, findings_text
from harness.scenario.cells import parse_reader
from harness.scenario.definition import VIEWS
from harness.scenario.operations.services import MAINTENANCE_STEPS
from tools.shared import table


class Asked(NamedTuple):
    """What a reader was asked before a maintenance and after it, or a maintenance refused."""

    format: str
    operation: str
    scenario: str
    reader: str
    """Empty for the writer."""
    turn: str
    """What became of the answer; empty where it stayed."""
    kind: str = ""
    """What is or was wrong with it."""
    why: str = ""


def asked(run: Run) -> Iterator[Asked]:
    """Yield what was asked on both sides of a maintenance, and the maintenance that was refused."""
    steps = {
        (variant.id, step.number): (variant.format, step.operation, variant.scenario)
        for variant in run.info.variants
        for step in variant.steps
        if step.operation in MAINTENANCE_STEPS
    }
    for at in steps.keys() & run.by_step.keys():
        if error := run.by_step[at].outcome.refusal:
            yield Asked(
                *steps[at], "", VERDICTS[VerdictKind.REFUSED].symbol, error.kind, error.message
            )
    # Of merge-on-read tables the other views may show more after a compaction.
    questions = grouped(
        ((v.variant, v.reader, v.query), v)
        for v in run.verdicts
        if v.view == VIEWS[0] and v.verdict is not VerdictKind.UNKNOWN
    )
    for (variant, reader, _), verdicts in questions.items():
        for before, after in pairwise(sorted(verdicts, key=lambda verdict: verdict.step)):
            at, asker = (variant, after.step), parse_reader(reader).distribution
            if at in steps and after.step == before.step + 1:
                outcome = run.by_step[at].outcome
                if outcome.kind is OutcomeKind.APPLIED and outcome.statements:
                    yield Asked(*steps[at], asker, *_change(run, before, after))


def _change(run: Run, before: Verdict, after: Verdict) -> tuple[str, ...]:
    """Return what became of an answer, and what was wrong with it; of one that stayed, nothing.

    Two that are right are the same, however their rows are sorted.
    """
    right, kinds = VerdictKind.CORRECT, (before.verdict, after.verdict)
    contents = {_content(run.answers[verdict.case]) for verdict in (before, after)}
    if kinds == (right, right) or len(contents) == 1:
        return ("",)
    bad = before if after.verdict is right else after
    turn, refusal = " → ".join(VERDICTS[k].symbol for k in kinds), run.answers[bad.case].refusal
    if refusal:
        return turn, refusal.kind, refusal.message
    return turn, findings_text(bad) or bad.because, "; ".join(map(finding_text, bad.findings))


def _content(answer: Answer) -> object:
    if answer.refusal:
        return answer.refusal.kind
    return answer.columns, tuple(sorted(map(repr, answer.rows)))


def page(runs: Iterable[Run]) -> Iterator[str]:
    every = sorted(one for run in runs for one in asked(run))
    answers = [one for one in every if one.reader]
    turns = Counter(one.turn for one in answers if one.turn).most_common()
    yield f"- Pairs of a maintenance and what was there before: {len({a[:3] for a in answers})}."
    yield f"- Readers: {', '.join(sorted({f'`{one.reader}`' for one in answers}))}."
    yield f"- Answers held against those of before: {len(answers):,}."
    yield f"- Changed: {', '.join(f'{number} {turn}' for turn, number in turns) or 'none'}."
    for format_, of in grouped((one.format, one) for one in every).items():
        turned = grouped(((one.scenario, one.operation), one.turn) for one in of)
        names = [name for name in MAINTENANCE_STEPS if any(one.operation == name for one in of)]
        rows = (
            (scenario, *(_cell(turned.get((scenario, name), ())) for name in names))
            for scenario in sorted({one.scenario for one in of})
        )
        yield from ("", f"## {format_}", "")
        yield from (*table(("before", *(f"`{name}`" for name in names)), rows), "")
        changes = grouped((one[1:2] + one[3:6], one) for one in of if one.turn)
        for (name, reader, turn, kind), some in changes.items():
            before = ", ".join(dict.fromkeys(f"`{one.scenario}`" for one in some))
            why = DATABASE.sub("db", some[0].why.replace("\n", " "))[:300]
            yield f"- `{name}`, {reader or 'the writer'}, {turn} after {before}: {kind}: {why}"


def _cell(turns: Iterable[str]) -> str:
    changes = ", ".join(f"{turn} {n}" for turn, n in Counter(turns).items() if turn)
    return changes or (VERDICTS[VerdictKind.CORRECT].symbol if turns else "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    print("\n".join(page(map(load_run.load, parser.parse_args().runs))))
