"""What a table itself says after each step, of its schema and of its commits, against the truth.

Hudi's ids are not ours, so another numbering is no mistake: what counts is which columns are the
same column, in every version that data files may have been written in. A commit that says nothing
of the schema is no mistake either: the history is there for it (`InternalSchemaCache` of Hudi).
What is wrong is told at the step after which it first is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import Finding, FindingKind, Responsible, Witness
from harness.judge.recorded_variant import RecordedVariant
from harness.model.schema import Field, Schema
from harness.model.schema_history import FIRST, SchemaHistory, SchemaVersion, merge, stored_type
from harness.scenario.operations.row_writes import WriteWithMetadata
from harness.scenario.operations.write_frame import WriteFrame

KINDS: Final = (
    FindingKind.REUSED_ID,
    FindingKind.LOST_ID,
    FindingKind.LOW_MAX_ID,
    FindingKind.LOST_VERSION,
    FindingKind.OTHER_SCHEMA,
    FindingKind.LOST_METADATA,
    FindingKind.OTHER_METADATA,
)
"""The findings that are about a step's own record and about no answer."""
ABSENT: Final = "absent"
LATEST: Final = "latest_schema"
"""What stands for a column where it is that part of a commit."""
SHOWN: Final = "shown"
"""The key of a witness that is about what the procedure shows, and not about the file."""


@dataclass(frozen=True, slots=True)
class _Wrong:
    """One mistake: the same one after a later step has the same `kind` and `subject`."""

    kind: FindingKind
    subject: str
    witness: Witness


def findings(case: RecordedVariant) -> Mapping[int, tuple[Finding, ...]]:
    """Return what is wrong since each step, those with nothing left out."""
    reported, result = set[tuple[FindingKind, str]](), dict[int, tuple[Finding, ...]]()
    for step in sorted(case.state_of):
        new = list[_Wrong]()
        if case.broken is None or step < case.broken:
            every = _schema(case, step)
            new = [wrong for wrong in every if (wrong.kind, wrong.subject) not in reported]
        reported |= {(wrong.kind, wrong.subject) for wrong in new}
        result[step] = (
            *_findings([(wrong.kind, wrong.witness) for wrong in new], Responsible.HISTORY),
            *_findings([*_metadata(case, step)], Responsible.COMMIT),
        )
    return {step: wrong for step, wrong in result.items() if wrong}


def _findings(
    wrong: Sequence[tuple[FindingKind, Witness]], responsible: Responsible
) -> Iterator[Finding]:
    for kind, witnesses in grouped(wrong).items():
        columns = dict.fromkeys(w.column for w in witnesses if w.column not in {"", LATEST})
        yield Finding(kind, tuple(columns), witnesses[0], tuple(witnesses), responsible)


def _metadata(case: RecordedVariant, step: int) -> Iterator[tuple[FindingKind, Witness]]:
    recorded = case.state_of[step].metadata
    if recorded is None:
        return
    operation = case.variant.scenario.steps[step - 1].operation
    given = operation.metadata if isinstance(operation, WriteWithMetadata) else {}
    stored = dict(recorded.stored)
    of_procedure = () if recorded.unshown else ((SHOWN, stored, dict(recorded.shown)),)
    for where, due, there in (("", given, stored), *of_procedure):
        for name in sorted(due.keys() | there.keys()):
            if due.get(name) != there.get(name):
                kind = FindingKind.OTHER_METADATA if name in there else FindingKind.LOST_METADATA
                yield kind, Witness(where, name, due.get(name), there.get(name))


def _schema(case: RecordedVariant, step: int) -> Iterator[_Wrong]:
    recorded = case.state_of[step].schema_history
    if recorded is None:
        return
    for version in recorded.lost:
        witness = Witness("", "", _version_text(case, step, version), None)
        yield _Wrong(FindingKind.LOST_VERSION, version.instant, witness)
    if recorded.versions:
        yield from _ids_twice(recorded)
        yield from _low_max_id(recorded)
        yield from _other_schema(case, step, recorded.versions[-1])
        yield from _other_columns(case, step, recorded)
    if recorded.latest:
        due = _version_text(case, step, recorded.versions[-1])
        witness = Witness("", LATEST, due, _version_text(case, step, recorded.latest))
        yield _Wrong(FindingKind.OTHER_SCHEMA, f"{LATEST} {recorded.latest.instant}", witness)


def _version_text(case: RecordedVariant, step: int, version: SchemaVersion) -> str:
    if version.instant == FIRST:
        return "the first version"
    made = case.made(step).get(version.instant)
    return "another version" if made is None else f"the version of step {made}"


