"""The files that a comparison, or a rollout, leaves in its folder; what a rollout says."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from harness.comparison import acceptance
from harness.comparison.acceptance import Acceptance
from harness.comparison.cell_pairs import WORSE, CellPair, VerdictChange
from harness.comparison.regressions import Regression, Remedy, workarounds
from harness.comparison.result import (
    SAFE,
    ComparedSide,
    Decision,
    Rollout,
    RolloutState,
    SideComparison,
)
from harness.core.grouping import grouped
from harness.core.records import Verdict, VerdictKind
from harness.core.texts import counted, printable
from harness.model import past_views
from harness.reports import html, known_defects, lines
from harness.reports import upgrade_report as report
from harness.reports.document import Block, Heading, Items, Line, table
from harness.reports.findings import FINDINGS, kinds_text, witness_text
from harness.reports.html import CauseCells, CellBefore, JsonValue, PageCells
from harness.reports.markdown import markdown
from harness.reports.summary import numbers
from harness.reports.words import LONGEST, NOT_WORDED, VERDICTS, LoggedFailure, refusal_text, short
from harness.run.causes import causes
from harness.run.load_run import Run

PAGE: Final = "upgrade.html"
IN_FULL: Final = 3
MOST_TABLES: Final = 500
"""So many tables of a list are shown; of a million cells the rest would fill a browser's memory."""
NOT_ASKED: Final = "not asked"
EXAMPLE: Final = "changed:worse reader:trino default:yes"
TERMS: Final = (
    ("changed:worse", "worse"),
    ("changed:fixed", "fixed"),
    ("is:wrong", "wrong now"),
    ("default:yes", "by default"),
)


class CellLine(NamedTuple):
    """The same change of the same question, after one step or several."""

    steps: str
    asked: str
    """The view, and the query where it is not the whole table."""
    reader: str
    old: str
    new: str
    example: str


CellLists = list[tuple[str, list[CellLine]]]


def write_page(comparison: SideComparison, folder: Path) -> Path:
    return html.write_page(page(comparison), folder / PAGE)


def page(comparison: SideComparison) -> str:
    asked = Heading("What was asked, and what really ran"), report.asked_table(comparison)
    known = (
        *report.untested(comparison),
        Heading("Readers"),
        report.scores(comparison),
        *report.known_limits(comparison),
    )
    return html.rendered(
        "upgrade.html.j2",
        {
            "label": report.label(comparison),
            "reasons": report.reasons(comparison).lstrip(" ,:"),
            "colour": report.tone(comparison).value,
            "old": comparison.old,
            "new": comparison.new,
            "paste": report.settings_of(comparison.remedy),
            "causes": [_shown_cause(cause, comparison) for cause in comparison.relevant],
            "unmet": [_shown_cause(cause, comparison) for cause in comparison.irrelevant],
            "users_tables": html.parts(report.users_tables(comparison)),
            "accepted": [
                _shown_cause(cause.cause, comparison, f"{cause.by.because} ({cause.by.location})")
                for cause in comparison.accepted.causes
            ],
            "lines": list(report.line_texts(comparison)),
            "classes": list(_classes(comparison)),
            "known": html.parts(known),
            "asked": html.parts(asked),
            "finding_words": FINDINGS,
            "meanings": report.CHANGES,
            "in_full": IN_FULL,
            "css": html.templates("report.css", "upgrade.css"),
            **html.cell_table(page_data(comparison), EXAMPLE, TERMS),
        },
    )


def _shown_cause(
    cause: Regression, comparison: SideComparison, because: str = ""
) -> dict[str, object]:
    run, verdict, finding = comparison.new.run, cause.first.either, cause.key.finding
    variant, kind = run.info.variant(verdict.variant), cause.key.symptom.kind
    return {
        "title": report.cause_title(cause),
        "css": f"finding f-{finding.value}" if finding else kind.value,
        "word": FINDINGS[finding] if finding else VERDICTS[kind],
        "silent": not cause.loud,
        "extent": report.cause_extent(cause, run),
        "witness": report.cause_witness(cause, run),
        "to_do": report.what_to_do(cause, comparison),
        "notes": tuple(report.cause_notes(cause, comparison)),
        "settings": report.settings_of(report.cause_remedy(cause, comparison)),
        "because": because,
        "steps": [step for step in variant.steps if step.number <= verdict.step],
        "at": verdict.step,
        "scenario": variant.scenario,
        "yaml": run.info.scenarios.get(variant.id, ""),
        "case": verdict.case,
        "sql": verdict.sql,
        "explain": report.explain_command(verdict, run),
        "answers": len(cause.pairs),
        "cells": cell_lists(cause.pairs, comparison),
    }


