"""What docs/ci.md tells people to paste: it can be read, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from ruamel.yaml import YAML

from harness import cli
from harness.plan.profile import loads_profiles

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = sorted(
    set(re.findall(r"\bharness ((?:run|fetch|plan|cache \w+|baseline \w+)[^`\n)]*)", PAGE))
)


@pytest.mark.parametrize("block", BLOCKS, ids=[each.partition("\n")[0] for each in BLOCKS])
def test_what_is_to_be_pasted_is_yaml(block: str) -> None:
    assert YAML(typ="safe").load(block)


def test_the_own_profile_of_the_page_is_one() -> None:
    (text,) = (each for each in BLOCKS if each.startswith("# my/profiles.yaml"))
    assert list(loads_profiles(text, "my/profiles.yaml")) == ["nightly"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_and_options_of_the_page_exist(command: str) -> None:
    words = command.partition("#")[0].split()
    found = typer.main.get_command(cli.app)
    while words and hasattr(found, "commands"):
        found = found.commands[words.pop(0)]
    known = {option for each in found.params for option in each.opts}
    assert {word for word in words if word.startswith("--")} <= known
