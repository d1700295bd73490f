from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.schema import MergeMode
from harness.plan import Cover, Maker, Profile, ProfileReader, Writer, plan, select
from harness.plan.product import WriterSequence, cover, handovers
from harness.scenario.cells import Excluded, Partly, Plan, Variant, parse_reader
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Operation, ServiceMode
from harness.scenario.operations.columns import AddColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, LateUpsert, Rewrites, Touch, Update
from harness.scenario.operations.services import Cluster, Compact, Maintain, RewriteManifests
from tests.builders.scenarios import TEXT, scenario_of
from tests.unit.plan.test_plan import COW, MOR, PLAIN, PROFILE, STORY, TRINO

META = {"table_version": ("6", "8"), "meta_fields": ("synced", "omitted")}
FORMATS = (replace(COW, settings=META), replace(MOR, settings=META), PLAIN)
EVERY = ("none", "last", "middle", "two", "two_last")
WIDE: dict[str, Any] = {
    "formats": ("cow", "mor"),
    "axes": {"rewrites": tuple(Rewrites), "partitioned": EVERY, "meta_fields": META["meta_fields"]},
    "writers": (Writer("a"), Writer("b", {"table_version": "6"}), Writer("b")),
    "twins": True,
}
LONG = replace(
    scenario_of(
        Insert((1, 2)),
        Touch(),
        RenameColumn("f2", "g"),
        Touch(),
        AddColumn("f3", TEXT),
        columns={"id": "string", "f1": "string", "f2": "string"},
    ),
    name="family/long",
)


def planned(
    *scenarios: Scenario,
    makers: Mapping[str, Maker] | None = None,
    **changed: Any,  # noqa: ANN401 - what a profile holds
) -> Plan:
    profile = replace(PROFILE, **changed)
    return plan(scenarios or (STORY,), profile, FORMATS, makers)


def ids(plan: Plan) -> list[str]:
    return [variant.id.partition("[")[2] for variant in plan.variants]


def test_a_table_gets_partitions_by_the_axis_and_none_stays_as_it_was() -> None:
    plan = planned(axes={"partitioned": EVERY})
    assert ids(plan) == [
        f"cow,rewrites=none{shown}]@spark-3.5.8-hudi-0.15.0"
        for shown in (
            "",
            ",partitioned=last",
            ",partitioned=middle",
            ",partitioned=two",
            ",partitioned=two_last",
        )
    ]
    by = [variant.scenario.table.partition_by for variant in plan.variants]
    assert by == [(), ("p",), ("p",), ("p", "q"), ("p", "q")]
    assert "partitioned" not in plan.variants[0].settings
    assert plan.variants[1].settings["partitioned"] == "last"


def test_what_maintains_a_table_is_what_the_axis_says() -> None:
    story = scenario_of(Insert((1,)), Maintain(), Touch(Rewrites.ALL))
    axes = {"maintenance": ("compact", "rewrite_manifests"), "rewrites": ("some",)}
    variants = planned(replace(story, name="family/story"), axes=axes).variants
    shown = [variant.settings for variant in variants]
    assert shown == [{"maintenance": name} for name in axes["maintenance"]]
    steps = [variant.scenario.operations[1:] for variant in variants]
    assert steps == [(kind(), Touch(Rewrites.ALL)) for kind in (Compact, RewriteManifests)]
    assert not [v for v in planned(axes=axes).variants if "maintenance" in v.settings]


def test_a_format_whose_partition_columns_stand_last_cannot_have_them_elsewhere() -> None:
    moving = (replace(COW, partitions_last=True),)
    result = plan((STORY,), replace(PROFILE, axes={"partitioned": EVERY}), moving)
    by = {v.settings.get("partitioned"): v.scenario.table.partition_by for v in result.variants}
    assert by == {None: (), "last": ("p",), "two_last": ("p", "q")}
    assert [exclusion.why for exclusion in result.excluded] == [
        "cow: Spark SQL puts partition columns last; p must stand there",
        "cow: Spark SQL puts partition columns last; p, q must stand there",
    ]


