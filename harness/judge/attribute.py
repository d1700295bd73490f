"""Stage 6: whose doing each wrong place is, as far as one answer tells; places alike are a finding.

An answer was compared a second time, as if the table were what its files hold. What is wrong
against the truth and right against the files is not the reader's doing. It is the writer's where
the statements that were sent say so by themselves and no engine shows what they say. Else it may as
well be our own mistake, in the model or in how files are read: nobody is named (docs/findings.md,
"Who did it"). Rows in partitions that no step of the writer's entered in the catalog are lost to
all who go by it; so are rows that statistics exclude, and partition values, where the name of the
folder says something else than was written, and columns of which the catalog has too many, too
few, or one of a type of before. What other readers answered counts afterwards (`settle`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

from harness.core.parties import Party
from harness.core.records import Finding, FindingKind, Witness
from harness.judge.agreement import FileAgreement
from harness.judge.checks.altered_value import shows_folder
from harness.judge.compare import AnswerComparison
from harness.judge.name import NamedPlace
from harness.judge.place import Place, Spot, What
from harness.judge.world import World
from harness.model.canonical import Value, text_of


@dataclass(frozen=True, slots=True)
class KeptFromReaders:
    """Rows that files hold, and that the writer may have kept from readers; by their keys."""

    unlisted: AbstractSet[str] = frozenset()
    """Those in partitions that the catalog does not list."""
    excluded: Sequence[AbstractSet[str]] = ()
    """Those that stored statistics exclude, for each place where such are stored."""
    unknown: bool = False
    """Whether there are statistics that may exclude rows, and are not known."""
    columns: AbstractSet[str] = frozenset()
    """Those that the catalog lists, in lower case; none where that is not known."""
    outdated: Mapping[str, str] = field(default_factory=dict)
    """Those of them that it lists with a type that they had before, with that type."""

    mistaken: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    """Those that the table's own history of its schema takes for other fields, with these."""

    lost: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    """The columns, and parts of structs, that the table's own records do not lead to in files which
    hold them, with the keys of the rows there."""

    conditions: AbstractSet[str] = frozenset()
    """The columns of the question's conditions, in lower case."""

    def history(self, place: Place) -> Party | None:
        """Return whose doing a place is that a reader shows against the files.

        Rows that a condition on a mistaken column chooses tell nothing: nobody is named.
        """
        if self.takes_for_another(place) or self.loses(place):
            return Party.HISTORY
        chosen = place.what not in {What.CELL, What.COLUMN_TYPE}
        misled = {path.partition(".")[0].lower() for path in (*self.mistaken, *self.lost)}
        return None if chosen and self.conditions & misled else Party.READER

    def takes_for_another(self, place: Place) -> bool:
        """Return whether a value is that of a field for which the table's history takes its own."""
        others = self.mistaken.get(place.column.partition(".")[0].lower(), ())
        return place.origin is not None and place.origin.field_id in others

    def loses(self, place: Place) -> bool:
        """Return whether nothing leads to a value of which NULL, or nothing, is shown."""
        return place.found is None and place.key in self.lost.get(place.column, ())

    def lists_otherwise(self, place: Place) -> bool:
        """Return whether the catalog has a column too many, too few, or of before, as an answer."""
        if place.what is What.COLUMN_TYPE and not place.key:
            told = self.outdated.get(place.column.lower())
            return told is not None and told == text_of(place.found)
        if not self.columns or place.what not in {What.EXTRA_COLUMN, What.ABSENT_COLUMN}:
            return False
        return (place.column.lower() in self.columns) is (place.what is What.EXTRA_COLUMN)


NOTHING_KEPT: Final = KeptFromReaders()


def attribute(
    named: Sequence[NamedPlace],
    comparison: AnswerComparison,
    agreement: FileAgreement | None,
    world: World,
    missing: KeptFromReaders = NOTHING_KEPT,
) -> tuple[Finding, ...]:
    """Return the findings of an answer: the places of one name that are one party's doing.

    `missing`: what the writer may have kept from readers.
    `MODEL` stands where the answer is in the files and no statement settles who is right; no party
    where what the files hold is not known.
    """
    kept_from, in_type = _kept_from_readers(named, world, missing), _outdated(named, missing)
    groups: dict[tuple[FindingKind, Party | None], list[Place]] = {}
    for each in named:
        party = _party(each.place, world, comparison, agreement)
        kept = kept_from.get(each.place.spot, party)
        party = kept if party is Party.READER or kept is Party.CATALOG else party
        if party is Party.READER and (missing.lists_otherwise(each.place) or in_type.has(each)):
            party = Party.COLUMNS
        party = missing.history(each.place) if party is Party.READER else party
        groups.setdefault((each.kind, party), []).append(replace(each.place, party=party))
    order = [at for kind in FindingKind for at in groups if at[0] is kind]
    return tuple(_finding(at[0], groups[at], world) for at in order)


