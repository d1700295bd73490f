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

from harness.core.records import Finding, FindingKind, Responsible, Witness
from harness.judge.agreement import FileAgreement
from harness.judge.checks.altered_value import shows_folder
from harness.judge.compare import AnswerComparison
from harness.judge.difference import Difference, DifferenceKind, Location
from harness.judge.expected_state import ExpectedState
from harness.judge.name import NamedDifference
from harness.model.canonical import Value, text_of


@dataclass(frozen=True, slots=True)
class HiddenFromReaders:
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

    def history(self, difference: Difference) -> Responsible | None:
        """Return whose doing a place is that a reader shows against the files.

        Rows that a condition on a mistaken column chooses tell nothing: nobody is named.
        """
        if self.takes_for_another(difference) or self.loses(difference):
            return Responsible.HISTORY
        chosen = difference.kind not in {DifferenceKind.CELL, DifferenceKind.COLUMN_TYPE}
        misled = {path.partition(".")[0].lower() for path in (*self.mistaken, *self.lost)}
        return None if chosen and self.conditions & misled else Responsible.READER

    def takes_for_another(self, difference: Difference) -> bool:
        """Return whether a value is that of a field for which the table's history takes its own."""
        others = self.mistaken.get(difference.column.partition(".")[0].lower(), ())
        return difference.origin is not None and difference.origin.field_id in others

    def loses(self, difference: Difference) -> bool:
        """Return whether nothing leads to a value of which NULL, or nothing, is shown."""
        return difference.actual is None and difference.key in self.lost.get(difference.column, ())

    def lists_otherwise(self, difference: Difference) -> bool:
        """Return whether the catalog has a column too many, too few, or of before, as an answer."""
        if difference.kind is DifferenceKind.COLUMN_TYPE and not difference.key:
            type_ = self.outdated.get(difference.column.lower())
            return type_ is not None and type_ == text_of(difference.actual)
        if not self.columns or difference.kind not in {
            DifferenceKind.EXTRA_COLUMN,
            DifferenceKind.ABSENT_COLUMN,
        }:
            return False
        return (difference.column.lower() in self.columns) is (
            difference.kind is DifferenceKind.EXTRA_COLUMN
        )


NOTHING_HIDDEN: Final = HiddenFromReaders()


def attribute(
    named: Sequence[NamedDifference],
    comparison: AnswerComparison,
    agreement: FileAgreement | None,
    state: ExpectedState,
    missing: HiddenFromReaders = NOTHING_HIDDEN,
) -> tuple[Finding, ...]:
    """Return the findings of an answer: the places of one name that are one party's doing.

    `missing`: what the writer may have kept from readers.
    `MODEL` stands where the answer is in the files and no statement settles who is right; no party
    where what the files hold is not known.
    """
    withheld, in_type = _hidden_from_readers(named, state, missing), _outdated(named, missing)
    groups: dict[tuple[FindingKind, Responsible | None], list[Difference]] = {}
    for difference in named:
        responsible = _responsible(difference.difference, state, comparison, agreement)
        withheld_by = withheld.get(difference.difference.location, responsible)
        responsible = (
            withheld_by
            if responsible is Responsible.READER or withheld_by is Responsible.CATALOG
            else responsible
        )
        if responsible is Responsible.READER and (
            missing.lists_otherwise(difference.difference) or in_type.has(difference)
        ):
            responsible = Responsible.COLUMNS
        responsible = (
            missing.history(difference.difference)
            if responsible is Responsible.READER
            else responsible
        )
        groups.setdefault((difference.kind, responsible), []).append(
            replace(difference.difference, responsible=responsible)
        )
    order = [at for kind in FindingKind for at in groups if at[0] is kind]
    return tuple(_finding(at[0], groups[at], state) for at in order)


@dataclass(frozen=True, slots=True)
class _Outdated:
    """The columns, in lower case, that an answer declares as the catalog does: of before."""

    columns: AbstractSet[str]

    def has(self, named: NamedDifference) -> bool:
        """Return whether a right value is shown in the type of before, as the column is."""
        root = named.difference.column.partition(".")[0].partition("[")[0]
        return named.kind is FindingKind.TYPE_DRIFT and root.lower() in self.columns


