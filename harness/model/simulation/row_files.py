"""Which files hold a row now: what a reader that merges them all comes across."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from harness.model import partition_paths
from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation.column_resolution import LayoutError, WrittenFiles
from harness.model.truth import History, Row, Rows


@dataclass(frozen=True, slots=True)
class RowFile:
    step: int
    """The step whose columns it has."""
    file: FileFact

    def stored_as(self, path: str) -> frozenset[str]:
        """Return what the file, or the name of its folder, may call a column or a part of one.

        It is a physical name where the table has column mapping (Delta's protocol, of that name).
        """
        if not self.file.stored_names:
            return frozenset({path})
        head, dot, rest = path.partition(".")
        names = (name for name, _ in self.file.columns)
        stored = dict(zip(names, self.file.stored_names, strict=True)).get(head)
        if stored is not None:
            return frozenset({f"{stored}{dot}{rest}"})
        levels = partition_paths.folder_of(self.file.path).split("/")
        return frozenset(partition_paths.unescaped(level.partition("=")[0]) for level in levels)


def lying(files: WrittenFiles) -> dict[str, tuple[RowFile, ...]]:
    """Return for each key's text the files of its newest slices that hold it."""
    result: dict[str, tuple[RowFile, ...]] = {}
    for fact in files.newest:
        file = RowFile(files.columns_step(fact), fact)
        for text in _texts(files, fact):
            result[text] = (*result.get(text, ()), file)
    return result


@dataclass(frozen=True, slots=True)
class Base:
    rows: Rows
    """As the files tell; as the model lays them out where they tell nothing."""
    doubt: str = ""
    """Why the files tell nothing; empty when `rows` are the only ones that are right."""
    tables: int = 1
    """How many tables a right reader could show, as far as is known; 1 without a doubt."""

    @property
    def why(self) -> str:
        """Return why the rows are not exact, and how far they are not; empty when they are."""
        if not self.doubt:
            return ""
        rows = "each row in any version that it has had, or not at all"
        return f"{self.doubt}; not exact: {self.tables:,} tables are admissible, {rows}"


def base_rows(files: WrittenFiles, unread: str = "") -> Base:
    """Return the rows that base files show by themselves; `unread`: why there are no file facts."""
    history = files.history
    if not history[-1].merge_on_read:
        return Base(history[-1].rows)
    if unread:
        return Base(history[-1].base, unread, _admissible(history))
    try:
        rows = _newest_rows(files)
        rows |= _forgotten(files, rows)
    except LayoutError as doubt:
        return Base(history[-1].base, str(doubt), _admissible(history))
    return Base(rows)


def _newest_rows(files: WrittenFiles) -> dict[Value, Row]:
    result: dict[Value, Row] = {}
    for base in files.bases:
        gone = set(map(text_of, files.history[files.step(base)].gone))
        for key, text in zip(base.keys, _texts(files, base), strict=True):
            if text in gone:
                continue
            row = files.version(base, key)
            if row.key in result:
                raise LayoutError(f"row {key}: two file groups hold it in their newest base files")
            result[row.key] = row
    return result


def _forgotten(files: WrittenFiles, rows: Rows) -> Rows:
    """Return the rows that a newest base file should have and lacks."""
    result: dict[Value, Row] = {}
    truth = files.history[-1]
    there = {key for fact in files.newest for key in _texts(files, fact)}
    cleared = _cleared(files)
    for key, row in (*truth.rows.items(), *truth.base.items()):
        text = text_of(key)
        gone = truth.gone.get(key)
        if text in there or key in rows or (gone is not None and gone <= cleared.get(text, -1)):
            continue
        lacking = _rewritten_without(files, text)
        if lacking is None:
            message = f"row {text}: files hold none, the model says that of step {row.newest}"
            raise LayoutError(message)
        result[lacking.key] = lacking
    return result


def _rewritten_without(files: WrittenFiles, text: str) -> Row | None:
    """Return the version of a row that its group's newest base file should have, if it is known."""
    holding = [fact for fact in files.facts if text in _texts(files, fact)]
    if len({fact.file_group for fact in holding}) != 1:
        return None
    last = max(map(files.step, holding))
    group = [fact for fact in files.facts if fact.file_group == holding[0].file_group]
    bases = (files.step(fact) for fact in group if fact.kind is FileKind.BASE)
    then = [
        next((row for key, row in truth.rows.items() if text_of(key) == text), None)
        for truth in files.history[last : max(bases, default=-1) + 1]
    ]
    return then[-1] if then and None not in then else None


def _cleared(files: WrittenFiles) -> dict[str, int]:
    """Return for each row that a base file ever held the step that last wrote its group anew."""
    bases = [fact for fact in files.facts if fact.kind is FileKind.BASE]
    last: dict[str, int] = {}
    for fact in bases:
        last[fact.file_group] = max(files.step(fact), last.get(fact.file_group, -1))
    return {key: last[fact.file_group] for fact in bases for key in _texts(files, fact)}


def _texts(files: WrittenFiles, fact: FileFact) -> Iterator[str]:
    # Hudi's complex key generator writes `column:value` even for a single key column.
    prefix = f"{files.history[0].table.key}:"
    return (key.removeprefix(prefix) for key in fact.keys)


def _admissible(history: History) -> int:
    versions: dict[Value, set[tuple[int, ...]]] = {}
    for key, row in (pair for truth in history for pair in truth.rows.items()):
        versions.setdefault(key, set()).add(tuple(row.written.values()))
    return prod(len(of_key) + 1 for of_key in versions.values())
