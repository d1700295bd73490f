"""The verbs on a run's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import pipeline, run
from harness.errors import UsageProblem
from harness.runtimes.cache import Cache

RECORDED = Path(__file__).parents[1] / "recorded" / "findings_a5"


def test_a_state_that_is_no_longer_kept_is_told_with_what_to_do(tmp_path: Path) -> None:
    found = run.load(RECORDED)
    with pytest.raises(UsageProblem, match=r"no longer in .*run the profile again"):
        pipeline.states_of(found.states, Cache(tmp_path))
