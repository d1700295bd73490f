"""Random scenarios that are possible from the first step to the last, for property tests."""

from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st

from harness.core.errors import ScenarioProblem
from harness.core.problems import Problems
from harness.core.yaml_reader import Document
from harness.model.datatypes import (
    MAX_LENGTH,
    PRIMITIVES,
    Array,
    DataType,
    Decimal,
    Map,
    Primitive,
    Struct,
    Text,
)
from harness.model.schema import SchemaChangeError, Table
from harness.model.truth import Truth
from harness.scenario import semantics
from harness.scenario.definition import VIEWS, Scenario, Step
from harness.scenario.operations.api import Key, Operation, ServiceMode
from harness.scenario.operations.columns import (
    AddColumn,
    AddPartitionField,
    ChangeNullability,
    ChangeType,
    DropColumn,
    DropPartitionField,
    MoveColumn,
    RenameColumn,
    ReplacePartitionField,
)
from harness.scenario.operations.merge import Merge, Mutate
from harness.scenario.operations.row_writes import (
    AddFiles,
    Delete,
    Insert,
    LateDelete,
    LateUpsert,
    Rewrites,
    Touch,
    Update,
    Upsert,
)
from harness.scenario.operations.services import (
    Archive,
    Clean,
    Cluster,
    Compact,
    RewriteManifests,
    RewritePositionDeletes,
    Sync,
)
from harness.scenario.operations.snapshots import CreateTag, RollbackToSnapshot
from harness.scenario.operations.unfinished_writes import AbortTransactions, FailedWrite
from harness.scenario.operations.write_frame import WriteFrame

