"""The files that a comparison, or a rollout, leaves in its folder; what a rollout says."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.comparison import acceptance
from harness.comparison.acceptance import Acceptance
from harness.comparison.cell_pairs import CellPair, VerdictChange
from harness.comparison.regressions import Regression, Remedy, workarounds
from harness.comparison.result import (
    SAFE,
    ComparedSide,
    Decision,
    Rollout,
    RolloutState,
    SideComparison,
)
from harness.core.counting import counted
from harness.core.records import Verdict, VerdictKind
from harness.model import past_views
from harness.reports import html_page, lines, upgrade_page
from harness.reports import upgrade_report as report
from harness.reports.document import Block, Heading, Items, Line, table
from harness.reports.markdown import markdown

TEXT: Final = "upgrade.txt"
MARKDOWN: Final = "upgrade.md"
JSON: Final = "upgrade.json"
FORMAT: Final = 1
ROLLOUT: Final = "rollout"

JsonObject = dict[str, object]


def write(comparison: SideComparison, folder: Path) -> dict[str, Path]:
    files = {
        "html": upgrade_page.write(comparison, folder),
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
    formats = (run.info.variant(pair.either.variant).format for pair in pairs)
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
        "settings": _settings(remedy),
        "brought_about_by": report.suspects_text(cause, comparison),
        "tables": list(affected.tables) if affected else [],
        "workarounds": [] if remedy else list(map(str, workarounds(cause, run))),
        "cases": [pair.either.case for pair in pairs],
    }


def _line(line: Acceptance) -> JsonObject:
    return {
        "place": line.place,
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
    page = html_page.write(rollout_page(rollout, folder), folder / f"{ROLLOUT}.html")
    return {"html": page, "text": text}


def rollout_page(rollout: Rollout, folder: Path) -> str:
    """Return a rollout as HTML, without a script: each state links to its own page."""
    blocks = [*rollout_document(rollout, folder)]
    first = next(at for at, block in enumerate(blocks) if isinstance(block, Heading))
    return html_page.rendered(
        "rollout.html.j2",
        {
            "headline": rollout_headline(rollout),
            "tone": VerdictKind.CORRECT if rollout.safe else VerdictKind.WRONG,
            "first": blocks[:first],
            "parts": html_page.parts(blocks[first:]),
            "css": html_page.templates("report.css", "upgrade.css"),
        },
    )


def rollout_document(rollout: Rollout, folder: Path) -> Iterator[Block]:
    """Yield which order is safe, and each state; their pages, which are linked, lie below."""
    tone = VerdictKind.CORRECT if rollout.safe else VerdictKind.WRONG
    yield Line(strong=rollout_headline(rollout), tone=tone)
    yield Line(_no_return(rollout))
    rows = (_row(state, folder) for state in rollout.judged)
    yield table(("changes", "after", "answer", "way back"), rows)
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


def _row(state: RolloutState, folder: Path) -> tuple[str | Line, ...]:
    decision = state.comparison.decision
    href, tone = _page(state.comparison, folder), report.DECISION_TONES[decision]
    returns = VerdictKind.CORRECT if state.returns else VerdictKind.WRONG
    return (
        _numbers(state),
        state.name,
        Line(strong=str(decision), tone=tone, href=href),
        Line(_way_back(state), tone=returns),
    )


def _state(title: str, comparison: SideComparison, folder: Path) -> Iterator[Block]:
    asked = counted(sum(not pair.is_step for pair in comparison.pairs), "question")
    safe = comparison.decision in SAFE
    result = f"{comparison.decision if safe else _worse(comparison)} ({asked})"
    yield Line(f": {result}", strong=title, href=_page(comparison, folder))
    if comparison.relevant:
        yield Items(tuple(report.cause_item(c, comparison) for c in comparison.relevant))


def _page(comparison: SideComparison, folder: Path) -> str:
    page = comparison.new.run.folder / upgrade_page.FILE
    return Path(os.path.relpath(page, folder)).as_posix()


def rollout_headline(rollout: Rollout) -> str:
    if rollout.safe:
        return "This order is safe: in no state on the way does anything get worse."
    unsafe = next(state for state in rollout.states if not state.safe)
    why = f"after {unsafe.name} {_worse(unsafe.comparison)}"
    order = "No order of these changes is safe."
    if rollout.safe_order is not None:
        order = f"This order is safe: {', '.join(map(str, rollout.safe_order))}."
    return f"Do not roll out in this order: {why}. {order}"


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