def _classes(comparison: SideComparison) -> Iterator[dict[str, object]]:
    """Yield each class with its answers, and where these are listed if it is not here."""
    for change, number, meaning in report.class_lines(comparison):
        css, colour = str(change).replace(" ", "-"), report.TONES.get(change)
        pairs, href = comparison.pairs_of(change), f"#{css}"
        if change is VerdictChange.RIGHT_AS_BEFORE:
            pairs, href = (), ""
        elif change in WORSE:
            pairs = ()
            href = "#worse" if comparison.relevant else "#unmet"
            href = href if comparison.regressions else "#accepted"
        yield {
            "change": change,
            "number": number,
            "meaning": meaning,
            "css": colour.value if colour else css,
            "href": href,
            "cells": cell_lists(pairs, comparison),
        }


def cell_lists(pairs: Iterable[CellPair], comparison: SideComparison) -> CellLists:
    """Return all pairs, table by table: one line for the steps after which the same was seen."""
    variants = grouped((pair.either.variant, pair) for pair in pairs)
    lists = [
        (name, [*_lines(pairs, comparison)]) for name, pairs in list(variants.items())[:MOST_TABLES]
    ]
    if (more := len(variants) - MOST_TABLES) > 0:
        lists.append((f"and {counted(more, 'more table')}: harness explain CASE", []))
    return lists


def _lines(pairs: Iterable[CellPair], comparison: SideComparison) -> Iterator[CellLine]:
    for key, same_pairs in grouped((_key(pair), pair) for pair in pairs).items():
        steps = sorted({pair.either.step for pair in same_pairs})
        example = NOT_WORDED
        with LoggedFailure(same_pairs[0].either.case):
            example = _example(same_pairs[0], comparison)
        yield CellLine(numbers(steps), *key, example)


def _key(pair: CellPair) -> tuple[str, str, str, str]:
    either, old, new = pair.either, _word(pair.old), _word(pair.new)
    if pair.is_step:
        return "the step itself", "", old, new
    query = "" if either.query == "all" else f" {either.query}"
    readers = [verdict.reader for verdict in (pair.old, pair.new) if verdict]
    reader = report.became(readers[0], readers[-1])
    return f"{either.view.replace('_', '-')}{query}", reader, old, new


def _word(verdict: Verdict | None) -> str:
    if verdict is None:
        return NOT_ASKED
    wrong = verdict.verdict is VerdictKind.WRONG
    return kinds_text(verdict) if wrong else VERDICTS[verdict.verdict].label


def _example(pair: CellPair, comparison: SideComparison) -> str:
    """Say why a side is not known, else what is wrong, the new side first."""
    both = (pair.new, comparison.new), (pair.old, comparison.old)
    sides = [(verdict, side) for verdict, side in both if verdict]
    for verdict, side in sides:
        if verdict.verdict is VerdictKind.UNKNOWN:
            return printable(f"{side.name}: {short(verdict.because)}")
    texts = filter(None, (_seen(verdict, side.run) for verdict, side in sides))
    return printable(next(texts, ""))


def _seen(verdict: Verdict, run: Run) -> str:
    if verdict.findings:
        return witness_text(verdict.findings[0].kind, verdict.findings[0].witness)
    answer = run.answers.get(verdict.case)
    refusal = refusal_text(answer.refusal, LONGEST) if answer and answer.refusal else ""
    return refusal or short(verdict.because)


def page_data(comparison: SideComparison) -> dict[str, JsonValue]:
    """Return everything that the page's script needs: what cells are, and what they were."""
    shown = html.data(comparison.new.run, page_cells(comparison))
    meanings = {
        str(change): {"meaning": meaning, "worse": change in WORSE}
        for change, meaning in report.CHANGES.items()
    }
    before = grouped((p.new.reader, p.old.reader) for p in comparison.pairs if p.new and p.old)
    names = {new: "; ".join(dict.fromkeys(old)) for new, old in before.items()}
    return {**shown, "changes": meanings, "before": names}


