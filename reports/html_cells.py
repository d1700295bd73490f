"""Cells, variants and files of the HTML report as plain data, in a pool of what they share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from harness.core.outcomes import word
from harness.core.records import Answer, Column, Finding, Part, Refusal, Verdict, labelled
from harness.model.canonical import Value
from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import META
from harness.model.simulation.matching import StrategyAnswer
from harness.reports import summary
from harness.reports.advice import advice
from harness.reports.findings import places_text
from harness.reports.marks import Marks, Note, marks
from harness.reports.words import NOT_WORDED, answered_text, exact, worded
from harness.run.load_run import Run, VariantInfo

CREATE: Final = "create_table"
"""What the page calls the first step."""


def variant_data(
    run: Run,
    variant: VariantInfo,
    numbers: Iterable[int],
    instants: Mapping[str, int],
    pool: Pool,
) -> JsonValue:
    """Return what the page shows of a variant.

    Args:
        run: what was recorded.
        variant: of its plan.
        numbers: of the steps.
        instants: the step that made each instant.
        pool: gets what is shared.

    """
    return {
        "id": variant.id,
        "scenario": variant.scenario,
        "format": variant.format,
        "settings": dict(variant.settings),
        "writers": list(dict.fromkeys(variant.writers)),
        "twin": variant.twin,
        "about": variant.about,
        "source": variant.source,
        "yaml": pool.add(run.info.scenarios.get(variant.id, "")),
        "created": _step(run, variant, 0, instants, pool),
        "steps": [_step(run, variant, number, instants, pool) for number in sorted(numbers)],
    }


def _step(
    run: Run, variant: VariantInfo, number: int, instants: Mapping[str, int], pool: Pool
) -> JsonValue:
    step = variant.step(number)
    state = run.by_step.get((variant.id, number))
    outcome = state.outcome if state else None
    return {
        "number": number,
        "text": step.text,
        "operation": step.operation if number else CREATE,
        "quiet": step.quiet,
        "changes": step.changes_schema,
        "outcome": word(outcome) if outcome else "",
        "because": outcome.because if outcome else "",
        "refusal": refusal(outcome.refusal, pool) if outcome else 0,
        "instant": outcome.instant if outcome else "",
        "statements": pool.add(list(outcome.statements) if outcome else []),
        "files": pool.add(_files(state.files if state else (), instants, pool)),
    }


def _files(files: Sequence[FileFact], instants: Mapping[str, int], pool: Pool) -> list[JsonValue]:
    """Return a state's files, the one numbered 1 first. Most were there a step before."""
    return [
        pool.add(_file(fact, instants.get(fact.instant), pool))
        for fact in number_files(files, instants).facts
    ]


def _file(fact: FileFact, step: int | None, pool: Pool) -> JsonValue:
    return {
        "path": fact.path,
        "kind": str(fact.kind),
        "group": fact.file_group,
        "instant": fact.instant,
        "step": step,
        "columns": pool.add([list(c) for c in fact.columns if c[0] not in META]),
        "meta": sum(name in META for name, _ in fact.columns),
        "keys": list(fact.keys),
        "deleted": list(fact.deleted),
    }


@dataclass(frozen=True, slots=True)
class NumberedFiles:
    """Files, the oldest first: the place of each is its number."""

    facts: tuple[FileFact, ...]

    def name(self, fact: FileFact | None) -> str:
        """Return what a file is called; nothing for one that is not among them."""
        same = (f"#{at}" for at, numbered in enumerate(self.facts, start=1) if numbered is fact)
        return next(same, "")

    def names(self, path: str) -> str:
        """Return what a path is called; a log file has a number for each of its blocks."""
        return " or ".join(self.name(fact) for fact in self.facts if fact.path == path)


def number_files(files: Sequence[FileFact], steps: Mapping[str, int]) -> NumberedFiles:
    """Number files by the step that made their instant, then by file group."""
    order = sorted(files, key=lambda fact: (steps.get(fact.instant, 0), fact.file_group))
    return NumberedFiles(tuple(order))


JsonValue = object


class Pool:
    """Things that many cells share, each once. Number 0 is nothing at all."""

    def __init__(self) -> None:
        self.items: list[JsonValue] = [None]
        self.strategies: dict[str, None] = {}
        """The read strategies that any cell names."""
        self._numbers: dict[str, int] = {}

    def add_strategies(self, names: Iterable[str]) -> int:
        """Return the number of a list of read strategies."""
        named = list(names)
        self.strategies |= dict.fromkeys(named)
        return self.add(named)

    def add(self, item: JsonValue) -> int:
        """Return the number of a thing, the same one for an equal thing, and 0 for an empty one."""
        if not item:
            return 0
        text = json.dumps(item)
        if text not in self._numbers:
            self._numbers[text] = len(self.items)
            self.items.append(item)
        return self._numbers[text]


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """What the cells of one question share."""

    verdicts: Sequence[Verdict]
    """What each reader made of it."""
    files: NumberedFiles


