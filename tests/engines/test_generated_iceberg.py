"""Iceberg tables with random changes have the rows that PyIceberg reads of them, by their files."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from harness.artifacts.fetch import Installation
from harness.audit import table_rows
from harness.audit.projection import full_type
from harness.engines.arrow_values import canonical, canonical_type
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.files.column_parts import ColumnPart
from harness.formats.files.locations import Locations
from harness.formats.iceberg import read_plan
from harness.formats.iceberg.table import NAME_MAPPING, current, mapped
from harness.formats.read_plan import FileColumns, ReadPlan
from harness.model.canonical import MapValue, Value, to_json
from tests.audit import pyiceberg_tables

pytestmark = pytest.mark.engines
Row = tuple[Value, ...]
LIBRARY = "pyiceberg-0.12.0"
KNOWN = {
    r"is .* in it, which is no (struct|array|map)": (
        "the name mapping gives the name of a dropped column to a new one with parts, and a file "
        "without ids has the old one under it: PyIceberg shows NULLs, no rule of the format does"
    )
}
"""Where PyIceberg shows rows and the files give none: our reason, and why it is no fault."""
REFUSED = {
    "PyIceberg does not yet support equality deletes": "the rows that they leave are compared",
    "Could not find field with name": (
        "a part of a file without ids is not in the name mapping: it is left out (specification, "
        '"Name Mapping Serialization")'
    ),
    r"Cannot promote fixed\[\d+\] to binary": (
        "the name mapping gives the name of a dropped column to a new one that holds its values"
    ),
}
"""What PyIceberg refuses, where the files give rows."""


@dataclass(frozen=True)
class Outcome:
    """What became of a comparison: no difference where both have the same rows."""

    table: str
    snapshot: str
    difference: str = ""
    explained: str = ""
    """Why there is nothing to compare."""


def written(packages: Path, folder: Path, seeds: Sequence[int]) -> Iterator[Outcome]:
    program = [sys.executable, "-W", "ignore", "-I", "-S", pyiceberg_tables.__file__]
    subprocess.run([*program, str(packages), str(folder), *map(str, seeds)], check=True)
    for seed in seeds:
        story = json.loads((folder / str(seed) / "answers.json").read_text())
        for answer in story["answers"]:
            yield compared(folder / str(seed), answer)


def compared(folder: Path, answer: Mapping[str, str]) -> Outcome:
    name, snapshot, theirs_read = folder.name, answer["snapshot"], bool(answer["rows"])
    try:
        plan = read_plan.plan(table_folder.at(str(folder)), "", Locations(), snapshot)
        rows = table_rows.read(plan).rows
    except FileFactError as problem:
        why = explained(str(problem), KNOWN) if theirs_read else "neither reads it"
        return Outcome(name, snapshot, str(problem), why)
    if not theirs_read:
        return Outcome(name, snapshot, answer["why"], explained(answer["why"], REFUSED))
    read = pa.ipc.open_file(str(folder / answer["rows"])).read_all()
    types = [canonical_type(full_type(part, plan.arrow_type)) for part in plan.columns]
    theirs = [canonical_type(column.type) for column in read.columns]
    if read.column_names != [part.name for part in plan.columns]:
        return Outcome(name, snapshot, f"columns {read.column_names}")
    if any(ours != other for ours, other in zip(types, theirs, strict=True) if ours and other):
        return Outcome(name, snapshot, f"types {types} and {theirs}")
    columns = [[canonical(scalar) for scalar in column] for column in read.columns]
    shown = zip(*map(as_text, columns, [part.type for part in plan.columns]), strict=True)
    ours, other = counted(rows), counted(shown)
    if ours == other:
        return Outcome(name, snapshot)
    answers = DEVIATIONS.items()
    why = next((why for why, rows_of in answers if counted(rows_of(folder, plan)) == other), "")
    return Outcome(name, snapshot, f"{ours - other} {other - ours}", why)


def names_before_partition(folder: Path, plan: ReadPlan) -> Iterator[Row]:
    there = table_folder.at(str(folder))
    newest = there.text(current(there))
    stored = json.loads(newest or b"{}").get("properties", {}).get(NAME_MAPPING, "[]")
    columns = FileColumns(mapped(stored), by_id=True)
    files = tuple(replace(file, columns=columns) for file in plan.files)
    yield from table_rows.read(replace(plan, files=files)).rows


def empty_lists_for_null(folder: Path, plan: ReadPlan) -> Iterator[Row]:
    for row in table_rows.read(plan).rows:
        yield tuple(map(no_null_list, row, plan.columns))


def no_null_list(value: Value, part: ColumnPart) -> Value:
    match part.type:
        case "struct" if value is not None:
            return {inner.name: no_null_list(value[inner.name], inner) for inner in part.parts}
        case "map" if value is not None:
            return MapValue.of([(k, no_null_list(v, part.parts[1])) for k, v in value.pairs])
        case "array":
            (element,) = part.parts
            if value is None:
                return () if element.type == "struct" else None
            return tuple(no_null_list(one, element) for one in value)
    return value


DEVIATIONS: Mapping[str, Callable[[Path, ReadPlan], Iterator[Row]]] = {
    "of a file without ids PyIceberg takes a column by its name before the partition's value, "
    'which goes first (specification, "Column Projection")': names_before_partition,
    "PyIceberg makes an empty list of a list of structs that is NULL (`ArrowProjectionVisitor`)": (
        empty_lists_for_null
    ),
}
"""How PyIceberg reads otherwise, and what it shows then: just that must come out."""


def explained(problem: str, known: Mapping[str, str]) -> str:
    return next((why for pattern, why in known.items() if re.search(pattern, problem)), "")


def as_text(values: list[Value], word: str) -> list[Value]:
    """Return values of a column, UUIDs of which PyIceberg gives the bytes as texts."""
    known: dict[str, Callable[[Any], Value]] = {"uuid": lambda v: str(UUID(bytes=v))}
    return [known[word](v) if word in known and isinstance(v, bytes) else v for v in values]


def counted(rows: object) -> Counter[str]:
    assert isinstance(rows, Iterator | tuple)
    return Counter(json.dumps(to_json(row)) for row in rows)


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(20), id="20 tables"),
        pytest.param(range(20, 200), id="200 tables", marks=pytest.mark.nightly),
    ],
)
def test_tables_that_changed_at_random_have_the_rows_that_pyiceberg_reads(
    seeds: Sequence[int], installed: Callable[[str], Installation], tmp_path: Path
) -> None:
    outcomes = list(written(installed(LIBRARY).home or Path(), tmp_path, seeds))
    different = [outcome for outcome in outcomes if outcome.difference]
    assert [outcome for outcome in different if not outcome.explained] == []
    assert len(outcomes) - len(different) > 5 * len(seeds)  # most are compared
