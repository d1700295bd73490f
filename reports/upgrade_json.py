"""A comparison of two sides for programs: `upgrade.json`, whose fields docs/upgrade.md lists.

Fields are added and never renamed; one that changes its meaning gets another `format`.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Final

from harness.comparison.accepted import Acceptance
from harness.comparison.cell_pairs import CellPair
from harness.comparison.regressions import Regression
from harness.comparison.remedies import Remedy
from harness.comparison.result import ComparedSide, ReaderScore, SideComparison
from harness.comparison.verdict_change import VerdictChange
from harness.comparison.workarounds import workarounds
from harness.core.records import Verdict
from harness.model import past_views
from harness.reports import upgrade_report as report

FILE: Final = "upgrade.json"
FORMAT: Final = 1

JsonObject = dict[str, object]


def write(comparison: SideComparison, folder: Path) -> Path:
    path = folder / FILE
    # As ASCII, so that no text of an engine is more than a text.
    with path.open("w", encoding="ascii") as out:
        # A piece at a time: of a million cells the whole text would fill the memory.
        json.dump(data(comparison), out, indent=1, default=pair_data)
        out.write("\n")
    return path


def data(comparison: SideComparison) -> JsonObject:
    """Return the whole comparison; its cells are pairs, which `pair_data` makes plain."""
    accepted = comparison.accepted
    return {
        "format": FORMAT,
        **answer(comparison),
        "old": _side(comparison.old),
        "new": _side(comparison.new),
        "scoreboard": list(map(_score, comparison.reader_scores)),
        "causes": [_cause(cause, comparison) for cause in comparison.relevant],
        "unmet": [_cause(cause, comparison) for cause in comparison.irrelevant],
        "not_covered": dict(comparison.not_covered),
        "remedies": [_remedy(remedy, comparison) for remedy in comparison.remedies],
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


def answer(comparison: SideComparison) -> JsonObject:
    """Return what to do, in few words."""
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
                "reader": reader.reader,
                "distribution": reader.distribution,
                "fidelity": reader.fidelity,
                "settings": reader.settings,
            }
            for reader in info.readers
        ],
        "metastore": info.metastore.distribution if info.metastore else "",
    }


def _score(score: ReaderScore) -> JsonObject:
    return {
        "old": {"reader": score.old, **{str(k): n for k, n in score.before.items()}},
        "new": {"reader": score.new, **{str(k): n for k, n in score.after.items()}},
    }


def _cause(cause: Regression, comparison: SideComparison) -> JsonObject:
    run, key, pairs, asked = comparison.new.run, cause.key, cause.pairs, cause.asked
    remedy, affected = report.cause_remedy(cause, comparison), comparison.affected.get(key)
    changes = Counter(pair.change for pair in pairs)
    formats = (run.variant(pair.either.variant).format for pair in pairs)
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


def _remedy(remedy: Remedy, comparison: SideComparison) -> JsonObject:
    return {
        "reader": remedy.reader,
        "settings": _settings(remedy),
        "heals": len(remedy.heals),
        "harms": len(remedy.harms),
        "heals_all": remedy is comparison.remedy,
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
    kinds = dict.fromkeys(str(finding.kind) for finding in verdict.findings)
    return {"verdict": str(verdict.verdict), "findings": list(kinds), "because": verdict.because}
