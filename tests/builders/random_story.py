"""Histories by chance, the same for the same seed; `hard` draws what is hard in them."""

import random
from dataclasses import dataclass, field
from functools import lru_cache

from harness.model.schema import MergeMode
from tests.builders import hard_values
from tests.builders.hard_values import Hard
from tests.builders.table_story import Story, history

TYPES = (
    "string",
    "int",
    "long",
    "double",
    "boolean",
    "date",
    "timestamp",
    "timestamp_ntz",
    "decimal(12, 2)",
    "tinyint",
    "binary",
    "char(4)",
    "struct<a: string, b: int>",
    "array<string>",
    "map<string, long>",
)
ALIKE = {"double": "float", "tinyint": "smallint", "char(4)": "varchar(12)"}
"""What half of the histories have in the place of these."""
WIDER = {
    "int": ("long", "double", "string"),
    "long": ("string",),
    "float": ("double",),
    "decimal(12, 2)": ("decimal(14, 2)", "string"),
}
"""What the type of a column may become."""


@dataclass(frozen=True)
class Plot:
    columns: str
    steps: str
    mor: bool = False
    partition_by: tuple[str, ...] = ()
    merge_mode: MergeMode | None = None

    def story(self) -> Story:
        return _made(self)


@lru_cache(maxsize=256)
def _made(plot: Plot) -> Story:
    by, mode = plot.partition_by, plot.merge_mode
    return history(plot.steps, plot.columns, mor=plot.mor, partition_by=by, merge_mode=mode)


@dataclass
class _Story:
    chance: random.Random
    type_names: dict[str, str]
    """The types that others stand for."""
    hard: Hard
    types: dict[str, str] = field(default_factory=dict)
    """The columns that may change, by name."""
    parts: dict[str, dict[str, str]] = field(default_factory=dict)
    """The names in a struct with their types, by the column's."""
    keys: list[int] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    next_key: int = 1
    next_name: int = 1

    def kind(self, type_: str) -> str:
        return self.type_names.get(type_, type_)

    def insert(self) -> str:
        return f"insert {self._new_keys()}"

    def rows(self) -> str:
        """Write rows with values of their own, one or two of them new."""
        again = [key for key in self.keys if self.hard.chance.random() < 0.2]
        new = range(self.next_key, self.next_key + self.hard.chance.randint(1, 2))
        self.next_key = new.stop
        self.keys += new
        types = hard_values.typed(self.types, self.parts)
        return (
            f"rows {hard_values.written(self.hard.row(key, types) for key in (*new, *again[:2]))}"
        )

    def upsert(self) -> str:
        return f"upsert {self._some()}" if self.keys else self.insert()

    def update(self) -> str:
        return f"update {self._some()} set {self._column()}" if self.keys else self.insert()

    def delete(self) -> str:
        if len(self.keys) < 2:
            return self.insert()
        return f"delete {self._gone()}"

    def merge(self) -> str:
        if len(self.keys) < 3:
            return self.insert()
        gone = self._gone()
        return f"merge update {self._some()} delete {gone} insert {self._new_keys()}"

    def touch(self) -> str:
        return f"touch {self.chance.choice(('none', 'some', 'all'))}"

    def compact(self) -> str:
        return "compact"

    def add(self) -> str:
        again = self.dropped and self.chance.random() < 0.5
        name = self.dropped.pop() if again else self._fresh()
        name = self._fresh() if self._taken(name) else name
        type_ = self.kind(self.chance.choice(TYPES))
        position = self.chance.choice(("", " first", f" after {self._column()}"))
        self._note(name, type_)
        return f"add {name} {type_}{position}"

    def drop(self) -> str:
        if len(self.types) < 2:
            return self.add()
        name = self._column()
        self._forget(name)
        self.dropped.append(name)
        return f"drop {name}"

    def rename(self) -> str:
        name = self._column()
        to = self.chance.choice([*self.dropped[-1:], self._fresh()])
        to = self.hard.renamed(name) or (self._fresh() if self._taken(to) else to)
        self.dropped = [dropped for dropped in self.dropped if dropped != to] + [name]
        type_, parts = self._forget(name)
        self._note(to, type_, parts)
        return f"rename {name} {to}"

    def move(self) -> str:
        name = self._column()
        others = [type_ for type_ in self.types if type_ != name]
        position = f"after {self.chance.choice(others)}" if others else "first"
        return f"move {name} {position}"

    def widen(self) -> str:
        narrow = [name for name, type_ in self.types.items() if type_ in WIDER]
        if not narrow:
            return self.move()
        name = self.chance.choice(narrow)
        self.types[name] = self.chance.choice(WIDER[self.types[name]])
        return f"type {name} {self.types[name]}"

    def nested(self) -> str:
        if not self.parts:
            return self.rename()
        name = self.chance.choice(list(self.parts))
        parts = self.parts[name]
        part, new = self.chance.choice(list(parts)), self._fresh()
        match self.chance.choice(("rename", "add", "drop")):
            case "rename":
                # The names of parts stand in the order in which they came.
                self.parts[name] = {new if n == part else n: type_ for n, type_ in parts.items()}
                return f"rename {name}.{part} {new}"
            case "drop" if len(parts) > 1:
                del parts[part]
                return f"drop {name}.{part}"
        parts[new] = "string"
        return f"add {name}.{new} string after {part}"

    def _note(self, name: str, type_: str, parts: dict[str, str] | None = None) -> None:
        self.types[name] = type_
        if type_.startswith("struct"):
            self.parts[name] = parts or {"a": "string", "b": "int"}

    def _forget(self, name: str) -> tuple[str, dict[str, str] | None]:
        return self.types.pop(name), self.parts.pop(name, None)

    def _column(self) -> str:
        return self.chance.choice(list(self.types))

    def _fresh(self) -> str:
        self.next_name += 1
        return self.hard.name(f"n{self.next_name}")

    def _taken(self, name: str) -> bool:
        """Return whether a column has the name, in whatever case: engines take them for one."""
        return name.casefold() in {type_.casefold() for type_ in self.types}

    def _new_keys(self) -> str:
        keys = range(self.next_key, self.next_key + self.chance.randint(1, 7))
        self.next_key = keys.stop
        self.keys += keys
        return ",".join(map(str, keys))

    def _gone(self) -> int:
        return self.keys.pop(self.chance.randrange(len(self.keys)))

    def _some(self) -> str:
        keys = self.chance.sample(self.keys, k=min(len(self.keys), self.chance.randint(1, 3)))
        return ",".join(map(str, keys))


