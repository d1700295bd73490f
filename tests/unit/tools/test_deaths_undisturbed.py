"""`tools/deaths_undisturbed.py`: what is there before anything is struck."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

Known = Mapping[tuple[str, bool], object]


@dataclass
class Runs:
    """Stands for `deaths_runs.RunProcess`: runs that end at once."""

    statuses: dict[str, int] = field(default_factory=dict)
    """Of a verb, where it is not 0."""
    begun: list[tuple[str, str]] = field(default_factory=list)
    """The verb and the selection of each."""

    def run(self, folder: Path, cache: Path, *options: str, verb: str = "run") -> SimpleNamespace:
        self.begun.append((verb, options[options.index("-k") + 1]))
        (folder / "engines").mkdir(parents=True)  # no run has a folder that is there
        status = self.statuses.get(verb, 0)
        process = SimpleNamespace(poll=lambda: status)
        return SimpleNamespace(folder=folder, process=process, finish=lambda **_: status)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = importlib.import_module("tools.deaths_undisturbed")
    monkeypatch.setattr(found, "verdicts", lambda _: {"case": "its verdict"})
    return found


@pytest.fixture
def runs(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Runs:
    found = Runs()
    monkeypatch.setattr(module, "RunProcess", found.run)
    return found


@pytest.fixture
def prepare(module: ModuleType, tmp_path: Path) -> Callable[[], Known]:
    """Return a function that prepares an experiment in the same folder, as each go does."""
    kinds = [
        module.DeathKind("trino-368", "trino-368"),
        module.DeathKind("harness", "trino-368"),
        module.DeathKind("harness", "hive-3.1.3", writes=True),
    ]

    def go() -> Known:
        known: dict[tuple[str, bool], object] = {}
        experiment = module.Experiment(tmp_path, module.OutcomeLog(tmp_path, 1), known)
        module.prepare(experiment, kinds, 1)
        return known

    return go


def test_engines_and_tables_are_there_before_what_is_measured(
    runs: Runs, prepare: Callable[[], Known]
) -> None:
    known = prepare()
    expected = [
        ("write", "/all/trino-368"),
        ("write", "/all/hive-3.1.3"),
        ("run", "/all/trino-368"),
        ("run", "/all/hive-3.1.3"),
    ]
    assert runs.begun == expected
    assert known.keys() == {("trino-368", False), ("hive-3.1.3", True)}
    assert prepare() == known
    assert runs.begun == expected  # the next go has them


@pytest.mark.parametrize("verb", ["write", "run"])
def test_what_could_not_be_prepared_is_told_and_done_by_the_next_go(
    runs: Runs, prepare: Callable[[], Known], verb: str
) -> None:
    runs.statuses[verb] = 3
    with pytest.raises(SystemExit, match=r"trino-368.*\.log"):
        prepare()
    runs.statuses.clear()
    assert prepare()
