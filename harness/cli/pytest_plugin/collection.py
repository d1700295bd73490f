"""A scenario's file as a collector, and its cells as tests."""

import time
from collections.abc import Iterator
from typing import Any, Final

import pytest

from harness import plan
from harness.cli import plan_options
from harness.cli.pytest_plugin import harness_run, pytest_options
from harness.core.errors import HarnessError
from harness.core.records import VerdictKind
from harness.core.reviewed_lines import TODO
from harness.plan import controls
from harness.reports import junit, words
from harness.run.run_judge import CellOutcome, EndedRun
from harness.scenario import load

POLL_S: Final = 0.2

_RUN: Final = pytest.StashKey[EndedRun]()


class ScenarioFile(pytest.File):
    """The cells of a scenario in the chosen profile; nothing is started."""

    def collect(self) -> Iterator[pytest.Item]:
        """Plan the file alone, unless the profile that stands beside it does not name it.

        Raises CollectError: it is no scenario, or there is no such profile.
        """
        name, profile = load.name_of(str(self.path)), pytest_options.profile(self.config)
        try:
            beside = plan.find(profile, [self.path])
            by_itself = self.path in pytest_options.named(self.config)
            if not by_itself and beside.governs(self.path) and not beside.names(name):
                return
            made = plan_options.make([self.path], profile, "")
        except HarnessError as problem:
            raise self.CollectError(str(problem)) from problem
        variants = {variant.id: variant for variant in made.variants}
        for cell in made.cells:
            # A control is no test of this scenario; the run asks it all the same.
            if not controls.is_control(cell, variants[cell.variant], made.metastore):
                yield CellItem.from_parent(self, name=pytest_options.name_of(cell.case))


class CellItem(pytest.Item):
    """One cell; it waits for the end of the run."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - what pytest gives
        super().__init__(**given)
        self.harness_case = pytest_options.case_of(self.name)
        self._outcome: CellOutcome | None = None

    def setup(self) -> None:
        """Wait for the verdict. Unknown is an error; what was not asked, or is open, is skipped."""
        self._outcome = _wait(self.config, self.harness_case)
        verdict = self._outcome.verdict
        if verdict.verdict is VerdictKind.UNKNOWN:
            lines = [f"unknown: {verdict.because}", f"SQL: {verdict.sql}"]
            lines += filter(None, [words.log_text(self._outcome.answer)])
            pytest.fail("\n".join(lines), pytrace=False)
        if verdict.verdict in {VerdictKind.UNSUPPORTED, VerdictKind.OPEN}:
            pytest.skip(f"{verdict.verdict}: {verdict.because}")

    def runtest(self) -> None:
        if self._outcome is None:  # not reached: without it the setup failed
            raise AssertionError(self.name)
        verdict, applied = self._outcome.verdict, self._outcome.applied
        reviewed = verdict.known and not verdict.known.upper().startswith(TODO)
        if reviewed and not applied.answered:
            pytest.xfail(verdict.known)
        why = [f"{line.location}: known as {line.expect}, but not so here" for line in applied.gone]
        why += map(words.answered_text, applied.answered)
        if verdict.verdict.is_bad:
            why.append(junit.message(verdict, self._outcome.answer))
            why.append(junit.details(verdict, self._outcome.answer))
        if why:
            pytest.fail("\n".join(why), pytrace=False)

    def reportinfo(self) -> tuple[Any, None, str]:
        return self.path, None, self.harness_case


def _wait(config: pytest.Config, case: str) -> CellOutcome:
    folder = pytest_options.folder(config)
    while (status := harness_run.exit_status(folder)) is None:
        time.sleep(POLL_S)
    run = config.stash.setdefault(_RUN, EndedRun(folder))
    outcome = run.find(case)
    if outcome is None and run.begun:
        pytest.skip("not asked: an earlier step was refused")
    if outcome is None or outcome.answer is None:
        because = f" ({outcome.verdict.because})" if outcome else ""
        text = f"the run ended with status {status} and has no answer for this check{because}:"
        pytest.fail(f"{text}\n{harness_run.log_end(folder)}", pytrace=False)
    return outcome
