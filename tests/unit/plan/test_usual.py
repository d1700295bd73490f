"""What scenarios are asked where nobody names a profile."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import plan_options
from harness.cli.named_parts import NamedParts
from harness.cli.plan_options import Change, PlanOverrides
from harness.core.errors import UsageProblem
from harness.plan import Parts, Profile, ProfileReader, estimate, usual
from harness.scenario.cells import Plan, Variant, parse_reader

TABLE = "table: {columns: {id: string, ts: long, f1: string, n: int}, key: id, order_by: ts}\n"
DEFAULTS = f"""{TABLE}formats: [iceberg]
steps:
  - insert: [1, 2, 3]
  - add_column: {{name: f2, type: string, default: given, after: f1}}
  - insert: [4]
  - delete: [2]
"""
"""`harness upgrade` once said of it that nothing changes: it had asked for all columns alone."""
PLAIN = f"""{TABLE}steps:
  - insert: [1, 2]
  - rename_column: {{name: f1, to: g}}
  - upsert: [1, 3]
"""
OLD, NEW = "spark-3.5.8-iceberg-1.10.1", "spark-3.5.9-iceberg-1.12.0"


def planned(
    folder: Path,
    text: str,
    readers: tuple[str, ...] = (),
    overrides: PlanOverrides = plan_options.AS_PROFILE,
    formats: tuple[str, ...] = (),
    change: Change | None = None,
) -> Plan:
    path = folder / "my" / "mine.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    named = NamedParts(formats=formats, readers=readers)
    return plan_options.make([path], None, "", None, overrides, named, change)


def side(reader: str, *readers: str, in_use: tuple[str, ...] = ()) -> Change:
    asked = tuple(ProfileReader(parse_reader(name)) for name in readers)

    def applied(profile: Profile, _: object) -> Profile:
        return replace(profile, readers=(ProfileReader(parse_reader(reader)),))

    return Change(applied, Parts((), (), asked), in_use)


def values(plan: Plan, setting: str) -> set[str | None]:
    return {variant.settings.get(setting) for variant in plan.variants}


def formats(plan: Plan) -> set[str]:
    return {variant.format for variant in plan.variants}


def asked(plan: Plan) -> set[tuple[str, int, str, str]]:
    return {cell.question for cell in plan.cells}


def test_both_sides_of_an_upgrade_are_asked_for_what_is_lost_under_a_condition(
    tmp_path: Path,
) -> None:
    old = planned(tmp_path, DEFAULTS, change=side(OLD, OLD, NEW))
    new = planned(tmp_path, DEFAULTS, change=side(NEW, OLD, NEW))
    assert asked(old) == asked(new)
    queries = {cell.query for cell in old.cells}
    assert {"all", "where(f2 = old)", "where(f2 is null)", "count_where(f2 is not null)"} <= queries
    assert {"alone(f2)", "count_all", "unchanged(f1)"} <= queries
    assert values(old, "delete_mode") == {"copy-on-write", "merge-on-read"}
    assert values(old, "format_version") == {"3"}, "the format has defaults since then"


def test_iceberg_is_written_in_both_versions_and_by_both_ways_where_rows_change(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, PLAIN, formats=("iceberg",))
    pairs = {(v.settings["format_version"], v.settings["delete_mode"]) for v in plan.variants}
    assert pairs == {(v, m) for v in "23" for m in ("copy-on-write", "merge-on-read")}
    only_added = PLAIN.replace("upsert: [1, 3]", "insert: [3]")
    plan = planned(tmp_path, only_added, formats=("iceberg",))
    assert (values(plan, "format_version"), values(plan, "delete_mode")) == ({"2", "3"}, {None})


def test_delta_has_column_mapping_vectors_and_widening_as_the_story_needs_or_can_have_them(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, PLAIN, formats=("delta",))
    assert values(plan, "column_mapping") == {"name"}, "without it a rename is refused"
    assert values(plan, "deletion_vectors") == {"off", "on"}
    widened = PLAIN.replace("rename_column: {name: f1, to: g}", "change_type: {name: n, to: long}")
    plan = planned(tmp_path, widened, formats=("delta",))
    assert values(plan, "column_mapping") == {"none", "name"}
    assert values(plan, "type_widening") == {"on"}


def test_a_scenario_s_formats_need_not_be_named_again_and_its_settings_stay(tmp_path: Path) -> None:
    text = DEFAULTS.replace("steps:", "settings: {delete_mode: [merge-on-read]}\nsteps:")
    plan = planned(tmp_path, text)
    assert formats(plan) == {"iceberg"}
    assert values(plan, "delete_mode") == {"merge-on-read"}


def test_a_plain_scenario_is_written_in_the_formats_that_the_readers_have_in_common(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, PLAIN, ("trino-476", "pyiceberg-0.12.0"))
    assert formats(plan) == {"iceberg"}
    assert "formats chosen, as none were named: iceberg" in plan.chosen
    without_delta = planned(tmp_path, PLAIN, change=side("trino-483", "trino-476", "trino-483"))
    assert "delta" not in formats(without_delta)
    assert {"iceberg", "hudi-mor"} <= formats(without_delta)
    touched = PLAIN.replace("upsert: [1, 3]", "touch")
    plain = planned(tmp_path, touched, change=side("duckdb-2.0.1", "duckdb-1.5.5", "duckdb-2.0.1"))
    assert formats(plain) == {"hive-parquet"}


def test_or_in_those_of_the_user_s_own_tables(tmp_path: Path) -> None:
    change = side("trino-476", "trino-476", in_use=("hive-parquet",))
    plan = planned(tmp_path, PLAIN.replace("upsert: [1, 3]", "insert: [3]"), change=change)
    assert formats(plan) == {"hive-parquet"}
    assert "formats chosen, as none were named: hive-parquet (of your tables)" in plan.chosen


def test_questions_and_settings_that_are_named_narrow_it_and_widen_it(tmp_path: Path) -> None:
    overrides = PlanOverrides(
        queries=("all",), settings=("format_version=2", "delete_mode=equality,merge-on-read")
    )
    deleting = PLAIN.replace("upsert: [1, 3]", "delete: [1]")
    plan = planned(tmp_path, deleting, overrides=overrides, formats=("iceberg",))
    assert {cell.query for cell in plan.cells} == {"all"}
    assert values(plan, "format_version") == {"2"}
    assert values(plan, "delete_mode") == {"equality", "merge-on-read"}


@pytest.mark.parametrize("text", ["format_version", "=3", "format_version="])
def test_a_setting_without_a_name_or_a_value_is_reported(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageProblem, match=f"--setting {text}: write name=value"):
        planned(tmp_path, PLAIN, overrides=PlanOverrides(settings=(text,)), formats=("iceberg",))


def long_story(changes: int) -> str:
    steps = "".join(
        f"  - rename_column: {{name: n{at}, to: n{at + 1}}}\n  - upsert: [1, {at + 3}]\n"
        for at in range(changes)
    )
    return f"{TABLE.replace('n: int', 'n0: int')}steps:\n  - insert: [1, 2]\n{steps}"


def test_what_takes_too_long_is_left_out_and_reported(tmp_path: Path) -> None:
    readers, plan_formats = (OLD, "trino-476"), ("iceberg",)
    whole = planned(tmp_path, long_story(1), readers, formats=plan_formats)
    assert not whole.left_out
    assert any(variant.twin for variant in whole.variants)
    part = planned(tmp_path, long_story(9), readers, formats=plan_formats)
    assert part.left_out[0] == "twins, whose columns are of one type"
    assert not any(map(twin, part.variants))
    assert estimate(part) <= usual.LIMIT_S
    assert {left.what for left in part.excluded} >= set(part.left_out)
    assert values(part, "delete_mode") == {"copy-on-write", "merge-on-read"}


def twin(variant: Variant) -> bool:
    return variant.twin


def test_questions_that_somebody_names_are_never_left_out(tmp_path: Path) -> None:
    overrides = PlanOverrides(queries=("all", "story"))
    plan = planned(tmp_path, long_story(15), ("trino-476",), overrides, ("iceberg",))
    assert any("where(" in cell.query for cell in plan.cells)
    assert not any("conditions" in what for what in plan.left_out)


def test_the_quick_start_stays_as_it_was() -> None:
    assert len(plan_options.make(None, None, "").cells) == 1216
