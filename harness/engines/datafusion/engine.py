"""DataFusion as a reader of Hudi tables, by hudi-rs, and of plain Hive tables of Parquet files.

hudi-rs is a table provider of DataFusion (`hudi[datafusion]` of the Python index). Of a Hudi table
it is given the path, and whether log files are left out. A plain Hive table has the columns of the
catalog; DataFusion finds its partitions in the names of folders (`ListingTable`).
"""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from harness.core.arrow import pa
from harness.core.errors import HarnessError
from harness.core.records import Refusal
from harness.core.setting_values import SettingValues
from harness.engines.api import PointInTime, Question, ReaderSettings
from harness.engines.arrow_values import arrow_type
from harness.engines.datafusion import answers
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.engines.python_library import Description, Entry, PythonLibrary
from harness.engines.query_sql import ANSI, select
from harness.engines.spark.values import canonical_type
from harness.model.datatypes import parse_type
from harness.model.fingerprint import FloatText
from harness.model.identifiers import quoted

READ_OPTIMIZED: Final = "hoodie.read.use.read_optimized.mode"
"""The option of hudi-rs (`HudiReadConfig.USE_READ_OPTIMIZED_MODE`)."""
_OF_ENTRY: Final = "hoodie.query.as.ro.table"
"""What Hudi's entries say for readers, in the parameters of their SerDe (`ConfigUtils.java`)."""


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    """Return what the worker is given of a table. Raises HarnessError: a type is none of ours."""
    storage = entry.sd
    table = {
        "name": f"{quoted(database, ANSI)}.{quoted(name, ANSI)}",
        "location": storage.location.removeprefix("file:").replace("//", "/"),
    }
    if "hudi" in storage.inputFormat:
        only = storage.serdeInfo.parameters.get(_OF_ENTRY) == "true"
        return {**table, "options": {READ_OPTIMIZED: "true"} if only else {}}
    return {**table, "schema": _schema(storage.cols), "keys": _schema(entry.partitionKeys or ())}


def _schema(columns: Sequence[Any]) -> str:
    kinds = []
    for column in columns:
        ours = canonical_type(column.type)
        if not ours:
            what = f"the column {column.name}: DataFusion cannot be given the type {column.type}"
            raise HarnessError(what)
        kinds.append((column.name, arrow_type(parse_type(ours))))
    return base64.b64encode(pa.schema(kinds).serialize().to_pybytes()).decode()


KEYS: Final = {
    "coerce-int96": "datafusion.execution.parquet.coerce_int96",
    "pushdown-filters": "datafusion.execution.parquet.pushdown_filters",
}
"""DataFusion's own key for each setting of a reader; one that is absent is left as it is."""
SETTINGS: Final = {
    "coerce-int96": SettingValues(("ns", "us"), "the unit of Parquet's timestamps of 96 bits"),
    "pushdown-filters": SettingValues(
        ("true", "false"), "conditions are tried while files are read"
    ),
}
CAUSED: Final = "\ncaused by\n"
"""What stands before each cause in DataFusion's texts (`DataFusionError::Context`)."""
MAX_KIND: Final = 60
"""What stands before a colon is the name of an error if it is no longer."""


FINGERPRINTS: Final = FingerprintWords(
    {
        "boolean": "cast({0} as varchar)",
        "integer": "cast({0} as varchar)",
        "float": "case when isnan(cast({0} as double)) then 'NaN' "
        "else cast(cast({0} as double) as varchar) end",
        "decimal": "cast({0} as varchar)",
        "date": "cast(cast({0} as int) as varchar)",
        "timestamp": "cast(cast(arrow_cast({0}, 'Timestamp(Microsecond, None)') as bigint) "
        "as varchar)",
        "string": "{0}",
        "binary": "encode({0}, 'hex')",
    },
    floats=FloatText.SHORTEST,
)
"""DataFusion's manual, "Scalar Functions": no function is called for each element of a list.
Numbers become texts by `ryu` (arrow-rs, `arrow-cast/src/display.rs`)."""


def statement(question: Question, settings: ReaderSettings) -> str:
    return select(question, ANSI, words=FINGERPRINTS)


def by_hand(settings: ReaderSettings, format_: FormatFacts) -> tuple[str, ...]:
    of_hudi = format_.family == "hudi"
    known = 'context.register_parquet("TABLE", "FOLDER", schema=SCHEMA)'
    if of_hudi:
        known = 'context.register_table("TABLE", hudi.HudiDataFusionDataSource("FOLDER", []))'
    conf = "".join(f'.set("{key}", "{text}")' for key, text in session_conf(settings).items())
    return (
        "-- In Python:",
        f"--   context = datafusion.SessionContext(datafusion.SessionConfig(){conf})",
        f"--   {known}",
        *([f"-- For t_ro: [('{READ_OPTIMIZED}', 'true')]"] if of_hudi else ()),
    )


def session_conf(settings: ReaderSettings) -> dict[str, str]:
    return {KEYS[name]: value for name, value in settings.items()}


def refusal(class_: str, text: str) -> Refusal:
    """Return an error by what stands before the first colon, the name of a `DataFusionError`. Pure.

    >>> refusal("ValueError", "Error during planning: table 't' not found").kind
    'Error during planning'
    >>> refusal("PanicException", "partition not used yet").kind
    'PanicException'
    """
    first, *causes = text.split(CAUSED)
    name, colon, message = first.partition(": ")
    if not colon or len(name) > MAX_KIND:
        name, message = class_, first
    return Refusal(name, message or first, cause=causes[-1] if causes else "")


ENGINE: Final = PythonLibrary(
    "datafusion",
    Path(answers.__file__),
    ("hudi", "hive"),
    statement,
    describe,
    by_hand,
    settings=SETTINGS,
    conf=session_conf,
    refusal=refusal,
    files=("parquet",),
    fingerprints=FINGERPRINTS,
)
