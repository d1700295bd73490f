"""The verdicts of a run without what no two runs have alike, so that they can be compared."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # helpers of tests are `tests.<module>`

from harness import record, run  # noqa: E402
from harness.record import StateRecord  # noqa: E402
from tests.recorded import tidy  # noqa: E402


def verdicts(folder: Path) -> dict[str, str]:
    """Give the verdicts by case, without times, and without what each writing names otherwise.

    Writers name files as they like, and the time gives its instants; a verdict tells both.
    """
    found, names = dict[str, str](), _names(folder)
    path = folder / run.VERDICTS
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        verdict: dict[str, Any] = json.loads(line)
        del verdict["seconds"], verdict["reused"]
        text = json.dumps(verdict, sort_keys=True)
        found[verdict["case"]] = names[verdict["variant"]].path(text)
    return found


def _names(folder: Path) -> dict[str, tidy.Names]:
    by_variant: dict[str, list[StateRecord]] = defaultdict(list)
    for each in record.read_all(folder / run.STATES, StateRecord):
        by_variant[each.variant].append(each)
    found = {variant: tidy.names_of(states) for variant, states in by_variant.items()}
    return defaultdict(lambda: tidy.Names({}), found)
