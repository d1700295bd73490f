"""Columns in the order of a Hudi table's own schema, under the names that the catalog lists.

The order of the metastore may be another one than that of the table: a column that the write client
moved is moved nowhere else, and a DataFrame of other columns first changes the schema of the next
commit alone. Hive 3.1.3 with Hudi 1.0.2 then gives each row's values in the order of the table and
names them in the order of the catalog (seen without MapReduce, schema-on-read off).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.model.file_facts import FileFact
from harness.model.schema import Field
from harness.model.simulation.column_resolution import META, Slices, written_schema
from harness.model.truth import History, Truth


def taken_for(
    history: History, found: Slices, steps: Mapping[str, int], catalog: Sequence[str]
) -> Mapping[int, int]:
    """Return the columns that show another one, by their ids; nothing where both orders agree.

    Nor is anything said where a column would show one of another type, which ends with an error,
    nor where a table is not Hudi's or the catalog lists other columns than the table has.
    """
    files = [fact for base, logs in found for fact in (base, *logs) if fact and fact.columns]
    now, hudis = _own(history[-1]), any(META.keys() <= _names(fact) for fact in files)
    ids = {field.name.lower(): field.id for field in now}
    listed = [ids[name] for name in map(str.lower, catalog) if name in ids]
    if not hudis or sorted(listed) != sorted(ids.values()):
        return {}
    types = {field.id: field.type for field in now}
    pairs = zip(listed, _order(history, files, steps), strict=True)
    others = {shown: own for shown, own in pairs if shown != own}
    return others if all(types[a] == types[b] for a, b in others.items()) else {}


def _order(history: History, files: Sequence[FileFact], steps: Mapping[str, int]) -> list[int]:
    """Return the ids of the columns in the table's own order.

    It is the truth's, but where the newest files have the columns of their time in another one:
    then a write has changed it.
    """
    now = [field.id for field in _own(history[-1])]
    newest = max(files, key=lambda fact: steps[fact.instant])
    then = {field.name: field.id for field in _own_of(history, newest, steps)}
    written = [then[name] for name, _ in newest.columns if name in then]
    if written == list(then.values()):
        return now
    here = [number for number in written if number in now]
    return here + [number for number in now if number not in here]


def _own(truth: Truth) -> list[Field]:
    parts = truth.table.partition_by
    return [field for field in truth.schema.fields if field.name not in parts]


def _own_of(history: History, fact: FileFact, steps: Mapping[str, int]) -> list[Field]:
    parts = history[-1].table.partition_by
    fields = written_schema(history, fact, steps).fields
    return [field for field in fields if field.name not in parts]


def _names(fact: FileFact) -> frozenset[str]:
    return frozenset(name for name, _ in fact.columns)