KEYS = st.integers(1, 12)
LETTERS = st.characters(exclude_categories=["C", "Z", "Lu", "Lt"], exclude_characters=".,")
ODD_NAMES = st.one_of(
    st.sampled_from(
        ["f1", "f2", "f3", "true", "null", "1e3", "0x1", "a b", "é", "& x", "- y", '"']
    ),
    st.text(LETTERS, min_size=1, max_size=4),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PATH = "family/name.yaml"


@st.composite
def operations(draw: st.DrawFn, before: Truth) -> Operation:
    """An operation that makes sense now, though it may not be possible."""
    names = [name for name in before.schema.names if name not in before.table.fixed] or ["gone"]
    paths = [path for f in before.schema.walk() if (path := before.schema.path_of(f.id))]
    nested = [path for path in paths if "." in path]
    old, new = draw(st.sampled_from(names)), draw(ODD_NAMES)
    any_path = draw(st.sampled_from([*names, *nested]))
    after = draw(st.none() | st.sampled_from(names))
    keys = tuple(draw(st.lists(KEYS, min_size=1, max_size=3, unique=True)))
    there = tuple(draw(st.lists(st.sampled_from(_keys(before) or [1]), min_size=1, unique=True)))
    explicit = {before.table.key: 20 + before.step, old: draw(st.none() | TEXTS | st.integers())}
    possible: list[Operation] = [
        Insert(keys),
        Insert(keys, ({**explicit, before.table.key: 20 + before.step},)),
        Upsert(keys),
        Update(there, (old,)),
        Delete(there[:1]),
        Merge(there[:1], keys, there[1:2]),
        Merge(there[:1], keys, set=(old,)),
        Mutate(there[:1], keys, there[1:2]),
        LateUpsert(there),
        LateDelete(there[:1]),
        AddColumn(new, draw(TYPES), first=after is None, after=after),
        DropColumn(any_path),
        RenameColumn(any_path, new),
        MoveColumn(old, first=after is None, after=after),
        ChangeType(any_path, Primitive(draw(st.sampled_from(["long", "string", "double"])))),
        ChangeNullability(any_path, nullable=draw(st.booleans())),
        *(Touch(), Touch(Rewrites.SOME), Touch(Rewrites.ALL)),
        Compact(),
        Compact(ServiceMode.SCHEDULE),
        Cluster(),
        Cluster(ServiceMode.SCHEDULE),
        *(Clean(), Archive()),
        *_of_iceberg(old, keys, draw(st.integers(1, 6))),
        *(Sync(), FailedWrite(keys), AbortTransactions()),
        WriteFrame(keys, reconcile=True),
        WriteFrame(keys, (*before.table.fixed, new, *names[1:]), {new: draw(TYPES)}),
        WriteFrame(keys, (old, *before.table.fixed), {old: Primitive("long")}),
    ]
    return draw(st.sampled_from(possible))


def _of_iceberg(column: str, keys: tuple[Key, ...], step: int) -> tuple[Operation, ...]:
    buckets = f"bucket(4, {column})"
    return (
        *(RewriteManifests(), RewritePositionDeletes(), RollbackToSnapshot(step), AddFiles(keys)),
        CreateTag(),
        *map(AddPartitionField, (column, buckets, f"day({column})")),
        *(ReplacePartitionField(column, buckets), DropPartitionField(buckets)),
    )


def _keys(truth: Truth) -> list[Key]:
    return list(truth.rows)


@st.composite
def columns(draw: st.DrawFn) -> tuple[tuple[str, DataType], ...]:
    roles: tuple[tuple[str, DataType], ...] = (
        ("id", Primitive("string")),
        ("ts", Primitive("long")),
        ("p", Primitive("int")),
    )
    taken = {name.casefold() for name, _ in roles}
    names = ODD_NAMES.filter(lambda name: name.casefold() not in taken)
    pairs = st.tuples(names, TYPES)
    extra = st.lists(pairs, min_size=1, max_size=3, unique_by=lambda pair: pair[0].casefold())
    return (*roles, *draw(extra))


@st.composite
def scenarios(draw: st.DrawFn, *, max_steps: int = 6) -> Scenario:
    """A scenario that a file may hold; steps that cannot be done are left out of it."""
    table = Table(draw(columns()), "id", ("ts",), draw(st.sampled_from([(), ("p",)])))
    scenario = Scenario(
        name="family/name",
        table=table,
        steps=(),
        about=draw(TEXTS),
        source=draw(TEXTS),
        formats=tuple(draw(st.lists(ODD_NAMES, max_size=2, unique=True))),
        settings=draw(
            st.sampled_from([{}, {"rewrites": ("none",)}, {"rewrites": ("some", "all")}])
        ),
        views=tuple(draw(st.lists(st.sampled_from(VIEWS), unique=True))),
        path=PATH,
    )
    for operation in [Insert((1, 2)), *range(draw(st.integers(3, max_steps)))]:
        if isinstance(operation, int):
            operation = draw(operations(scenario.survey.history[-1]))  # noqa: PLW2901
        longer = replace(scenario, steps=(*scenario.steps, Step(operation, draw(st.booleans()))))
        scenario = longer if _possible(longer) else scenario
    assume(scenario.steps)
    return scenario


def _possible(scenario: Scenario) -> bool:
    document = Document({}, {}, Problems(PATH))
    try:
        semantics.check(scenario, document, ())
        document.problems.raise_if_any()
    except (ScenarioProblem, SchemaChangeError):
        return False
    return True


def without_lines(scenario: Scenario) -> Scenario:
    return replace(scenario, steps=tuple(replace(step, line=0) for step in scenario.steps))


PART_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
DECIMALS = st.integers(1, 38).flatmap(
    lambda precision: st.builds(Decimal, st.just(precision), st.integers(0, precision))
)
BOUNDED = st.sampled_from(sorted(MAX_LENGTH)).flatmap(
    lambda name: st.builds(Text, st.just(name), st.integers(1, MAX_LENGTH[name]))
)
PLAIN: st.SearchStrategy[DataType] = st.one_of(
    st.sampled_from(PRIMITIVES).map(Primitive), DECIMALS, BOUNDED
)


def _wider(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    fields = st.lists(
        st.tuples(PART_NAMES, inner),
        min_size=1,
        max_size=3,
        unique_by=lambda pair: pair[0].casefold(),
    )
    return st.one_of(
        fields.map(lambda pairs: Struct(tuple(pairs))),
        inner.map(Array),
        st.builds(Map, PLAIN, inner),
    )


TYPES: st.SearchStrategy[DataType] = st.recursive(PLAIN, _wider, max_leaves=4)
