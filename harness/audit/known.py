"""Differences of tables that are known: a file of lines with an owner, a date and the reason. Pure.

A line says exactly how an answer differs; one that differs otherwise is not known.
"""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import Final

from harness.audit.comparison import TableDifferenceKind
from harness.audit.records import AuditedAnswer, AuditedTable
from harness.core import reviewed_lines, yaml_writer
from harness.core.grouping import grouped
from harness.core.problems import one_of
from harness.core.records import VerdictKind
from harness.core.reviewed_lines import TODO, Day, ReviewedLine
from harness.core.yaml_reader import Document, KeyPath, make
from harness.core.yaml_writer import block
from harness.scenario.cells import parse_reader

FILE: Final = "tables.known.yaml"
HEAD: Final = (
    "# How answers differ. Keep the lines of what is known, replace each TODO, and audit again\n"
    f"# with: --known {FILE}\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDifference(ReviewedLine):
    table: str
    """A pattern of names."""
    reader: str
    """An engine, a distribution, or a reader with its settings."""
    owner: str
    date: Day
    """When it was looked at."""
    differs: tuple[str, ...] = ()
    """Where it differs: `value name`, `lost_row` …"""
    refused: str = ""
    """What the error begins with, where there is no answer."""

    @property
    def reviewed(self) -> bool:
        return not any(text.upper().startswith(TODO) for text in (self.because, self.owner))

    def is_about(self, table: AuditedTable, answer: AuditedAnswer) -> bool:
        distribution = parse_reader(answer.reader).distribution
        names = {answer.reader, distribution, distribution.partition("-")[0]}
        return self.reader in names and fnmatchcase(table.name, self.table)

    def covers(self, table: AuditedTable, answer: AuditedAnswer) -> bool:
        if not self.is_about(table, answer):
            return False
        if answer.verdict is VerdictKind.REFUSED:
            return bool(self.refused) and answer.because.startswith(self.refused)
        whole = answer.verdict is VerdictKind.WRONG and answer.places and not answer.in_part
        return bool(whole) and {*_places(answer)} <= {*self.differs}

    def __str__(self) -> str:
        return f"{self.table}, {self.reader}: {', '.join(self.differs) or self.refused}"


def _places(answer: AuditedAnswer) -> list[str]:
    return [f"{kind} {column}".rstrip() for kind, column, _ in answer.places]


def parse(text: str, path: str) -> tuple[KnownDifference, ...]:
    """Read a file of known differences; an empty one has none. Raises ScenarioProblem."""
    document, lines = reviewed_lines.read(text, path, "table", _line)
    document.problems.raise_if_any()
    return lines


def _line(data: object, at: KeyPath, document: Document) -> KnownDifference | None:
    line = make(KnownDifference, data, document, at, "a line")
    if line is None:
        return None
    if bool(line.differs) == bool(line.refused):
        document.note(at, "a line is about what differs or an error; give differs or refused")
    for place in line.differs:
        if (kind := place.partition(" ")[0]) not in set(map(str, TableDifferenceKind)):
            allowed = one_of(kind, TableDifferenceKind)
            document.note((*at, "differs"), f"differs: there is no '{kind}'; {allowed}")
    if not line.owner.strip():
        document.note((*at, "owner"), "owner is empty; say whose it is")
    return line


@dataclass(frozen=True, slots=True)
class KnownDifferences:
    """The lines of a file, as they count on a day."""

    lines: tuple[KnownDifference, ...] = ()
    today: datetime.date = datetime.date.min

    def by(self, table: AuditedTable, answer: AuditedAnswer) -> KnownDifference | None:
        valid = (line for line in self.lines if line.counts(self.today))
        return next((line for line in valid if line.covers(table, answer)), None)

    def problems(self, tables: Sequence[AuditedTable]) -> tuple[str, ...]:
        """Return what somebody has to do about the lines: a gate ends with 1 until it is done."""
        pairs = [(table, answer) for table in tables for answer in table.answers]
        return tuple(filter(None, (self._problem(line, pairs) for line in self.lines)))

    def _problem(
        self, line: KnownDifference, pairs: Sequence[tuple[AuditedTable, AuditedAnswer]]
    ) -> str:
        if not line.reviewed:
            return f"{line.location}: has no owner or reason yet ({line}); replace the TODO"
        occurs = any(line.covers(*pair) for pair in pairs)
        if not line.counts(self.today):
            why = f"{line.location}: was valid until {line.until} ({line}); review it"
            return why if occurs else ""
        judged = [answer.verdict for table, answer in pairs if line.is_about(table, answer)]
        gone = judged and not occurs and VerdictKind.UNKNOWN not in judged
        return f"{line.location}: no longer occurs ({line}); take it out" if gone else ""


def dump(answers: Iterable[tuple[AuditedTable, AuditedAnswer]], today: datetime.date) -> str:
    """Return a file of the differences of answers, once somebody has said whose and why."""
    refusals = ((a.because * (a.verdict is VerdictKind.REFUSED), t, a) for t, a in answers)
    lines = grouped(((t.name, a.reader, refused), _places(a)) for refused, t, a in refusals)
    texts = [HEAD]
    for (table, reader, refused), places in lines.items():
        differs = list(dict.fromkeys(chain.from_iterable(places)))
        what = {"refused": refused} if refused else {"differs": differs}
        review = {"owner": TODO, "date": today.isoformat(), "because": TODO}
        form = block({"table": table, "reader": reader, **what, **review})
        texts.append(yaml_writer.written(block([form]), offset=0))
    return "".join(texts)


NOTHING_KNOWN: Final = KnownDifferences()
