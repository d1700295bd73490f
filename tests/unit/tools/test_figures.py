"""`tools/figures.py` counts, and `tests/toys/trace_run.py` sees a whole run of the toys."""

import re
import subprocess
import sys
from pathlib import Path

from tools import figures


def test_lines_are_counted_of_what_git_tracks(tmp_path: Path) -> None:
    for name, lines in {
        "harness/a.py": 2,
        "tests/b.py": 3,
        "tools/c.py": 1,
        "tools/d.py": 9,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n" * lines, encoding="utf-8")
    for command in (["init", "-q"], ["add", "harness", "tests", "tools/c.py"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)  # noqa: S607
    assert list(figures.report(tmp_path)) == [
        "harness: 2 lines in 1 files",
        "reports: 0 lines in 0 files",
        "tools: 1 lines in 1 files",
        "tests: 3 lines in 1 files",
        "longest: harness/a.py, 2 lines",
    ]


def test_a_run_of_the_toys_is_traced_from_the_command_line_to_the_page() -> None:
    program = Path(__file__).parents[2] / "toys" / "trace_run.py"
    done = subprocess.run(
        [sys.executable, str(program), "--list"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "exit status of the run: 1\n" in done.stdout  # one of its two readers is wrong
    packages = set(re.findall(r"> harness\.(\w+)\.", done.stdout))
    assert packages >= {"cli", "plan", "write", "read", "judge", "reports", "run"}
