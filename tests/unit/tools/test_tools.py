"""Every file of `tools/` can be started, and a newcomer is told what it is for."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
TOOLS: Final = sorted((ROOT / "tools").glob("*.py"))
MAIN: Final = 'if __name__ == "__main__":'


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_that_is_asked_for_help_says_what_it_is_for(
    tool: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(tool.parent)
    monkeypatch.setattr("sys.argv", [tool.name, "--help"])
    monkeypatch.setenv("COLUMNS", "1000")  # its first sentence on one line
    code = tool.read_text(encoding="utf-8")
    if MAIN not in code:
        assert runpy.run_path(str(tool), run_name="__main__")["__doc__"]
        return
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(tool), run_name="__main__")
    assert ended.value.code == 0
    assert code.removeprefix('"""').partition("\n")[0] in capsys.readouterr().out


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_page_for_contributors_names_every_tool(tool: Path) -> None:
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    assert tool.name in page.partition("\n## Tools\n")[2].partition("\n## ")[0]
