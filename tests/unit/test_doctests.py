"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import harness.model
import harness.plan
import harness.scenario
import harness.scenario.operations

PACKAGES = (harness.model, harness.scenario.operations, harness.plan, harness.scenario)
MODULES = [
    f"{package.__name__}.{found.name}"
    for package in PACKAGES
    for found in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", [*MODULES, "harness.scenario.cells"])
def test_examples_in_docstrings_are_true(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_there_are_examples() -> None:
    found = doctest.DocTestFinder().find(importlib.import_module("harness.model.datatypes"))
    assert any(each.examples for each in found)
