"""Things are found by name; duplicates and broken ones are reported with their packages."""

from pathlib import Path

import pytest

from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.registry import Registry
from tests.toys.package import install

MODULE = "class Widget:\n    NAME = 'other'\n\nNINE = 9\n"


class Interface:
    """What every widget has."""

    NAME: str

    def turn(self) -> None: ...


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path, with a module of a package."""
    (tmp_path / "widgets.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def registry() -> Registry[object]:
    return Registry("widget", lambda: {"ours": 1})


def test_what_a_package_adds_stands_beside_what_is_ours_and_else_there_is_nothing(
    folder: Path,
) -> None:
    install(folder, {"widgets": {"nine": "widgets:NINE"}})
    both = registry()
    assert both.names() == ("nine", "ours")
    assert both.all() == {"nine": 9, "ours": 1}
    with pytest.raises(UsageProblem, match="unknown widget 'none'; did you mean 'nine'"):
        both.load("none")


def test_a_name_of_ours_cannot_be_taken(folder: Path) -> None:
    install(folder, {"widgets": {"ours": "widgets:NINE"}})
    both = "two widgets are called 'ours': the harness and package toys"
    with pytest.raises(EnvironmentProblem, match=both):
        registry().names()


def test_two_packages_cannot_have_one_name(folder: Path) -> None:
    for name in ("one", "other"):
        install(folder, {"widgets": {"nine": "widgets:NINE"}}, name)
    both = r"'nine': package (one|other) 1\.0 and package (one|other) 1\.0 have one"
    with pytest.raises(EnvironmentProblem, match=both):
        registry().load("ours")


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("widgets:TEN", "widgets:TEN: AttributeError: module 'widgets' has no attribute 'TEN'"),
        ("gone:NINE", "gone:NINE: ModuleNotFoundError: No module named 'gone'"),
        ("widgets:Widget", "it calls itself 'other'"),
    ],
)
def test_what_cannot_be_used_is_reported_with_its_package(
    folder: Path, target: str, why: str
) -> None:
    install(folder, {"widgets": {"nine": target}})
    with pytest.raises(
        EnvironmentProblem, match=f"the widget 'nine' of package toys 1.0 cannot be used: {why}"
    ):
        registry().load("nine")


def test_an_object_of_an_older_interface_is_refused_with_what_it_lacks_and_where_to_read(
    folder: Path,
) -> None:
    (folder / "old_widgets.py").write_text("class Old:\n    NAME = 'old'\n")
    install(folder, {"widgets": {"old": "old_widgets:Old"}})
    with pytest.raises(
        EnvironmentProblem,
        match=r"the widget 'old' of package toys 1\.0 cannot be used: it is made for another "
        r"version of the harness, and has no turn; see docs/contributing\.md",
    ):
        Registry("widget", dict, Interface).load("old")
