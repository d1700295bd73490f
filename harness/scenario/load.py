"""Scenario files, read strictly: every problem of a file is told at once, with its line."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Strict

from harness.core.problems import one_of
from harness.core.yaml_reader import Document, KeyPath, NullText, make, parse, read
from harness.model import query_shapes
from harness.model.column_options import ColumnOption
from harness.model.schema import MergeMode, Table
from harness.scenario import semantics
from harness.scenario.definition import AXES, PAST_VIEWS, VIEWS, Scenario, Step
from harness.scenario.operations import registry
from harness.scenario.operations.api import Example, Operation, TypeText

QUIET = "quiet"
BY = "by"


@dataclass(frozen=True, slots=True)
class _ScenarioForm:
    """The keys of a scenario file; steps and table are looked at by themselves."""

    table: Any
    steps: list[Any]
    about: str = ""
    source: str = ""
    formats: tuple[str, ...] = ()
    settings: dict[str, tuple[str, ...]] | None = None
    views: tuple[str, ...] = ()
    queries: tuple[NullText, ...] = ()


def _one_or_more(data: object) -> object:
    return (data,) if isinstance(data, str) else tuple(data) if isinstance(data, list) else data


@dataclass(frozen=True, slots=True)
class _TableForm:
    columns: dict[str, TypeText]
    key: str
    order_by: Annotated[tuple[str, ...], BeforeValidator(_one_or_more)] = ()
    partition_by: tuple[str, ...] = ()
    merge_mode: Annotated[MergeMode | None, Strict(strict=False)] = None
    options: dict[str, ColumnOption] | None = None


def load(path: Path | str, keeping_case: Collection[str] = ()) -> Scenario:
    """Read a scenario file; its name is that of its folder and its own: `hudi/move`.

    `keeping_case`: formats whose tables keep upper case in the names of columns.

    Raises ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.
    """
    return loads(read(Path(path)), str(path), keeping_case)


def loads(text: str, path: str, keeping_case: Collection[str] = ()) -> Scenario:
    """Read a scenario from text as `load` does; `path` gives it its name."""
    document = parse(text, path)
    problems = document.problems
    if not name_of(path).isprintable():
        problems.stop(1, "the file's name cannot be shown; take letters, digits, '_' and '-'")
    scenario = _scenario(document)
    problems.raise_if_any()
    if scenario is None:  # not reached: without a scenario there is a problem
        raise AssertionError(path)
    semantics.check(scenario, document, keeping_case)
    problems.raise_if_any()
    return scenario


def name_of(path: str) -> str:
    """Return the name of the scenario in a file.

    >>> name_of("scenarios/hudi/move.yaml"), name_of("../move.yaml"), name_of("/move.yaml")
    ('hudi/move', 'move', 'move')
    """
    file = Path(path)
    parts = [part for part in file.parts[-2:] if part not in {"..", file.anchor}]
    return "/".join([*parts[:-1], file.stem])


def _scenario(document: Document) -> Scenario | None:
    data = document.data
    if isinstance(data, dict) and isinstance(data.get("settings"), dict):
        settings = data["settings"].items()
        lists = {name: value if isinstance(value, list) else [value] for name, value in settings}
        data = {**data, "settings": lists}
    file = make(_ScenarioForm, data, document, (), "a scenario")
    if file is None:
        return None
    form = make(_TableForm, file.table, document, ("table",), "table")
    made = [_step(step, at, document) for at, step in enumerate(file.steps)]
    steps = tuple(step for step in made if step is not None)
    _check_choices(file, document)
    if form is None or document.problems:
        return None
    roles = form.key, form.order_by, form.partition_by, form.merge_mode
    options = tuple((form.options or {}).items())
    return Scenario(
        name=name_of(document.path),
        table=Table(tuple(form.columns.items()), *roles, options),
        steps=steps,
        about=file.about,
        source=file.source,
        formats=file.formats,
        settings=file.settings or {},
        views=file.views,
        queries=file.queries,
        path=document.path,
        format_lines=tuple(document.line(("formats", at)) for at in range(len(file.formats))),
        setting_lines={name: document.line(("settings", name)) for name in file.settings or {}},
    )


def _check_choices(file: _ScenarioForm, document: Document) -> None:
    if not file.steps:
        document.note(("steps",), "there are no steps; give at least one")
    check_each(("views",), file.views, (*VIEWS, *PAST_VIEWS), document)
    for at, query in enumerate(file.queries):
        if why := query_shapes.why_no_shape(query):
            document.note(("queries", at), why)
    if len(set(file.formats)) < len(file.formats):
        document.note(("formats",), "formats: one stands twice; name each once")
    for name, values in (file.settings or {}).items():
        key_path = ("settings", name)
        # Others are those of formats, which the plan knows.
        allowed = AXES.get(name, values)
        if not values:
            what = one_of("", allowed) if allowed else "give at least one"
            document.note(key_path, f"{name}: no value; {what}")
        check_each(key_path, values, allowed, document)


def check_each(
    key_path: KeyPath, given: Sequence[str], allowed: Sequence[str], document: Document
) -> None:
    """Note each name that is not allowed, or stands twice."""
    label = ".".join(map(str, key_path))
    for value in given:
        if value not in allowed:
            document.note(key_path, f"{label}: there is no '{value}'; {one_of(value, allowed)}")
        elif given.count(value) > 1:
            document.note(key_path, f"{label}: '{value}' stands twice; name each once")


def _step(data: object, at: int, document: Document) -> Step | None:
    key_path: KeyPath = ("steps", at)
    what = f"step {at + 1}"
    fields = {data: {}} if isinstance(data, str) else data
    if not isinstance(fields, dict):
        document.note(key_path, f"{what} is not an operation; write `- operation: …`")
        return None
    names = [name for name in fields if name not in {QUIET, BY}]
    if len(names) != 1:
        given = f"{len(names)} operations ({', '.join(names)})" if names else "no operation"
        document.note(
            key_path, f"{what} has {given}; give one, and 'quiet: true' beside it if wanted"
        )
        return None
    quiet, by = fields.get(QUIET, False), fields.get(BY, "")
    if not isinstance(quiet, bool):
        document.note((*key_path, QUIET), f"{what}: quiet is true or false")
    if not isinstance(by, str):
        document.note((*key_path, BY), f"{what}: by is the name of a writer, such as trino-476")
    operation = _operation(names[0], fields[names[0]], document, key_path)
    return Step(operation, quiet is True, str(by), document.line(key_path)) if operation else None


def _operation(name: str, data: object, document: Document, key_path: KeyPath) -> Operation | None:
    what = f"step {int(key_path[-1]) + 1} {name}"
    if name not in registry():
        wrong = f"{what}: there is no such operation; {one_of(name, registry())}"
        document.note((*key_path, name), wrong)
        return None
    kind = registry()[name]
    data = {} if data is None else data  # `- touch:` with nothing behind it
    if not isinstance(data, dict) and kind.SHORT:
        at, depth = (*key_path, name), len(key_path) + 1
        lines = {
            (*at, kind.SHORT, *path[depth:]) if path[:depth] == at else path: line
            for path, line in document.lines.items()
        }
        data = {kind.SHORT: data}
        document = replace(document, lines=lines | {at: document.lines[at]})
    if not isinstance(data, dict):
        document.note((*key_path, name), f"{what}: write it as in `- {kind.EXAMPLES[0].step}`")
        return None
    return make(kind, data, document, (*key_path, name), what)


TABLE: Final = """
table:
  columns:
    id: string
    ts: long
    p: int
    n: int
    f1: string
    f2: string
    at: timestamp
    s: "struct<a: string, b: int>"
  key: id
  order_by: ts
  partition_by: [p]
steps:
  - insert: [1, 2]
  - insert: [3, 4]
  - upsert: [4]
"""


def scenario_of(example: Example) -> Scenario:
    steps = "".join(f"  - {step}\n" for step in (*example.after, example.step))
    return loads(TABLE + steps, "examples/operation.yaml")
