"""The records between the verbs: plan → states → answers → verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, PlainSerializer

from harness.core.tolerances import Normalised
from harness.model.canonical import OwnTexts, Value, from_json, to_json
from harness.model.commit import ExtraMetadata
from harness.model.file_facts import IN_ORDER, FileFact, Lineage, StoredStatistics
from harness.model.partition_paths import ListedAs
from harness.model.query import ALL, Query
from harness.model.schema_history import SchemaHistory


class Responsible(StrEnum):
    READER = "reader"
    """The files hold what was written, and the answer shows something else."""
    WRITER = "writer"
    """The files hold something else than the statements sent, and the answer shows it."""
    CATALOG = "catalog"
    """The writer too: it left the catalog without what the files hold, and the answer lacks it."""
    COLUMNS = "columns"
    """The writer too: it left the catalog with other columns, and the answer shows these."""
    HISTORY = "history"
    """The writer too: what the table itself says of its schema is wrong, ids of columns or else."""
    COMMIT = "commit"
    """The writer too: the record of its commit has other metadata than it was told."""
    STATISTICS = "statistics"
    """The writer too: by its statistics no file can hold what is asked for, and files do."""
    FOLDER = "folder"
    """The writer too: the name of a folder says something else, and the answer shows that."""
    MODEL = "model"
    """Files and engines are against the truth, which is looked into before anybody is blamed."""
    UNSURE = "unsure"
    """The files hold what the answer shows; it may be the writer, or a mistake of our own."""


WRITERS: Final = frozenset(Responsible) - {
    *(Responsible.READER, Responsible.MODEL, Responsible.UNSURE)
}
"""The parties that are the writer, each by evidence beside the truth."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a question that got no answer."""

    what: str
    log: str = ""


UNLESS_EMPTY: Final = Field(exclude_if=lambda value: not value)
"""Marks what is left out of a record where it says nothing."""
UNLESS_NONE: Final = Field(exclude_if=lambda value: value is None)
Cellular = Annotated[Value, BeforeValidator(from_json), PlainSerializer(to_json)]
"""A canonical value as a record holds it."""


class OutcomeKind(StrEnum):
    APPLIED = "applied"
    """The table's own records have it, whatever the writer answered (`Outcome.half_done`)."""
    REFUSED = "refused"
    """The writer answered with an error, and the table is as it was."""
    SKIPPED = "skipped"
    """It needs a step that was refused; it was not sent."""
    UNKNOWN = "unknown"
    """The writer was silent, or left a part; nothing is known of the table from here on."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error that a live server or session answered with."""

    kind: str
    """The engine's name of the error, e.g. `GENERIC_INTERNAL_ERROR` or a Java class."""
    message: str
    code: str = ""
    """The engine's error code or SQLSTATE, where it gives one."""
    cause: str = ""
    """The innermost cause, `class: message`, where the engine tells."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one step on one table."""

    step: int
    """The step's number in the scenario, from 1; 0 is the creation of the table."""
    kind: OutcomeKind
    instant: str = ""
    """The instant (Hudi: requested time) that the step made on the timeline, if any."""
    refusal: Refusal | None = None
    """The writer's error, also where the step was applied all the same."""
    because: str = ""
    """Why it was skipped, or how the writer ended; empty otherwise."""
    statements: tuple[str, ...] = ()
    """The statements as sent, with `{database}` and `{location}` as placeholders."""
    seconds: float = 0.0

    @property
    def half_done(self) -> bool:
        return self.kind is OutcomeKind.APPLIED and self.refusal is not None

    @property
    def failed(self) -> bool:
        return self.kind is not OutcomeKind.APPLIED or self.half_done

    @property
    def word(self) -> str:
        """What became of it, in the words of all reports.

        >>> Outcome(1, OutcomeKind.APPLIED).word
        'applied'
        >>> Outcome(2, OutcomeKind.APPLIED, refusal=Refusal("X", "no")).word
        'committed, then failed'
        """
        return HALF_DONE if self.half_done else str(self.kind)

    @property
    def error_name(self) -> str:
        """The name of its error as baselines know it; empty where there was none.

        >>> Outcome(2, OutcomeKind.APPLIED, refusal=Refusal("SyncException", "no")).error_name
        'committed, then SyncException'
        """
        if self.refusal is None:
            return ""
        return f"committed, then {self.refusal.kind}" if self.half_done else self.refusal.kind


