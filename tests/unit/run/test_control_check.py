"""Planted: a reader whose set-up is wrong is never called wrong, one that reads its control is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.core.records import Answer, Finding, FindingKind, Verdict, VerdictKind, Witness
from harness.plan import shipped
from harness.run import run_judge
from harness.scenario.cells import CONTROL, Cell, Plan, Variant, parse_reader

OTHER, SHIPS = "trino-479@container", "trino-476@container"
SCENARIOS = {name: shipped.load_scenario(name) for name in (CONTROL, "hudi/move")}


def variant(scenario: str, format_name: str) -> Variant:
    return Variant(f"{scenario}[{format_name}]", SCENARIOS[scenario], format_name, {}, ())


VARIANTS = tuple(
    variant(scenario, name)
    for scenario in (CONTROL, "hudi/move")
    for name in ("hudi-cow", "hudi-mor")
)
CONTROLS = {
    name: Cell(f"{CONTROL}[{name}]", 2, OTHER, "snapshot", "all")
    for name in ("hudi-cow", "hudi-mor")
}
ASKED = [
    Cell(f"hudi/move[{name}]", 4, reader, "snapshot", "all")
    for name in ("hudi-cow", "hudi-mor")
    for reader in (OTHER, SHIPS)
]
PLAN = Plan("mine", VARIANTS, (parse_reader(OTHER),), (*CONTROLS.values(), *ASKED))


def verdict(cell: Cell, kind: VerdictKind, because: str = "") -> Verdict:
    scenarios = {variant.id: variant.scenario.name for variant in VARIANTS}
    about = cell.variant, cell.step, cell.reader, cell.view, cell.query
    result = Verdict(cell.case, scenarios[cell.variant], *about, verdict=kind, because=because)
    if kind is not VerdictKind.WRONG:
        return result
    witness = Witness("k1", "f1", "a", None)
    finding = Finding(FindingKind.MISSING_RENAME, ("f1",), witness, (witness,))
    return replace(result, findings=(finding,), reproduces=("by id",))


def checked(
    verdicts: Sequence[Verdict], plan: Plan, answers: Mapping[str, Answer]
) -> tuple[Verdict, ...]:
    failed = run_judge.control_failures(verdicts, run_judge.controls_of(plan), answers)
    formats = {variant.id: variant.format for variant in plan.variants}
    return tuple(
        run_judge.invalidate(v, failed.get((v.reader, formats[v.variant]), "")) for v in verdicts
    )


def with_controls(cow: VerdictKind, mor: VerdictKind, because: str = "") -> list[Verdict]:
    of_controls = [verdict(CONTROLS["hudi-cow"], cow, because), verdict(CONTROLS["hudi-mor"], mor)]
    asked = [verdict(cell, VerdictKind.WRONG) for cell in ASKED]
    return list(checked([*of_controls, *asked], PLAN, {}))


def test_of_a_reader_that_reads_it_wrong_nothing_is_known_in_that_format() -> None:
    verdicts = with_controls(VerdictKind.WRONG, VerdictKind.CORRECT)
    cow, mor, other_cow, shipped_cow, other_mor, shipped_mor = verdicts
    for verdict in (cow, other_cow):
        assert (verdict.verdict, verdict.findings, verdict.reproduces) == (
            VerdictKind.UNKNOWN,
            (),
            (),
        )
        assert verdict.because == (
            "set-up: trino-479@container does not read a hudi-cow table that never changed "
            "(wrong: missing_rename at f1 of k1); is it set up rightly?"
        )
    judged = (mor, shipped_cow, other_mor, shipped_mor)
    assert VerdictKind.UNKNOWN not in {verdict.verdict for verdict in judged}


def test_where_the_control_has_no_answer_nothing_is_known_either() -> None:
    verdicts = with_controls(VerdictKind.UNKNOWN, VerdictKind.CORRECT, "the server did not start")
    assert verdicts[2].verdict is VerdictKind.UNKNOWN
    assert "(unknown: the server did not start)" in verdicts[2].because


def test_what_is_unknown_anyway_keeps_its_reason() -> None:
    local = verdict(ASKED[0], VerdictKind.UNKNOWN, "time-out")
    control = verdict(CONTROLS["hudi-cow"], VerdictKind.REFUSED, "no such class")
    assert checked([control, local], PLAN, {})[1] == local


def test_a_table_that_a_reader_is_declared_not_to_know_says_nothing_of_its_set_up() -> None:
    verdicts = with_controls(VerdictKind.UNSUPPORTED, VerdictKind.CORRECT)
    assert verdicts[2].verdict is VerdictKind.WRONG


def test_one_control_that_is_read_is_enough() -> None:
    """What another writer has made the reader may be too old, or too new, to know."""
    more = Variant("more", SCENARIOS[CONTROL], "hudi-cow", {}, ())
    second = replace(CONTROLS["hudi-cow"], variant="more")
    plan = replace(PLAN, variants=(*VARIANTS, more), cells=(*PLAN.cells, second))
    first = verdict(CONTROLS["hudi-cow"], VerdictKind.REFUSED, "too new")
    right = replace(first, case=second.case, variant="more", verdict=VerdictKind.CORRECT)
    asked = verdict(ASKED[0], VerdictKind.WRONG)
    assert checked([first, right, asked], plan, {}) == (first, right, asked)
    failed = replace(right, verdict=VerdictKind.WRONG)
    assert checked([first, failed, asked], plan, {})[2].verdict is VerdictKind.UNKNOWN
