"""Ten runs of one story over three versions of Trino and of Hudi, and their history.

    python tools/measure/ten_runs.py FOLDER > docs/results/history.md

From run to run one thing changes, as in a build that is repeated for weeks: nothing, the reader,
the writer, a scenario, a setting; once two things at once. Runs that are done already are not done
again. Prints Markdown: the commands, and what `harness history` says afterwards.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.plan import shipped
from harness.run import load_run
from tools.markdown_table import table

HARNESS: Final = (sys.executable, "-m", "harness")
STORY: Final = "story"
SCENARIOS: Final = ("a5", "move", "drop_and_readd")
SPARK: Final = "spark-3.5.8-hudi-1.2.0{schema-on-read=on}"
"""A reader that stays the same."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One of the runs."""

    trino: str
    hudi: str
    changed: str
    added: str = ""
    """A step that the scenario `move` has from now on."""

    @property
    def options(self) -> tuple[str, ...]:
        """Return what is said of it to `harness run`."""
        writer, readers = f"spark-3.5.8-hudi-{self.hudi}", (f"trino-{self.trino}", SPARK)
        named = [each for reader in readers for each in ("--reader", reader)]
        return (STORY, "--profile", "quick-start", "--writer", writer, *named, "--show")


RUNS: Final = (
    PlannedRun("368", "0.15.0", "the first run"),
    PlannedRun("368", "0.15.0", "nothing"),
    PlannedRun("476", "0.15.0", "the reader"),
    PlannedRun("476", "0.15.0", "a scenario: one more step in `move`", "  - touch\n"),
    PlannedRun("476", "1.0.2", "the writer"),
    PlannedRun("476", "1.0.2", "nothing"),
    PlannedRun("483", "1.0.2", "the reader"),
    PlannedRun("476", "1.0.2", "the reader, back again"),
    PlannedRun("483", "1.2.0", "the reader and the writer"),
    PlannedRun("483{use-column-names=false}", "1.2.0", "a setting of the reader"),
)
ASKED: Final = (
    ("history", "list"),
    ("history",),
    ("history", "--reader", "trino-*", "-k", "move[hudi-mor"),
)


def main() -> None:
    """Do the runs that are left, and print the page."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("folder", type=Path, help="a new folder, or that of runs to go on with")
    folder: Path = options.parse_args().folder.resolve()
    _write_story(folder / STORY)
    for number, each in enumerate(RUNS, start=1):
        if each.added:
            _add(folder / STORY / "move.yaml", each.added)
        if not (folder / place(number) / load_run.VERDICTS).exists():
            command = [*HARNESS, "run", *each.options, "--run-dir", place(number), "--quiet"]
            ended = subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False)
            print(f"{place(number)}: status {ended.returncode}", file=sys.stderr)
    print("\n".join(page(folder)))


def place(number: int) -> str:
    """Return the folder of a run, in which its place among them stands first."""
    run = RUNS[number - 1]
    return f"runs/{number:02}-trino-{run.trino.partition('{')[0]}-hudi-{run.hudi}"


def page(folder: Path) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# A history of ten runs\n"
    yield "From run to run one thing changed, as in a build that is repeated. Each was"
    yield f"`harness run {shlex.join(RUNS[0].options)}`, with these versions;"
    yield f"`{STORY}` has copies of {', '.join(f'`hudi/{each}`' for each in SCENARIOS)}.\n"
    rows = [
        (f"`{place(number)}`", f"`trino-{each.trino}`", f"Hudi {each.hudi}", each.changed)
        for number, each in enumerate(RUNS, start=1)
    ]
    yield from table(("run", "beside Spark read by", "written by", "what changed"), rows)
    for asked in (*ASKED, ("compare", *(place(each) for each in (6, 7)))):
        yield f"\n## `harness {shlex.join(asked)}`\n\n```"
        yield said(folder, asked)
        yield "```"


def said(folder: Path, asked: Sequence[str]) -> str:
    """Return what a command prints, without the path of the folder."""
    ended = subprocess.run(
        [*HARNESS, *asked], cwd=folder, stdout=subprocess.PIPE, text=True, check=False
    )
    lines = [line.rstrip().replace(f"{folder}/", "") for line in ended.stdout.splitlines()]
    return "\n".join(lines)


def _write_story(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCENARIOS:
        shutil.copyfile(
            shipped.scenarios_folder() / "hudi" / f"{name}.yaml", folder / f"{name}.yaml"
        )


def _add(scenario: Path, step: str) -> None:
    scenario.write_text(f"{scenario.read_text(encoding='utf-8')}{step}", encoding="utf-8")


if __name__ == "__main__":
    main()
