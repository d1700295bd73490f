"""Recordings: what a run's writers did and its readers answered, as small files that diff well.

A folder for each scenario has `variants.jsonl` (what was planned), `states.jsonl` (each step's
outcome and files), `answers.jsonl` and `verdicts.jsonl`. They are made of `lines`: what several
variants or readers have in common is said once. A large recording is compressed.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from harness import formats
from harness.core import jsonl
from harness.core.records import Answer, StateRecord, Verdict
from harness.scenario import load
from harness.scenario.cells import Cell, Variant
from tests.builders import recorded_lines
from tests.builders.recorded_lines import COMPRESSED, Lines, Parsed

VARIANTS: Final = "variants.jsonl"
STATES: Final = "states.jsonl"
ANSWERS: Final = "answers.jsonl"
VERDICTS: Final = "verdicts.jsonl"
NEVER_ASKED: Final = ""
"""Stands for the answer to a question that was planned and never put."""
READABLE: Final = 1_000_000
"""Bytes of text; a recording with more is compressed, nobody reads it through."""

VerdictRecord = Mapping[str, Any]
"""A verdict as a recording holds it, in the words of JSON."""
UNSAID: Final = {"case", "scenario", "variant", "step", "reader", "view", "query"} | {
    *("expected", "sql", "seconds", "reused", "known", "reason")
}
"""The fields of a verdict that stand elsewhere, are not judged, or are of a baseline."""

_ANSWER: Final = TypeAdapter(Answer)
_STATE: Final = TypeAdapter(StateRecord)
_VERDICT: Final = TypeAdapter(Verdict)


@dataclass(frozen=True, slots=True)
class Recorded:
    variant: Variant
    scenario: str
    """The text of its scenario."""
    states: tuple[StateRecord, ...]
    answers: Mapping[Cell, Answer | None]
    """None where nothing was answered: a cell of the plan is here in any case."""
    verdicts: Mapping[Cell, VerdictRecord]


def as_recorded(verdict: Verdict) -> VerdictRecord:
    body = _VERDICT.dump_python(
        verdict, mode="json", exclude_defaults=True, exclude=UNSAID, by_alias=True
    )
    for finding in body.get("findings", ()):
        if finding["witness"] == finding["places"][0]:
            del finding["witness"]
    return dict(body)


def write(root: Path, variants: Iterable[Recorded]) -> None:
    """Write a recording in place of the one that is there, and of nothing else in its folder."""
    texts = {
        folder / name: text
        for folder, of_scenario in _folders(root, variants).items()
        for name, text in _texts(of_scenario)
    }
    large = sum(len(text.encode()) for text in texts.values()) > READABLE
    new = {path.with_name(path.name + COMPRESSED * large): text for path, text in texts.items()}
    for path in _files(root) - new.keys():
        path.unlink()
        with suppress(OSError):  # not empty
            path.parent.rmdir()
    for path, text in new.items():
        recorded_lines.write(path, text)


def _folders(root: Path, variants: Iterable[Recorded]) -> dict[Path, list[Recorded]]:
    folders: dict[Path, list[Recorded]] = {}
    for variant in variants:
        folders.setdefault(root / variant.variant.scenario.name, []).append(variant)
    return folders


def _files(root: Path) -> set[Path]:
    names = (VARIANTS, STATES, ANSWERS, VERDICTS)
    result = (recorded_lines.find(folder, name) for folder in folders(root) for name in names)
    return {path for path in result if path}


def _texts(variants: Iterable[Recorded]) -> Iterator[tuple[str, str]]:
    planned, states, answers = Lines(), Lines(), Lines()
    there = tuple(variants)
    for name in there:
        _add_plan(planned, name)
        _add_states(states, name)
        _add_answers(answers, name)
    yield from ((VARIANTS, planned.text()), (STATES, states.text()), (ANSWERS, answers.text()))
    yield VERDICTS, _verdicts(there)


def _add_plan(planned: Lines, recorded: Recorded) -> None:
    variant = recorded.variant
    body = {"name": variant.scenario.name, "text": recorded.scenario}
    plan = asdict(variant) | {"scenario": planned.once("scenario", body)}
    planned.add({"variant": plan.pop("id")} | plan)


def _add_states(states: Lines, recorded: Recorded) -> None:
    states.add({"variant": recorded.variant.id})
    for state in recorded.states:
        unsaid = {"variant", "digest"}
        body = _STATE.dump_python(
            state, mode="json", exclude_defaults=True, exclude=unsaid, by_alias=True
        )
        body["files"] = [states.once(finding["kind"], finding) for finding in body.get("files", ())]
        states.add(body)


def _add_answers(answers: Lines, recorded: Recorded) -> None:
    answers.add({"variant": recorded.variant.id})
    named = {}
    for cell in sorted(recorded.answers, key=_place):
        answer = recorded.answers[cell]
        named[cell] = NEVER_ASKED
        if answer is not None:
            unsaid = {"case": True, "sql": True}
            body = _ANSWER.dump_python(
                answer, mode="json", exclude_defaults=True, exclude=unsaid, by_alias=True
            )
            named[cell] = answers.once(_kind(answer), body)
    answers.table(named)


def _place(cell: Cell) -> tuple[str, str, str, int]:
    return cell.reader, cell.view, cell.query, cell.step


def _kind(answer: Answer) -> str:
    if answer.refusal:
        return "refused"
    return "unknown" if answer.unknown else "void" if answer.not_applicable else "table"


def _verdicts(variants: Iterable[Recorded]) -> str:
    verdicts = Lines()
    for variant in variants:
        verdicts.add({"variant": variant.variant.id})
        named = {
            cell: _add_verdict(verdicts, variant.verdicts[cell])
            for cell in sorted(variant.verdicts, key=_place)
        }
        verdicts.table(named)
    return verdicts.text()


def _add_verdict(verdicts: Lines, verdict: VerdictRecord) -> str:
    result = verdict.get("findings", ())
    short = [
        verdicts.once(f"{finding['kind']}-{finding.get('party', 'nobody')}", finding)
        for finding in result
    ]
    kinds = dict.fromkeys(finding["kind"] for finding in result)
    body = {**verdict, "findings": short} if short else verdict
    return verdicts.once("-".join((verdict["verdict"], *kinds)), body)


def write_verdicts(root: Path, variants: Iterable[Recorded]) -> None:
    """Write what is judged of the variants of a recording that is there, and nothing else."""
    for folder, of_scenario in _folders(root, variants).items():
        recorded_lines.write(_file(folder, VERDICTS), _verdicts(of_scenario))


def folders(root: Path) -> tuple[Path, ...]:
    return tuple(sorted({path.parent for path in root.rglob(f"{VARIANTS}*")}))


def read_all(root: Path) -> tuple[Recorded, ...]:
    return tuple(recording for folder in folders(root) for recording in read(folder))


def read(folder: Path) -> tuple[Recorded, ...]:
    planned, states, answers, verdicts = (
        recorded_lines.parse(recorded_lines.read(_file(folder, name)))
        for name in (VARIANTS, STATES, ANSWERS, VERDICTS)
    )
    parsed = _answers(answers)
    return tuple(
        Recorded(
            variant,
            text,
            tuple(_read_states(states, variant.id)),
            dict(_read_answers(parsed, answers, variant.id)),
            dict(_read_verdicts(verdicts, variant.id)),
        )
        for variant, text in _read_plan(planned)
    )


def _file(folder: Path, name: str) -> Path:
    path = recorded_lines.find(folder, name)
    if path is None:
        raise FileNotFoundError(f"{folder / name} is not there; record the run again")
    return path


def _read_plan(planned: Parsed) -> Iterator[tuple[Variant, str]]:
    scenario = cache(partial(load.loads, keeping_case=formats.keeping_case()))
    for variant, [plan] in planned.variants.items():
        name, text = (planned.once[plan["scenario"]][key] for key in ("name", "text"))
        of_variant = replace(scenario(text, f"{name}.yaml"), name=name)
        more = {"id": variant, "scenario": of_variant, "writers": tuple(plan["writers"])}
        yield Variant(**plan | more), text


def _read_states(states: Parsed, variant: str) -> Iterator[StateRecord]:
    for body in states.variants[variant]:
        files = [states.once[name] for name in body["files"]]
        whole = body | {"variant": variant, "digest": "", "files": files}
        yield jsonl.parse(StateRecord, json.dumps(whole))


def _answers(answers: Parsed) -> dict[str, Answer]:
    """Return every answer by its id, to whatever question of whatever case."""
    result = {}
    for name, body in answers.once.items():
        parts = [part | {"sql": ""} for part in body.get("parts", ())]
        whole = body | {"case": "", "sql": "", "parts": parts}
        result[name] = jsonl.parse(Answer, json.dumps(whole))
    return result


def _read_answers(
    parsed: Mapping[str, Answer], answers: Parsed, variant: str
) -> Iterator[tuple[Cell, Answer | None]]:
    for cell, name in recorded_lines.cells(variant, answers.variants[variant]):
        never = name == NEVER_ASKED
        yield cell, None if never else replace(parsed[name], case=cell.case)


def _read_verdicts(verdicts: Parsed, variant: str) -> Iterator[tuple[Cell, VerdictRecord]]:
    for cell, name in recorded_lines.cells(variant, verdicts.variants[variant]):
        results = [verdicts.once[text_id] for text_id in verdicts.once[name].get("findings", ())]
        yield cell, verdicts.once[name] | ({"findings": results} if results else {})
