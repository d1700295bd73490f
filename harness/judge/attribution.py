"""Who is to blame for a wrong answer: the reader, the writer, or nobody before the model is.

An answer is judged a second time, as if the table were what its files hold. What is wrong against
the truth and right against the files is not the reader's doing. It is the writer's where the
statements that were sent say so by themselves and no engine shows what they say. Else it may as
well be our own mistake, in the model or in how files are read: nobody is named (docs/findings.md,
"Who did it").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

from harness.core.records import Answer, Finding, FindingKind, Party, Verdict, VerdictKind, Witness
from harness.judge.checks.place import Place, What, World
from harness.judge.file_contents import Difference, Held, Holdings
from harness.model.canonical import Value, same, text_of
from harness.model.file_facts import FileFact
from harness.model.truth import row_values
from harness.scenario.cells import parse_reader

Judged = Callable[[World], Sequence[Place]]
"""Gives the wrong places of one answer, were the table what a world says."""
VOICES: Final = 2
"""So many distributions must agree before the truth is doubted, as for an alarm of a report."""
LOST: Final = "it was written, and no file holds it"
EXTRA: Final = "it was deleted or never written, and a file holds it"
EARLIER: Final = "it was written since, and its file says that it was committed before"
LATER: Final = "it was written before, and its file says that it was committed since"
IN_DOUBT: Final = (
    "the reference model is in doubt: engines and files agree against it, and none sides with it"
)


@dataclass(frozen=True, slots=True)
class Odd:
    """One thing that files hold otherwise than it was written."""

    key: str
    text: str
    file: FileFact | None = None
    """None where it is no value in one file."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class Beside:
    """The truth of a view beside what its files hold."""

    world: World
    held: Held
    holdings: Holdings

    @cached_property
    def alike(self) -> bool:
        """Whether files hold the truth."""
        there = {text_of(row.key): row for row in self.held.rows.values()}
        if len(self.held.rows) != len(there) or there.keys() != self.world.keys.keys():
            return False
        schema = self.world.schema
        return all(
            same(row_values(row, schema), row_values(there[key], schema))
            for key, row in self.world.keys.items()
        )

    @property
    def said(self) -> tuple[Odd, ...]:
        """What the files hold otherwise than it was written, for people."""
        there, older = self._there, self.held.older
        lost = [Odd(key, EARLIER if key in older else LOST) for key in self.world.keys]
        before = {text_of(key) for key in self.world.left_out}
        extra = sorted(there - self.world.keys.keys())
        return (
            *(Odd(each.key, _text(each), each.file) for each in self.held.differences),
            *(each for each in lost if each.key not in there),
            *(Odd(key, LATER if key in before else EXTRA) for key in extra),
            *(Odd(key, "it is there more than once") for key in sorted(self.held.twice)),
        )

    def sent(self, place: Place) -> bool:
        """Return whether no rule of the model can be at fault for what files hold at a place."""
        match place.what:
            case What.ABSENT_ROW:
                return self._row(place.key)
            case What.EXTRA_ROW:
                return self.holdings.gone_sent(place.key, self.world.step)
            case What.CELL if place.field:
                return self._cell(place.key, self.world.root_of(place.field.id))
            case What.COUNT:
                return self._rows()
        return False

    def _cell(self, key: str, field_id: int | None = None) -> bool:
        found = [
            each.sent
            for each in self.held.differences
            if each.key == key and field_id in {None, each.field_id}
        ]
        row, newest = self.world.keys.get(key), self.held.newest.get(key)
        if found or field_id is None or row is None or newest is None:
            return bool(found) and all(found)
        return self.holdings.value_sent(row, field_id, newest)

    def _row(self, key: str) -> bool:
        """Return whether a row has to be there by what was sent.

        That a write of a row is its newest commit is a rule of the model. So where a file has taken
        the write in, and says that the row was committed earlier, values alone tell.
        """
        row = self.world.keys[key]
        taken_in = self.held.newest.get(key, -1) >= max(row.written.values(), default=0)
        if key in self._there or (key in self.held.older and taken_in):
            return self._cell(key)
        return self.holdings.row_sent(row, self.world.step)

    @cached_property
    def _there(self) -> frozenset[str]:
        return frozenset(text_of(row.key) for row in self.held.rows.values())

    def _rows(self) -> bool:
        there = self._there
        lost = [key for key in self.world.keys if key not in there]
        extra = there - self.world.keys.keys()
        gone = (self.holdings.gone_sent(key, self.world.step) for key in extra)
        return bool(lost or extra) and all(gone) and all(map(self._row, lost))


def _text(found: Difference) -> str:
    shown = f"under {found.column} stands {_shown(found.found)}"
    return f"{shown}; written was {_shown(found.expected)}"


def _shown(value: Value) -> str:
    return repr(value) if isinstance(value, str) else text_of(value)


def blamed(
    beside: Beside | None, world: World, places: Sequence[Place], judged: Judged
) -> tuple[Place, ...]:
    """Return the places with whose doing each is, as far as one answer tells (see `settled`).

    `MODEL` stands where the answer is in the files and no statement settles who is right. `world`:
    what the answer was judged by, which is less than what was written where a product cannot show
    all. Nobody's where what the files hold is not known.
    """
    if beside is None or not places:
        return tuple(places)
    try:
        if beside.alike:
            return tuple(replace(each, party=Party.READER) for each in places)
        shown = replace(world, rows=beside.held.rows, left_out={}, newer=None)
        again = {(each.what, each.key, each.column) for each in judged(shown)}
    except ValueError:  # files hold a value that has no form in the type of today
        return tuple(places)
    return tuple(replace(each, party=_party(beside, each, again)) for each in places)