@dataclass(frozen=True, slots=True)
class FileValues:
    """What one data file holds, or one block of a log file, read from it directly."""

    file: int
    """Its number in the `files` of the same record, from 0."""
    columns: tuple[str, ...] = ()
    """Their names in the file's order, Hudi's own left out."""
    rows: tuple[tuple[Cellular, ...], ...] = ()  # in the order of the file's `keys`
    unread: str = ""
    """Why its values are not known; empty when they are."""
    meta: Annotated[tuple[tuple[Cellular, ...], ...], UNLESS_EMPTY] = ()
    """Of base files, where the catalog lists none of Hudi's meta columns: those, row by row."""
    commits: Annotated[tuple[str, ...], UNLESS_EMPTY] = ()
    """The instant at which each row was committed; empty where file or record does not say."""


ListedColumns = tuple[tuple[str, str], ...]
"""The names of columns with their types in our words, empty for one that has none."""


@dataclass(frozen=True, slots=True)
class PartitionColumns:
    """The lists of columns that the catalog keeps of partitions, where they are not the table's."""

    entries: tuple[str, ...]
    """The names of the catalog entries that it is so of."""
    table: ListedColumns
    """The columns of these entries, Hudi's own too, those that divide the table left out."""
    partitions: tuple[tuple[ListedColumns, tuple[str, ...]], ...]
    """Each list that differs, with the folders of the partitions that have it."""


@dataclass(frozen=True, slots=True)
class StateRecord:
    """A table state as a run names it: where a variant stands after a step."""

    variant: str
    outcome: Outcome
    digest: str
    """Address of the frozen state in the cache; empty when nothing was frozen."""
    files: tuple[FileFact, ...] = ()
    tables: tuple[str, ...] = ()
    reused: bool = False
    layout: str = ""
    """Why there are no file facts; empty when there are, or nothing was frozen."""
    others: tuple[tuple[str, int], ...] = ()
    """Instants in `files` that no step made itself, each with the step whose rows it took in."""
    table_version: str = ""
    """Of the table after the step, where its format counts versions."""
    values: tuple[FileValues, ...] = ()
    """What the files with rows hold that no earlier state had; nothing in the oldest records."""
    bare: Annotated[bool, UNLESS_EMPTY] = False
    """Whether base files begin with Hudi's meta columns and no catalog entry lists these."""
    unlisted: Annotated[tuple[str, ...], UNLESS_EMPTY] = ()
    """The folders of partitions that hold data files and that some catalog entry does not list."""
    unlisted_at: Annotated[tuple[tuple[str, tuple[str, ...]], ...], UNLESS_EMPTY] = ()
    """The same by the name of each catalog entry, where these do not list the same."""
    catalog: Annotated[tuple[str, ...], UNLESS_EMPTY] = ()
    """The columns that all catalog entries list; none where they differ among themselves."""
    catalog_types: Annotated[tuple[str, ...], UNLESS_EMPTY] = ()
    """Their types in our words, empty for one that has none; none where entries differ in them."""
    schema_history: Annotated[SchemaHistory | None, UNLESS_EMPTY] = None
    """What the table itself says of its schema after the step; None where it says nothing."""
    statistics: Annotated[StoredStatistics, Field(exclude_if=IN_ORDER.__eq__)] = IN_ORDER
    metadata: Annotated[ExtraMetadata | None, UNLESS_NONE] = None
    """What the step's own commit has for its user; None where the step was told of none."""
    listed_as: Annotated[ListedAs, UNLESS_EMPTY] = ()
    partition_columns: Annotated[tuple[PartitionColumns, ...] | None, UNLESS_NONE] = None
    """None where no entry has partitions, and in older records."""
    lineage: Annotated[Lineage | None, UNLESS_NONE] = None
    """What its files say of where rows come from; None where the format does not have them say."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer: the name and the engine's own text of its type."""

    name: str
    type: str
    canonical: str = ""
    """The type in our words (`model.datatypes`); empty when the engine's type has none."""


