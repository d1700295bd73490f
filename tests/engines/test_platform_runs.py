"""Tables that a run writes are asked about where engines run already, and then are there no more.

"Theirs" are a metastore, or Nessie with its object store, and a Trino that the harness under test
has not started.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requests

from harness.artifacts import distributions, fetch, object_storage
from harness.artifacts.cache import Cache
from harness.cli.app import main
from harness.conformance import table
from harness.core import atomic_write
from harness.core.progress import Progress
from harness.core.runtime_names import CONTAINER, in_runtime
from harness.engines.trino.engine import ENGINE, TrinoServer
from harness.formats import facts
from harness.formats.iceberg import move
from harness.plan import platform_file, select_scenarios
from harness.read import platform_tables
from harness.read.platform_tables import NOT_TAKEN, PlatformTables
from harness.read.reader_servers import ReadContext
from harness.run import load_run
from harness.runtime import metastore, metastore_client, object_store, provide, template
from harness.runtime.metastore import Metastore
from harness.runtime.process import LOOPBACK
from harness.runtime.process_runtime import ProcessRuntime
from harness.scenario.cells import Reader, parse_reader
from harness.usage import rest_listing
from harness.write import state_store
from harness.write.state_store import State
from tests.builders.kills import ends_well, kill_at, lines_of
from tests.engines import nessie
from tests.engines.trino_table import register

pytestmark = [pytest.mark.engines, pytest.mark.alone, pytest.mark.nightly]

READER: Final = "production-trino@endpoint"
KILLED_IN: Final = (
    *(platform_tables, state_store, atomic_write, move),
    *(metastore_client, rest_listing),
)
FORMATS: Final = ("hudi-cow", "hive-parquet", "iceberg")
PREFIX: Final = re.compile("harness_[0-9a-f]{8}_")
SET_THERE: Final = {
    "trino-476{use-column-names=true}": "by-name-trino@endpoint",
    "trino-476{use-column-names=false}": "by-position-trino@endpoint",
}
"""By a reader of a process, the one whose server has that setting already."""
PARTS: Final = 5
"""Of 200 kills in a store, each of which takes seconds, so many can be asked for alone."""
MADE_3: Final = 12
"""The step of `snapshots/delete_files` after which any of its tables has version 3."""


@dataclass(frozen=True)
class Theirs:
    """What a team has, of which nothing may change but for a while."""

    platform: Path
    seen: Callable[[], Sequence[str]]
    """All databases and tables of the catalog, and all files of the store."""
    server: TrinoServer


def files_below(folder: Path) -> list[str]:
    return sorted(f"{path} {path.stat().st_size}" for path in folder.rglob("*") if path.is_file())


def names_in(metastore: Metastore) -> list[str]:
    with metastore_client.connect(metastore.uri) as client:
        return [f"{name}.{','.join(client.names(name))}" for name in client.databases()]


def written(folder: Path, text: str) -> Path:
    file = folder / "platform.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def theirs(
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Theirs]:
    folder = tmp_path_factory.mktemp("theirs")
    for name in ("lake/orders", "lake/harness_old", "server"):
        (folder / name).mkdir(parents=True)
    pq.write_table(pa.table({"id": [1, 2]}), folder / "lake/orders/one.parquet")
    (folder / "lake/harness_old/one").write_text("theirs", encoding="utf-8")
    for database in ("sales", "harness_sales"):
        register(metastore.uri, database, "orders", [("id", "bigint")], folder / "lake/orders")

    def seen() -> list[str]:
        return [*names_in(metastore), *files_below(folder / "lake")]

    runtime = provide.runtime(distributions.load("trino-476"), cache, progress)
    set_there = {(facts("hudi-cow"), parse_reader(name).settings) for name in SET_THERE}
    planned = frozenset({*set_there, *((facts(name), ()) for name in FORMATS)})
    serving = ENGINE.serve(runtime, metastore.uris, folder / "server", progress, planned)
    with serving as server, pytest.MonkeyPatch.context() as patched:
        patched.setattr(Cache, "default", lambda **_: cache)
        assert isinstance(server, TrinoServer)
        text = f"""\
engines:
  production-trino:
    like: trino-476
    address: http://{LOOPBACK}:{server.port}
    user: auditor
    catalogs: {{hudi: hudi, hive: hive, iceberg: iceberg}}
  by-name-trino:
    like: trino-476
    address: http://{LOOPBACK}:{server.port}
    catalogs: {{hudi: hudi_by_name}}
  by-position-trino:
    like: trino-476
    address: http://{LOOPBACK}:{server.port}
    catalogs: {{hudi: hudi_by_position}}
