import hashlib
import json
import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from harness.artifacts.cache import Cache
from harness.cli import app
from harness.core.errors import UsageProblem
from harness.core.records import OutcomeKind
from harness.run import export_fixtures
from harness.run.export_fixtures import Selection
from harness.run.load_run import Run
from harness.write import state_store
from tests.builders import fixture_run
from tests.builders.fixture_run import STEPS, WRITER
from tests.wheel import ROOT

PAGE: Final = (ROOT / "docs" / "fixtures.md").read_text(encoding="utf-8")
READER: Final = PAGE.partition("```python\n")[2].partition("```")[0]
EVERY: Final = Selection()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def run(tmp_path: Path, cache: Cache) -> Run:
    return fixture_run.make(tmp_path / "run", cache)


def exported(run: Run, cache: Cache, folder: Path, which: Selection = EVERY) -> dict[str, Any]:
    """Export; return the manifest as a program reads it."""
    export_fixtures.export(run, cache, folder, which)
    return dict(json.loads((folder / "manifest.json").read_text("utf-8")))


def steps(manifest: dict[str, Any]) -> dict[int, dict[str, Any]]:
    (variant,) = manifest["variants"]
    return {entry["step"]: entry for entry in variant["steps"]}


def questions(folder: Path, step: dict[str, Any]) -> dict[str, Any]:
    """Return what must be answered after a step, by the query."""
    path = folder / step["fixture"]["expected"]["path"]
    return {load["query"]: load for load in json.loads(path.read_text("utf-8"))["questions"]}


