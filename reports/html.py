"""The HTML report: one file that needs no network, with every cell to open.

Its script draws data embedded as JSON, and sets nothing but text; templates escape what they are
given. Other pages have these and how cells are shown from here.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from importlib import resources
from importlib.util import cache_from_source
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.core.atomic_write import atomic_write
from harness.core.records import (
    Answer,
    Column,
    Finding,
    Part,
    QuestionKey,
    Refusal,
    Verdict,
    VerdictKind,
    labelled,
)
from harness.core.texts import counted
from harness.model.canonical import Value
from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import META
from harness.model.simulation.reader import StrategyAnswer
from harness.reports import summary
from harness.reports.cause_texts import advice, cause_texts, reader_answers
from harness.reports.document import Block, Heading
from harness.reports.findings import BLAME, FINDINGS, witnesses_text
from harness.reports.marks import Marks, Note, marks
from harness.reports.words import (
    DEFAULT,
    NOT_WORDED,
    STRATEGIES,
    TRACED,
    VERDICTS,
    VIEWS,
    LoggedFailure,
    Word,
    answered_text,
    exact,
    metastore_lines,
    strategy_text,
)
from harness.run import run_judge
from harness.run.causes import ORDER, RunCause
from harness.run.load_run import UNCACHED, ReportCache, Run, VariantInfo


def cell_address(page: Path, case: str) -> str:
    """Return the address of a cell, as the page's own links and scripts have it.

    >>> cell_address(Path("/runs/a b/report.html"), "hudi/move[hudi-cow]/s1/snapshot/all/trino-476")
    'file:///runs/a%20b/report.html#hudi%2Fmove%5Bhudi-cow%5D%2Fs1%2Fsnapshot%2Fall%2Ftrino-476'
    """
    return f"{page.absolute().as_uri()}#{quote(case, safe='')}"


def cause_address(page: Path, number: int) -> str:
    """Return the address of a cause, by its number from 1.

    >>> cause_address(Path("/runs/a/report.html"), 3)
    'file:///runs/a/report.html#cause-3'
    """
    return f"{page.absolute().as_uri()}#cause-{number}"


HIDDEN: Final = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]"
)
"""What a browser hides, or what turns a text around: written out, as the pages' scripts do."""


SCRIPTS: Final = ("page.js", "query.js", "tables.js", "paste.js", "cell.js", "table.js", "view.js")


