"""`tools/figures.py` counts, and `tests/toys/trace_run.py` sees a whole run of the toys."""

import re
import subprocess
import sys
from pathlib import Path

from tools import figures


def test_who_imports_whom_is_read_of_the_text() -> None:
    files = {
        "harness/a.py": "from harness.b import (  # why\n    c,\n    d as e,\n)\n",
        "harness/b/__init__.py": "",
        "harness/b/c.py": "def f():\n    import harness.a\n",
        "reports/d.py": "from harness import a\nfrom harness.b.c import f\n",
        "tests/e.py": "import harness.b.c\n",
    }
    assert figures.importers(figures.modules(files)) == {
        "harness.a": {"harness.b.c", "harness.reports.d"},
        "harness.b": {"harness.a"},
        "harness.b.c": {"harness.a", "harness.reports.d"},
        "harness.reports.d": set(),
    }


def test_identifiers_are_counted_by_their_words() -> None:
    text = "class FileReader:\n    read_URLs = str('of no text')  # nor comment\n"
    assert list(figures.parts(text)) == ["file", "reader", "read", "ur", "ls"]


def test_a_run_of_the_toys_is_traced_from_the_command_line_to_the_page() -> None:
    program = Path(__file__).parents[2] / "toys" / "trace_run.py"
    done = subprocess.run(
        [sys.executable, str(program), "--list"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "exit status of the run: 1\n" in done.stdout  # one of its two readers is wrong
    packages = set(re.findall(r"> harness\.(\w+)\.", done.stdout))
    assert packages >= {"cli", "plan", "write", "read", "judge", "reports", "run"}