catalogs:
  theirs: {{address: "{metastore.uri}"}}
own_tables: {{prefix: harness_, catalog: theirs, folder: "{folder}/lake"}}
"""
        yield Theirs(written(folder, text), seen, server)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def in_container(reader: Reader) -> str:
    return str(replace(reader, distribution=in_runtime(reader.distribution, CONTAINER)))


def verdicts(folder: Path, reader: str) -> dict[str, tuple[str, Sequence[str]]]:
    """What is judged of a reader, by check, whoever the reader is."""
    run = load_run.load(folder)
    return {
        cell.case.replace(reader, "READER"): (
            str(run.recorded[cell.case].verdict),
            [str(finding.kind) for finding in run.recorded[cell.case].findings],
        )
        for cell in run.info.cells
        if cell.reader == reader
    }


@pytest.mark.parametrize(
    ("profile", "format_"),
    [
        ("first", "hudi-cow"),
        ("quick-start-hive-parquet", "hive-parquet"),
        ("quick-start-iceberg", "iceberg"),
    ],
)
def test_a_run_gives_the_same_verdicts_as_an_engine_of_its_own(
    theirs: Theirs, profile: str, format_: str
) -> None:
    before = theirs.seen()
    parts = ["--profile", profile, "--reader", "trino-476", "--reader", READER]
    some = ["-k", "by_field_id"] if format_ == "iceberg" else []
    asked = ["run", *parts, *some, "--platform", str(theirs.platform), "--run-dir", "run"]
    assert main(asked) in (0, 1)
    ours, there = (verdicts(Path("run"), reader) for reader in ("trino-476", READER))
    assert ours
    assert {case: there[case] for case in ours} == ours  # beside a control of an engine not ours
    assert theirs.seen() == before
    assert main(["judge", "--run-dir", "run"]) in (0, 1)  # no platform file is needed for that


@pytest.mark.docker
@pytest.mark.usefixtures("docker")
def test_processes_containers_and_servers_that_run_already_agree(
    theirs: Theirs, record_property: Callable[[str, object], None]
) -> None:
    before, processes = theirs.seen(), select_scenarios.find("first", ()).profile.readers
    compared_with = {str(one.reader): [in_container(one.reader)] for one in processes}
    for process, endpoint in SET_THERE.items():
        compared_with[process].append(endpoint)
    readers = [name for process, others in compared_with.items() for name in (process, *others)]
    options = [part for name in readers for part in ("--reader", name)]
    asked = ["run", "--profile", "first", "--fresh", *options, "--run-dir", "run"]
    assert main([*asked, "--platform", str(theirs.platform)]) in (0, 1)
    compared = 0
    for process, others in compared_with.items():
        for other in others:
            ours, there = (verdicts(Path("run"), name) for name in (process, other))
            assert ours
            assert {case: there[case] for case in ours} == ours
            compared += len(ours)
    record_property("verdicts compared", compared)
    assert theirs.seen() == before


def test_an_upgrade_asks_both_sides_about_the_same_tables(theirs: Theirs) -> None:
    before = theirs.seen()
    both = ["--from", READER, "--to", "trino-476", "--profile", "first"]
    assert main(["upgrade", *both, "--platform", str(theirs.platform), "--run-dir", "up"]) == 0
    answer = json.loads(Path("up/upgrade.json").read_text(encoding="utf-8"))
    assert answer["decision"] == "nothing changes"
    assert answer["counts"]
    assert theirs.seen() == before


def sent_to(theirs: Theirs) -> dict[str, str]:
    """What the server has of the statements of its user, by their ids."""
    with closing(theirs.server.connect({})) as connection:
        text = "select query_id, query from system.runtime.queries where \"user\" = 'auditor'"
        return {str(id_): str(query) for id_, query in connection.run(text, timeout_s=60).rows}


def test_nothing_is_asked_of_their_server_but_about_tables_of_the_run(theirs: Theirs) -> None:
    named = ["--platform", str(theirs.platform), "--run-dir", "run"]
    assert main(["run", "--profile", "first", "--reader", READER, *named]) in (0, 1)
    sent = list(sent_to(theirs).values())
    assert {query.split()[0].lower() for query in sent} == {"select", "show"}
    about = [query for query in sent if " from " in query.lower()]
    assert about
    assert all('"harness_' in query and "_s_" in query for query in about)


def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(
    theirs: Theirs, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["--platform", str(theirs.platform), "--run-dir", "run"]
    assert main(["run", "--profile", "first", "--reader", READER, *named]) in (0, 1)
    before, plan = theirs.seen(), Path("run/run.json").read_bytes()
    capsys.readouterr()
    asked = ["read", "--reader", READER, *named]
    assert main([*asked, "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(f'{READER}: select * from "hudi"."harness_') for line in lines)
    assert theirs.seen() == before
    assert Path("run/run.json").read_bytes() == plan
    assert main(asked) in (0, 1)
    assert verdicts(Path("run"), READER)
    assert theirs.seen() == before


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--profile", "first", "--reader", READER],
        ["upgrade", "--from", READER, "--to", "trino-476", "--profile", "first"],
        ["engines", "verify", READER],
    ],
    ids=" ".join,
)
def test_what_is_sent_is_what_a_dry_run_lists_which_sends_nothing(
    theirs: Theirs, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before, already = theirs.seen(), sent_to(theirs)
    asked = [*command, "--platform", str(theirs.platform), "--json"]
    assert main([*asked, "--dry-run"]) == 0
    lines = json.loads(capsys.readouterr().out.splitlines()[-1])["sent"]
    assert sent_to(theirs).keys() <= already.keys()  # the server forgets the oldest
    assert theirs.seen() == before
    assert main(asked) in (0, 1)
    listed = {line.removeprefix(f"{READER}: ") for line in lines if line.startswith(READER)}
    sent = {text for id_, text in sent_to(theirs).items() if id_ not in already}
    # The tables of each command have a prefix of their own.
    of_one, of_other = ({PREFIX.sub("", text) for text in texts} for texts in (listed, sent))
    assert {text for text in of_other if not text.startswith("show session ")} == of_one


def test_what_it_shows_wrong_is_made_smaller_by_asking_it(
    theirs: Theirs, capsys: pytest.CaptureFixture[str]
) -> None:
    before, named = theirs.seen(), ["--platform", str(theirs.platform), "--run-dir", "run"]
    one = ["--profile", "quick-start", "-k", "drop_and_readd[hudi-cow,rewrites=some]"]
    assert main(["run", *one, "--reader", READER, "--show", *named]) == 0
    capsys.readouterr()
    check = ["drop_and_readd[hudi-cow,rewrites=some]", "/s5/snapshot/all/", READER]
    assert main(["reproduce", *check, "--json", *named]) == 0
    (made,) = json.loads(capsys.readouterr().out.splitlines()[-1])["reproducers"]
    text = (Path(made["folder"]) / "reproduce.sql").read_text(encoding="utf-8")
    assert 'select * from "hudi"."reproducer"."t";' in text
    assert theirs.seen() == before


def test_the_conformance_kit_checks_it(theirs: Theirs, capsys: pytest.CaptureFixture[str]) -> None:
    before = theirs.seen()
    asked = ["engines", "verify", READER, "--platform", str(theirs.platform), "--json"]
    assert main(asked) == 0, capsys.readouterr().out
    (checked,) = json.loads(capsys.readouterr().out.splitlines()[-1])["readers"]
    outcomes = {name: result["outcome"] for name, result in checked["results"].items()}
    assert outcomes["types"] == outcomes["time-out"] == "passed"
    assert outcomes["crash"] == outcomes["cancel"] == "not applicable"
    assert theirs.seen() == before


@dataclass(frozen=True)
class Kills:
    """Tables that are put somewhere and removed again, by a process that is killed."""

    folder: Path
    states: Sequence[State]
    number: int
    modules: Sequence[ModuleType] = KILLED_IN

    @property
    def context(self) -> ReadContext:
        """With a cache of its own, whose records are all of this test."""
        return ReadContext(Cache(self.folder / "cache"), self.folder, Progress())

    def work(self) -> None:
        with PlatformTables(self.context) as tables:
            tables.register(self.states)

    def next_start(self) -> None:
        messages = list(platform_tables.sweep(self.context.cache))
        assert all(text.startswith("removed ") for text in messages), messages

    def check(self, seen: Callable[[], Sequence[str]], part: int = 0, parts: int = 1) -> int:
        """Kill at a part of the points; return how often something of the tables was there then."""
        before, records = seen(), self.context.cache.root / "own_tables"
        every, made = lines_of(self.modules, self.work), 0
        assert every > self.number
        points = [1 + at * every // self.number for at in range(part, self.number, parts)]
        for line in points:
            assert kill_at(line, self.modules, self.work)
            made += seen() != before
            assert ends_well(self.next_start)
            assert seen() == before
            assert not list(records.glob("*.json"))
        assert made > len(points) // 3
        return made


def test_a_kill_leaves_nothing_in_a_metastore_and_a_folder(
    theirs: Theirs, cache: Cache, tmp_path: Path
) -> None:
    platform_file.register_file(theirs.platform)
    states = [table.state(cache, name, Progress()) for name in ("hive-parquet", "iceberg")]
    Kills(tmp_path, states, 200).check(theirs.seen)


@dataclass(frozen=True)
class RestTheirs:
    platform: Path
    seen: Callable[[], Sequence[str]]
    """All tables of the REST catalog and of the metastore beside it, and all files of the store."""


def in_store(server: TrinoServer, format_: str, catalog: str, store: str, folder: str) -> str:
    """Return a platform file: a server, a catalog by its address, and a folder of a store."""
    return f"""\
