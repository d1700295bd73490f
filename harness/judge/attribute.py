"""Stage 6: who is responsible for each difference, as far as one answer tells.

An answer was compared a second time, as if the table were what its files hold. What is wrong
against the truth and right against the files is the writer's where the statements sent say so by
themselves and no engine shows what they say, else nobody's. What the writer kept from readers, in
the catalog, statistics or names of folders, is its doing too (docs/verdicts.md, "Who did it"). What
other readers answered counts afterwards (`final_attribution`).
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from harness.core.grouping import grouped
from harness.core.records import Finding, FindingKind, Responsible, Witness
from harness.judge.altered_value import shows_folder
from harness.judge.compare import AnswerComparison
from harness.judge.difference import Difference, DifferenceKind, Location
from harness.judge.expected_state import ExpectedState
from harness.judge.file_contents import FileAgreement
from harness.judge.hidden_from_readers import HiddenFromReaders
from harness.judge.name import NamedDifference
from harness.model.canonical import text_of


def attribute(
    named: Sequence[NamedDifference],
    comparison: AnswerComparison,
    agreement: FileAgreement | None,
    state: ExpectedState,
    hidden: HiddenFromReaders,
) -> tuple[Finding, ...]:
    """Return the findings of an answer: the differences of one name and one who is responsible.

    `MODEL` stands where the answer is in the files and no statement settles who is right; nobody
    where what the files hold is not known.
    """
    differences = [difference for _, difference in named]
    withheld = _withheld(differences, state, hidden)
    # Columns, in lower case, that the answer declares as the catalog does: with a type of before.
    outdated = {
        difference.column.lower()
        for difference in differences
        if difference.kind is DifferenceKind.COLUMN_TYPE and hidden.lists_otherwise(difference)
    }

    def responsible(kind: FindingKind, difference: Difference) -> Responsible | None:
        result = _by_files(difference, state, comparison, agreement)
        withheld_by = withheld.get(difference.location, result)
        if result is Responsible.READER or withheld_by is Responsible.CATALOG:
            result = withheld_by
        if result is not Responsible.READER:
            return result
        root = difference.column.partition(".")[0].partition("[")[0].lower()
        in_type = kind is FindingKind.TYPE_DRIFT and root in outdated
        if in_type or hidden.lists_otherwise(difference):
            return Responsible.COLUMNS
        by_history = hidden.history(difference)
        if by_history is not Responsible.READER or hidden.lists is None:
            return by_history
        by_lists = hidden.lists.responsible(difference)
        # Who finds columns by name shows NULL for a renamed one without any list.
        renamed = kind is FindingKind.MISSING_RENAME and by_lists is Responsible.COLUMNS
        return None if renamed else by_lists

    groups = grouped([((kind, responsible(kind, d)), d) for kind, d in named])
    order = [at for kind in FindingKind for at in groups if at[0] is kind]
    return tuple(_finding(*at, groups[at], state) for at in order)


def _withheld(
    differences: Sequence[Difference], state: ExpectedState, hidden: HiddenFromReaders
) -> Mapping[Location, Responsible | None]:
    """Return the differences that lack rows which the writer kept from readers, with who did it.

    Nobody is named where statistics are not known, by which a reader may have left out rows.
    """
    there = {difference.location for difference in differences}
    counts = [d for d in differences if d.kind is DifferenceKind.COUNT and d.counted]

    def lacking(keys: AbstractSet[str]) -> AbstractSet[Location]:
        """Return the differences that lack all rows of some keys.

        An answer with one of these rows is of a reader that finds them all the same.
        """
        missing = keys & state.keys.keys()
        locations = {(DifferenceKind.ABSENT_ROW, key, "") for key in missing}
        if missing and locations <= there:
            return locations
        fewer = [d for d in counts if missing and d.actual == d.expected - len(missing)]
        return {difference.location for difference in fewer}

    result: dict[Location, Responsible | None] = {}
    if hidden.unknown:
        rows = {DifferenceKind.ABSENT_ROW, DifferenceKind.COUNT}
        result = dict.fromkeys(location for location in there if location[0] in rows)
    for keys in hidden.excluded:
        result |= dict.fromkeys(lacking(keys), Responsible.STATISTICS)
    return result | dict.fromkeys(lacking(hidden.unlisted), Responsible.CATALOG)


def _by_files(
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
    """Return whether an answer shows what files hold, by where it differs from that."""
    if (DifferenceKind.EXTRA_ROW, difference.key, "") in wrong:
        return False
    if difference.kind is DifferenceKind.SECOND_ROW:
        return difference.key in agreement.content.twice
    return difference.location not in wrong


def _finding(
    kind: FindingKind,
    responsible: Responsible | None,
    differences: Sequence[Difference],
    state: ExpectedState,
) -> Finding:
    columns = dict[str, None]()
    for difference in differences:
        column = difference.column
        # Elements and map entries are a difference each, `f[0]`, but are one column, `f.element`.
        if "[" in column:
            path = state.schema.path_of(difference.field.id) if difference.field else None
            column = path or column.partition("[")[0]
        if column:
            columns[column] = None
    witnesses = tuple(map(_witness, differences))
    return Finding(kind, tuple(columns), witnesses[0], witnesses, responsible)


def _witness(difference: Difference) -> Witness:
    raw, expected, actual = text_of(difference.actual), difference.expected, difference.actual
    # A whole row is shown as one text; cells keep their typed value.
    if difference.kind in {DifferenceKind.EXTRA_ROW, DifferenceKind.SECOND_ROW}:
        expected, actual = text_of(expected), raw
    details = difference.origin, raw, difference.file, difference.folder
    return Witness(difference.key, difference.column, expected, actual, *details)