def rendered(template: str, values: dict[str, object]) -> str:
    """Return a page made of one of our own templates; every value in it is escaped."""
    compiled = str(Path(cache_from_source(__file__)).parent)  # beside what Python compiled
    environment = Environment(
        loader=PackageLoader("harness.reports"),
        bytecode_cache=FileSystemBytecodeCache(compiled) if os.access(compiled, os.W_OK) else None,
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = counted
    environment.filters["linked"] = linked
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.get_template(template).render(values)


def parts(blocks: Iterable[Block]) -> list[tuple[str, list[Block]]]:
    headed: list[tuple[str, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            headed.append((block.text, []))
        else:
            headed[-1][1].append(block)
    return headed


def _visible(value: object) -> object:
    """Return a text without hidden characters; our own markup as it is."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", value)


_ADDRESS: Final = re.compile("&lt;(https://[a-zA-Z0-9./_#-]+)&gt;")


def linked(text: str) -> Markup:
    """Return a text with the addresses in it that stand in angle brackets as links.

    >>> linked("near <https://example.org/1>, a < b")
    Markup('near <a href="https://example.org/1">https://example.org/1</a>, a &lt; b')
    """
    escaped = str(escape(_visible(text)))
    return Markup(_ADDRESS.sub(r'<a href="\1">\1</a>', escaped))  # noqa: S704 - escaped before


def templates(*names: str) -> Markup:
    folder = resources.files("harness.reports") / "templates"
    texts = ((folder / name).read_text(encoding="utf-8") for name in names)
    return Markup("\n".join(texts))  # noqa: S704 - our own files


def embedded(data: object) -> Markup:
    r"""Return data as JSON that no parser of HTML finds an end or a comment in.

    >>> embedded(["</script>\u2028"])
    Markup('["\\u003c/script>\\u2028"]')
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - escaped for where it goes


def cell_table(data: object, example: str, terms: Sequence[tuple[str, str]]) -> dict[str, object]:
    """Return what the templates of the table of cells ask for; `terms`: buttons with searches."""
    return {
        "data": embedded(data),
        "script": templates(*SCRIPTS),
        "example": example,
        "terms": terms,
    }


def write_page(page: str, path: Path) -> Path:
    with atomic_write(path) as part:
        # A lone surrogate in an engine's text has no UTF-8 form.
        part.write_text(page, encoding="utf-8", errors="backslashreplace")
    return path


CREATE: Final = "create_table"


def variant_data(
    run: Run, variant: VariantInfo, numbers: Iterable[int], instants: Mapping[str, int], pool: Pool
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
        "outcome": outcome.word if outcome else "",
        "because": outcome.because if outcome else "",
        "refusal": refusal(outcome.refusal, pool) if outcome else 0,
        "instant": outcome.instant if outcome else "",
        "statements": pool.add(list(outcome.statements) if outcome else []),
        "files": pool.add(  # most were there a step before
            [
                pool.add(_file(fact, instants.get(fact.instant), pool))
                for fact in number_files(state.files if state else (), instants).facts
            ]
        ),
    }


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
        self._numbers: dict[str, int] = {}

    def add_strategies(self, names: Iterable[str]) -> int:
        named = list(names)
        self.strategies |= dict.fromkeys(named)
        return self.add(named)

    def add(self, item: JsonValue) -> int:
        """Return the number of a thing, the same one for an equal thing, and 0 for an empty one."""
        if not item:
            return 0
        text = repr(item)  # which is made faster than JSON
        if text not in self._numbers:
            self._numbers[text] = len(self.items)
            self.items.append(item)
        return self._numbers[text]


def cell(
    run: Run, verdict: Verdict, question: Sequence[Verdict], files: NumberedFiles, pool: Pool
) -> dict[str, JsonValue]:
    """Return what a cell shows; `question`: what each reader made of its question."""
    with LoggedFailure(verdict.case):
        shown = _cell(run, verdict, question, files, pool)
        # Most is empty in most cells.
        return {name: value for name, value in shown.items() if value}
    return {"k": str(verdict.verdict), "because": pool.add(NOT_WORDED)}


def _cell(
    run: Run, verdict: Verdict, question: Sequence[Verdict], files: NumberedFiles, pool: Pool
) -> dict[str, JsonValue]:
    answer = run.answers.get(verdict.case)
    key = run.info.variant(verdict.variant).key
    shown: dict[str, JsonValue] = {
        "k": str(verdict.verdict),
        "f": [[str(finding.kind), pool.add(_finding(finding))] for finding in verdict.findings],
        "ways": pool.add_strategies(verdict.reproduces),
        "claimed": bool(verdict.claimed),
        "because": pool.add("; ".join(filter(None, (verdict.because, answered_text(verdict))))),
        "known": pool.add(verdict.known),
        "sql": pool.add(verdict.sql or (answer.sql if answer else "")),
        "sec": round(verdict.seconds or (answer.seconds if answer else 0), 3),
        "advice": pool.add([[hint.text, hint.verb] for hint in advice(verdict, question)]),
        "evened": [tolerance.text for tolerance in summary.tolerance_counts([verdict])],
    }
    if verdict.expected:
        shown["want"] = _table(verdict.expected.columns, verdict.expected.rows, pool)
    shown |= _answer(answer, pool) if answer else {}
    if answer and verdict.expected and answer.has_table:
        columns = labelled(answer.question, answer.columns)
        marked = marks(verdict.expected, columns, answer.rows, verdict.findings, key)
        shown["marks"] = pool.add(_marks(marked, files, pool))
    return shown


def _finding(finding: Finding) -> JsonValue:
    return {
        "columns": list(finding.columns),
        "text": witnesses_text(finding),
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
    shown = ((answer, [(label, "") for label in answer.labels]) for answer in answers)
    return pool.add(
        [
            [_table(heads, answer.rows, pool), pool.add_strategies(map(str, answer.strategies))]
            for answer, heads in shown
        ]
    )


def _marks(marked: Marks, files: NumberedFiles, pool: Pool) -> JsonValue:
    def text(note: Note) -> str:
        file = files.names(note.file) or note.file
        return f"{note.text}; read from file {file}" if file else note.text

    return {
        "notes": [pool.add([str(note.kind), text(note), note.whose]) for note in marked.notes],
        "want": [[mark.row, mark.column, mark.note] for mark in marked.expected],
        "got": [[item.row, item.column, item.note] for item in marked.answered],
        "pairs": [list(pair) for pair in marked.pairs],
    }


MOST_CELLS: Final = 50_000
"""Of more cells only examples are shown, and those that are right are counted."""


@dataclass(frozen=True, slots=True)
class CauseCells:
    operation: str
    """Since which they are so; empty where that is not known."""
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellBefore:
    change: str
    run: Run
    verdict: Verdict | None
    """None where the other run has no such cell."""


Questions = Mapping[QuestionKey, Sequence[Verdict]]


@dataclass(frozen=True, slots=True)
class PageCells:
    shown: Questions
    counted: Sequence[Verdict]
    """Those that are left out, but for their number."""
    causes: Sequence[CauseCells]
    numbered: int
    """So many of the causes are listed on the page, from 1."""
    before: Mapping[str, CellBefore] = field(default_factory=dict)
    explains: bool = True
    """Whether the page tells which read strategy gives a pasted answer."""
    examples: int = 0
    """So many cells of each cause are shown, and their variants alone; 0: all."""


def run_cells(run: Run, causes: Sequence[RunCause] = ()) -> PageCells:
    """Return what the page of one run shows: of too many cells, those that are not right."""
    few = len(run.verdicts) <= MOST_CELLS
    right = [] if few else [v for v in run.verdicts if v.verdict is VerdictKind.CORRECT]
    shown = left(run, {verdict.case for verdict in right})
    cause_cells = [CauseCells(cause.key.operation, cause.cases) for cause in causes]
    return with_examples(PageCells(shown, right, cause_cells, len(causes), explains=few))


def with_examples(cells: PageCells) -> PageCells:
    """Return what a page shows of too many cells: of each cause the same number of examples."""
    if sum(map(len, cells.shown.values())) <= MOST_CELLS:
        return cells
    most = max(1, MOST_CELLS // max(1, len(cells.causes)))
    examples = {case for cause in cells.causes for case in cause.cases[:most]}
    more = [v for verdicts in cells.shown.values() for v in verdicts if v.case not in examples]
    shown = _with_cases(cells.shown, examples.__contains__)
    before = {case: before for case, before in cells.before.items() if case in examples}
    counted = [*cells.counted, *more]
    return replace(cells, shown=shown, counted=counted, before=before, examples=most)


def left(run: Run, without: Collection[str]) -> Questions:
    every = run.by_question
    return _with_cases(every, lambda case: case not in without) if without else every


def _with_cases(questions: Questions, shows: Callable[[str], bool]) -> Questions:
    some = ((key, [v for v in verdicts if shows(v.case)]) for key, verdicts in questions.items())
    return {key: verdicts for key, verdicts in some if verdicts}


def data(run: Run, cells: PageCells, cache: ReportCache = UNCACHED) -> dict[str, Any]:
    """Return everything that the page's script needs.

    `cache`: has it without what was reused, where the cells follow from the run alone.
    """
    page = cache.get("cells of the page", partial(_records_data, run, cells))
    for question, verdicts in zip(page["questions"], cells.shown.values(), strict=True):
        for shown, verdict in zip(question["cells"], verdicts, strict=True):
            shown.update({"reused": True} if verdict.reused else {})
    return page


def _records_data(run: Run, cells: PageCells) -> dict[str, Any]:
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
        "parties": {str(responsible or ""): word.meaning for responsible, word in BLAME.items()},
        "readers": [_reader(run, name) for name in summary.readers(run)],
        "variants": variants,
        "questions": _questions(run, cells, pool),
        "ways": {strategy: strategy_text(strategy) for strategy in pool.strategies},
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
    """Return how many cells are left out, by scenario, operation, reader and verdict."""
    readers = {name: number for number, name in enumerate(summary.readers(run))}
    began = [cause for cause in cells.causes if cause.operation] if cells.examples else []
    since = {case: cause.operation for cause in began for case in cause.cases[cells.examples :]}
    counts = Counter(
        (
            verdict.scenario,
            since.get(verdict.case) or run.info.step(verdict.variant, verdict.step).operation,
            readers[verdict.reader],
            str(verdict.verdict),
        )
        for verdict in cells.counted
    )
    return [[*key[:3], number, key[3]] for key, number in counts.items()]


def _causes(cells: PageCells) -> JsonValue:
    """Return the cells of each cause: how far each is from the one before, in few digits."""
    every = (verdict for verdicts in cells.shown.values() for verdict in verdicts)
    numbers = {verdict.case: number for number, verdict in enumerate(every)}
    places = (sorted(numbers[c] for c in cause.cases if c in numbers) for cause in cells.causes)
    return [[there - before for before, there in pairwise((0, *item))] for item in places]


def _variants(run: Run) -> list[VariantInfo]:
    names = dict.fromkeys(
        [*run.info.variants_by_id, *(verdict.variant for verdict in run.verdicts)]
    )
    return [run.info.variant(name) for name in names]


def _shown_variants(run: Run, cells: PageCells) -> list[VariantInfo]:
    """Return the variants of the page: all, where it does not show examples alone."""
    names = {key[0] for key in cells.shown}
    return [info for info in _variants(run) if not cells.examples or info.id in names]


def _reader(run: Run, name: str) -> JsonValue:
    info = run.info.reader(name)
    return {
        "reader": name,
        "distribution": info.distribution,
        "settings": name.removeprefix(info.distribution).strip("{}"),
        "fidelity": info.fidelity or "not recorded",
        "default": info.by_default,
        "beside": info.settings,
    }


def _steps(run: Run) -> Mapping[str, set[int]]:
    steps = {variant.id: {step.number for step in variant.steps} for variant in _variants(run)}
    for verdict in run.verdicts:
        steps[verdict.variant].add(verdict.step)
    return steps


def _instants(run: Run) -> Mapping[str, Mapping[str, int]]:
    steps: dict[str, dict[str, int]] = {}
    for (variant, number), state in run.by_step.items():
        if state.outcome.instant:
            steps.setdefault(variant, {})[state.outcome.instant] = number
    return steps


def _questions(run: Run, cells: PageCells, pool: Pool) -> list[JsonValue]:
    variants = {variant.id: number for number, variant in enumerate(_shown_variants(run, cells))}
    readers = {name: number for number, name in enumerate(summary.readers(run))}
    every, answers = run.by_question, run.strategy_answers() if cells.explains else {}
    files, old = _files(run), next((before.run for before in cells.before.values()), run)
    files_before = _files(old)
    questions: list[JsonValue] = []
    for key, verdicts in cells.shown.items():
        asked: dict[str, JsonValue] = {
            # A case is this and its reader's name.
            "case": verdicts[0].case.removesuffix(verdicts[0].reader),
            "v": variants[key[0]],
            "s": key[1],
            "view": key[2],
            "query": key[3],
            "agree": pool.add(
                [
                    [group.with_truth, str(group.kind), [readers[name] for name in group.readers]]
                    for group in summary.agreements(run, every[key])
                ]
            ),
            "cells": [
                {"r": readers[verdict.reader]}
                | cell(run, verdict, every[key], files(key), pool)
                | _before(cells.before.get(verdict.case), files_before, pool)
                for verdict in verdicts
            ],
        }
        if known := strategy_tables(answers.get(key, ()), pool):
            asked["read"] = known
        questions.append(asked)
    return questions


def _files(run: Run) -> Callable[[QuestionKey], NumberedFiles]:
    """Return what gives the files of the table state that a question is about."""
    instants = _instants(run)

    def files(key: QuestionKey) -> NumberedFiles:
        state = run.by_step.get(key[:2])
        return number_files(state.files if state else (), instants.get(key[0], {}))

    return files


def _before(
    before: CellBefore | None, files: Callable[[QuestionKey], NumberedFiles], pool: Pool
) -> dict[str, JsonValue]:
    if before is None:
        return {}
    changed: dict[str, JsonValue] = {"changed": before.change}
    if was := before.verdict:
        shown = cell(before.run, was, [was], files(was.question), pool)
        again = {"reused": True} if was.reused else {}
        changed["was"] = {"reader": was.reader, **shown, **again}
    return changed


NAME: Final = "html"
FILE: Final = "report.html"
AT_ONCE: Final = 8
SINCE: Final = 4
"""Of more operations than these a reader's row names the worst."""
EXAMPLE: Final = "reader:trino kind:misaligned default:yes"
TERMS: Final = (
    ("is:wrong", "wrong"),
    ("is:refused", "refused"),
    ("is:new", "not correct, not known"),
    ("default:yes", "by default"),
)


def write(run: Run, folder: Path) -> Path:
    return write_page(page(run), folder / FILE)


def page(run: Run) -> str:
    texts = cause_texts(run)
    numbered = tuple(enumerate(texts, 1))
    cells = run_cells(run, [text.cause for text in texts])
    shown = data(run, cells, run.report_cache)
    return rendered(
        "report.html.j2",
        {
            "info": run.info,
            "answers": reader_answers(run, texts),
            "since": SINCE,
            "counted": shown["counted"],
            "examples": shown["examples"],
            "most_cells": MOST_CELLS,
            "at_once": AT_ONCE,
            "known": [(at, text) for at, text in numbered if text.known],
            "new": [(at, text) for at, text in numbered if not text.known],
            "headline": headline(run),
            "metastore": list(metastore_lines(run.info)),
            "totals": summary.totals(run),
            "known_cells": sum(1 for verdict in run.verdicts if verdict.known),
            "flaky": len(run_judge.late(run)),
            "reused": sum(1 for verdict in run.verdicts if verdict.reused),
            "explained": summary.explained(run),
            "alarms": summary.alarms(run),
            "failed": list(summary.failed_steps(run)),
            "half_done": list(summary.half_done_steps(run)),
            "wrong_steps": list(summary.wrong_steps(run)),
            "normalised": summary.tolerance_counts(run.verdicts),
            "pairs_said": summary.covered_pairs(run.info.pairs),
            "partly_said": summary.PARTLY,
            "partly": summary.partly_asked(run.info.partly),
            "pairs_impossible": summary.impossible_pairs(run.info.pairs),
            "default": DEFAULT,
            "words": VERDICTS,
            "kinds": VerdictKind,
            "finding_words": FINDINGS,
            "views": VIEWS,
            "ways": STRATEGIES,
            "css": templates("report.css"),
            **cell_table(shown, EXAMPLE, TERMS),
        },
    )


def headline(run: Run) -> str:
    wrong = [verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG]
    who = dict.fromkeys(verdict.reader for verdict in wrong)
    whole = counted(len(summary.readers(run)), "reader")
    if not wrong:
        unknown = sum(verdict.verdict is VerdictKind.UNKNOWN for verdict in run.verdicts)
        are = counted(unknown, "answer is", "answers are")
        return "No reader was seen to answer wrongly" + (f"; {are} not known" if unknown else "")
    return f"{len(who)} of {whole} silently gave {counted(len(wrong), 'wrong answer')}"
