"""The evidence that comes with the harness: asks its profiles, and makes one file of the runs.

    python -m tools.evidence run runs/evidence
    python -m tools.evidence build runs/evidence/*

`run` asks every profile of evidence.yaml, and goes on where it was cut off; `build` makes
harness/comparison/evidence.zip of the judged cells of runs.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import harness
from harness.comparison import evidence
from harness.core.records import VerdictKind
from harness.core.yaml_reader import load_yaml
from harness.run import load_run

PROFILES: Final = Path(__file__).with_suffix(".yaml")
COMMIT: Final = "commit.txt"
"""In a run's folder: the harness that ran it."""
ENDED: Final = "report.html"
"""Is written last: a run without it was cut off."""
_GIT: Final = ("git", "-C", str(PROFILES.parent), "rev-parse", "HEAD")


def profiles() -> tuple[str, ...]:
    text = PROFILES.read_text(encoding="utf-8")
    return load_yaml(tuple[str, ...], text, str(PROFILES), "list of profiles")[0]


def head() -> str:
    return subprocess.run(_GIT, capture_output=True, text=True, check=True).stdout.strip()


def run(folder: Path) -> None:
    """Ask every profile that was not asked to its end; a failure of one stops no other."""
    for profile in profiles():
        at = folder / profile
        if (at / ENDED).exists():
            print(f"{profile}: there already")
            continue
        begun = at.exists()
        at.mkdir(parents=True, exist_ok=True)
        planned = ["--resume"] if begun else ["--profile", profile]
        command = [sys.executable, "-m", "harness", "run", *planned, "--run-dir", str(at), "--show"]
        status = subprocess.run(command, check=False).returncode
        (at / COMMIT).write_text(head() + "\n", encoding="ascii")
        print(f"{profile}: ended with {status}")


def build(folders: Sequence[Path], commit: str, out: Path) -> None:
    builder = evidence.Builder(harness.__version__)
    for folder in folders:
        judged = load_run.load(folder)
        unknown = sum(verdict.verdict is VerdictKind.UNKNOWN for verdict in judged.verdicts)
        of = folder / COMMIT
        builder.add(judged, of.read_text(encoding="ascii").strip() if of.exists() else commit)
        print(f"{folder.name}: {len(judged.verdicts):,} cells, {unknown:,} unknown")
    builder.write(out)
    print(f"{out}: {out.stat().st_size:,} bytes")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("run", help="ask the profiles").add_argument("folder", type=Path)
    making = verbs.add_parser("build", help="make the file of judged runs")
    making.add_argument("runs", nargs="+", type=Path)
    making.add_argument("--commit", default="", help="the harness of runs that do not say theirs")
    making.add_argument("--out", type=Path, default=evidence.FILE)
    given = parser.parse_args()
    if given.verb == "run":
        run(given.folder)
    else:
        build(given.runs, given.commit or head(), given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
