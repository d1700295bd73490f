import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from harness.core.records import VerdictKind
from harness.judge.gate import Gate
from harness.reports import ci_site, markdown
from harness.reports.cause_texts import cause_texts
from harness.reports.ci_site import CiSite
from harness.reports.summary import scoreboard
from harness.run.load_run import Run
from tests.builders import sample_run
from tests.builders.placed_run import FILE, LINES, placed

NEW, GOOD = Gate(1, ("2 wrong answers are new: <b>x</b>.",)), Gate(0, ("9 cells judged.",))
HERE = CiSite(Path("nowhere"))
MUCH = 1 << 20


def shown(text: str) -> str:
    """Return what a site makes of a text, HTML in it as well."""
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


class Shown(HTMLParser):
    """The elements of a page, its text, and what of that is no code."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = self.prose = ""
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.append(tag)
        self._open.append(tag)

    def handle_endtag(self, _: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
        self.prose += "" if "code" in self._open else data


def test_the_answer_comes_first_then_the_readers_then_the_causes(sampled: Run) -> None:
    text = markdown.text(sampled, NEW, HERE, MUCH)
    assert text.startswith("### Lake tables: something is new\n\n- 2 wrong answers are new")
    places = [
        text.index(literal) for literal in ("| reader |", "#### What is not correct", "#### Known")
    ]
    assert places == sorted(places)
    assert markdown.text(sampled, GOOD, HERE, MUCH).startswith("### Lake tables: all is right, or")
    flaky = markdown.text(sampled, replace(GOOD, flaky=1), HERE, MUCH)
    assert flaky.startswith("### Lake tables: all is right, or known; some of it is flaky\n")
    unknown = markdown.text(sampled, Gate(3, ()), HERE, MUCH)
    assert unknown.startswith("### Lake tables: not everything is known")


def test_every_cause_and_every_count_is_there(sampled: Run) -> None:
    text = Shown(shown(markdown.text(sampled, NEW, HERE, MUCH))).text
    texts = cause_texts(sampled)
    assert len(texts) > 5
    flat = " ".join(text.replace("\u200b", "").split())
    assert [text.headline for text in texts if " ".join(text.headline.split()) not in flat] == []
    new = [text for text in texts if not text.known]
    assert len(new) > markdown.MOST_CAUSES
    assert all(text.commands[0] in flat for text in new[: markdown.MOST_CAUSES])
    assert flat.count("harness explain") == markdown.MOST_CAUSES
    rows = [
        line
        for line in text.splitlines()
        if line.strip() in {s.reader for s in scoreboard(sampled)}
    ]
    assert len(rows) == len(scoreboard(sampled))


def test_no_text_of_an_engine_is_more_than_text(sampled: Run) -> None:
    odd = {
        name: replace(verdict, because=f"{sample_run.HOSTILE} `x` @all | # ![a](http://x)")
        for name, verdict in sampled.recorded.items()
        if verdict.verdict in {VerdictKind.UNKNOWN, VerdictKind.UNSUPPORTED}
    }
    run = replace(sampled, recorded={**sampled.recorded, **odd})
    page = Shown(shown(markdown.text(run, NEW, HERE, MUCH)))
    assert {"img", "b", "script", "a"} & set(page.tags) == set()
    assert "<b>bold</b>" in page.text
    assert "@" in page.prose
    assert not re.search(r"@\w", page.prose)


def test_the_causes_link_the_line_since_which_it_is_so(tmp_path: Path) -> None:
    run = placed(sample_run.make(tmp_path / "run"), tmp_path)
    variables = {"GITHUB_REPOSITORY": "us/lake", "GITHUB_SHA": "abc", "GITHUB_RUN_ID": "7"}
    site = ci_site.of({**variables, "GITHUB_WORKSPACE": str(tmp_path)})
    text = markdown.text(run, NEW, site, MUCH)
    line = f"https://github.com/us/lake/blob/abc/{FILE}#L{LINES[3]}"
    assert f"[**its line**]({line})" in text
    assert "[the files that the job kept](https://github.com/us/lake/actions/runs/7)" in text


@pytest.mark.parametrize("most", [1000, 3000, 6000, 8000])
def test_what_has_no_room_is_left_out_in_whole_blocks_and_counted(sampled: Run, most: int) -> None:
    whole, text = (markdown.text(sampled, NEW, HERE, size) for size in (MUCH, most))
    assert len(text.encode()) <= most < len(whole.encode())
    *blocks, left, _ = text.split("\n\n")
    assert whole.startswith("\n\n".join(blocks))
    assert left.startswith("**Left out for want of room:**")
    number = len(whole.split("\n\n")) - 1 - len(blocks)
    assert left.endswith(f" {number:,} paragraph{'s' * (number > 1)}.")
    assert not any(block.startswith("| ") for block in blocks) or "| reader |" in text
