"""People's own distributions, beside their profiles: lock data in a folder, and `readers.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.core import yaml_reader
from harness.plan import readers_file
from harness.plan.shipped import DISTRIBUTIONS

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
    paths = tuple(paths)
    folders = dict.fromkeys(folder for path in paths for folder in _folders(path))
    for file in (each for folder in folders for each in sorted(folder.glob(_FILES))):
        text = yaml_reader.read(file, yaml_reader.MAX_BYTES, "lock data")
        distributions.register(file.stem, text, str(file))
    for file in dict.fromkeys(readers_file.beside(paths)):
        readers_file.register(file)


def _folders(path: Path) -> Iterator[Path]:
    beside = path.absolute() if path.is_dir() else path.absolute().parent
    return (
        each / DISTRIBUTIONS for each in (beside, beside.parent) if (each / DISTRIBUTIONS).is_dir()
    )
