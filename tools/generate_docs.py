"""Generate the parts of docs/ and of README.md that repeat what the code says.

A generated part stands between `<!-- generated: <name> <option>=<value> … -->` and `<!-- end -->`,
in any page. Run `python -m tools.generate_docs` after a change of what it is made from; with
`--check` it only says which pages are stale.
"""

import argparse
import re
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from harness import engines as engine_registry
from harness import formats
from harness.artifacts import distributions, version_rules
from harness.artifacts.distribution import Default, Distribution
from harness.comparison.history import DATABASE
from harness.core import open_cases
from harness.core import tolerances as declared
from harness.core.grouping import grouped
from harness.core.records import FindingKind, OutcomeKind, Verdict, VerdictKind
from harness.core.setting_values import SettingValues
from harness.core.yaml_reader import load_yaml
from harness.plan import distribution_support, shipped
from harness.reports.findings import FINDINGS
from harness.reports.known_defects import known_defects, links
from harness.reports.words import VERDICTS, refusal_text
from harness.run.load_run import Run, findings_text
from harness.scenario.cells import parse_reader
from harness.scenario.definition import VIEWS
from harness.scenario.load import load, scenario_of
from harness.scenario.operations import registry
from harness.scenario.operations.api import Operation
from harness.scenario.operations.services import MAINTENANCE_STEPS
from tools import evidence_pages, type_pages
from tools.shared import crossed, table


def engines() -> str:
    uses = {
        f"`{version.name}`": distribution_support.uses(version)
        for versions in _versions().values()
        for version in versions
    }
    families = next(iter(uses.values()))
    rows = ((name, *of_family.values()) for name, of_family in uses.items())
    others = f"Other versions, by `harness engines add`: {version_rules.product_ranges()}."
    return "\n".join((*table(("distribution", *families), rows), "", others))


def reader_settings() -> str:
    rows = [
        (engine, *_setting(name, values), _defaults(name, versions) or "not declared")
        for engine, versions in _versions().items()
        for name, values in engine_registry.load(engine).settings.items()
    ]
    return "\n".join(table(("engine", "setting", "values", "meaning", "by itself"), rows))


def format_settings() -> str:
    """Return the table of the settings of tables, with the formats that have each."""
    having = grouped(
        (_setting(name, values), f"`{format_.NAME}`")
        for format_ in map(formats.load, formats.names())
        for name, values in format_.settings.items()
    )
    rows = ((", ".join(names), *setting) for setting, names in having.items())
    head = ("formats", "setting", "values", "meaning")
    return "\n".join(table(head, sorted(rows, key=lambda row: row[0])))


def _setting(name: str, values: Sequence[str]) -> tuple[str, str, str]:
    """Return the cells of a setting; a value in digits is written as text in YAML."""
    meaning = values.meaning if isinstance(values, SettingValues) else ""
    written = (f'`"{value}"`' if value.isdecimal() else f"`{value}`" for value in values)
    return f"`{name}`", ", ".join(written), meaning


def tolerances() -> str:
    products = defaultdict[str, list[str]](list)
    first: dict[str, declared.Declaration] = {}
    for product in declared.products():
        for name, declaration in declared.declared_for(product).items():
            products[name].append(product)
            if name not in first or not declaration.formats:
                first[name] = declaration
    rows = [
        (f"`{name}`", ", ".join(products[name]), f"it {declaration.what}", declaration.limit)
        for name, declaration in first.items()
    ]
    return "\n".join(table(("declaration", "products", "what differs", "how far"), rows))


def open_answers() -> str:
    lines = dict.fromkeys(line for name in formats.names() for line in open_cases.of_format(name))
    heads = "line", "of", "what is admitted", "what leaves it open", "who answers so"
    rows = (
        (
            f"`{line.name}`",
            ", ".join(map(distribution_support.family_name, line.formats)),
            line.what,
            f"{line.specification}: {line.silent}",
            line.seen,
        )
        for line in lines
    )
    return "\n".join(table(heads, rows))


@dataclass(frozen=True, slots=True)
class FindingHelp:
    to_do: str
    see: str = ""
    """What to type after `harness`, where a shipped scenario shows it."""


@cache
def finding_help() -> Mapping[FindingKind, FindingHelp]:
    text = HELP.read_text(encoding="utf-8")
    return load_yaml(dict[FindingKind, FindingHelp], text, str(HELP), "help")[0]


