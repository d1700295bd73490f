"""The build server that a report is made on, by its documented variables.

GitHub: "Variables reference"; GitLab: "Predefined CI/CD variables reference"; Jenkins: "Using
environment variables".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from harness.run.causes import ScenarioLine

ROOTS: Final = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "WORKSPACE")
"""Where the repository is, by the server's variable."""
INSTALLED: Final = "site-packages"
"""What is in such a folder belongs to no repository, also where that folder lies in one."""


@dataclass(frozen=True, slots=True)
class CiSite:
    """A checked-out repository, and where people see it; addresses are empty where not known."""

    root: Path
    files: str = ""
    """The address of the repository's files, in the version that is checked out."""
    job: str = ""

    @property
    def shows_lines(self) -> bool:
        return bool(self.files)

    def path(self, location: ScenarioLine | None) -> str:
        if location is None or INSTALLED in location.path.parts:
            return ""
        file, root = location.path.resolve(), self.root.resolve()
        return file.relative_to(root).as_posix() if file.is_relative_to(root) else ""

    def link(self, location: ScenarioLine | None) -> str:
        if location and self.files and (path := self.path(location)):
            return f"{self.files}/{quote(path)}#L{location.line}"
        return ""


def of(variables: Mapping[str, str]) -> CiSite:
    """Return the build server that environment variables tell of; without one, what is here."""
    root = next(filter(None, map(variables.get, ROOTS)), "") or Path.cwd()
    github, gitlab = variables.get("GITHUB_REPOSITORY"), variables.get("CI_PROJECT_URL")
    if github:
        home = f"{variables.get('GITHUB_SERVER_URL', 'https://github.com')}/{github}"
        files = f"{home}/blob/{variables.get('GITHUB_SHA', 'HEAD')}"
        run = variables.get("GITHUB_RUN_ID", "")
        return CiSite(Path(root), files, f"{home}/actions/runs/{run}" if run else "")
    if gitlab:
        files = f"{gitlab}/-/blob/{variables.get('CI_COMMIT_SHA', 'HEAD')}"
        return CiSite(Path(root), files, variables.get("CI_JOB_URL", ""))
    return CiSite(Path(root), job=variables.get("BUILD_URL", ""))
