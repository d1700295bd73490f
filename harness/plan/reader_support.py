"""Which reader can be asked about which format: what the engines' own data say."""

from __future__ import annotations

from harness import engines, formats
from harness.artifacts import distributions
from harness.core.errors import UsageProblem
from harness.engines import time_travel
from harness.model import past_views
from harness.scenario.cells import Reader


def cannot(reader: Reader, format_name: str) -> str:
    """Return why a reader cannot be asked about tables of a format; empty when it can.

    The reader's settings must exist. See `harness.engines.api.Engine.cannot`.
    """
    found = distributions.load(reader.distribution)
    return engines.load(found.engine).cannot(found, dict(reader.settings), format_name)


def cannot_show(reader: Reader, format_name: str, view: str) -> str:
    """Return why a reader cannot be asked for a view, as a cell calls it; empty when it can."""
    found = distributions.load(reader.distribution)
    return time_travel.cannot(found, format_name, past_views.name_of(view))


def check_combination(reader: Reader) -> None:
    """Check that the settings of a reader, each of which exists, go together.

    Raises:
        UsageProblem: there is no format that it can be asked about.

    """
    reasons: dict[str, list[str]] = {}
    for name in formats.names():
        reasons.setdefault(cannot(reader, name), []).append(name)
    if "" not in reasons:
        why = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        raise UsageProblem(f"{reader}: it can be asked about no format; {why}")