engines:
  production-trino:
    like: trino-476
    address: http://{LOOPBACK}:{server.port}
    catalogs: {{{format_}: {format_}}}
catalogs:
  theirs: {{address: "{catalog}"}}
store:
  endpoint: {store}
  region: us-east-1
  access_key: {{env: OWN_KEY}}
  secret_key: {{env: OWN_KEY}}
own_tables: {{prefix: harness_, catalog: theirs, folder: "{folder}"}}
"""


@pytest.fixture(scope="module")
def rest(
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RestTheirs]:
    folder = tmp_path_factory.mktemp("rest")
    with (
        nessie.serving(cache, folder, progress) as catalog,
        pytest.MonkeyPatch.context() as patched,
    ):
        for name, value in catalog.variables.items():
            patched.setenv(name, value)
        patched.setattr(Cache, "default", lambda **_: cache)
        bucket = folder / "buckets" / catalog.bucket
        (bucket / "tests/orders").mkdir(parents=True)
        (bucket / "tests/orders/one").write_text("theirs", encoding="utf-8")
        config = requests.get(f"{catalog.address}/v1/config", timeout=60).json()
        prefix = {**config["defaults"], **config["overrides"]}["prefix"]
        base = f"{catalog.address}/v1/{prefix}/namespaces"
        made = requests.post(base, json={"namespace": ["harness_sales"]}, timeout=60)
        assert made.ok, made.text

        def seen() -> list[str]:
            names = [name for (name,) in requests.get(base, timeout=60).json()["namespaces"]]
            below = (requests.get(f"{base}/{name}/tables", timeout=60).json() for name in names)
            tables = sorted(str(entry) for listing in below for entry in listing["identifiers"])
            return [*sorted(names), *tables, *names_in(metastore), *files_below(bucket)]

        (folder / "server").mkdir()
        before = distributions.load("trino-476")
        settings = nessie.trino_settings(before, catalog)
        trino = nessie.with_settings(object_storage.added(before), settings)
        runtime = provide.runtime(object_storage.reaching(trino, catalog.store), cache, progress)
        planned = frozenset([(facts("iceberg"), ())])
        patched.setattr(template, "render", nessie.without_metastore)
        serving = ENGINE.serve(runtime, metastore.uris, folder / "server", progress, planned)
        with serving as server:
            assert isinstance(server, TrinoServer)
            patched.setattr(template, "render", nessie.RENDER)
            folder_there = f"s3://{catalog.bucket}/tests"
            text = in_store(server, "iceberg", catalog.address, catalog.store, folder_there)
            patched.setenv("OWN_KEY", "canary-of-a-key")
            platform_file.register_file(platform := written(folder, text))
            # Tables of a run of somebody else, whose harness is gone, and whose cache is not here.
            others = ReadContext(Cache(folder / "others"), folder, progress)
            states = [table.state(cache, "iceberg", progress)]
            assert ends_well(lambda: PlatformTables(others).register(states))
            yield RestTheirs(platform, seen)


def test_a_metastore_whose_tables_lie_in_an_object_store_is_one_as_well(
    cache: Cache, progress: Progress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("store", "metastore", "server", "buckets/states/tests"):
        (tmp_path / name).mkdir(parents=True)
    bucket = tmp_path / "buckets/states"
    started = provide.runtime(distributions.load(nessie.STORE), cache, progress)
    monkeypatch.setenv("OWN_KEY", "any")
    monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "WHEN_REQUIRED")  # see `nessie`
    with ExitStack() as stack:
        store = stack.enter_context(object_store.serve(started, tmp_path / "store", bucket))

        def reaching(name: str) -> ProcessRuntime:
            of = object_storage.reaching(distributions.load(f"{name}@s3"), store.url)
            return ProcessRuntime(fetch.ensure(of, cache, progress))

        on = reaching(metastore.DISTRIBUTION)
        database = metastore.empty_database(on.installation, cache, progress)
        catalog = stack.enter_context(metastore.serve(on, database, tmp_path / "metastore"))
        planned = frozenset([(facts("hudi-cow"), ())])
        server = stack.enter_context(
            ENGINE.serve(
                reaching("trino-476"), catalog.uris, tmp_path / "server", progress, planned
            )
        )
        assert isinstance(server, TrinoServer)
        text = in_store(server, "hudi", catalog.uri, store.url, "s3a://states/tests")
        platform = written(tmp_path, text)
        parts = ["--profile", "first", "--reader", "trino-476", "--reader", READER]
        asked = ["run", *parts, "--platform", str(platform), "--run-dir", "run"]
        # A process of its own: one with Arrow's client of S3 cannot be forked, as it is elsewhere.
        done = subprocess.run([sys.executable, "-m", "harness", *asked], check=False)
        assert done.returncode in (0, 1)
        with metastore_client.connect(catalog.uri) as client:
            assert not [name for name in client.databases() if "_s_" in name]
    ours, there = (verdicts(Path("run"), reader) for reader in ("trino-476", READER))
    assert ours
    assert {case: there[case] for case in ours} == ours
    assert files_below(bucket) == []


def test_a_rest_catalog_is_the_metastore_of_a_run(rest: RestTheirs, tmp_path: Path) -> None:
    before = rest.seen()
    parts = ["--profile", "quick-start-iceberg", "-k", "by_field_id"]
    readers = ["--reader", "trino-476", "--reader", READER]
    asked = ["run", *parts, *readers, "--platform", str(rest.platform), "--run-dir", "run"]
    # A process of its own: one with Arrow's client of S3 cannot be forked, as it is below.
    assert subprocess.run([sys.executable, "-m", "harness", *asked], check=False).returncode in (
        0,
        1,
    )
    ours, there = (verdicts(Path("run"), reader) for reader in ("trino-476", READER))
    assert ours
    # Trino 476 refuses some through a metastore (ClassCastException), and here it answers.
    answered = {case: seen for case, seen in ours.items() if seen[0] != "refused"}
    assert len(answered) > len(ours) // 2
    assert {case: there[case] for case in answered} == answered
    assert {there[case][0] for case in ours.keys() - answered} <= {"refused", "correct"}
    assert rest.seen() == before
    written_bytes = (path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not any(b"canary-of-a-key" in content for content in written_bytes)


def test_what_a_rest_catalog_does_not_take_is_refused_and_the_others_are_asked_about(
    rest: RestTheirs,
) -> None:
    before, parts = rest.seen(), ["--profile", "quick-start-iceberg", "-k", "delete_files"]
    asked = ["run", *parts, "--reader", READER, "--platform", str(rest.platform)]
    # A process of its own, as above.
    done = subprocess.run(
        [sys.executable, "-m", "harness", *asked, "--run-dir", "run"], check=False
    )
    assert done.returncode in (0, 1)
    answers = load_run.load(Path("run")).answers.values()
    refused = {a.case: a.refusal for a in answers if a.refusal and a.refusal.kind == NOT_TAKEN}
    assert all("spec version 3" in refusal.message for refusal in refused.values())
    assert refused.keys() == {a.case for a in answers if not a.has_rows}
    steps = {cell.case: cell.step for cell in load_run.read_info(Path("run")).cells}
    later = {case for case in steps if "format_version=2" in case and steps[case] >= MADE_3}
    assert refused.keys() == {case for case in steps if "format_version=3" in case} | later
    assert rest.seen() == before


def test_the_conformance_kit_checks_what_reads_iceberg_tables_alone(rest: RestTheirs) -> None:
    before, asked = rest.seen(), ["engines", "verify", READER, "--platform", str(rest.platform)]
    # A process of its own, as above.
    assert subprocess.run([sys.executable, "-m", "harness", *asked], check=False).returncode == 0
    assert rest.seen() == before


@pytest.mark.parametrize("part", range(PARTS))
def test_a_kill_leaves_nothing_in_a_rest_catalog_and_a_store(
    rest: RestTheirs,
    cache: Cache,
    tmp_path: Path,
    part: int,
    record_property: Callable[[str, object], None],
) -> None:
    platform_file.register_file(rest.platform)
    states, modules = [table.state(cache, "iceberg", Progress())], (platform_tables, rest_listing)
    made = Kills(tmp_path, states, 200, modules).check(rest.seen, part, PARTS)
    record_property("something was there", made)
