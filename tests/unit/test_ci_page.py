"""What docs/ci.md tells people to paste: it can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from harness.plan.profile import loads_profiles

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[each.partition("\n")[0] for each in BLOCKS])
def test_what_is_to_be_pasted_is_yaml(block: str) -> None:
    assert YAML(typ="safe").load(block)


def test_the_own_profile_of_the_page_is_one() -> None:
    (text,) = (each for each in BLOCKS if each.startswith("# my/profiles.yaml"))
    assert list(loads_profiles(text, "my/profiles.yaml")) == ["nightly"]
