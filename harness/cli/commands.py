"""Commands that are loaded when they are named: most take modules that no other command needs."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup

LATER: Final = {
    "explain": "explain.command:explain",
    "reproduce": "reproduce.command:reproduce",
    "remedy": "remedy.command:remedy",
    "upgrade": "upgrade.command:upgrade",
    "compare": "upgrade.command:compare_runs",
    "scan": "scan_command:scan",
    "export-fixtures": "fixture_command:export_fixtures_of",
    "doctor": "doctor_command:doctor",
    "engines": "engine_commands:app",
    "baseline": "baseline_commands:app",
    "cache": "cache_commands:app",
    "history": "history_commands:app",
}
"""The function or group of commands of each name, below `harness.cli`."""
MARKUP: Final = "rich"


class LaterCommands(UserDict[str, Any]):
    """Commands by name; a text of `LATER` stands for one until it is asked for."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - private to the library
        """Return a command, loaded by now."""
        result = super().__getitem__(name)
        if isinstance(result, str):
            result = self[name] = _loaded(name, result)
        return result


class Commands(TyperGroup):
    """All commands, in the order of the help."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as the library has it
        """Add those that come later."""
        super().__init__(**attributes)
        self.commands = LaterCommands({**self.commands, **LATER})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - the library's
        """Return the names, of which no command is loaded."""
        return list(self.commands)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - its type is private to the library
        """Run the command that was named.

        The library would end two failures inside it with 1, a finding's status.
        """
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, EOFError) as error:
            raise RuntimeError("a process or a file that was talked to ended") from error


def _loaded(name: str, location: str) -> Any:  # noqa: ANN401 - private to the library
    module, _, attribute = location.partition(":")
    result = getattr(import_module(f"harness.cli.{module}"), attribute)
    around = typer.Typer(rich_markup_mode=MARKUP)
    around.callback()(lambda: None)  # without one, a single command has no name
    if isinstance(result, typer.Typer):
        around.add_typer(result, name=name)
    else:
        around.command(name)(result)
    return typer.main.get_group(around).commands[name]
