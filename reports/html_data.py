"""What the HTML report shows, as plain data: tables, files and texts are held once and numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import pairwise
from typing import Any, Final

from harness.core.records import QuestionKey, Verdict, VerdictKind
from harness.reports import agreement, summary
from harness.reports.findings import BLAME, FINDINGS
from harness.reports.html_cells import (
    JsonValue,
    NumberedFiles,
    Pool,
    QuestionContext,
    cell,
    number_files,
    reused,
    strategy_tables,
    variant_data,
)
from harness.reports.words import TRACED, VERDICTS, Word, strategy_text
from harness.run.causes import ORDER, RunCause, by_default
from harness.run.load_run import UNCACHED, ReportCache, Run, VariantInfo

MOST_CELLS: Final = 50_000
"""Of more cells than these, those that are right are counted and not shown. Of more that are not
right, there are examples of each cause."""


@dataclass(frozen=True, slots=True)
class CauseCells:
    """The cells that one cause brings about."""

    operation: str
    """Since which they are so; empty where that is not known."""
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellBefore:
    """What another run made of a cell, where two are compared."""

    change: str
    run: Run
    verdict: Verdict | None
    """None where the other run has no such cell."""


@dataclass(frozen=True, slots=True)
class PageCells:
    """What a page shows of a run's cells."""

    shown: Mapping[QuestionKey, Sequence[Verdict]]
    counted: Sequence[Verdict]
    """Those that are left out, but for their number."""
    causes: Sequence[CauseCells]
    numbered: int
    """So many of the causes are listed on the page, from 1."""
    before: Mapping[str, CellBefore] = field(default_factory=dict)
    """By case."""
    explains: bool = True
    """Whether the page tells which read strategy gives a pasted answer: that of one run does,
    which is not too large."""
    examples: int = 0
    """So many cells of each cause are shown, and their variants alone; 0: all."""


def run_cells(run: Run, causes: Sequence[RunCause] = ()) -> PageCells:
    """Return what the page of one run shows: of too many cells, those that are not right."""
    few = len(run.verdicts) <= MOST_CELLS
    cause_cells = [CauseCells(cause.key.operation, cause.cases) for cause in causes]
    right = [] if few else [v for v in run.verdicts if v.verdict is VerdictKind.CORRECT]
    cells = PageCells(
        shown=left(run, {verdict.case for verdict in right}),
        counted=right,
        causes=cause_cells,
        numbered=len(causes),
        explains=few,
    )
    return with_examples(cells)


