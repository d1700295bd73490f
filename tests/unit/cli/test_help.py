"""The help is there at once: no command is loaded for it."""

import subprocess
import sys

import pytest
import typer

from harness.cli import app

LOADED = """
import sys
from harness.cli import app
app.main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
"""
DEAR = {"pyarrow", "jinja2", "harness.model", "harness.cli.options"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["uprgade"]])
def test_neither_the_help_nor_an_unknown_command_loads_what_commands_need(
    arguments: list[str],
) -> None:
    command = [sys.executable, "-c", LOADED, *arguments]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    loaded = set(ended.stderr.split())
    assert "harness.cli.app" in loaded
    assert loaded & DEAR == set()


def test_what_a_run_needs_is_loaded_without_the_library_that_reads_data_files() -> None:
    code = "import sys, harness.cli.flow_commands; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "harness.formats.files.data_files" in loaded
    assert "pyarrow" not in loaded


@pytest.mark.parametrize("name", app.COMMANDS)
def test_a_command_has_in_the_list_of_commands_the_first_line_of_its_own_help(name: str) -> None:
    command = typer.main.get_group(app.app).commands[name]
    first, _, _ = (command.help or "").partition("\n\n")
    assert " ".join(first.split()) == app.help_line(name)


def test_a_terminal_shows_which_command_is_loaded_and_nothing_of_it_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    typer.main.get_group(app.app).commands["doctor"]
    shown = capsys.readouterr().err
    line, blank, rest = shown.split("\r")
    assert line == "harness doctor …"
    assert blank == " " * len(line)
    assert not rest


def test_a_log_has_no_such_line(capsys: pytest.CaptureFixture[str]) -> None:
    typer.main.get_group(app.app).commands["doctor"]
    assert not capsys.readouterr().err
