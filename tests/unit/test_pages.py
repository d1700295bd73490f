"""What the written pages point to is there: files, headings, commands, and the words of reports."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
import typer

from harness.artifacts import distributions
from harness.cli import app, plan_options
from harness.cli.explain import recorded_cell
from harness.reports.words import WAYS
from tests.test_architecture import PACKAGES

ROOT: Final = Path(__file__).parents[2]
START: Final = ROOT / "README.md"
PAGES: Final = (START, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
BLOCK: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
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


def commands(page: Path, of: re.Pattern[str]) -> list[str]:
    code = CODE.findall(page.read_text(encoding="utf-8"))
    return [found for text in code for found in of.findall(text)]


def links(page: Path) -> tuple[str, ...]:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return tuple(each for each in LINK.findall(text) if "://" not in each)


def anchors(page: Path) -> set[str]:
    """What a heading is called in an address, as GitHub and GitLab make it."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def target(page: Path, link: str) -> tuple[Path, str]:
    path, _, anchor = link.partition("#")
    return ((page.parent / path).resolve() if path else page), anchor


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading_of_it(page: Path) -> None:
    found = {link: target(page, link) for link in links(page)}
    assert [link for link, (path, _) in found.items() if not path.exists()] == []
    headed = {link: at for link, at in found.items() if at[1]}
    assert [link for link, (path, anchor) in headed.items() if anchor not in anchors(path)] == []


def test_every_page_is_found_from_the_first_one() -> None:
    seen, left = set[Path](), [START]
    while left:
        page = left.pop()
        page = page / "README.md" if page.is_dir() else page
        if page.suffix == ".md" and page not in seen:
            seen.add(page)
            left += [target(page, link)[0] for link in links(page)]
    assert set(PAGES) == seen


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_commands_and_options_of_a_page_exist(page: Path) -> None:
    for text in commands(page, COMMAND):
        words = text.split()
        found = typer.main.get_command(app.app)
        while hasattr(found, "commands") and (words or hasattr(found, "default")):
            default = getattr(found, "default", "")
            left_out = default and not (words and words[0] in found.commands)
            name = default if left_out else words.pop(0)
            assert name in found.commands, f"harness {text}"
            found = found.commands[name]
        known = {option for each in found.params for option in each.opts}
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
    assert [each for each in tools if not (ROOT / each).exists()] == []


def test_the_tests_that_the_page_on_bad_input_names_exist() -> None:
    text = (ROOT / "docs" / "bad_input.md").read_text(encoding="utf-8")
    tests = set(re.findall(r"`([\w/]*test_\w+\.py)`", text))
    places = (ROOT / "tests" / "unit", ROOT / "tests")
    lost = [each for each in tests if not any((place / each).exists() for place in places)]
    assert tests
    assert lost == []


def test_the_page_on_findings_names_every_part_of_a_way_of_reading() -> None:
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.*?)`", text, re.MULTILINE)
    assert [way for way in WAYS if not any(way in row for row in rows)] == []


def first_column(heading: str) -> list[str]:
    """Return what stands first in the rows of the one table below a heading for contributors."""
    text = CONTRIBUTING.read_text(encoding="utf-8")
    below = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    _, _, *rows = [line for line in below.splitlines() if line.startswith("|")]
    return [row.split("|")[1].strip() for row in rows]


def test_the_tree_for_contributors_is_the_tree_in_the_order_of_imports() -> None:
    tree = [each.strip("`/") for each in first_column("The tree")]
    assert tree == [each for each in PACKAGES if each not in {"__main__", ""}]


def test_the_files_that_contributors_are_sent_to_are_there() -> None:
    paths = set(IN_THE_TREE.findall(CONTRIBUTING.read_text(encoding="utf-8")))
    assert len(paths) > 20
    assert sorted(each for each in paths if not (ROOT / each).exists()) == []


def test_the_glossary_explains_each_word_once() -> None:
    words = [word for row in first_column("Glossary") for word in row.split(", ")]
    assert len(set(words)) == len(words)


def test_the_exercise_for_newcomers_has_twelve_changes() -> None:
    assert len(first_column("A newcomer's exercise")) == 12


def test_the_published_results_stay_small() -> None:
    files = [each for each in (ROOT / "docs" / "results").rglob("*") if each.is_file()]
    assert 0 < sum(each.stat().st_size for each in files) < MOST_PUBLISHED


def test_the_first_page_names_every_engine_that_can_be_asked() -> None:
    text = START.read_text(encoding="utf-8")
    asked = [name for name in distributions.names() if distributions.load(name).is_asked]
    base = {"spark-3.5.8"}  # what the distributions of Spark have in common
    assert [name for name in asked if f"`{name}`" not in text] == sorted(base)
