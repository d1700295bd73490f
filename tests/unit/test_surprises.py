"""The pages on surprises and upgrades name what is there: scenarios, profiles, readers."""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from harness.artifacts import distributions
from harness.plan import load_profiles, profiles_file, scenarios_folder, shipped
from harness.scenario.cells import parse_reader
from harness.scenario.load import name_of

ROOT: Final = Path(__file__).parents[2]
BEFORE: Final = ROOT / "docs" / "before_you_upgrade.md"
SURPRISES: Final = ROOT / "docs" / "results" / "surprises.md"
SCENARIOS: Final = {name_of(str(path)) for path in shipped.scenario_files(scenarios_folder())[0]}
PROFILES: Final = load_profiles(profiles_file())
COMMAND: Final = re.compile(r"`(harness (?:upgrade|run) [^`]+)`")
ROW: Final = re.compile(r"\| (\d+) \| (.+) \| (.+) \| (.+) \| (.+) \|")
CODE: Final = re.compile(r"`([^`]+)`")
NUMBERS: Final = range(1, 48)


def options(command: str) -> dict[str, str]:
    words = shlex.split(command)
    return {words[at]: words[at + 1] for at in range(len(words) - 1) if words[at].startswith("-")}


@pytest.mark.parametrize("command", COMMAND.findall(BEFORE.read_text(encoding="utf-8")))
def test_a_command_of_the_page_asks_about_a_story_of_its_profile(command: str) -> None:
    given = options(command)
    names = {name for name in SCENARIOS if given.get("-k", "") in name}
    profile = PROFILES[given["--profile"]]
    listed = {name for name in profile.scenarios if name in names or "*" in name}
    assert listed
    for side in ("--from", "--to"):
        if side in given:
            name = parse_reader(given[side]).distribution
            assert name in distributions.names() or not distributions.why_not_added(name)


def test_every_surprise_has_a_line_with_a_scenario_and_a_reader_that_are_there() -> None:
    rows = ROW.findall(SURPRISES.read_text(encoding="utf-8"))
    assert [int(number) for number, *_ in rows] == list(NUMBERS)
    for number, _, stories, readers, verdict in rows:
        if verdict.startswith("not shown"):
            continue
        assert CODE.findall(stories), number
        assert set(CODE.findall(stories)) <= SCENARIOS, number
        named = [parse_reader(text).distribution for text in CODE.findall(readers)]
        assert named, number
        assert set(named) <= set(distributions.names()), number
