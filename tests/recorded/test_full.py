"""What the recording of the profile `full` holds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.scenario.cells import Cell
from tests.builders import recorded_lines, recordings
from tests.builders.recorded_lines import Parsed

FULL: Final = Path(__file__).parent / "full"
VARIANTS: Final = 410
CELLS: Final = 41_431


def parsed(name: str) -> Iterator[Parsed]:
    """Read the lines alone: to make answers of them all takes far longer."""
    for folder in recordings.folders(FULL):
        path = recorded_lines.find(folder, name)
        assert path, folder
        yield recorded_lines.parse(recorded_lines.read(path))


def cells(file: Parsed) -> Iterator[tuple[Cell, str]]:
    for variant, of_variant in file.variants.items():
        yield from recorded_lines.cells(variant, of_variant)


def test_the_recording_holds_the_whole_profile_and_every_question_was_put() -> None:
    planned = {variant for file in parsed(recordings.VARIANTS) for variant in file.variants}
    answered = dict(cell for file in parsed(recordings.ANSWERS) for cell in cells(file))
    assert len(planned) == VARIANTS
    assert {cell.variant for cell in answered} == planned
    assert len(answered) == CELLS
    assert recordings.NEVER_ASKED not in answered.values()