def cell(run: Run, verdict: Verdict, of: QuestionContext, pool: Pool) -> dict[str, JsonValue]:
    """Return what a cell shows beside its question, its reader, and whether it was reused."""
    shown = worded(verdict.case, lambda: _cell(run, verdict, of, pool), None)
    if shown is None:
        return {"k": str(verdict.verdict), "because": pool.add(NOT_WORDED)}
    # Most is empty in most cells.
    return {name: value for name, value in shown.items() if value}


def _cell(run: Run, verdict: Verdict, of: QuestionContext, pool: Pool) -> dict[str, JsonValue]:
    answer = run.answers.get(verdict.case)
    key = run.variant(verdict.variant).key
    shown: dict[str, JsonValue] = {
        "k": str(verdict.verdict),
        "f": [[str(finding.kind), pool.add(_finding(finding))] for finding in verdict.findings],
        "ways": pool.add_strategies(verdict.reproduces),
        "claimed": bool(verdict.claimed),
        "because": pool.add("; ".join(filter(None, (verdict.because, answered_text(verdict))))),
        "known": pool.add(verdict.known),
        "sql": pool.add(verdict.sql or (answer.sql if answer else "")),
        "sec": round(verdict.seconds or (answer.seconds if answer else 0), 3),
        "advice": _advice(verdict, of.verdicts, pool),
        "evened": list(summary.cell_tolerances(verdict.reader, verdict.normalised)),
    }
    if verdict.expected:
        shown["want"] = _table(verdict.expected.columns, verdict.expected.rows, pool)
    shown |= _answer(answer, pool) if answer else {}
    if answer and verdict.expected and answer.has_table:
        columns = labelled(answer.question, answer.columns)
        marked = marks(verdict.expected, columns, answer.rows, verdict.findings, key)
        shown["marks"] = pool.add(_marks(marked, of.files, pool))
    return shown


def reused(verdict: Verdict) -> dict[str, JsonValue]:
    """Return what a cell shows of an answer that an earlier run got."""
    return {"reused": True} if verdict.reused else {}


def _advice(verdict: Verdict, question: Sequence[Verdict], pool: Pool) -> int:
    return pool.add([[hint.text, hint.verb] for hint in advice(verdict, question)])


def _finding(finding: Finding) -> JsonValue:
    return {
        "columns": list(finding.columns),
        "text": places_text(finding),
        "party": str(finding.responsible or ""),
    }


def _answer(answer: Answer, pool: Pool) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {
        "refusal": refusal(answer.refusal, pool),
        "parts": pool.add([pool.add(_part(part, pool)) for part in answer.parts]),
        "attempts": pool.add([[attempt.what, attempt.log] for attempt in answer.attempts]),
        "confirmed": pool.add(answer.confirmed),
    }
    if answer.has_table:
        shown["got"] = _table(_heads(answer.columns), answer.rows, pool)
    return shown


def refusal(given: Refusal | None, pool: Pool) -> int:
    """Return an engine's error, or a writer's."""
    return pool.add(asdict(given)) if given else 0


def _part(part: Part, pool: Pool) -> JsonValue:
    return {
        "column": part.column,
        "sql": pool.add(part.sql),
        "table": _table(_heads(part.columns), part.rows, pool),
        "refusal": refusal(part.refusal, pool),
        "unknown": part.unknown,
    }


def _heads(columns: Sequence[Column]) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in columns]


def _table(
    columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Value, ...]], pool: Pool
) -> int:
    # NULL stays null, so that the page tells it from the text 'NULL'.
    shown = [[None if value is None else exact(value) for value in row] for row in rows]
    return pool.add(
        {"columns": [list(column) for column in columns], "rows": [pool.add(row) for row in shown]}
    )


def strategy_tables(answers: Sequence[StrategyAnswer], pool: Pool) -> int:
    """Return what each read strategy would answer to a question, and which these are."""
    shown = ((answer, [(label, "") for label in answer.labels]) for answer in answers)
    return pool.add(
        [
            [_table(heads, answer.rows, pool), pool.add_strategies(map(str, answer.strategies))]
            for answer, heads in shown
        ]
    )


def _marks(marked: Marks, files: NumberedFiles, pool: Pool) -> JsonValue:
    notes = ([str(note.kind), _note(note, files), note.whose] for note in marked.notes)
    return {
        "notes": [pool.add(note) for note in notes],
        "want": [[mark.row, mark.column, mark.note] for mark in marked.expected],
        "got": [[item.row, item.column, item.note] for item in marked.found],
        "pairs": [list(pair) for pair in marked.pairs],
    }


def _note(note: Note, files: NumberedFiles) -> str:
    """Say a wrong place with the file it was read from, by its number in the cell's list."""
    file = files.names(note.file) or note.file
    return f"{note.text}; read from file {file}" if file else note.text
