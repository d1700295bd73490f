"""The rows of a table as its own files and logs say, with no code of the judge.

What a faultless reader shows is worked out by the read plans of the formats, which audits carry
out; the folders of plain tables of Hive are read as they lie. What the rules of a format leave
open makes the rows of a table `doubtful`.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from harness.audit import file_rows, table_rows
from harness.audit.file_rows import FileTable
from harness.formats.delta import read_plan as delta_plan
from harness.formats.files import arrow_file, table_folder
from harness.formats.hive_acid import read_plan as acid_plan
from harness.formats.hudi import read_plan as hudi_plan
from harness.formats.iceberg import move
from harness.formats.iceberg import read_plan as iceberg_plan
from harness.formats.read_plan import ReadPlan
from harness.runtime.metastore_objects import WriteIds

NULL_FOLDER: Final = "__HIVE_DEFAULT_PARTITION__"
HIDDEN: Final = ("_", ".")
"""How the names of files begin that are no data of Hive's."""


class StoredRow(NamedTuple):
    file: str
    """Relative to the table's folder."""
    values: Mapping[str, Any]
    """By the names of the file; of a text file by the numbers of its fields."""
    current: Mapping[str, Any] | None
    """By the table's names of now, where the table's own records say which is which."""
    doubtful: str = ""
    step: int = -1
    """The step that wrote it, where that was recorded."""


class Written(str):
    """A value that a folder's name, a log or a text file holds as text."""

    __slots__ = ()


Paths = Mapping[Any, str]
"""The dotted path of each field by its id; elements of a list are called `element`."""


def by_ids(row: Mapping[str, Any], then: Paths, now: Paths) -> dict[str, Any]:
    """Return a row by the names of now: each value of the field that has its id.

    >>> by_ids({"s": {"a": 1, "b": 2}}, {1: "s", 2: "s.a", 3: "s.b"}, {1: "t", 3: "t.a", 4: "t.b"})
    {'t': {'a': 2, 'b': None}}
    """
    children = defaultdict[str, list[tuple[object, str]]](list)
    for id_, path in now.items():
        children[path.rpartition(".")[0]].append((id_, path))

    def part(value: object, path: str) -> object:
        if isinstance(value, dict) and children[path]:
            return fields(value, path)
        if isinstance(value, list):
            return [part(element, f"{path}.element") for element in value]
        return value

    def fields(value: Mapping[str, Any], path: str) -> dict[str, Any]:
        names = {id_: stored.rpartition(".")[2] for id_, stored in then.items()}
        return {
            at.rpartition(".")[2]: part(value.get(names.get(id_, "")), at)
            for id_, at in children[path]
        }

    return fields(row, "")


def folders(path: str) -> dict[str, tuple[object, ...]]:
    """Return what the names of a file's folders may be read as: each name as it is or decoded."""
    pairs = (part.partition("=") for part in path.split("/")[:-1] if "=" in part)
    return {
        unquote(name): (None, Written(text))
        if text == NULL_FOLDER
        else (Written(unquote(text)), Written(text))
        for name, _, text in pairs
    }


def rows_of(table: Path, *, base_only: bool = False) -> list[StoredRow]:
    """Return the rows of a frozen table, whose catalog entries stand beside it.

    `base_only`: without what log files of Hudi hold. Raises FileFactError, UnreadableError.
    """
    state = json.loads((table.parent / "state.json").read_text(encoding="utf-8"))
    entries = {entry["name"]: entry for entry in state["entries"]}
    folder = table_folder.at(str(table))
    if (table / ".hoodie").exists():
        by_records = any((table / ".hoodie" / ".schema").glob("[0-9]*.schemacommit"))
        return _planned(table, hudi_plan.plan(folder), by_records=by_records, base_only=base_only)
    if (table / "_delta_log").exists():
        return _planned(table, delta_plan.plan(folder))
    if (table / "metadata").exists():
        pointer = entries["t"]["table"]["parameters"]["metadata_location"]
        metadata = f"metadata/{pointer.rpartition('/')[2]}"
        moved = move.of_copy(folder, str(table), metadata)
        return _planned(table, iceberg_plan.plan(folder, metadata, moved))
    if ids := entries["t"].get("write_ids") if "t" in entries else None:
        return _planned(table, acid_plan.plan(folder, None, WriteIds(**ids)), by_records=False)
    return list(_plain(table))


def _planned(
    table: Path, plan: ReadPlan, *, by_records: bool = True, base_only: bool = False
) -> list[StoredRow]:
    bases = [*plan.files, *(merge.base for merge in plan.merges if merge.base)]
    files = (file_rows.read(plan, file)[0] for file in bases)
    result = list[StoredRow]()
    for part in files if base_only else table_rows.files(plan):
        result += _rows_of_file(table, plan, part, by_records=by_records)
    return result


