"""The history of runs for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from harness.comparison.turn_groups import TurnGroup
from harness.core.records import VerdictKind
from harness.run.kept_run import KeptRun


def runs(
    kept: Iterable[KeptRun], counts: Mapping[int, Counter[VerdictKind]]
) -> list[dict[str, Any]]:
    """Return the runs that are kept, each with how many of its cells have which verdict."""
    return [
        {
            "run": each.name,
            "profile": each.info.profile,
            "started": each.info.started.isoformat(),
            "totals": {str(kind): n for kind, n in counts.get(each.number, {}).items()},
        }
        for each in kept
    ]


def groups(turned: Iterable[TurnGroup]) -> list[dict[str, Any]]:
    """Return groups of turns, each with one case; all cases are in what is exported."""
    return [
        {
            "run": each.run.name,
            "before": each.first.before.name if each.first.before else None,
            "change": str(each.change),
            "verdict": str(each.cell.verdict),
            "symptom": each.cell.symptom,
            "cells": len(each.turns),
            "differs": [str(difference) for difference in each.differs],
            "readers": list(each.readers),
            "scenarios": list(each.scenarios),
            "case": each.cell.case,
        }
        for each in turned
    ]
