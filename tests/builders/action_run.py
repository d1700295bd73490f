"""The steps of action.yml, run as GitHub's runner does: in bash or Python, `${{ … }}` filled in.

Steps that use other actions are only looked at. GitHub's API is simulated on loopback.
"""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from ruamel.yaml import YAML

from tests.wheel import ROOT

ACTION: Final[Mapping[str, Any]] = YAML(typ="safe").load(
    (ROOT / "action.yml").read_text(encoding="utf-8")
)
SHELLS: Final = {
    "bash": ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"),
    "python": (sys.executable, "-c"),
}
COMMENTS: Final = re.compile(
    r"/repos/me/lake/issues/(?:comments/(?P<id>\d+)|7/comments)(\?page.*)?"
)
TOKEN: Final = "a token"  # noqa: S105 - of nobody


@dataclass
class SimulatedGithub:
    """Comments of pull request 7 of me/lake; `refuses`: the token may only read."""

    comments: dict[int, str] = field(default_factory=dict)
    notes: dict[tuple[str, str], str] = field(default_factory=dict)
    """What GitLab's API was given, by token and path."""
    refuses: bool = False
    address: str = ""

    def answer(self, method: str, path: str, body: str) -> tuple[int, Any]:
        path, _, options = path.partition("?")
        if path.endswith("/notes"):
            return 201, {}
        named = COMMENTS.fullmatch(path)
        if named is None:
            return 404, {"message": "Not Found"}
        if method == "GET":
            known = [{"id": at, "body": text} for at, text in self.comments.items()]
            return 200, known if options.endswith("page=1") else []
        if self.refuses:
            return 403, {"message": "Resource not accessible by integration"}
        at = int(named["id"] or len(self.comments) + 1)
        if (method == "PATCH") is not bool(named["id"]):
            return 404, {"message": "Not Found"}
        self.comments[at] = json.loads(body)["body"]
        return 201, {"id": at}


@contextmanager
def github() -> Iterator[SimulatedGithub]:
    simulated = SimulatedGithub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
            body = self.rfile.read(length).decode()
            if token := self.headers.get("PRIVATE-TOKEN"):
                known = True
                simulated.notes[token, self.path] = parse_qs(body)["body"][0]
            status, answer = simulated.answer(self.command, self.path, body)
            content = json.dumps(answer if known else {}).encode()
            self.send_response(status if known else 401)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PATCH = do_GET  # noqa: N815 - the library's names

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    simulated.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield simulated
    finally:
        server.shutdown()
        server.server_close()


@dataclass(frozen=True)
class Job:
    """What came of the steps that were run, up to the first that failed."""

    statuses: list[int]
    text: str
    outputs: Mapping[str, str]
    summary: str


def run(folder: Path, inputs: Mapping[str, str], api: str, path: str = "") -> Job:
    """Run the action in a workspace, with these inputs and programs of `path` first."""
    (output := folder / "output").touch()
    (summary := folder / "summary").touch()
    known = {f"inputs.{name}": given.get("default", "") for name, given in ACTION["inputs"].items()}
    known |= {f"inputs.{name}": text for name, text in inputs.items()}
    known |= {"github.event.number": "7", "github.event_name": "pull_request"}
    known["inputs.token"] = TOKEN
    variables = {
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_API_URL": api,
        "GITHUB_OUTPUT": str(output),
        "GITHUB_REPOSITORY": "me/lake",
        "GITHUB_STEP_SUMMARY": str(summary),
        "PATH": os.pathsep.join(filter(None, (path, os.environ["PATH"]))),
    }
    statuses, text = list[int](), ""
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or not _is_due(step.get("if", ""), known):
            continue
        environment = {name: _filled(text, known) for name, text in step.get("env", {}).items()}
        assert "${{" not in step["run"]  # what somebody typed must not become a part of a program
        ended = subprocess.run(
            (*SHELLS[step["shell"]], step["run"]),
            cwd=folder,
            env={**os.environ, **variables, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        statuses.append(ended.returncode)
        text += ended.stdout + ended.stderr
        lines = (line.partition("=") for line in output.read_text("utf-8").splitlines())
        known |= {f"steps.{step.get('id')}.outputs.{name}": text for name, _, text in lines}
        if ended.returncode:
            break
    results = {name: _filled(output["value"], known) for name, output in ACTION["outputs"].items()}
    return Job(statuses, text, results, summary.read_text(encoding="utf-8"))


def _filled(text: str, known: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda named: known.get(named[1], ""), text)


def _is_due(condition: str, known: Mapping[str, str]) -> bool:
    """Evaluate conditions of the form `a == 'b' && c == 'd'`."""
    parts = re.findall(r"(\S+) == '([^']*)'", condition)
    return all(known.get(name) == text for name, text in parts)
