"""Runs of formats, writers and readers that somebody names, with a profile and without one."""

from pathlib import Path

import pytest

from harness.cli import plan_options
from harness.cli.named_parts import NONE, NamedParts
from harness.core.errors import UsageProblem
from harness.plan import distribution_support
from harness.plan.select_scenarios import AD_HOC
from harness.scenario.cells import Plan
from tests.builders.scenario_texts import MOVED

HUDI, NEWER = "spark-3.5.8-hudi-0.15.0", "spark-3.5.8-hudi-1.0.2"
ICEBERG = "spark-3.5.8-iceberg-1.10.1"
BY_NAME = "trino-476{use-column-names=true}"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "my" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(MOVED, encoding="utf-8")
    return path


def made(path: Path, profile: str | None = None, named: NamedParts = NONE) -> Plan:
    return plan_options.make([path], profile, "", named=named)


def formats_of(plan: Plan) -> list[str]:
    return sorted({variant.format for variant in plan.variants})


def writers_of(plan: Plan) -> list[str]:
    return sorted({name for variant in plan.variants for name in variant.writers})


def readers_of(plan: Plan) -> list[str]:
    return [str(reader) for reader in plan.readers]


def test_a_run_is_made_of_just_the_parts_that_are_named(mine: Path) -> None:
    plan = made(
        mine, named=NamedParts(formats=["hudi-mor"], writers=[HUDI], readers=["trino-476", BY_NAME])
    )
    assert plan.profile == AD_HOC
    assert (formats_of(plan), writers_of(plan)) == (["hudi-mor"], [HUDI])
    assert readers_of(plan) == ["trino-476", BY_NAME]
    assert {cell.reader for cell in plan.cells} == {"trino-476", BY_NAME}
    assert not plan.chosen


@pytest.mark.parametrize("profile", [None, "main"])
def test_each_kind_of_part_takes_the_place_of_those_of_the_profile(
    mine: Path, profile: str | None
) -> None:
    assert formats_of(made(mine, profile, NamedParts(formats=["hudi-cow"]))) == ["hudi-cow"]
    assert writers_of(made(mine, profile, NamedParts(writers=[NEWER]))) == [NEWER]
    assert readers_of(made(mine, profile, NamedParts(readers=[BY_NAME]))) == [BY_NAME]


def test_what_is_not_named_is_chosen_and_reported(mine: Path) -> None:
    plan = made(mine, named=NamedParts(formats=["hudi-mor"]))
    assert readers_of(plan) == [HUDI, "trino-476"]
    assert plan.chosen == (
        f"writers chosen, as none were named: {HUDI}",
        f"readers chosen, as none were named: {HUDI}; trino-476",
    )
    by_name = made(mine, named=NamedParts(formats=["hudi-mor"], readers=[BY_NAME]))
    assert by_name.chosen == (f"writers chosen, as none were named: {HUDI}",)


def test_of_each_format_that_is_named_there_is_a_writer_that_is_asked_too(mine: Path) -> None:
    plan = made(mine, named=NamedParts(formats=["iceberg"]))
    assert writers_of(plan) == [ICEBERG]
    assert readers_of(plan) == [ICEBERG, "trino-476"]
    both = made(mine, named=NamedParts(formats=["hudi-cow", "iceberg"]))
    assert writers_of(both) == [HUDI, ICEBERG]
    assert not [left for left in both.excluded if "too long" not in left.why]


@pytest.mark.parametrize(
    "part", [NamedParts(writers=[ICEBERG]), NamedParts(readers=["hive-3.1.3-iceberg-1.4.3"])]
)
def test_formats_are_chosen_that_the_named_parts_can_serve(mine: Path, part: NamedParts) -> None:
    assert "iceberg" in formats_of(made(mine, named=part))
    assert "hudi-cow" not in formats_of(made(mine, named=part))


def test_a_format_whose_files_no_touch_can_choose_is_written_all_the_same(mine: Path) -> None:
    mine.write_text(f"{MOVED}  - touch\n", encoding="utf-8")

    def rewrites(*names: str) -> set[tuple[str, str]]:
        plan = made(mine, named=NamedParts(formats=names))
        return {(variant.format, variant.settings["rewrites"]) for variant in plan.variants}

    assert rewrites("hudi-cow") == {("hudi-cow", "some")}
    assert rewrites("hive-parquet") == {("hive-parquet", "none")}
    both = {("hudi-cow", "some"), ("hudi-cow", "none"), ("hive-parquet", "none")}
    assert rewrites("hudi-cow", "hive-parquet") == both


def test_a_writer_takes_settings_as_readers_do(mine: Path) -> None:
    plan = made(
        mine, named=NamedParts(formats=["hudi-mor"], writers=[f"{NEWER}{{table_version=6}}", HUDI])
    )
    assert {
        (variant.writers[0], variant.settings.get("table_version")) for variant in plan.variants
    } == {(NEWER, "6"), (HUDI, None)}


@pytest.mark.parametrize("profile", [None, "main"])
@pytest.mark.parametrize(
    ("named", "message"),
    [
        (NamedParts(formats=["mor"]), "unknown format 'mor'; did you mean 'hudi-mor'? allowed: "),
        (
            NamedParts(writers=["datafusion-55.0.0"]),
            "--writer: datafusion-55.0.0 writes nothing; allowed: daft-0.7.26, deltalake-",
        ),
        (
            NamedParts(writers=["trino-476"]),
            "--writer: trino-476 writes single steps (by: trino-476); allowed: daft-0.7.26, d",
        ),
        (
            NamedParts(writers=["nope"]),
            "--writer: there is no 'nope'; allowed: daft-0.7.26, deltalake-1.6.6, ",
        ),
        (NamedParts(readers=["nope"]), "'nope' is not a reader; allowed: "),
        (
            NamedParts(formats=["iceberg"], writers=[HUDI]),
            f"writer {HUDI}: it writes no iceberg tables; --format takes hive-avro, hive-orc, h",
        ),
        (
            NamedParts(formats=["hudi-cow", "iceberg"], writers=[HUDI]),
            "format iceberg: none of the writers named writes it; --writer takes duckdb-1.5.5, py",
        ),
        (
            NamedParts(formats=["iceberg"], readers=["hive-3.1.3"]),
            "reader hive-3.1.3: it cannot be asked about iceberg tables (hive-3.1.3 has no library",
        ),
        (
            NamedParts(formats=["hudi-cow", "iceberg"], readers=["hive-3.1.3"]),
            "format iceberg: hive-3.1.3 has no library for iceberg tables; none of the readers",
        ),
    ],
)
def test_parts_that_cannot_be_are_reported_with_what_is_allowed(
    mine: Path, named: NamedParts, message: str, profile: str | None
) -> None:
    with pytest.raises(UsageProblem) as wrong:
        made(mine, profile, named)
    assert message in str(wrong.value)


def test_a_profile_that_does_not_serve_a_named_format_is_reported_and_nothing_is_chosen(
    mine: Path,
) -> None:
    with pytest.raises(UsageProblem) as wrong:
        made(mine, "quick-start", NamedParts(formats=["iceberg"]))
    writing, reading = str(wrong.value).splitlines()
    assert writing == (
        "format iceberg: no writer of profile quick-start writes it; --writer takes "
        + ", ".join(distribution_support.writers_of("iceberg"))
    )
    assert reading.startswith("format iceberg: spark-3.5.8-hudi-1.0.2 has no library for iceberg")
    assert "; no reader of profile quick-start can be asked about it; --reader takes" in reading
