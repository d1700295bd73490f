"""The results of a run as a whole: totals, steps, tolerances, axis pairs, who agrees. Pure."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.core import tolerances
from harness.core.grouping import grouped
from harness.core.records import (
    WRITERS,
    Answer,
    FindingKind,
    OutcomeKind,
    QuestionKey,
    Verdict,
    VerdictKind,
)
from harness.core.texts import counted, first_of
from harness.core.tolerances import LOWER, Declaration
from harness.model.canonical import text_of, to_json
from harness.reports.document import Block, Line, ReportTable, section, table
from harness.reports.findings import findings_text
from harness.reports.words import DEFAULT, VERDICTS, refusal_text
from harness.run import run_judge
from harness.run.causes import ORDER
from harness.run.load_run import NotableStep, Run
from harness.scenario.cells import Excluded, Pairs, Partly


@dataclass(frozen=True, slots=True)
class ToleranceCount:
    product: str
    name: str
    count: int
    cells: int
    declared: Declaration | None
    """None when it was declared where this was judged and is not any more."""

    @property
    def text(self) -> str:
        what = self.declared.what if self.declared else f"was normalised by '{self.name}'"
        return f"{self.product} {what} ({self.amount})"

    @property
    def amount(self) -> str:
        return counted(self.count, self.declared.of.removesuffix("s") if self.declared else "place")


def tolerance_counts(verdicts: Iterable[Verdict]) -> tuple[ToleranceCount, ...]:
    counts: Counter[tuple[str, str]] = Counter()
    cells: Counter[tuple[str, str]] = Counter()
    for verdict in verdicts:
        product = tolerances.product(verdict.reader)
        for tolerance in verdict.normalised:
            counts[product, tolerance.name] += tolerance.count
            cells[product, tolerance.name] += 1
    return tuple(
        ToleranceCount(
            product, name, count, cells[product, name], tolerances.declared_for(product).get(name)
        )
        for (product, name), count in sorted(counts.items())
    )


def covered_pairs(pairs: Sequence[Pairs]) -> str:
    """Return what is covered, over all scenarios; empty where all combinations are variants."""
    if not pairs:
        return ""
    variants, all_of_them = sum(p.variants for p in pairs), sum(p.combinations for p in pairs)
    covered, cannot = sum(p.covered for p in pairs), sum(len(p.cannot) for p in pairs)
    lacking = f"; {cannot:,} more are impossible" if cannot else "; there are no others"
    return (
        f"{variants:,} of {all_of_them:,} possible variants cover all {covered:,} possible pairs "
        f"of axis values in {counted(len(pairs), 'scenario')}{lacking}"
    )


PARTLY: Final = (
    "Readers that are asked about every axis value of a scenario, but not about every pair of them"
)


def partly_asked(readers: Sequence[Partly]) -> tuple[str, ...]:
    return tuple(
        f"{partly.reader}: {partly.variants:,} of {counted(partly.of, 'variant')} "
        f"that it can read, {counted(partly.cells, 'check')}"
        for partly in readers
    )


def impossible_pairs(pairs: Sequence[Pairs]) -> tuple[tuple[Excluded, tuple[str, ...]], ...]:
    """Return each pair that cannot be, with the scenarios in which it cannot."""
    excluded = grouped(
        (pair, of_scenario.scenario) for of_scenario in pairs for pair in of_scenario.cannot
    )
    return tuple((pair, tuple(scenarios)) for pair, scenarios in excluded.items())


SHORTEST: Final = 2

WRONG_STEPS: Final = "Steps after which what the table says of itself is wrong"


def totals(run: Run) -> Mapping[VerdictKind, int]:
    counts = Counter(verdict.verdict for verdict in run.verdicts)
    return {kind: counts[kind] for kind in ORDER}


def readers(run: Run) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys([*run.info.readers_by_name, *(verdict.reader for verdict in run.verdicts)])
    )


@dataclass(frozen=True, slots=True)
class Score:
    reader: str
    by_default: bool
    """Whether nobody chose a setting otherwise than the engine has it by itself."""
    ours: str
    """What the harness sets otherwise all the same; empty where it sets nothing."""
    counts: Mapping[VerdictKind, int]


def scoreboard(run: Run) -> tuple[Score, ...]:
    counts = Counter((verdict.reader, verdict.verdict) for verdict in run.verdicts)
    scores = [
        Score(
            reader,
            run.info.reader(reader).by_default,
            _ours(run, reader),
            {kind: counts[reader, kind] for kind in VERDICTS},
        )
        for reader in readers(run)
    ]
    return tuple(sorted(scores, key=lambda score: not score.by_default))


def _ours(run: Run, reader: str) -> str:
    unlike = run.info.reader(reader).unlike or ()
    return ", ".join(f"{unlike_.setting}={unlike_.has}" for unlike_ in unlike if not unlike_.named)


def failed_steps(run: Run) -> Iterator[tuple[str, str]]:
    for step in run.failed_steps:
        outcome = step.outcome
        why = outcome.because or str(outcome.kind)
        if outcome.kind is OutcomeKind.REFUSED and outcome.refusal:
            why = f"refused by the writer: {refusal_text(outcome.refusal)}"
        yield _named(step), why


def half_done_steps(run: Run) -> Iterator[tuple[str, str]]:
    for step in run.half_done_steps:
        if step.outcome.refusal:
            yield _named(step), refusal_text(step.outcome.refusal)


def wrong_steps(run: Run) -> Iterator[tuple[str, str]]:
    for verdict in run.step_verdicts:
        if verdict.findings:
            step = run.info.step(verdict.variant, verdict.step)
            yield f"{verdict.variant}, step {step.number} '{step.text}'", findings_text(verdict)


def _named(step: NotableStep) -> str:
    return f"{step.variant}, step {step.step.number} '{step.step.text}'"


def explained(run: Run) -> str:
    wrong = [verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG]
    claimed = sum(bool(verdict.claimed) for verdict in wrong)
    counts = Counter(min(len(verdict.reproduces), 2) for verdict in wrong)
    small = counts[1] - claimed
    unproven = f"one fits {small:,} so small (a count, or no rows) that it proves nothing"
    parts = (
        f"exactly one read strategy explains {claimed:,}, and is named",
        f"several explain {counts[2]:,}, so none is claimed",
        *([unproven] if small else ()),
        f"none of those tried explains {counts[0]:,}",
    )
    return f"Of {counted(len(wrong), 'wrong answer')}, {'; '.join(parts)}." if wrong else ""


def numbers(steps: Sequence[int]) -> str:
    """Name steps, neighbours as a range.

    >>> numbers([1, 2, 4, 5, 6])
    'steps 1, 2, 4-6'
    """
    runs: list[list[int]] = []
    for step in steps:
        if runs and runs[-1][-1] == step - 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    names = (
        f"{run[0]}-{run[-1]}" if len(run) > SHORTEST else ", ".join(map(str, run)) for run in runs
    )
    return f"step{'s' if len(steps) > 1 else ''} {', '.join(names)}"


AT_ONCE: Final = 3
EVERYTHING: Final = 1 << 30


def scores(some_scores: Sequence[Score], none: str) -> ReportTable:
    def count(kind: VerdictKind, number: int) -> Line:
        return Line(f"{number:,}", tone=kind) if number else Line(none)

    kinds = [word.label for word in VERDICTS.values()]
    rows = [
        (
            score.reader,
            DEFAULT if score.by_default else "",
            *(count(kind, number) for kind, number in score.counts.items()),
        )
        for score in some_scores
    ]
    return table(("reader", DEFAULT, *kinds), rows, numbers=kinds)


def steps(run: Run, most: int = EVERYTHING) -> Iterator[Block]:
    for title, reasons, tone in (
        (WRONG_STEPS, wrong_steps(run), VerdictKind.WRONG),
        (
            "Steps that are half-done: committed, then the writer failed",
            half_done_steps(run),
            VerdictKind.REFUSED,
        ),
        ("Steps that were not applied", failed_steps(run), VerdictKind.UNKNOWN),
    ):
        yield from section(title, [f"{step}: {why}" for step, why in reasons], tone, most)


def coverage(run: Run) -> Iterator[Block]:
    excluded = grouped((excluded.why, excluded.what) for excluded in run.info.excluded)
    lines = (f"{first_of(names, AT_ONCE, '; ')}: {why}" for why, names in excluded.items())
    yield from section("Left out of the plan", lines, most=EVERYTHING)
    covered = covered_pairs(run.info.pairs)
    impossible = [
        f"not covered in {counted(len(scenarios), 'scenario')}: {pair.what}: {pair.why}"
        for pair, scenarios in impossible_pairs(run.info.pairs)
    ]
    asked = partly_asked(run.info.partly)
    sentences = [f"{covered}."] if covered else []
    sentences += impossible + ([f"{PARTLY}:", *asked] if asked else [])
    yield from section("Pairs of axis values", sentences, most=EVERYTHING)


def total_lines(run: Run) -> Iterator[Line]:
    for alarm in alarms(run):
        yield Line(f"ALARM: {alarm.text}", tone=VerdictKind.UNKNOWN)
    known = sum(bool(verdict.known) for verdict in run.verdicts)
    counts = [f"{number:,} {kind}" for kind, number in totals(run).items() if number]
    line = f"{counted(len(run.verdicts), 'check')}: {', '.join(counts) or 'none planned'}"
    yield Line(strong=line + (f"; {known:,} of them known" if known else ""))
    if text := explained(run):
        yield Line(text)
    if met := tolerance_counts(run.verdicts):
        yield Line(f"Normalised, as declared: {'; '.join(tolerance.text for tolerance in met)}.")
    if again := len(run_judge.late(run)):
        text = f"Flaky: {counted(again, 'answer')} came only on a second try."
        yield Line(text, tone=VerdictKind.UNKNOWN)
    if reused := sum(verdict.reused for verdict in run.verdicts):
        text = f"{counted(reused, 'answer')} reused from an identical table state"
        yield Line(f"{text} (--fresh asks again).")


MIN_ALARM = 2


@dataclass(frozen=True, slots=True)
class Agreement:
    kind: VerdictKind
    readers: tuple[str, ...]

    @property
    def with_truth(self) -> bool:
        return self.kind is VerdictKind.CORRECT


def agreements(run: Run, verdicts: Iterable[Verdict]) -> tuple[Agreement, ...]:
    """Group the readers of one question by equal answers; who agrees with the truth comes first."""
    groups = grouped(
        (_fingerprint(verdict, run.answers.get(verdict.case)), verdict) for verdict in verdicts
    )
    agreeing = [
        Agreement(same[0].verdict, tuple(verdict.reader for verdict in same))
        for same in groups.values()
    ]
    return tuple(sorted(agreeing, key=lambda a: (not a.with_truth, -len(a.readers))))


@dataclass(frozen=True, slots=True)
class Alarm:
    """Questions to which all readers give the same answer, which is not the expected one."""

    questions: tuple[QuestionKey, ...]
    readers: tuple[str, ...]
    strategy: str
    """The one read strategy that gives what all of them answered, if there is one."""

    @property
    def text(self) -> str:
        more = len(self.questions) - 1
        where = self.question_names[0] + (f" and {counted(more, 'question')} more" if more else "")
        who = ", ".join(self.readers)
        same = f"{who} give the same answer, which is not the expected one ({where})"
        if not self.strategy:
            return f"{same}. Check the reference model before you blame them."
        return (
            f"{same}: it is what reading {self.strategy} gives. Either no reader was asked that "
            "reads differently, or the reference model needs a check before they are blamed."
        )

    @property
    def question_names(self) -> tuple[str, ...]:
        return tuple(
            f"{variant}, step {step}, {view}, {query}"
            for variant, step, view, query in self.questions
        )


def alarms(run: Run) -> tuple[Alarm, ...]:
    """Return questions to which all readers give one wrong answer, grouped.

    Then the truth may be wrong, unless everything wrong is the writer's doing.
    """
    alarming: dict[tuple[tuple[str, ...], str], list[QuestionKey]] = {}
    for key, verdicts in run.by_question.items():
        if any(verdict.verdict in {VerdictKind.CORRECT, VerdictKind.OPEN} for verdict in verdicts):
            continue  # some reader agrees with the truth, or a line of data says what it means
        answers = [(verdict, run.answers.get(verdict.case)) for verdict in verdicts]
        answered = [verdict for verdict, answer in answers if answer and answer.has_table]
        groups = agreements(run, answered)
        voices = {run.info.reader(verdict.reader).distribution for verdict in answered}
        unanimous = len(groups) == 1 and not groups[0].with_truth and len(voices) >= MIN_ALARM
        responsible = {finding.responsible for v in answered for finding in v.findings}
        if unanimous and not (responsible and responsible <= WRITERS):
            strategies = {verdict.claimed for verdict in answered}
            same = groups[0].readers, strategies.pop() if len(strategies) == 1 else ""
            alarming.setdefault(same, []).append(key)
    return tuple(Alarm(tuple(keys), *same) for same, keys in alarming.items())


def _fingerprint(verdict: Verdict, answer: Answer | None) -> str:
    """Return a text that is the same for equal answers; nothing is equal to no answer at all."""
    if verdict.verdict is VerdictKind.CORRECT:
        return "the truth"
    if answer is None or answer.unknown or answer.not_applicable:
        return f"no answer: {verdict.because}"
    if answer.refusal is not None:
        return f"refused: {answer.refusal.kind}: {verdict.because}"
    names = _names(verdict, answer)
    order = sorted(range(len(names)), key=names.__getitem__)
    rows = sorted(json.dumps([to_json(row[at]) for at in order]) for row in answer.rows)
    return json.dumps([sorted(names), rows, _other_types(verdict)])


def _names(verdict: Verdict, answer: Answer) -> Sequence[str]:
    """Return what columns are called, whatever label or case an engine gives the name asked for."""
    if verdict.expected is None or all(tolerance.name != LOWER for tolerance in verdict.normalised):
        return answer.labels
    lowered = {name.lower(): name for name, _ in verdict.expected.columns}
    return [lowered.get(name, name) for name in answer.labels]


def _other_types(verdict: Verdict) -> Sequence[tuple[str, str]]:
    """Return the columns whose declared type is judged to be another one; engines' words differ."""
    drifts = (finding for finding in verdict.findings if finding.kind is FindingKind.TYPE_DRIFT)
    heads = (witness for drift in drifts for witness in drift.witnesses if not witness.key)
    return sorted((witness.column, text_of(witness.actual)) for witness in heads)
