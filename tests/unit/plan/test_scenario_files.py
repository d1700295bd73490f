"""Files below a folder of scenarios are read or reported; none is ignored."""

import os
from pathlib import Path

import pytest

from harness.core.errors import ScenarioProblem
from harness.plan import load_scenarios
from tests.builders.scenario_texts import MOVED


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one scenario in a family, its baseline, and profiles."""
    family = tmp_path / "my" / "orders"
    family.mkdir(parents=True)
    (family / "a.yaml").write_text(MOVED, encoding="utf-8")
    (family / "a.known.yaml").touch()
    (family.parent / "profiles.yaml").touch()
    (family.parent / "README.md").touch()
    return family.parent


def names(folder: Path) -> list[str]:
    return [scenario.name for scenario in load_scenarios(folder)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("b.yml", r"only files that end in \.yaml are read; call it b\.yaml$"),
        ("b.YAML", r"only files that end in \.yaml are read; call it b\.yaml$"),
    ],
)
def test_a_file_that_ends_nearly_as_scenarios_do_is_reported(
    name: str, message: str, folder: Path
) -> None:
    path = folder / "orders" / name
    path.write_text(MOVED, encoding="utf-8")
    with pytest.raises(ScenarioProblem, match=rf"^{path}:1: {message}"):
        load_scenarios(folder)


def test_hidden_files_and_folders_are_left_out(folder: Path) -> None:
    (folder / ".github" / "workflows").mkdir(parents=True)
    (folder / ".self").symlink_to(".self")
    for name in (".github/workflows/ci.yml", ".gitlab-ci.yml", ".pre-commit-config.yaml"):
        (folder / name).write_text("on: push\n", encoding="utf-8")
    assert names(folder) == ["orders/a"]


def test_a_link_to_a_folder_is_followed(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.yaml").write_text(MOVED, encoding="utf-8")
    (folder / "users").symlink_to(elsewhere)
    assert names(folder) == ["orders/a", "users/b"]


def test_a_link_to_a_folder_around_it_is_reported_and_not_followed_for_ever(folder: Path) -> None:
    (folder / "orders" / "again").symlink_to(folder)
    with pytest.raises(ScenarioProblem, match=r"orders/again:1: this link leads to a folder that"):
        load_scenarios(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_reported(folder: Path) -> None:
    (folder / "users").mkdir(mode=0o000)
    with pytest.raises(ScenarioProblem, match=r"my/users:1: this cannot be read: Permission den"):
        load_scenarios(folder)


def test_what_is_wrong_with_files_and_folders_is_reported_at_once_in_their_order(
    folder: Path,
) -> None:
    (folder / "orders" / "a.yaml").write_text("table: {}\n", encoding="utf-8")
    (folder / "orders" / "b.yml").touch()
    (folder / "z").symlink_to(folder)
    with pytest.raises(ScenarioProblem) as wrong:
        load_scenarios(folder)
    files = [line.partition(":")[0] for line in str(wrong.value).splitlines()]
    assert list(dict.fromkeys(Path(file).name for file in files)) == ["a.yaml", "b.yml", "z"]