@dataclass(frozen=True, slots=True)
class _Outdated:
    """The columns, in lower case, that an answer declares as the catalog does: of before."""

    columns: AbstractSet[str]

    def has(self, named: NamedPlace) -> bool:
        """Return whether a right value is shown in the type of before, as the column is."""
        root = named.place.column.partition(".")[0].partition("[")[0]
        return named.kind is FindingKind.TYPE_DRIFT and root.lower() in self.columns


def _outdated(named: Sequence[NamedPlace], missing: KeptFromReaders) -> _Outdated:
    declared = (each.place for each in named if each.place.what is What.COLUMN_TYPE)
    return _Outdated({each.column.lower() for each in declared if missing.lists_otherwise(each)})


def _kept_from_readers(
    named: Sequence[NamedPlace], world: World, missing: KeptFromReaders
) -> Mapping[Spot, Party | None]:
    """Return the places that lack rows which the writer kept from readers, with its party.

    Nobody is named where statistics are not known, by which a reader may have left out rows.
    """
    doubted = {What.ABSENT_ROW, What.COUNT} if missing.unknown else set[What]()
    found: dict[Spot, Party | None] = {
        each.place.spot: None for each in named if each.place.what in doubted
    }
    for keys in missing.excluded:
        found |= dict.fromkeys(_all_of(keys, named, world), Party.STATISTICS)
    return found | dict.fromkeys(_all_of(missing.unlisted, named, world), Party.CATALOG)


def _all_of(keys: AbstractSet[str], named: Sequence[NamedPlace], world: World) -> frozenset[Spot]:
    """Return the places that lack all rows of some keys.

    An answer with one of these rows is of a reader that finds them all the same.
    """
    missing = keys & world.keys.keys()
    spots = frozenset((What.ABSENT_ROW, key, "") for key in missing)
    if missing and spots <= {each.place.spot for each in named}:
        return spots
    counts = (each.place for each in named if each.place.what is What.COUNT)
    return frozenset(each.spot for each in counts if missing and _fewer(each, len(missing)))


def _fewer(place: Place, rows: int) -> bool:
    """Return whether a count is too small by just so many rows."""
    expected, found = place.expected, place.found
    return place.counted and isinstance(expected, int) and found == expected - rows


def _party(
    place: Place, world: World, comparison: AnswerComparison, agreement: FileAgreement | None
) -> Party | None:
    if agreement is None or comparison.in_files is None:
        return None
    if _agrees(place, comparison.in_files, agreement):
        if not agreement.sent(place):
            return Party.MODEL
        return Party.FOLDER if agreement.by_path(place) else Party.WRITER
    named = comparison.by_folder
    by_name = named is not None and _agrees(place, named, agreement)
    # Who shows the name itself is right of no row whose value the name does not tell.
    in_its_words = shows_folder(place, world) and agreement.named_otherwise(place)
    return Party.FOLDER if by_name or in_its_words else Party.READER


def _agrees(place: Place, wrong: frozenset[Spot], agreement: FileAgreement) -> bool:
    """Return whether an answer shows at a place what files hold, by where it differs from that."""
    if (What.EXTRA_ROW, place.key, "") in wrong:
        return False
    if place.what is What.SECOND_ROW:
        return place.key in agreement.held.twice
    return place.spot not in wrong


def _finding(kind: FindingKind, places: Sequence[Place], world: World) -> Finding:
    columns = tuple(dict.fromkeys(_column(place, world) for place in places if place.column))
    witnesses = tuple(_witness(place) for place in places)
    return Finding(kind, columns, witnesses[0], witnesses, places[0].party)


def _column(place: Place, world: World) -> str:
    # Elements and map entries have a place each, `f[0]`, but are one column, `f.element`.
    if "[" not in place.column:
        return place.column
    path = world.schema.path_of(place.field.id) if place.field else None
    return path or place.column.partition("[")[0]


def _witness(place: Place) -> Witness:
    expected, found = _plain(place, place.expected), _plain(place, place.found)
    raw = text_of(place.found)
    told = place.origin, raw, place.file, place.folder
    return Witness(place.key, place.column, expected, found, *told)


def _plain(place: Place, value: Value) -> Value:
    # A whole row is shown as one text; cells keep their typed value.
    return text_of(value) if place.what in {What.EXTRA_ROW, What.SECOND_ROW} else value
