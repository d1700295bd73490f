"""`harness upgrade` by what is known already: no engine is started and nothing downloaded."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import typer

from harness.cli.named_parts import READER
from harness.cli.output import Output
from harness.cli.upgrade.request import UpgradeRequest
from harness.comparison import evidence
from harness.comparison.evidence import Evidence, KnownComparison, compare_known
from harness.core.records import Verdict
from harness.core.texts import counted, first_of
from harness.judge.gate import UNKNOWN
from harness.reports import lines, upgrade_report
from harness.reports.document import Block, Line
from harness.run import run_folder
from harness.run.load_run import VariantInfo
from harness.scenario.cells import parse_reader

NOTHING_IN_COMMON: Final = "no run of the evidence has asked both sides about the same tables."
SHOWN: Final = 12
"""So many readers are named where one is not in the evidence."""


def file() -> Path:
    return Path(os.environ.get(evidence.VARIABLE) or evidence.FILE)


def at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def answer(
    request: UpgradeRequest,
    folder: Path | None,
    output: Output,
    *,
    questions: bool,
    least: int = 0,
    **more: object,
) -> int | None:
    """Say what is known of an upgrade; return the exit status, None if engines are to be asked.

    `questions`: whether somebody at a terminal is asked if engines should be; `least`: a status
    that it is not below; `more`: facts for programs.
    """
    store = evidence.opened(file())
    lacking = [name for name in (*request.old, *request.new) if not store.named(name)]
    known = None if lacking else compared(request, store)
    if known and any(not pair.is_step for pair in known.comparison.pairs):
        status, facts = _shown(known, folder, output)
    else:
        if not _of_readers(request):
            return None
        why = _lacking(lacking, store) if lacking else NOTHING_IN_COMMON
        text = f"Not known: {why}"
        facts = {"answer": text, "decision": "not known"}
        lines.say(output.out, text)
        status = UNKNOWN
    if status == UNKNOWN and questions and at_terminal():
        if typer.confirm("Ask the engines now, about what runs without a profile ask?"):
            return None
    else:
        lines.say(output.out, "\nThis asks the engines themselves:")
        lines.command(output.out, request.command)
    status = max(status, least)
    output.end(status=status, **facts, **more)
    return status


def _of_readers(request: UpgradeRequest) -> bool:
    """Return whether both sides are readers that there are, and read what is named.

    Raises UsageProblem: there is no such side.
    """
    from harness.cli import plan_options  # noqa: PLC0415 - takes a second
    from harness.cli.upgrade import sides  # noqa: PLC0415

    plan_options.parts_of(request.named)
    old, new = (sides.side(names) for names in (request.old, request.new))
    sides.check(old, new)
    _, unread = sides.unread((old, new), request.named.formats, stated=True)
    return old.parts == (READER,) and not (unread and unread == {*request.named.formats})


def _lacking(names: list[str], store: Evidence) -> str:
    engines = {name.partition("-")[0] for name in names}
    others = [reader for reader in store.readers if reader.partition("-")[0] in engines]
    some = first_of(others or store.readers, SHOWN)
    return f"no run of the evidence has asked {' or '.join(names)}; it has {some}."


def compared(request: UpgradeRequest, store: Evidence) -> KnownComparison:
    def keep(variant: VariantInfo, verdict: Verdict) -> bool:
        named = request.named
        return (
            request.k in verdict.case
            and (not named.formats or variant.format in named.formats)
            and (not named.writers or set(variant.writers) <= set(named.writers))
        )

    known = compare_known(store, request.old, request.new, keep)
    comparison = known.comparison
    shared = {comparison.new.run.info.variant(p.either.variant).format for p in comparison.pairs}
    if of_one := {text.partition(" ")[0] for text in comparison.unasked} - shared:
        comparison = replace(comparison, unread=_unread(request, sorted(of_one)))
    if request.accepted:
        from harness.run.baseline_files import today  # noqa: PLC0415 - few accept anything

        comparison = comparison.accepting(request.accepted, today())
    return replace(
        known,
        comparison=replace(
            comparison,
            usage=request.tables,
            command=request.command,
            partial_allowed=request.partial_allowed,
        ),
    )


def _unread(request: UpgradeRequest, names: Sequence[str]) -> Mapping[str, str]:
    """Return of formats that one side alone was asked about why the other cannot be."""
    from harness.plan import distribution_support  # noqa: PLC0415 - half a second

    readers = tuple(map(parse_reader, (*request.old, *request.new)))
    whys = {name: [distribution_support.cannot(r, name) for r in readers] for name in names}
    return {name: "; ".join(filter(None, why)) for name, why in whys.items() if any(why)}


def _shown(
    known: KnownComparison, folder: Path | None, output: Output
) -> tuple[int, dict[str, object]]:
    comparison = known.comparison
    blocks = upgrade_report.document(comparison)
    lines.render([next(blocks), *_provenance(known)], output.out)
    lines.render(blocks, output.out)
    files = dict[str, Path]()
    if not (folder or output.json):
        return comparison.status, {}
    from harness.reports import upgrade_files  # noqa: PLC0415 - pages take long to load

    if folder:
        run_folder.check_new(folder)
        run_folder.make(folder)
        files = upgrade_files.write(comparison, folder)
        lines.command(output.out, str(files["html"]))
    data = upgrade_files.answer_data(comparison)
    facts = {name: data[name] for name in ("answer", "decision", "settings")}
    facts |= {
        "changes": data["counts"],
        "known": {
            "runs": [
                {"run": s.id, "profile": s.profile, "started": s.started, "commit": s.commit}
                for s in known.sources
            ],
            "composed": known.composed,
        },
        "reports": {name: str(path) for name, path in files.items()},
    }
    return comparison.status, facts


def _provenance(known: KnownComparison) -> Iterator[Block]:
    if not known.sources:
        return
    runs = "; ".join(map(str, known.sources))
    yield Line(f"Known already, and no engine was asked: {runs}.")
    if known.composed:
        number = counted(known.composed, "question")
        yield Line(
            f"Of {number} the two sides were asked in different runs, on the same table states."
        )
