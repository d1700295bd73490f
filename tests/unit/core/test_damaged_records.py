"""Records that were cut off, damaged or edited are reported with the file, or resumed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import app
from tests.full_disk import full_disk

RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"
WRONG_USE = 2
BROKEN = 3
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return shutil.copytree(RECORDED, tmp_path / "run")


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(RECORDED, tmp_path_factory.mktemp("judged") / "run")
    assert app.main(["judge", "--show", "--run-dir", str(folder)]) == 0
    return folder


@pytest.fixture
def judged(judged_once: Path, tmp_path: Path) -> Path:
    return shutil.copytree(judged_once, tmp_path / "run")


def judge(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = app.main(["judge", "--show", "--run-dir", str(folder)])
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    return status, output.out + output.err


@pytest.mark.parametrize("name", ["run.json", "states.jsonl", "answers.jsonl"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.replace(b'"', b"\xff", 1),
        lambda data: b"[" * 100_000 + data,
        lambda data: b"{}\n" + data,
    ],
    ids=["no UTF-8", "deep", "empty"],
)
def test_a_spoilt_record_is_reported_with_its_file_and_what_to_do(
    name: str, spoil: Callable[[bytes], bytes], recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded / name
    path.write_bytes(spoil(path.read_bytes()))
    status, message = judge(recorded, capsys)
    assert status == WRONG_USE
    assert str(path) in message
    assert "again" in message or "repeat the phase" in message


@pytest.mark.parametrize(
    "change",
    [
        lambda info: info["scenarios"].popitem(),
        lambda info: info["readers"][0].update(reader="trino{"),
        lambda info: info["variants"][0].update(writers=["a/b"]),
        lambda info: info.update(variants="none"),
        lambda info: info.pop("cells"),
    ],
    ids=["scenario gone", "no reader", "no writer", "no list", "cells gone"],
)
def test_a_plan_that_was_changed_so_that_it_is_none_is_reported(
    change: Change, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded / "run.json"
    info = json.loads(path.read_text(encoding="utf-8"))
    change(info)
    path.write_text(json.dumps(info), encoding="utf-8")
    status, message = judge(recorded, capsys)
    assert status == WRONG_USE
    assert "run.json" in message
    assert "run the profile again" in message


@pytest.mark.parametrize("command", ["report", "baseline"])
@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("states.jsonl", lambda it: it.update(variant="x"), "the plan has no variant 'x'"),
        ("states.jsonl", lambda it: it["outcome"].update(step=99), "has no step 99"),
        ("states.jsonl", lambda it: it["outcome"].update(step=-1), "has no step -1"),
        ("answers.jsonl", lambda it: it["rows"][1].pop(), "row 2 has "),
    ],
    ids=["no variant", "step too high", "step below 0", "short row"],
)
def test_a_record_that_does_not_fit_the_plan_or_itself_is_reported_with_its_line(
    command: str,
    name: str,
    change: Change,
    reason: str,
    recorded: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = recorded / name
    lines = path.read_text(encoding="utf-8").splitlines()
    at = next(at for at, line in enumerate(lines) if at and json.loads(line).get("rows") != [])
    record = json.loads(lines[at])
    change(record)
    lines[at] = json.dumps(record)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    arguments = [command, "update"] if command == "baseline" else [command]
    assert app.main([*arguments, "--run-dir", str(recorded)]) == WRONG_USE
    message = capsys.readouterr().err
    assert f"{path}:{at + 1}: " in message
    assert reason in message
    assert "repeat the phase that writes it" in message


@pytest.mark.parametrize("name", ["states.jsonl", "answers.jsonl"])
def test_records_that_are_cut_off_leave_cells_unknown_and_none_green(
    name: str, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded / name
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    status, _ = judge(recorded, capsys)
    assert status == BROKEN
    lines = (recorded / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    assert "unknown" in {json.loads(line)["verdict"] for line in lines}


def test_verdicts_are_judged_anew_whatever_they_were(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (judged / "verdicts.jsonl").read_bytes()
    (judged / "verdicts.jsonl").write_bytes(whole[:-100])
    assert judge(judged, capsys)[0] == 0
    assert (judged / "verdicts.jsonl").read_bytes() == whole


@pytest.mark.parametrize("size", [0, 50_000])
def test_a_full_disk_while_judging_leaves_the_verdicts_there_were(
    size: int, judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (judged / "verdicts.jsonl").read_bytes()
    with full_disk(size):
        assert app.main(["judge", "--run-dir", str(judged)]) == BROKEN
    assert "the disk is full; free some space" in capsys.readouterr().err
    assert (judged / "verdicts.jsonl").read_bytes() == before


def test_a_report_that_finds_no_room_leaves_those_there_were(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app.main(["report", "--run-dir", str(judged)])
    names = ("junit.xml", "report.html", "verdicts.jsonl", "run.json")
    before = [(judged / name).read_bytes() for name in names]
    with full_disk(20_000):
        assert app.main(["report", "--run-dir", str(judged)]) == BROKEN
    assert "the disk is full; free some space" in capsys.readouterr().err
    assert [(judged / name).read_bytes() for name in names] == before