def test_a_dataframe_that_creates_the_table_lets_them_stand_where_they_are() -> None:
    moving = (replace(COW, partitions_last=True, settings={"created_by": ("sql", "frame")}),)
    axes = {"partitioned": ("middle",), "created_by": ("sql", "frame")}
    result = plan((STORY,), replace(PROFILE, axes=axes), moving)
    assert [variant.settings["created_by"] for variant in result.variants] == ["frame"]
    assert [exclusion.why for exclusion in result.excluded] == [
        "cow: Spark SQL puts partition columns last; p must stand there"
    ]


def test_a_scenario_with_late_data_has_the_merge_mode_in_its_table() -> None:
    columns = {"id": "string", "ts": "long", "f1": "string"}
    late = scenario_of(Insert((1,)), LateUpsert((1,)), columns=columns, order_by="ts")
    late = replace(late, name="family/late")
    by_itself, both = planned(late), planned(late, axes={"merge_mode": tuple(MergeMode)})
    modes = [variant.scenario.table.merge_mode for variant in (*by_itself.variants, *both.variants)]
    assert modes == [MergeMode.EVENT_TIME, *MergeMode]
    assert [variant.settings["merge_mode"] for variant in both.variants] == list(MergeMode)
    scenario = replace(late, table=replace(late.table, merge_mode=MergeMode.COMMIT_TIME))
    assert len(planned(scenario, axes={"merge_mode": tuple(MergeMode)}).variants) == 1
    assert "merge_mode" not in planned(STORY, axes={"merge_mode": tuple(MergeMode)}).variants[0].id


def test_a_merge_mode_that_a_scenario_names_is_taken_though_nothing_of_it_is_late() -> None:
    columns = {"id": "string", "ts": "long", "f1": "string"}
    scenario = scenario_of(Insert((1,)), columns=columns, order_by="ts")
    scenario = replace(scenario, name="family/mode", settings={"merge_mode": ("commit_time",)})
    (variant,) = planned(scenario).variants
    assert variant.scenario.table.merge_mode is MergeMode.COMMIT_TIME
    assert "merge_mode=commit_time" in variant.id


def test_what_is_named_and_taken_by_no_variant_is_left_out_with_its_reason() -> None:
    setting = {"meta_fields": ("omitted",), "table_version": ("6",)}
    plain = replace(STORY, name="family/plain", formats=("cow", PLAIN.NAME), settings=setting)
    axes = {"merge_mode": tuple(MergeMode), "rewrites": ("none",)}
    result = planned(plain, formats=(PLAIN.NAME,), axes=axes)
    assert [(left.what, left.why.partition(":")[0]) for left in result.excluded] == [
        ("family/plain", "meta_fields is not taken"),
        ("family/plain", "table_version is not taken"),
        ("profile mine", "merge_mode is not taken"),
    ]
    assert not planned(axes={"rewrites": ("some",), "meta_fields": ("omitted",)}).excluded


def test_what_limits_a_writer_and_is_not_met_is_left_out_with_its_reason() -> None:
    some = Writer("a", axes={"rewrites": ("some",)})
    result = planned(writers=(some, Writer("b")), axes={"rewrites": ("none",)})
    assert [variant.writers[0] for variant in result.variants] == ["b"]
    assert result.excluded == (Excluded("family/story by a", "it is for rewrites some"),)
    (left,) = planned(writers=(Writer("a", axes={"merge_mode": ("commit_time",)}),)).excluded
    assert (left.what, left.why.partition(":")[0]) == ("writer a", "merge_mode is not taken")


def test_a_write_to_one_partition_needs_partitions() -> None:
    plan = planned(axes={"partitioned": ("none", "last"), "rewrites": ("partition",)})
    assert ids(plan) == ["cow,rewrites=partition,partitioned=last]@spark-3.5.8-hudi-0.15.0"]
    assert [exclusion.why for exclusion in plan.excluded] == [
        "rewrites=partition: the table has no partitions"
    ]


