"""The files that a comparison, or a rollout, leaves in its folder."""

from __future__ import annotations

from pathlib import Path

from harness.comparison import acceptance_file
from harness.comparison.result import SideComparison
from harness.comparison.rollout import Rollout
from harness.reports import (
    rollout_html,
    rollout_terminal,
    upgrade_html,
    upgrade_json,
    upgrade_markdown,
    upgrade_terminal,
)


def write_all(found: SideComparison, folder: Path) -> dict[str, Path]:
    """Write every report and return the files; `accept.yaml` once, for somebody fills it in."""
    files = {
        "html": upgrade_html.write(found, folder),
        "text": upgrade_terminal.write(found, folder),
        "markdown": upgrade_markdown.write(found, folder),
        "json": upgrade_json.write(found, folder),
    }
    accept = folder / acceptance_file.FILE
    if found.relevant and not accept.exists():
        lines = (each.by for each in found.accepted.causes)
        accept.write_text(acceptance_file.dump(found.relevant, lines), encoding="utf-8")
        files["accept"] = accept
    return files


def write_rollout(found: Rollout, folder: Path) -> dict[str, Path]:
    """Write the reports of a rollout, and those of each state beside its run; return its own."""
    for state in found.judged:
        for each in state.comparisons:
            write_all(each, each.new.run.folder)
    return {
        "html": rollout_html.write(found, folder),
        "text": rollout_terminal.write(found, folder),
    }
