"""A disk that fills up during a run: it is reported, and nothing of the run is lost."""

import shutil
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cli import app
from harness.core.progress import Count
from harness.core.records import Answer
from harness.read import read_states
from harness.read.reader_servers import ReadContext
from harness.run import load_run, pipeline
from harness.run.load_run import Run
from harness.scenario.cells import Plan, Variant
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.state_store import States
from harness.write.writer_pool import WriteContext
from tests.full_disk import full_disk

RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"
FOUND, BROKEN = 1, 3
RECORDS = (load_run.STATES, load_run.ANSWERS, load_run.VERDICTS)


class Engines:
    """A writer, and readers that wait until it has written all; they do what was recorded."""

    def __init__(self, whole: Run) -> None:
        self.whole = whole

    def write(self, variants: list[Variant], _: WriteContext) -> Iterator[VariantResult]:
        for variant in variants:
            records = (state for state in self.whole.states if state.variant == variant.id)
            states = {(variant.id, 0): variant}
            yield VariantResult(tuple(records), states)  # type: ignore[arg-type]

    def read(
        self, plan: Plan, states: Iterable[States], _: ReadContext, __: Count
    ) -> Iterator[Answer]:
        written = {variant for some in list(states) for variant, _ in some}
        for cell in plan.cells:
            if cell.variant in written:
                yield self.whole.answers[cell.case]


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was planned and nothing more."""
    engines = Engines(load_run.load(RECORDED))
    monkeypatch.setattr(pipeline, "fetch_all", lambda *_: None)
    monkeypatch.setattr(write_variants, "write", engines.write)
    monkeypatch.setattr(read_states, "read", engines.read)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copyfile(RECORDED / load_run.INFO, folder / load_run.INFO)
    return folder


def nothing(*_: object) -> Iterator[Any]:
    """Yield nothing."""
    yield from ()


def resume(folder: Path) -> int:
    """Go on with a run to its end, that of its threads as well: give the status."""
    others = set(threading.enumerate())
    status = app.main(["run", "--resume", "--quiet", "--run-dir", str(folder)])
    for thread in set(threading.enumerate()) - others:
        thread.join(60)
    return status


@pytest.mark.parametrize(("name", "size"), [(load_run.STATES, 20_000), (load_run.ANSWERS, 100_000)])
def test_a_run_whose_records_found_no_room_is_gone_on_with_as_if_they_had(
    name: str, size: int, planned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    undisturbed = Path(shutil.copytree(planned, tmp_path / "undisturbed"))
    assert resume(undisturbed) == FOUND
    with full_disk(size):
        assert resume(planned) == BROKEN
    assert (
        f"cannot write {planned / name}: the disk is full; free some space"
        in capsys.readouterr().err
    )
    assert (planned / name).stat().st_size == size
    assert not (planned / load_run.VERDICTS).exists()
    assert resume(planned) == FOUND
    for text_ in RECORDS:
        assert (planned / text_).read_bytes() == (undisturbed / text_).read_bytes()


def test_a_plan_that_found_no_room_is_no_run_and_its_folder_can_be_used_again(
    planned: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "mine"
    begin = ["run", "--quiet", "--profile", "findings-a5", "--run-dir", str(folder)]
    with full_disk(1000):
        assert app.main(begin) == BROKEN
    message = f"cannot write {folder / load_run.INFO}: the disk is full; free some space"
    assert message in capsys.readouterr().err
    assert not (folder / load_run.INFO).exists()
    monkeypatch.setattr(write_variants, "write", nothing)
    monkeypatch.setattr(read_states, "read", nothing)
    assert app.main(begin) == BROKEN
    assert len(load_run.load(folder).info.cells) > 100
    assert not list(folder.glob("*.part"))
