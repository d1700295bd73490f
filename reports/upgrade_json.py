"""A comparison of two sides for programs: `upgrade.json`, whose fields docs/upgrade.md lists.

Fields are added and never renamed; one that changes its meaning gets another `format`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from harness.comparison.accepted import Acceptance
from harness.comparison.cell_pairs import CellPair
from harness.comparison.reader_scores import ReaderScore, reader_scores
from harness.comparison.regressions import Regression
from harness.comparison.remedies import Remedy
from harness.comparison.result import ComparedSide, SideComparison
from harness.comparison.verdict_change import VerdictChange
from harness.comparison.workarounds import workarounds
from harness.core.records import Verdict
from harness.model import past_views
from harness.reports import upgrade_words as words
from harness.reports import usage_words

FILE: Final = "upgrade.json"
FORMAT: Final = 1

JsonObject = dict[str, object]


def write(found: SideComparison, folder: Path) -> Path:
    """Write the file."""
    path = folder / FILE
    # As ASCII, so that no text of an engine is more than a text.
    with path.open("w", encoding="ascii") as out:
        # A piece at a time: of a million cells the whole text would fill the memory.
        json.dump(data(found), out, indent=1, default=pair_data)
        out.write("\n")
    return path


def data(found: SideComparison) -> JsonObject:
    """Return all that a comparison found; its cells are pairs, which `pair_data` makes plain."""
    return {
        "format": FORMAT,
        **answer(found),
        "old": _side(found.old),
        "new": _side(found.new),
        "scoreboard": [_score(each) for each in reader_scores(found.pairs)],
        "causes": [_cause(each, found) for each in found.relevant],
        "unmet": [_cause(each, found) for each in usage_words.irrelevant(found)],
        "not_covered": dict(found.not_covered),
        "remedies": [_remedy(each, found) for each in found.remedies],
        "accepted": [
            _cause(each.cause, found) | {"by": _line(each.by)} for each in found.accepted.causes
        ],
        "lines": {
            "gone": [_line(each) for each in found.accepted.gone],
            "unreviewed": [_line(each) for each in found.accepted.unreviewed],
            "expired": [_line(each) for each in found.accepted.expired],
        },
        "cells": {
            str(change): found.of(change)
            for change in VerdictChange
            if change is not VerdictChange.RIGHT_AS_BEFORE
        },
    }


def answer(found: SideComparison) -> JsonObject:
    """Return what to do, in few words."""
    return {
        "answer": words.headline(found),
        "decision": str(found.decision),
        "status": found.status,
        "counts": _counts(found.counts),
        "settings": list(found.remedy.told) if found.remedy else [],
    }


def _counts(found: Mapping[VerdictChange, int]) -> JsonObject:
    return {str(change): found[change] for change in VerdictChange}


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
        "scenarios": list(dict.fromkeys(each.scenario for each in info.variants)),
        "formats": list(dict.fromkeys(each.format for each in info.variants)),
        "writers": list(dict.fromkeys(writers)),
        "readers": [
            {
                "reader": each.reader,
                "distribution": each.distribution,
                "fidelity": each.fidelity,
                "settings": each.settings,
            }
            for each in info.readers
        ],
        "metastore": info.metastore.distribution if info.metastore else "",
    }


def _score(score: ReaderScore) -> JsonObject:
    return {
        "old": {"reader": score.old, **{str(k): n for k, n in score.before.items()}},
        "new": {"reader": score.new, **{str(k): n for k, n in score.after.items()}},
    }


def _cause(cause: Regression, found: SideComparison) -> JsonObject:
    run, key, pairs = found.new.run, cause.key, cause.pairs
    asked = [each.either for each in pairs if not each.is_step]
    remedy, met = words.remedy_of(cause, found), found.met.get(key)
    changes = Counter(each.change for each in pairs)
    formats = (run.variant(each.either.variant).format for each in pairs)
    return {
        "title": words.cause_title(cause),
        "engine": key.engine,
        "finding": key.finding.value if key.finding else "",
        "refusal": "" if key.finding else key.symptom.what,
        "party": str(key.symptom.party or ""),
        "operation": key.operation,
        "by_default": cause.by_default,
        "counts": {str(each): changes[each] for each in cause.changes},
        "scenarios": list(cause.scenarios),
        "formats": list(dict.fromkeys(formats)),
        "views": list(dict.fromkeys(past_views.name_of(each.view) for each in asked)),
        "readers": list(dict.fromkeys(each.reader for each in asked)),
        "witness": words.cause_witness(cause, run),
        "sql": cause.first.either.sql,
        "what_to_do": words.what_to_do(cause, found),
        "settings": list(remedy.told) if remedy else [],
        "brought_about_by": words.whose(cause, found),
        "tables": list(met.tables) if met else [],
        "workarounds": [] if remedy else [str(each) for each in workarounds(cause, run)],
        "cases": [each.either.case for each in pairs],
    }


def _remedy(remedy: Remedy, found: SideComparison) -> JsonObject:
    return {
        "reader": remedy.reader,
        "settings": list(remedy.told),
        "heals": len(remedy.heals),
        "harms": len(remedy.harms),
        "heals_all": remedy is found.remedy,
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
    """Return a pair of cells as plain data."""
    return {
        "case": pair.either.case,
        "old_case": pair.old.case if pair.old else "",
        "old": _verdict(pair.old),
        "new": _verdict(pair.new),
    }


def _verdict(verdict: Verdict | None) -> JsonObject | None:
    if verdict is None:
        return None
    kinds = dict.fromkeys(str(each.kind) for each in verdict.findings)
    return {"verdict": str(verdict.verdict), "findings": list(kinds), "because": verdict.because}
