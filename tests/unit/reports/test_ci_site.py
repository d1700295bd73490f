from __future__ import annotations

from pathlib import Path

import pytest

from harness.reports import ci_site
from harness.run.causes import ScenarioPlace

GITHUB = {
    "GITHUB_SERVER_URL": "https://git.example",
    "GITHUB_REPOSITORY": "us/lake",
    "GITHUB_SHA": "abc",
    "GITHUB_RUN_ID": "7",
}
GITLAB = {
    "CI_PROJECT_URL": "https://lab.example/us/lake",
    "CI_COMMIT_SHA": "abc",
    "CI_JOB_URL": "https://lab.example/us/lake/-/jobs/7",
}


@pytest.mark.parametrize(
    ("variables", "root", "link", "job"),
    [
        (
            GITHUB,
            "GITHUB_WORKSPACE",
            "https://git.example/us/lake/blob/abc/my/a%20b.yaml#L9",
            "https://git.example/us/lake/actions/runs/7",
        ),
        (
            GITLAB,
            "CI_PROJECT_DIR",
            "https://lab.example/us/lake/-/blob/abc/my/a%20b.yaml#L9",
            "https://lab.example/us/lake/-/jobs/7",
        ),
        ({"BUILD_URL": "https://j.example/1/"}, "WORKSPACE", "", "https://j.example/1/"),
        ({}, "", "", ""),
    ],
)
def test_a_line_has_its_path_and_the_address_that_the_build_server_gives_it(
    variables: dict[str, str],
    root: str,
    link: str,
    job: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    site = ci_site.of({**variables, **({root: str(tmp_path)} if root else {})})
    location = ScenarioPlace(tmp_path / "my" / "a b.yaml", 9)
    assert (site.path(location), site.link(location), site.job) == ("my/a b.yaml", link, job)
    assert site.shows_lines == bool(link)


@pytest.mark.parametrize(
    "path", ["../elsewhere/a.yaml", ".venv/lib/python3.11/site-packages/harness/scenarios/a.yaml"]
)
def test_what_is_in_no_repository_has_no_path(path: str, tmp_path: Path) -> None:
    (root := tmp_path / "work").mkdir()
    site = ci_site.of({**GITHUB, "GITHUB_WORKSPACE": str(root)})
    assert site.path(ScenarioPlace(root / path, 9)) == ""
    assert site.link(ScenarioPlace(root / path, 9)) == ""
    assert site.path(None) == ""
