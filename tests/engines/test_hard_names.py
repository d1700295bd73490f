"""Names that are legal and hard - keywords, quotes, other scripts - through real engines.

Hudi takes letters, digits and `_` (Avro's rule for names); plain Hive tables take nearly
anything, and Hive itself trips over blanks, colons and brackets in Parquet files, which is its
answer: so a blank has a table of its own.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

pytestmark = [pytest.mark.engines, pytest.mark.alone]

LONG = "x" * 200
HUDI = ["select", "größe", "日本", LONG]
HIVE = ["order", "it's", "back`tick", "😀", "a-b", "a/b", "<b>&amp", "100%s", "a\\b", "#x", "null"]
BLANK = ["a b", "y"]
CANARY = "canary-3f9a1c"
STEPS = """
  - insert: [1, 2]
  - add_column: {name: group, type: string}
  - insert: [3]
  - insert: {rows: [{KEY: 4, group: VALUE}]}
"""
VALUE = "{table} {database} {location} ${x} ${env:HOME} it's \\ \" ` -- /* ; é 😀 \t%s \\n\n."
PROFILE = """
hard:
  scenarios: ["hard/*"]
  formats: [hudi-cow, hive-parquet]
  writers: [spark-3.5.8-hudi-0.15.0]
  views: [snapshot]
  readers:
    - "spark-3.5.8-hudi-1.0.2{schema-on-read=on}"
    - "hive-3.1.3{path=fetch}"
    - "trino-476{use-column-names=true}"
"""


def scenario(names: list[str], format_name: str, key: str) -> str:
    steps = STEPS.replace("KEY", json.dumps(key)).replace("VALUE", json.dumps(VALUE))
    columns = ", ".join(f"{json.dumps(name)}: string" for name in names)
    return (
        f"table:\n  columns: {{{json.dumps(key)}: string, from: long, {columns}}}\n"
        f"  key: {json.dumps(key)}\n  order_by: from\nformats: [{format_name}]\nsteps:{steps}"
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("names")
    stories = top / "my scenarios" / "hard"
    stories.mkdir(parents=True)
    (stories / "hudi.yaml").write_text(scenario(HUDI, "hudi-cow", "user"), encoding="utf-8")
    (stories / "blank.yaml").write_text(scenario(BLANK, "hive-parquet", "id"), encoding="utf-8")
    (stories / "it's plain.yaml").write_text(
        scenario([*HIVE, LONG], "hive-parquet", 'a"b'), encoding="utf-8"
    )
    (stories.parent / "profiles.yaml").write_text(PROFILE, encoding="utf-8")
    folder = top / "run"
    command = [sys.executable, "-m", "harness", "run", "--scenarios", str(stories.parent)]
    # Asked anew: answers that are kept leave no logs to look into.
    command += ["--profile", "hard", "--run-dir", str(folder), "--fresh"]
    secrets = {name: f"{CANARY}-{name}" for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")}
    repository = {"HARNESS_MAVEN_REPOSITORY": f"https://me:{CANARY}@repo.invalid/m"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **secrets, **repository},
    )
    assert (folder / "verdicts.jsonl").exists(), done.stdout + done.stderr
    assert CANARY not in done.stdout + done.stderr
    return folder


def verdicts_of(folder: Path, *names: str) -> list[dict[str, Any]]:
    lines = (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    expected_names = [f"hard/{name}" for name in names]
    return [load for load in map(json.loads, lines) if load["scenario"] in expected_names]


def test_every_reader_gives_every_value_under_its_hard_name(finished: Path) -> None:
    verdicts = verdicts_of(finished, "hudi", "it's plain")
    not_right = [
        (v["case"], v["verdict"], v["because"]) for v in verdicts if v["verdict"] != "correct"
    ]
    assert not not_right
    counted = Counter((v["scenario"].removeprefix("hard/"), v["reader"][:4]) for v in verdicts)
    assert set(counted) == {
        (name, reader) for name in ("hudi", "it's plain") for reader in ("spar", "hive", "trin")
    }


def test_a_blank_in_a_name_is_read_rightly_or_refused_by_the_engine(finished: Path) -> None:
    result = {(v["reader"][:4], v["verdict"]) for v in verdicts_of(finished, "blank")}
    hive = {name for name in result if name[0] == "hive"}
    assert result - hive == {("spar", "correct"), ("trin", "correct")}
    assert hive
    assert hive <= {("hive", "correct"), ("hive", "refused")}


def test_the_reports_hold_the_names_as_they_are(finished: Path) -> None:
    assert list(ET.parse(finished / "junit.xml").iter("testcase"))  # noqa: S314 - our own
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert "<b>&amp " not in page


def test_no_secret_of_the_environment_is_in_any_file_of_the_run(finished: Path) -> None:
    files = [path for path in finished.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files)
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
