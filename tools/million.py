"""Measure what judging, reporting and comparing take, as a run grows to a million cells.

    python tools/million.py RUN build/million --cells 14000 100000 1000000

No engine is started: the recorded variants of a run are repeated under other scenario names until
there are so many cells. The two runs that are compared have the same records. Prints Markdown.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools`

from harness.run.load_run import ANSWERS, INFO, STATES
from tools.shared import table

HARNESS: Final = Path(sys.executable).with_name("harness")
MB: Final = 1024  # the kernel counts kilobytes
LISTS: Final = ("variants", "cells")
MAPPINGS: Final = ("scenarios", "baselines")
"""Of the plan, what is repeated: by the names of variants and scenarios where it is a mapping."""


def repeat(run: Path, folder: Path, cells: int) -> int:
    """Make a run of at least so many cells out of a recorded one; return how many it has."""
    plan = json.loads((run / INFO).read_bytes())
    copies = -(-cells // len(plan["cells"]))
    folder.mkdir(parents=True)
    with (folder / INFO).open("w", encoding="utf-8") as out:
        out.writelines(_plan(plan, copies))
    names = sorted({variant["scenario"] for variant in plan["variants"]})
    for name in (STATES, ANSWERS):
        text = (run / name).read_text(encoding="utf-8")
        with (folder / name).open("w", encoding="utf-8") as out:
            out.writelines(_renamed(text, names, copy) for copy in range(copies))
    return copies * len(plan["cells"])


def _plan(plan: Mapping[str, Any], copies: int) -> Iterator[str]:
    """Yield the text of the plan, a part of each copy at a time: a million cells are many."""
    whole = {name: part for name, part in plan.items() if name not in (*LISTS, *MAPPINGS)}
    yield json.dumps(whole)[:-1]
    names = sorted({variant["scenario"] for variant in plan["variants"]})
    for name in (*LISTS, *MAPPINGS):
        begin, end = "[]" if name in LISTS else "{}"
        yield f', "{name}": {begin}'
        texts = (_renamed(json.dumps(plan[name]), names, copy)[1:-1] for copy in range(copies))
        for at, text in enumerate(filter(None, texts)):
            yield f"{', ' if at else ''}{text}"
        yield end
    yield "}\n"


def _renamed(text: str, names: Iterable[str], copy: int) -> str:
    """Return the text of a copy; the first one is as it was recorded."""
    if copy:
        for name in names:
            for end in '["':  # of a variant's id, and of the name alone
                text = text.replace(f'"{name}{end}', f'"{name}_{copy}{end}')
    return text


def measure(command: Sequence[str], cells: int, log: Path) -> Sequence[str]:
    """Run a command of the harness, and return a row of the table: what it took."""
    began, environment = time.monotonic(), {**os.environ, "COLUMNS": "120"}
    with log.open("w", encoding="utf-8") as out:
        # Not by `subprocess`, which does not say what one child has used.
        redirected = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1)]
        program = [str(HARNESS), *command]
        process = os.posix_spawn(HARNESS, program, environment, file_actions=redirected)
        _, status, used = os.wait4(process, 0)
    cpu_s = used.ru_utime + used.ru_stime
    return (
        " ".join(part for part in command if not part.startswith(("/", "--"))),
        f"{cells:,}",
        str(os.waitstatus_to_exitcode(status)),
        f"{time.monotonic() - began:.1f}",
        f"{cpu_s:.1f}",
        f"{cpu_s * 1000 / cells:.2f}",
        f"{used.ru_maxrss / MB:.0f}",
    )


def measured(run: Path, folder: Path, cells: int) -> Iterator[Sequence[str]]:
    """Yield what each command takes on a run of so many cells, which is removed at last."""
    folder = folder.resolve()
    one, other = folder / "one", folder / "other"
    try:
        made = repeat(run, one, cells)
        for command in (["judge"], ["report", "terminal"], ["report", "junit"]):
            yield measure([*command, "--run-dir", str(one)], made, folder / f"{command[-1]}.txt")
        shutil.copytree(one, other, copy_function=_linked)
        yield measure(["compare", str(one), str(other)], made, folder / "compare.txt")
        yield measure(["report", "html", "--run-dir", str(one)], made, folder / "html.txt")
    finally:
        for path in (one, other):
            shutil.rmtree(path, ignore_errors=True)


def _linked(source: str, target: str) -> None:
    with suppress(FileNotFoundError):  # the pointer of a run in the making
        os.link(source, target)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="a recorded run, which is not changed")
    parser.add_argument("folder", type=Path, help="a new folder; 5 GB for a million cells")
    parser.add_argument("--cells", type=int, nargs="+", default=[14_000, 100_000, 1_000_000])
    options = parser.parse_args()
    head = ("command", "cells", "status", "s", "CPU s", "CPU ms a cell", "memory at most, MB")
    print("\n".join(table(head, [])))
    for cells in options.cells:
        for row in measured(options.run, options.folder, cells):
            print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
