"""The scenarios and profiles of this project, before anything runs."""

from functools import cache
from itertools import product
from typing import Final

import pytest

from harness import formats
from harness.artifacts import distributions
from harness.cli import plan_options
from harness.model import past_views
from harness.model.commit import NAMED
from harness.model.datatypes import NULL_ALONE, PRIMITIVES
from harness.model.truth import Group, Truth
from harness.plan import (
    distribution_support,
    estimate,
    load_profiles,
    load_scenarios,
    profiles_file,
    scenarios_folder,
)
from harness.scenario.cells import Plan, Reader
from harness.scenario.definition import Scenario
from harness.scenario.derived import twin
from harness.scenario.dump import dump
from harness.scenario.load import loads
from harness.scenario.notices import UNTRACED, notices
from tests.builders.random_scenarios import without_lines

SCENARIOS = load_scenarios(scenarios_folder())
OTHERS: Final = {
    *("settings", "control", "services", "writes", "bugs", "metadata", "concurrency"),
    *("partition_fields", "snapshots", "delta", "hive_acid", "mixed_writers", "maintenance"),
    *("hive_writes", "libraries", "delta_features"),
}
PROFILES = load_profiles(profiles_file())
TYPED: Final = {"types", "type_mapping", "evolution", "upgrades"}
"""Families about types: they give values, NULL among them, and may have no twin."""
TEXTS: Final = "hive/hard_texts"
LONG_TEXTS: Final = "settings/long_texts"
"""Their lengths are what it is about."""
NULLS: Final = "/merged_null_structs", "/index_of_null"
PAIRS: Final = "delta_features/widened_pairs"
"""Has a column for each pair of types, and no types are left for a twin."""
REPEATED: Final = "bugs/legacy_decimals"
"""Values that occur twice are what it is about: a file may have a dictionary of them."""
EVERY: Final = {s.name for s in SCENARIOS if s.name.partition("/")[0] not in {*OTHERS, *TYPED}}
"""Those of `settings/` are for values of table settings that other tables cannot have; `services/`
and `writes/` are asked by the profile `services`, `bugs/`, `metadata/`, `concurrency/`,
`maintenance/`, the two
of Iceberg and the typed by their own; controls go into any plan."""
HOUR: Final = 3600
HUDI: Final = "spark-3.5.8-hudi-{}"
SPARKS: Final = tuple(map(HUDI.format, ("0.15.0", "1.0.2", "1.2.0")))
HIVES: Final = {
    *(f"hive-3.1.3{{path={setting}}}" for setting in ("fetch", "mapreduce")),
    *(f"hive-3.1.3{{path={setting}, schema-on-read=on}}" for setting in ("fetch", "mapreduce")),
}
SHAPES: Final = {"all", "column", "predicate", "dereference", "count", "partition"}


@cache
def planned(profile: str) -> Plan:
    return plan_options.make(None, profile, "")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda entry: entry.name)
def test_it_says_what_it_is_about_and_where_it_comes_from(scenario: Scenario) -> None:
    assert scenario.about
    assert scenario.source


@pytest.mark.parametrize(
    "scenario",
    [s for s in SCENARIOS if not s.name.endswith(("/hard_values", TEXTS, REPEATED))],
    ids=lambda entry: entry.name,
)
def test_all_its_values_can_be_traced(scenario: Scenario) -> None:
    wrong = [notice for notice in notices(scenario) if UNTRACED in notice]
    stated = scenario.name.endswith(NULLS) or (
        scenario.name.partition("/")[0] in {*TYPED, "partition_fields"}
    )
    passed = (" is NULL", "more such values") if stated else ()
    assert not [message for message in wrong if not any(name in message for name in passed)]


LACKING: Final = {
    # Spark takes all timestamps of a plain Hive table for one kind: see hive/without_zone.
    "hive/hard_values": {"timestamp_ntz", "variant", *NULL_ALONE},
    "hudi/hard_values": {"tinyint", "smallint", "timestamp_ntz", "variant", *NULL_ALONE},
    # Spark 3.5 writes no variants: see upgrades/variants.
    "iceberg/hard_values": {"tinyint", "smallint", "variant", *NULL_ALONE},
}


@pytest.mark.parametrize(
    "scenario",
    [scenario for scenario in SCENARIOS if scenario.name.endswith("/hard_values")],
    ids=lambda entry: entry.name,
)
def test_hard_values_are_those_of_every_plain_type_that_the_format_has(scenario: Scenario) -> None:
    types = dict(scenario.table.columns)
    assert set(PRIMITIVES) - LACKING[scenario.name] <= {str(type_) for type_ in types.values()}
    rows = getattr(scenario.steps[0].operation, "rows")  # noqa: B009 - of an insert
    for name, type_ in types.items():
        stated = [row[name] for row in rows if name in row]
        assert not stated or name == scenario.table.key or None in stated
        if str(type_) == "double":
            assert {"nan", "-inf"} <= set(map(str, stated)) or {"-0.0", "0.0"} <= set(
                map(str, stated)
            )


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda entry: entry.name)
def test_it_has_a_twin_and_both_are_read_back_from_their_text(scenario: Scenario) -> None:
    other = twin(scenario)
    data = [name for name, _ in scenario.table.columns if name not in scenario.table.fixed]
    plain = "bugs/plain_types_of_partitions"
    retained = {*TYPED, "partition_fields", plain, TEXTS, LONG_TEXTS, REPEATED, PAIRS}
    family = scenario.name.partition("/")[0]
    retained |= {scenario.name} if scenario.table.options else set()
    assert other is not None or len(data) == 1 or retained & {family, scenario.name}
    for entry in (scenario, other) if other else (scenario,):
        again = without_lines(loads(dump(entry), entry.path, formats.keeping_case()))
        assert repr(again) == repr(without_lines(entry))  # NaN equals nothing


