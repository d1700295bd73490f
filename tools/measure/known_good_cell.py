"""One cell of a reader that should be right, and how its answer comes of what the files hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.core import refusals
from harness.core.records import Answer, Part, StateRecord, labelled
from harness.judge.case import view_of_rows
from harness.model.canonical import text_of
from harness.model.query import Query
from harness.model.schema import Field
from harness.model.simulation.matching import TableLook, table_of
from harness.scenario.cells import Cell
from tests.builders.recordings import Said
from tools.measure.known_good_files import RIGHT, SAID, Deviation, Files, Stored, others

LONGEST: Final = 110
"""Characters of a value or an error in a line."""
PEERS: Final = 2
"""So many other readers are named."""


@dataclass(frozen=True, slots=True)
class KnownGoodCell:
    """A cell with all that was recorded of it."""

    cell: Cell
    said: Said
    answer: Answer
    files: Files
    peers: tuple[str, ...]
    """Other readers whose answer to the same question is right."""

    @property
    def reader(self) -> str:
        """The reader."""
        return self.cell.reader

    @property
    def state(self) -> StateRecord:
        """The state that was asked."""
        return self.files.state(self.cell.step)

    @property
    def error(self) -> str:
        """What was refused with, in one line; empty where rows came."""
        return refusals.text(self.answer.refusal) if self.answer.refusal else ""

    @property
    def kinds(self) -> set[str]:
        """The names of the findings."""
        return {each["kind"] for each in self.said.get("findings", ())}

    @property
    def fields(self) -> Sequence[Field]:
        """The table's columns after the step."""
        return self.files.case.history[self.cell.step].schema.fields

    @property
    def as_written(self) -> bool:
        """Whether what the files hold, rightly read, is what the truth expects."""
        query, at = self.answer.question, (self.cell.step, view_of_rows(self.cell.view))
        expected = self.files.standard.table(*at, query)
        labels = [label.casefold() for label, _ in expected.columns]
        found = self.files.table(self.cell.step, self.cell.view, query, "")
        return found == table_of(labels, expected.rows)

    def names(self) -> list[str]:
        """Return the findings with their columns."""
        found = self.said.get("findings", ())
        return sorted(f"{each['kind']}: {', '.join(each['columns'])}" for each in found)

    def ways(self, answer: Answer | Part) -> list[Deviation]:
        """Return what gives exactly these rows of what the files hold, the least that does.

        That is reading rightly where it does; nothing where none of the ways tried does.
        """
        part = isinstance(answer, Part)
        query = _alone(answer) if isinstance(answer, Part) else answer.question
        labels = [each.name.casefold() for each in labelled(query, answer.columns)]
        wanted, least = table_of(labels, answer.rows), len(SAID)
        found = []
        for way in (RIGHT, *others(self.files.recorded.variant.format, part=part)):
            if (size := str(way).count(" and ")) > least:
                break
            if self._table(query, way) == wanted:
                found.append(way)
                least = size if str(way) else -1
        return found

    def _table(self, query: Query, way: Deviation) -> TableLook | None:
        try:
            return self.files.table(self.cell.step, self.cell.view, query, self.reader, way)
        except ValueError:  # a value has no form in the column's type
            return None

    def witnesses(self) -> Iterator[str]:
        """Say of the first place of each finding what the files hold there and what was shown."""
        for finding in self.said.get("findings", ()):
            place, more = finding["places"][0], len(finding["places"]) - 1
            at = f"{place['column'] or 'row'} of {place['key']}" if place["key"] else "the answer"
            also = f" (and {more} more)" if more else ""
            shown = short(place.get("raw") or place["found"])
            held = "; ".join(self._held(place["key"], place["column"]))
            yield f"{finding['kind']} at {at}{also}: shown {shown}; {held or 'no file has the row'}"

    def _held(self, key: str, column: str) -> Iterator[str]:
        step, view = self.cell.step, self.cell.view
        for fact in self.files.read(step, view):
            for row in self.files.held(fact):
                if row.key == key:
                    yield f"{name(fact.path)} of step {row.step} holds {self._value(row, column)}"
            if key in fact.deleted:
                yield f"{name(fact.path)} deletes it"

    def _value(self, row: Stored, column: str) -> str:
        head = column.partition(".")[0]
        field = next(
            (each for each in self.fields if each.name.casefold() == head.casefold()), None
        )
        then = self.files.case.history[row.step].schema
        own = then.by_id(field.id) if field else None
        if not column or own is None:
            return "it" if not column else f"no column of {head}'s id"
        return f"{own.name} = {short(text_of(row.values.get(own.name)))}"


def _alone(part: Part) -> Query:
    return Query(columns=tuple(each.name for each in part.columns))


def short(value: object) -> str:
    """Return a text of bounded length on one line."""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def name(path: str) -> str:
    """Return the name of a file with its folder, if any, without the zeroes of its id."""
    return path.replace("00000000-0000-0000-0000-", "")


def peers(known: KnownGoodCell) -> str:
    """Return who answered the same question rightly."""
    if not known.peers:
        return "no other reader answered this question rightly"
    more = len(known.peers) - PEERS
    also = f" and {more} more" if more > 0 else ""
    return f"answered rightly by {'; '.join(known.peers[:PEERS])}{also}"


def alone(known: KnownGoodCell) -> tuple[str, bool]:
    """What became of columns asked alone; second, whether each is right, refused or a way's."""
    told = dict[str, list[str]]()
    for part in known.answer.parts:
        if part.refusal:
            same = part.refusal.cause[:40] == (known.answer.refusal or part.refusal).cause[:40]
            told.setdefault("refused alike" if same else "refused otherwise", []).append(
                part.column
            )
        else:
            found = known.ways(part)
            told.setdefault(way_text(found), []).append(part.column)
    if not told:
        return "", True
    texts = [f"{len(names)} {text} ({short(', '.join(names))})" for text, names in told.items()]
    return "columns asked alone: " + ", ".join(texts), UNKNOWN not in told


UNKNOWN: Final = "as no way tried gives"


def way_text(found: Sequence[Deviation]) -> str:
    """Name the ways that give an answer."""
    if not found:
        return UNKNOWN
    return "right" if found[0] == RIGHT else "as if " + ", or ".join(map(str, found))
