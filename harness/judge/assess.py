"""What an answer tells when it is held against the truth, whoever gave it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from harness.core.records import Answer, Column, Finding, Part, labelled
from harness.judge import compare, diagnosis
from harness.judge.checks.place import Place, What, World
from harness.judge.file_evidence import Layout
from harness.judge.predicted_origins import Foretold, Looks, looks_of
from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileFact
from harness.model.query import Query

_At = TypeVar("_At")
_WHOLE_ROWS: Final = frozenset({What.EXTRA_ROW, What.SECOND_ROW, What.ABSENT_ROW})


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer tells, whoever gave it."""

    findings: tuple[Finding, ...]
    ways: tuple[str, ...] = ()
    """How columns were found, where that reproduces the answer."""
    doubt: str = ""
    """How the files are not as the truth says, or tell nothing, where something is wrong."""
    scant: bool = False
    """Whether the answer tells too little to claim one of the ways."""


def _in_parts(answer: Answer, world: World, layout: Layout) -> tuple[Place, ...]:
    """Return the wrong places of the columns asked alone, each once.

    Every part shows the key column and all rows again, so what is wrong with them is in several.
    """
    if not answer.parts:
        return ()
    rows: dict[Hashable, list[Place]] = {}
    for part in answer.parts:
        again: dict[Hashable, list[Place]] = {}
        for place in _of_part(part, world, layout) if _answered(part) else ():
            again.setdefault(_seen_at(place), []).append(place)
        rows |= {at: places for at, places in again.items() if len(places) > len(rows.get(at, ()))}
    heads = _heads_in_parts(answer.parts, world)
    return (*(place for places in rows.values() for place in places), *heads)


def _seen_at(place: Place) -> Hashable:
    """Return by what a place is the same in several parts: in another one its row has other values.

    Where parts show different things at one place, each of them stands.
    """
    found = "" if place.what in _WHOLE_ROWS else repr(place.found)
    return place.what, place.key, place.column, found


def _heads_in_parts(parts: Sequence[Part], world: World) -> Collection[Place]:
    """Return what is wrong with the columns that parts show, and how they are declared, each once.

    All of them together are what a whole answer would have shown, and told like one, which tells
    the step that they are of. Each part by itself has the key and the column it was asked for.
    """
    key = world.history[0].table.key
    wrong = list(compare.wrong_columns(world, _together(parts, world), world.schema.names))
    for part in filter(_answered, parts):
        asked = tuple(dict.fromkeys((key, part.column)))
        wrong += compare.wrong_columns(world, part.columns, asked)
    once: dict[Hashable, Place] = {}
    for each in wrong:
        once.setdefault(_seen_at(each), each)
    return once.values()


def _together(parts: Sequence[Part], world: World) -> tuple[Column, ...]:
    """Return the columns of all parts as those of one answer, in which the key stands once."""
    key = world.history[0].table.key
    keys: list[Column] = []
    others: list[Column] = []
    for part in parts:
        shown = _shown(part, world)
        names = [each.name for each in shown]
        at = names.index(key) if key in names else len(names)
        keys += shown[at : at + 1]
        others += (*shown[:at], *shown[at + 1 :])
    return (*keys[:1], *others)


def _shown(part: Part, world: World) -> tuple[Column, ...]:
    """Return the columns that a part shows.

    One that was refused has the column it was asked for. Nor is it known how a part could show a
    column that only the reader's catalog has: that it was asked for is wrong already.
    """
    columns = part.columns if _answered(part) else ()
    names = [each.name for each in columns]
    known = _answered(part) and world.schema.has(part.column)
    return columns if known or part.column in names else (*columns, Column(part.column, ""))


def _of_part(part: Part, world: World, layout: Layout) -> tuple[Place, ...]:
    names = tuple(column.name for column in part.columns)
    return _as_read(
        lambda seen: compare.wrong_rows(seen, part.columns, part.rows),
        world,
        lambda: layout.foretold(Query(columns=names), names, part.rows),
    )


def _as_read(
    wrong: Callable[[World], tuple[Place, ...]],
    world: World,
    foretold: Callable[[], Foretold | None],
) -> tuple[Place, ...]:
    """Return what is wrong, in view of what the rows were read from where that is known.

    How a right answer was read does not matter, and most are right.
    """
    found = wrong(world)
    told = foretold() if found else None
    return wrong(replace(world, foretold=told)) if told else found


def _answered(part: Part) -> bool:
    return part.refusal is None and not part.unknown


def wrong(answer: Answer, world: World, layout: Layout) -> tuple[Place, ...]:
    """Return the wrong places of an answer, or of the columns asked alone."""
    if answer.refusal is not None:
        return _in_parts(answer, world, layout)
    query = answer.question
    names = [each.name for each in labelled(query, answer.columns)]
    return _as_read(
        lambda seen: compare.wrong(seen, query, answer.columns, answer.rows),
        compare.narrowed(world, query),
        lambda: layout.foretold(query, names, answer.rows),
    )


