"""What a run set out to do: `run.json`, which is written before anything starts."""

from __future__ import annotations

import ctypes
import datetime
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, WrapSerializer

from harness.artifacts import distributions
from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem
from harness.core.metastore_choice import USUAL, MetastoreChoice
from harness.scenario.cells import AskedAgain, Cell, Excluded, Pairs, Partly, Unlike


def give_back() -> None:
    """Give it back to the system, where the C library can: glibc's `malloc_trim(3)`.

    What a parser of a huge text needed is else never used again: Python takes most of its own
    memory past the C library.
    """
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


INFO: Final = "run.json"
MANY_CELLS: Final = 20_000
"""A plan of more cells leaves so much freed memory that it is given back."""
DEFAULTS: Final = "with the engine's defaults"
NOT_COMPARED: Final = "not compared with the engine's defaults"


def _with_shared_texts(cell: Cell) -> Cell:
    """Return a cell whose variant and reader are held once, however many cells have them."""
    texts = map(sys.intern, (cell.variant, cell.reader, cell.view, cell.query))
    variant, reader, view, query = texts
    return Cell(variant, cell.step, reader, view, query)


PlannedCell = Annotated[
    Cell,
    AfterValidator(_with_shared_texts),
    WrapSerializer(lambda cell, plain: plain(cell) | {"case": cell.case}),
]
"""A cell, written with its case so that people find it in the file."""


@dataclass(frozen=True, slots=True)
class StepInfo:
    """A step as reports say it."""

    number: int
    """From 1; 0 is the creation of the table."""
    text: str
    """The operation in a few words: `move column f1 after f2`."""
    changes_schema: bool = False
    quiet: bool = False
    """No questions were planned after it."""
    named: Annotated[str, Field(exclude_if=lambda name: not name)] = ""
    """What scenario files call the operation; empty in the oldest runs."""

    @property
    def operation(self) -> str:
        """Return what scenario files call the operation; what it does, where that is not known."""
        return self.named or self.text


@dataclass(frozen=True, slots=True)
class VariantInfo:
    """A variant as reports say it."""

    id: str
    scenario: str
    format: str
    steps: tuple[StepInfo, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    writers: tuple[str, ...] = ()
    """The distribution that writes each step, the creation first."""
    twin: bool = False
    key: str = ""
    """The name of the key column: it says which row of an answer is which."""
    about: str = ""
    source: str = ""

    @property
    def writer(self) -> str:
        """Return what writes it, in the order of their first steps."""
        return " and ".join(dict.fromkeys(self.writers))

    def step(self, number: int) -> StepInfo:
        """Return the step of that number; one that the plan does not name is called by it."""
        named = (step for step in self.steps if step.number == number)
        if step := next(named, None):
            return step
        return StepInfo(number, f"step {number}" if number else "create the table")


@dataclass(frozen=True, slots=True)
class ReaderInfo:
    """A reader and what really stands behind its name."""

    reader: str
    """`trino-476{use-column-names=false}`"""
    distribution: str
    fidelity: str
    """`stock`, `repackaged: …` or `modified: what`."""
    listens: str = ""
    unlike: tuple[Unlike, ...] | None = None
    """What it has otherwise than the engine by itself, for the formats it was asked about; None:
    not known."""

    @property
    def settings(self) -> str:
        """Say how the reader is set, beside the defaults of its engine."""
        if self.unlike is None:
            return NOT_COMPARED
        return "; ".join(map(str, self.unlike)) or DEFAULTS

    @property
    def by_default(self) -> bool:
        """Return whether nobody chose a setting otherwise than the engine has it by itself."""
        return self.unlike is not None and not any(unlike.named for unlike in self.unlike)


@dataclass(frozen=True, slots=True)
class MetastoreInfo:
    """The metastore that the readers ask through, where it is not the usual one."""

    distribution: str
    upgraded_from: str = ""
    fidelity: Mapping[str, str] = field(default_factory=dict)
    """What all that ran is made of, by the name of its distribution."""


@dataclass(frozen=True, slots=True)
class BaselineInfo:
    """A scenario's baseline as it was when the run was planned."""

    scenario: str = ""
    """The path of the scenario's file, beside which the baseline is; empty when it has none."""
    text: str = ""
    below: str = ""
    """That path from the folder in which the run was planned; empty when it is not below it."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a run set out to do: the content of `run.json`."""

    id: str
    profile: str
    started: datetime.datetime
    version: str
    """Of the harness."""
    variants: tuple[VariantInfo, ...]
    readers: tuple[ReaderInfo, ...]
    cells: tuple[PlannedCell, ...]
    excluded: tuple[Excluded, ...] = ()
    pairs: tuple[Pairs, ...] = ()
    """Of each scenario, where pairs of axis values are covered and not all combinations."""
    partly: tuple[Partly, ...] = ()
    """The readers that are not asked about every variant they can read."""
    scenarios: Mapping[str, str] = field(default_factory=dict)
    """The scenario file's text for each variant's id."""
    baselines: Mapping[str, BaselineInfo] = field(default_factory=dict)
    """By the scenario's name."""
    fresh: bool = False
    """Whether engines are asked again what earlier runs asked; so it is when the run is resumed."""
    ask_again: AskedAgain = AskedAgain.UNEXPLAINED
    metastore: MetastoreInfo | None = None
    locks: Mapping[str, str] = field(default_factory=dict)
    """The lock data of people's own distributions, by name."""

    @property
    def through(self) -> MetastoreChoice:
        """Return the metastore that the readers ask through."""
        metastore_info = self.metastore
        return (
            MetastoreChoice(metastore_info.distribution, metastore_info.upgraded_from)
            if metastore_info
            else USUAL
        )


_INFO: Final = TypeAdapter(RunInfo)


def write_info(folder: Path, info: RunInfo) -> None:
    """Write `run.json`, complete or not at all; the folder is made when it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(folder / INFO) as part:
        part.write_bytes(dump(info))


def dump(info: RunInfo) -> bytes:
    """Return the content of `run.json`."""
    return _INFO.dump_json(info, indent=1) + b"\n"


def check(folder: Path) -> None:
    """Check that a folder is a run's, without reading its plan.

    Raises:
        UsageProblem: it is not.

    """
    if not (folder / INFO).is_file():
        raise UsageProblem(f"{folder} is not a run: it has no {INFO}; name a folder under runs/")


def read_info(folder: Path) -> RunInfo:
    """Read `run.json`; people's own distributions that it holds become known.

    Raises:
        UsageProblem: it is not there, or not what this version writes.

    """
    check(folder)
    path = folder / INFO
    try:
        run_info = _INFO.validate_json(path.read_bytes())
    except ValidationError as wrong:
        raise UsageProblem(f"{path}: {first_wrong(wrong)}; run the profile again") from wrong
    if len(run_info.cells) > MANY_CELLS:
        give_back()
    for name, text in run_info.locks.items():
        if not distributions.is_shipped(name):  # it may be by now
            distributions.register(name, text, f"{path}, lock data of {name}")
    return run_info


def first_wrong(wrong: ValueError) -> str:
    """Return what is wrong with a record, of several things the first, and where in it."""
    if not isinstance(wrong, ValidationError):
        return str(wrong)
    error = wrong.errors(include_url=False)[0]
    where = ".".join(map(str, error["loc"]))
    return f"{where}: {error['msg']}" if where else str(error["msg"])