def test_on_hudi_an_old_file_group_holds_an_updated_and_an_untouched_row() -> None:
    variants = [v for v in planned("main").variants if v.format == "hudi-mor" and not v.twin]
    histories = {v.id: v.scenario.truths(merge_on_read=True).history() for v in variants}
    assert histories
    assert [name for name, history in histories.items() if not any(map(_mixed, history))] == []


def _mixed(truth: Truth) -> bool:
    """Whether rows of one file group differ in being as they were inserted."""
    groups: dict[Group, set[bool]] = {}
    for row in truth.rows.values():
        untouched = set(row.written.values()) == {row.group[0]}
        groups.setdefault(row.group, set()).add(untouched)
    return any(len(kinds) == 2 for kinds in groups.values())


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_makes_a_plan_that_asks_every_reader_about_every_variant(name: str) -> None:
    plan = planned(name)
    asked = {(cell.variant, cell.reader) for cell in plan.cells}
    written = {variant.id for variant in plan.variants}
    assert {variant for variant, _ in asked} == written != set()
    assert {reader for _, reader in asked} == {str(reader) for reader in plan.readers}


def test_some_version_of_each_engine_is_asked_by_a_profile() -> None:
    readers = {
        asked.reader.distribution for profile in PROFILES.values() for asked in profile.readers
    }
    asked = {distributions.load(name).engine for name in readers}
    shipped = {version.engine for version in distribution_support.readers()}
    assert shipped - asked == set()


def test_the_past_is_asked_of_every_reader_of_its_profile_that_has_it() -> None:
    plan = planned("time_travel")
    formats_of = {variant.id: variant.format for variant in plan.variants}
    distributions_of = {str(reader): reader.distribution for reader in plan.readers}
    assert {
        (distributions_of[cell.reader], formats_of[cell.variant], past_views.name_of(cell.view))
        for cell in plan.cells
    } == {
        (name, format_name, view)
        for name, format_name in product(set(distributions_of.values()), formats.names())
        for view in formats.load(format_name).past_views
        if view not in NAMED
        if format_name != "delta"
        if not distribution_support.cannot(Reader(name), format_name)
        and not distribution_support.cannot_show(Reader(name), format_name, view)
    }
    of_hudi = (
        f"{name}{{schema-on-read={text_}}}" for name, text_ in product(SPARKS, ("on", "off"))
    )
    assert {*of_hudi, *HIVES} <= {str(reader) for reader in plan.readers}


def test_the_main_profile_has_every_shipped_scenario() -> None:
    names = {variant.scenario.name for variant in planned("main").variants}
    assert names == EVERY


def test_the_estimate_of_the_quick_start_is_about_what_it_took_on_idle_cores() -> None:
    assert estimate(planned("quick-start")) == pytest.approx(225, rel=0.25)


def test_in_the_full_profile_every_reader_is_asked_every_shape_and_every_pair_is_there() -> None:
    plan = planned("full")
    readers = {str(reader) for reader in plan.readers}
    asked = {(cell.reader, cell.query.partition("(")[0]) for cell in plan.cells}
    assert asked == set(product(readers, SHAPES))
    assert {pairs.scenario for pairs in plan.pairs} == EVERY
    assert {why.why for pairs in plan.pairs for why in pairs.cannot} == {
        "rewrites=partition: the table has no partitions",
        *(
            f"{name}: Spark SQL puts partition columns last; {by} must stand there"
            for name in ("hudi-cow", "hudi-mor", "hive-parquet")
            for by in ("p", "p, q")
        ),
    }
    assert estimate(plan) < 3 * HOUR


def test_every_value_of_a_table_setting_is_in_some_table_of_its_profile() -> None:
    plan, axes = planned("table_settings"), PROFILES["table_settings"].axes
    written = {pair for variant in plan.variants for pair in variant.settings.items()}
    # No partitions is no setting of a table.
    requested = {(name, value) for name in axes for value in axes[name]} - {("partitioned", "none")}
    assert requested <= written
    for family in ("hudi", "iceberg", "hive"):
        formats_of = {v.format for v in plan.variants if v.settings.get("row_groups") == "small"}
        assert any(name.startswith(family) for name in formats_of)
    assert estimate(plan) < HOUR / 3


def test_the_profiles_people_begin_with_stay_small() -> None:
    assert len(planned("first").variants) == 1
    assert len(planned("ci").variants) <= 8
    assert len(planned("quick-start").variants) == 12
