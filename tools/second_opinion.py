"""Hold the model's tables against what libraries read that share no code with the harness.

    python tools/second_opinion.py write RUN [--format iceberg …]
    python tools/second_opinion.py ask RUN …
    python tools/second_opinion.py compare RUN …

`write` writes a table for each shipped scenario in each format that a shipped profile has for it,
and asks no reader; a folder of `harness write` or `harness run` serves as well.
`ask` has every frozen state of a run read by the second reader of its format (`READERS`), in a
process with that library's packages alone (`second_opinion_reader.py`), and the last state of each
table also as of each earlier step. It writes `opinions.jsonl` into the run's folder; no JVM is
started. `compare` evaluates the model for the same states and compares all columns and rows. It
reads no table and starts nothing, so that recorded opinions can be compared again. It prints how
many states of each format are the same, and each difference or reader's error that is not explained
in `second_opinion.yaml`, and ends with 1 where there is one.

Of the harness this asks the model, the scenarios and the records of a run. Neither the judge nor
what the harness knows of formats and engines has a say: `plain`, `type_text` and `differences` are
a little duplication on purpose, so that one mistake is not made in both.
"""

import argparse
import datetime
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.types as kinds
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from harness import formats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools`

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.cli.output import PlainProgress
from harness.core.errors import ScenarioProblem
from harness.core.grouping import grouped
from harness.core.progress import Progress
from harness.core.records import OutcomeKind, StateRecord
from harness.model import past_views
from harness.model.canonical import MapValue, Unsettled
from harness.model.truth import History, Truth, row_values
from harness.plan import load_profiles, load_scenarios, plan, profiles_file, scenarios_folder
from harness.plan.distribution_support import makers_of
from harness.run import load_run, pipeline, plan_record, run_folder
from harness.scenario.cells import Plan, Variant
from harness.write.state_store import State
from tools.shared import table

READERS: Final = {
    "iceberg": "pyiceberg",
    "delta": "deltalake",
    "hudi-cow": "hudi",
    "hudi-mor": "hudi",
    "hive-parquet": "pyarrow",
    "hive-orc": "pyarrow",
}
"""The second reader of each format; the others have none."""
WIDENING: Final = "type_widening"
OF_WIDER_TYPES: Final = "duckdb"
"""That of Delta tables with this setting, which delta-rs refuses."""
DISTRIBUTIONS: Final = {
    "pyiceberg": "pyiceberg-0.12.0",
    "deltalake": "deltalake-1.6.6",
    "duckdb": "duckdb-1.5.5",
    "hudi": "datafusion-54.1.0-hudi-0.5.0",
    "pyarrow": "deltalake-1.6.6",
}
"""Whose locked packages have it."""
FILES_ALONE: Final = ("pyarrow",)
"""They read files, whose own columns are neither the table's in number nor in type."""
GO_BACK: Final = ("pyiceberg", "deltalake", "duckdb")
"""They show an earlier table with the columns of then; hudi-rs has those of now."""
OPINIONS: Final = "opinions.jsonl"
META_COLUMNS: Final = frozenset(
    f"_hoodie_{name}"
    for name in ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
)
"""Of Hudi's own: its documentation, "Metadata columns"."""
EXPLAINED: Final = Path(__file__).with_suffix(".yaml")
READER: Final = Path(__file__).with_name("second_opinion_reader.py")
ENDED: Final = "the process ended"
Plain = Any
"""What JSON can hold: `plain` of a value."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a second reader showed of a state."""

    variant: str
    step: int
    reader: str
    past: int | None = None
    """The earlier step as of which the state was asked; None for what is now."""
    columns: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[Plain, ...], ...] = ()
    error: str = ""
    """Why there are no rows."""

    @property
    def name(self) -> str:
        return f"{self.variant}/s{self.step}" + (f"/as_of({self.past})" if self.past else "")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One place where opinion and model are not the same."""

    kind: str
    column: str = ""
    key: str = ""
    expected: str = ""
    found: str = ""


# Values and types


def plain(value: object) -> Plain:
    """Return a value as JSON that tells its type; the same for equal values of Arrow and the model.

    >>> plain(Decimal("1.50")), plain([1, None]), plain(MapValue((("k", 1),))), plain([("k", 1)])
    ({'decimal': '1.50'}, [1, None], {'map': [['k', 1]]}, {'map': [['k', 1]]})
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return {"float": repr(value)}
        case Decimal():
            return {"decimal": f"{value:f}"}
        case datetime.datetime():
            utc = value.astimezone(datetime.UTC) if value.tzinfo else value
            beyond = getattr(value, "nanosecond", 0)
            text = utc.replace(tzinfo=None).isoformat(" ", "microseconds")
            return {"timestamp": text[:26] + (f"{beyond:03}" if beyond else "")}
        case datetime.date():
            return {"date": value.isoformat()}
        case bytes():
            return {"binary": value.hex()}
        case MapValue():
            return _map(value.pairs) if value.pairs else []
        case dict():
            return {"struct": [[name, plain(part)] for name, part in value.items()]}
        case list() | tuple():
            # Arrow's Python has pairs for a map, and for nothing else.
            pairs = bool(value) and all(isinstance(part, tuple) for part in value)
            return _map(value) if pairs and isinstance(value, list) else [*map(plain, value)]
    return {type(value).__name__: str(value)}


def _map(pairs: Iterable[tuple[object, object]]) -> Plain:
    return {"map": sorted(([plain(key), plain(part)] for key, part in pairs), key=json.dumps)}


def text(value: Plain) -> str:
    """Return the text that values are compared by: in JSON 1, 1.0 and true are three."""
    return json.dumps(value, ensure_ascii=False)


_NAMES: Final = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "long",
    "date32[day]": "date",
    **dict.fromkeys(("large_string", "string_view"), "string"),
    **dict.fromkeys(("large_binary", "binary_view"), "binary"),
}


def type_text(type_: pa.DataType) -> str:
    """Return Arrow's type in the words of scenarios.

    >>> type_text(pa.list_(pa.struct([("a", pa.int64())])))
    'array<struct<a: long>>'
    """
    if kinds.is_struct(type_):
        return f"struct<{', '.join(f'{part.name}: {type_text(part.type)}' for part in type_)}>"
    if kinds.is_map(type_):
        return f"map<{type_text(type_.key_type)}, {type_text(type_.item_type)}>"
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        return f"array<{type_text(type_.value_type)}>"
    if kinds.is_decimal(type_):
        return f"decimal({type_.precision}, {type_.scale})"
    if kinds.is_timestamp(type_):
        return "timestamp" if type_.tz else "timestamp_ntz"
    return _NAMES.get(str(type_), str(type_))


# Writing


def shipped(formats_: Collection[str]) -> Plan:
    """Plan the first table that the shipped profiles have of each scenario in each format."""
    scenarios = load_scenarios(scenarios_folder())
    variants: dict[tuple[str, str], Variant] = {}
    for profile in load_profiles(profiles_file()).values():
        matching = [s for s in scenarios if _matches(s.name, profile.scenarios)]
        shapes, makers = map(formats.load, formats.names()), makers_of(profile)
        for variant in plan(matching, profile, shapes, makers).variants:
            if variant.format in formats_ and not variant.twin:
                variants.setdefault((variant.scenario.name, variant.format), variant)
    return Plan("second_opinion", tuple(variants.values()), (), ())


def write(planned: Plan, folder: Path, cache: Cache, progress: Progress) -> None:
    """Write the tables of a plan, and freeze each after each step; a folder's run goes on."""
    work = pipeline.Work(cache, folder, progress)
    if not (folder / load_run.INFO).exists():
        run_folder.make(folder)
        now = datetime.datetime.now(datetime.UTC)
        load_run.write_info(folder, plan_record.info_of(planned, folder.name, now))
    pipeline.fetch_plan(planned, work)
    pipeline.write_states(planned, work)


# Asking


def ask(run: load_run.Run, cache: Cache) -> Iterator[Opinion]:
    """Have each frozen state of a run read, and each table's last one as of its earlier steps."""
    states = pipeline.states_of(run.states, cache)
    asked = defaultdict[str, list[tuple[Opinion, Question]]](list)
    for variant in plan_record.plan_of(run.info).variants:
        records = run.states_of(variant.id)
        there = [record.outcome.step for record in tables(records)]
        for at in there if variant.format in READERS else ():
            question = _question(variant, states[variant.id, at])
            opinion = Opinion(variant.id, at, question["reader"])
            asked[opinion.reader].append((opinion, question))
            if at == there[-1] and opinion.reader in GO_BACK:
                instants = states[variant.id, at].frozen.instants
                now = history_of(variant, records)[-1]
                for past, instant in enumerate(instants[:at]):
                    if instant and past >= now.oldest and past not in now.undone:
                        older = replace(opinion, past=past), question | {"past": instant}
                        asked[opinion.reader].append(older)
    for reader, questions in asked.items():
        yield from _answered(reader, questions, cache)


def tables(records: Sequence[StateRecord]) -> list[StateRecord]:
    """Return the records of states that are tables: none where the writer refused to create it."""
    created = bool(records) and records[0].outcome.kind is OutcomeKind.APPLIED
    return [record for record in records if record.digest] if created else []


Question = Mapping[str, str]
"""What `second_opinion_reader.py` is asked."""


def _question(variant: Variant, state: State) -> dict[str, str]:
    """Return a question without a past; what is not yet migrated to Iceberg are plain files."""
    pointers = [
        entry.table["parameters"].get("metadata_location", "") for entry in state.frozen.entries
    ]
    metadata = next(filter(None, pointers), "").removeprefix("file:")
    reader, folder = READERS[variant.format], str(state.table)
    if variant.settings.get(WIDENING) == "on":
        reader = OF_WIDER_TYPES
    if reader == "pyarrow" or (reader == "pyiceberg" and not metadata):
        reader, metadata = "pyarrow", "orc" if variant.format == "hive-orc" else "parquet"
    return {
        "reader": reader,
        "folder": folder,
        "home": str(state.home),
        "metadata": metadata.replace("{location}", folder),
        "past": "",
    }


def _answered(
    reader: str, asked: Sequence[tuple[Opinion, Question]], cache: Cache
) -> Iterator[Opinion]:
    """Yield the opinions with what the reader's process answered; if it ends it starts again."""
    distribution = distributions.load(DISTRIBUTIONS[reader])
    home = fetch.ensure(distribution, cache, Progress()).home
    with tempfile.TemporaryDirectory() as folder:
        questions, answers = Path(folder, "questions.json"), Path(folder, "answers")
        questions.write_text(json.dumps([question for _, question in asked]), encoding="utf-8")
        answers.mkdir()
        for number in range(len(asked)):
            if not _outcome(answers, number):
                command = [sys.executable, "-I", "-S", READER, home, questions, answers]
                subprocess.run([*map(str, command)], check=False)
                if not _outcome(answers, number):
                    (answers / f"{number}.error").write_text(ENDED, encoding="utf-8")
        for number, (opinion, _) in enumerate(asked):
            yield _read(opinion, _outcome(answers, number))


def _outcome(answers: Path, number: int) -> Path | None:
    paths = (answers / f"{number}.{ending}" for ending in ("arrow", "error"))
    return next(filter(Path.exists, paths), None)


def _read(opinion: Opinion, path: Path | None) -> Opinion:
    if path is None or path.suffix == ".error":
        return replace(opinion, error=path.read_text(encoding="utf-8") if path else ENDED)
    with pa.ipc.open_file(path) as file:
        content = file.read_all()
    names = [name for name in content.schema.names if name not in META_COLUMNS]
    columns = tuple((name, type_text(content.schema.field(name).type)) for name in names)
    try:
        values = [[*map(plain, content[name].to_pylist())] for name in names]
    except (OverflowError, ValueError) as beyond:  # Python has no such moment
        return replace(opinion, error=f"{type(beyond).__name__}: {beyond}")
    rows = tuple(sorted(zip(*values, strict=True), key=text))  # a reader has them in any order
    return replace(opinion, columns=columns, rows=rows)


# The model


def history_of(variant: Variant, records: Sequence[StateRecord]) -> History:
    """Return the model's truth after each step, by which of them the writer applied."""
    outcomes = {record.outcome.step: record.outcome.kind for record in records}
    steps = range(1, len(variant.scenario.steps) + 1)
    applied = [outcomes.get(step) is OutcomeKind.APPLIED for step in steps]
    catalogs = {record.outcome.step: record.catalog for record in records}
    return variant.scenario.truths(merge_on_read=False).history(applied, catalogs)


def expected(truth: Truth) -> tuple[list[tuple[str, str]], list[tuple[Plain, ...]]]:
    """Return the model's table: columns with their types, and rows."""
    columns = [(column.name, str(column.type)) for column in truth.schema.fields]
    rows = [row_values(row, truth.schema) for row in truth.rows.values()]
    return columns, [tuple(map(plain, row)) for row in rows]


# Comparing


def differences(opinion: Opinion, truth: Truth) -> Iterator[Disagreement]:
    """Yield where an opinion has other columns, types, rows or values than the model."""
    columns, rows = expected(truth)
    shown, names = dict(opinion.columns), [name for name, _ in columns]
    both, key = [name for name in names if name in shown], truth.table.key
    if opinion.reader in FILES_ALONE:
        both = names
    else:
        yield from _other_columns(columns, shown)
    if key in both:
        ours = _by_key(rows, names, both, key)
        yield from _other_rows(ours, _by_key(opinion.rows, [*shown], both, key), both)


def _other_columns(
    columns: Sequence[tuple[str, str]], shown: Mapping[str, str]
) -> Iterator[Disagreement]:
    names = [name for name, _ in columns]
    yield from (Disagreement("column missing", name) for name in names if name not in shown)
    yield from (Disagreement("column not expected", name) for name in shown if name not in names)
    if [name for name in names if name in shown] != [name for name in shown if name in names]:
        yield Disagreement("order of columns", "", "", text(names), text([*shown]))
    for name, type_ in columns:
        if shown.get(name, type_) != type_:
            yield Disagreement("type", name, "", type_, shown[name])


Keyed = Mapping[str, Sequence[Sequence[str]]]
"""The rows of a table by the text of their key, each value as a text."""


def _other_rows(ours: Keyed, theirs: Keyed, names: Sequence[str]) -> Iterator[Disagreement]:
    for at in {**ours, **theirs}:
        if at not in theirs:
            yield Disagreement("row missing", "", at)
        elif at not in ours:
            yield Disagreement("row not expected", "", at)
        elif len(theirs[at]) > 1:
            yield Disagreement("row twice", "", at)
        else:
            for name, one, other in zip(names, ours[at][0], theirs[at][0], strict=True):
                if one not in (UNSETTLED, other):
                    yield Disagreement("value", name, at, one, other)


UNSETTLED: Final = text(plain(Unsettled()))


def _by_key(
    rows: Iterable[Sequence[Plain]], names: Sequence[str], both: Sequence[str], key: str
) -> Keyed:
    """Return rows by their keys; a column that files do not have is NULL in them."""
    result = defaultdict[str, list[list[str]]](list)
    for row in rows:
        values = dict(zip(names, row, strict=True))
        result[text(values.get(key))].append([text(values.get(name)) for name in both])
    return result


# Explaining


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a reader has no opinion of some states, or another one than the model."""

    reader: str
    why: str
    source: str
    kind: str = ""
    """That of a difference; none: the reader had no answer."""
    error: str = ""
    """An expression that is found in the text of the reader's error."""
    formats: tuple[str, ...] = ("*",)
    scenarios: tuple[str, ...] = ("*",)
    columns: tuple[str, ...] = ("*",)
    expected: str = ""
    """An expression that the model's value matches as a whole, as JSON; none: any."""
    found: str = ""
    """The same of the reader's value."""
    when: Literal["", "renamed", "reused"] = ""
    """What else must be so: the column, or a part of it, had another name; another one had its."""

    def takes(
        self, opinion: Opinion, variant: Variant, history: History, one: Disagreement
    ) -> bool:
        of_kind = self.kind == one.kind and bool(re.search(self.error, opinion.error))
        return (
            of_kind
            and self.reader == opinion.reader
            and _matches(variant.format, self.formats)
            and _matches(variant.scenario.name, self.scenarios)
            and _matches(one.column, self.columns)
            and all(
                not pattern or re.fullmatch(pattern, shown, re.DOTALL)
                for pattern, shown in ((self.expected, one.expected), (self.found, one.found))
            )
            and (not self.when or self.when in circumstances(history, one.column))
        )


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def circumstances(history: History, column: str) -> Iterator[str]:
    """Yield what `Explanation.when` may ask for."""
    times = [truth.schema for truth in history]
    if column not in times[-1].names:
        return
    parts = {part.id for part in times[-1].find(column).walk()}
    names = {(id_, path) for schema in times for id_ in parts if (path := schema.path_of(id_))}
    if len(names) > len(parts):
        yield "renamed"
    taken = {path for _, path in names}
    gone = ((schema, part.id) for schema in times for part in schema.walk() if part.id not in parts)
    paths = {schema.path_of(id_) or "" for schema, id_ in gone}
    if any(path in taken or path.rpartition(".")[0] in taken for path in paths):
        yield "reused"


def explanations() -> tuple[Explanation, ...]:
    content = YAML(typ="safe").load(EXPLAINED.read_text(encoding="utf-8"))
    return TypeAdapter(tuple[Explanation, ...]).validate_python(content)


@dataclass(frozen=True, slots=True)
class Compared:
    """An opinion with its differences, each with what explains it; None: nothing does."""

    opinion: Opinion
    variant: Variant
    differences: tuple[tuple[Disagreement, Explanation | None], ...] = ()

    @property
    def has_opinion(self) -> bool:
        return not self.opinion.error

    @property
    def unexplained(self) -> bool:
        return any(reason is None for _, reason in self.differences)


def compare(
    run: load_run.Run, opinions: Iterable[Opinion], known: Sequence[Explanation]
) -> Iterator[Compared]:
    """Compare what second readers showed of a run's states with the model, evaluated anew."""
    variants = {variant.id: variant for variant in plan_record.plan_of(run.info).variants}
    histories: dict[str, History] = {}
    for opinion in opinions:
        variant, records = variants[opinion.variant], run.states_of(opinion.variant)
        if opinion.variant not in histories:
            histories[opinion.variant] = history_of(variant, records)
        made = [record.outcome.step for record in records if record.outcome.instant]
        back = None if opinion.past is None else past_views.anchor(made, opinion.past)
        history = histories[opinion.variant][: (opinion.step if back is None else back) + 1]
        history = history if back is None else past_views.of_commit(history)
        result = [Disagreement("")] if opinion.error else differences(opinion, history[-1])
        yield Compared(
            opinion,
            variant,
            tuple(
                (one, next((r for r in known if r.takes(opinion, variant, history, one)), None))
                for one in result
            ),
        )


# Keeping

_OPINION: Final = TypeAdapter(Opinion)


def save(opinions: Iterable[Opinion], folder: Path) -> None:
    lines = [_OPINION.dump_json(opinion, exclude_defaults=True) for opinion in opinions]
    (folder / OPINIONS).write_bytes(b"".join(line + b"\n" for line in lines))


def load(folder: Path) -> Iterator[Opinion]:
    """Read the opinions that `ask` wrote, or that are recorded."""
    with (folder / OPINIONS).open("rb") as lines:
        yield from map(_OPINION.validate_json, lines)


# What came out


def compared(folders: Iterable[Path]) -> tuple[Counter[str], list[Compared]]:
    """Compare the opinions of several runs, each state once; also count the states by format."""
    states, result = dict[tuple[str, int], str](), dict[str, Compared]()
    for folder in folders:
        run = load_run.recorded(folder)
        for variant in run.info.variants:
            steps = (record.outcome.step for record in tables(run.states_of(variant.id)))
            states |= dict.fromkeys(((variant.id, step) for step in steps), variant.format)
        for one in compare(run, load(folder), explanations()):
            result.setdefault(one.opinion.name, one)
    return Counter(states.values()), [*result.values()]


def disagrees(folder: Path) -> bool:
    """Return whether an opinion of a run differs from the model, and nothing explains it.

    What a wrong model takes for no scenario at all has no say in it.
    """
    run, known = load_run.recorded(folder), explanations()
    opinions = grouped((opinion.variant, opinion) for opinion in load(folder))
    for variant in run.info.variants:
        alone = replace(run, info=replace(run.info, variants=(variant,)))
        with suppress(ScenarioProblem):
            if any(one.unexplained for one in compare(alone, opinions.get(variant.id, ()), known)):
                return True
    return False


def summary(states: Mapping[str, int], every: Sequence[Compared]) -> Iterator[str]:
    """Yield a table of formats: of how many states, now and of the past, there is an opinion."""
    rows = []
    for name, number in sorted(states.items()):
        there = [one for one in every if one.variant.format == name and one.has_opinion]
        differ = [one for one in there if one.differences]
        wrong = sum(one.unexplained for one in differ)
        counts = (number, len(there), len(there) - len(differ), len(differ) - wrong, wrong)
        rows.append((name, *map(str, counts)))
    return table(("format", "states", "opinions", "the same", "explained", "not"), rows)


def unexplained(every: Sequence[Compared]) -> Iterator[str]:
    """Yield a line for each difference, or error of a reader, that nothing explains."""
    for one in every:
        for difference, reason in one.differences:
            if reason is None:
                where = (difference.kind, difference.column, difference.key)
                shown = f"{difference.expected} by the model, {difference.found} shown"
                text_ = one.opinion.error or f"{' '.join(filter(None, where))}: {shown}"
                yield f"`{one.opinion.name}` by {one.opinion.reader}: {text_[:300]}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("write", "ask", "compare"))
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs that were written")
    parser.add_argument("--format", action="append", help="of `write`: what of READERS; all")
    options = parser.parse_args()
    runs = [folder.resolve() for folder in options.runs]
    if options.what == "write":
        planned = shipped(options.format or [*READERS])
        write(planned, runs[0], Cache.default(), PlainProgress(sys.stderr))
        return 0
    if options.what == "ask":
        for folder in runs:
            save(ask(load_run.recorded(folder), Cache.default()), folder)
        return 0
    states, every = compared(runs)
    print("\n".join([*summary(states, every), *unexplained(every)]))
    return int(any(one.unexplained for one in every))


if __name__ == "__main__":
    sys.exit(main())
