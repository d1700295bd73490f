"""Which readers gave the same answer to a question."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import (
    Answer,
    FindingKind,
    QuestionKey,
    Verdict,
    VerdictKind,
)
from harness.core.responsible import WRITERS
from harness.core.tolerances import LOWER
from harness.model.canonical import text_of, to_json
from harness.run.load_run import Run

MIN_ALARM = 2
"""So many distributions must agree before the truth is doubted."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Readers that gave the same answer to a question."""

    with_truth: bool
    kind: VerdictKind
    readers: tuple[str, ...]


def questions(run: Run) -> Mapping[QuestionKey, Sequence[Verdict]]:
    """Return the verdicts of each question, one for each reader asked."""
    return grouped((each.question, each) for each in run.verdicts)


def agreements(run: Run, verdicts: Iterable[Verdict]) -> tuple[Agreement, ...]:
    """Group the readers of one question by equal answers; who agrees with the truth comes first."""
    groups = grouped((_fingerprint(each, run.answers.get(each.case)), each) for each in verdicts)
    found = [
        Agreement(
            with_truth=same[0].verdict is VerdictKind.CORRECT,
            kind=same[0].verdict,
            readers=tuple(each.reader for each in same),
        )
        for same in groups.values()
    ]
    return tuple(sorted(found, key=lambda each: (not each.with_truth, -len(each.readers))))


@dataclass(frozen=True, slots=True)
class Alarm:
    """Questions to which all readers give the same answer, which is not the expected one."""

    questions: tuple[QuestionKey, ...]
    readers: tuple[str, ...]
    way: str
    """The one read strategy that gives what all of them answered, if there is one."""

    @property
    def text(self) -> str:
        """Return it as a sentence, with the first of the questions."""
        more = len(self.questions) - 1
        where = self.places[0] + (f" and {counted(more, 'question')} more" if more else "")
        who = ", ".join(self.readers)
        alike = f"{who} give the same answer, which is not the expected one ({where})"
        if not self.way:
            return f"{alike}. Check the reference model before you blame them."
        return (
            f"{alike}: it is what reading {self.way} gives. Either no reader was asked that reads "
            "differently, or the reference model needs a check before they are blamed."
        )

    @property
    def places(self) -> tuple[str, ...]:
        """Name the questions for people."""
        return tuple(
            f"{variant}, step {step}, {view}, {query}"
            for variant, step, view, query in self.questions
        )


def alarms(run: Run) -> tuple[Alarm, ...]:
    """Return questions that all readers answer alike and unlike the truth, those alike together.

    Then the reference model may be wrong, unless all that is wrong was found to be the writer's.
    Several settings of one distribution are one voice.
    """
    found: dict[tuple[tuple[str, ...], str], list[QuestionKey]] = {}
    for key, verdicts in questions(run).items():
        if any(each.verdict is VerdictKind.CORRECT for each in verdicts):
            continue  # somebody agrees with the truth: no answer has to be looked at
        answered = [each for each in verdicts if _answered(run, each)]
        groups = agreements(run, answered)
        voices = {run.distribution(each.reader) for each in answered}
        alike = len(groups) == 1 and not groups[0].with_truth and len(voices) >= MIN_ALARM
        if alike and not _writers(answered):
            ways = {each.claimed for each in answered}
            same = groups[0].readers, ways.pop() if len(ways) == 1 else ""
            found.setdefault(same, []).append(key)
    return tuple(Alarm(tuple(keys), *same) for same, keys in found.items())


def _writers(verdicts: Iterable[Verdict]) -> bool:
    """Return whether all that is wrong is the writer's doing, by what files and statements say."""
    parties = {each.party for verdict in verdicts for each in verdict.findings}
    return bool(parties) and parties <= WRITERS


def _answered(run: Run, verdict: Verdict) -> bool:
    answer = run.answers.get(verdict.case)
    return answer is not None and answer.has_table


def _fingerprint(verdict: Verdict, answer: Answer | None) -> str:
    """Return a text that is the same for equal answers; nothing is equal to no answer at all."""
    if verdict.verdict is VerdictKind.CORRECT:
        return "the truth"
    if answer is None or answer.unknown or answer.void:
        return f"no answer: {verdict.because}"
    if answer.refusal is not None:
        return f"refused: {answer.refusal.kind}: {verdict.because}"
    names = _names(verdict, answer)
    order = sorted(range(len(names)), key=names.__getitem__)
    rows = sorted(json.dumps([to_json(row[at]) for at in order]) for row in answer.rows)
    return json.dumps([sorted(names), rows, _other_types(verdict)])


def _names(verdict: Verdict, answer: Answer) -> Sequence[str]:
    """Return what columns are called, whatever label or case an engine gives the name asked for."""
    if verdict.expected is None or all(each.name != LOWER for each in verdict.normalised):
        return answer.labels
    lowered = {name.lower(): name for name, _ in verdict.expected.columns}
    return [lowered.get(name, name) for name in answer.labels]


def _other_types(verdict: Verdict) -> Sequence[tuple[str, str]]:
    """Return the columns whose declared type is judged to be another one; engines' words differ."""
    drifts = (each for each in verdict.findings if each.kind is FindingKind.TYPE_DRIFT)
    heads = (place for each in drifts for place in each.places if not place.key)
    return sorted((place.column, text_of(place.found)) for place in heads)
