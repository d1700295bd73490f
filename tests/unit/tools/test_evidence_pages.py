"""The pages of what runs have shown say what the runs have, and nothing else."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import app
from harness.comparison import evidence
from harness.core.records import FindingKind, VerdictKind
from harness.run.load_run import Run
from tests.builders.verdicts import OTHER, finding, run, verdict
from tools import evidence_pages, generate_docs

RIGHT, WRONG, REFUSED = VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED
NEW = "trino-483"
NAMES = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
PART = re.compile(
    r"<!-- generated: (?:answers|upgrade) ([^\n]*?) -->\n(.*?)<!-- end -->", re.DOTALL
)
SURPRISE = re.compile(r"^\| (\d+) \| .* \| (.*) \| (.*) \| (\w+)\b(.*) \|$", re.MULTILINE)
SURPRISES = generate_docs.DOCS / "results" / "surprises.md"
NOT_KNOWN = ("upgrades/variants",)
"""Stories of which no run is in the evidence, as the page says."""
Store = Callable[..., None]


def asked(profile: str) -> Run:
    made = run(
        verdict(RIGHT),
        verdict(WRONG, NAMES, step=3),
        verdict(REFUSED, reader=NEW),
        verdict(RIGHT, reader=NEW, variant=OTHER, view="read_optimized"),
    )
    return replace(made, info=replace(made.info, profile=profile))


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    def store(*profiles: str) -> None:
        builder = evidence.Builder("0.2.0")
        for profile in profiles:
            builder.add(asked(profile), "c0ffee00")
        builder.write(tmp_path / "e.zip")

    def forget() -> None:
        evidence_pages.store.cache_clear()
        evidence_pages.known.cache_clear()

    monkeypatch.setattr(evidence, "FILE", tmp_path / "e.zip")
    forget()
    yield store
    forget()


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ")][2:]


def test_answers_are_counted_by_reader_and_verdict(stored: Store) -> None:
    stored("p")
    text = evidence_pages.answers("reader")
    assert text.startswith("4 answers.\n\n| reader | `correct` | `wrong` | `refused` |\n")
    assert rows(text) == ["| `trino-476` | 1 | 1 |  |", "| `trino-483` | 1 |  | 1 |"]


def test_by_two_traits_stands_how_many_are_not_right_or_a_tick(stored: Store) -> None:
    stored("p")
    text = evidence_pages.answers("reader", columns="format")
    assert rows(text) == ["| `trino-476` | ≠ 1 of 2 |  |", "| `trino-483` | ! 1 of 1 | ✓ |"]


def test_only_what_fits_is_counted_and_the_runs_are_named(stored: Store) -> None:
    stored("p", "q")
    text = evidence_pages.answers("operation", profile="q", reader="trino-4*", view="x|snapshot")
    assert text.startswith("3 answers, of q of 2026-01-01 (harness at c0ffee00).")
    of_one = evidence_pages.answers("operation", profile="q", reader="trino-476")
    assert rows(of_one) == ["| `rename_column` | 1 |  |", "| `touch` |  | 1 |"]


def test_each_value_of_a_trait_may_have_its_own_table(stored: Store) -> None:
    stored("p")
    text = evidence_pages.answers("reader", sections="format")
    assert re.findall(r"^## (\S+)$", text, re.MULTILINE) == ["hudi-cow", "hudi-mor"]
    assert re.findall(r"^\d+ answers", text, re.MULTILINE) == ["3 answers", "1 answers"]


def test_a_trait_that_answers_do_not_have_is_an_error(stored: Store) -> None:
    stored("p")
    with pytest.raises(KeyError, match="colour"):
        evidence_pages.answers("reader", colour="red")


def test_no_table_of_a_page_is_empty() -> None:
    pages = {page: PART.findall(page.read_text("utf-8")) for page in generate_docs.PAGES}
    parts = [(page.name, what, text) for page, of in pages.items() for what, text in of]
    assert len(parts) > 20
    assert [(name, what) for name, what, text in parts if not rows(text)] == []


def test_a_page_says_of_an_upgrade_what_the_command_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app.main(["upgrade", "--no-run", "--from", "trino-476", "--to", NEW])
    output = " ".join(capsys.readouterr().out.split())
    shown = evidence_pages.upgrade("trino-476", NEW).splitlines()
    answer = " ".join(line.removeprefix("> ") for line in shown if line.startswith("> "))
    assert answer.startswith("Do not upgrade")
    assert answer in output


def test_the_list_of_results_has_each_page_and_says_which_are_made_of_what_is_known() -> None:
    folder = SURPRISES.parent
    groups = (folder / "README.md").read_text(encoding="utf-8").split("\n## ")[1:]
    known, *others = (
        set(re.findall(r"^\| \[([\w-]+\.md)\]", text, re.MULTILINE)) for text in groups
    )
    pages = {page.name: page.read_text("utf-8") for page in folder.glob("*.md")}
    assert known == {name for name, text in pages.items() if "<!-- generated: " in text}
    assert known.union(*others) == pages.keys() - {"README.md"}


def shown_of_stories() -> Mapping[tuple[str, str], set[str]]:
    known = evidence_pages.known()
    shown = defaultdict[tuple[str, str], set[str]](set)
    for of in known.verdicts:
        kinds = {str(finding_.kind) for finding_ in of.findings}
        shown[known.info.variant(of.variant).scenario, of.reader] |= {str(of.verdict), *kinds}
    return shown


def test_each_surprise_is_seen_by_the_readers_and_as_the_page_says() -> None:
    shown, kinds = shown_of_stories(), set(map(str, FindingKind))
    lines = SURPRISE.findall(SURPRISES.read_text(encoding="utf-8"))
    assert len(lines) == 47
    checked, otherwise = 0, list[tuple[str, str]]()
    for number, story, reader, begins, more in lines:
        stories, readers = (re.findall(r"`([^`]+)`", text) for text in (story, reader))
        if begins not in set(VerdictKind) or set(stories) & {*NOT_KNOWN}:
            continue
        checked += 1
        seen = {name: set().union(*(shown[s, name] for s in stories)) for name in readers}
        named = {kind for kind in re.findall(r"`(\w+)`", more) if kind in kinds}
        otherwise += [(number, name) for name, of in seen.items() if begins not in of]
        otherwise += [(number, kind) for kind in named - set().union(*seen.values())]
    assert checked >= 35
    assert otherwise == []
