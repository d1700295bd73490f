"""Differences of tables that are known: a file of lines with an owner, a date and the reason. Pure.

A line says exactly how an answer differs; one that differs otherwise is not known.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from harness.audit.comparison import TableDifferenceKind
from harness.audit.records import AuditedAnswer, AuditedTable
from harness.core import yaml_writer
from harness.core.records import VerdictKind
from harness.core.yaml_reader import Document, KeyPath, make
from harness.core.yaml_reader import parse as parse_yaml
from harness.core.yaml_writer import block
from harness.judge.baseline.known import TODO, ReviewedLine, until_of
from harness.scenario.cells import parse_reader

FILE: Final = "tables.known.yaml"
HEAD: Final = (
    "# How answers differ. Keep the lines of what is known, replace each TODO, and audit again\n"
    f"# with: --known {FILE}\n"
)


@dataclass(frozen=True, slots=True)
class KnownDifference(ReviewedLine):
    table: str
    """A pattern of names."""
    reader: str
    """An engine, a distribution, or a reader with its settings."""
    places: frozenset[tuple[TableDifferenceKind, str]]
    """Where it differs: the kind and the column."""
    refused: str
    """What the error begins with, where there is no answer."""
    owner: str
    date: datetime.date | None
    because: str
    until: datetime.date | None = None
    """The last day on which the line counts."""
    path: str = ""
    line: int = 0

    @property
    def reviewed(self) -> bool:
        return not any(text.upper().startswith(TODO) for text in (self.because, self.owner))

    def is_of(self, reader: str) -> bool:
        distribution = parse_reader(reader).distribution
        return self.reader in {reader, distribution, distribution.partition("-")[0]}

    def covers(self, table: AuditedTable, answer: AuditedAnswer) -> bool:
        """Return whether it is this that the line is about."""
        if not (self.is_of(answer.reader) and fnmatchcase(table.name, self.table)):
            return False
        if answer.verdict is VerdictKind.REFUSED:
            return bool(self.refused) and answer.because.startswith(self.refused)
        places = {(kind, column) for kind, column, _ in answer.places}
        return answer.verdict is VerdictKind.WRONG and places <= self.places

    def __str__(self) -> str:
        columns = (f"{kind} {column}".rstrip() for kind, column in sorted(self.places))
        return f"{self.table}, {self.reader}: {', '.join(columns) or self.refused}"


@dataclass(frozen=True, slots=True)
class _PlaceForm:
    kind: TableDifferenceKind
    column: str = ""


@dataclass(frozen=True, slots=True)
class _KnownForm:
    table: str
    reader: str
    owner: str
    date: str
    because: str
    differs: tuple[_PlaceForm, ...] = ()
    refused: str = ""
    until: str = ""


def parse(text: str, path: str) -> tuple[KnownDifference, ...]:
    """Read a file of known differences; an empty one has none. Raises ScenarioProblem."""
    document = parse_yaml(text, path)
    if document.data is None:
        return ()
    if not isinstance(document.data, list):
        document.problems.stop(1, "known differences are a list; write `- table: …` for each")
    lines = [_line(data, (at,), document) for at, data in enumerate(document.data)]
    document.problems.raise_if_any()
    return tuple(line for line in lines if line is not None)


def _line(data: object, at: KeyPath, document: Document) -> KnownDifference | None:
    form = make(_KnownForm, data, document, at, "a line")
    if form is None:
        return None
    if bool(form.differs) == bool(form.refused):
        document.note(at, "a line is about what differs or an error; give differs or refused")
    for name in ("owner", "because"):
        if not getattr(form, name).strip():
            who = "whose it is" if name == "owner" else "why this is known"
            document.note((*at, name), f"{name} is empty; say {who}")
    if not form.date:
        document.note((*at, "date"), "date is empty; write when it was looked at: 2031-12-24")
    return KnownDifference(
        form.table,
        form.reader,
        frozenset((place.kind, place.column) for place in form.differs),
        form.refused,
        form.owner,
        until_of(form.date, (*at, "date"), document),
        form.because,
        until_of(form.until, (*at, "until"), document),
        document.path,
        document.line(at),
    )


@dataclass(frozen=True, slots=True)
class KnownDifferences:
    """The lines of a file, as they count on a day."""

    lines: tuple[KnownDifference, ...] = ()
    today: datetime.date = datetime.date.min

    def by(self, table: AuditedTable, answer: AuditedAnswer) -> KnownDifference | None:
        """Return the first line that covers an answer."""
        valid = (line for line in self.lines if line.counts(self.today))
        return next((line for line in valid if line.covers(table, answer)), None)

    def problems(self, tables: Sequence[AuditedTable]) -> tuple[str, ...]:
        """Return what somebody has to do about the lines: a gate ends with 1 until it is done."""
        used = {self.by(table, answer) for table in tables for answer in table.answers}
        texts = (self._problem(line, tables, occurs=line in used) for line in self.lines)
        return tuple(filter(None, texts))

    def _problem(
        self, line: KnownDifference, tables: Sequence[AuditedTable], *, occurs: bool
    ) -> str:
        if not line.reviewed:
            return f"{line.location}: has no owner or reason yet ({line}); replace the TODO"
        if not line.counts(self.today):
            return f"{line.location}: was valid until {line.until} ({line}); review it"
        if occurs:
            return ""
        asked = (table for table in tables if fnmatchcase(table.name, line.table))
        judged = [a for table in asked for a in table.answers if line.is_of(a.reader)]
        known = judged and all(answer.verdict is not VerdictKind.UNKNOWN for answer in judged)
        return f"{line.location}: no longer occurs ({line}); take it out" if known else ""


def dump(answers: Iterable[tuple[AuditedTable, AuditedAnswer]], today: datetime.date) -> str:
    """Return a file of the differences of answers, once somebody has said whose and why."""
    forms = dict[str, dict[str, object]]()
    for table, answer in answers:
        places = [{"kind": str(kind), "column": column} for kind, column, _ in answer.places]
        differs = [{name: text for name, text in place.items() if text} for place in places]
        form = {"table": table.name, "reader": answer.reader, "differs": differs}
        form |= {"refused": answer.because} if answer.verdict is VerdictKind.REFUSED else {}
        form |= {"owner": TODO, "date": today.isoformat(), "because": TODO}
        forms.setdefault(str(form), {name: value for name, value in form.items() if value})
    blocks = (yaml_writer.written(block([block(form)]), offset=0) for form in forms.values())
    return "".join([HEAD, *blocks])


NOTHING_KNOWN: Final = KnownDifferences()
