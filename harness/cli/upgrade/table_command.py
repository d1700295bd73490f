"""`harness upgrade` of somebody's own tables: two readers, and what the tables' files say."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.audit.bank import AnswerBank
from harness.cli.audit_command import AuditRequest
from harness.cli.options import TableOptions
from harness.cli.upgrade import sides
from harness.core.errors import UsageProblem

BANKED: Final = "banked"


def request(
    old: Sequence[str] | None,
    new: Sequence[str] | None,
    tables: Sequence[str] | None,
    given: TableOptions,
    scenarios: Sequence[Path] | None,
    timeout_s: float,
    partial_allowed: bool,
    others: Sequence[object],
) -> AuditRequest:
    """Return the audit of tables by both sides; `others`: options about tables of scenarios."""
    if any(others):
        what = "--rollout, --usage, --accept, --profile, --query, --mixed and --as"
        raise UsageProblem(f"with --table and --tables leave out {what}: they are about scenarios")
    addresses, old = given.addresses(tables or ()), old or ()
    after = _reader(new or (), "--to")
    banked = len(old) == 1 and old[0].partition(":")[0] == BANKED
    before = _banked(old[0], given) if banked else _reader(old, "--from")
    if before == after:
        raise UsageProblem(f"--from and --to are the same, {before}: nothing can change")
    return AuditRequest(
        addresses,
        (after,) if banked else (before, after),
        (),
        tuple(path.resolve() for path in scenarios or ()),
        **given.of_request(timeout_s),
        partial_allowed=partial_allowed,
        old=before,
        banked=banked,
    )


def _reader(names: Sequence[str], option: str) -> str:
    side = sides.side(names) if names else sides.Side()
    readers = side.readers
    if side.metastore:
        raise UsageProblem(
            f"{option}: a metastore is no side of your own tables, which are registered in one "
            "that the audit starts: yours would be asked for nothing but its entries, before and "
            "after. Leave out --table and --tables to compare metastores on scenarios"
        )
    if len(readers) != 1 or len(names) != 1:
        raise UsageProblem(f"{option} names one reader of your tables, such as trino-483")
    return str(readers[0])


def _banked(name: str, given: TableOptions) -> str:
    """Return whose answers of a bank are meant; raises UsageProblem."""
    if given.bank is None:
        raise UsageProblem("--from banked wants --bank FOLDER, in which answers were stored")
    readers = AnswerBank.opened(given.bank, values=not given.no_values).readers
    named = [reader for reader in readers if name in {BANKED, f"{BANKED}:{reader}"}]
    if len(named) != 1:
        allowed = ", ".join(f"{BANKED}:{reader}" for reader in readers) or "none"
        raise UsageProblem(
            f"--from {name}: name one whose answers the bank has; allowed: {allowed}"
        )
    return named[0]
