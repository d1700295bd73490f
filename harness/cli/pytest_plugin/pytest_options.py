"""What the user asked pytest for: profile, folders, the run's folder; and the names of tests.

It is loaded in every test run of an environment with the harness, and so loads nothing else of it.
"""

import datetime
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

PROFILE: Final = "harness_profile"
RUN_DIR: Final = "harness_run_dir"
FOLDERS: Final = "harness_scenarios"

_SNIFFED: Final = 1 << 20
"""A scenario file is not longer, in bytes."""
_OTHERS: Final = ("profiles.yaml", "readers.yaml")
_BASELINE: Final = ".known.yaml"
_LOCKS: Final = "distributions"
_KEYS: Final = re.compile(rb"^table *:", re.MULTILINE), re.compile(rb"^steps *:", re.MULTILINE)
_BEFORE: Final = "cell["
_AFTER: Final = "]"
_NAMED: Final = pytest.StashKey[tuple[Path, ...]]()
_FOLDER: Final = pytest.StashKey[Path]()


def is_scenario(path: Path, config: pytest.Config) -> bool:
    """Return whether a YAML file is a scenario: named itself, or in a folder of the ini option.

    In a folder that was named, it is when it has a table and steps. In a folder, what is hidden is
    none.
    """
    if path.name in _OTHERS or path.name.endswith(_BASELINE) or path.parent.name == _LOCKS:
        return False
    if path in named(config):
        return True
    if path.name.startswith("."):
        return False
    above = set(path.parents)
    if not above.isdisjoint(config.getini(FOLDERS)):
        return True
    # Where one stands, and what is above it, are named by `pytest .`, which means other tests.
    # Not pytest's root: that is the named folder itself where no configuration file is found.
    here = config.invocation_params.dir
    if above.isdisjoint(set(named(config)) - {here, *here.parents}):
        return False
    try:
        with path.open("rb") as file:
            text = file.read(_SNIFFED)
    except OSError:
        return False
    return all(key.search(text) for key in _KEYS)


def named(config: pytest.Config) -> tuple[Path, ...]:
    return config.stash.setdefault(_NAMED, tuple(map(Path, _named(config))))


def _named(config: pytest.Config) -> Sequence[str]:
    if hasattr(config, "workerinput"):  # a worker of pytest-xdist takes all for named
        stated: Sequence[str] = config.workerinput["harness_named"]
        return stated
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return ()
    names = (arg.partition("[")[0].partition("::")[0] for arg in config.args)
    return [os.path.normpath(config.invocation_params.dir / name) for name in names]


def name_of(case: str) -> str:
    """Return the name of a test: pytest takes all from the first bracket on for parameters."""
    return f"{_BEFORE}{case}{_AFTER}"


def is_cell(name: str) -> bool:
    return name.startswith(_BEFORE)


def case_of(name: str) -> str:
    return name.removeprefix(_BEFORE).removesuffix(_AFTER)


def profile(config: pytest.Config) -> str:
    return str(config.getoption(PROFILE) or config.getini(PROFILE))


def folder(config: pytest.Config) -> Path:
    """Return the folder of the run; the same in every worker of pytest-xdist."""
    return config.stash.setdefault(_FOLDER, _folder(config))


def _folder(config: pytest.Config) -> Path:
    if hasattr(config, "workerinput"):
        return Path(config.workerinput["harness_run"])
    here = config.invocation_params.dir
    if config.getoption(RUN_DIR):
        return here / Path(config.getoption(RUN_DIR))
    now = datetime.datetime.now(datetime.UTC)
    return here / "runs" / f"{now:%Y%m%d-%H%M%S}-{profile(config)}-pytest-{os.getpid()}"