def test_an_axis_of_a_format_makes_variants_of_formats_that_know_it() -> None:
    plan = planned(formats=("cow", "plain"), axes={"meta_fields": ("synced", "omitted")})
    assert [id_.partition("@")[0] for id_ in ids(plan)] == [
        "cow,rewrites=none,meta_fields=synced]",
        "cow,rewrites=none,meta_fields=omitted]",
        "plain,rewrites=none]",
    ]


def test_a_sequence_goes_on_at_every_step() -> None:
    plan = planned(writers=(Writer("a", then="b"),))
    assert [id_.partition("]")[2] for id_ in ids(plan)] == [
        "@a,step1:b",
        "@a,step2:b",
        "@a,step3:b",
    ]
    assert [variant.writers for variant in plan.variants] == [
        ("a", "b", "b", "b"),
        ("a", "a", "b", "b"),
        ("a", "a", "a", "b"),
    ]


def test_two_writers_in_turn_write_one_step_each_from_then_on() -> None:
    sequence = WriterSequence(Writer("a", then="b", at=2, in_turn=True), 2)
    assert sequence.distributions(5) == ("a", "a", "b", "a", "b", "a")
    assert str(sequence) == "a,step2:b,in-turn"


def test_a_writer_writes_the_scenarios_and_axis_values_that_it_names() -> None:
    limits = {"rewrites": ("some",)}
    writers = (Writer("a", axes=limits), Writer("b", scenarios=("*/long",)))
    plan = planned(STORY, LONG, writers=writers, axes={"rewrites": ("none", "some")})
    request = [(v.scenario.name, v.settings["rewrites"], v.writers[0]) for v in plan.variants]
    assert request == [
        ("family/story", "some", "a"),
        ("family/long", "none", "b"),
        ("family/long", "some", "a"),
        ("family/long", "some", "b"),
    ]


def test_a_writer_writes_only_what_it_can() -> None:
    makers = {"a": Maker(("cow",), ("6",)), "b": Maker(("plain",))}
    writers = (Writer("a"), Writer("a", {"table_version": "8"}), Writer("b"))
    plan = planned(formats=("cow", "plain", "mor"), writers=writers, makers=makers)
    assert ids(plan) == ["cow,rewrites=none]@a", "plain,rewrites=none]@b"]
    assert [exclusion.why for exclusion in plan.excluded] == [
        "no writer of the profile writes mor",
        "a writes table_version 6 and not 8",
    ]


def test_a_setting_that_a_table_or_a_writer_cannot_have_is_left_out_with_the_reason() -> None:
    cow = replace(COW, settings={"sorted": ("no", "yes")})
    makers = {"a": Maker(("cow",), cannot={"sorted=no": "it always sorts"}), "b": Maker(("cow",))}
    ordered = replace(STORY, table=replace(STORY.table, order_by=("id",)))
    asked = replace(PROFILE, writers=(Writer("a"), Writer("b")), axes={"sorted": ("no", "yes")})
    for story, why in ((ordered, ()), (STORY, ("sorted=yes: nothing orders its rows",))):
        result = plan((story,), asked, (cow,), makers)
        reasons = {exclusion.why for exclusion in result.excluded}
        assert reasons == {"a, sorted=no: it always sorts", *why}
        assert len(result.variants) == (1 if why else 3)


def test_a_step_that_a_writer_cannot_do_leaves_its_tables_out() -> None:
    makers = {"a": Maker(("cow",), cannot={"insert": "it lost its pen"}), "b": Maker(("cow",))}
    asked = replace(PROFILE, writers=(Writer("a"), Writer("b")))
    result = plan((STORY,), asked, (COW,), makers)
    assert {variant.writers[0] for variant in result.variants} == {"b"}
    assert {exclusion.why for exclusion in result.excluded} == {"step 1, a: it lost its pen"}


def axes_of(variant: Variant) -> dict[str, str]:
    writer = f"{variant.writers}{variant.settings.get('table_version')}"
    rest = {name: variant.settings[name] for name in ("rewrites", "meta_fields")}
    partitioned = variant.settings.get("partitioned", "none")
    result = {"format": variant.format, "writer": writer, "partitioned": partitioned, **rest}
    return result | {"twin": str(variant.twin)}


