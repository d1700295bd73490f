"""Every program of `tools/` says what it is for, and a page names each file and says where it is.

A program is started as a newcomer starts it, without this repository on the path.
"""

import runpy
import shlex
import sys
from pathlib import Path
from typing import Final

import pytest

from harness.cli import app
from harness.core.records import FindingKind
from tools import generate_docs

ROOT: Final = Path(__file__).parents[3]
TOOLS: Final = ROOT / "tools"
MAIN: Final = 'if __name__ == "__main__":'
FILES: Final = sorted(TOOLS.rglob("*.py"))
PROGRAMS: Final = [file for file in FILES if MAIN in file.read_text(encoding="utf-8")]


def named(tool: Path) -> str:
    return str(tool.relative_to(TOOLS))


@pytest.mark.parametrize("tool", PROGRAMS, ids=named)
def test_a_tool_that_is_asked_for_help_says_what_it_is_for(
    tool: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if Path(entry).resolve() != ROOT])
    monkeypatch.setattr("sys.argv", [tool.name, "--help"])
    monkeypatch.setenv("COLUMNS", "1000")  # its first sentence on one line
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(tool), run_name="__main__")
    assert ended.value.code == 0
    code = tool.read_text(encoding="utf-8")
    assert code.removeprefix('"""').partition("\n")[0] in capsys.readouterr().out


@pytest.mark.parametrize("tool", FILES, ids=named)
def test_a_page_names_every_tool(tool: Path) -> None:
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    assert tool.name in text.partition("\n## Tools\n")[2].partition("\n## ")[0]


SEEN = {kind: help_.see for kind, help_ in generate_docs.finding_help().items() if help_.see}


def test_no_page_is_stale() -> None:
    stale = [page.name for page, _ in generate_docs.stale_pages()]
    assert not stale, "run: python -m tools.generate_docs"


def test_every_generated_part_stands_in_a_page() -> None:
    pages = "".join(path.read_text("utf-8") for path in generate_docs.PAGES)
    missing = [name for name in generate_docs.PARTS if f"<!-- generated: {name} " not in pages]
    assert not missing


def test_every_kind_of_finding_says_what_to_do() -> None:
    assert generate_docs.finding_help().keys() == set(FindingKind)


@pytest.mark.parametrize("kind", SEEN)
def test_what_shows_a_kind_of_finding_can_be_typed(
    kind: FindingKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(generate_docs.DOCS.parent)
    verb, *options = shlex.split(SEEN[kind])
    assert verb == "run"
    assert app.main(["plan", *options]) == 0