def _party(beside: Beside, place: Place, again: set[tuple[What, str, str]]) -> Party:
    not_in_files = (What.EXTRA_ROW, place.key, "") in again
    second = place.what is What.SECOND_ROW
    agrees = place.key in beside.held.twice if second else _at(place) not in again
    if not_in_files or not agrees:
        return Party.READER
    return Party.WRITER if beside.sent(place) else Party.MODEL


def _at(place: Place) -> tuple[What, str, str]:
    return place.what, place.key, place.column


def settled(verdicts: Sequence[Verdict], answers: Mapping[str, Answer]) -> tuple[Verdict, ...]:
    """Return the verdicts of a variant, each finding with whose doing it is after all were heard.

    That is seen over all readers of a question. Where everybody is against the model and no
    statement settles it, the verdict is `unknown`: an engine is not blamed for what may be our own
    mistake, and it is no pass. Else a wrong answer stays wrong, whoever did it.
    """
    answered: dict[Question, list[Verdict]] = {}
    for each in verdicts:
        if each.verdict in _JUDGED and _has_rows(answers.get(each.case)):
            answered.setdefault(_question(each), []).append(each)
    return tuple(
        _settled(each, answered.get(_question(each), ())) if may_turn(each) else each
        for each in verdicts
    )


Question = tuple[int, str, str]
_JUDGED: Final = frozenset({VerdictKind.CORRECT, VerdictKind.WRONG})
_FILED: Final = frozenset({Party.WRITER, Party.MODEL})
"""Those of whom the files hold what is answered."""


def _question(verdict: Verdict) -> Question:
    return verdict.step, verdict.view, verdict.query


def may_turn(verdict: Verdict) -> bool:
    """Return whether answers of others to the same question can still turn a verdict (`settled`).

    Only that of an answer which shows something wrong that files hold as well, be it in columns
    asked alone after a refusal. `WRITER` may become `UNSURE`; `MODEL` does, or it stays, and then a
    wrong answer is `unknown`. All else its own answer tells: that it is right, unknown or a mere
    refusal, that the reader did it, or that files are not known. Nor does it turn anything that
    many agree: that is an alarm of reports.
    """
    return any(each.party in _FILED for each in verdict.findings)


def _has_rows(answer: Answer | None) -> bool:
    return answer is not None and not (answer.refusal or answer.unknown or answer.void)


def _settled(verdict: Verdict, answered: Sequence[Verdict]) -> Verdict:
    """Name who did it where that is sure; findings alike then become one."""
    found: dict[tuple[FindingKind, Party | None], Finding] = {}
    for each in verdict.findings:
        finding = replace(each, party=_after_all(each, verdict, answered))
        at = finding.kind, finding.party
        found[at] = _together(found[at], finding) if at in found else finding
    settled_one = replace(verdict, findings=tuple(found.values()))
    doubted = any(each.party is Party.MODEL for each in settled_one.findings)
    if verdict.verdict is not VerdictKind.WRONG or not doubted:
        return settled_one
    return replace(settled_one, verdict=VerdictKind.UNKNOWN, because=IN_DOUBT)


def _after_all(finding: Finding, verdict: Verdict, answered: Sequence[Verdict]) -> Party | None:
    match finding.party:
        case Party.WRITER:
            # Files that hold something else cannot show it: one of the two readings is wrong.
            asked_alike = (each for each in answered if each.expected == verdict.expected)
            told_apart = any(map(partial(_shows_the_written, finding), asked_alike))
            return Party.UNSURE if told_apart else Party.WRITER
        case Party.MODEL:
            return Party.MODEL if _alone(finding, answered) else Party.UNSURE
    return finding.party


def _shows_the_written(finding: Finding, verdict: Verdict) -> bool:
    """Return whether an answer shows what was written, at some place of another one's finding."""
    wrong = [(each.key, each.column) for found in verdict.findings for each in found.places]
    return not all(any(_touch(place, at) for at in wrong) for place in finding.places)


def _touch(place: Witness, at: tuple[str, str]) -> bool:
    key, column = at
    if not place.column:
        return at == (place.key, "")
    return key in {"", place.key} and (not column or _root(column) == _root(place.column))


def _root(column: str) -> str:
    return column.partition(".")[0].partition("[")[0]


def _alone(finding: Finding, answered: Sequence[Verdict]) -> bool:
    """Return whether several engines show what the files hold, and none what the model expects."""
    places = {(each.key, each.column) for each in finding.places}
    agreeing = [each for each in answered if places <= _wrong_in(each, {Party.MODEL})]
    voices = {parse_reader(each.reader).distribution for each in agreeing}
    return len(voices) >= VOICES and all(places <= _wrong_in(each, set(Party)) for each in answered)


def _wrong_in(verdict: Verdict, parties: set[Party]) -> set[tuple[str, str]]:
    found = (each for each in verdict.findings if each.party in parties)
    return {(place.key, place.column) for each in found for place in each.places}


def _together(one: Finding, other: Finding) -> Finding:
    columns = tuple(dict.fromkeys((*one.columns, *other.columns)))
    return replace(one, columns=columns, places=(*one.places, *other.places))