def test_the_entries_of_the_catalog_name_the_exported_folder(
    run: Run, cache: Cache, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (variant,) = exported(run, cache, out)["variants"]
    for fixture in (entry["fixture"] for entry in variant["steps"]):
        text = (out / fixture["catalog"]["path"]).read_text(encoding="utf-8")
        assert "{location}" not in text
        assert str(out / fixture["table"]) in text


def test_the_manifest_tells_of_every_file_with_its_size_and_hash(
    run: Run, cache: Cache, tmp_path: Path
) -> None:
    manifest = exported(run, cache, tmp_path / "out")
    (variant,) = manifest["variants"]
    result = [entry["fixture"] for entry in variant["steps"]]
    sums = [*(file for entry in result for file in entry["files"]), variant["text"]]
    sums += [entry[name] for entry in result for name in ("expected", "catalog")]
    there = {
        str(path.relative_to(tmp_path / "out"))
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }
    assert {sum_["path"] for sum_ in sums} | {"manifest.json"} == there
    for sum_ in sums:
        data = (tmp_path / "out" / sum_["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (sum_["size"], sum_["sha256"])
    assert all(entry["folders"] == [f"{entry['table']}/.hoodie/archived"] for entry in result)
    assert manifest["writers"] == {WRITER: "stock"}


def test_what_must_be_answered_follows_the_scenario(run: Run, cache: Cache, tmp_path: Path) -> None:
    result = steps(exported(run, cache, tmp_path / "out"))
    asked = questions(tmp_path / "out", result[STEPS])
    whole = asked["all"]
    assert [(entry["name"], entry["id"]) for entry in whole["columns"]][-1] == ("g", 6)
    assert [row[0] for row in whole["rows"]] == ["2", "3", "4"]
    assert [row[-1] for row in whole["rows"]] == ["f6s2r2", "f6s2r3", "f6s4r4"]
    assert (whole["table"], whole["order"], whole["back_to"]) == ("t", "any", None)
    price, day, at = whole["rows"][0][2:5]
    assert re.fullmatch(r"\d+\.\d\d", price)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", at)
    assert asked["count_all"]["rows"] == [[3]]
    assert asked["count_all"]["columns"] == [{"name": "count(*)", "type": "long", "id": None}]
    assert "column(f1)" not in asked, "the column has another name by now"
    assert asked["null(ts)"]["where"] == [
        {"column": "ts", "test": "null", "value": None, "type": "", "more": []}
    ]
    before = questions(tmp_path / "out", result[2])["column(f1)"]
    assert before["select"] == ["id", "f1"]
    assert before["rows"][0] == ["1", "f6s1r1"]


def test_a_step_that_was_not_applied_has_no_fixture_and_the_manifest_says_why(
    cache: Cache, tmp_path: Path
) -> None:
    kinds = {2: OutcomeKind.REFUSED, 3: OutcomeKind.SKIPPED, 4: OutcomeKind.UNKNOWN}
    run = fixture_run.make(tmp_path / "run", cache, kinds)
    result = steps(exported(run, cache, tmp_path / "out"))
    assert {step: entry["left_out"] for step, entry in result.items()} == {
        **dict.fromkeys((0, 1), ""),
        2: "refused: no such column",
        3: "skipped: skipped: of step 3",
        4: "unknown: unknown: of step 4",
        5: "nothing is known of the table since an earlier step",
    }
    assert [step for step, entry in result.items() if entry["fixture"]] == [0, 1]
    assert result[2]["statements"] == ["step 2 of {database}.t"]


@pytest.mark.parametrize(
    ("which", "taken"),
    [
        (Selection("rewrites=some]"), range(STEPS + 1)),
        (Selection("/s3"), [3]),
        (Selection(formats=("hudi-cow",)), range(STEPS + 1)),
    ],
)
def test_what_is_not_selected_is_left_out_and_reported(
    run: Run, cache: Cache, tmp_path: Path, which: Selection, taken: range | list[int]
) -> None:
    result = steps(exported(run, cache, tmp_path / "out", which))
    assert [step for step, entry in result.items() if entry["fixture"]] == list(taken)
    rest = {entry["left_out"] for entry in result.values() if not entry["fixture"]}
    assert rest <= {"not selected"}


@pytest.mark.parametrize("which", [Selection("nowhere"), Selection(formats=("iceberg",))])
def test_where_nothing_is_selected_nothing_is_made(
    run: Run, cache: Cache, tmp_path: Path, which: Selection
) -> None:
    with pytest.raises(UsageProblem, match="no step is selected"):
        export_fixtures.export(run, cache, tmp_path / "out", which)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_refused_and_an_empty_one_is_not(
    run: Run, cache: Cache, tmp_path: Path
) -> None:
    (out := tmp_path / "out").mkdir()
    (out / "mine").touch()
    for folder in (out, out / "mine"):
        with pytest.raises(UsageProblem, match="is not empty"):
            export_fixtures.export(run, cache, folder, EVERY)
    assert [path.name for path in out.iterdir()] == ["mine"]
    (out / "mine").unlink()
    assert exported(run, cache, out)


def of_a_state(cache: Cache, run: Run, change: Callable[[Path], None]) -> None:
    """Change the folder of a run's last state, and what its record says of it."""
    folder = cache.states() / run.states[-1].digest
    for path in (folder, folder / "table", folder / "state.json"):
        path.chmod(0o755)
    change(folder)
    state = state_store._read(folder.name, folder)
    listed = replace(state.frozen, listing=state_store._list(folder / "table"))
    (folder / "state.json").write_bytes(state_store._ADAPTER.dump_json(listed))


def test_a_table_that_is_gone_ends_it_with_what_to_do_and_leaves_nothing(
    run: Run, cache: Cache, tmp_path: Path
) -> None:
    folder = cache.states() / run.states[2].digest
    folder.chmod(0o755)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(UsageProblem, match="run the profile again"):
        export_fixtures.export(run, cache, tmp_path / "out", EVERY)
    assert not list(tmp_path.glob("*out*"))


def test_a_link_in_a_table_is_refused_and_leaves_nothing(
    run: Run, cache: Cache, tmp_path: Path
) -> None:
    of_a_state(cache, run, lambda folder: (folder / "table" / "x").symlink_to("/etc/passwd"))
    with pytest.raises(UsageProblem, match="is a link, or leads out of its table"):
        export_fixtures.export(run, cache, tmp_path / "out", EVERY)
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.parametrize("path", ["../../x", "/etc/passwd", "a/../../x"])
def test_a_path_that_leads_out_of_its_table_is_refused(run: Run, cache: Cache, path: str) -> None:
    state = state_store.load(cache, run.states[-1].digest)
    assert state
    with pytest.raises(UsageProblem, match="leads out of its table"):
        export_fixtures._inside(state, path)


def test_the_reader_of_the_page_reads_what_a_reader_by_name_can(
    run: Run, cache: Cache, tmp_path: Path
) -> None:
    exported(run, cache, tmp_path / "out")
    (tmp_path / "check_fixtures.py").write_text(READER, encoding="utf-8")
    assert READER.count("\n") <= 50
    check = runpy.run_path(str(tmp_path / "check_fixtures.py"))["check"]
    result = {step: right for _, step, right in check(tmp_path / "out")}
    assert result == {0: True, 1: True, 2: True, 3: False, 4: False, 5: False}
    with next((tmp_path / "out").rglob("*.base")).open("ab") as file:
        file.write(b"x")
    with pytest.raises(AssertionError, match="base"):
        list(check(tmp_path / "out"))


def test_the_command_tells_what_it_made(
    run: Run,
    cache: Cache,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(cache.root))
    out = tmp_path / "out"
    asked = ["export-fixtures", str(run.folder), str(out), "-k", "/s1", "--json"]
    assert app.main(asked) == 0
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (end["event"], end["fixtures"], end["left_out"]) == ("end", 1, STEPS)
    assert app.main(asked[:-1]) == 2
    assert f"{out} is not empty" in capsys.readouterr().err.replace("\n", "")
    assert app.main([*asked[:2], str(tmp_path / "b"), "--format", "hudi-mor"]) == 2
    assert "did you mean 'hudi-cow'?" in capsys.readouterr().err
