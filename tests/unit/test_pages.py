"""What the written pages name is there: commands, options, targets, tools, files, engines.

Links and headings are checked by `make lint`.
"""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Final

import pytest
import typer

from harness import read
from harness.cli import app, plan_options
from harness.cli.explain import recorded_cell
from harness.core.records import FindingKind
from harness.reports.words import STRATEGIES
from harness.write import writer_pool

ROOT: Final = Path(__file__).parents[2]
START: Final = ROOT / "README.md"
PAGES: Final = (START, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))
CODE: Final = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
COMMAND: Final = re.compile(r"(?:^|[`(]|bin/|- |run: )harness ([a-z][^`\n)#]*)", re.MULTILINE)
MAKE: Final = re.compile(r"(?:^|`)(?:[A-Z]+=\S+ )?make ([a-z]+)", re.MULTILINE)
LOOK: Final = re.compile(r"^harness (?:explain|reproduce|remedy) ([^-A-Z\n#<][^\n]*)", re.MULTILINE)
MOST_PUBLISHED: Final = 2_000_000
"""Bytes of all results that the repository holds."""
CONTRIBUTING: Final = ROOT / "docs" / "contributing.md"
IN_THE_TREE: Final = re.compile(
    r"`((?:containers|docs|harness|reports|scenarios|tests|tools)/[\w./-]*)`"
)
TOOL: Final = re.compile(r"\btools/[\w/]+\.py\b")


def commands(page: Path, pattern: re.Pattern[str]) -> list[str]:
    code = CODE.findall(page.read_text(encoding="utf-8"))
    return [command for text in code for command in pattern.findall(text)]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_commands_and_options_of_a_page_exist(page: Path) -> None:
    for text in commands(page, COMMAND):
        words = text.split()
        command = typer.main.get_command(app.app)
        while hasattr(command, "commands") and (words or hasattr(command, "default")):
            default = getattr(command, "default", "")
            omitted = default and not (words and words[0] in command.commands)
            name = default if omitted else words.pop(0)
            assert name in command.commands, f"harness {text}"
            command = command.commands[name]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= known, f"harness {text}"


def test_a_case_that_a_page_looks_at_is_one_of_the_quick_start() -> None:
    texts = {text for page in PAGES for text in commands(page, LOOK)}
    looked = [parts for text in texts if (parts := shlex.split(text, comments=True))]
    assert len(looked) > 3
    cells = plan_options.make(None, "quick-start", "").cells
    for parts in looked:
        recorded_cell.only(cells, parts)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_targets_of_make_that_a_page_names_exist(page: Path) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(commands(page, MAKE)) <= set(targets)


def test_the_first_page_has_commands_to_look_at() -> None:
    assert "run my.yaml" in {text.strip() for text in commands(START, COMMAND)}
    assert {"run", "test"} <= set(commands(START, MAKE))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_tools_of_a_page_exist(page: Path) -> None:
    tools = set(TOOL.findall(page.read_text(encoding="utf-8")))
    assert [tool for tool in tools if not (ROOT / tool).exists()] == []


def test_the_tests_that_the_page_on_bad_input_names_exist() -> None:
    text = (ROOT / "docs" / "bad_input.md").read_text(encoding="utf-8")
    tests = set(re.findall(r"`([\w/]*test_\w+\.py)`", text))
    folders = (ROOT / "tests" / "unit", ROOT / "tests")
    assert tests
    assert [t for t in tests if not any((folder / t).exists() for folder in folders)] == []


def test_the_page_on_verdicts_names_every_part_of_a_way_of_reading() -> None:
    text = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.*?)`", text, re.MULTILINE)
    assert [strategy for strategy in STRATEGIES if not any(strategy in row for row in rows)] == []


def test_the_page_on_verdicts_has_each_finding() -> None:
    text = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    assert [kind for kind in FindingKind if f"`{kind}`" not in text] == []


def test_the_page_on_running_has_the_time_limits_of_today() -> None:
    text = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    assert f"`--timeout` seconds ({read.TIMEOUT_S:g})" in text
    assert f"`--write-timeout` seconds ({writer_pool.TIMEOUT_S:g})" in text


def test_the_tree_for_contributors_is_the_tree_in_the_order_of_imports() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rows = re.findall(r"^\| `(\w+)/` \|", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in rows if name in layers] == [n for n in reversed(layers) if n[0] != "_"]


def test_the_files_that_contributors_are_sent_to_are_there() -> None:
    paths = set(IN_THE_TREE.findall(CONTRIBUTING.read_text(encoding="utf-8")))
    assert len(paths) > 20
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


def test_the_names_that_contributors_are_to_look_for_are_in_the_files() -> None:
    named = re.findall(r"`([\w/]+\.\w+)` \(`(\w+)`", CONTRIBUTING.read_text(encoding="utf-8"))
    assert len(named) > 10
    every = [(ROOT / path, name) for path, name in named if (ROOT / path).exists()]
    absent = [(path, name) for path, name in every if name not in path.read_text(encoding="utf-8")]
    assert absent == []


def test_the_published_results_stay_small() -> None:
    files = [path for path in (ROOT / "docs" / "results").rglob("*") if path.is_file()]
    assert 0 < sum(path.stat().st_size for path in files) < MOST_PUBLISHED