def differs(answer: Answer, world: World) -> bool:
    """Return whether anything is wrong with the rows of an answer, and name nothing.

    How they were read says whose a wrong value is; that one is wrong their values alone tell.
    """
    query, seen = answer.question, compare.narrowed(world, answer.question)
    return bool(compare.wrong(seen, query, answer.columns, answer.rows))


def of_rows(answer: Answer, places: Sequence[Place], world: World, layout: Layout) -> Told:
    """Return what is told of an answer that has rows; `places`: those of them that are wrong."""
    seen = compare.narrowed(world, answer.question)
    found, ways = diagnosis.findings(places, seen), layout.ways(answer)
    doubt = layout.doubt() if found else ""
    return Told(found, ways, doubt, answer.scant)


def filed(answer: Answer, places: Sequence[Place], layout: Layout) -> tuple[Place, ...]:
    """Return the places with the file that each found value was read from, where that is known."""
    files = layout.read_from(answer) if places else {}
    again = any(each.what is What.SECOND_ROW for each in places)
    twice = layout.twice_from(answer) if again else {}
    labels = [each.name for each in labelled(answer.question, answer.columns)]
    return tuple(
        _filed(each, files.get(each.key) or _of_second(each, labels, twice)) for each in places
    )


def _of_second(
    place: Place, labels: Sequence[str], twice: Mapping[tuple[str, Looks], FileFact]
) -> FileFact | None:
    """Return file of a row that is answered twice by its values: each may be of another file."""
    if not (twice and place.what is What.SECOND_ROW and isinstance(place.found, tuple)):
        return None
    return twice.get((place.key, looks_of(labels, place.found)))


def _filed(place: Place, there: FileFact | None) -> Place:
    # A value of another row came from wherever that one is.
    others = place.origin is not None and place.origin.key != place.key
    if there is None or place.what is What.ABSENT_ROW or others:
        return place
    return replace(place, file=there.path)


def quoted(told: Told, answer: Answer, key: str) -> Told:
    """Return the findings with the engine's own texts; `key`: the name of the key column.

    Answers alike are told alike, however they were written.
    """
    texts = _unambiguous(_own_texts(answer, key)) if told.findings else {}
    if not texts:
        return told
    places = (place for each in told.findings for place in each.places)
    shown = _unambiguous((each.key, text_of(each.found)) for each in places if each.column == key)
    found = (_quoted(each, texts, shown, key) for each in told.findings)
    return replace(told, findings=tuple(found))


def _unambiguous(texts: Iterable[tuple[_At, str]]) -> dict[_At, str]:
    """Return texts of what has one alone: several parts may show a key, and each another one."""
    found: dict[_At, set[str]] = {}
    for at, text in texts:
        found.setdefault(at, set()).add(text)
    return {at: several.pop() for at, several in found.items() if len(several) == 1}


def _own_texts(answer: Answer, key: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the texts by the key that the row shows, where no other row shows it, and the column.

    Of a column that is there twice it is the first one that is looked at.
    """
    asked: tuple[Answer | Part, ...] = (answer, *answer.parts)
    for part in asked:
        columns = labelled(answer.question, part.columns) if part is answer else part.columns
        names = [each.name for each in columns]
        if not part.raw or key not in names:
            continue
        keys = [text_of(row[names.index(key)]) for row in part.rows]
        times = Counter(keys)
        for row, column, text in part.raw:
            if times[keys[row]] == 1 and names.index(names[column]) == column:
                yield (keys[row], names[column]), text


def _quoted(
    finding: Finding, texts: Mapping[tuple[str, str], str], shown: Mapping[str, str], key: str
) -> Finding:
    """Return a finding with the texts; `shown`: what rows whose key is wrong show instead of it."""
    places = []
    for each in finding.places:
        row = text_of(each.found) if each.column == key else shown.get(each.key, each.key)
        text = _text(texts, row, each.column)
        places.append(replace(each, raw=text) if text else each)
    return replace(finding, witness=places[0], places=tuple(places))


def _text(texts: Mapping[tuple[str, str], str], key: str, column: str) -> str:
    """Return text of the cell that a place is in: a part of a value stands in the whole of it."""
    ends = [at for at, letter in enumerate(column) if letter in {".", "["}]
    cells = ((key, column[:end]) for end in (len(column), *reversed(ends)))
    return next((texts[cell] for cell in cells if cell in texts), "")


def content(answer: Answer) -> Hashable:
    """Return all of an answer that is judged, as texts: 1, 1.0 and true are not the same.

    The order of rows is no part of it.
    """
    parts = [
        (each.column, _heads(each.columns), _texts(each.rows), _answered(each))
        for each in answer.parts
    ]
    told = _heads(answer.columns), _texts(answer.rows), parts
    return answer.refusal is None, repr(told)


def _texts(rows: Sequence[tuple[Value, ...]]) -> list[str]:
    return sorted(map(repr, rows))


def _heads(columns: Sequence[Column]) -> list[tuple[str, str]]:
    # The engine's own word for a type counts only where it has none in our words.
    return [(each.name, each.canonical or f"engine's {each.type}") for each in columns]