def finding_kinds() -> str:
    lines = []
    for kind, word in FINDINGS.items():
        known = [f"[{n}](#{n})" for n, d in known_defects().items() if kind in d.findings]
        help_ = finding_help()[kind]
        lines += [f"### {kind}", "", f"{word.symbol} *{word.label}*. {word.meaning}", ""]
        lines += [f"- See it: `harness {help_.see}`."] if help_.see else []
        lines += [f"- What to do: {help_.to_do}"]
        lines += [f"- Known: {', '.join(known)}."] if known else []
        lines += [""]
    return "\n".join(lines)


def defects() -> str:
    """Return a section for each known defect: what it is, how to see it, what to do."""
    lines = []
    for name, defect in known_defects().items():
        kinds = ", ".join(f"[{kind}](#{kind})" for kind in defect.findings)
        right = f"; right in {', '.join(defect.right_in)}" if defect.right_in else ""
        see = f"harness run scenarios/{defect.scenario}.yaml --format {defect.formats[0]}"
        lines += [f"### {name}", "", defect.what, ""]
        lines += [f"- Shown as {kinds} by {', '.join(defect.seen_in)}{right}."]
        lines += [f"- Trackers: {defect.entries}."]
        lines += [f"- See it: `{see} --reader {defect.seen_in[0]} --query all --query story`."]
        lines += [f"- What to do: {defect.to_do}"]
        lines += [f"- How it was seen: [{defect.results}]({defect.results}).", ""]
    return "\n".join(lines)


def bug_scenarios() -> str:
    """Return the table of the scenarios that are of a defect somebody reported."""
    names = shipped.scenario_files(shipped.scenarios_folder() / "bugs")[0]
    scenarios = sorted((load(path) for path in names), key=lambda scenario: scenario.name)
    rows = ((f"`{s.name}`", s.about, links(s.source)) for s in scenarios)
    return "\n".join(table(("scenario", "what happens", "reported"), rows))


def _versions() -> Mapping[str, Sequence[Distribution]]:
    every = map(distributions.load, distributions.names())
    asked = grouped((version.engine, version) for version in every if version.is_asked)
    return {engine: asked[engine] for engine in sorted(asked)}


def _defaults(setting: str, versions: Sequence[Distribution]) -> str:
    """Return what each version does by itself; which one it is where they differ."""
    by_text = grouped(
        (_default(version.defaults[setting]), f"`{version.name}`")
        for version in versions
        if setting in version.defaults
    )
    if len(by_text) == 1:
        return next(iter(by_text))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in by_text.items())


def _default(default: Default) -> str:
    ours = f", but readers that do not name it have `{default.ours}`" if default.ours else ""
    return f"{default.either or f'`{default.value}`'}{ours}".replace("\n", " ")


