"""Each answer of a reader that should be right and was not: whose fault it is, and the evidence.

    python tools/measure/known_good.py tests/recorded/full docs/results/known_good.jsonl.xz

Readers that should be right are those of `adjudicate.py good`. There is a line for each of their
answers in a recording that is wrong or refused. What the files hold (as it was read directly) is
read again in the ways of `known_good_files.py`; a wrong answer, and each column that was asked
alone, must be exactly what one of them gives. A refusal must be of exactly one kind of
`known_good_rules.py`, whose evidence is looked up for the very cell. And rightly read the files
must give what is expected. What is not so is `unadjudicated`, and the command ends with status 1.
Prints how many there are of each group.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools` and `tests`

from harness.core.records import FindingKind, VerdictKind
from harness.run.load_run import WRITE
from harness.scenario.cells import Cell, Variant
from tests.builders import recorded_lines, recordings
from tests.builders.recordings import Recorded
from tools.measure.adjudicate import groups
from tools.measure.known_good_cell import KnownGoodCell, alone, peers, short, way_text
from tools.measure.known_good_files import RIGHT, Deviation, Files
from tools.measure.known_good_rules import DOUBTFUL, READER, RULES

UNADJUDICATED: Final = "unadjudicated"
FINE: Final = frozenset({VerdictKind.CORRECT, VerdictKind.UNSUPPORTED})
JUDGEMENTS: Final = {
    "undeleted": (
        "PrestoDB 0.283 reads no delete files of Iceberg's.",
        "prestodb/presto#20492; its manual, Iceberg connector, limitations",
    ),
    "parts_by_name": (
        "PrestoDB 0.283 finds parts of structs by name.",
        "prestodb/presto#28539, of a later version",
    ),
    "columns_by_name": (
        "PrestoDB 0.283 finds a part asked for alone by its whole path's name.",
        "prestodb/presto#28539, of a later version",
    ),
    "to_1970": (
        "Timestamps are divided as whole numbers, so that those before 1970 become later.",
        "Hive3Shim.getTimestampWriteable of Hudi 1.0.2; of PrestoDB none known",
    ),
    "base_only": (
        "It reads base files only of merge-on-read tables.",
        "trinodb/trino#14432; apache/hudi#8185",
    ),
}
"""What each way to read otherwise is judged to be, and where it is known from."""
GROUPS: Final = {
    "undeleted": "delete files left out",
    "parts_by_name": "parts of structs by name",
    "columns_by_name": "a part asked alone by its path's name",
    "to_1970": "timestamps towards 1970",
    "base_only": "log files left out",
}
BOUNDS_OF_ANOTHER: Final = (
    "condition on a part against a column's bounds",
    READER,
    "Trino 368 holds a condition on a part of a struct against a column of the same name.",
    "trinodb/trino#15408, merged for a later version",
)
"""What answers of Trino 368 are that parts found by name would give too."""
ONCE: Final = (
    "hudi/all_types[hudi-mor,rewrites=some,partitioned=two_last,meta_fields=omitted,"
    "table_version=6]@spark-3.5.8-hudi-1.0.2/s2/snapshot/all/"
    "prestodb-0.283{connector=hive, use-column-names=false}"
)
"""A cell with something wrong that did not come again from any of four fresh servers."""
AS_WRITTEN: Final = "rightly read, the files give what is expected"
DRIFT: Final = (
    "Spark repeats the catalog's type; that one without a zone is meant the scenario alone says.",
    "SPARK-36180; docs/scenarios.md, times without a zone",
)


def first_change(variant: Variant) -> int:
    """Return the first step that changes the schema; one past the last if none does."""
    steps = variant.scenario.steps
    changing = (at for at, each in enumerate(steps, 1) if each.operation.CHANGES_SCHEMA)
    return min(changing, default=len(steps) + 1)


def known_good(cell: Cell, variant: Variant) -> bool:
    """Return whether the reader of a cell should be right."""
    return cell.view != WRITE and any(groups(cell, variant.format, first_change(variant)))


def cells(recorded: Recorded) -> Iterator[KnownGoodCell]:
    """Yield the cells of a variant that are to be adjudicated."""
    right: dict[tuple[int, str, str], list[str]] = {}
    for cell, said in recorded.verdicts.items():
        if said["verdict"] == VerdictKind.CORRECT:
            right.setdefault((cell.step, cell.view, cell.query), []).append(cell.reader)
    files = Files(recorded)
    for cell, said in recorded.verdicts.items():
        answer = recorded.answers.get(cell)
        if answer and said["verdict"] not in FINE and known_good(cell, recorded.variant):
            same = right.get((cell.step, cell.view, cell.query), ())
            yield KnownGoodCell(cell, said, answer, files, tuple(same))


ResultLine = Mapping[str, object]


def line(known: KnownGoodCell) -> ResultLine:
    """Return what is said of a cell."""
    refused = known.said["verdict"] == VerdictKind.REFUSED
    group, whose, judgement, source, evidence = _refused(known) if refused else _wrong(known)
    return {
        "case": known.cell.case,
        "verdict": known.said["verdict"],
        "findings": known.names(),
        "group": group,
        "whose": whose,
        "judgement": judgement,
        "evidence": "; ".join(filter(None, evidence)),
        "source": source,
    }


Judgement = tuple[str, str, str, str, tuple[str, ...]]
"""Group, whose fault, judgement, source, evidence."""


def _unknown(*evidence: str) -> Judgement:
    return UNADJUDICATED, UNADJUDICATED, "", "", evidence


def _wrong(known: KnownGoodCell) -> Judgement:
    ways = known.ways(known.answer)
    if not ways or not known.as_written:
        return _unknown(way_text(ways), *known.witnesses())
    if ways[0] == RIGHT:
        return _drift(known)
    names = [_named(way) for way in ways]
    if any(each not in JUDGEMENTS for some in names for each in some):
        return _unknown(way_text(ways), *known.witnesses())
    found = [JUDGEMENTS[each] for each in names[0]]
    judgement = " ".join(said for said, _ in found)
    source = "; ".join(of for _, of in found)
    gives = f"the files give exactly this answer {way_text(ways)}"
    evidence = (gives, *known.witnesses(), AS_WRITTEN)
    if names[0] == ["parts_by_name"] and known.reader == "trino-368":
        return *BOUNDS_OF_ANOTHER, evidence
    return " and ".join(GROUPS[each] for each in names[0]), READER, judgement, source, evidence


def _named(way: Deviation) -> list[str]:
    return [each for each in Deviation.__slots__ if getattr(way, each)]


def _drift(known: KnownGoodCell) -> Judgement:
    if known.kinds != {FindingKind.TYPE_DRIFT} or not known.reader.startswith("spark"):
        return _unknown("the files give exactly these values", *known.witnesses())
    created = known.files.recorded.states[0].outcome.statements
    types = dict(known.state.files[0].columns)
    columns = [each for finding in known.said["findings"] for each in finding["columns"]]
    held = f"the files have {columns[0]} {types.get(columns[0], '')}"
    said = f"created with {short(created[-1]) if created else 'nothing'}"
    values = "the files give exactly these values"
    return "timestamps of the catalog", DOUBTFUL, *DRIFT, (values, held, said, *known.witnesses())


def _refused(known: KnownGoodCell) -> Judgement:
    asked_alone, explained = alone(known)
    found = [
        (rule, said, evidence)
        for rule in RULES
        if (said := re.search(rule.error, known.error)) and re.match(rule.reader, known.reader)
        if (evidence := rule.evidence(known)) is not None
    ]
    if known.cell.case == ONCE and known.as_written:
        judgement = "What is wrong came once, and from none of four fresh servers again."
        said_once = (short(known.error), asked_alone, *known.witnesses(), AS_WRITTEN)
        return "wrong once", DOUBTFUL, judgement, "none known", said_once
    if len(found) != 1 or not explained or not known.as_written:
        return _unknown(short(known.error), asked_alone)
    rule, said, evidence = found[0]
    error = short(known.error[said.start() :])
    told = (f"said {error}", evidence, asked_alone, AS_WRITTEN, peers(known))
    return rule.group, rule.whose, rule.judgement, rule.source, told


def lines(variants: Iterable[Recorded]) -> Iterator[ResultLine]:
    """Yield a line for each cell, in the order of the recording."""
    for recorded in variants:
        yield from map(line, cells(recorded))


def main() -> int:
    """Write the lines of a recording."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recording", type=Path, help="such as tests/recorded/full")
    parser.add_argument("file", type=Path, help="for JSON lines; compressed if it ends in .xz")
    given = parser.parse_args()
    said = [
        each
        for folder in recordings.folders(given.recording)
        for each in lines(recordings.read(folder))
    ]
    text = "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in said)
    recorded_lines.write(given.file, text)
    counted = Counter((each["verdict"], each["group"], each["whose"]) for each in said)
    for (verdict, group, whose), number in counted.most_common():
        print(f"{number:>5} {verdict}: {group} ({whose})")
    return int(any(group == UNADJUDICATED for _, group, _ in counted))


if __name__ == "__main__":
    raise SystemExit(main())
