from __future__ import annotations

from xml.etree import ElementTree as ET

import jinja2
import pytest

from harness.runtime import template


def test_values_in_an_xml_template_are_escaped() -> None:
    values = {"host": "h", "database": "/a & b/<derby>", "warehouse": "w", "properties": {}}
    text = template.render("metastore", "hive-site.xml", values)
    root = ET.fromstring(text)  # noqa: S314 - our own template
    properties = {element.findtext("name"): element.findtext("value") for element in root}
    url = properties["javax.jdo.option.ConnectionURL"]
    assert url == "jdbc:derby:;databaseName=/a & b/<derby>"


def test_a_missing_value_is_an_error_and_not_empty() -> None:
    with pytest.raises(jinja2.UndefinedError, match="warehouse"):
        template.render("metastore", "hive-site.xml", {"database": "d"})
