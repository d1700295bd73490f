"""How a comparison ends: its files, what the terminal shows, the exit status."""

from collections.abc import Mapping
from pathlib import Path

from harness.cli.output import Output
from harness.comparison.result import Rollout, SideComparison
from harness.reports import lines, upgrade_files, upgrade_report


def finish(comparison: SideComparison, folder: Path, output: Output) -> int:
    files = upgrade_files.write(comparison, folder)
    lines.render(upgrade_report.document(comparison), output.out)
    data = upgrade_files.answer_data(comparison)
    intro = "Every answer that is not right as before, old beside new:"
    facts = {name: data[name] for name in ("answer", "decision", "settings")}
    return _end(output, comparison.status, intro, files, **facts, changes=data["counts"])


def finish_rollout(rollout: Rollout, folder: Path, output: Output) -> int:
    files = upgrade_files.write_rollout(rollout, folder)
    lines.render(upgrade_files.rollout_document(rollout, folder), output.out)
    facts = {"safe": rollout.safe, "safe_order": rollout.safe_order}
    intro, answer = "Each state as a page of its own:", upgrade_files.rollout_headline(rollout)
    return _end(output, rollout.status, intro, files, answer=answer, **facts)


def _end(
    output: Output, status: int, intro: str, files: Mapping[str, Path], **facts: object
) -> int:
    lines.say(output.out, f"\n{intro}")
    lines.command(output.out, str(files["html"]))
    reports = {name: str(path) for name, path in files.items()}
    output.end(status=status, **facts, reports=reports)
    return status
