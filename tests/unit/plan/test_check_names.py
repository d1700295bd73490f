"""An unknown name in a profile is reported with its line, never ignored."""

from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.cli import plan_options
from harness.core.errors import ScenarioProblem
from harness.formats import other_writers

SCENARIO = """\
table:
  columns: {id: string, ts: long, f1: string}
  key: id
  order_by: ts
steps:
  - insert: [1]
  - insert: [2]
"""
LONGER = f"{SCENARIO}  - insert: [3]\n"
PROFILE = """\
mine:
  scenarios:
    - "my/*"
  formats: [hudi-cow]
  axes:
    rewrites: [some]
  writers:
    - spark-3.5.8-hudi-0.15.0
    - distribution: spark-3.5.8-hudi-1.0.2
      settings: {table_version: "6"}
      scenarios: ["*"]
    - sequence: [spark-3.5.8-hudi-0.15.0, spark-3.5.8-hudi-1.0.2]
      at: 2
  readers:
    - trino-476{use-column-names=true}
    - {reader: hive-3.1.3, formats: [hudi-cow]}
"""
WRITERS = "allowed: " + ", ".join(
    name
    for name in distributions.names()
    if distributions.load(name).texts_if_any(other_writers.WRITES)
)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "my"
    folder.mkdir()
    (folder / "good.yaml").write_text(SCENARIO, encoding="utf-8")
    (folder / "longer.yaml").write_text(LONGER, encoding="utf-8")
    (folder / "profiles.yaml").write_text(PROFILE, encoding="utf-8")
    return folder


def change(mine: Path, old: str, new: str) -> None:
    assert PROFILE.count(old) == 1
    (mine / "profiles.yaml").write_text(PROFILE.replace(old, new), encoding="utf-8")


def problems(path: Path) -> list[str]:
    """Return the errors of the profile, each from its line on."""
    with pytest.raises(ScenarioProblem) as wrong:
        plan_options.make([path], "mine", "")
    lines = str(wrong.value).splitlines()
    assert len(lines) == len(wrong.value.faults)
    start = f"{path if path.is_dir() else path.parent}/profiles.yaml:"
    assert all(line.startswith(start) for line in lines)
    return [line.removeprefix(start) for line in lines]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '    - "my/*"\n',
            '    - "my/*"\n    - my/typo\n',
            "4: profile mine: there is no scenario 'my/typo'; allowed: my/good, my/longer",
        ),
        (
            'scenarios: ["*"]',
            "scenarios: [my/god, zz]",
            (
                "11: profile mine: writer: the profile has no scenario 'my/god'; did you mean "
                "'my/good'? allowed: my/good, my/longer"
            ),
        ),
        (
            "at: 2",
            "at: 99",
            (
                "13: profile mine: writer: at: no scenario that it writes has a step 99; "
                "allowed: 1 to 3"
            ),
        ),
        (
            "- spark-3.5.8-hudi-0.15.0\n",
            "- trino-476\n",
            f"8: profile mine: writer: trino-476 writes single steps (by: trino-476); {WRITERS}",
        ),
        (
            "[spark-3.5.8-hudi-0.15.0, spark-3.5.8-hudi-1.0.2]",
            "[spark-3.5.8-hudi-0.15.0, nothing]",
            f"12: profile mine: writer: there is no 'nothing'; {WRITERS}",
        ),
        (
            "[spark-3.5.8-hudi-0.15.0, spark-3.5.8-hudi-1.0.2]",
            "[spark-3.5.8-hudi-0.15.0, spark-3.5.8-hudi-1.0.2@docker]",
            (
                "12: profile mine: writer: spark-3.5.8-hudi-1.0.2@docker: there is no runtime "
                "'docker'; allowed: process, container"
            ),
        ),
        (
            '"6"',
            '"66"',
            (
                "10: profile mine: writer: spark-3.5.8-hudi-1.0.2 makes no tables of table_version "
                "66; allowed: 6, 8"
            ),
        ),
        (
            "rewrites: [some]\n",
            'table_version: ["6", "9"]\n',
            (
                "6: profile mine: axes: no writer of the profile makes tables of table_version 9; "
                "allowed: 6, 8"
            ),
        ),
        (
            '{table_version: "6"}',
            "{delete_mode: copy-on-write}",
            (
                "10: profile mine: writer spark-3.5.8-hudi-1.0.2: no format of the profile has a "
                "setting 'delete_mode'; allowed: auto_upgrade, column_drops, concurrency, "
                "created_by, encoded_partitions, handover_version, index, insert_operation, "
                "meta_fields, "
                "metadata_table, partition_columns, record_merger, row_groups, schema_changes, "
                "schema_on_read, small_files, table_version"
            ),
        ),
        (
            "  formats: [hudi-cow]\n  axes",
            "  formats: [hudi-cow, hudi-xyz]\n  axes",
            (
                "4: profile mine: there is no format 'hudi-xyz'; did you mean 'hudi-mor'? allowed: "
                "delta, hive-acid, hive-avro, hive-orc, hive-parquet, hive-text, hudi-cow, "
                "hudi-mor, iceberg"
            ),
        ),
        (
            "hive-3.1.3,",
            "hive-9,",
            "16: profile mine: hive-9: 'hive-9' is not a reader; did you mean 'hive-4.2.1'?",
        ),
    ],
)
def test_what_a_profile_names_and_is_not_there_is_reported_with_its_line(
    old: str, new: str, message: str, mine: Path
) -> None:
    change(mine, old, new)
    assert problems(mine)[0].startswith(message)


def test_a_name_that_is_nowhere_is_reported_of_a_part_too(mine: Path) -> None:
    change(mine, '    - "my/*"\n', '    - "my/*"\n    - my/typo\n')
    assert problems(mine / "good.yaml")[0].startswith(
        "4: profile mine: there is no scenario 'my/typo'"
    )
    change(mine, "at: 2", "at: 4")
    assert problems(mine / "good.yaml")[0].endswith("has a step 4; allowed: 1 to 3")


def test_a_file_beside_it_that_is_wrong_says_nothing_of_its_steps(mine: Path) -> None:
    (mine / "longer.yaml").write_text("nothing: {}\n", encoding="utf-8")
    change(mine, "at: 2", "at: 4")
    assert plan_options.make([mine / "good.yaml"], "mine", "").variants


def test_a_profile_chooses_by_the_names_that_are_seen_from_its_own_folder(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(mine, '"my/*"', "good\n    - longer")
    monkeypatch.chdir(mine)
    made = plan_options.make([Path("good.yaml")], "mine", "")
    assert {variant.scenario.name for variant in made.variants} == {"good"}


def test_a_format_that_a_scenario_misspells_is_reported_with_its_line(mine: Path) -> None:
    (mine / "good.yaml").write_text(f"formats:\n  - hudi-cow\n  - hudi-xyz\n{SCENARIO}", "utf-8")
    with pytest.raises(ScenarioProblem) as wrong:
        plan_options.make([mine], "mine", "")
    assert str(wrong.value).startswith(f"{mine}/good.yaml:3: there is no format 'hudi-xyz'; did")
    (fault,) = wrong.value.faults
    assert (fault.path, fault.line) == (f"{mine}/good.yaml", 3)
