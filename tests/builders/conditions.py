"""Conditions of questions, in a word."""

from harness.model.query import Comparison, Condition


def not_null(path: str) -> Condition:
    return Condition(path, Comparison.NOT_NULL)
