"""`pytest my/`: every cell is a test; a simulated run stands in for the engines."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.pytest_plugin import harness_run
from tests.builders.scenario_texts import MOVED

pytest_plugins = ["pytester"]

SIMULATED = Path(__file__).parent / "simulated_run.py"
RIGHT, WRONG = "trino-476{use-column-names=true}", "trino-476{use-column-names=false}"
PROFILES = f"""\
mine:
  scenarios: ["my/*"]
  formats: [hive-parquet]
  writers: [spark-3.5.8-hudi-0.15.0]
  readers: ["{RIGHT}", "{WRONG}"]
nothing:
  scenarios: ["my/other"]
  formats: [hive-parquet]
  writers: [spark-3.5.8-hudi-0.15.0]
  readers: ["{RIGHT}"]
"""
NEWER = """\
mine:
  scenarios: ["my/*"]
  formats: [hudi-cow]
  writers: [spark-3.5.8-hudi-1.2.0]
  readers: [spark-3.5.8-hudi-1.0.2, trino-476]
"""
KNOWN = """\
- when: {{engine: trino, step: "{step}"}}
  expect: {{finding: lost_row}}
  support: notyet
  because: the engine reads every file but the first
"""


@pytest.fixture
def mine(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A repository with a scenario, its profiles and other YAML files."""
    monkeypatch.setattr(harness_run, "PROGRAM", (sys.executable, str(SIMULATED)))
    folder = pytester.mkdir("my")
    (folder / "story.yaml").write_text(MOVED, encoding="utf-8")
    (folder / "other.yaml").write_text(MOVED.replace("[3]", "[4]"), encoding="utf-8")
    (folder / "profiles.yaml").write_text(PROFILES, encoding="utf-8")
    (folder / "deploy.yaml").write_text("steps: [build]\n", encoding="utf-8")
    (folder / ".hidden.yaml").write_text("repos: []\n", encoding="utf-8")
    return pytester


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest on the profile `mine`, in the folder `run` of this test."""
    options = ("--harness-profile", "mine", "--harness-run-dir", "run", "-p", "no:cacheprovider")
    return pytester.runpytest_inprocess(*options, *arguments)


def starts(pytester: pytest.Pytester) -> int:
    """Count how often a run was started."""
    started = pytester.path / "started"
    return len(started.read_text(encoding="utf-8").splitlines()) if started.exists() else 0


def selected(pytester: pytest.Pytester) -> list[str]:
    """Return the cases that the run was given."""
    return (pytester.path / "run/pytest/cases.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_each_verdict_is_an_outcome_of_its_own_and_one_run_is_started(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    wrong = f"s1/snapshot/all/{WRONG}=wrong,s2/snapshot/all/{WRONG}=refused"
    monkeypatch.setenv("SIMULATED", f"{wrong},s3/snapshot/all/{WRONG}=unknown")
    result = run(mine, "my/story.yaml", *workers)
    result.assert_outcomes(passed=3, failed=2, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "*lost row: row 1*",
            "*refused: HIVE_BAD_DATA*cannot read it*",
            "*unknown: the server died*",
            "*  its last words*",
        ]
    )
    assert starts(mine) == 1
    assert len(selected(mine)) == 6


def test_known_answers_are_expected_failures_and_one_that_is_gone_fails(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = KNOWN.format(step=1) + KNOWN.format(step=2)
    (mine.path / "my/story.known.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("SIMULATED", "s1/=wrong")
    result = run(mine, "my/story.yaml")
    result.assert_outcomes(passed=2, xfailed=2, failed=2)
    result.stdout.fnmatch_lines(["*story.known.yaml:5: known as lost_row, but not so here*"])


def test_a_known_line_that_does_not_say_why_yet_excuses_nothing(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = KNOWN.format(step=1).replace("the engine reads every file but the first", "'TODO: why'")
    (mine.path / "my/story.known.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("SIMULATED", "s1/=wrong")
    run(mine, "my/story.yaml").assert_outcomes(passed=4, failed=2)


def test_a_cell_without_a_record_is_an_error_and_the_others_are_not(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMULATED", "s2/=silent")
    monkeypatch.setenv("SIMULATED_STATUS", "3")
    result = run(mine, "my/story.yaml")
    result.assert_outcomes(passed=4, errors=2)
    result.stdout.fnmatch_lines(["*has no answer for this check (did not run)*"])


def test_cells_are_selected_before_anything_starts(mine: pytest.Pytester) -> None:
    result = run(mine, "my", "-k", "story and s2")
    result.assert_outcomes(passed=2)
    assert starts(mine) == 1
    assert len(selected(mine)) == 2
    assert {case.split("@")[0] for case in selected(mine)} == {"my/story[hive-parquet]"}
    assert {case.split("/")[2] for case in selected(mine)} == {"s2"}


def test_collecting_starts_nothing(mine: pytest.Pytester) -> None:
    result = run(mine, "my", "--collect-only", "-n", "2")
    assert result.ret == pytest.ExitCode.OK
    assert starts(mine) == 0
    assert not (mine.path / "run").exists()


def test_what_was_not_asked_since_a_step_was_refused_is_skipped(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMULATED", "step 2=skipped")
    run(mine, "my/story.yaml").assert_outcomes(passed=4, skipped=2)


def test_what_is_unsupported_is_skipped_and_fails_where_it_is_answered(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine.path / "my/profiles.yaml").write_text(NEWER, encoding="utf-8")
    monkeypatch.setenv("SIMULATED_VERSION", "9")
    monkeypatch.setenv("SIMULATED", "s1/snapshot/all/spark=refused,s2/snapshot/all/spark=spared")
    result = run(mine, "my/story.yaml")
    result.assert_outcomes(passed=3, skipped=2, failed=1)
    result.stdout.fnmatch_lines(["*declared unsupported (*up to version 8, not 9*), but answered*"])


def test_a_run_that_dies_is_an_error_of_every_cell_at_once_with_its_last_words(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMULATED_DEATH", "3")
    result = run(mine, "my/story.yaml", "-n", "2")
    result.assert_outcomes(errors=6)
    result.stdout.fnmatch_lines(["*the run ended with status 3*", "*the last words*"])


def test_a_run_that_its_gate_fails_for_more_than_cells_fails_the_tests(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMULATED_STATUS", "1")
    result = run(mine, "my/story.yaml")
    result.assert_outcomes(passed=6)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*(harness run ended with status 1)*"])


def test_an_interrupt_ends_the_run(mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULATED", "s3/=silent")
    monkeypatch.setenv("SIMULATED_INTERRUPT", "1")
    program = f"harness_run.PROGRAM = ({sys.executable!r}, {str(SIMULATED)!r})"
    mine.makeconftest(f"from harness.cli.pytest_plugin import harness_run\n{program}\n")
    options = ("--harness-profile", "mine", "--harness-run-dir", "run")
    result = mine.runpytest_subprocess(*options, "my/story.yaml")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert (mine.path / "interrupted").exists()


def test_records_of_an_older_run_are_never_taken_for_new_ones(mine: pytest.Pytester) -> None:
    run(mine, "my/story.yaml").assert_outcomes(passed=6)
    again = run(mine, "my/story.yaml")
    assert again.ret == pytest.ExitCode.USAGE_ERROR
    assert starts(mine) == 1


def test_a_wrong_scenario_is_an_error_of_collection_and_nothing_is_started(
    mine: pytest.Pytester,
) -> None:
    path = mine.path / "my/story.yaml"
    path.write_text(MOVED.replace("after: f2", "after: f9"), encoding="utf-8")
    result = run(mine, "my")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*story.yaml:8:*f9*"])
    assert starts(mine) == 0


def test_of_a_folder_those_are_collected_that_its_profile_names_and_a_named_file_always(
    mine: pytest.Pytester,
) -> None:
    options = ("--harness-profile", "nothing", "--collect-only", "-q")
    listed = mine.runpytest_inprocess(*options, "my").outlines
    assert [line.split("::")[0] for line in listed if "::" in line] == ["my/other.yaml"] * 3
    listed = mine.runpytest_inprocess(*options, "my/story.yaml").outlines
    assert [line.split("::")[0] for line in listed if "::" in line] == ["my/story.yaml"] * 3


@pytest.mark.parametrize("arguments", [(), (".",), ("tests",)])
def test_yaml_files_of_others_are_not_touched(
    mine: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    tests = mine.mkdir("tests")
    (tests / "test_it.py").write_text("def test_it(): pass\n", encoding="utf-8")
    (tests / "data.yaml").write_text("table: {broken\n", encoding="utf-8")
    mine.runpytest_inprocess(*arguments).assert_outcomes(passed=1)
    assert starts(mine) == 0


def test_other_test_runs_load_nothing_of_the_harness_but_the_hooks(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n", encoding="utf-8")
    code = (
        "import sys, pytest; pytest.main(['-q', '-p', 'no:cacheprovider']);"
        "print('loaded', *sorted(m for m in sys.modules if m.partition('.')[0] == 'harness'))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    plugin = "harness.cli.pytest_plugin"
    hooks = f"loaded harness harness.cli {plugin} {plugin}.pytest_options"
    assert done.stdout.splitlines()[-1] == hooks
