import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from harness.core.records import FindingKind, OutcomeKind, Responsible, VerdictKind, Witness
from harness.judge import recorded_by_table
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import judge
from harness.model.schema import Schema
from harness.model.schema_history import FIRST, SchemaHistory, SchemaVersion, stored_type
from harness.model.truth import History
from tests.builders.judged_story import case_of
from tests.builders.table_story import Story, history

COLUMNS = "id long, ts long, f1 string, f2 int, s struct<x: int, y: string>, l array<int>"
CHANGES = (
    "insert 1,2; rename f1 g; add s.z int; drop f2; type s.x long; move g first; rename s.y w; "
    "add f2 string; touch some"
)
ID_OFFSET = 40
"""Hudi's ids are not ours: another numbering is no mistake."""
DROPPED, LAST = 4, 9

Spoil = Callable[[SchemaHistory], SchemaHistory]


def version(instant: str, schema: Schema) -> SchemaVersion:
    fields = tuple(
        (field.id + ID_OFFSET, schema.path_of(field.id) or "", stored_type(field.type))
        for field in schema.walk()
    )
    return SchemaVersion(instant, schema.last_id + ID_OFFSET, fields)


def recorded_history(truths: History, instants: Sequence[str]) -> SchemaHistory | None:
    results = [version(FIRST, truths[0].schema)]
    for at, (before, after) in enumerate(itertools.pairwise(truths), start=1):
        if before.schema.fields != after.schema.fields:
            results.append(version(instants[at], after.schema))
    return SchemaHistory(tuple(results)) if len(results) > 1 else None


def keeping(planted: Story, spoil: Spoil = lambda right: right, since: int = 0) -> RecordedVariant:
    """Return the records of a history, from a step on with what a writer makes of it."""
    case = case_of(planted)
    instants = [state.outcome.instant for state in case.states]
    states = []
    for state in case.states:
        step = state.outcome.step
        recorded = recorded_history(case.history[: step + 1], instants)
        story = spoil(recorded) if recorded and step >= since else recorded
        states.append(replace(state, schema_history=story))
    return replace(case, states=tuple(states))


def last(change: Callable[[SchemaVersion], SchemaVersion]) -> Spoil:
    return lambda right: replace(right, versions=(*right.versions[:-1], change(right.versions[-1])))


def with_id(path: str, id_: int) -> Spoil:

    def changed(recorded_version: SchemaVersion) -> SchemaVersion:
        fields = (
            (id_ if name == path else at, name, type_)
            for at, name, type_ in recorded_version.fields
        )
        return replace(recorded_version, fields=tuple(fields))

    return last(changed)


def without_second(right: SchemaHistory) -> SchemaHistory:
    """Lose a version that commits still have."""
    first, second, *rest = right.versions
    return replace(right, versions=(first, *rest), lost=(second,))


def turned(recorded_version: SchemaVersion) -> SchemaVersion:
    one, two, *rest = recorded_version.fields
    return replace(recorded_version, fields=(two, one, *rest))


def typed(recorded_version: SchemaVersion) -> SchemaVersion:
    fields = ((at, p, "int" if p == "s.x" else type_) for at, p, type_ in recorded_version.fields)
    return replace(recorded_version, fields=tuple(fields))


def lower(recorded_version: SchemaVersion) -> SchemaVersion:
    return replace(recorded_version, max_id=max(at for at, _, _ in recorded_version.fields) - 1)


def older_latest(right: SchemaHistory) -> SchemaHistory:
    return replace(right, latest=right.versions[-2])


def id_of(planted: Story, path: str, step: int) -> int:
    return planted.history[step].column_id(path) + ID_OFFSET


def test_a_right_history_with_other_ids_has_no_finding() -> None:
    case = keeping(history(CHANGES, COLUMNS))
    assert sum(state.schema_history is not None for state in case.states) == LAST - 1
    assert recorded_by_table.findings(case) == {}
    assert judge(case, (), {}) == ()


FOUND = history(CHANGES, COLUMNS)
F2 = id_of(FOUND, "f2", DROPPED - 1)


@pytest.mark.parametrize(
    ("spoil", "since", "kind", "named_place"),
    [
        (with_id("f2", F2), 8, FindingKind.REUSED_ID, Witness(str(F2), "f2", None, "f2")),
        (with_id("g", 99), 6, FindingKind.LOST_ID, Witness("99", "g", "g", None)),
        (with_id("s.w", 99), 7, FindingKind.LOST_ID, Witness("99", "s.w", "s.y", None)),
        (last(lower), 6, FindingKind.LOW_MAX_ID, None),
        (
            without_second,
            7,
            FindingKind.LOST_VERSION,
            Witness("", "", "the version of step 2", None),
        ),
        (last(turned), 6, FindingKind.OTHER_SCHEMA, Witness("", "id", "number 2", "number 1")),
        (last(typed), 5, FindingKind.OTHER_SCHEMA, Witness("", "s.x", "long", "int")),
        (
            older_latest,
            7,
            FindingKind.OTHER_SCHEMA,
            Witness("", "latest_schema", "the version of step 7", "the version of step 6"),
        ),
    ],
)
def test_a_planted_mistake_has_its_name_at_the_step_that_made_it(
    spoil: Spoil, since: int, kind: FindingKind, named_place: Witness | None
) -> None:
    case = keeping(FOUND, spoil, since)
    verdicts = judge(case, (), {})
    first = verdicts[0]
    assert (first.step, first.view, first.verdict) == (since, "write", VerdictKind.WRONG)
    (finding,) = [finding for finding in first.findings if finding.kind is kind]
    assert finding.responsible is Responsible.HISTORY
    assert named_place is None or named_place in finding.witnesses
    same = [
        witness
        for v in verdicts[1:]
        for f in v.findings
        for witness in f.witnesses
        if witness == named_place
    ]
    assert not same


def test_a_dropped_columns_id_counts_for_the_greatest() -> None:
    truth_history = history("insert 1; drop f2; rename f1 g", "id long, ts long, f1 string, f2 int")
    lowered = last(lambda version: replace(version, max_id=ID_OFFSET + 3))
    ((finding,),) = recorded_by_table.findings(keeping(truth_history, lowered, 3)).values()
    assert finding.kind is FindingKind.LOW_MAX_ID
    assert finding.witness == Witness("", "f2", ID_OFFSET + 4, ID_OFFSET + 3)


def test_two_columns_of_one_id_and_two_versions_of_one_id_are_found() -> None:
    right = keeping(FOUND).states[-1].schema_history
    assert right is not None
    g = id_of(FOUND, "g", LAST)
    (twice,) = recorded_by_table.findings(keeping(FOUND, with_id("ts", g), LAST))[LAST]
    assert Witness(str(g), "ts", None, "g") in twice.witnesses
    again = lambda recorded: replace(recorded, versions=(recorded.versions[0], *recorded.versions))  # noqa: E731
    (finding,) = recorded_by_table.findings(keeping(FOUND, again, LAST))[LAST]
    assert finding.witness == Witness("", "", "one version", "2 versions")


def test_of_what_nobody_knows_nothing_is_reported() -> None:
    case = keeping(FOUND, last(turned), 6)
    outcome = replace(case.states[5].outcome, kind=OutcomeKind.UNKNOWN)
    states = (*case.states[:5], replace(case.states[5], outcome=outcome), *case.states[6:])
    assert recorded_by_table.findings(replace(case, states=states)) == {}
    none = (replace(state, schema_history=None) for state in case.states)
    assert recorded_by_table.findings(replace(case, states=tuple(none))) == {}