def _outdated(named: Sequence[NamedDifference], missing: HiddenFromReaders) -> _Outdated:
    declared = (
        difference.difference
        for difference in named
        if difference.difference.kind is DifferenceKind.COLUMN_TYPE
    )
    return _Outdated(
        {
            difference.column.lower()
            for difference in declared
            if missing.lists_otherwise(difference)
        }
    )


def _hidden_from_readers(
    named: Sequence[NamedDifference], state: ExpectedState, missing: HiddenFromReaders
) -> Mapping[Location, Responsible | None]:
    """Return the places that lack rows which the writer kept from readers, with its party.

    Nobody is named where statistics are not known, by which a reader may have left out rows.
    """
    doubted = (
        {DifferenceKind.ABSENT_ROW, DifferenceKind.COUNT}
        if missing.unknown
        else set[DifferenceKind]()
    )
    result: dict[Location, Responsible | None] = {
        difference.difference.location: None
        for difference in named
        if difference.difference.kind in doubted
    }
    for keys in missing.excluded:
        result |= dict.fromkeys(_all_of(keys, named, state), Responsible.STATISTICS)
    return result | dict.fromkeys(_all_of(missing.unlisted, named, state), Responsible.CATALOG)


def _all_of(
    keys: AbstractSet[str], named: Sequence[NamedDifference], state: ExpectedState
) -> frozenset[Location]:
    """Return the places that lack all rows of some keys.

    An answer with one of these rows is of a reader that finds them all the same.
    """
    missing = keys & state.keys.keys()
    locations = frozenset((DifferenceKind.ABSENT_ROW, key, "") for key in missing)
    if missing and locations <= {
        named_difference.difference.location for named_difference in named
    }:
        return locations
    counts = (
        difference.difference
        for difference in named
        if difference.difference.kind is DifferenceKind.COUNT
    )
    return frozenset(count.location for count in counts if missing and _fewer(count, len(missing)))


def _fewer(difference: Difference, rows: int) -> bool:
    """Return whether a count is too small by just so many rows."""
    expected, result = difference.expected, difference.actual
    return difference.counted and isinstance(expected, int) and result == expected - rows


def _responsible(
    difference: Difference,
    state: ExpectedState,
    comparison: AnswerComparison,
    agreement: FileAgreement | None,
) -> Responsible | None:
    if agreement is None or comparison.in_files is None:
        return None
    if _agrees(difference, comparison.in_files, agreement):
        if not agreement.sent(difference):
            return Responsible.MODEL
        return Responsible.FOLDER if agreement.by_path(difference) else Responsible.WRITER
    named = comparison.by_folder
    by_name = named is not None and _agrees(difference, named, agreement)
    # Who shows the name itself is right of no row whose value the name does not tell.
    in_its_words = shows_folder(difference, state) and agreement.named_otherwise(difference)
    return Responsible.FOLDER if by_name or in_its_words else Responsible.READER


def _agrees(difference: Difference, wrong: frozenset[Location], agreement: FileAgreement) -> bool:
    """Return whether an answer shows at a place what files hold, by where it differs from that."""
    if (DifferenceKind.EXTRA_ROW, difference.key, "") in wrong:
        return False
    if difference.kind is DifferenceKind.SECOND_ROW:
        return difference.key in agreement.content.twice
    return difference.location not in wrong


def _finding(kind: FindingKind, differences: Sequence[Difference], state: ExpectedState) -> Finding:
    columns = tuple(
        dict.fromkeys(_column(difference, state) for difference in differences if difference.column)
    )
    witnesses = tuple(_witness(difference) for difference in differences)
    return Finding(kind, columns, witnesses[0], witnesses, differences[0].responsible)


def _column(difference: Difference, state: ExpectedState) -> str:
    # Elements and map entries have a place each, `f[0]`, but are one column, `f.element`.
    if "[" not in difference.column:
        return difference.column
    path = state.schema.path_of(difference.field.id) if difference.field else None
    return path or difference.column.partition("[")[0]


def _witness(difference: Difference) -> Witness:
    expected, result = (
        _plain(difference, difference.expected),
        _plain(difference, difference.actual),
    )
    raw = text_of(difference.actual)
    details = difference.origin, raw, difference.file, difference.folder
    return Witness(difference.key, difference.column, expected, result, *details)


def _plain(difference: Difference, value: Value) -> Value:
    # A whole row is shown as one text; cells keep their typed value.
    return (
        text_of(value)
        if difference.kind in {DifferenceKind.EXTRA_ROW, DifferenceKind.SECOND_ROW}
        else value
    )
