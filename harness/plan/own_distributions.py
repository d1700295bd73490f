"""People's own distributions, beside their profiles: lock data in a folder, and `readers.yaml`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.core import yaml_reader
from harness.plan import readers_file, shipped
from harness.plan.shipped import DISTRIBUTIONS, READERS

_FILES: Final = "*.yaml"


def register(paths: Iterable[Path]) -> None:
    """Make the distributions known that stand beside scenarios.

    Args:
        paths: files or folders of scenarios. As with profiles, their folder is looked at, and then
            the one above it.

    Raises:
        UsageProblem: a distribution is called like one that is shipped.
        ScenarioProblem: a file cannot be read.

    """
    places = dict.fromkeys(folder for path in paths for folder in shipped.beside(path))
    for file in (file_ for path in places for file_ in sorted((path / DISTRIBUTIONS).glob(_FILES))):
        text = yaml_reader.read(file, yaml_reader.MAX_BYTES, "lock data")
        distributions.register(file.stem, text, str(file))
    for file in (path / READERS for path in places):
        if file.is_file():
            readers_file.register_file(file)
