"""A small scenario through other metastores, and through what became of an older one's database."""

from collections.abc import Mapping
from pathlib import Path
from shutil import copytree

import pytest

from harness.artifacts.cache import Cache
from harness.cli import plan_options
from harness.core.progress import Progress
from harness.core.records import Verdict, VerdictKind
from harness.plan import scenarios_folder
from harness.run.load_run import Run
from harness.scenario.cells import CONTROL
from tests.engines import planned_run

pytestmark = [pytest.mark.engines, pytest.mark.nightly, pytest.mark.alone]

HIVE, SPARK, TRINO = "hive-3.1.3{path=fetch}", "spark-3.5.8-hudi-1.0.2", "trino-476"
PROFILE = f"""\
mine:
  scenarios: [hudi/rename]
  formats: [hudi-cow]
  axes: {{rewrites: [none]}}
  writers: [spark-3.5.8-hudi-0.15.0]
  readers: ["{HIVE}", "{SPARK}", "{TRINO}"]
"""
UPGRADED = "{distribution: hive-metastore-3.1.3, upgraded_from: hive-metastore-2.3.10}"


def run(folder: Path, metastore: str, cache: Cache, progress: Progress) -> Run:
    (folder / "run").mkdir()
    copytree(scenarios_folder() / "hudi", folder / "hudi")
    (folder / "profiles.yaml").write_text(f"{PROFILE}  metastore: {metastore}\n")
    made = plan_options.make([folder], "mine", "hudi/rename")
    return planned_run.done(made, folder / "run", cache, progress)


@pytest.fixture(scope="module")
def usual(cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run(tmp_path_factory.mktemp("usual"), "hive-metastore-3.1.3", cache, progress)


def verdicts_of(finished: Run, reader: str) -> Mapping[str, Verdict]:
    """Return the verdicts on a reader but those on its controls, by case."""
    every = (verdict for verdict in finished.verdicts if verdict.reader == reader)
    return {verdict.case: verdict for verdict in every if not verdict.case.startswith(CONTROL)}


def headlines(finished: Run, reader: str) -> Mapping[str, object]:
    every = verdicts_of(finished, reader).items()
    return {
        case: (verdict.verdict, verdict.findings, verdict.reproduces) for case, verdict in every
    }


@pytest.mark.parametrize(
    ("metastore", "dumb", "why"),
    [
        ("hive-metastore-2.3.10", HIVE, "Database does not exist: default"),
        ("hive-metastore-4.0.1", SPARK, "Invalid method name: 'get_table'"),
        (UPGRADED, "", ""),
    ],
)
def test_who_speaks_with_a_metastore_answers_the_same_and_of_others_nothing_is_said(
    metastore: str, dumb: str, why: str, usual: Run, tmp_path: Path,
    cache: Cache, progress: Progress,
) -> None:  # fmt: skip
    result = run(tmp_path, metastore, cache, progress)
    assert {verdict.verdict for verdict in usual.verdicts} == {
        VerdictKind.CORRECT,
        VerdictKind.WRONG,
    }
    for reader in {HIVE, SPARK, TRINO} - {dumb}:
        assert headlines(result, reader) == headlines(usual, reader), reader
    for of_reader in verdicts_of(result, dumb).values():
        assert of_reader.verdict is VerdictKind.UNKNOWN
        assert why in of_reader.because
    assert bool(verdicts_of(result, dumb)) == bool(dumb)
