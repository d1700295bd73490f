"""A reader that is not shipped as it stands first reads a table that never changed."""

from pathlib import Path

from harness.cli import plan_options
from harness.cli.named_parts import NamedParts
from harness.plan import controls
from harness.scenario.cells import CONTROL, Cell, Plan

OTHER = "trino-479@container"
COW = "control/unchanged[hudi-cow]@spark-3.5.8-hudi-0.15.0"
MOR = COW.replace("cow", "mor")


def of_control(made: Plan) -> list[Cell]:
    variants = {variant.id: variant for variant in made.variants}
    return [
        cell
        for cell in made.cells
        if controls.is_control(cell, variants[cell.variant], made.metastore)
    ]


def test_readers_that_are_shipped_have_none() -> None:
    made = plan_options.make(None, "quick-start", "")
    assert of_control(made) == []
    assert all(variant.scenario.name != CONTROL for variant in made.variants)


def test_another_version_has_one_for_each_format_and_is_asked_it_first() -> None:
    made = plan_options.make(
        None, "quick-start", "", named=NamedParts(readers=[OTHER, "trino-476@container"])
    )
    assert of_control(made) == list(made.cells[:2])
    assert [(cell.variant, cell.step, cell.reader) for cell in of_control(made)] == [
        (COW, 2, OTHER),
        (MOR, 2, OTHER),
    ]
    assert [variant.id for variant in made.variants[:2]] == [COW, MOR]


def test_each_writer_makes_one_of_the_oldest_tables_that_it_makes(tmp_path: Path) -> None:
    (tmp_path / "profiles.yaml").write_text(
        "mine:\n  scenarios: ['*']\n  formats: [hudi-cow]\n  readers: [trino-479@container]\n"
        "  writers: [spark-3.5.8-hudi-1.2.0, spark-3.1.3-hudi-0.11.1@container,"
        " spark-3.5.8-hudi-0.15.0]\n"
    )
    (tmp_path / "distributions").mkdir()
    (tmp_path / "distributions" / "spark-3.1.3-hudi-0.11.1.yaml").write_text(
        "name: spark-3.1.3-hudi-0.11.1\nversion: 3.1.3\nrules: spark\n"
    )
    (tmp_path / "own.yaml").write_text(
        "about: x\ntable: {columns: {id: string, ts: long, f1: string}, key: id, order_by: ts}\n"
        "steps: [{insert: [1]}]\n"
    )
    made = plan_options.make([tmp_path], "mine", "")
    variants = [variant for variant in made.variants if variant.scenario.name == CONTROL]
    assert [
        (variant.writers[0], variant.settings.get("table_version", "")) for variant in variants
    ] == [
        ("spark-3.5.8-hudi-1.2.0", "6"),
        ("spark-3.1.3-hudi-0.11.1@container", ""),
        ("spark-3.5.8-hudi-0.15.0", ""),
    ]
    assert [cell.variant for cell in of_control(made)] == [variant.id for variant in variants]


def test_a_part_of_a_plan_keeps_the_controls_of_its_readers(tmp_path: Path) -> None:
    made = plan_options.make(
        None, "quick-start", "hudi/move[hudi-mor", named=NamedParts(readers=[OTHER])
    )
    assert [cell.variant for cell in of_control(made)] == [MOR]
    cases = tmp_path / "cases.txt"
    cases.write_text(f"{made.cells[-1].case}\n")
    one = plan_options.make(None, "quick-start", "", cases, named=NamedParts(readers=[OTHER]))
    assert one.cells == (*of_control(made), made.cells[-1])
