"""What the HTML report shows, as plain data: tables, files and texts are held once and numbered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from harness.model.canonical import Value
from harness.model.files import FileFact
from harness.record import Answer, Column, Finding, Part, Refusal, Verdict, labelled
from harness.reports import agreement, normalised
from harness.reports.marks import Marks, marks
from harness.reports.sentences import finding_text
from harness.reports.words import FINDINGS, VERDICTS, exact
from harness.run import Run, VariantInfo

Json = object
META_PREFIX: Final = "_hoodie_"


class Pool:
    """Things that many cells share, each once."""

    def __init__(self) -> None:
        self.items: list[Json] = []
        self._numbers: dict[str, int] = {}

    def add(self, item: Json) -> int:
        """Give the number of a thing, the same one for an equal thing."""
        text = json.dumps(item)
        if text not in self._numbers:
            self._numbers[text] = len(self.items)
            self.items.append(item)
        return self._numbers[text]


def data(run: Run) -> dict[str, Json]:
    """Give everything that the page's script needs."""
    pool = Pool()
    steps, instants = _steps(run), _instants(run)
    variants = [
        _variant(run, each, steps[each.id], instants.get(each.id, {}), pool)
        for each in _variants(run)
    ]
    return {
        "verdicts": {str(kind): asdict(word) for kind, word in VERDICTS.items()},
        "findings": {str(kind): asdict(word) for kind, word in FINDINGS.items()},
        "readers": [_reader(run, name) for name in _readers(run)],
        "variants": variants,
        "cells": _cells(run, pool),
        "pool": pool.items,
    }


def _variants(run: Run) -> list[VariantInfo]:
    names = dict.fromkeys([*run.variants, *(each.variant for each in run.verdicts)])
    return [run.variant(name) for name in names]


def _readers(run: Run) -> list[str]:
    return list(dict.fromkeys([*run.readers, *(each.reader for each in run.verdicts)]))


def _reader(run: Run, name: str) -> Json:
    known = run.readers.get(name)
    return {
        "reader": name,
        "distribution": run.distribution(name),
        "settings": name.removeprefix(run.distribution(name)).strip("{}"),
        "fidelity": known.fidelity if known else "not recorded",
    }


def _steps(run: Run) -> Mapping[str, set[int]]:
    """Give the steps of each variant: those planned, and any that something was judged of."""
    found = {each.id: {step.number for step in each.steps} for each in _variants(run)}
    for verdict in run.verdicts:
        found[verdict.variant].add(verdict.step)
    return found


def _instants(run: Run) -> Mapping[str, Mapping[str, int]]:
    """Give the step that made each instant, by variant."""
    found: dict[str, dict[str, int]] = {}
    for (variant, number), state in run.by_step.items():
        if state.outcome.instant:
            found.setdefault(variant, {})[state.outcome.instant] = number
    return found


def _variant(
    run: Run,
    variant: VariantInfo,
    numbers: Iterable[int],
    instants: Mapping[str, int],
    pool: Pool,
) -> Json:
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
        "steps": [_step(run, variant, number, instants, pool) for number in sorted(numbers)],
    }


def _step(
    run: Run, variant: VariantInfo, number: int, instants: Mapping[str, int], pool: Pool
) -> Json:
    step = variant.step(number)
    state = run.by_step.get((variant.id, number))
    outcome = state.outcome if state else None
    return {
        "number": number,
        "text": step.text,
        "quiet": step.quiet,
        "changes": step.changes_schema,
        "outcome": str(outcome.kind) if outcome else "",
        "because": outcome.because if outcome else "",
        "refusal": _refusal(outcome.refusal) if outcome else None,
        "instant": outcome.instant if outcome else "",
        "statements": pool.add(list(outcome.statements) if outcome else []),
        "files": pool.add(_files(state.files if state else (), instants, pool)),
    }


def _files(files: Sequence[FileFact], instants: Mapping[str, int], pool: Pool) -> list[Json]:
    return [
        {
            "path": fact.path,
            "kind": str(fact.kind),
            "group": fact.file_group,
            "instant": fact.instant,
            "step": instants.get(fact.instant),
            "columns": pool.add([list(c) for c in fact.columns if c[0][:8] != META_PREFIX]),
            "meta": sum(name.startswith(META_PREFIX) for name, _ in fact.columns),
            "keys": list(fact.keys),
            "deleted": list(fact.deleted),
        }
        for fact in files
    ]