def pairs(plan: Plan) -> set[frozenset[tuple[str, str]]]:
    every = (axes_of(variant).items() for variant in plan.variants)
    return {frozenset(pair) for items in every for pair in combinations(items, 2)}


def test_pairs_leave_out_no_two_values_that_all_combinations_have() -> None:
    whole, few = (planned(LONG, cover=cover, **WIDE) for cover in (Cover.ALL, Cover.PAIRS))
    assert pairs(few) == pairs(whole)
    assert {variant.id for variant in few.variants} < {variant.id for variant in whole.variants}
    assert len(few.variants) < len(whole.variants) / 10
    (lines,) = few.pairs
    assert whole.pairs == ()
    assert (lines.variants, lines.combinations) == (len(few.variants), len(whole.variants))
    assert lines.covered == len(pairs(few))
    assert lines.axes["partitioned"] == EVERY
    assert lines.cannot == (
        Excluded(
            "rewrites=partition with partitioned=none",
            "rewrites=partition: the table has no partitions",
        ),
    )


def test_values_leave_out_none_that_a_setting_has_and_need_fewer_tables_than_pairs() -> None:
    pairs_of, fewest = (planned(LONG, cover=c, **WIDE) for c in (Cover.PAIRS, Cover.VALUES))

    def values(plan: Plan) -> set[tuple[str, str]]:
        return {value for variant in plan.variants for value in axes_of(variant).items()}

    assert values(fewest) == values(pairs_of)
    assert len(fewest.variants) < len(pairs_of.variants)


def test_the_pairs_of_a_scenario_do_not_depend_on_the_others() -> None:
    alone = planned(LONG, cover=Cover.PAIRS, **WIDE)
    among = planned(STORY, LONG, cover=Cover.PAIRS, **WIDE)
    assert alone.variants == tuple(v for v in among.variants if v.scenario.name == LONG.name)
    of_long = {variant.id for variant in alone.variants}
    assert alone.cells == tuple(cell for cell in among.cells if cell.variant in of_long)
    assert alone == planned(LONG, cover=Cover.PAIRS, **WIDE)


READERS = tuple(ProfileReader(parse_reader(f"other-{at}")) for at in range(3))


def test_a_reader_that_cannot_be_asked_of_a_format_is_left_out_with_the_reason() -> None:
    profile: Profile = replace(PROFILE, formats=("cow", "plain"))
    result = plan((STORY,), profile, FORMATS, None, lambda reader, name: name * (name == "plain"))
    asked = {cell.variant.partition("[")[2].partition(",")[0] for cell in result.cells}
    assert asked == {"cow"}
    assert result.excluded == (Excluded(f"{TRINO} on plain", "plain"),)


def test_a_reader_of_pairs_meets_every_axis_value_in_fewer_variants() -> None:
    few = ProfileReader(READERS[0].reader, variants=Cover.PAIRS)
    plan = planned(LONG, cover=Cover.PAIRS, readers=(few, READERS[1]), **WIDE)
    asked = {cell.variant for cell in plan.cells if cell.reader == str(few.reader)}
    met = [axes_of(variant).items() for variant in plan.variants if variant.id in asked]
    every = [axes_of(variant).items() for variant in plan.variants]
    assert set().union(*met) == set().union(*every)
    assert len(asked) <= len(EVERY) + 1 < len(plan.variants) / 2
    cells = sum(1 for cell in plan.cells if cell.reader == str(few.reader))
    assert plan.partly == (Partly("other-0", len(asked), len(plan.variants), cells),)
    assert select(plan, "*").partly == plan.partly
    assert select(plan, "other-0").partly == ()


def test_a_reader_is_asked_of_the_formats_that_it_names() -> None:
    limited = ProfileReader(READERS[0].reader, formats=("plain",))
    plan = planned(formats=("cow", "plain"), readers=(limited, READERS[1]))
    formats = {variant.id: variant.format for variant in plan.variants}
    asked = {(cell.reader, formats[cell.variant]) for cell in plan.cells}
    assert asked == {("other-0", "plain"), ("other-1", "plain"), ("other-1", "cow")}
    assert plan.excluded == ()


