"""Names that are legal and hard - keywords, quotes, other scripts - through real engines.

Hudi takes letters, digits and `_` (Avro's rule for names); plain Hive tables take nearly
anything, and Hive itself trips over blanks, colons and brackets in Parquet files, which is its
answer: so a blank has a table of its own.
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness.core.records import Verdict
from harness.reports import html, junit
from harness.run.load_run import Run
from harness.scenario.definition import Scenario
from harness.scenario.load import loads
from tests.engines.planned_run import planned

pytestmark = pytest.mark.engines

LONG = "x" * 200
HUDI = ["select", "größe", "日本", LONG]
HIVE = ["order", "it's", "back`tick", "😀", "a-b", "a/b", "<b>&amp", "100%s", "a\\b", "#x", "null"]
BLANK = ["a b", "y"]
STEPS = """
  - insert: [1, 2]
  - add_column: {name: group, type: string}
  - insert: [3]
  - insert: {rows: [{KEY: 4, group: VALUE}]}
"""
VALUE = "{table} {database} {location} ${x} ${env:HOME} it's \\ \" ` -- /* ; é 😀 \t%s \\n\n."
READERS = (
    "spark-3.5.8-hudi-1.0.2{schema-on-read=on}",
    "hive-3.1.3{path=fetch}",
    "trino-476{use-column-names=true}",
)


def scenario(name: str, names: list[str], format_name: str, key: str) -> Scenario:
    steps = STEPS.replace("KEY", json.dumps(key)).replace("VALUE", json.dumps(VALUE))
    columns = ", ".join(f"{json.dumps(name)}: string" for name in names)
    text = (
        f"table:\n  columns: {{{json.dumps(key)}: string, from: long, {columns}}}\n"
        f"  key: {json.dumps(key)}\n  order_by: from\nformats: [{format_name}]\nsteps:{steps}"
    )
    return replace(loads(text, f"my scenarios/{name}.yaml"), name=f"hard/{name}")


PLAN = planned(
    [
        scenario("hudi", HUDI, "hudi-cow", "user"),
        scenario("blank", BLANK, "hive-parquet", "id"),
        scenario("it's plain", [*HIVE, LONG], "hive-parquet", 'a"b'),
    ],
    ["hudi-cow", "hive-parquet"],
    ["spark-3.5.8-hudi-0.15.0"],
    READERS,
    views=("snapshot",),
)


def verdicts_of(run: Run, *names: str) -> list[Verdict]:
    expected_names = [f"hard/{name}" for name in names]
    return [verdict for verdict in run.verdicts if verdict.scenario in expected_names]


def test_every_reader_gives_every_value_under_its_hard_name(run: Run) -> None:
    verdicts = verdicts_of(run, "hudi", "it's plain")
    not_right = [(v.case, v.verdict, v.because) for v in verdicts if v.verdict != "correct"]
    assert not not_right
    counted = Counter((v.scenario.removeprefix("hard/"), v.reader[:4]) for v in verdicts)
    assert set(counted) == {
        (name, reader) for name in ("hudi", "it's plain") for reader in ("spar", "hive", "trin")
    }


def test_a_blank_in_a_name_is_read_rightly_or_refused_by_the_engine(run: Run) -> None:
    result = {(v.reader[:4], str(v.verdict)) for v in verdicts_of(run, "blank")}
    hive = {name for name in result if name[0] == "hive"}
    assert result - hive == {("spar", "correct"), ("trin", "correct")}
    assert hive
    assert hive <= {("hive", "correct"), ("hive", "refused")}


def test_the_reports_hold_the_names_as_they_are(run: Run, tmp_path: Path) -> None:
    junit_xml = ET.parse(junit.write(run, tmp_path))  # noqa: S314 - our own
    assert list(junit_xml.iter("testcase"))
    page = html.write(run, tmp_path).read_text(encoding="utf-8")
    assert "<b>&amp " not in page