def _cells(run: Run, pool: Pool) -> list[Json]:
    variants = {each.id: number for number, each in enumerate(_variants(run))}
    readers = {name: number for number, name in enumerate(_readers(run))}
    cells: list[Json] = []
    for verdicts in agreement.questions(run).values():
        groups = pool.add(_agreements(run, verdicts, readers))
        for verdict in verdicts:
            place: dict[str, Json] = {
                "v": variants[verdict.variant],
                "s": verdict.step,
                "r": readers[verdict.reader],
                "agree": groups,
            }
            cells.append(place | _cell(run, verdict, pool))
    return cells


def _agreements(run: Run, verdicts: Sequence[Verdict], readers: Mapping[str, int]) -> list[Json]:
    return [
        [each.with_truth, str(each.kind), [readers[name] for name in each.readers]]
        for each in agreement.agreements(run, verdicts)
    ]


def _cell(run: Run, verdict: Verdict, pool: Pool) -> dict[str, Json]:
    answer = run.answers.get(verdict.case)
    key = run.variant(verdict.variant).key
    cell: dict[str, Json] = {
        "case": verdict.case,
        "view": verdict.view,
        "query": verdict.query,
        "k": str(verdict.verdict),
        "f": [[str(each.kind), pool.add(_finding(each))] for each in verdict.findings],
        "ways": list(verdict.reproduces),
        "because": verdict.because,
        "known": verdict.known,
        "sql": pool.add(verdict.sql or (answer.sql if answer else "")),
        "sec": round(verdict.seconds or (answer.seconds if answer else 0), 3),
        "reused": verdict.reused,
        "evened": list(normalised.of_cell(verdict.reader, verdict.normalised)),
    }
    if verdict.expected:
        cell["want"] = pool.add(_table(verdict.expected.columns, verdict.expected.rows))
    cell |= _answer(answer, pool) if answer else {}
    if answer and verdict.expected and _has_rows(answer):
        columns = labelled(answer.question, answer.columns)
        found = marks(verdict.expected, columns, answer.rows, verdict.findings, key)
        cell["marks"] = pool.add(_marks(found))
    return without_empty(cell)


def without_empty(cell: Mapping[str, Json]) -> dict[str, Json]:
    """Leave out what is empty, as most is in most cells; a zero is a number in the pool."""
    return {name: value for name, value in cell.items() if value or type(value) is int}


def _finding(finding: Finding) -> Json:
    return {"columns": list(finding.columns), "text": finding_text(finding)}


def _has_rows(answer: Answer) -> bool:
    return answer.refusal is None and not answer.unknown


def _answer(answer: Answer, pool: Pool) -> dict[str, Json]:
    found: dict[str, Json] = {
        "refusal": _refusal(answer.refusal),
        "parts": [pool.add(_part(each)) for each in answer.parts],
        "attempts": [[each.what, each.log] for each in answer.attempts],
        "confirmed": answer.confirmed,
    }
    if _has_rows(answer):
        found["got"] = pool.add(_table(_heads(answer.columns), answer.rows))
    return found


def _refusal(refusal: Refusal | None) -> Json:
    return asdict(refusal) if refusal else None


def _part(part: Part) -> Json:
    return {
        "column": part.column,
        "sql": part.sql,
        "table": _table(_heads(part.columns), part.rows),
        "refusal": _refusal(part.refusal),
        "unknown": part.unknown,
    }


def _heads(columns: Sequence[Column]) -> list[tuple[str, str]]:
    return [(each.name, each.type) for each in columns]


def _table(
    columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Value, ...]]
) -> dict[str, Json]:
    # NULL stays null, so that the page tells it from the text 'NULL'.
    return {
        "columns": [list(each) for each in columns],
        "rows": [[None if each is None else exact(each) for each in row] for row in rows],
    }


def _marks(found: Marks) -> Json:
    return {
        "notes": [[str(each.kind), each.text, each.whose] for each in found.notes],
        "want": [[each.row, each.column, each.note] for each in found.expected],
        "got": [[each.row, each.column, each.note] for each in found.found],
        "pairs": [list(each) for each in found.pairs],
    }
