"""A file system that is really full: the run says so, and is gone on with once there is room."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from harness.artifacts.cache import Cache

pytestmark = [pytest.mark.engines, pytest.mark.alone, pytest.mark.nightly]

TOOLS: Final = Path(__file__).parents[2] / "tools"
FULL: Final = 3
"""The status of a run that the machine has too little for."""
SMALL: Final = "9m"
"""Room for a third of what the metastore, the writer and the table keep."""
COURSE: Final = """
set -eu
mount -t tmpfs -o size=$SMALL none "$PLACE"
"$PYTHON" -c 'import shared, pathlib, sys; shared.with_engines(pathlib.Path(sys.argv[1]))' "$PLACE/cache"
export HARNESS_CACHE="$PLACE/cache"
status=0
"$PYTHON" -m harness run --json --run-dir "$PLACE/run" "$TOOLS/deaths_scenarios" \
    --profile deaths -k hive-3.1.3 > "$TOLD/full.jsonl" || status=$?
echo $status > "$TOLD/status"
mount -o remount,size=1g "$PLACE"
"$PYTHON" -m harness run --json --run-dir "$PLACE/run" --resume > "$TOLD/resumed.jsonl"
cp "$PLACE/run/verdicts.jsonl" "$TOLD"
"""  # noqa: E501
"""It sees a file system that nobody else does, and that is gone when it ends."""


@pytest.fixture
def unshared() -> list[str]:
    command = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which(command[0]) is None:
        pytest.skip("util-linux is not there")
    tried = [*command, "mount", "-t", "tmpfs", "none", "/mnt"]
    if subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a file system of one's own")
    return command


def last(path: Path) -> dict[str, object]:
    scenario: dict[str, object] = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    return scenario


def test_a_run_whose_disk_is_full_says_so_and_is_gone_on_with(
    unshared: list[str], tmp_path: Path
) -> None:
    folder, output = tmp_path / "place", tmp_path / "told"
    folder.mkdir()
    output.mkdir()
    given = {
        "SMALL": SMALL,
        "PLACE": folder,
        "TOLD": output,
        "TOOLS": TOOLS,
        "PYTHON": sys.executable,
    }
    environment = {
        **os.environ,
        **{name: str(value) for name, value in given.items()},
        "HARNESS_CACHE": str(Cache.default().root),
        "PYTHONPATH": str(TOOLS),
    }
    subprocess.run([*unshared, "bash", "-c", COURSE], env=environment, check=True)
    assert int((output / "status").read_text()) == FULL
    end = last(output / "full.jsonl")
    assert (end["event"], end["status"]) == ("end", FULL)
    assert "the disk is full; free some space" in str(end["problem"])
    assert last(output / "resumed.jsonl")["status"] == 0
    verdicts = (output / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["verdict"] for line in verdicts] == ["correct"] * 10
