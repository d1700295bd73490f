"""What each reader makes of each type of each format, cell by cell, by the recorded answers."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from harness.core import tolerances
from harness.core.records import Answer, Column, FindingKind, Part, Refusal
from harness.model.datatypes import DataType, Struct, every_type, plain_types
from harness.scenario.cells import Cell
from tests.builders import recordings
from tests.builders.recordings import Recorded, VerdictRecord

FOLDERS: Final = tuple(
    Path(__file__).parents[1] / "recorded" / name
    for name in ("types", "types_presto_hive", "types_hive_4", "types_later")
)
"""PrestoDB, Hive 3 and two scenarios were asked later, and five cells after these; Hive 4 has a
metastore of its own."""
ROLES: Final = ("id", "ts")
"""Columns that are there for the scenario's sake, of types that other columns have too."""

OF_TYPES: Final = ("moments",)
"""Settings of tables that decide which type a column has."""


class Outcome(StrEnum):
    """What a reader makes of a type: the worst of what was met stands for it."""

    CORRECT = "correct"
    DECLARED = "declared"
    """Correct by a declaration, which names its source."""
    DRIFT = "type_drift"
    """The values are right; that the type is another one is measured and nowhere documented."""
    OTHER = "other values"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"
    """Declared not to know such tables at all."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MatrixCell:
    scenario: str
    tables: str
    """Their format, with the settings that decide types."""
    type: str
    """As scenarios write it."""
    inside: bool
    """Whether it stands inside a struct, a map and an array, and not alone."""
    reader: str
    outcome: Outcome
    shown: str = ""
    """The type as the reader calls it."""
    declarations: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    """Each with whose doing it is."""
    because: str = ""
    """What a refusal says, why a reader is declared not to know the table, or has no answer."""


@cache
def recorded_variants() -> tuple[Recorded, ...]:
    return tuple(variant for folder in FOLDERS for variant in recordings.read_all(folder))


@cache
def matrix() -> tuple[MatrixCell, ...]:
    return tuple(cell for recorded in recorded_variants() for cell in cells_of(recorded))


def cells_of(recorded: Recorded) -> Iterator[MatrixCell]:
    columns = [
        (name, type_)
        for name, type_ in recorded.variant.scenario.table.columns
        if name not in ROLES
    ]
    for cell, answer in recorded.answers.items():
        verdict = recorded.verdicts.get(cell)
        for name, type_ in columns if verdict else ():
            yield _cell(recorded, cell, answer, verdict or {}, name, type_)


def _cell(
    recorded: Recorded,
    cell: Cell,
    answer: Answer | None,
    verdict: VerdictRecord,
    name: str,
    type_: DataType,
) -> MatrixCell:
    inside = isinstance(type_, Struct)
    plain = next(plain_types(type_))
    results = [
        finding
        for finding in verdict.get("findings", ())
        if name in map(_column, finding["columns"])
    ]
    kinds = {finding["kind"] for finding in results}
    shown_answer = (_part(answer, name) if answer and answer.refusal else answer) or answer
    shown = _shown(shown_answer.columns if shown_answer else (), name)
    declarations = tuple(_declared(cell.reader, recorded, verdict, type_)) if shown else ()
    refusal = shown_answer.refusal if shown_answer else None
    return MatrixCell(
        recorded.variant.scenario.name,
        _tables(recorded),
        str(plain),
        inside,
        cell.reader,
        _outcome(verdict, kinds, declarations, refused=refusal is not None, shown=bool(shown)),
        shown,
        declarations,
        tuple(f"{finding['kind']} ({finding.get('party', 'nobody known')})" for finding in results),
        _because(verdict, refusal),
    )


def _because(verdict: VerdictRecord, refusal: Refusal | None) -> str:
    if refusal is None:
        return str(verdict.get("because", ""))
    return (refusal.cause or refusal.message).partition(" at ")[0]


def _tables(recorded: Recorded) -> str:
    settings = [
        f"{name}={value}" for name, value in recorded.variant.settings.items() if name in OF_TYPES
    ]
    return " ".join((recorded.variant.format, *settings))


def _column(path: str) -> str:
    """Return the column of a finding's place, which may be a part of it."""
    return path.partition(".")[0]


def _part(answer: Answer, name: str) -> Part | None:
    return next((part for part in answer.parts if part.column == name), None)


def _shown(columns: Iterable[Column], name: str) -> str:
    return next((column.type for column in columns if column.name == name), "")


def _declared(
    reader: str, recorded: Recorded, verdict: VerdictRecord, type_: DataType
) -> Iterator[str]:
    """Yield the declarations that were applied to the answer and are about a type of the column."""
    declared = tolerances.declared_for_format(
        reader, recorded.variant.format, recorded.variant.settings
    )
    names = {str(part).partition("(")[0].partition("<")[0] for part in every_type(type_)}
    for applied in verdict.get("normalised", ()):
        if applied["name"] in declared and names & {*declared[applied["name"]].types}:
            yield applied["name"]


def _outcome(
    verdict: VerdictRecord,
    kinds: AbstractSet[str],
    declarations: tuple[str, ...],
    *,
    refused: bool,
    shown: bool,
) -> Outcome:
    if verdict["verdict"] == Outcome.UNSUPPORTED:
        return Outcome.UNSUPPORTED
    if refused:
        return Outcome.REFUSED
    if not shown:
        return Outcome.UNKNOWN
    if kinds:
        return Outcome.DRIFT if kinds == {FindingKind.TYPE_DRIFT} else Outcome.OTHER
    return Outcome.DECLARED if declarations else Outcome.CORRECT
