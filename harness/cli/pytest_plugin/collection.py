"""A scenario's file as a collector, and its cells as tests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import pytest

from harness import plan
from harness.cli import plan_options
from harness.cli.pytest_plugin import harness_run, pytest_options
from harness.core.errors import HarnessError
from harness.core.records import VerdictKind
from harness.judge.baseline import known
from harness.plan import controls
from harness.reports import junit, words
from harness.run.run_judge import CellOutcome, RunFollower
from harness.scenario import load
from harness.scenario.cells import Plan

POLL_S: Final = 0.2

_FOLLOWER: Final = pytest.StashKey[RunFollower]()


class ScenarioFile(pytest.File):
    """The cells of a scenario in the chosen profile; nothing is started."""

    def collect(self) -> Iterator[pytest.Item]:
        """Plan the file alone.

        Raises CollectError: it is no scenario, or there is no such profile.
        """
        try:
            made = self._planned()
        except HarnessError as problem:
            raise self.CollectError(str(problem)) from problem
        if made is None:
            return
        readers = {str(reader): at for at, reader in enumerate(made.readers)}
        variants = {variant.id: variant for variant in made.variants}
        for cell in made.cells:
            # A control is no test of this scenario; the run asks it all the same.
            if not controls.is_control(cell, variants[cell.variant], made.metastore):
                name = pytest_options.name_of(cell.case)
                yield CellItem.from_parent(self, name=name, reader=readers[cell.reader])

    def _planned(self) -> Plan | None:
        """Return the plan; None when the profile that stands beside the file does not name it."""
        profile = pytest_options.profile(self.config)
        found_profile = plan.find(profile, [self.path])
        by_itself = self.path in pytest_options.named(self.config)
        name = load.name_of(str(self.path))
        if not by_itself and found_profile.governs(self.path) and not found_profile.names(name):
            return None
        return plan_options.make([self.path], profile, "")


class CellItem(pytest.Item):
    """One cell; it waits for its record."""

    def __init__(self, *, reader: int, **others: Any) -> None:  # noqa: ANN401 - what pytest gives
        """`reader`: the place of its reader in the profile."""
        super().__init__(**others)
        self.harness_reader = reader
        self._case = pytest_options.case_of(self.name)
        self._found: CellOutcome | None = None

    def setup(self) -> None:
        """Wait for the record. What is unknown is an error, what was not asked is skipped."""
        self._found = _wait(self.config, self._case)
        verdict = self._found.verdict
        if verdict.verdict is VerdictKind.UNKNOWN:
            lines = [f"unknown: {verdict.because}", f"SQL: {verdict.sql}"]
            lines += filter(None, [words.log_text(self._found.answer)])
            pytest.fail("\n".join(lines), pytrace=False)
        if verdict.verdict is VerdictKind.UNSUPPORTED:
            pytest.skip(f"unsupported: {verdict.because}")

    def runtest(self) -> None:
        if self._found is None:  # not reached: without it the setup failed
            raise AssertionError(self.name)
        verdict, applied = self._found.verdict, self._found.applied
        reviewed = verdict.known and not verdict.known.upper().startswith(known.TODO)
        if reviewed and not applied.answered:
            pytest.xfail(verdict.known)
        why = [
            f"{known_finding.place}: known as {known_finding.expect}, but not so here"
            for known_finding in applied.gone
        ]
        why += map(words.answered_text, applied.answered)
        if verdict.verdict in {VerdictKind.WRONG, VerdictKind.REFUSED}:
            why.append(junit.message(verdict, self._found.answer))
            why.append(junit.details(verdict, self._found.answer))
        if why:
            pytest.fail("\n".join(why), pytrace=False)

    def reportinfo(self) -> tuple[Any, None, str]:
        return self.path, None, self._case


def _wait(config: pytest.Config, case: str) -> CellOutcome:
    folder = pytest_options.folder(config)
    following = config.stash.setdefault(_FOLLOWER, RunFollower(folder))
    while True:
        # In this order: what was recorded before the end is seen after it.
        status = harness_run.exit_status(folder)
        following.look()
        if (outcome := following.find(case)) is not None:
            return outcome
        if status is not None:
            return _last(config, following, case, status)
        time.sleep(POLL_S)


def _last(config: pytest.Config, following: RunFollower, case: str, status: int) -> CellOutcome:
    folder = pytest_options.folder(config)
    cell_outcome = following.last(case)
    if cell_outcome is None and following.begun:
        pytest.skip("not asked: an earlier step was refused")
    if cell_outcome is None or cell_outcome.answer is None:
        because = f" ({cell_outcome.verdict.because})" if cell_outcome else ""
        pytest.fail(
            f"the run ended with status {status} and has no answer for this check{because}:\n"
            f"{harness_run.log_end(folder)}",
            pytrace=False,
        )
    return cell_outcome
