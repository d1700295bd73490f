"""`tools/claims.py` sets what sources claim beside what runs saw of it."""

from __future__ import annotations

import importlib
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from ruamel.yaml import YAML

from harness.artifacts.cache import Cache
from harness.core.errors import UsageProblem
from harness.core.parties import Party
from harness.core.records import (
    Finding,
    FindingKind,
    Outcome,
    OutcomeKind,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.judge.recorded_metadata import SHOWN
from harness.model.commit import ExtraMetadata
from harness.model.file_facts import FileFact, FileKind
from harness.run import pipeline
from harness.run.load_run import WRITE, Run
from harness.write import state_store
from harness.write.table_state import Frozen
from tests.builders import sample_run
from tools import claim_evidence
from tools.claim_evidence import Asked, Claim, Evidence, Section, Standing

ROOT = Path(__file__).parents[3]
READER = sample_run.NAMES[5]
MOVE = Evidence("hudi/move", (3,), ("misaligned",), readers=(READER,))
Page = Callable[..., str]


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module("claims")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return sample_run.make(tmp_path)


@pytest.fixture
def page(claims: ModuleType, tmp_path: Path) -> Page:
    """The page of claims of one section, which are said to stand in a file of two lines."""
    path = tmp_path / "claims.yaml"
    path.write_text("claims:\n  - number: A.1\n", encoding="utf-8")

    def made(runs: list[Run], *given: Claim) -> str:
        section = Section("A", "What is claimed", "a document", given)
        found = claims.tried(runs, section)
        claims.refuse_unused(found, path)
        return "\n".join(claims.page(runs, [(section, found)]))

    return made


def claim(*evidence: Evidence, explained: str = "", remains: str = "") -> Claim:
    return Claim("A.1", "as said", evidence, explained=explained, open=remains)


def by(verdict: Verdict, *parties: Party | None) -> Verdict:
    """Return a wrong verdict with a misaligned value of one party, and a lost one of the next."""
    kinds = (FindingKind.MISALIGNED, FindingKind.LOST_VALUE)
    place = verdict.findings[0].witness
    found = [
        Finding(kind, ("f1",), place, (place,), party)
        for kind, party in zip(kinds, parties, strict=False)
    ]
    return replace(verdict, findings=tuple(found))


def spoilt(run: Run, *parties: Party | None) -> Run:
    """Return the run with the reader's wrong answers to the move being of these parties."""
    wrong = {
        case: by(each, *parties)
        for case, each in run.recorded.items()
        if (each.scenario, each.step, each.reader) == ("hudi/move", 3, READER)
        and each.verdict is VerdictKind.WRONG
    }
    assert wrong
    return replace(run, recorded={**run.recorded, **wrong})


def line(text: str, part: str = "as said") -> str:
    return next(each for each in text.splitlines() if part in each)


@pytest.mark.parametrize("party", [None, Party.READER])
def test_a_readers_finding_agrees_with_the_claim_of_it(
    page: Page, run: Run, party: Party | None
) -> None:
    own = spoilt(run, party)
    assert "**agrees**" in line(page([own], claim(MOVE)))
    told = line(page([own], claim(replace(MOVE, expected=("correct",)))))
    assert f"**misaligned** (3): `{READER}` reading `{sample_run.SPARK}`" in told
    assert "**differs**" in told


def test_a_claim_about_a_reader_is_not_confirmed_by_what_the_writer_did(
    page: Page, run: Run
) -> None:
    told = line(page([spoilt(run, Party.WRITER)], claim(MOVE)))
    assert "**nothing told**" in told
    assert claim_evidence.WRITERS in told
    assert "misaligned" not in told


def test_nor_is_it_refuted_by_that(page: Page, run: Run) -> None:
    told = line(page([spoilt(run, Party.READER, Party.WRITER)], claim(MOVE)))
    assert "**agrees**" in told
    assert "lost_value" not in told


def test_a_claim_that_no_run_has_never_agrees(page: Page, run: Run) -> None:
    other = replace(MOVE, scenario="hudi/other")
    told = line(page([run], claim(other, remains="a run of it")))
    assert "**not executed**" in told
    assert "a run of it" in told
    assert "**not executed**" in line(page([run], claim(remains="a new scenario")))


def test_the_cells_of_a_claim_may_be_in_any_run(page: Page, run: Run) -> None:
    empty = replace(run, recorded={}, states=(), info=replace(run.info, cells=()))
    assert "**agrees**" in line(page([empty, spoilt(run, None)], claim(MOVE)))
    assert "misaligned (6)" in line(page([spoilt(run, None)] * 2, claim(MOVE)))


def test_a_claim_that_was_executed_in_part_does_not_simply_agree(page: Page, run: Run) -> None:
    other = replace(MOVE, scenario="hudi/other", about="another part")
    text = page([spoilt(run, None)], claim(MOVE, other))
    assert "| A | 1 | 0 | 0 | 1 | 0 | 0 |" in text
    more = page([spoilt(run, None)], claim(MOVE, remains="the other columns"))
    assert "| A | 1 | 0 | 0 | 1 | 0 | 0 |" in more
    assert "- A.1, what is still open: the other columns" in more


def test_what_became_of_a_step_is_read_from_its_outcome(page: Page, run: Run) -> None:
    step = Evidence("hudi/move", (3,), ("applied",), of=Asked.STEP)
    assert "**agrees**" in line(page([run], claim(step)))
    states = tuple(
        replace(each, outcome=Outcome(3, OutcomeKind.REFUSED)) if each.outcome.step == 3 else each
        for each in run.states
    )
    told = line(page([replace(run, states=states)], claim(step)))
    assert f"**refused** (2): `{sample_run.SPARK}`" in told


def kept(run: Run, unshown: str = "", *lost: str) -> Run:
    """Return the run with metadata in the commits of the moves, lost in the file, or not shown."""
    states = tuple(
        replace(each, metadata=ExtraMetadata(unshown=unshown)) if each.outcome.step == 3 else each
        for each in run.states
    )
    verdicts = dict(run.recorded)
    for where in lost:
        place = Witness("" if where == "file" else SHOWN, "run.id", "17", None)
        found = Finding(FindingKind.LOST_METADATA, ("run.id",), place, (place,), Party.COMMIT)
        for each in run.variants.values():
            told = each.id, 3, each.writer, WRITE, "step", VerdictKind.WRONG, (found,)
            case = f"{each.id}/{where}"
            verdicts[case] = Verdict(case, each.scenario, *told)
    return replace(run, states=states, recorded=verdicts)


@pytest.mark.parametrize(
    ("lost", "of", "unshown", "kinds"),
    [
        ((), Asked.RECORD, "", "correct (2)"),
        ((), Asked.SHOWN, "", "correct (2)"),
        ((), Asked.SHOWN, "no such procedure", "unknown (2)"),
        (("file",), Asked.RECORD, "", f"**lost_metadata** (2): `{sample_run.SPARK}`"),
        (("file",), Asked.SHOWN, "", "correct (2)"),
        (("shown",), Asked.SHOWN, "", f"**lost_metadata** (2): `{sample_run.SPARK}`"),
        (("shown",), Asked.RECORD, "", "correct (2)"),
    ],
)
def test_what_a_commit_has_and_what_is_shown_of_it_are_two_things(
    page: Page, run: Run, lost: tuple[str, ...], of: Asked, unshown: str, kinds: str
) -> None:
    step = Evidence("hudi/move", (3,), ("correct",), of=of)
    assert kinds in line(page([kept(run, unshown, *lost)], claim(step)))
    assert "**not executed**" in line(page([run], claim(step)))


@pytest.mark.parametrize(
    "chosen",
    [
        {"writers": ("*hudi-1.2.0",)},
        {"formats": ("iceberg",)},
        {"settings": {"rewrites": "all"}},
        {"views": ("incremental*",)},
        {"queries": ("count(f1)",)},
    ],
)
def test_evidence_takes_only_the_cells_that_it_chooses(
    page: Page, run: Run, chosen: dict[str, object]
) -> None:
    told = line(page([run], claim(replace(MOVE, **chosen))))  # type: ignore[arg-type]
    assert "**not executed**" in told


def test_a_difference_stands_first_and_is_explained(page: Page, run: Run) -> None:
    right = replace(claim(MOVE), number="A.2", says="the other")
    wrong = claim(replace(MOVE, expected=("correct",)), explained="it reads by position.")
    text = page([spoilt(run, None)], right, wrong)
    assert text.index("**A.1**") < text.index("**A.2**")
    assert "- A.1 differs: it reads by position." in text


def test_a_difference_without_an_explanation_says_so(page: Page, run: Run) -> None:
    wrong = claim(replace(MOVE, expected=("correct",)))
    assert "- A.1 differs: not explained" in page([spoilt(run, None)], wrong)


def test_an_explanation_that_fits_nothing_is_an_error_with_file_and_line(
    page: Page, run: Run
) -> None:
    with pytest.raises(UsageProblem, match=r"claims\.yaml:2: claim A\.1: its explanation fits"):
        page([spoilt(run, None)], claim(MOVE, explained="it reads by position"))


def test_an_explanation_of_what_no_run_has_is_none(page: Page, run: Run) -> None:
    other = claim(replace(MOVE, scenario="hudi/other"), explained="it reads by position")
    assert "**not executed**" in page([run], other)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{number: A.1, says: s}", "has no evidence"),
        ("{number: B.1, says: s, open: o}", "begins with `A.`"),
        ("{number: A.1, says: s, open: o, explained: e}", "leave out `explained`"),
        (
            "{number: A.1, says: s, evidence: [{scenario: a, steps: [1], expected: [right]}]}",
            "expected is of",
        ),
    ],
)
def test_a_claim_that_is_not_well_made_is_an_error(
    claims: ModuleType, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(f"- {{name: A, title: t, source: s, claims: [{text}]}}\n", encoding="utf-8")
    with pytest.raises(UsageProblem, match=said):
        claims.load(path)


def test_a_number_that_is_there_twice_is_an_error() -> None:
    twice = Section("A", "t", "s", (claim(remains="o"), claim(remains="o")))
    assert [what for _, what in claim_evidence.problems([twice])] == [
        "the number is there twice; give each claim its own"
    ]


def test_every_section_of_the_digest_has_claims_with_numbers_of_their_own(
    claims: ModuleType,
) -> None:
    made = claims.load()
    assert [each.name for each in made] == ["A1", "A2", "A3", "A4", "A5", "B", "C", "D", "E"]
    numbers = Counter(each.number for section in made for each in section.claims)
    assert set(numbers.values()) == {1}


def test_evidence_is_of_steps_that_the_scenarios_have(claims: ModuleType) -> None:
    every = (each for section in claims.load() for each in section.claims)
    for evidence in (evidence for each in every for evidence in each.evidence):
        text = (ROOT / "scenarios" / f"{evidence.scenario}.yaml").read_text(encoding="utf-8")
        steps = YAML(typ="safe").load(text)["steps"]
        assert set(evidence.steps) <= set(range(1, len(steps) + 1)), evidence


def test_the_page_that_is_published_has_every_claim_and_explains_every_difference(
    claims: ModuleType,
) -> None:
    text = (ROOT / "docs" / "results" / "claims.md").read_text(encoding="utf-8")
    made = [each for section in claims.load() for each in section.claims]
    for each in made:
        assert text.count(f"| **{each.number}** {each.says} |") == 1
        if each.explained:
            assert f"- {each.number} differs: {each.explained}" in text
    assert claims.UNEXPLAINED not in text
    assert claims.NOTHING_SAID not in text


def test_the_claims_that_are_shipped_are_set_beside_a_recorded_run(
    claims: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(ROOT / "tests" / "recorded" / "findings_a5", folder)
    pipeline.judge_run(folder)
    monkeypatch.setattr("sys.argv", ["claims.py", str(folder), "plain_hive"])
    assert claims.main() == 2
    printed = capsys.readouterr()
    assert "claim A5.3: its explanation fits nothing" in printed.err  # it is of the run `full`
    text = printed.out
    assert "| **A5.1** Spark > 3.1, schema-on-read on" in text
    assert "missing_rename (8)" in text
    assert "**not executed**" in text
    assert str(Standing.DIFFERS) in text


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (("a", "a"), "same_file_groups (2)"),
        (("a", "b"), f"**new_file_groups** (2): `{sample_run.SPARK}`"),
        (("a",), "not executed"),
    ],
)
def test_the_file_groups_that_a_step_wrote_can_be_claimed(
    run: Run, page: Page, now: tuple[str, ...], told: str
) -> None:
    facts = [FileFact(f"{at}.parquet", FileKind.BASE, of, "1", ()) for at, of in enumerate(now)]
    states = tuple(
        replace(each, files=tuple(facts[:1] if each.outcome.step < 3 else facts))
        for each in run.states
    )
    step = Evidence("hudi/move", (3,), ("same_file_groups",), of=Asked.FILES)
    assert told in line(page([replace(run, states=states)], claim(step)))