def labelled(query: Query, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return the columns of an answer under the names that we ask for them by.

    Engines label an expression as they like: `address.town` is `town` to most.
    """
    asked = (query.label,) if query.label else query.columns
    if len(asked) != len(columns):
        return tuple(columns)
    return tuple(
        replace(column, name=path) if "." in path or query.label else column
        for path, column in zip(asked, columns, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Part:
    """One column asked alone, after `select *` was refused."""

    column: str
    sql: str
    """Empty where it was not sent: the key column, which each is asked with, was refused alone."""
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[Cellular, ...], ...] = ()
    refusal: Refusal | None = None
    unknown: str = ""
    normalised: tuple[Normalised, ...] = ()
    raw: Annotated[OwnTexts, UNLESS_EMPTY] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader answered: rows, or else one of refusal, unknown and not applicable."""

    case: str
    sql: str
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[Cellular, ...], ...] = ()
    refusal: Refusal | None = None
    unknown: str = ""
    parts: tuple[Part, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    confirmed: str = ""
    """What the engine told about how it ran (path, connector, settings), where it can tell."""
    reused: bool = False
    question: Query = ALL
    """What was asked; the answer is judged as one to this, whatever a later plan would ask."""
    not_applicable: Annotated[str, Field(alias="void")] = ""
    """Why there was nothing to ask (a step was refused, its column is not there); else empty."""
    normalised: tuple[Normalised, ...] = ()
    """What was evened out in rows and columns when they came."""
    raw: Annotated[OwnTexts, UNLESS_EMPTY] = ()
    probe: Annotated[str, UNLESS_EMPTY] = ""
    """The case whose refusal stands for this one, which was not sent: it is not applicable then."""
    again: Annotated[bool, UNLESS_EMPTY] = False
    """Whether a fresh server gave it, which was asked once more what another one had answered."""
    earlier: Annotated[Answer | None, UNLESS_NONE] = None
    """What that one had answered, having answered others before; None where it was the same."""
    after: Annotated[str, UNLESS_EMPTY] = ""
    """The case whose question makes another fresh server give `earlier`; empty if not found."""

    @property
    def inconclusive(self) -> bool:
        """Whether it names no way of reading: one number, or no row, may come of much else."""
        return bool(self.question.label) or not self.rows

    @property
    def has_table(self) -> bool:
        return self.refusal is None and not (self.unknown or self.not_applicable)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(column.name for column in labelled(self.question, self.columns))

    @property
    def has_rows(self) -> bool:
        """Whether a server gave rows, were it of a column alone: without any nothing is told."""
        return bool(self.rows) or any(part.rows for part in self.parts)


class FindingKind(StrEnum):
    """The named ways of being wrong, in the order in which verdicts list them."""

    ORDER_DEPENDENT = "order_dependent"
    MISALIGNED = "misaligned"
    RESURRECTED = "resurrected"
    STALE = "stale"
    PREMATURE = "premature"
    MISSING_RENAME = "missing_rename"
    LOST_VALUE = "lost_value"
    GHOST_ROW = "ghost_row"
    LOST_ROW = "lost_row"
    DUPLICATE = "duplicate"
    ALTERED_VALUE = "altered_value"
    TYPE_DRIFT = "type_drift"
    REUSED_ID = "reused_id"
    LOST_ID = "lost_id"
    LOW_MAX_ID = "low_max_id"
    LOST_VERSION = "lost_version"
    OTHER_SCHEMA = "other_schema"
    LOST_METADATA = "lost_metadata"
    OTHER_METADATA = "other_metadata"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a found value comes from, by the truth."""

    field_id: int
    name: str
    """The field's dotted name when the value was written."""
    step: int
    key: str


@dataclass(frozen=True, slots=True)
class Witness:
    """One wrong place that can be checked by hand."""

    key: str
    column: str
    expected: Cellular
    actual: Annotated[Cellular, Field(alias="found")]
    origin: Origin | None = None
    raw: str = ""
    """The engine's own text of the whole cell, where that is known; else the text of `actual`."""
    file: Annotated[str, UNLESS_EMPTY] = ""
    """What it was read from, relative to the table's folder; empty where that is not known."""
    folder: Annotated[str, UNLESS_EMPTY] = ""
    """The folder whose name gave a partition's value; empty where none did, or is not known."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which an answer is wrong, and every place it explains."""

    kind: FindingKind
    columns: tuple[str, ...]
    witness: Witness
    witnesses: Annotated[tuple[Witness, ...], Field(alias="places")]
    """All that it explains, `witness` being the first."""
    responsible: Annotated[Responsible | None, Field(alias="party")] = None


class Reason(StrEnum):
    """Why a verdict is as it is, where people must do something else about it."""

    OTHER = ""
    HALF_DONE = "half_done"
    """The writer committed the step, and then answered with an error."""
    JUDGE_FAILED = "judge_failed"
    """The judge itself failed: the harness has a defect."""


HALF_DONE: Final = "committed, then failed"
"""How `Verdict.because` begins for `Reason.HALF_DONE`."""
JUDGE_FAILED: Final = "harness: "
"""How it begins for `Reason.JUDGE_FAILED`."""


class VerdictKind(StrEnum):
    """Never merged into one another."""

    CORRECT = "correct"
    WRONG = "wrong"
    REFUSED = "refused"
    OPEN = "open"
    """Neither right nor wrong: specification and engines leave it open (`core.open_cases`)."""
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"

    @property
    def is_bad(self) -> bool:
        """Whether the answer is not right; of what is unknown nobody can say that."""
        return self in {VerdictKind.WRONG, VerdictKind.REFUSED}

    @property
    def is_good(self) -> bool:
        """Whether it is right, as it was declared, or left open."""
        return not self.is_bad and self is not VerdictKind.UNKNOWN


@dataclass(frozen=True, slots=True)
class Expected:
    """The table that the truth expects: columns with their types, rows in key order."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Cellular, ...], ...]


QuestionKey = tuple[str, int, str, str]
"""Variant, step, view and query: what the cells of several readers have in common."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is judged of one cell."""

    case: str
    scenario: str
    variant: str
    step: int
    reader: str
    view: str
    query: str
    verdict: VerdictKind
    findings: tuple[Finding, ...] = ()
    reproduces: tuple[str, ...] = ()
    """The mappings that reproduce the whole answer, of those tried; see `claimed`."""
    because: str = ""
    """Why unknown, unsupported or open, or what a refusal means (`read by position`)."""
    known: str = ""
    expected: Expected | None = None
    seconds: float = 0.0
    sql: str = ""
    reused: bool = False
    normalised: tuple[Normalised, ...] = ()
    """The declared differences that are no findings, those of the answer and those of judging."""
    disclaimed: Annotated[str, UNLESS_EMPTY] = ""
    """What is declared of a reader that answered, and is not to know such a table; else empty."""
    inconclusive: Annotated[
        bool, Field(alias="scant", exclude_if=lambda inconclusive: not inconclusive)
    ] = False
    """Whether the answer tells too little to claim a way of reading (`Answer.inconclusive`)."""
    reason: Annotated[Reason, UNLESS_EMPTY] = Reason.OTHER

    def __post_init__(self) -> None:
        """Give verdicts of old records, which have no reason, the one that their text says."""
        if not self.reason and self.because.startswith((HALF_DONE, JUDGE_FAILED)):
            half_done = self.because.startswith(HALF_DONE)
            reason = Reason.HALF_DONE if half_done else Reason.JUDGE_FAILED
            object.__setattr__(self, "reason", reason)

    @property
    def question(self) -> QuestionKey:
        return self.variant, self.step, self.view, self.query

    @property
    def claimed(self) -> str:
        """The one mapping that is claimed: no other gives the answer, and it tells enough."""
        return self.reproduces[0] if len(self.reproduces) == 1 and not self.inconclusive else ""
