"""How often there is each verdict on each reader, as text."""

from collections import Counter
from pathlib import Path

from harness.run.load_run import Run

NAME = "toy"


def write(run: Run, folder: Path) -> Path:
    """Write the report into a folder."""
    counts = Counter((verdict.reader, str(verdict.verdict)) for verdict in run.verdicts)
    lines = (f"{reader}: {number} {what}\n" for (reader, what), number in sorted(counts.items()))
    path = folder / "toy.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path
