"""Measure a run's page in Chromium: its size, how long it opens and searches, who it shuts out.

    .venv/bin/python tools/measure/page.py RUN [--times 7]

RUN is the folder of a finished run, or the name of a recording in `tests/recorded`. The shortest of
several times counts: on a busy machine the others tell of what else it does.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools` and `tests`

from harness.reports import html
from harness.run import load_run
from harness.run.load_run import Run
from tests.builders import recorded_run

WIDTHS = (1440, 800, 390)
SCHEMES = ("light", "dark")
OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
SEARCHED = """() => {
  const before = performance.now();
  lookFor("is:wrong");
  document.body.offsetHeight;
  return performance.now() - before;
}"""
CELL_OPENED = """() => {
  const before = performance.now();
  openCell(CELLS.find((cell) => cell.k === "wrong") || CELLS[0]);
  document.body.offsetHeight;
  return performance.now() - before;
}"""


@dataclass(frozen=True, slots=True)
class Times:
    """How long the page took, in milliseconds."""

    opened: float
    searched: float
    cell: float


def main() -> None:
    """Print the figures as a Markdown table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("run")
    options.add_argument("--times", type=int, default=7)
    asked = options.parse_args()
    folder = Path(asked.run)
    run = load_run.load(folder) if folder.is_dir() else recorded_run.run_of(asked.run)
    with tempfile.TemporaryDirectory() as made:
        for line in figures(run, Path(made), asked.times):
            print(line)


def figures(run: Run, folder: Path, times: int) -> Iterator[str]:
    """Yield the lines of the table."""
    began = time.process_time()
    page = html.write(run, folder)
    made = time.process_time() - began
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"))
        found = [opened(browser, page) for _ in range(times)]
        shut_out = violations(browser, page)
        version = browser.version
        browser.close()
    yield f"| {len(run.verdicts):,} cells, Chromium {version} | |"
    yield "| --- | --- |"
    yield f"| size of the page, MB | {page.stat().st_size / 1e6:.1f} |"
    yield f"| CPU seconds to write it | {made:.1f} |"
    yield f"| opened, s | {min(each.opened for each in found) / 1000:.2f} |"
    yield f"| searched for `is:wrong`, ms | {min(each.searched for each in found):.0f} |"
    yield f"| a cell opened, ms | {min(each.cell for each in found):.0f} |"
    yield f"| violations that axe finds, at {WIDTHS} px, light and dark | {said(shut_out)} |"


def opened(browser: Browser, page: Path) -> Times:
    """Open the page afresh and measure it."""
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(page.as_uri())
        return Times(tab.evaluate(OPENED), tab.evaluate(SEARCHED), tab.evaluate(CELL_OPENED))


def violations(browser: Browser, page: Path) -> Counter[str]:
    """Count what axe finds, by its impact: the page at first, and with a cell opened."""
    found = Counter[str]()
    for width in WIDTHS:
        for scheme in SCHEMES:
            with browser.new_context() as context:
                tab = context.new_page()
                tab.set_viewport_size({"width": width, "height": 900})
                tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                tab.goto(page.as_uri())
                found += impacts(Axe().run(tab).response)
                tab.evaluate(CELL_OPENED)
                found += impacts(Axe().run(tab).response)
    return found


def impacts(response: dict[str, Any]) -> Counter[str]:
    """Return how many elements violate a rule, by the rule's impact, and how many rules hold."""
    found = Counter({"rules that hold": len(response["passes"])})
    for each in response["violations"]:
        found[each["impact"]] += len(each["nodes"])
    return found


def said(found: Counter[str]) -> str:
    """Return the counts in words."""
    kinds = ("critical", "serious", "moderate", "minor")
    counts = ", ".join(f"{found[kind]} {kind}" for kind in kinds)
    return f"{counts} ({found['rules that hold']} rules hold)"


if __name__ == "__main__":
    main()