def with_examples(cells: PageCells) -> PageCells:
    """Return what a page shows of too many cells: of each cause the same number of examples."""
    if sum(map(len, cells.shown.values())) <= MOST_CELLS:
        return cells
    most = max(1, MOST_CELLS // max(1, len(cells.causes)))
    examples = {case for cause in cells.causes for case in cause.cases[:most]}
    more = [e for of in cells.shown.values() for e in of if e.case not in examples]
    some = ((key, [e for e in of if e.case in examples]) for key, of in cells.shown.items())
    shown = {key: of for key, of in some if of}
    before = {case: before for case, before in cells.before.items() if case in examples}
    counted = [*cells.counted, *more]
    return replace(cells, shown=shown, counted=counted, before=before, examples=most)


def left(run: Run, without: Collection[str]) -> Mapping[QuestionKey, Sequence[Verdict]]:
    """Return the questions of a run without some of its cells."""
    every = agreement.questions(run)
    if not without:
        return every
    some = {
        key: [verdict for verdict in verdicts if verdict.case not in without]
        for key, verdicts in every.items()
    }
    return {key: verdicts for key, verdicts in some.items() if verdicts}


def data(run: Run, cells: PageCells, cache: ReportCache = UNCACHED) -> dict[str, Any]:
    """Return everything that the page's script needs.

    `cache`: has it without what was reused, where the cells follow from the run alone.
    """
    page = cache.get("cells of the page", partial(_records_data, run, cells))
    for question, verdicts in zip(page["questions"], cells.shown.values(), strict=True):
        for shown, verdict in zip(question["cells"], verdicts, strict=True):
            shown.update(reused(verdict))
    return page


def _records_data(run: Run, cells: PageCells) -> dict[str, Any]:
    """Return what follows from records, whether they were reused or not."""
    pool = Pool()
    steps, instants = _steps(run), _instants(run)
    variants = [
        variant_data(run, variant, steps[variant.id], instants.get(variant.id, {}), pool)
        for variant in _shown_variants(run, cells)
    ]
    return {
        "traced": TRACED,
        "verdicts": {str(kind): _word(VERDICTS[kind]) for kind in ORDER},
        "findings": {str(kind): _word(word) for kind, word in FINDINGS.items()},
        "parties": {str(party or ""): word.meaning for party, word in BLAME.items()},
        "readers": [_reader(run, name) for name in summary.readers(run)],
        "variants": variants,
        "questions": _questions(run, cells, pool),
        "ways": {way: strategy_text(way) for way in pool.strategies},
        "pool": pool.items,
        "causes": _causes(cells),
        "since": [cause.operation for cause in cells.causes],
        "numbered": cells.numbered,
        "explains": cells.explains,
        "counted": _counted(run, cells),
        "examples": cells.examples,
    }


def _word(word: Word) -> JsonValue:
    return {field.name: getattr(word, field.name) for field in fields(Word)}


def _counted(run: Run, cells: PageCells) -> JsonValue:
    """Return how many cells are left out: by scenario, operation, reader and verdict.

    What is not right counts for the operation since which it is so.
    """
    readers = {name: number for number, name in enumerate(summary.readers(run))}
    began = [cause for cause in cells.causes if cause.operation] if cells.examples else []
    since = {case: cause.operation for cause in began for case in cause.cases[cells.examples :]}
    counts = Counter(
        (
            verdict.scenario,
            since.get(verdict.case) or run.step(verdict.variant, verdict.step).operation,
            readers[verdict.reader],
            str(verdict.verdict),
        )
        for verdict in cells.counted
    )
    return [[*key[:3], number, key[3]] for key, number in counts.items()]


def _causes(cells: PageCells) -> JsonValue:
    """Return the cells of each cause: how far each is from the one before it.

    Cells are numbered as they stand on the page; a distance has fewer digits than a number.
    """
    every = (verdict for verdicts in cells.shown.values() for verdict in verdicts)
    numbers = {verdict.case: number for number, verdict in enumerate(every)}
    places = (sorted(numbers[c] for c in cause.cases if c in numbers) for cause in cells.causes)
    return [[there - before for before, there in pairwise((0, *item))] for item in places]


def _variants(run: Run) -> list[VariantInfo]:
    names = dict.fromkeys([*run.variants, *(verdict.variant for verdict in run.verdicts)])
    return [run.variant(name) for name in names]


def _shown_variants(run: Run, cells: PageCells) -> list[VariantInfo]:
    """Return the variants of the page: all, where it does not show examples alone."""
    every = _variants(run)
    names = {key[0] for key in cells.shown}
    return [verdict for verdict in every if verdict.id in names] if cells.examples else every


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
    steps = {variant.id: {step.number for step in variant.steps} for variant in _variants(run)}
    for verdict in run.verdicts:
        steps[verdict.variant].add(verdict.step)
    return steps


def _instants(run: Run) -> Mapping[str, Mapping[str, int]]:
    """Return the step that made each instant, by variant."""
    steps: dict[str, dict[str, int]] = {}
    for (variant, number), state in run.by_step.items():
        if state.outcome.instant:
            steps.setdefault(variant, {})[state.outcome.instant] = number
    return steps


def _questions(run: Run, cells: PageCells, pool: Pool) -> list[JsonValue]:
    """Return the questions, each with its cells: what they share is said once."""
    variants = {variant.id: number for number, variant in enumerate(_shown_variants(run, cells))}
    readers = {name: number for number, name in enumerate(summary.readers(run))}
    every, answers = agreement.questions(run), run.strategy_answers() if cells.explains else {}
    files, old = QuestionFiles(run), next((before.run for before in cells.before.values()), run)
    files_before = QuestionFiles(old)
    questions: list[JsonValue] = []
    for key, verdicts in cells.shown.items():
        of = QuestionContext(every[key], files.of(key))
        asked: dict[str, JsonValue] = {
            # A case is this and its reader's name.
            "case": verdicts[0].case.removesuffix(verdicts[0].reader),
            "v": variants[key[0]],
            "s": key[1],
            "view": key[2],
            "query": key[3],
            "agree": pool.add(_agreements(run, of.verdicts, readers)),
            "cells": [
                {"r": readers[verdict.reader]}
                | cell(run, verdict, of, pool)
                | _before(cells.before.get(verdict.case), files_before, pool)
                for verdict in verdicts
            ],
        }
        if known := strategy_tables(answers.get(key, ()), pool):
            asked["read"] = known
        questions.append(asked)
    return questions


class QuestionFiles:
    """The files of the table states that questions are about."""

    def __init__(self, run: Run) -> None:
        """Look up which step made which instant."""
        self._run, self._instants = run, _instants(run)

    def of(self, key: QuestionKey) -> NumberedFiles:
        """Return the files behind a question, numbered."""
        state = self._run.by_step.get(key[:2])
        return number_files(state.files if state else (), self._instants.get(key[0], {}))


def _before(before: CellBefore | None, files: QuestionFiles, pool: Pool) -> dict[str, JsonValue]:
    """Return what became of a cell, and what it was."""
    if before is None:
        return {}
    changed: dict[str, JsonValue] = {"changed": before.change}
    if was := before.verdict:
        of = QuestionContext([was], files.of(was.question))
        shown = cell(before.run, was, of, pool) | reused(was)
        changed["was"] = {"reader": was.reader} | shown
    return changed


def _agreements(
    run: Run, verdicts: Sequence[Verdict], readers: Mapping[str, int]
) -> list[JsonValue]:
    return [
        [
            agreement_.with_truth,
            str(agreement_.kind),
            [readers[name] for name in agreement_.readers],
        ]
        for agreement_ in agreement.agreements(run, verdicts)
    ]
