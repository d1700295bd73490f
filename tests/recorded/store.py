"""Recordings: what a run's writers did and its readers answered, as small files that diff well.

A recording is a folder with a folder for each variant, and there

- `variant.json` and `scenario.txt`: what was planned,
- `states.jsonl`: each step's outcome and files,
- `answers.jsonl`: what was answered,
- `verdicts.jsonl`: what is judged of it.

Lines with an `id` say something once; the id ends with a digest of it. In the two last files the
other lines are one for each reader, view and query, and name for each step what it is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from harness import record
from harness.cells import Cell, Variant
from harness.record import Answer, StateRecord, Verdict
from harness.scenario import load

VARIANT: Final = "variant.json"
SCENARIO: Final = "scenario.txt"
"""Not `.yaml`: pytest takes every such file for a scenario and asks real engines about it."""
STATES: Final = "states.jsonl"
ANSWERS: Final = "answers.jsonl"
VERDICTS: Final = "verdicts.jsonl"
NEVER_ASKED: Final = ""
"""Stands for the answer to a question that was planned and never put."""

Said = Mapping[str, Any]
"""A verdict as a recording holds it, in the words of JSON."""
UNSAID: Final = {"case", "scenario", "variant", "step", "reader", "view", "query"} | {
    *("expected", "sql", "seconds", "reused", "known")
}
"""What of a verdict is said elsewhere, is not judged, or is a baseline's."""

