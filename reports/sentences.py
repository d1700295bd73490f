"""Findings as plain sentences that somebody new to the harness understands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.core.records import Answer, Finding, FindingKind, Origin, Refusal, Verdict, Witness
from harness.model.canonical import text_of
from harness.model.query import AGGREGATE
from harness.reports import schema_sentences
from harness.reports.blame import PARTIES
from harness.reports.words import exact, kind_of, short, shown
from harness.run.run_info import RunInfo

NAMED: Final = 3
"""So many ways of reading are listed where several give an answer."""
LITTLE: Final = "gives the same answer, but an answer this small proves nothing"
"""About the only way of reading that gives a count, or an answer without rows."""
LINE: Final = 240
"""Characters of a refusal in a sentence, and of a line of a server's log."""

_ROWS = {
    FindingKind.GHOST_ROW: "is in the answer although it was deleted or is not asked for",
    FindingKind.PREMATURE: "is in the answer as in a newer table",
    FindingKind.DUPLICATE: "is in the answer more than once",
    FindingKind.UNEXPLAINED: "is in the answer although it was never written",
}
_OF_PARTS: Final = frozenset({FindingKind.STALE, FindingKind.PREMATURE, FindingKind.UNEXPLAINED})
"""Names that a part of a struct may have which is absent or added."""


def witness_text(kind: FindingKind, witness: Witness) -> str:
    """Describe one wrong place: its row and column, what was found, and whose value that is."""
    if kind is FindingKind.ORDER_DEPENDENT:
        return _two_answers_text(witness)
    if kind in schema_sentences.SENTENCES:
        return schema_sentences.SENTENCES[kind](witness)
    if not witness.column:
        return _row_text(kind, witness)
    if not witness.key and (named := AGGREGATE.fullmatch(witness.column)):
        what = named["extreme"] or "the count"
        return f"{what} is {shown(witness.found)}; expected {shown(witness.expected)}"
    if _is_about_column(kind, witness):
        return _column_text(kind, witness)
    found, expected = shown(witness.found), shown(witness.expected)
    if kind is FindingKind.TYPE_DRIFT:
        found += f" ({kind_of(witness.found)})"
        expected += f" ({kind_of(witness.expected)})"
    whose = f", {_whose(kind, witness.origin, witness.key)}" if witness.origin else ""
    whose += f", from the folder's name {short(witness.folder)}" if witness.folder else ""
    return f"in row {witness.key}, {witness.column} shows {found}{whose}; expected {expected}"


def _two_answers_text(witness: Witness) -> str:
    """Describe where two answers of one reader to the same question differ."""
    cell = bool(witness.key and witness.column) or bool(AGGREGATE.fullmatch(witness.column))
    where = f"in row {witness.key}, {witness.column}" if witness.key else witness.column
    if not cell:
        where = f"column {where}" if witness.column else f"row {witness.key}".rstrip()
    before, now = (
        shown(each) if cell or each is not None else "absent"
        for each in (witness.found, witness.expected)
    )
    return f"{where}: {before} after other questions to the server, {now} on a fresh server"


def own_text(witness: Witness) -> str:
    """Return the engine's own text of a wrong place; empty where it says no more than the value."""
    same = not witness.raw or witness.raw == text_of(witness.found)
    return "" if same else f"the engine's own text: {short(witness.raw)}"


def _whose(kind: FindingKind, origin: Origin, key: str) -> str:
    row = f" of row {origin.key}" if origin.key != key else ""
    name = origin.name
    if kind is FindingKind.RESURRECTED:
        name = f"the dropped column {name}"
    if kind is FindingKind.STALE:
        return f"the old value{row} written at step {origin.step}"
    if kind is FindingKind.PREMATURE:
        return f"the newer value{row} written at step {origin.step}"
    return f"the value of {name}{row} written at step {origin.step}"