def page_cells(comparison: SideComparison) -> PageCells:
    """Return the new side's cells, but for those that are right as before, which are counted.

    Cells that only the old side has, and steps themselves, are no answers of the new one.
    """
    run, old = comparison.new.run, comparison.old.run
    pairs = {p.new.case: p for p in comparison.pairs if p.new and not p.is_step}
    # One set, which grows: of a million cells each takes 64 MB.
    left_out = {c for c, pair in pairs.items() if pair.change is VerdictChange.RIGHT_AS_BEFORE}
    counted_ = [verdict for verdict in run.verdicts if verdict.case in left_out]
    left_out.update(verdict.case for verdict in run.verdicts if verdict.case not in pairs)
    cells = PageCells(
        shown=html.left(run, left_out),
        counted=counted_,
        causes=_cause_cells(comparison),
        numbered=len(comparison.relevant),
        before={
            case: CellBefore(str(pair.change), old, pair.old)
            for case, pair in pairs.items()
            if case not in left_out
        },
        explains=False,
    )
    return html.with_examples(cells)


def _cause_cells(comparison: SideComparison) -> list[CauseCells]:
    """Return the causes that are listed, and then those of what is not worse and not right."""
    accepted = (cause.cause for cause in comparison.accepted.causes)
    by_key = {c.key: c for c in (*comparison.relevant, *comparison.regressions, *accepted)}
    listed = [
        CauseCells(key.operation, tuple(pair.new.case for pair in cause.pairs if pair.new))
        for key, cause in by_key.items()
    ]
    cases = set(chain.from_iterable(cells.cases for cells in listed))
    run = comparison.new.run
    rest = (
        CauseCells(cause.key.operation, tuple(case for case in cause.cases if case not in cases))
        for cause in causes(run.verdicts, run)
    )
    return [*listed, *(cells for cells in rest if cells.cases)]


TEXT: Final = "upgrade.txt"
MARKDOWN: Final = "upgrade.md"
JSON: Final = "upgrade.json"
FORMAT: Final = 1
ROLLOUT: Final = "rollout"

JsonObject = dict[str, object]


def write(comparison: SideComparison, folder: Path) -> dict[str, Path]:
    files = {
        "html": write_page(comparison, folder),
        "text": lines.write(report.document(comparison), folder / TEXT),
        "markdown": folder / MARKDOWN,
        "json": folder / JSON,
    }
    text = markdown(report.document(comparison))
    files["markdown"].write_text(text, encoding="utf-8", errors="backslashreplace")
    # As ASCII, so that no text of an engine is more than a text.
    with files["json"].open("w", encoding="ascii") as out:
        # A piece at a time: of a million cells the whole text would fill the memory.
        json.dump(comparison_data(comparison), out, indent=1, default=pair_data)
        out.write("\n")
    accept = folder / acceptance.FILE
    if comparison.relevant and not accept.exists():
        accepted = (cause.by for cause in comparison.accepted.causes)
        content = acceptance.dump(comparison.relevant, accepted)
        accept.write_text(content, encoding="utf-8")
        files["accept"] = accept
    return files


def comparison_data(comparison: SideComparison) -> JsonObject:
    """Return the whole comparison; its cells are pairs, which `pair_data` makes plain."""
    accepted = comparison.accepted
    return {
        "format": FORMAT,
        **answer_data(comparison),
        "old": _side(comparison.old),
        "new": _side(comparison.new),
        "scoreboard": [
            {
                "old": {"reader": score.old, **{str(k): n for k, n in score.before.items()}},
                "new": {"reader": score.new, **{str(k): n for k, n in score.after.items()}},
            }
            for score in comparison.reader_scores
        ],
        "causes": [_cause(cause, comparison) for cause in comparison.relevant],
        "unmet": [_cause(cause, comparison) for cause in comparison.irrelevant],
        "not_covered": dict(comparison.not_covered),
        "to_ask": {
            name: report.ask_command(reason, comparison)
            for name, reason in comparison.not_asked.items()
        },
        "untested": [
            {
                "scenario": step.scenario,
                "format": step.format,
                "step": step.step.number,
                "operation": step.step.operation,
                "because": refusal_text(step.refusal) if step.refusal else "",
                "in_another_format": step.somewhere,
            }
            for step in comparison.untested
        ],
        "unread": dict(comparison.unread),
        "refused_by_both": comparison.refused_by_both,
        "remedies": [
            {
                "reader": remedy.reader,
                "settings": _settings(remedy),
                "heals": len(remedy.heals),
                "harms": len(remedy.harms),
                "heals_all": remedy is comparison.remedy,
            }
            for remedy in comparison.remedies
        ],
        "accepted": [
            _cause(cause.cause, comparison) | {"by": _line(cause.by)} for cause in accepted.causes
        ],
        "lines": {
            "gone": list(map(_line, accepted.gone)),
            "unreviewed": list(map(_line, accepted.unreviewed)),
            "expired": list(map(_line, accepted.expired)),
        },
        "wrong_today": [
            asdict(line) | {"known": list(line.known), "trackers": list(line.trackers)}
            for line in report.wrong_today_of(comparison)
        ],
        "cells": {
            str(change): comparison.pairs_of(change)
            for change in VerdictChange
            if change is not VerdictChange.RIGHT_AS_BEFORE
        },
    }