SOME, OTHER = "1" * 64, "2" * 64
SCHEMA_FILE = Path(".hoodie/.schema/2.schemacommit")


def frozen(run: Run, folder: Path, instant: str) -> tuple[Run, Cache]:
    """Return the run with states of the moves that are in a cache, and the one before."""
    cache, table = Cache(folder / "cache"), folder / "t"
    applied, before = Outcome(1, OutcomeKind.APPLIED), ("", "1")
    (table / SCHEMA_FILE).parent.mkdir(parents=True)
    state_store.freeze(cache, SOME, table, Frozen(applied, (), before))
    for ending in ("", ".inflight", ".requested"):
        (table / f"{SCHEMA_FILE}{ending}").write_text("{}")
    state_store.freeze(cache, OTHER, table, Frozen(applied, (), (*before, instant)))
    states = (replace(e, digest=SOME if e.outcome.step < 3 else OTHER) for e in run.states)
    return replace(run, states=tuple(states)), cache


@pytest.mark.parametrize(
    ("count", "instant", "told"),
    [
        (3, "2", "| new files: 3 (2) |"),
        (0, "2", f"**new files: 3** (2): `{sample_run.SPARK}`"),
        (3, "", "**not executed**"),
    ],
)
def test_files_under_schema_are_counted_in_the_tables_that_a_step_left(
    run: Run,
    page: Page,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    instant: str,
    told: str,
) -> None:
    own, cache = frozen(run, tmp_path / "states", instant)
    step = Evidence("hudi/move", (3,), (f"new files: {count}",), of=Asked.SCHEMA_FILES)
    assert "**not executed**" in line(page([own], claim(step)))  # this cache has no such state
    monkeypatch.setattr(Cache, "default", lambda: cache)
    assert told in line(page([own], claim(step)))
