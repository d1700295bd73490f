"""`tools/figures.py` counts."""

from tools import figures


def test_who_imports_whom_is_read_of_the_text() -> None:
    files = {
        "harness/a.py": "from harness.b import (  # why\n    c,\n    d as e,\n)\n",
        "harness/b/__init__.py": "",
        "harness/b/c.py": "def f():\n    import harness.a\n",
        "reports/d.py": "from harness import a\nfrom harness.b.c import f\n",
        "tests/e.py": "import harness.b.c\n",
    }
    assert figures.importers(figures.modules(files)) == {
        "harness.a": {"harness.b.c", "harness.reports.d"},
        "harness.b": {"harness.a"},
        "harness.b.c": {"harness.a", "harness.reports.d"},
        "harness.reports.d": set(),
    }


def test_identifiers_are_counted_by_their_words() -> None:
    text = "class FileReader:\n    read_URLs = str('of no text')  # nor comment\n"
    assert list(figures.parts(text)) == ["file", "reader", "read", "ur", "ls"]
