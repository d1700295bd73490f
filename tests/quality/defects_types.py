"""Planted readers that meet a value under another type, or a struct without its parts."""

import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from harness.core.records import FindingKind
from harness.model.canonical import Value
from harness.model.schema import Field
from tests.builders.random_story import Plot
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Line, Seen, Token, read, tokens_in
from tests.quality import asked
from tests.quality.planted import Way, plant, planted, predicate, with_cell, with_lines


def _emptied(plot: Plot, by_chance: random.Random) -> Plot:
    """Let all parts of a struct go, after others came; files from before have none of them."""
    kind = by_chance.choice(("struct<{}>", "array<struct<{}>>", "struct<c: struct<{}>, d: int>"))
    at = {"s": "s.", "a": "s.element.", "c": "s.c."}["c" if "c:" in kind else kind[0]]
    columns = f"id string, ts long, s {kind.format('a: string')}, f1 string"
    changes = f"add {at}b string; drop {at}a; rename f1 g; add f1 string after ts"
    more = "; drop s.d" if "d:" in kind and by_chance.random() < 0.5 else ""
    last = by_chance.choice(("insert 5", "insert 5; upsert 1", "upsert 2"))
    return Plot(columns, f"insert 1..3; insert 4; {changes}{more}; {last}", plot.mor)


partless = Reader("id", partless=True)
plant(
    "structs without a part in the file NULL",
    lambda story, _: read(story, partless),
    twist=_emptied,
)


def _types(plot: Plot, by_chance: random.Random) -> Plot:
    """Let columns of many types stand under each other's names in older files."""
    columns = "id string, ts long, f1 int, f2 char(5), f3 string, f4 double, f5 smallint, f6 long"
    change = by_chance.choice(("drop f1", "drop f2", "move f2 after f4", "move f6 after ts"))
    return Plot(columns, f"insert 1..3; {change}; insert 4,5", plot.mor)


@planted("by position, values converted", twist=_types)
def _by_position_then_cast(story: Story, _: random.Random) -> Seen:
    seen, fields = read(story, Reader("position")), story.truth.schema.fields
    return with_lines(seen, lambda line: _converted(story, line, fields))


def _converted(story: Story, line: Line, fields: tuple[Field, ...]) -> Line:
    row, values, tokens = story.history[line.step].rows[line.key].values, [], []
    for token, field in zip(line.tokens, fields, strict=True):
        stored = row[token.field_id] if isinstance(token, Token) else None
        shown = None if stored is None else _under(str(field.type), stored)
        values.append(shown)
        tokens.append(token if shown is not None or stored is None else None)
    return replace(line, values=tuple(values), tokens=tuple(tokens))


def _under(type_: str, value: Value) -> Value:
    """Show a value in another type as ORC's library does."""
    text = value.strip() if isinstance(value, str) else str(value)
    match type_:
        case "string":
            return text
        case "char(5)":
            return f"{text:5.5}"
    try:
        number = Decimal(text)
    except ArithmeticError:
        return None
    if type_ == "double":
        return float(number)
    fits = abs(number) < {"smallint": 2**15, "int": 2**31, "long": 2**63}[type_]
    return int(number) if fits else None


def _wider(plot: Plot, by_chance: random.Random) -> Plot:
    """Let numbers get more digits behind the point; the last is asked for."""
    columns = "id string, ts long, d decimal(2, 1), n int, f1 string"
    changes = ["type d decimal(4, 3)", "type n decimal(12, 1)"]
    by_chance.shuffle(changes)
    steps = f"rename f1 f2; move f2 after ts; insert 1..3; {changes[0]}; insert 4; {changes[1]}"
    return Plot(columns, f"{steps}; insert 5", plot.mor)


@planted("numbers of an older catalog, for a predicate", twist=_wider)
def _older_numbers(story: Story, by_chance: random.Random) -> Seen:
    query, catalog = predicate(story), by_chance.choice((0, 1, 4))
    assert query is not None
    seen = read(story, schema=story.history[catalog].schema)
    rows = (
        line
        for line in seen.lines
        if asked.passes(query, dict(zip(seen.names, line.values, strict=True)))
    )
    return replace(seen, lines=tuple(rows), query=query, catalog=catalog)


def _text_again(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a struct go, and a text take its name."""
    kind = by_chance.choice(("struct<a: string>", "struct<a: string, b: int>", "array<string>"))
    columns = f"id string, ts long, s {kind}, f1 string"
    return Plot(columns, "insert 1..4; insert 5; drop s; add s string after ts", plot.mor)


@planted("a dropped struct comes back as a text", twist=_text_again)
def _as_text(story: Story, _: random.Random) -> Seen:
    at = story.truth.schema.names.index("s")
    return with_lines(read(story, Reader("name")), lambda line: _with_text(story, line, at))


def _with_text(story: Story, line: Line, at: int) -> Line:
    value, whole = line.values[at], story.history[0].schema.find("s").id
    if value is None:
        return line
    step = max(token.step for token in tokens_in(line.tokens[at]))
    parts = ", ".join(map(_inside, value.values() if isinstance(value, dict) else value))
    text = f"{{{parts}}}" if isinstance(value, dict) else f"[{parts}]"
    return with_cell(line, at, text, Token(whole, step, line.key))


def _inside(value: Value) -> str:
    return "null" if value is None else str(value)


def _text_of_decimal(plot: Plot, by_chance: random.Random) -> Plot:
    columns = plot.columns.replace("ts long, ", "ts long, x decimal(9, 3), ", 1)
    steps = f"{plot.steps}; type x string; touch {by_chance.choice(('none', 'some'))}"
    return replace(plot, columns=columns, steps=steps)


def _decimals(change: Callable[[str], str]) -> Way:

    def defect(story: Story, _: random.Random) -> Seen:
        kinds = [column.canonical if column.name == "x" else "" for column in read(story).columns]
        at = kinds.index("string")

        def changed(line: Line) -> Line:
            if not isinstance(line.values[at], str):
                return line
            new = Token(0, 0, line.key, spoilt=FindingKind.ALTERED_VALUE)
            return with_cell(line, at, change(line.values[at]), new)

        return with_lines(read(story), changed)

    return defect


def _raw(text: str) -> str:
    return int(text.replace(".", "")).to_bytes(4, signed=True).decode(errors="replace")


plant(
    "zeros left off a text that was a decimal",
    _decimals(lambda text: text.rstrip("0")),
    twist=_text_of_decimal,
)
plant("bytes of a decimal as its text", _decimals(_raw), twist=_text_of_decimal)
