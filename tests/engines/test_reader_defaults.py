"""What lock data say of an engine's defaults, asked of the engine itself."""

import re
from collections.abc import Mapping
from contextlib import closing

import pytest

from harness.artifacts import distributions
from harness.artifacts.distribution import Default
from harness.engines.api import Server
from harness.engines.hive.engine import KEYS, SESSION_KEY, HiveServer
from harness.engines.spark import engine as spark_engine
from harness.engines.trino import engine
from harness.engines.trino.engine import TrinoServer
from harness.write.send_step import WriterFor
from tests.engines import java_constants
from tests.engines.everyone import Installed, process_of
from tests.engines.shared_servers import SharedServers

pytestmark = pytest.mark.engines
nightly = pytest.mark.nightly

HIVE = "hive-3.1.3"
OLDER_HIVE = "hive-2.3.10"
MORE_HIVES = (
    *(OLDER_HIVE, "hive-3.1.3-hudi-0.11.1", "hive-3.1.3-tez-0.9.2"),
    *("hive-4.0.1", "hive-4.0.1-tez-0.10.4"),
)
HIVES = (HIVE, *(pytest.param(more_hive, marks=nightly) for more_hive in MORE_HIVES))
TRINO = ("trino-368", "trino-483", "prestosql-350", "prestodb-0.283")
SPARK = (
    "spark-3.5.8-hudi-1.0.2",
    *(pytest.param(f"spark-3.5.8-hudi-{v}", marks=nightly) for v in ("0.15.0", "1.2.0")),
)
UNDEFINED = "undefined"
BY_REFLECTION = {
    "schema-on-read": "SCHEMA_EVOLUTION_ENABLED",
    "data-skipping": "ENABLE_DATA_SKIPPING",
}
"""Where Hudi's class DataSourceReadOptions has the default of a setting."""
CONFIG = "org.apache.hudi.common.config.HoodieMetadataConfig"
IN_LOG = re.compile(
    r"(?:Bootstrap|bootstrap\.[\w.]+)\s+(?P<name>[\w.-]+)\s+(?P<default>\S+)\s+(?P<runtime>\S+)"
)
"""A line of the configuration that a server of the Trino family prints when it starts."""


def defaults(name: str) -> Mapping[str, Default]:
    declared = distributions.load(name).defaults
    return {setting: default for setting, default in declared.items() if default.value}


def last_reply(server: Server, settings: Mapping[str, str], *statements: str) -> str:
    """Return what Hive answers to the last statement of a session: a value, or that it has none."""
    with closing(server.connect(settings)) as session:
        *before, last = statements
        for statement in before:
            session.run(statement, timeout_s=60)
        answer = str(session.run(last, timeout_s=60).rows[0][0])
    return UNDEFINED if answer.endswith("is undefined") else answer.partition("=")[2]


@pytest.fixture(scope="module", params=HIVES)
def hive_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def hive(hive_name: str, servers: SharedServers) -> HiveServer:
    result = servers(hive_name)
    assert isinstance(result, HiveServer)
    return result


@pytest.mark.parametrize("setting", defaults(HIVE))
def test_hive_has_the_declared_default_by_itself_and_ours_as_it_is_started(
    setting: str, hive_name: str, hive: HiveServer
) -> None:
    default, (key, values) = defaults(hive_name)[setting], KEYS[setting]
    started = last_reply(hive, {}, f"set {key}")
    if started == UNDEFINED:  # not a key of Hive's own: what reads it has a default in its code
        assert not default.ours
        assert not key.startswith("hive.")
        return
    assert started == values[default.ours or default.value]
    assert last_reply(hive, {}, f"reset -d {key}", f"set {key}") == values[default.value]


@pytest.mark.parametrize("setting", KEYS)
def test_a_session_of_hive_has_what_its_reader_names(setting: str, hive: HiveServer) -> None:
    key, values = KEYS[setting]
    for value, theirs in values.items():
        assert last_reply(hive, {setting: value}, f"set {key}") == theirs


@nightly
def test_jobs_of_two_sessions_share_nothing_where_the_version_gives_them_one_name(
    servers: SharedServers,
) -> None:
    key = distributions.load(OLDER_HIVE).text(SESSION_KEY)
    first, second = (last_reply(servers(OLDER_HIVE), {}, f"set {key}") for _ in range(2))
    assert UNDEFINED not in {first, second}
    assert first != second


@pytest.mark.parametrize(
    "name", ["trino-476", *(pytest.param(name, marks=nightly) for name in TRINO)]
)
def test_the_start_up_log_of_trino_and_presto_tells_the_declared_defaults(
    name: str, servers: SharedServers
) -> None:
    server = servers(name)
    assert isinstance(server, TrinoServer)
    logged: dict[str, set[str]] = {}
    log = process_of(server).log.read_text(encoding="utf-8", errors="replace")
    for match in IN_LOG.finditer(log):
        logged.setdefault(match["name"], set()).add(match["default"])
    for setting, default in defaults(name).items():
        for property_ in properties(name, setting):
            switch = {"on": "true", "off": "false"}
            assert logged[property_] == {switch.get(default.value, default.value)}, property_


def properties(name: str, setting: str) -> set[str]:
    options = distributions.load(name).settings
    key = {engine.COLUMN_NAMES: "column_names", engine.METADATA: "metadata_table"}.get(setting)
    if key is None:
        return {f"hive.{setting.removeprefix('hive.')}"}
    result = options[key]
    assert isinstance(result, Mapping)
    return set(result.values())


def test_trino_476_does_not_know_the_property_that_reads_the_metadata_table(
    servers: SharedServers,
) -> None:
    log = process_of(servers("trino-476")).log
    assert "hudi.metadata-enabled " not in log.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("name", SPARK)
def test_spark_and_its_library_have_the_declared_defaults(
    name: str, writer_for: WriterFor, installed: Installed
) -> None:
    session, declared = writer_for(name).open({}), defaults(name)
    for setting, option in BY_REFLECTION.items():
        sql = f"select reflect('org.apache.hudi.DataSourceReadOptions', '{option}')"
        text = str(session.run(sql, timeout_s=60).rows[0][0])
        (key,) = spark_engine.KEYS[setting]
        assert f"'{key}'" in text
        assert f"default: {spark_engine.SWITCH[declared[setting].value]} " in text
    for key in spark_engine.KEYS["vectorized"][:1]:
        assert session.run(f"set {key}", timeout_s=60).rows == ((key, "true"),)
    (jar,) = installed(name).jars("front")
    by_metadata = java_constants.boolean(jar, CONFIG, "DEFAULT_METADATA_ENABLE_FOR_READERS")
    assert spark_engine.SWITCH[declared["metadata-table"].value] == str(by_metadata).lower()
