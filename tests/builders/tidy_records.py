"""Takes out of a run's records what is of one machine and one hour.

Instants are numbered in their order, snapshots and file groups in that of their appearance, rows of
an answer come in that of their text. No verdict depends on what is left out.
"""

import datetime
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.core.records import Answer, FileValues, Outcome, Part, Refusal, StateRecord
from harness.model.canonical import OwnTexts, Value, to_json
from harness.model.file_facts import FileFact, FileKind, StoredStatistics

UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
INSTANT: Final = re.compile(r"(?<!\d)20\d{12}(?:\d{3})?(?!\d)")
"""Hudi's: `yyyyMMddHHmmssSSS`, without milliseconds before 0.10."""
LONG_NUMBER: Final = re.compile(r"(?<!\d)\d{14,19}(?!\d)")
"""What may be an instant, or the id of a snapshot of Iceberg's."""
WRITE_TOKENS: Final = (
    (re.compile(r"_\d+-\d+-\d+(?=[_.]|$)"), "_0-0-0"),
    (re.compile(rf"(?<=\d{{5}}-)\d+(?=-{UUID.pattern})"), "0"),
)
"""Task, stage and attempt in the name of a file that Hudi wrote, and the task of Iceberg's."""
PASSING: Final = (
    (re.compile(r"(?i)\b(task|stage|tid) \d+(?:\.\d+)?"), r"\1 0"),
    (re.compile(r"@[0-9a-f]{4,16}\b"), "@0"),
    (re.compile(r"\bs_[0-9a-f]{16}\b"), "s_0"),
    (re.compile(r"(?<![\w./])((?:file|hdfs):)?/+(?:[^\s/'\"()]+/)+"), r"\1/"),
    (re.compile(r"(?i)(localhost|127\.0\.0\.1|\[::1\]|\bport)([:/ ])\d+"), r"\1\g<2>0"),
)
"""What an error says that the next run says otherwise: Spark's tasks, Java's objects, databases of
states, folders and ports."""
Rows = tuple[tuple[Value, ...], ...]
FIRST: Final = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Names:
    known: dict[str, str]

    def text(self, text: str) -> str:
        text = UUID.sub(lambda match: self.known.get(match[0], group(0)), text)
        return LONG_NUMBER.sub(lambda match: self.known.get(match[0], match[0]), text)

    def path(self, path: str) -> str:
        for token, instead in WRITE_TOKENS:
            path = token.sub(instead, path)
        return self.text(path)

    def rows(self, given: Answer | Part) -> tuple[Rows, OwnTexts]:
        """Return rows by their text; who reads by position shows what Hudi adds to each row.

        Second: what the engine sent of their cells.
        """
        raw = [(row, column, self.path(text)) for row, column, text in given.raw]
        return in_order([self.row(row) for row in given.rows], raw)

    def row(self, row: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(self.path(cell) if isinstance(cell, str) else cell for cell in row)

    def message(self, text: str) -> str:
        """Return what an engine said, without what it says otherwise the next time."""
        for passing, instead in PASSING:
            text = passing.sub(instead, text)
        # Of a question about the past an engine may say when a write was completed.
        return INSTANT.sub(_of_recording, self.path(text))

    def refusal(self, refusal: Refusal | None) -> Refusal | None:
        if refusal is None:
            return None
        message, cause = self.message(refusal.message), self.message(refusal.cause)
        return replace(refusal, message=message, cause=cause)


def group(number: int) -> str:
    return f"00000000-0000-0000-0000-{number:012d}"


def _of_recording(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith(f"{FIRST:%Y%m%d}") else instant(0)


def instant(number: int) -> str:
    return (FIRST + datetime.timedelta(seconds=number)).strftime("%Y%m%d%H%M%S") + "000"


def names_of(states: Sequence[StateRecord]) -> Names:
    of_other = _aliases(states)
    there = {time for state in states for time in instants_of(state)}
    instants = sorted({of_other.get(name, name) for name in there})
    instants += dict.fromkeys(snapshot for state in states for snapshot in _snapshots(state))
    called = {text: instant(number) for number, text in enumerate(instants, start=1)}
    result = dict.fromkeys(group for state in states for group in _groups(state))
    groups = {text: group(number) for number, text in enumerate(result, start=1)}
    return Names(called | {old: called[new] for old, new in of_other.items()} | groups)


def _aliases(states: Iterable[StateRecord]) -> dict[str, str]:
    """Return instants in names of files that another variant wrote, each with this variant's."""
    return {
        text: fact.instant
        for state in states
        for fact in state.files
        for text in INSTANT.findall(fact.path)
        if fact.kind is FileKind.BASE and INSTANT.fullmatch(fact.instant) and text != fact.instant
    }


def instants_of(state: StateRecord) -> set[str]:
    made = {state.outcome.instant, *(name for name, _ in state.others)}
    made |= {commit for file in state.values for commit in file.commits}
    made |= state.schema_history.instants if state.schema_history else set()
    of_files = {
        name for fact in state.files for name in (fact.instant, *INSTANT.findall(fact.path))
    }
    return {of_file for of_file in made | of_files if INSTANT.fullmatch(of_file)}


def _snapshots(state: StateRecord) -> Iterable[str]:
    """Return the numbers that stand for instants and tell no time: ids of snapshots."""
    made = (state.outcome.instant, *(file.instant for file in state.files))
    return (text for text in made if LONG_NUMBER.fullmatch(text) and not INSTANT.fullmatch(text))


def _groups(state: StateRecord) -> Iterable[str]:
    files = sorted(state.files, key=lambda fact: (fact.instant, fact.keys, fact.deleted, fact.kind))
    texts = (
        text
        for file in files
        for text in (file.file_group, file.path, *file.stored_names, *dict(file.columns).values())
    )
    return (uuid for text in texts for uuid in UUID.findall(text))


def state(record: StateRecord, names: Names) -> StateRecord:
    facts, versions = [_fact(file, names) for file in record.files], record.schema_history
    order = sorted(range(len(facts)), key=lambda at: facts[at].path)
    positions = {old: new for new, old in enumerate(order)}
    moved = (
        replace(
            value,
            file=positions[value.file],
            unread=names.message(value.unread),
            meta=tuple(map(names.row, value.meta)),
            commits=tuple(map(names.text, value.commits)),
        )
        for value in record.values
    )
    return replace(
        record,
        outcome=_outcome(record.outcome, names),
        digest="",
        files=tuple(facts[at] for at in order),
        reused=False,
        layout=names.message(record.layout),
        others=tuple((names.text(other), step) for other, step in record.others),
        values=tuple(sorted(moved, key=_file)),
        statistics=_statistics(record.statistics, names),
        schema_history=versions
        and versions.with_instants({instant: names.text(instant) for instant in versions.instants}),
    )


def _statistics(stored: StoredStatistics, names: Names) -> StoredStatistics:
    columns = [replace(column, path=names.path(column.path)) for column in stored.columns]
    columns.sort(key=lambda column: (column.source, column.path, column.column, column.first))
    return StoredStatistics(tuple(columns), names.message(stored.unknown))


def _file(values: FileValues) -> int:
    return values.file


def _fact(fact: FileFact, names: Names) -> FileFact:
    path, instant_ = names.path(fact.path), names.text(fact.instant)
    return replace(
        fact,
        path=path,
        file_group=names.path(fact.file_group),
        instant=instant_,
        columns=tuple(
            (name, UUID.sub(lambda match: names.text(match[0]), kind))
            for name, kind in fact.columns
        ),
        stored_names=tuple(map(names.text, fact.stored_names)),
    )


def _outcome(outcome: Outcome, names: Names) -> Outcome:
    return replace(
        outcome,
        instant=names.text(outcome.instant),
        refusal=names.refusal(outcome.refusal),
        because=names.message(outcome.because),
        statements=tuple(map(names.text, outcome.statements)),
        seconds=0.0,
    )


def answer(given: Answer, names: Names) -> Answer:
    rows, raw = names.rows(given)
    return replace(
        given,
        sql="",
        rows=rows,
        raw=raw,
        refusal=names.refusal(given.refusal),
        unknown=names.message(given.unknown),
        parts=tuple(_part(part, names) for part in given.parts),
        attempts=(),
        seconds=0.0,
        confirmed="",
        reused=False,
        not_applicable=names.message(given.not_applicable),
        earlier=given.earlier and answer(given.earlier, names),
    )


def _part(part: Part, names: Names) -> Part:
    refusal, unknown = names.refusal(part.refusal), names.message(part.unknown)
    rows, raw = names.rows(part)
    return replace(part, sql="", rows=rows, raw=raw, refusal=refusal, unknown=unknown)


def in_order(
    rows: Sequence[tuple[Value, ...]], raw: Iterable[tuple[int, int, str]]
) -> tuple[Rows, OwnTexts]:
    """Sort rows by their text, and what the engine sent of their cells with them."""
    order = sorted(range(len(rows)), key=lambda at: _line(rows[at]))
    positions = {old: new for new, old in enumerate(order)}
    sent = sorted((positions[row], column, text) for row, column, text in raw)
    return tuple(rows[at] for at in order), tuple(sent)


def _line(row: tuple[Value, ...]) -> str:
    return json.dumps([to_json(cell) for cell in row])
