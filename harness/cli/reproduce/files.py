"""What a found reproducer is written as: a scenario, the profile that runs it, and the script."""

from __future__ import annotations

import io
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.causes import Cause
from harness.cli.reproduce.script import Observation, script
from harness.cli.reproduce.searches import Target
from harness.core.errors import unwritable
from harness.judge.recorded_variant import SNAPSHOT
from harness.run.load_run import WRITE
from harness.scenario.definition import Scenario
from harness.scenario.dump import dump

SCENARIO: Final = "scenario"
SCRIPT: Final = "reproduce.sql"
PROFILES: Final = "profiles.yaml"


def write(folder: Path, target: Target, candidate: Candidate, seen: Observation) -> Path:
    """Write a reproducer into a folder of its own below `folder`; give that one.

    Raises:
        EnvironmentProblem: the disk does not take it.

    """
    place = folder / target.cause.name
    variant = replace(candidate.variant, scenario=named(candidate.scenario, target.cause))
    texts = {
        f"{SCENARIO}.yaml": dump(variant.scenario),
        PROFILES: profile(target, candidate),
        SCRIPT: script(variant, target, seen),
    }
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(error, place) from error
    return place


def named(scenario: Scenario, cause: Cause) -> Scenario:
    """Return the scenario under the name that its file has."""
    source = "; ".join(
        text for text in (scenario.source, f"made smaller from {scenario.name}") if text
    )
    name = f"{cause.name}/{SCENARIO}"
    return replace(scenario, name=name, about=f"{cause}.", source=source)


def profile(target: Target, candidate: Candidate) -> str:
    """Return the text of a profile that asks the one reader about the one table."""
    of_step = target.cause.view == WRITE
    about = f"Asks {target.reader} what it was seen to answer wrongly."
    if of_step:
        seen = "refuse" if target.refusal else "record wrongly in the table itself"
        about = f"Writes what {target.reader} was seen to {seen}."
    form: dict[str, Any] = {
        "about": about,
        "scenarios": [f"{target.cause.name}/{SCENARIO}"],
        "formats": [candidate.format],
        "writers": [_writer(candidate)],
        "readers": [str(target.reader)],
        "views": [SNAPSHOT if of_step else target.cause.view],
        "queries": [target.shape],
    }
    if not target.through.usual:
        form["metastore"] = {k: v for k, v in asdict(target.through).items() if v}
    yaml, text = YAML(typ="safe", pure=True), io.StringIO()
    yaml.default_flow_style = False
    yaml.dump({target.cause.name: form}, text)
    return text.getvalue()


def _writer(candidate: Candidate) -> object:
    settings = {"settings": dict(candidate.settings)} if candidate.settings else {}
    # A step that names its writer says so itself.
    by = ("", *(step.by for step in candidate.scenario.steps))
    own = {at: name for at, name in enumerate(candidate.writers) if not by[at]}
    turns = [name for name, _ in groupby(own.values())]
    if len(turns) == 1:
        return {"distribution": turns[0], **settings} if settings else turns[0]
    at = next(at for at, name in own.items() if name == turns[1])
    return {"sequence": turns, "at": at, **settings}
