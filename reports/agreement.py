"""Which readers gave the same answer to a question."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import WRITERS, Answer, FindingKind, QuestionKey, Verdict, VerdictKind
from harness.core.tolerances import LOWER
from harness.model.canonical import text_of, to_json
from harness.run.load_run import Run

MIN_ALARM = 2


@dataclass(frozen=True, slots=True)
class Agreement:
    with_truth: bool
    kind: VerdictKind
    readers: tuple[str, ...]


def agreements(run: Run, verdicts: Iterable[Verdict]) -> tuple[Agreement, ...]:
    """Group the readers of one question by equal answers; who agrees with the truth comes first."""
    groups = grouped(
        [(_fingerprint(verdict, run.answers.get(verdict.case)), verdict) for verdict in verdicts]
    )
    groups_ = [
        Agreement(
            with_truth=same[0].verdict is VerdictKind.CORRECT,
            kind=same[0].verdict,
            readers=tuple(verdict.reader for verdict in same),
        )
        for same in groups.values()
    ]
    return tuple(sorted(groups_, key=lambda a: (not a.with_truth, -len(a.readers))))


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
