"""What the HTML report shows, as plain data: tables, files and texts are held once and numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Final

from harness.core.outcomes import word
from harness.core.records import QuestionKey, Verdict, VerdictKind
from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import META_PREFIX
from harness.reports import agreement, summary
from harness.reports.blame import PARTIES
from harness.reports.file_numbers import number_files
from harness.reports.html_cells import JsonValue, Pool, QuestionContext, cell, refusal, way_tables
from harness.reports.words import FINDINGS, TRACED, VERDICTS, way_text
from harness.run.causes import ORDER, FoundCause, by_default
from harness.run.load_run import Run
from harness.run.run_info import VariantInfo
from harness.run.way_answers import way_answers

MOST_CELLS: Final = 50_000
"""Of more cells than these, those that are right are counted and not shown."""
CREATE: Final = "create_table"
"""What the page calls the first step."""


def data(run: Run, causes: Sequence[FoundCause] = ()) -> dict[str, JsonValue]:
    """Return everything that the page's script needs."""
    pool = Pool()
    shown = shown_questions(run)
    steps, instants = _steps(run), _instants(run)
    variants = [
        _variant(run, each, steps[each.id], instants.get(each.id, {}), pool)
        for each in _variants(run)
    ]
    return {
        "traced": TRACED,
        "verdicts": {str(kind): asdict(VERDICTS[kind]) for kind in ORDER},
        "findings": {str(kind): asdict(word) for kind, word in FINDINGS.items()},
        "parties": {str(party or ""): word.meaning for party, word in PARTIES.items()},
        "ways": _ways(run),
        "readers": [_reader(run, name) for name in summary.readers(run)],
        "variants": variants,
        "questions": _questions(run, shown, pool),
        "pool": pool.items,
        "causes": _causes(shown, causes),
        "since": [each.key.operation for each in causes],
        "counted": _counted(run, shown),
    }


def shown_questions(run: Run) -> Mapping[QuestionKey, Sequence[Verdict]]:
    """Return the questions with the cells that the page holds: of too many, those not right."""
    every = agreement.questions(run)
    if len(run.verdicts) <= MOST_CELLS:
        return every
    bad = {
        key: [each for each in verdicts if each.verdict is not VerdictKind.CORRECT]
        for key, verdicts in every.items()
    }
    return {key: verdicts for key, verdicts in bad.items() if verdicts}


def _counted(run: Run, shown: Mapping[QuestionKey, Sequence[Verdict]]) -> JsonValue:
    """Return how many right cells are left out: by scenario, operation and reader."""
    if sum(map(len, shown.values())) == len(run.verdicts):
        return []
    readers = {name: number for number, name in enumerate(summary.readers(run))}
    right = Counter(
        (each.scenario, run.step(each.variant, each.step).operation, readers[each.reader])
        for each in run.verdicts
        if each.verdict is VerdictKind.CORRECT
    )
    return [[*key, number] for key, number in right.items()]


def _causes(
    shown: Mapping[QuestionKey, Sequence[Verdict]], causes: Sequence[FoundCause]
) -> JsonValue:
    """Return the cells of each cause: how far each is from the one before it.

    Cells are numbered as they stand on the page; a distance has fewer digits than a number.
    """
    cells = (each for verdicts in shown.values() for each in verdicts)
    numbers = {each.case: number for number, each in enumerate(cells)}
    found = (sorted(numbers[case] for case in each.cases) for each in causes)
    return [[there - before for before, there in pairwise((0, *each))] for each in found]


def _ways(run: Run) -> JsonValue:
    """Return what every way of reading is that gives a wrong answer."""
    found = dict.fromkeys(way for each in run.verdicts for way in each.reproduces)
    return {way: way_text(way) for way in found}


def _variants(run: Run) -> list[VariantInfo]:
    names = dict.fromkeys([*run.variants, *(each.variant for each in run.verdicts)])
    return [run.variant(name) for name in names]


def _reader(run: Run, name: str) -> JsonValue:
    known = run.readers.get(name)
    return {
        "reader": name,
        "distribution": run.distribution(name),
        "settings": name.removeprefix(run.distribution(name)).strip("{}"),
        "fidelity": known.fidelity if known else "not recorded",
        "default": by_default(run, name),
        "beside": summary.settings(run, name),
    }


def _steps(run: Run) -> Mapping[str, set[int]]:
    """Return the steps of each variant: those planned, and any that something was judged of."""
    found = {each.id: {step.number for step in each.steps} for each in _variants(run)}
    for verdict in run.verdicts:
        found[verdict.variant].add(verdict.step)
    return found


def _instants(run: Run) -> Mapping[str, Mapping[str, int]]:
    """Return the step that made each instant, by variant."""
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
) -> JsonValue:
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
        "columns": pool.add([list(c) for c in fact.columns if not c[0].startswith(META_PREFIX)]),
        "meta": sum(name.startswith(META_PREFIX) for name, _ in fact.columns),
        "keys": list(fact.keys),
        "deleted": list(fact.deleted),
    }


def _questions(
    run: Run, shown: Mapping[QuestionKey, Sequence[Verdict]], pool: Pool
) -> list[JsonValue]:
    """Return the questions, each with its cells: what they share is said once."""
    variants = {each.id: number for number, each in enumerate(_variants(run))}
    readers = {name: number for number, name in enumerate(summary.readers(run))}
    instants = _instants(run)
    found: list[JsonValue] = []
    answers = way_answers(run)
    for (variant, step, view, query), verdicts in shown.items():
        state = run.by_step.get((variant, step))
        files = number_files(state.files if state else (), instants.get(variant, {}))
        asked: dict[str, JsonValue] = {
            "v": variants[variant],
            "s": step,
            "view": view,
            "query": query,
        }
        if known := way_tables(answers.get((variant, step, view, query), ()), pool):
            asked["read"] = known
        found.append(asked | _cells(run, QuestionContext(verdicts, files), readers, pool))
    return found


def _cells(
    run: Run, of: QuestionContext, readers: Mapping[str, int], pool: Pool
) -> dict[str, JsonValue]:
    first = of.verdicts[0]
    return {
        # A case is this and its reader's name.
        "case": first.case.removesuffix(first.reader),
        "agree": pool.add(_agreements(run, of.verdicts, readers)),
        "cells": [{"r": readers[each.reader]} | cell(run, each, of, pool) for each in of.verdicts],
    }


def _agreements(
    run: Run, verdicts: Sequence[Verdict], readers: Mapping[str, int]
) -> list[JsonValue]:
    return [
        [each.with_truth, str(each.kind), [readers[name] for name in each.readers]]
        for each in agreement.agreements(run, verdicts)
    ]
