from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.fetch import Installation
from harness.runtime import metastore
from harness.runtime.metastore import SCRIPTS

WRONG = 'UPDATE "APP"."TBLS" SET "IS_REWRITE_ENABLED" = CURRENT_TIMESTAMP;'
RIGHT = 'UPDATE "APP"."COMPLETED_TXN_COMPONENTS" SET "CTC_TIMESTAMP" = CURRENT_TIMESTAMP;'


@pytest.mark.parametrize("name", ["hive-schematool-3.1.3", "hive-schematool-4.0.1"])
def test_the_statement_that_fails_where_there_is_a_table_is_put_right(
    name: str, tmp_path: Path
) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    (home / SCRIPTS).mkdir(parents=True)
    (home / SCRIPTS / "upgrade.order.derby").write_text("2.3.0-to-3.0.0\n")
    script = home / SCRIPTS / "upgrade-2.3.0-to-3.0.0.derby.sql"
    script.write_text(f"-- first\n{WRONG}\n-- last\n")
    tool = Installation(distributions.load(name), Path("java"), home, ())
    metastore.copy_scripts(tool, copy)
    assert (copy / SCRIPTS / script.name).read_text() == f"-- first\n{RIGHT}\n-- last\n"
    assert (copy / SCRIPTS / "upgrade.order.derby").read_text() == "2.3.0-to-3.0.0\n"
    assert WRONG in script.read_text(), "what is in the cache stays"
