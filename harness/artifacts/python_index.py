"""Files of the Python index, fetched by pip by exact version and SHA-256.

pip is asked rather than the index itself because it brings the user's own index, proxy and
certificates. It checks the hash before it looks into a file.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.repository import without_login
from harness.core.errors import EnvironmentProblem

ANY: Final = "any"
"""What is for every machine."""
PIP_S: Final = 1800.0
"""How long a download may take."""


def machine() -> str:
    """Return what this machine is called where files differ by it: `linux-x86_64`."""
    return f"{platform.system().lower()}-{platform.machine()}"


def machines() -> tuple[str, ...]:
    """Return what a file for this machine and this Python may be for, the narrowest first.

    A wheel that keeps to the stable interface of Python is for the machine alone (PEP 384).
    """
    return f"{machine()}-cp{sys.version_info.major}{sys.version_info.minor}", machine(), ANY


def _pip_failed(name: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"pip could not download {name}: {reason}")


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file of the index. `size` is in bytes."""

    project: str
    version: str
    size: int
    sha256: str
    source: bool = False
    """Whether it is a source archive; else a wheel."""

    @property
    def name(self) -> str:
        return f"{self.project}=={self.version}"


def download(file: IndexFile, work: Path) -> Path:
    """Let pip download a file into a folder and check its hash.

    Raises EnvironmentProblem: it cannot be had.
    """
    requirements = work / "requirements.txt"
    requirements.write_text(f"{file.name} --hash=sha256:{file.sha256}\n")
    kind = "--no-binary=:all:" if file.source else "--only-binary=:all:"
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", kind, "--require-hashes"),
        *("--requirement", str(requirements), "--dest", str(work)),
    ]
    try:
        # With the user's own variables: pip finds its index, proxy and certificates there.
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PIP_S,
        )
    except subprocess.TimeoutExpired as late:
        raise _pip_failed(file.name, f"it took longer than {PIP_S:g} s") from late
    files = sorted(work.glob("*.tar.gz" if file.source else "*.whl"))
    if done.returncode or not files:
        raise _pip_failed(file.name, _last_lines(done.stdout + done.stderr))
    return files[0]


def _last_lines(text: str) -> str:
    output = without_login(" / ".join(text.splitlines()[-3:]).strip())
    return output or "it said nothing"
