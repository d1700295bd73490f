"""Are runs alike? Their canonical reports, summed and compared byte by byte.

    python tools/alike.py FOLDER RUN [RUN ...]

Writes the verdicts and the reports of each run, without what no two runs have alike
(`canonical.py`), into FOLDER/1, FOLDER/2 and so on, with their SHA-256 (`sha256sum --check
SHA256SUMS`), and says where a file first differs from that of the first run. The reports that lie
in a run's folder have to be what its records give, byte by byte. Status 1 when anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness.core import jsonl
from harness.core.records import StateRecord, Verdict
from harness.reports import html, junit, terminal
from harness.run import load_run as runs
from harness.run.load_run import Run
from tools import canonical

REPORTS: Final = (junit, html, terminal)
FILES: Final = (runs.VERDICTS, *(each.FILE for each in REPORTS))
SUMS: Final = "SHA256SUMS"
SHOWN: Final = 40
"""So many characters are shown before and after the first that differs."""


def verdicts(folder: Path) -> dict[str, str]:
    """Return the canonical verdicts of a run by case, each as its line."""
    names = canonical.names_of(jsonl.read_all(folder / runs.STATES, StateRecord))
    found = jsonl.read_all(folder / runs.VERDICTS, Verdict)
    return {each.case: jsonl.dump(canonical.verdict(each, names)) for each in found}


def write(found: Run, folder: Path) -> dict[str, str]:
    """Write the canonical reports of a run into a folder; give the SHA-256 of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    tidied = canonical.run(found)
    jsonl.write_all(folder / runs.VERDICTS, tidied.recorded.values())
    for report in REPORTS:
        report.write(tidied, folder)
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}
    lines = "".join(f"{sum_}  {name}\n" for name, sum_ in sums.items())
    (folder / SUMS).write_text(lines, encoding="utf-8")
    return sums


def differences(one: Path, other: Path) -> Iterator[str]:
    """Say of two folders of canonical reports where each file first differs."""
    for name in FILES:
        was, now = ((folder / name).read_bytes() for folder in (one, other))
        if was != now:
            yield f"{name}: {first_difference(_text(was), _text(now))}"


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="surrogateescape")  # so that no difference is lost


def first_difference(was: str, now: str) -> str:
    """Return where two texts first differ, and how."""
    pairs = enumerate(zip(was, now, strict=False))
    at = next((at for at, (a, b) in pairs if a != b), min(len(was), len(now)))
    line, start = was.count("\n", 0, at) + 1, was.rfind("\n", 0, at) + 1
    old, new = (each[max(start, at - SHOWN) : at + SHOWN] for each in (was, now))
    return f"line {line}, character {at - start + 1}: {new!r} instead of {old!r}"


def remade_otherwise(found: Run) -> Iterator[str]:
    """Name the reports in a run's folder that are not what its records give."""
    with tempfile.TemporaryDirectory() as folder:
        for report in REPORTS:
            there = found.folder / report.FILE
            if (
                there.exists()
                and there.read_bytes() != report.write(found, Path(folder)).read_bytes()
            ):
                yield f"{there.name} in {there.parent} is not what the records there give"


def different(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the cases whose verdicts are not the same in both."""
    return sorted(case for case in one.keys() | other.keys() if one.get(case) != other.get(case))


def main() -> int:
    """Write and compare the canonical reports; give the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="for the canonical reports")
    parser.add_argument("runs", type=Path, nargs="+", help="folders of finished runs")
    given = parser.parse_args()
    bad = 0
    for number, each in enumerate(given.runs, start=1):
        here, found = given.folder / str(number), runs.load(each)
        print(each)
        for name, sum_ in write(found, here).items():
            print(f"  {sum_}  {name}")
        for line in (*remade_otherwise(found), *differences(given.folder / "1", here)):
            print(f"  {line}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