AXIS_SIZES = st.dictionaries(
    st.sampled_from(["format", "writer", "rewrites", "partitioned", "twin"]),
    st.integers(1, 4),
    min_size=1,
)


@st.composite
def feasible(draw: st.DrawFn) -> list[dict[str, str]]:
    """Some of all combinations of some axes."""
    axes = draw(AXIS_SIZES)
    values = [[f"{name}{at}" for at in range(count)] for name, count in axes.items()]
    every = [dict(zip(axes, values, strict=True)) for values in product(*values)]
    return [entry for entry in every if draw(st.integers(0, 3))][:200]


def together(combination: dict[str, str]) -> set[frozenset[tuple[str, str]]]:
    return {frozenset(combination) for combination in combinations(combination.items(), 2)}


@given(feasible())
def test_every_pair_that_can_be_is_in_a_chosen_combination(can: list[dict[str, str]]) -> None:
    chosen = [can[at] for at in cover(can)]
    requested = set().union(*map(together, can)) if can else set()
    assert (set().union(*map(together, chosen)) if chosen else set()) == requested
    alone = {item for entry in can for item in entry.items()}
    assert {item for entry in chosen for item in entry.items()} == alone


@pytest.mark.parametrize(("sizes", "most"), [((4, 4, 2, 2, 2), 18), ((4, 3, 2, 2, 2), 14)])
def test_pairs_take_little_more_than_the_two_longest_axes(
    sizes: tuple[int, ...], most: int
) -> None:
    values = [[str(at) for at in range(size)] for size in sizes]
    can = [dict(zip("abcde", values, strict=True)) for values in product(*values)]
    assert sizes[0] * sizes[1] <= len(cover(can)) <= most < len(can)


WAITS, CLUSTERING_WAITS = Compact(ServiceMode.SCHEDULE), Cluster(ServiceMode.SCHEDULE)
UPDATE = Update((1,), ("f1",))
ADD, RENAME = AddColumn("f2", TEXT), RenameColumn("f1", "g")


@pytest.mark.parametrize(
    ("operations", "steps"),
    [
        ((Insert((1,)), Touch(), ADD, Touch(), RENAME, Touch(), Compact()), [3, 6]),
        ((Insert((1,)), RENAME, Touch()), [2, 3]),
        ((Insert((1,)), UPDATE, RENAME), [3]),
        ((Insert((1,)), UPDATE, WAITS, Touch(), Compact()), [4]),
        ((Insert((1,)), UPDATE, WAITS, RENAME, Touch()), [4, 5]),
        ((Insert((1,)), Insert((2,)), CLUSTERING_WAITS, RENAME, Cluster()), [4, 5]),
        ((Insert((1,)), Insert((2,)), UPDATE, Touch(), Compact()), [4]),
        ((Insert((1,)), Touch(), Compact()), [2]),
        # Before the first rows there is nothing to take over.
        ((ADD, Insert((1,)), Touch()), [3]),
        ((ADD, Insert((1,))), []),
    ],
)
def test_the_newer_writer_goes_on_where_it_meets_what_the_older_one_left(
    operations: tuple[Operation, ...], steps: list[int]
) -> None:
    assert [
        writer_sequence.at for writer_sequence in handovers(scenario_of(*operations), "a", "b")
    ] == steps


def test_the_writers_can_be_those_of_a_profile() -> None:
    scenario = scenario_of(Insert((1,)), RENAME, Touch())
    old = Writer("a", {"table_version": "6"}, axes={"rewrites": ("none",)})
    writer_sequences = handovers(scenario, old, "b")
    writers = tuple(writer_sequence.writer for writer_sequence in writer_sequences)
    other = replace(scenario, name="family/other")
    ids = [variant.id for variant in planned(scenario, other, writers=writers).variants]
    assert ids == [
        f"family/name[cow,rewrites=none,table_version=6]@{name}"
        for name in map(str, writer_sequences)
    ]
    assert ids[0].endswith("@a,step2:b")
