"""A run without what no two runs have alike: what is left is the same again, byte by byte.

It is taken out of the records, field by field, before reports are made of them: the run's id and
hour, how long everything took, what was found again instead of being asked or written (`reused`),
what servers logged, and the order in which rows came. Instants, snapshots and files, which each
writing names otherwise, are called as in a recording. A refusal keeps its kind and code alone: an
engine reads several files at a time, and its words are about the one that failed first. In other
texts of errors, which have no fields, tasks, objects, folders and ports are looked for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from harness.core.attempts import Attempt
from harness.core.records import (
    Answer,
    Finding,
    Part,
    Refusal,
    StateRecord,
    Verdict,
    Witness,
)
from harness.model import past_views
from harness.model.canonical import OwnTexts, Value
from harness.run.load_run import Run
from tests.builders import tidy_records
from tests.builders.tidy_records import Names

ID: Final = "run"
WORDS: Final = "what the engine says of it"
SEQUENCE: Final = re.compile(rf"({tidy_records.INSTANT.pattern})_\d+(?=_\d+)")
"""How Hudi numbers a row: by its instant, the task that wrote it, and its place in that."""


def run(found: Run) -> Run:
    """Return the whole run so."""
    names = names_of(found.states)
    views_of = {cell.case: (names[cell.variant], cell.view) for cell in found.info.cells}
    return replace(
        found,
        info=replace(found.info, id=ID, started=tidy_records.FIRST, fresh=False),
        states=tuple(tidy_records.state(each, names[each.variant]) for each in found.states),
        answers={
            case: _answer(each, *views_of[case])
            for case, each in found.answers.items()
            if case in views_of
        },
        recorded={case: verdict(each, names) for case, each in found.recorded.items()},
    )


def names_of(states: Iterable[StateRecord]) -> Mapping[str, Names]:
    """Return what each variant's instants and files are called; of no other they are called so."""
    by_variant: dict[str, list[StateRecord]] = defaultdict(list)
    for each in states:
        by_variant[each.variant].append(each)
    found = {variant: tidy_records.names_of(of) for variant, of in by_variant.items()}
    return defaultdict(lambda: Names({}), found)


def _answer(given: Answer, names: Names, view: str) -> Answer:
    sql, errors = partial(_sql, names=names, view=view), _errors(names)
    rows, raw = _rows(given, names)
    return replace(
        tidy_records.answer(given, errors),
        sql=sql(given.sql),
        rows=rows,
        raw=raw,
        refusal=_refusal(given.refusal),
        confirmed=given.confirmed,
        attempts=tuple(Attempt(errors.message(each.what)) for each in given.attempts),
        parts=tuple(_part(each, names, sql(each.sql)) for each in given.parts),
    )


def _part(given: Part, names: Names, sql: str) -> Part:
    (rows, raw), unknown = _rows(given, names), _errors(names).message(given.unknown)
    refusal = _refusal(given.refusal)
    return replace(given, sql=sql, rows=rows, raw=raw, refusal=refusal, unknown=unknown)


def _refusal(given: Refusal | None) -> Refusal | None:
    """Leave an error its kind: what else it says is of the file or column that was met first."""
    return given and replace(given, message=WORDS, cause=WORDS if given.cause else "")


def _errors(names: Names) -> Names:
    """Return what errors call files: an engine names the first it met, and each writing another."""
    numbers = {each: tidy_records.instant(0) for each in names.known if each.isdigit()}
    return Names(dict.fromkeys(names.known, tidy_records.group(0)) | numbers)


def verdict(given: Verdict, names: Mapping[str, Names]) -> Verdict:
    """Return one verdict so; `names`: of the variants."""
    own = names[given.variant]
    return replace(
        given,
        findings=tuple(_finding(each, own) for each in given.findings),
        because=_errors(own).message(given.because),
        seconds=0.0,
        sql=_sql(given.sql, own, given.view),
        reused=False,
    )


def _sql(sql: str, names: Names, view: str) -> str:
    # When a write was completed is in no record, and a view of the past may be asked by it.
    times = tidy_records.INSTANT.findall(sql) if past_views.past(view) else ()
    return Names(dict.fromkeys(times, tidy_records.instant(0)) | names.known).text(sql)


def _finding(given: Finding, names: Names) -> Finding:
    places = tuple(_place(each, names) for each in given.places)
    return replace(given, witness=_place(given.witness, names), places=places)


def _place(given: Witness, names: Names) -> Witness:
    return replace(
        given,
        key=_text(given.key, names),
        found=_value(given.found, names),
        raw=_text(given.raw, names),
        file=names.path(given.file),
        folder=names.path(given.folder),
    )


def _rows(given: Answer | Part, names: Names) -> tuple[tidy_records.Rows, OwnTexts]:
    raw = [(row, column, _text(text, names)) for row, column, text in given.raw]
    return tidy_records.in_order(
        [tuple(_value(each, names) for each in row) for row in given.rows], raw
    )


def _value(value: Value, names: Names) -> Value:
    return _text(value, names) if isinstance(value, str) else value


def _text(text: str, names: Names) -> str:
    """Return a text that a reader showed; one that names nothing of the run stays as it is.

    A reader by position shows what Hudi adds to each row: instants and files.
    """
    if names.text(text) == text:
        return text
    return names.path(SEQUENCE.sub(r"\1_0", text))
