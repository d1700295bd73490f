"""Histories by chance, the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.quality.notation import Told, history

TYPES = (
    "string",
    "int",
    "long",
    "double",
    "boolean",
    "date",
    "timestamp",
    "decimal(12, 2)",
    "struct<a: string, b: int>",
    "array<string>",
    "map<string, long>",
)


@dataclass
class _Story:
    """What the steps so far leave, as far as the next one must know."""

    chance: random.Random
    names: list[str]
    nested: list[str]
    keys: list[int] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    next_key: int = 1
    next_name: int = 1

    def insert(self) -> str:
        keys = list(range(self.next_key, self.next_key + self.chance.randint(1, 7)))
        self.next_key += len(keys)
        self.keys += keys
        return f"insert {','.join(map(str, keys))}"

    def upsert(self) -> str:
        return f"upsert {self._some()}"

    def update(self) -> str:
        return f"update {self._some()} set {self.chance.choice(self.names)}"

    def delete(self) -> str:
        if len(self.keys) < 2:
            return self.insert()
        key = self.keys.pop(self.chance.randrange(len(self.keys)))
        return f"delete {key}"

    def touch(self) -> str:
        return f"touch {self.chance.choice(('none', 'some', 'all'))}"

    def compact(self) -> str:
        return "compact"

    def add(self) -> str:
        again = self.dropped and self.chance.random() < 0.5
        name = self.dropped.pop() if again else self._fresh()
        type_ = self.chance.choice(TYPES)
        place = self.chance.choice(("", " first", f" after {self.chance.choice(self.names)}"))
        self.names.append(name)
        if type_.startswith("struct"):
            self.nested.append(f"{name}.a")
        return f"add {name} {type_}{place}"

    def drop(self) -> str:
        if len(self.names) < 2:
            return self.add()
        name = self.names.pop(self.chance.randrange(len(self.names)))
        self.nested = [each for each in self.nested if not each.startswith(f"{name}.")]
        self.dropped.append(name)
        return f"drop {name}"

    def rename(self) -> str:
        name = self.chance.choice(self.names)
        free = [*self.dropped[-1:], self._fresh()]
        to = self.chance.choice(free)
        self.dropped = [each for each in self.dropped if each != to] + [name]
        self.names[self.names.index(name)] = to
        self.nested = [f"{to}.a" if each == f"{name}.a" else each for each in self.nested]
        return f"rename {name} {to}"

    def rename_nested(self) -> str:
        if not self.nested:
            return self.rename()
        return f"rename {self.nested.pop()} {self._fresh()}"

    def move(self) -> str:
        name = self.chance.choice(self.names)
        others = [each for each in self.names if each != name]
        place = f"after {self.chance.choice(others)}" if others else "first"
        return f"move {name} {place}"

    def _fresh(self) -> str:
        self.next_name += 1
        return f"n{self.next_name}"

    def _some(self) -> str:
        keys = self.chance.sample(self.keys, k=min(len(self.keys), self.chance.randint(1, 3)))
        return ",".join(map(str, keys))


STEPS = (
    "insert upsert update delete touch compact add drop rename rename_nested move".split()  # noqa: SIM905
)


def story(seed: int) -> Told:
    """Make a history of ten steps or so."""
    chance = random.Random(seed)  # noqa: S311 - nothing is kept secret by it
    types = chance.sample(TYPES, k=chance.randint(2, 4))
    if chance.random() < 0.5:
        types = [types[0]] * len(types)
    names = [f"f{at}" for at, _ in enumerate(types, start=1)]
    nested = [f"{n}.a" for n, type_ in zip(names, types, strict=True) if type_.startswith("struct")]
    told = _Story(chance, names, nested)
    data = ", ".join(f"{n} {type_}" for n, type_ in zip(names, types, strict=True))
    partitioned = chance.random() < 0.25
    last = chance.choice((", p string", ", p int")) if partitioned else ""
    columns = f"id {chance.choice(('string', 'long'))}, ts long, {data}{last}"
    steps = [told.insert()]
    steps += [getattr(told, chance.choice(STEPS))() for _ in range(chance.randint(3, 11))]
    by = ("p",) if partitioned else ()
    return history("; ".join(steps), columns, mor=chance.random() < 0.6, partition_by=by)
