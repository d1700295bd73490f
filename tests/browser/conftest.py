"""Chromium, and the page of the recorded quick start opened in it."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from harness.reports import html
from harness.run.load_run import Run
from harness.run.run_judge import with_strategy_answers
from tests.builders import recorded_run

NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDE = ViewportSize(width=1440, height=900)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a browser without a window; `make browser` installs one on Debian."""
    result = next(filter(None, map(shutil.which, NAMES)), None)
    if result is None:
        assert "HARNESS_REQUIRE_BROWSER" not in os.environ, "there is no Chromium"
        pytest.skip("there is no Chromium; see `make browser`")
    with sync_playwright() as started:
        made = started.chromium.launch(executable_path=result, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def run() -> Run:
    """Return a run with real answers of every kind."""
    return with_strategy_answers(recorded_run.run_of("quick_start"))


@pytest.fixture(scope="session")
def address(run: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where the run's page lies."""
    return html.write(run, tmp_path_factory.mktemp("page")).as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Return the run's page, opened; an error of its script fails the test."""
    with browser.new_context(viewport=WIDE) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        opened = context.new_page()
        errors: list[str] = []
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.goto(address)
        yield opened
        assert not errors
