"""The pages for people of one format: each command is planned, and only the download is refused."""

import re
import shlex
from pathlib import Path

import pytest

from harness.artifacts.cache import ENVIRONMENT_VARIABLE
from harness.cli import app, flow_commands, plan_options
from harness.cli.named_parts import NamedParts
from harness.core.runtime_names import OFFLINE
from harness.plan import estimation
from harness.run import pipeline
from tests.wheel import ROOT

Capture = pytest.CaptureFixture[str]
PAGES = {
    name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("iceberg", "delta", "hudi", "hive")
}
COMMANDS = [
    line
    for page in PAGES.values()
    for line in re.findall(r"^harness ((?:run|upgrade) .*)$", page, re.MULTILINE)
]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```yaml\n# my\.yaml\n(.*?)```", README, re.DOTALL)[0]
MOST_WORDS = 400
NOT_FETCHED = 3
USAGE = 'version: 1\nmetastore: ""\nscanned: ""\ntables: []\n'
QUICK = ("iceberg", "delta", "hive-parquet")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_right_and_lacks_nothing_but_what_it_fetches(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(OFFLINE, "1")
    Path("my.yaml").write_text(EXAMPLE, encoding="utf-8")
    Path("usage.yaml").write_text(USAGE, encoding="utf-8")
    assert app.main(shlex.split(command, comments=True)) == NOT_FETCHED
    assert "harness: offline, and not in" in capsys.readouterr().err


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_short_and_the_first_page_leads_to_it(name: str) -> None:
    assert len(PAGES[name].split()) <= MOST_WORDS
    assert f"(docs/{name}.md)" in README.partition("## Quick start")[0]


@pytest.mark.parametrize("name", QUICK)
def test_a_format_alone_is_its_quick_start_without_what_others_need(name: str) -> None:
    named = NamedParts(formats=[name])
    profile = flow_commands.quick_start([], named)
    assert profile == f"quick-start-{name}"
    plan = plan_options.make(None, profile, "", named=named)
    assert {variant.format for variant in plan.variants} == {name}
    assert not any("trino" in needed for needed in pipeline.needed_distributions(plan))
    assert estimation.estimate(plan) <= 130
    assert f"harness run --format {name}" in README.partition("## Quick start")[0]


def test_with_anything_else_that_is_named_it_is_no_quick_start() -> None:
    iceberg = NamedParts(formats=["iceberg"])
    assert flow_commands.quick_start([Path("my.yaml")], iceberg) is None
    for other in (
        NamedParts(formats=["iceberg"], readers=["trino-483"]),
        NamedParts(formats=["iceberg"], writers=["spark-3.5.9-iceberg-1.12.0"]),
        NamedParts(formats=["iceberg", "delta"]),
        NamedParts(formats=["hudi-mor"]),
        NamedParts(),
    ):
        assert flow_commands.quick_start([], other) is None
