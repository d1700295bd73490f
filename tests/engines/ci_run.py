"""A run of the profile `ci` on real engines, as a person would start it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

CANARY = "canary-3f9a1c"
SECRETS = {
    **{name: f"{CANARY}-{name}" for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")},
    "HARNESS_MAVEN_REPOSITORY": f"https://me:{CANARY}@repo.invalid/m",
}
"""Variables whose values a run is to leave in no file; engines are there, none is fetched."""


@dataclass(frozen=True)
class Finished:
    folder: Path
    status: int
    output: str

    @cached_property
    def verdicts(self) -> list[dict[str, Any]]:
        lines = (self.folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def cells(self, reader: str, scenario: str, shape: str, view: str, step: int) -> Any:  # noqa: ANN401
        (result,) = (
            verdict
            for verdict in self.verdicts
            if (verdict["reader"], verdict["scenario"]) == (reader, f"hudi/{scenario}")
            and (verdict["view"], verdict["step"]) == (view, step)
            and f"[hudi-{shape}," in verdict["variant"]
        )
        return result

    def kinds(self, *cell: Any) -> set[str]:  # noqa: ANN401 - as for `cells`
        return {finding["kind"] for finding in self.cells(*cell)["findings"]}


def run(
    folder: Path, *options: str, variables: Mapping[str, str] = MappingProxyType({})
) -> Finished:
    command = [sys.executable, "-m", "harness", "run", "--profile", "ci", "--run-dir", str(folder)]
    command += options
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return Finished(folder, done.returncode, done.stdout + done.stderr)
