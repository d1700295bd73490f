"""The wheel, built from the files that a clone would have, and what is done with it elsewhere."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("harness", "containers", "reports", "scenarios")
FILES = ("pyproject.toml", "README.md", "LICENSE")


def run(*command: str, cwd: Path) -> str:
    """Run a command that must succeed; what it prints."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(folder: Path) -> Path:
    """Build the wheel into a folder, from a copy: the checkout stays as it is."""
    (checkout := folder / "checkout").mkdir()
    _tracked_copy(checkout)
    made = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder))
    run(*made, cwd=checkout)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _tracked_copy(target: Path) -> None:
    """The files that a clone would have: a build in the checkout would pick up what lies about."""
    expected = (*FOLDERS, *FILES)
    listed = run("git", "ls-files", "-co", "--exclude-standard", "-z", "--", *expected, cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name, follow_symlinks=False)
