"""The database of a metastore, Derby in a folder: made of Hive's own SQL, or upgraded by it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.artifacts.cache import Cache
from harness.artifacts.distributions import digest_of
from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.runtime import hive_launcher
from harness.runtime.metastore import DERBY_OPTIONS
from harness.runtime.process import Command, ProcessProblem, finished, tail

SCHEMA_S: Final = 300.0
"""How long making or upgrading a database may take; 10 s on an idle machine."""
SCRIPTS: Final = "scripts/metastore/upgrade/derby"
_ERROR: Final = re.compile(r"^ERROR \w{5}:", re.MULTILINE)
"""What Derby's program says of a statement, by its SQL state, and then goes on."""


def schema(installation: Installation, cache: Cache, progress: Progress) -> Path:
    """Return the folder of an empty metastore database, made once and then only copied.

    Raises ProcessProblem: Hive's SQL cannot be loaded.
    """
    scripts = _scripts(installation)
    texts = [script.read_text(encoding="utf-8") for script in scripts]
    prepared = cache.tree(digest_of([*texts, installation.distribution.name]))
    with cache.lock(prepared):
        if not prepared.is_dir():
            progress.note(f"prepare the metastore's database → {prepared}")
            with cache.workspace(prepared) as work:
                made = work / "derby"
                _load(installation, scripts, made)
                made.rename(prepared)
    return prepared


def _scripts(installation: Installation) -> list[Path]:
    home = _tree(installation)
    return [home / text for text in installation.distribution.texts("schema_sql")]


def _load(installation: Installation, scripts: Sequence[Path], database: Path) -> None:
    """Run the SQL with Derby's own program; Hive's schematool needs a library it does not bring."""
    jars = (*installation.jars("schema"), *installation.jars("lib"))
    derby = [jar for jar in jars if jar.name.startswith("derby")]
    every, log = database.parent / "schema.sql", database.parent / "ij.log"
    every.write_text("".join(f"run '{script}';\n" for script in scripts), encoding="utf-8")
    arguments = [
        *(str(installation.java), "-Xmx256m", *DERBY_OPTIONS, "-cp", hive_launcher.joined(derby)),
        f"-Dij.database=jdbc:derby:;databaseName={database};create=true",
        *(installation.distribution.text("schema_main"), str(every)),
    ]
    status = finished(Command(tuple(arguments), database.parent, log), SCHEMA_S)
    if status or _ERROR.search(log.read_text(encoding="utf-8", errors="replace")):
        raise ProcessProblem(f"{scripts[-1].name} cannot be loaded into Derby", tail(log, 20))


def upgraded(tool: Installation, database: Path) -> Path:
    """Return a database, upgraded in its place by Hive's schema tool.

    `tool`: its distribution says which statements of the upgrade are wrong.

    Raises ProcessProblem: the tool did not upgrade it; the message holds the end of its log.
    """
    home, log = database.parent / "schema-tool", database.parent / "schema-tool.log"
    copy_scripts(tool, home)
    jars = (*tool.jars("lib"), *_archived(tool))
    arguments = [
        *(str(tool.java), *tool.distribution.java_options, *DERBY_OPTIONS),
        *("-cp", hive_launcher.joined(jars), tool.distribution.text("main"), "-verbose"),
        *("-dbType", "derby", "-upgradeSchema", "-url", f"jdbc:derby:;databaseName={database}"),
        *("-driver", "org.apache.derby.jdbc.EmbeddedDriver", "-userName", "APP", "-passWord", "-"),
    ]
    # Its script would say so; it looks for the SQL there.
    environment = {"METASTORE_HOME": str(home)}
    if finished(Command(tuple(arguments), database.parent, log, environment), SCHEMA_S):
        raise ProcessProblem(f"{tool.distribution.name} did not upgrade {database}", tail(log, 40))
    return database


def copy_scripts(tool: Installation, home: Path) -> None:
    """Copy the SQL of a schema tool to where it looks for it, the wrong statements put right."""
    for script in sorted((_tree(tool) / SCRIPTS).iterdir()):
        text = script.read_text(encoding="utf-8")
        for wrong, right in tool.distribution.options_if_any("statements").items():
            text = text.replace(wrong, right)
        copy = home / SCRIPTS / script.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")


def _archived(tool: Installation) -> list[Path]:
    """Return the jars in the archive of a schema tool; none where all are fetched one by one."""
    return sorted((_tree(tool) / "lib").glob("*.jar"))


def _tree(installation: Installation) -> Path:
    if installation.home is None:
        raise EnvironmentProblem(f"{installation.distribution.name} has no archive of Hive's SQL")
    return installation.home
