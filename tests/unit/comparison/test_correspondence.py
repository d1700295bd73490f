from __future__ import annotations

from dataclasses import replace

from harness.comparison.cell_pairs import AS_NAMED, correspondence
from harness.core.records import VerdictKind
from harness.run.load_run import RunInfo
from tests.builders.verdicts import OTHER, VARIANT, run, verdict


def info(*readers: str) -> RunInfo:
    return run(*(verdict(VerdictKind.CORRECT, reader=text) for text in readers)).info


def test_what_has_the_same_name_is_the_same() -> None:
    both = info("trino-476", "hive-3.1.3")
    assert correspondence(both, both) == AS_NAMED


def test_one_reader_on_each_side_is_the_same_whatever_they_are() -> None:
    found = correspondence(info("prestosql-350"), info("trino-368"))
    assert found.readers == {"trino-368": "prestosql-350"}


def test_a_reader_of_another_version_is_found_by_its_settings() -> None:
    old = info("trino-368", "trino-368{use-column-names=false}", "hive-3.1.3")
    new = info("trino-476{use-column-names=false}", "trino-476", "hive-3.1.3")
    assert correspondence(old, new).readers == {
        "trino-476": "trino-368",
        "trino-476{use-column-names=false}": "trino-368{use-column-names=false}",
    }


def test_of_two_that_may_be_meant_none_is() -> None:
    old = info("trino-368{use-column-names=true}", "trino-368{use-column-names=false}")
    assert correspondence(old, info("trino-476")).readers == {}


def test_a_table_of_another_writer_is_found_by_its_story() -> None:
    old = info("trino-476")
    goes_on = replace(old.variants[0], id="hudi/story[hudi-cow]@w,step2:new", writers=("w", "new"))
    newer = replace(old.variants[1], id="n", settings={"table_version": "8"})
    found = correspondence(old, replace(old, variants=(*old.variants, goes_on, newer)))
    assert found.variants == {goes_on.id: VARIANT.id, "n": OTHER.id}