def _rows_of_file(
    table: Path, plan: ReadPlan, part: FileTable, *, by_records: bool
) -> Iterator[StoredRow]:
    file, names = part.file, [column.name for column in plan.columns]
    path = file.location.removeprefix(f"{table}/")
    stored = file.stored() if file.stored else arrow_file.read(file.location)
    given = {name: values[0] for name, values in folders(path).items()}
    given |= {str(id_): value for id_, value in file.constants.items()}
    doubt = next(iter(plan.undecided), "")
    whole = table_rows.TableRows(plan, (part,)).rows
    every = stored.to_pylist()
    for at, row in zip(part.positions, whole, strict=True):
        shown = dict(zip(names, row, strict=True))
        stands = {**given, **(shown if file.partial else {}), **every[at]}
        yield StoredRow(path, stands, shown if by_records else None, doubt)


def _plain(table: Path) -> Iterator[StoredRow]:
    """Yield the rows of plain files, those of text files by the numbers of their fields."""
    for path in sorted(table.rglob("*")):
        name = str(path.relative_to(table))
        if not path.is_file() or any(part[0] in HIDDEN for part in Path(name).parts):
            continue
        named = {column: values[0] for column, values in folders(name).items()}
        content = path.read_bytes()
        if content.startswith((b"PAR1", b"ORC", b"Obj\x01")):
            for row in arrow_file.read(str(path)).to_pylist():
                yield StoredRow(name, {**named, **row}, None)
            continue
        for line in content.decode(errors="replace").split("\n")[:-1]:
            fields = {str(n): Written(text) for n, text in enumerate(line.split("\x01"))}
            yield StoredRow(name, {**fields, **named}, None)


def by_history(
    row: Mapping[str, Any], history: Mapping[str, Paths], instant: str
) -> dict[str, Any] | None:
    """Return a row by the names of now; None where its file was written with another schema.

    Source: Hudi, `InternalSchemaCache`: the newest version that is not newer than the commit.
    """
    versions = [version for version in history if int(version) <= int(instant)]
    then = history[max(versions, key=int)] if versions else {}
    columns = {path for path in then.values() if "." not in path and path[:8] != "_hoodie_"}
    if not columns or not columns <= row.keys():
        return None
    return by_ids(row, then, history[max(history, key=int)])


# What Hive leaves of a value


def _parts(type_: str) -> list[tuple[str, str]]:
    """Return the names and types of what is in a struct, an array or a map.

    >>> _parts("struct<a:int,b:array<decimal(9,2)>>"), _parts("map<string,int>")
    ([('a', 'int'), ('b', 'array<decimal(9,2)>')], [('', 'string'), ('', 'int')])
    """
    outer, _, inner = type_.removesuffix(">").partition("<")
    parts, depth = [""], 0
    for letter in inner:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    named = (part.strip().partition(":") for part in parts)
    return [
        (name.strip(), type_.strip()) if outer == "struct" else ("", name.strip() + colon + type_)
        for name, colon, type_ in named
    ]


NUMBERS: Final = re.compile(r"(tiny|small|big)?int|long|float|double|decimal\(.*\)")


def left_of(value: object, now: str, then: str) -> object:
    """Return what is left of a value of the table's type where its partition's list has another.

    Raises ValueError where it is not known. Source: Hive 3.1.3, `ObjectInspectorConverters`.

    >>> left_of({"a": 1, "b": 2}, "struct<a:int,b:int>", "struct<a:int>")
    {'a': 1, 'b': None}
    >>> left_of("x", "string", "int") is None, left_of("x", "string", "string")
    (True, 'x')
    """
    if value is None or now == then:
        return value
    if isinstance(value, dict) and now.startswith("struct<") and then.startswith("struct<"):
        there = zip(_parts(now), _parts(then), strict=False)
        left = {name: left_of(value.get(name), to, of) for (name, to), (_, of) in there}
        return {name: left.get(name) for name, _ in _parts(now)}
    if isinstance(value, list | tuple) and now.startswith("array<") and then.startswith("array<"):
        (_, to), (_, of) = *_parts(now), *_parts(then)
        return [left_of(element, to, of) for element in value]
    if isinstance(value, str) and now == "string" and NUMBERS.fullmatch(then):
        try:
            Decimal(value)
        except InvalidOperation:
            return None
    raise ValueError(f"{then} is the partition's type, {now} the table's")