def answer_data(comparison: SideComparison) -> JsonObject:
    return {
        "answer": report.headline(comparison),
        "decision": str(comparison.decision),
        "status": comparison.status,
        "counts": {str(change): number for change, number in comparison.counts.items()},
        "settings": _settings(comparison.remedy),
    }


def _settings(remedy: Remedy | None) -> list[str]:
    return list(remedy.texts) if remedy else []


def _side(side: ComparedSide) -> JsonObject:
    info = side.run.info
    writers = (writer for variant in info.variants for writer in variant.writers)
    return {
        "name": side.name,
        "run": str(side.run.folder),
        "id": info.id,
        "profile": info.profile,
        "version": info.version,
        "started": info.started.isoformat(),
        "scenarios": list(dict.fromkeys(variant.scenario for variant in info.variants)),
        "formats": list(dict.fromkeys(variant.format for variant in info.variants)),
        "writers": list(dict.fromkeys(writers)),
        "readers": [
            {
                name: getattr(reader, name)
                for name in ("reader", "distribution", "fidelity", "settings")
            }
            for reader in info.readers
        ],
        "metastore": info.metastore.distribution if info.metastore else "",
    }


def _cause(cause: Regression, comparison: SideComparison) -> JsonObject:
    run, key, pairs, asked = comparison.new.run, cause.key, cause.pairs, cause.asked
    remedy, affected = report.cause_remedy(cause, comparison), comparison.affected.get(key)
    changes = Counter(pair.change for pair in pairs)
    verdicts = [pair.either for pair in pairs]
    formats = (run.info.variant(verdict.variant).format for verdict in verdicts)
    known = known_defects.known_as(key, verdicts, run)
    return {
        "title": report.cause_title(cause),
        "engine": key.engine,
        "finding": key.finding.value if key.finding else "",
        "refusal": "" if key.finding else key.symptom.what,
        "party": str(key.symptom.responsible or ""),
        "operation": key.operation,
        "by_default": cause.by_default,
        "counts": {str(change): changes[change] for change in cause.changes},
        "scenarios": list(cause.scenarios),
        "formats": list(dict.fromkeys(formats)),
        "views": list(dict.fromkeys(past_views.name_of(verdict.view) for verdict in asked)),
        "readers": list(dict.fromkeys(verdict.reader for verdict in asked)),
        "witness": report.cause_witness(cause, run),
        "sql": cause.first.either.sql,
        "what_to_do": report.what_to_do(cause, comparison),
        "right_in": list(known_defects.right_in(key, verdicts, run)),
        "trackers": list(known_defects.trackers(known)),
        "settings": _settings(remedy),
        "brought_about_by": report.suspects_text(cause, comparison),
        "tables": list(affected.tables) if affected else [],
        "workarounds": [] if remedy else list(map(str, workarounds(cause, run))),
        "cases": [verdict.case for verdict in verdicts],
    }


def _line(line: Acceptance) -> JsonObject:
    return {
        "place": line.location,
        "engine": line.engine,
        "finding": str(line.finding or ""),
        "refusal": line.refusal,
        "operation": line.operation,
        "scenarios": list(line.scenarios),
        "because": line.because,
        "until": line.until.isoformat() if line.until else "",
    }


def pair_data(pair: CellPair) -> JsonObject:
    return {
        "case": pair.either.case,
        "old_case": pair.old.case if pair.old else "",
        "old": _verdict(pair.old),
        "new": _verdict(pair.new),
    }


def _verdict(verdict: Verdict | None) -> JsonObject | None:
    if verdict is None:
        return None
    kinds = dict.fromkeys(str(finding.kind) for finding in verdict.findings)
    return {"verdict": str(verdict.verdict), "findings": list(kinds), "because": verdict.because}


def write_rollout(rollout: Rollout, folder: Path) -> dict[str, Path]:
    """Write the reports of a rollout, and those of each state beside its run; return the former."""
    for state in rollout.judged:
        for comparison in state.comparisons:
            write(comparison, comparison.new.run.folder)
    text = lines.write(rollout_document(rollout, folder), folder / f"{ROLLOUT}.txt")
    page = html.write_page(rollout_page(rollout, folder), folder / f"{ROLLOUT}.html")
    return {"html": page, "text": text}