_ANSWER: Final = TypeAdapter(Answer)
_STATE: Final = TypeAdapter(StateRecord)
_VERDICT: Final = TypeAdapter(Verdict)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A variant as recorded."""

    variant: Variant
    scenario: str
    """The text of its scenario."""
    states: tuple[StateRecord, ...]
    answers: Mapping[Cell, Answer | None]
    """None where nothing was answered: a cell of the plan is here in any case."""
    verdicts: Mapping[Cell, Said]


@dataclass(slots=True)
class Lines:
    """Lines of JSON; what is said twice is named the second time."""

    lines: list[str] = field(default_factory=list)
    _said: set[str] = field(default_factory=set)

    def add(self, body: Mapping[str, Any]) -> None:
        """Add a line."""
        self.lines.append(json.dumps(body, ensure_ascii=False))

    def once(self, label: str, body: Mapping[str, Any]) -> str:
        """Add a line where it is not there yet; give its id."""
        text = json.dumps(body, ensure_ascii=False, sort_keys=True)
        name = f"{label}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        if name not in self._said:
            self._said.add(name)
            self.add({"id": name} | dict(body))
        return name

    def table(self, named: Mapping[Cell, str]) -> None:
        """Add a line for each reader, view and query."""
        rows: dict[tuple[str, str, str], dict[str, str]] = {}
        for cell, name in named.items():
            rows.setdefault((cell.reader, cell.view, cell.query), {})[str(cell.step)] = name
        for (reader, view, query), steps in rows.items():
            self.add({"reader": reader, "view": view, "query": query, "steps": steps})

    def write(self, path: Path) -> None:
        """Write the file."""
        path.write_text("".join(f"{line}\n" for line in self.lines), encoding="utf-8")


def said(verdict: Verdict) -> Said:
    """Give what a recording holds of a verdict."""
    body = _VERDICT.dump_python(verdict, mode="json", exclude_defaults=True, exclude=UNSAID)
    for finding in body.get("findings", ()):
        if finding["witness"] == finding["places"][0]:
            del finding["witness"]
    return dict(body)


def folder_of(variant: str) -> str:
    """Give the folder of a variant.

    >>> folder_of("hudi/move[hudi-cow,rewrites=some,twin]@spark-3.5.8")
    'hudi/move/hudi-cow_rewrites=some_twin@spark-3.5.8'
    """
    return re.sub(r"[^\w.=@/-]+", "_", variant.replace("[", "/", 1).replace("]@", "@"))


def clear(root: Path) -> None:
    """Remove a recording, and nothing else that may be in its folder."""
    for folder in [path.parent for path in root.rglob(VARIANT)]:
        for name in (VARIANT, SCENARIO, STATES, ANSWERS, VERDICTS):
            (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # somebody keeps a file of his own there
            folder.rmdir()


def write(root: Path, recorded: Recorded) -> None:
    """Write a variant into its folder of a recording."""
    folder, variant = root / folder_of(recorded.variant.id), recorded.variant
    folder.mkdir(parents=True, exist_ok=True)
    plan = json.dumps(asdict(variant) | {"scenario": variant.scenario.name}, indent=1)
    (folder / VARIANT).write_text(f"{plan}\n", encoding="utf-8")
    (folder / SCENARIO).write_text(recorded.scenario, encoding="utf-8")
    _states(recorded).write(folder / STATES)
    _answers(recorded).write(folder / ANSWERS)
    write_verdicts(root, recorded)


def _states(recorded: Recorded) -> Lines:
    lines = Lines()
    for state in recorded.states:
        unsaid = {"variant", "digest"}
        body = _STATE.dump_python(state, mode="json", exclude_defaults=True, exclude=unsaid)
        body["files"] = [lines.once(each["kind"], each) for each in body.get("files", ())]
        lines.add(body)
    return lines


def _answers(recorded: Recorded) -> Lines:
    lines = Lines()
    named = {}
    for cell in sorted(recorded.answers, key=_place):
        answer = recorded.answers[cell]
        named[cell] = NEVER_ASKED
        if answer is not None:
            unsaid = {"case": True, "sql": True}
            body = _ANSWER.dump_python(answer, mode="json", exclude_defaults=True, exclude=unsaid)
            named[cell] = lines.once(_kind(answer), body)
    lines.table(named)
    return lines


def _place(cell: Cell) -> tuple[str, str, str, int]:
    return cell.reader, cell.view, cell.query, cell.step


def _kind(answer: Answer) -> str:
    if answer.refusal:
        return "refused"
    return "unknown" if answer.unknown else "void" if answer.void else "table"


def write_verdicts(root: Path, recorded: Recorded) -> None:
    """Write what is judged of a variant, and nothing else."""
    lines, named = Lines(), {}
    for cell in sorted(recorded.verdicts, key=_place):
        verdict = recorded.verdicts[cell]
        found = verdict.get("findings", ())
        short = [
            lines.once(f"{each['kind']}-{each.get('party', 'nobody')}", each) for each in found
        ]
        kinds = dict.fromkeys(each["kind"] for each in found)
        body = {**verdict, "findings": short} if short else verdict
        named[cell] = lines.once("-".join((verdict["verdict"], *kinds)), body)
    lines.table(named)
    lines.write(root / folder_of(recorded.variant.id) / VERDICTS)


def read_all(root: Path) -> tuple[Recorded, ...]:
    """Read a recording, in the order of its folders."""
    return tuple(read(path.parent) for path in sorted(root.rglob(VARIANT)))


def read(folder: Path) -> Recorded:
    """Read the folder of a variant."""
    plan = json.loads((folder / VARIANT).read_text(encoding="utf-8"))
    text = (folder / SCENARIO).read_text(encoding="utf-8")
    name = plan["scenario"]
    scenario = replace(load.loads(text, f"{name}.yaml"), name=name)
    variant = Variant(**plan | {"scenario": scenario, "writers": tuple(plan["writers"])})
    return Recorded(
        variant,
        text,
        tuple(_read_states(folder / STATES, variant.id)),
        dict(_read_answers(folder / ANSWERS, variant.id)),
        dict(_read_verdicts(folder / VERDICTS, variant.id)),
    )


def _bodies(path: Path) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Give what is said once, by its id, and the other lines."""
    once, others = dict[str, dict[str, Any]](), []
    for line in path.read_text(encoding="utf-8").splitlines():
        body = json.loads(line)
        if "id" in body:
            once[body.pop("id")] = body
        else:
            others.append(body)
    return once, others


def _read_states(path: Path, variant: str) -> Iterator[StateRecord]:
    once, states = _bodies(path)
    for body in states:
        files = [once[name] for name in body["files"]]
        whole = body | {"variant": variant, "digest": "", "files": files}
        yield record.parse(StateRecord, json.dumps(whole))


def _cells(variant: str, lines: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Cell, str]]:
    for line in lines:
        for step, name in line["steps"].items():
            yield Cell(variant, int(step), line["reader"], line["view"], line["query"]), name


def _read_answers(path: Path, variant: str) -> Iterator[tuple[Cell, Answer | None]]:
    once, lines = _bodies(path)
    for cell, name in _cells(variant, lines):
        if name == NEVER_ASKED:
            yield cell, None
            continue
        body = once[name] | {"case": cell.case, "sql": ""}
        parts = [each | {"sql": ""} for each in body.get("parts", ())]
        yield cell, record.parse(Answer, json.dumps(body | {"parts": parts}))


def _read_verdicts(path: Path, variant: str) -> Iterator[tuple[Cell, Said]]:
    once, lines = _bodies(path)
    for cell, name in _cells(variant, lines):
        found = [once[each] for each in once[name].get("findings", ())]
        yield cell, once[name] | {"findings": found} if found else once[name]
