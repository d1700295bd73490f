"""Which maintenance changes an answer: every step of runs that may change none.

    python -m tools.maintenance RUN… > docs/results/maintenance.md

An answer is held against that of the same reader to the same question before the maintenance.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from harness.comparison.history import DATABASE
from harness.core.grouping import grouped
from harness.core.records import Answer, OutcomeKind, Refusal, Verdict, VerdictKind
from harness.reports.findings import finding_text
from harness.reports.words import VERDICTS
from harness.run import load_run
from harness.run.load_run import Run, findings_text
from harness.scenario.cells import parse_reader
from harness.scenario.definition import VIEWS
from harness.scenario.operations.services import MAINTENANCE_STEPS
from tools.shared import table

REFUSED: Final = VERDICTS[VerdictKind.REFUSED].symbol
STAYED: Final = VERDICTS[VerdictKind.CORRECT].symbol
LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader was asked before a maintenance and after it, or a maintenance refused."""

    format: str
    operation: str
    scenario: str
    reader: str
    """Empty for the writer."""
    turn: str = ""
    """What became of the answer; empty where it stayed."""
    kind: str = ""
    """What is or was wrong with it."""
    why: str = ""


def asked(run: Run) -> Iterator[Asked]:
    """Yield what was asked on both sides of a maintenance, and the maintenance that was refused."""
    for failed in run.failed_steps:
        operation, refusal = failed.step.operation, failed.outcome.refusal
        if operation in MAINTENANCE_STEPS and refusal:
            info = run.info.variant(failed.variant)
            told = REFUSED, *_error(refusal)
            yield Asked(info.format, operation, info.scenario, "", *told)
    # Of merge-on-read tables the other views may show more after a compaction.
    of_now = (verdict for verdict in run.verdicts if verdict.view == VIEWS[0])
    questions = grouped(((v.variant, v.reader, v.query), v) for v in of_now)
    for (name, reader, *_), verdicts in questions.items():
        info = run.info.variant(name)
        known = [v for v in verdicts if v.verdict is not VerdictKind.UNKNOWN]
        for before, after in pairwise(sorted(known, key=lambda verdict: verdict.step)):
            operation = info.step(after.step).operation
            outcome = run.by_step[name, after.step].outcome
            done = outcome.kind is OutcomeKind.APPLIED and outcome.statements
            if operation in MAINTENANCE_STEPS and done and after.step == before.step + 1:
                asker = parse_reader(reader).distribution
                change = _change(run, before, after)
                yield Asked(info.format, operation, info.scenario, asker, *change)


def _change(run: Run, before: Verdict, after: Verdict) -> tuple[str, str, str]:
    """Return what became of an answer, and what was wrong with it; nothing where it stayed.

    Two that are right are the same, however their rows are sorted.
    """
    right, kinds = VerdictKind.CORRECT, (before.verdict, after.verdict)
    contents = {_content(run.answers[verdict.case]) for verdict in (before, after)}
    if kinds == (right, right) or len(contents) == 1:
        return "", "", ""
    bad = before if after.verdict is right else after
    turn, refusal = (
        " → ".join(VERDICTS[kind].symbol for kind in kinds),
        run.answers[bad.case].refusal,
    )
    if refusal:
        return turn, *_error(refusal)
    return turn, findings_text(bad) or bad.because, "; ".join(map(finding_text, bad.findings))


def _content(answer: Answer) -> object:
    if answer.refusal:
        return answer.refusal.kind
    return answer.columns, tuple(sorted(map(repr, answer.rows)))


def _error(refusal: Refusal) -> tuple[str, str]:
    return refusal.kind.rpartition(".")[2], DATABASE.sub("db", refusal.message)


def page(runs: Iterable[Run]) -> Iterator[str]:
    every = [one for run in runs for one in asked(run)]
    answers = [one for one in every if one.reader]
    pairs = {(one.format, one.operation, one.scenario) for one in answers}
    turns = Counter(one.turn for one in answers if one.turn)
    yield f"- Pairs of a maintenance and what was there before: {len(pairs)}."
    yield f"- Readers: {', '.join(sorted({f'`{one.reader}`' for one in answers}))}."
    yield f"- Answers held against those of before: {len(answers):,}."
    yield f"- Changed: {', '.join(f'{n} {turn}' for turn, n in turns.most_common()) or 'none'}."
    for format_, of in sorted(grouped((one.format, one) for one in every).items()):
        yield from ("", f"## {format_}", "", *_of_format(of))


def _of_format(every: Sequence[Asked]) -> Iterator[str]:
    by_pair = grouped(((one.scenario, one.operation), one.turn) for one in every)
    names = [name for name in MAINTENANCE_STEPS if any(one.operation == name for one in every)]
    scenarios = sorted({one.scenario for one in every})
    rows = ((name, *(_cell(by_pair.get((name, op), ())) for op in names)) for name in scenarios)
    yield from (*table(("before", *(f"`{name}`" for name in names)), rows), "")
    changed = [one for one in every if one.turn]
    for (name, turn), of in sorted(grouped(((a.operation, a.turn), a) for a in changed).items()):
        yield f"- `{name}`, {turn}"
        for (reader, kind), alike in grouped(((a.reader, a.kind), a) for a in of).items():
            before = ", ".join(dict.fromkeys(f"`{one.scenario}`" for one in alike))
            why = alike[0].why.replace("\n", " ")[:LONGEST]
            yield f"  - {reader or 'the writer'} after {before} ({len(alike)}), {kind}: {why}"


def _cell(turns: Iterable[str]) -> str:
    counts = Counter(turns)
    told = ", ".join(f"{turn} {number}" for turn, number in counts.items() if turn)
    return told or (STAYED if counts else "")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    print("\n".join(page(map(load_run.load, parser.parse_args().runs))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