def _row_text(kind: FindingKind, witness: Witness) -> str:
    row = f"row {witness.key}" if witness.key else "a row without a key"
    if kind is FindingKind.PREMATURE and witness.found is None:
        then = short(exact(witness.expected))
        return f"{row} is missing, as in a newer table; the view should show {then}"
    if kind is FindingKind.LOST_ROW:
        return f"{row} is not in the answer; expected {short(exact(witness.expected))}"
    what = _ROWS.get(kind, "is not as expected")
    return f"{row} {what}: {short(text_of(witness.found))}"


def _is_about_column(kind: FindingKind, witness: Witness) -> bool:
    # A part of a struct that is absent or added is seen in a row, but it is no wrong value: whose a
    # value is has the whole path.
    if not witness.key:
        return True
    name = witness.column.rpartition(".")[2]
    part = kind in _OF_PARTS and (witness.origin is None or witness.origin.name == name)
    # A tuple of the two: a value with parts has no hash.
    return part and (witness.expected, witness.found) in ((name, None), (None, name))


def _column_text(kind: FindingKind, witness: Witness) -> str:
    if kind is FindingKind.TYPE_DRIFT:
        found, expected = text_of(witness.found), text_of(witness.expected)
        return f"column {witness.column} is declared as {found}; expected {expected}"
    if witness.found is None:
        return f"column {witness.column} is not in the answer"
    return f"column {witness.column} should not be in the answer, or is there twice"


def finding_text(finding: Finding) -> str:
    """Describe a finding by its witness, how many places it has, and who is to blame."""
    whose = PARTIES[finding.party].short
    return places_text(finding) + (f"; {whose}" if whose else "")


def findings_text(verdict: Verdict) -> str:
    """Describe all findings of a verdict, each by its witness."""
    return "; ".join(map(finding_text, verdict.findings))


def places_text(finding: Finding) -> str:
    """Describe a finding by its witness, and how many more places it has."""
    more = len(finding.places) - 1
    rest = f" (and {more} more {'place' if more == 1 else 'places'})" if more else ""
    return witness_text(finding.kind, finding.witness) + rest


def answered_text(verdict: Verdict) -> str:
    """Return that a reader answered what it is declared not to know; empty where it did not."""
    return f"declared unsupported ({verdict.disclaimed}), but answered" * bool(verdict.disclaimed)


def refusal_text(refusal: Refusal, longest: int = LINE) -> str:
    """Return a refusal in one line; a long message leaves half of it to its cause."""
    code = f" ({refusal.code})" if refusal.code else ""
    said = f"{refusal.kind}{code}: {refusal.message}"
    if refusal.cause in refusal.message and len(said) <= longest:
        return short(said, longest)
    cause = f"; cause: {refusal.cause}" if refusal.cause else ""
    room = max(longest - len(cause), longest // 2)
    return short(short(said, room) + cause, longest)


def log_text(answer: Answer | None) -> str:
    """Return the end of the server's log after the last try at what is unknown; empty without one.

    As many lines as the record holds, each cut.
    """
    if answer is None or not answer.unknown or not answer.attempts:
        return ""
    lines = answer.attempts[-1].log.splitlines()
    said = [f"  {short(line, LINE)}" for line in lines if line.strip()]
    return "\n".join(["the end of the server's log:", *said]) if said else ""


def mapping_text(reproduces: tuple[str, ...], claimed: str) -> str:
    """Return the way of reading that gives the same answer; only a claimed one is a diagnosis."""
    if not reproduces:
        return ""
    if claimed:
        return f"reads {claimed}"
    if len(reproduces) == 1:
        return f"none is claimed: {reproduces[0]} {LITTLE}"
    if len(reproduces) > NAMED:
        return f"{len(reproduces)} ways of reading give the same answer, so none is claimed"
    return f"none is claimed: the same answer comes from {'; '.join(reproduces)}"


def metastore_lines(info: RunInfo) -> Iterator[str]:
    """Say through which metastore the readers asked; nothing where it is the usual one."""
    if info.metastore is None:
        return
    older = info.metastore.upgraded_from
    made = f", whose database {older} had made with the tables in it" if older else ""
    yield f"all asked through {info.metastore.distribution}{made}"
    yield from (f"{name}: {fidelity}" for name, fidelity in info.metastore.fidelity.items())
