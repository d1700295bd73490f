"""Engines are found by the name that distributions call them by."""

from __future__ import annotations

import pytest

from harness import engines
from harness.core.errors import UsageProblem
from harness.plan import distribution_support


def test_every_distribution_that_is_asked_names_an_engine_there_is() -> None:
    assert {each.engine for each in distribution_support.readers()} == set(engines.names())


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageProblem, match=r"'tirno'; did you mean 'trino'\? allowed: datafusion"):
        engines.load("tirno")
