from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.reports import html, summary, terminal
from harness.run.load_run import Run, VariantInfo
from harness.scenario.cells import Excluded, Pairs, Partly
from tests.builders import sample_run

NO_PARTITIONS = Excluded("rewrites=partition with partitioned=none", "there are no partitions")
COVERED = (
    Pairs("hudi/move", {"format": ("hudi-cow", "hudi-mor")}, 2, 4, 3, (NO_PARTITIONS,)),
    Pairs("hudi/a5", {"format": ("hudi-cow",)}, 3, 5, 4, (NO_PARTITIONS,)),
)


FEW = (Partly("hive-3.1.3{path=mapreduce}", 99, 1323, 1568),)
TOLD = "hive-3.1.3{path=mapreduce}: 99 of 1,323 variants that it can read, 1,568 cells"


def run_of(folder: Path, covered: tuple[Pairs, ...], partly: tuple[Partly, ...] = ()) -> Run:
    made = sample_run.make(folder)
    return replace(made, info=replace(made.info, pairs=covered, partly=partly))


def variant(name: str, *writers: str, twin: bool = False, **settings: str) -> VariantInfo:
    return VariantInfo(name, "s", "hudi-cow", (), settings, writers, twin)


def test_what_is_covered_is_said_over_all_scenarios() -> None:
    assert summary.covered_pairs(COVERED) == (
        "5 of 9 possible variants cover all 7 possible pairs of axis values in 2 scenarios; "
        "2 more are impossible"
    )
    assert summary.covered_pairs(()) == ""


def test_a_pair_that_cannot_be_is_told_once_with_its_scenarios() -> None:
    assert summary.impossible_pairs(COVERED) == ((NO_PARTITIONS, ("hudi/move", "hudi/a5")),)


def test_the_axes_of_a_variant_name_its_writers_once() -> None:
    found = summary.axes_of(variant("v", "a", "a", "b", rewrites="some", table_version="6"))
    assert found == {
        "writer": "a then b{table_version=6}",
        "format": "hudi-cow",
        "partitioned": "none",
        "rewrites": "some",
        "types": "own",
    }


def test_a_table_counts_the_variants_of_each_two_values(tmp_path: Path) -> None:
    made = run_of(tmp_path, COVERED)
    variants = (
        variant("v1", "a", rewrites="some"),
        variant("v2", "b", rewrites="some"),
        variant("v3", "b", rewrites="none", partitioned="last"),
    )
    found = summary.crossings(replace(made, info=replace(made.info, variants=variants)))
    tables = {
        (crossing.down, crossing.across): (crossing.columns, crossing.rows) for crossing in found
    }
    assert set(tables) == {
        ("writer", "partitioned"),
        ("writer", "rewrites"),
        ("partitioned", "rewrites"),
    }
    assert tables["writer", "rewrites"] == (("some", "none"), (("a", (1, 0)), ("b", (1, 1))))


def test_a_run_of_all_combinations_has_no_tables_of_pairs(tmp_path: Path) -> None:
    made = run_of(tmp_path, ())
    assert summary.crossings(made) == ()
    assert "Pairs of axis values" not in html.page(made)


def test_both_reports_tell_what_pairs_are_covered(tmp_path: Path) -> None:
    made = run_of(tmp_path, COVERED)
    page, text = html.page(made), terminal.write(made, tmp_path).read_text("utf-8")
    for told in ("5 of 9 possible variants", NO_PARTITIONS.what, NO_PARTITIONS.why):
        assert told in page
        assert told in " ".join(text.split())


def test_both_reports_tell_which_readers_meet_every_axis_value_and_not_every_variant(
    tmp_path: Path,
) -> None:
    for covered in (COVERED, ()):
        made = run_of(tmp_path, covered, FEW)
        page, text = html.page(made), terminal.write(made, tmp_path).read_text("utf-8")
        for told in ("Pairs of axis values", summary.PARTLY, TOLD):
            assert told in page
            assert told in " ".join(text.split())
    assert summary.PARTLY not in html.page(run_of(tmp_path, COVERED))