def _ids_twice(recorded: SchemaHistory) -> Iterator[_Wrong]:
    """Yield the ids that two columns of the newest version have, or two versions."""
    of_id = grouped([(id_, path) for id_, path, _ in recorded.versions[-1].fields])
    for id_, (first, *more) in of_id.items():
        for path in more:
            witness = Witness(str(id_), path, None, first)
            yield _Wrong(FindingKind.REUSED_ID, f"{id_} {path}", witness)
    for instant, times in Counter(version.instant for version in recorded.versions).items():
        if times > 1:
            witness = Witness("", "", "one version", f"{times} versions")
            yield _Wrong(FindingKind.REUSED_ID, f"version {instant}", witness)


def _low_max_id(recorded: SchemaHistory) -> Iterator[_Wrong]:
    """Yield that the next new column gets the id of one that is, or was, another column."""
    now = recorded.versions[-1]
    given = {id_: path for version in recorded.versions for id_, path, _ in version.fields}
    greatest = max(given, default=now.max_id)
    if now.max_id < greatest:
        difference = Witness("", given[greatest], greatest, now.max_id)
        yield _Wrong(FindingKind.LOW_MAX_ID, f"{now.max_id} {greatest}", difference)


def _other_schema(case: RecordedVariant, step: int, now: SchemaVersion) -> Iterator[_Wrong]:
    """Yield how the newest version is not the table's schema: columns, types, their order."""
    truth = case.history[step].schema
    expected = {path: stored_type(field.type) for path, field in _fields(truth).items()}
    result = {path: type_ for _, path, type_ in now.fields}
    for path in dict.fromkeys((*expected, *result)):
        due, seen = expected.get(path, ABSENT), result.get(path, ABSENT)
        if due != seen and due and seen:
            yield _Wrong(FindingKind.OTHER_SCHEMA, f"{path} {seen}", Witness("", path, due, seen))
    by_frame = any(isinstance(s.operation, WriteFrame) for s in case.variant.scenario.steps[:step])
    if expected.keys() == result.keys() and not by_frame:
        # Where a frame's columns stand nobody promises; a catalog has partition columns at the end.
        fixed = set(case.history[step].table.partition_by)
        free = [path for path in result if path not in fixed]
        places, seen_at = _positions([p for p in expected if p not in fixed]), _positions(free)
        # The first column that stands elsewhere among those beside it.
        if moved := next((path for path in free if places[path] != seen_at[path]), None):
            difference = Witness("", moved, f"number {places[moved]}", f"number {seen_at[moved]}")
            yield _Wrong(FindingKind.OTHER_SCHEMA, "order", difference)


def _positions(paths: Sequence[str]) -> Mapping[str, int]:
    beside = grouped([(path.rpartition(".")[0], path) for path in paths])
    return {path: at for same in beside.values() for at, path in enumerate(same, start=1)}


def _other_columns(case: RecordedVariant, step: int, recorded: SchemaHistory) -> Iterator[_Wrong]:
    """Yield the columns that are found under a wrong one, or not at all, in an older version."""
    now, truth = recorded.versions[-1], _fields(case.history[step].schema)
    ids = {path: id_ for id_, path, _ in now.fields}
    for version, at in _dated(case, step, recorded):
        then = {field.id: path for path, field in _fields(case.history[at].schema).items()}
        if {path for _, path, _ in version.fields} != set(then.values()):
            continue  # that is told of the version itself
        for path, result in merge(now, version).items():
            due = then.get(truth[path].id) if path in truth else result
            if result != due:
                kind = FindingKind.LOST_ID if result is None else FindingKind.REUSED_ID
                difference = Witness(str(ids[path]), path, due, result)
                yield _Wrong(kind, f"{ids[path]} {result or due}", difference)


def _dated(
    case: RecordedVariant, step: int, recorded: SchemaHistory
) -> Iterator[tuple[SchemaVersion, int]]:
    """Yield the older versions, each with the step after which the table had that schema."""
    made, versions = case.made(step), recorded.versions
    if len(versions) > 1 and versions[0].instant == FIRST and versions[1].instant in made:
        yield versions[0], made[versions[1].instant] - 1
    for version in (*versions[:-1], *recorded.lost):
        if version.instant in made:
            yield version, made[version.instant]


def _fields(schema: Schema) -> Mapping[str, Field]:
    return {schema.path_of(field.id) or "": field for field in schema.walk()}
