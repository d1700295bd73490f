"""Trace one run from the command line to the page: which modules it enters, who calls whom.

    python tests/toys/trace_run.py [--root CHECKOUT] [--list]

`harness run` is called in this process, with the engine, the format and the operation of
`tests/toys` in the checkout; the writer and the metastore are simulated, everything else is real.
Calls are seen in all threads. A hand-over is a call from one module of the harness to a function of
another one, whatever library calls in between; each pair counts once. What runs while a module is
imported, and methods that `dataclass` generates, do not count. It runs on other commits too, as
long as they have the names in `simulate`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

PACKAGE: Final = "harness"
SCENARIO: Final = """
table: {columns: {id: int, ts: long, f1: string}, key: id, order_by: ts}
formats: [toy]
steps:
  - stock: 2
  - add_column: {name: extra, type: string}
  - stock: 1
"""
PROFILE: Final = """
toys: {scenarios: ["*"], formats: [toy], writers: [toy-1], readers: [toy-1, "toy-1{forgets=yes}"]}
"""
TOYS: Final = {
    "formats": {"toy": "toy_format:FORMAT"},
    "operations": {"stock": "toy_operation:Stock"},
    "engines": {"toy": "toy_engine:ENGINE"},
    "distributions": {"toy-1": "toy_engine:LOCK"},
}


class Trace:
    """The calls between modules of the harness, each pair once."""

    def __init__(self) -> None:
        self.entered: set[str] = set()
        self.calls: set[tuple[str, str, str]] = set()

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """Take a call down; a function as `sys.setprofile` wants it."""
        if event != "call" or not (callee := _module(frame)):
            return
        caller = frame.f_back
        while caller is not None and not _module(caller):
            if caller.f_code.co_name == "<module>" and caller.f_globals["__name__"] != "__main__":
                return  # a module is imported
            caller = caller.f_back
        self.entered.add(callee)
        if caller is not None and (name := _module(caller)) != callee:
            self.calls.add((name, callee, frame.f_code.co_qualname))

    @contextmanager
    def running(self) -> Iterator[None]:
        """See the calls of this thread and of all that it starts."""
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def _module(frame: FrameType) -> str:
    """Return the module of the harness that a frame runs a function of, if it does."""
    code = frame.f_code
    name = str(frame.f_globals.get("__name__", ""))
    written = code.co_filename[:1] != "<" and code.co_flags & 0x2  # not generated; no module, class
    return name if written and name.partition(".")[0] == PACKAGE else ""


class ToyWriter:
    """A session that does what the toy format's statements say."""

    def open(self, *_: object) -> ToyWriter:
        return self

    def alive(self) -> bool:
        return True

    def run(self, statement: str, **_: object) -> None:
        verb, path, *content = statement.split(" ", 2)
        if verb == "create":
            Path(path).mkdir()
        else:
            Path(path).write_text(content[0], encoding="utf-8")


class ToyMetastore:
    """A metastore and its client; the toy engine finds tables by files in its folder."""

    bucket = store = None
    peak_memory_mb = log_tail = lambda *_: 0

    def __init__(self, folder: Path) -> None:
        self.folder, self.uri = folder, str(folder)
        self.uris = importlib.import_module("harness.runtime.api").MetastoreUris(str(folder))

    def alive(self) -> bool:
        return True

    def has(self, database: str) -> bool:
        return (self.folder / database).exists()

    def create_database(self, database: str) -> None:
        pass

    def entries(self, _: str) -> tuple[object, ...]:
        objects = importlib.import_module("harness.runtime.metastore_objects")
        columns = [{"name": name, "type": "string"} for name in ("id", "ts", "f1")]
        return (objects.CatalogEntry("t", {"sd": {"cols": columns}}),)

    def register(self, database: str, _: object, location: str) -> None:
        (self.folder / database).write_text(location.removeprefix("file:"), encoding="utf-8")


def simulate(folder: Path) -> None:
    """Replace what starts processes: the writer, the metastore, the fetching of engines."""
    metastore = ToyMetastore(folder)

    @contextmanager
    def running(*_: object, **__: object) -> Iterator[ToyMetastore]:
        yield metastore

    def nothing(*_: object, **__: object) -> Any:  # noqa: ANN401 - stands for several functions
        return ()

    replacements = {
        "runtime.provide": {"start_metastore": running, "runtime": nothing, "ensure": nothing},
        "runtime.metastore_client": {"connect": running, "check": nothing},
        "artifacts.fetch": {"missing": nothing, "ensure": nothing},
        "write.writer_pool": {"WriterPool.writer": lambda *_, **__: ToyWriter()},
    }
    for module, names in replacements.items():
        for name, replacement in names.items():
            target: Any = importlib.import_module(f"{PACKAGE}.{module}")
            *outer, last = name.split(".")
            for part in outer:
                target = getattr(target, part)
            if not hasattr(target, last):
                raise SystemExit(f"{module} has no {name} any more: mend tests/toys/trace_run.py")
            setattr(target, last, replacement)


def trace(folder: Path) -> tuple[Trace, int]:
    (folder / "metastore").mkdir()
    scenarios = folder / "mine"
    scenarios.mkdir()
    (scenarios / "story.yaml").write_text(SCENARIO, encoding="utf-8")
    (scenarios / "profiles.yaml").write_text(PROFILE, encoding="utf-8")
    package = importlib.import_module("tests.toys.package")
    package.install(folder / "site", TOYS)
    os.environ["HARNESS_CACHE"] = str(folder / "cache")
    simulate(folder / "metastore")
    program = importlib.import_module(f"{PACKAGE}.__main__")
    run = folder / "run"
    sys.argv = ["harness", "run", str(scenarios), "--profile", "toys", "--run-dir", str(run)]
    seen = Trace()
    with seen.running():
        status = program.main()
    return seen, status


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--list", action="store_true", help="the hand-overs themselves, too")
    options = parser.parse_args()
    root = options.root.resolve()
    with tempfile.TemporaryDirectory() as name:
        sys.path[:0] = [str(root), str(root / "tests" / "toys"), f"{name}/site"]
        seen, status = trace(Path(name))
    for caller, callee, function in sorted(seen.calls) if options.list else ():
        print(f"{caller} > {callee}.{function}")
    modules = {(caller, callee) for caller, callee, _ in seen.calls}
    packages = {(caller.split(".")[1], callee.split(".")[1]) for caller, callee in modules}
    print(f"exit status of the run: {status}")
    print(f"modules entered: {len(seen.entered)}")
    print(f"hand-overs from module to function: {len(seen.calls)}")
    print(f"hand-overs from module to module: {len(modules)}")
    print(f"hand-overs from package to package: {sum(one != other for one, other in packages)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
