"""What an answer tells when it is held against the truth, whoever gave it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness import compare, diagnosis
from harness.checks.place import Place, What, World
from harness.foretold import Foretold
from harness.layout import Layout
from harness.model.canonical import Value, text_of
from harness.model.files import FileFact
from harness.model.query import Query
from harness.record import Answer, Column, Finding, Part, labelled


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
    """Give the wrong places of the columns asked alone, each once.

    Every part shows the key column and all rows again, so what is wrong with them is in several.
    """
    if not answer.parts:
        return ()
    rows: dict[tuple[What, str, str], list[Place]] = {}
    columns: dict[str, Column] = {}
    for part in answer.parts:
        again: dict[tuple[What, str, str], list[Place]] = {}
        for place in _of_part(part, world, layout) if _answered(part) else ():
            again.setdefault((place.what, place.key, place.column), []).append(place)
        rows |= {at: places for at, places in again.items() if len(places) > len(rows.get(at, ()))}
        columns |= {column.name: column for column in part.columns}
        columns.setdefault(part.column, Column(part.column, ""))
    names = world.schema.names
    heads = compare.wrong_columns(world, tuple(columns.values()), names)
    return (*(place for places in rows.values() for place in places), *heads)


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
    """Give what is wrong, in view of what the rows were read from where that is known.

    How a right answer was read does not matter, and most are right.
    """
    found = wrong(world)
    told = foretold() if found else None
    return wrong(replace(world, foretold=told)) if told else found


def _answered(part: Part) -> bool:
    return part.refusal is None and not part.unknown


def wrong(answer: Answer, world: World, layout: Layout) -> tuple[Place, ...]:
    """Give the wrong places of an answer, or of the columns asked alone."""
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
    """Tell whether anything is wrong with the rows of an answer, and name nothing.

    How they were read says whose a wrong value is; that one is wrong their values alone tell.
    """
    query, seen = answer.question, compare.narrowed(world, answer.question)
    return bool(compare.wrong(seen, query, answer.columns, answer.rows))


def of_rows(answer: Answer, places: Sequence[Place], world: World, layout: Layout) -> Told:
    """Give what is told of an answer that has rows; `places`: those of them that are wrong."""
    seen = compare.narrowed(world, answer.question)
    found, ways = diagnosis.findings(places, seen), layout.ways(answer)
    doubt = layout.doubt() if found else ""
    return Told(found, ways, doubt, answer.scant)


def filed(answer: Answer, places: Sequence[Place], layout: Layout) -> tuple[Place, ...]:
    """Give the places with the file that each found value was read from, where that is known."""
    files = layout.read_from(answer) if places else {}
    return tuple(_filed(each, files) for each in places)


def _filed(place: Place, files: Mapping[str, FileFact]) -> Place:
    there = files.get(place.key)
    # A value of another row came from wherever that one is.
    others = place.origin is not None and place.origin.key != place.key
    if there is None or place.what is What.ABSENT_ROW or others:
        return place
    return replace(place, file=there.path)


def quoted(told: Told, answer: Answer, key: str) -> Told:
    """Give the findings with the engine's own texts; `key`: the name of the key column.

    Answers alike are told alike, however they were written.
    """
    texts = dict(_own_texts(answer, key)) if told.findings else {}
    if not texts:
        return told
    places = (place for each in told.findings for place in each.places)
    shown = {each.key: text_of(each.found) for each in places if each.column == key}
    found = (_quoted(each, texts, shown) for each in told.findings)
    return replace(told, findings=tuple(found))


def _own_texts(answer: Answer, key: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Give the texts by the key that the row shows, where no other row shows it, and the column."""
    asked: tuple[Answer | Part, ...] = (answer, *answer.parts)
    for part in asked:
        columns = labelled(answer.question, part.columns) if part is answer else part.columns
        names = [each.name for each in columns]
        if not part.raw or key not in names:
            continue
        keys = [text_of(row[names.index(key)]) for row in part.rows]
        times = Counter(keys)
        for row, column, text in part.raw:
            if times[keys[row]] == 1:
                yield (keys[row], names[column]), text


def _quoted(
    finding: Finding, texts: Mapping[tuple[str, str], str], shown: Mapping[str, str]
) -> Finding:
    """Give a finding with the texts; `shown`: what rows whose key is wrong show instead of it."""
    places = tuple(
        replace(each, raw=text) if text else each
        for each in finding.places
        for text in (_text(texts, shown.get(each.key, each.key), each.column),)
    )
    return replace(finding, witness=places[0], places=places)


def _text(texts: Mapping[tuple[str, str], str], key: str, column: str) -> str:
    """Give the text of the cell that a place is in: a part of a value stands in the whole of it."""
    ends = [at for at, letter in enumerate(column) if letter in {".", "["}]
    cells = ((key, column[:end]) for end in (len(column), *reversed(ends)))
    return next((texts[cell] for cell in cells if cell in texts), "")


def content(answer: Answer) -> Hashable:
    """Give all of an answer that is judged, as texts: 1, 1.0 and true are not the same.

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
