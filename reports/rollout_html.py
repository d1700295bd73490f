"""A rollout as one HTML file, without a script: each state, with a link to its own page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.comparison.result import SideComparison
from harness.comparison.rollout import Rollout, RolloutState
from harness.core.records import VerdictKind
from harness.reports import html_page, upgrade_html, upgrade_words
from harness.reports import rollout_words as words

FILE: Final = "rollout.html"


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A state, or a way back from one, as the page shows it."""

    title: str
    decision: str
    said: str
    css: str
    href: str
    """Its own page."""
    causes: tuple[str, ...]
    """What is worse, the most harmful first."""


@dataclass(frozen=True, slots=True)
class StateView:
    """A state and the ways back."""

    changes: str
    name: str
    found: ComparisonView
    way_back: str
    returns: str
    """The colour of whether there is a way back."""
    ways: tuple[ComparisonView, ...]


def write(found: Rollout, folder: Path) -> Path:
    """Write the page, complete or not at all."""
    return html_page.write(page(found, folder), folder / FILE)


def page(found: Rollout, folder: Path) -> str:
    """Return the whole page; the pages of states lie below the folder."""
    values: dict[str, object] = {
        "headline": words.headline(found),
        "no_return": words.no_return(found),
        "colour": (VerdictKind.CORRECT if found.safe else VerdictKind.WRONG).value,
        "states": [_state(each, folder) for each in found.states],
        "tried": [_state(each, folder) for each in found.tried],
        "css": html_page.own("report.css", "upgrade.css"),
    }
    return html_page.rendered("rollout.html.j2", values)


def _state(state: RolloutState, folder: Path) -> StateView:
    colour = VerdictKind.CORRECT if state.returns else VerdictKind.WRONG
    return StateView(
        changes=words.numbers(state),
        name=state.name,
        found=_comparison("after it", state.found, folder),
        way_back=words.way_back(state),
        returns=colour.value,
        ways=tuple(_ways(state, folder)),
    )


def _ways(state: RolloutState, folder: Path) -> Iterator[ComparisonView]:
    named = (("the way back", state.back), ("after a downgrade", state.downgraded))
    yield from (_comparison(title, each, folder) for title, each in named if each is not None)


def _comparison(title: str, found: SideComparison, folder: Path) -> ComparisonView:
    own = found.new.run.folder / upgrade_html.FILE
    return ComparisonView(
        title=title,
        decision=str(found.decision),
        said=words.outcome(found),
        css=upgrade_html.COLOURS[found.decision].value,
        href=Path(os.path.relpath(own, folder)).as_posix(),
        causes=tuple(map(upgrade_words.cause_title, found.relevant)),
    )
