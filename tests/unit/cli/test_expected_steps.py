"""What `harness plan --expected` prints, and that a plan of no cell is an error everywhere."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.cli import app, plan_options, show_plan
from harness.cli.plan_options import NamedParts
from harness.scenario.cells import Plan
from tests.builders.scenario_texts import MOVED

WRONG_USE = 2
WIDTH = 100
NAMED = NamedParts(formats=["hudi-cow", "hudi-mor"], readers=["trino-476"])


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "my" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(MOVED, encoding="utf-8")
    return path


def shown(made: Plan, *, every: bool = False, width: int = WIDTH) -> list[str]:
    out = StringIO()
    show_plan.show_expected(made, Console(file=out, width=width), every=every)
    return out.getvalue().splitlines()


def test_each_step_has_its_words_what_is_sent_and_the_table_after_it(mine: Path) -> None:
    made = plan_options.make([mine], None, "", named=NAMED)
    lines = shown(made)
    variant = made.variants[0]
    assert lines[:3] == ["", "A run fills in {database} and {location}.", ""]
    assert lines[3] == variant.id
    steps = [line for line in lines if line.startswith("step ")]
    words = ["create the table", *(step.operation.text() for step in variant.scenario.steps)]
    assert steps[: len(words)] == [f"step {at}: {text}" for at, text in enumerate(words)]
    moved = lines.index(next(line for line in steps if "move column" in line))
    assert lines[moved + 1] == "    alter table {database}.t alter column `f1` after `f2`"
    assert lines[moved + 2] == "    columns: id string, ts long, f2 string, f1 string"
    assert lines[moved + 3].split() == ["id", "ts", "f2", "f1"]
    assert lines[moved + 5].split() == ["1", "201001", "f4s1r1", "f3s1r1"]
    request = [line for line in lines if line.startswith("    columns: ")]
    assert len(request) == 2 * 2, "of two tables at first, and when they are others"


def test_of_each_scenario_and_format_the_first_variant_is_shown_and_the_others_are_counted(
    mine: Path,
) -> None:
    made = plan_options.make([mine], None, "", named=NAMED)
    ids = [variant.id for variant in made.variants]
    assert len(ids) == 4
    few = shown(made)
    assert [id_ for id_ in ids if id_ in few] == ids[:2]
    assert few[-1] == "2 more variants: select others with -k and a part of a name"
    assert [id_ for id_ in ids if id_ in shown(made, every=True)] == ids


@pytest.mark.parametrize("width", [80, WIDTH, 120])
def test_no_line_is_longer_than_the_terminal_is_wide(mine: Path, width: int) -> None:
    lines = shown(plan_options.make([mine], None, "", named=NAMED), every=True, width=width)
    assert max(map(len, lines)) <= width
    assert not any(line.startswith("    ") and not line[4:].strip() for line in lines)


def test_the_command_shows_it(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["plan", str(mine), "--format", "hudi-cow", "--reader", "trino-476"]
    assert app.main([*command, "--expected", "-k", "twin"]) == 0
    message = capsys.readouterr().out
    assert "create table {database}.t" in message
    assert "writers chosen, as none were named: spark-3.5.8-hudi-0.15.0" in message
    assert "more variant" not in message


@pytest.mark.parametrize("verb", ["plan", "write", "run", "fetch"])
@pytest.mark.parametrize("more", [(), ("-k", "mine")])
def test_a_plan_of_no_cell_is_wrong_use_and_says_why(
    mine: Path, verb: str, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    mine.write_text(f"formats: [iceberg]\n{MOVED}", encoding="utf-8")
    more = () if verb == "fetch" else more
    assert app.main([verb, str(mine), *more]) == WRONG_USE
    message = capsys.readouterr().err
    why = "nothing would be asked: my/mine: it is for iceberg; the profile has only hudi-"
    assert why in message
    assert "--format, --writer and --reader name others" in message
    assert not (mine.parent / "runs").exists()