HELP: Final = Path(__file__).with_name("finding_help.yaml")
DOCS: Final = Path(__file__).parents[1] / "docs"
PAGES: Final = (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md")))
_PART: Final = re.compile(r"(<!-- generated: (\S+)([^\n]*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def operations() -> str:
    rows = (
        (f"`{example.step}`", example.meaning, _formats(scenario_of(example).steps[-1].operation))
        for kind in registry().values()
        for example in kind.EXAMPLES
    )
    return "\n".join(table(("step", "meaning", "formats"), rows))


def _formats(operation: Operation) -> str:
    """Return which formats have an operation, those of one family by its name."""
    having = {name for name in formats.names() if not formats.load(name).unsupported(operation)}
    families = grouped((distribution_support.family_name(name), name) for name in formats.names())
    lacking = [family for family, names in families.items() if having.isdisjoint(names)]
    labels = [family for family, names in families.items() if having.issuperset(names)]
    if len(labels) + len(lacking) == len(families) and len(lacking) <= 1:
        return " but ".join(["all", *lacking])
    whole = set().union(*(families[family] for family in labels))
    return ", ".join([*labels, *(f"`{name}`" for name in sorted(having - whole))])


UNIQUE: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27,}(-c\d+)?")
"""What a file's name has that no other has."""
WRITER: Final = "the writer"
Pair = tuple[str, str, str]
"""A format, what was there before, and a maintenance."""


def turns(run: Run) -> Iterator[tuple[Pair, str, str, str]]:
    """Yield of each answer after a maintenance its reader, what became of it, and what is wrong.

    Nothing became of one where both are right, or the same is wrong with both. What the writer
    refused to do has its error.
    """
    for name, step, outcome in ((s.variant, s.step, s.outcome) for s in run.failed_steps):
        info, refused = run.info.variant(name), VERDICTS[VerdictKind.REFUSED].symbol
        if step.operation in MAINTENANCE_STEPS and (error := outcome.refusal):
            pair = info.format, info.scenario, step.operation
            yield pair, WRITER, refused, UNIQUE.sub("…", refusal_text(error))
    by_step = sorted(run.verdicts, key=lambda verdict: verdict.step)
    of_now = (v for v in by_step if v.view == VIEWS[0] and v.verdict is not VerdictKind.UNKNOWN)
    questions = grouped(((v.variant, v.reader, v.query), v) for v in of_now)
    for (name, reader, _), verdicts in questions.items():
        info, asker = run.info.variant(name), parse_reader(reader).distribution
        for both in pairwise(verdicts):
            before, after = both
            pair = info.format, info.scenario, info.step(after.step).operation
            outcome = run.by_step[name, after.step].outcome
            done = outcome.kind is OutcomeKind.APPLIED and outcome.statements
            # A condition may be on the value of a row that was never rewritten: then of another.
            same = len({DATABASE.sub("", verdict.sql) for verdict in both}) == 1
            in_turn = same and after.step == before.step + 1
            if pair[2] in MAINTENANCE_STEPS and done and in_turn:
                bad = before if after.verdict is VerdictKind.CORRECT else after
                answer = run.answers.get(bad.case)
                error_text = refusal_text(answer.refusal) if answer and answer.refusal else ""
                why = UNIQUE.sub("…", error_text) or findings_text(bad) or bad.because
                turn = " → ".join(VERDICTS[verdict.verdict].symbol for verdict in both)
                yield pair, asker, turn * (_wrong(before) != _wrong(after)), why


def _wrong(verdict: Verdict) -> object:
    places = ((f.kind, w) for f in verdict.findings for w in f.witnesses)
    return verdict.verdict, [(kind, w.key, w.column, w.actual) for kind, w in places]


def maintenance() -> str:
    """Return whose answers a maintenance changed, for each of what was there before."""
    every = list(turns(evidence_pages.known()))
    pairs = grouped((pair, turn) for pair, _, turn, _ in every)
    asked = [one for one in every if one[1] != WRITER]
    done, readers = len({one[0] for one in asked}), len({one[1] for one in asked})
    changes = sum(bool(turn) for _, _, turn, _ in asked)
    of_pairs = f"{done} pairs of a maintenance and what was there before, {readers} readers"
    lines = [f"{of_pairs}; of {len(asked):,} answers {changes} changed by the maintenance.", ""]
    for format_, of in sorted(grouped((pair[0], pair) for pair in pairs).items()):
        names = [name for name in MAINTENANCE_STEPS if any(pair[2] == name for pair in of)]
        cells = {pair[1:]: _turned(turns_) for pair, turns_ in pairs.items() if pair[0] == format_}
        lines += [f"## {format_}", "", crossed("before", cells, names), ""]
        changed = sorted(((p[2], *how), p[1]) for p, *how in every if p[0] == format_ and how[1])
        for (name, reader, turn, why), before in grouped(changed).items():
            stories = ", ".join(f"`{story}`" for story in dict.fromkeys(before))
            lines += [f"- `{name}`, {reader}, {turn} after {stories}: {why}"]
        lines += [""]
    return "\n".join(lines)


def _turned(of: Sequence[str]) -> str:
    changes = ", ".join(f"{turn} {number}" for turn, number in Counter(of).items() if turn)
    return changes or (VERDICTS[VerdictKind.CORRECT].symbol if of else "")


PARTS: Final[Mapping[str, Callable[..., str]]] = {
    "answers": evidence_pages.answers,
    "engines": engines,
    "evidence": evidence_pages.runs,
    "format-settings": format_settings,
    "open-answers": open_answers,
    "operations": operations,
    "reader-settings": reader_settings,
    "report": evidence_pages.report,
    "tolerances": tolerances,
    "bug-scenarios": bug_scenarios,
    "finding-kinds": finding_kinds,
    "known-defects": defects,
    "maintenance": maintenance,
    "type-declarations": type_pages.type_declarations,
    "type-matrix": type_pages.type_matrix,
    "type-refusals": type_pages.type_refusals,
    "upgrade": evidence_pages.upgrade,
}
"""What makes each generated part, by its name."""


def _made(name: str, options: str) -> str:
    return PARTS[name](**dict(word.split("=", 1) for word in shlex.split(options)))


def stale_pages() -> Iterator[tuple[Path, str]]:
    """Yield the pages whose generated parts are stale, each with the text that it should have."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        generated = _PART.sub(lambda part: f"{part[1]}{_made(part[2], part[3])}\n{part[4]}", text)
        if generated != text:
            yield page, generated


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say which pages are stale")
    options = parser.parse_args(arguments)
    stale = list(stale_pages())
    for page, text in stale:
        print(page.relative_to(DOCS.parent))
        if not options.check:
            page.write_text(text, encoding="utf-8")
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
