import datetime
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core import jsonl
from harness.core.errors import UsageProblem
from harness.core.records import Answer, Refusal
from harness.judge.gate import gate
from harness.run import load_run, pipeline, run_folder
from harness.run.pipeline import states_of

NOW = datetime.datetime(2031, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
HOLD = (
    "import signal, sys; from pathlib import Path; from harness.run import run_folder\n"
    "with run_folder.locked(Path(sys.argv[1])):\n"
    "    print('held', flush=True)\n"
    "    signal.pause()\n"
)


def test_every_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    first = run_folder.new_folder(tmp_path / "runs", "ci", NOW)
    second = run_folder.new_folder(tmp_path / "runs", "ci", NOW)
    assert [first.name, second.name] == ["20310506-070809-ci", "20310506-070809-ci-2"]


def links(runs: Path) -> dict[str, str]:
    """Return what each link of a folder of runs points to."""
    return {path.name: str(path.readlink()) for path in runs.iterdir() if path.is_symlink()}


def test_latest_is_the_run_begun_last_once_it_has_something_to_show(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run_folder.show(first)
    assert links(tmp_path) == {}
    for folder in (first, second):
        folder.mkdir()
        run_folder.point_begun(folder)
        if folder == first:
            run_folder.show(first)
    run_folder.show(first)
    assert links(tmp_path) == {"begun": "second", "latest": "first"}
    run_folder.show(second)
    run_folder.show(first)
    assert links(tmp_path) == {"begun": "second", "latest": "second"}


@pytest.mark.parametrize("name", [run_folder.BEGUN, run_folder.LATEST])
def test_what_somebody_keeps_under_the_name_of_a_link_stays(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("kept", encoding="utf-8")
    with pytest.raises(UsageProblem, match=f"{name} is not a link to a run; move it away"):
        run_folder.point_begun(tmp_path / "run")
    assert (tmp_path / name).read_text(encoding="utf-8") == "kept"


def test_a_second_harness_on_a_run_is_reported_and_a_dead_one_is_no_hindrance(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(UsageProblem, match="another harness works on"),
            run_folder.locked(tmp_path),
        ):
            pass
        other.kill()
    with run_folder.locked(tmp_path):
        assert (tmp_path / run_folder.LOCK).exists()


def test_of_servers_that_died_only_the_logs_stay_and_of_tables_nothing(tmp_path: Path) -> None:
    server = tmp_path / "engines" / "trino-476-0"
    (server / "catalog").mkdir(parents=True)
    (server / "server.log").touch()
    (tmp_path / "engines" / "table-3" / "table").mkdir(parents=True)
    (tmp_path / "answers.jsonl.part").touch()
    (tmp_path / "answers.jsonl").touch()
    run_folder.clean(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert left == {
        *("engines", "engines/trino-476-0", "engines/trino-476-0/server.log", "answers.jsonl")
    }


def test_runs_beside_are_cleaned_too_but_not_those_of_a_live_harness(tmp_path: Path) -> None:
    left = {}
    for name in ("mine", "dead", "live"):
        left[name] = tmp_path / name / "engines" / "trino-476-0" / "catalog"
        left[name].mkdir(parents=True)
        for file in (run_folder.LOCK, load_run.INFO):
            (tmp_path / name / file).touch()
    with run_folder.locked(tmp_path / "live"), run_folder.locked(tmp_path / "mine"):
        run_folder.clean_others(tmp_path / "mine")
    assert [name for name, path in left.items() if path.exists()] == ["mine", "live"]


RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"


def test_a_state_that_is_no_longer_kept_is_reported_with_what_to_do(tmp_path: Path) -> None:
    result = load_run.load(RECORDED)
    with pytest.raises(UsageProblem, match=r"no longer in .*run the profile again"):
        states_of(result.states, Cache(tmp_path))


def gated(folder: Path, **given: object) -> tuple[int, str]:
    """Judge a run of two right answers, as if the table were of version 9 and one of them another.

    One reader is declared not to know such tables. Give what the gate says.
    """
    run = load_run.load(RECORDED)
    first = next(cell for cell in run.info.cells if cell.reader.startswith("spark-3.5.8-hudi-1"))
    cells = first, replace(first, reader="trino-476{use-column-names=true}")
    load_run.write_info(folder, replace(run.info, cells=cells))
    states = (replace(state, table_version="9") for state in run.states)
    jsonl.write_all(folder / load_run.STATES, states)
    answers: list[Answer] = [run.answers[cell.case] for cell in cells]
    answers[0] = replace(answers[0], **given)  # type: ignore[arg-type]
    jsonl.write_all(folder / load_run.ANSWERS, answers)
    lines = gate(pipeline.judge_run(folder).applied)
    return lines.status, "\n".join(lines.reasons)


def test_what_is_unsupported_passes_the_gate_and_an_answer_to_it_does_not(tmp_path: Path) -> None:
    refused = Refusal("HoodieException", "Unknown table versionCode:9")
    good = "2 checks judged: all correct, 1 declared unsupported."
    assert gated(tmp_path, refusal=refused, rows=(), columns=()) == (0, good)
    assert gated(tmp_path, not_applicable="not sent", probe="a case", rows=(), columns=()) == (
        0,
        good,
    )
    status, why = gated(tmp_path)
    assert status == 1
    assert why.startswith(
        "1 check is declared unsupported, and answered: hudi/add_in_the_middle by"
    )
    assert gated(tmp_path, unknown="it died", rows=(), columns=())[0] == 3
