"""Two readers of the quick start are compared by their recorded answers."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from harness.comparison.cell_pairs import AS_BEFORE, VerdictChange
from harness.comparison.result import ComparedSide, Decision, SideComparison, compare
from harness.core.records import FindingKind
from harness.reports import known_defects, upgrade_report
from harness.run.causes import causes
from tests.builders import recorded_run, recordings

FOLDER: Final = Path(__file__).parent / "quick_start"
SPARK: Final = "spark-3.5.8-hudi-1.0.2"
HIVE: Final = "hive-3.1.3"
TRINO: Final = "trino-476"
READERS: Final = (
    *(f"{SPARK}{{schema-on-read={text}}}" for text in ("on", "off")),
    *(f"{HIVE}{{path=fetch{name}}}" for name in ("", ", schema-on-read=on")),
    *(f"{HIVE}{{path=mapreduce{suffix}}}" for suffix in ("", ", schema-on-read=on")),
    *(f"{TRINO}{{use-column-names={value}}}" for value in ("true", "false")),
)

PLAIN: Final = (
    f"{HIVE}{{path=fetch}}",
    f"{HIVE}{{path=fetch, orc.force.positional.evolution=false}}",
    TRINO,
    f"{TRINO}{{use-column-names=true}}",
    f"{TRINO}{{orc.use-column-names=false}}",
)
"""Readers of plain Hive tables; each setting is what its engine has by itself."""
BY_POSITION: Final = tuple(
    f"{HIVE}{{path={path}, orc.force.positional.evolution=true}}" for path in ("fetch", "mapreduce")
)
HARMLESS_ON_PLAIN: Final = (
    *((PLAIN[0], PLAIN[1]), (PLAIN[1], PLAIN[0]), BY_POSITION, BY_POSITION[::-1]),
    *((TRINO, type_) for type_ in PLAIN[3:]),
    *((type_, TRINO) for type_ in PLAIN[3:]),
    *((type_, type_) for type_ in PLAIN),
)
HARMLESS_ON_HUDI: Final = (
    *((READERS[2], READERS[4]), (READERS[4], READERS[2])),  # Hive's fetch task and MapReduce
    *((READERS[2], READERS[5]), (READERS[4], READERS[5])),
    *((reader, reader) for reader in READERS),
)
"""All in all 25 pairs that are to change nothing."""
CompareReaders = Callable[[str, str], SideComparison]


@pytest.fixture(scope="module")
def compared() -> CompareReaders:
    return compared_by(FOLDER)


@pytest.fixture(scope="module")
def compared_plain() -> CompareReaders:
    return compared_by(FOLDER.with_name("plain_hive"))


def compared_by(folder: Path) -> CompareReaders:
    recorded = recordings.read_all(folder)

    @cache
    def side(reader: str) -> ComparedSide:
        return ComparedSide(reader, recorded_run.judged_run(recorded, "p", {reader}))

    def two(old: str, new: str) -> SideComparison:
        return compare(side(old), side(new))

    return two


@pytest.mark.parametrize(("old", "new"), HARMLESS_ON_PLAIN)
def test_settings_without_effect_change_nothing(
    compared_plain: CompareReaders, old: str, new: str
) -> None:
    check_harmless(compared_plain(old, new))
    assert compared_plain(old, new).counts[VerdictChange.WRONG_AS_BEFORE]


@pytest.mark.parametrize(("old", "new"), HARMLESS_ON_HUDI)
def test_other_ways_to_the_same_answers_change_nothing(
    compared: CompareReaders, old: str, new: str
) -> None:
    check_harmless(compared(old, new))


def check_harmless(readers: SideComparison) -> None:
    changes = {setting for setting, number in readers.counts.items() if number}
    asked_apart = {VerdictChange.NEW, VerdictChange.GONE}  # of ORC files, or after some steps alone
    assert changes - asked_apart <= set(AS_BEFORE), upgrade_report.headline(readers)
    assert readers.status == 0


def test_a_setting_for_files_of_orc_changes_only_those(compared_plain: CompareReaders) -> None:
    readers = compared_plain(TRINO, f"{TRINO}{{orc.use-column-names=true}}")
    formats = {readers.new.run.info.variant(e.either.variant).format for e in readers.worse}
    assert formats <= {"hive-orc"}


def test_what_is_asked_by_default_shows_what_all_columns_alone_hide() -> None:
    """An upgrade of this table once said that nothing changes; it had asked `select *` alone."""
    old, new = "spark-3.5.8-iceberg-1.10.1", "spark-3.5.9-iceberg-1.12.0"
    comparison = compared_by(FOLDER.with_name("usual"))(old, new)
    assert comparison.decision is Decision.NOTHING_WORSE
    fixed = comparison.pairs_of(VerdictChange.FIXED)
    by_table = Counter(pair.either.variant for pair in fixed)
    assert set(by_table.values()) == {8}
    assert len(by_table) == 2 * 2, "both ways of deletes, and the twins of both"
    assert all("where(" in pair.either.query for pair in fixed)
    headline = upgrade_report.headline(comparison)
    assert "32 answers that were not right become right, in my/defaults" in headline
    assert "delete_mode copy-on-write and merge-on-read" in headline
    cause = causes(comparison.old.run.verdicts, comparison.old.run)[0]
    known = known_defects.known_as(cause.key, cause.verdicts, comparison.old.run)
    assert known == ("iceberg-condition-on-default",)


def test_schema_on_read_switched_off_loses_renamed_values(compared: CompareReaders) -> None:
    comparison = compared(READERS[0], READERS[1])
    assert comparison.decision is Decision.DO_NOT
    assert comparison.status == 1
    kinds = {
        (regression.key.finding, regression.key.operation) for regression in comparison.regressions
    }
    assert (FindingKind.MISSING_RENAME, "rename_column") in kinds
    assert all(regression.key.engine == "spark" for regression in comparison.regressions)
    assert upgrade_report.headline(comparison).startswith(f"Do not upgrade from {READERS[0]} to")


def test_reading_by_position_misaligns_and_is_no_default(compared: CompareReaders) -> None:
    comparison = compared(READERS[6], READERS[7])
    kinds = {regression.key.finding: regression for regression in comparison.regressions}
    worst = kinds[FindingKind.MISALIGNED]
    assert not worst.by_default
    assert "misaligned since" in upgrade_report.cause_title(worst)
    assert "expected" in upgrade_report.cause_witness(worst, comparison.new.run)
    loud = [
        VerdictChange.REGRESSED_LOUDLY in regression.changes[:1]
        for regression in comparison.regressions
    ]
    assert loud == sorted(loud)


@pytest.mark.parametrize("old", READERS)
@pytest.mark.parametrize("new", READERS)
def test_every_pair_of_sides_adds_up(compared: CompareReaders, old: str, new: str) -> None:
    comparison = compared(old, new)
    assert sum(comparison.counts.values()) == len(comparison.pairs)
    covered = {id(pair) for regression in comparison.regressions for pair in regression.pairs}
    assert covered == {id(pair) for pair in comparison.worse}
