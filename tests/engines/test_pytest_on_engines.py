"""`pytest scenarios/…` with real engines and several workers: tests say what the verdicts say."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import junitparser
import psutil
import pytest

from harness.runtime import container_network, docker_daemon
from tests.engines.container_owners import process_of
from tests.engines.until import LOOK_S

pytestmark = [pytest.mark.engines, pytest.mark.alone]

ROOT = Path(__file__).parents[2]
IN_CONTAINERS = """
contained:
  runtime: container
  scenarios: ["*"]
  formats: [hudi-cow]
  axes: {rewrites: [none]}
  writers: [spark-3.5.8-hudi-0.15.0]
  readers: ["trino-476{use-column-names=true}", "trino-476{use-column-names=false}"]
"""


def run_tests(
    scenarios: Path, profile: str, folder: Path, workers: int
) -> tuple[str, frozenset[int]]:
    command = [sys.executable, "-m", "pytest", str(scenarios), "-n", str(workers)]
    where = ["--harness-run-dir", str(folder), "--junitxml", str(xml_of(folder))]
    options = ["-p", "no:cacheprovider", "--harness-profile", profile, *where]
    log = folder.with_suffix(".log")
    with (
        log.open("wb") as to,
        subprocess.Popen([*command, *options], cwd=ROOT, stdout=to, stderr=to) as process,
    ):
        result = family(process)
    output = log.read_text(encoding="utf-8")
    assert process.returncode == pytest.ExitCode.TESTS_FAILED, output
    return output, result


def family(process: subprocess.Popen[bytes]) -> frozenset[int]:
    result = {process.pid}
    while process.poll() is None:
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(process.pid).children(recursive=True)
            result |= {child.pid for child in children}
        time.sleep(LOOK_S)
    return frozenset(result)


def xml_of(folder: Path) -> Path:
    return folder.with_suffix(".xml")


def check(folder: Path, more_than: int) -> None:
    lines = (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    verdicts = {load["case"]: load["verdict"] for load in map(json.loads, lines)}
    cases = [case for suite in junitparser.JUnitXml.fromfile(str(xml_of(folder))) for case in suite]
    failed = {case.name.removeprefix("cell[").removesuffix("]") for case in cases if case.result}
    assert len(cases) == len(verdicts) > more_than
    assert failed == {case for case, verdict in verdicts.items() if verdict != "correct"}
    assert failed
    assert all("use-column-names=false" in case for case in failed)


def test_every_cell_of_the_first_profile_is_a_test_with_its_verdict(tmp_path: Path) -> None:
    output, _ = run_tests(ROOT / "scenarios", "first", tmp_path / "run", workers=2)
    check(tmp_path / "run", more_than=20)
    assert "misaligned: in row" in output


def created(since: datetime, until: datetime) -> Sequence[dict[str, Any]]:
    about = {"type": "container", "event": "create", "label": container_network.OWNER}
    with closing(docker_daemon.client()) as client:
        events = client.events(since=since, until=until, filters=about, decode=True)
        return [event["Actor"]["Attributes"] for event in events]


def made_by(labels: Mapping[str, str], processes: Container[int]) -> bool:
    """Return whether a container was made by one of these: other tests make some meanwhile."""
    return int(process_of(labels[container_network.OWNER])) in processes


def now() -> datetime:
    with closing(docker_daemon.client()) as client:
        return datetime.fromisoformat(client.info()["SystemTime"])


@pytest.mark.docker
@pytest.mark.usefixtures("docker")
def test_one_stack_of_containers_serves_all_workers(tmp_path: Path) -> None:
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    text = (ROOT / "scenarios" / "hudi" / "move.yaml").read_text(encoding="utf-8")
    never_asked = text.replace("f1", f"f1_{uuid4().hex[:8]}")
    (scenarios / "move.yaml").write_text(never_asked, encoding="utf-8")
    (scenarios / "profiles.yaml").write_text(IN_CONTAINERS, encoding="utf-8")
    since = now()
    _, processes = run_tests(scenarios, "contained", tmp_path / "run", workers=4)
    check(tmp_path / "run", more_than=10)
    made = [container for container in created(since, now()) if made_by(container, processes)]
    assert len({container[container_network.OWNER] for container in made}) == 1
    images = Counter(container["image"].rpartition("/")[2].partition("-")[0] for container in made)
    metastores = {"hive": 2}  # hive-metastore: the one that is written with, and the readers' own
    assert images == {**metastores, "spark": 1, "trino:476": 1}