STEPS = (
    *("insert", "upsert", "update", "delete", "merge", "touch", "compact"),
    *("add", "drop", "rename", "move", "widen", "nested"),
)


def plot(seed: int) -> Plot:
    chance = random.Random(seed)  # noqa: S311 - nothing is kept secret by it
    types = chance.sample(TYPES, k=chance.randint(2, 4))
    if chance.random() < 0.5:
        types = [types[0]] * len(types)
    other = random.Random(f"alike {seed}").random() < 0.5  # noqa: S311
    difficult = hard_values.hard(seed)
    story = _Story(chance, (ALIKE if other else {}) | dict(difficult.type_names), difficult)
    for at, type_ in enumerate(types, start=1):
        story._note(difficult.name(f"f{at}"), story.kind(type_))
    if difficult.more:
        story._note(difficult.name("f9"), difficult.more)
    data = [f"{name} {type_}" for name, type_ in story.types.items()]
    partitioned = chance.random() < 0.25
    last = chance.choice(("string", "int")) if partitioned else ""
    by = ("p", "q")[: difficult.partitions] if partitioned else ()
    key = f"id {chance.choice(('string', 'long'))}"
    columns = ", ".join((key, "ts long", *_parted(data, last, by)))
    steps = [story.insert()]
    for _ in range(chance.randint(3, 11)):
        steps.append(getattr(story, chance.choice(STEPS))())
        steps += [story.rows()] if difficult.inserted() else []
    mor = chance.random() < 0.6 and not difficult.case
    return Plot(columns, "; ".join(steps), mor, by)


def _parted(data: list[str], type_: str, by: tuple[str, ...]) -> list[str]:
    """Return the columns with those of the partitions: one at the end, or one of two among them."""
    match by:
        case (one,):
            return [*data, f"{one} {type_}"]
        case (one, two):
            return [data[0], f"{one} {type_}", *data[1:], f"{two} string"]
    return data


def story_of_seed(seed: int) -> Story:
    return plot(seed).story()