def rollout_page(rollout: Rollout, folder: Path) -> str:
    """Return a rollout as HTML, without a script: each state links to its own page."""
    blocks = [*rollout_document(rollout, folder)]
    first = next(at for at, block in enumerate(blocks) if isinstance(block, Heading))
    return html.rendered(
        "rollout.html.j2",
        {
            "headline": rollout_headline(rollout),
            "tone": _rollout_tone(rollout),
            "first": blocks[:first],
            "parts": html.parts(blocks[first:]),
            "css": html.templates("report.css", "upgrade.css"),
        },
    )


def rollout_document(rollout: Rollout, folder: Path) -> Iterator[Block]:
    """Yield which order is safe, and each state; their pages, which are linked, lie below."""
    yield Line(strong=rollout_headline(rollout), tone=_rollout_tone(rollout))
    yield Line(_no_return(rollout))
    rows = (_row(state, folder) for state in rollout.judged)
    yield table(("changes", "after", "answer", "way back"), rows)
    yield from report.wrong_already(rollout.states[-1].comparison)
    for state in rollout.judged:
        order = "" if state in rollout.states else ", in another order"
        yield Heading(f"{_numbers(state)}. After {state.name}{order}")
        for title, comparison in (
            ("Readers and writer", state.comparison),
            ("The way back", state.back),
            ("The way back after a downgrade", state.downgraded),
        ):
            if comparison is not None:
                yield from _state(title, comparison, folder)


def _rollout_tone(rollout: Rollout) -> VerdictKind:
    good = VerdictKind.UNKNOWN if rollout.in_part else VerdictKind.CORRECT
    return good if rollout.safe else VerdictKind.WRONG


def _row(state: RolloutState, folder: Path) -> tuple[str | Line, ...]:
    decision = _decision(state.comparison)
    href, tone = _page(state.comparison, folder), report.tone(state.comparison)
    returns = VerdictKind.CORRECT if state.returns else VerdictKind.WRONG
    return (
        _numbers(state),
        state.name,
        Line(strong=decision, tone=tone, href=href),
        Line(_way_back(state), tone=returns),
    )


def _state(title: str, comparison: SideComparison, folder: Path) -> Iterator[Block]:
    asked = counted(sum(not pair.is_step for pair in comparison.pairs), "question")
    safe = comparison.decision in SAFE
    result = f"{_decision(comparison) if safe else _worse(comparison)} ({asked})"
    yield Line(f": {result}", strong=title, href=_page(comparison, folder))
    if comparison.relevant:
        yield Items(tuple(report.cause_item(c, comparison) for c in comparison.relevant))
    yield from report.untested(comparison)


def _decision(comparison: SideComparison) -> str:
    return f"{'in part: ' * report.in_part(comparison)}{comparison.decision}"


def _page(comparison: SideComparison, folder: Path) -> str:
    page = comparison.new.run.folder / PAGE
    return Path(os.path.relpath(page, folder)).as_posix()


def rollout_headline(rollout: Rollout) -> str:
    where = f"in {report.scope(rollout.states[-1].comparison)}"
    if rollout.safe:
        safe = "In part: this order is safe" if rollout.in_part else "This order is safe"
        return f"{safe}: in no state on the way does anything get worse, {where}."
    unsafe = next(state for state in rollout.states if not state.safe)
    why = f"after {unsafe.name} {_worse(unsafe.comparison)}"
    order = "No order of these changes is safe."
    if rollout.safe_order is not None:
        order = f"This order is safe: {', '.join(map(str, rollout.safe_order))}."
    return f"Do not roll out in this order: {why}, {where}. {order}"


def _numbers(state: RolloutState) -> str:
    return ", ".join(map(str, sorted(state.changes)))


def _worse(comparison: SideComparison) -> str:
    number = len(comparison.worse)
    return f"{counted(number, 'answer is', 'answers are')} worse" if number else "not all is known"


def _no_return(rollout: Rollout) -> str:
    if rollout.no_return is not None:
        return (
            f"The point of no return is {rollout.no_return.name}: the old readers, or the old "
            "writer, do not get along with what is there then."
        )
    down = next((state for state in rollout.states if state.returns_by_downgrade), None)
    more = f" From {down.name} on the table version is brought down first." if down else ""
    return f"From every state there is a way back: the old readers and the old writer.{more}"


def _way_back(state: RolloutState) -> str:
    if state.returns:
        return "after a downgrade" if state.returns_by_downgrade else "there is one"
    asked = [comparison for comparison in (state.back, state.downgraded) if comparison is not None]
    unknown = not asked or any(c.decision is Decision.NOT_KNOWN for c in asked)
    return "not known" if unknown else "none"
