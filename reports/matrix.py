"""What is known of every reader as a page: operations by readers and versions, of all formats."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.core.texts import counted
from harness.reports import html, known_defects, summary
from harness.reports.cause_texts import cause_texts
from harness.reports.findings import FINDINGS
from harness.reports.html import JsonValue
from harness.reports.words import VERDICTS
from harness.run.load_run import Run
from harness.scenario.cells import Reader, parse_reader

FILE: Final = "matrix.html"
EXAMPLE: Final = "format:iceberg operation:rename_column reader:trino"
AT_ONCE: Final = 8
_NUMBER: Final = re.compile(r"\d+")


def write(run: Run, sources: Sequence[str], path: Path) -> Path:
    """Write the page of all that is known; `sources`: what it is of, a line each."""
    return html.write_page(page(run, sources), path)


def page(run: Run, sources: Sequence[str]) -> str:
    run = _ordered(run)
    texts = cause_texts(run)
    cells = replace(html.run_cells(run, [text.cause for text in texts]), explains=False)
    shown = html.data(run, cells)
    for question in shown["questions"]:
        for cell in question["cells"]:
            cell.pop("advice", None)  # it names commands for a run's folder
    formats = list(dict.fromkeys(variant.format for variant in run.info.variants))
    readers, answers = len(run.info.readers), len(run.verdicts)
    about = f"{counted(answers, 'answer')} about tables in {counted(len(formats), 'format')}"
    return html.rendered(
        "matrix.html.j2",
        {
            "headline": f"What {counted(readers, 'reader')} show after each operation: {about}",
            "sources": sources,
            "totals": summary.totals(run),
            "causes": [
                (
                    at,
                    text,
                    " ".join(known_defects.sentences(text.cause.key, text.cause.verdicts, run)),
                )
                for at, text in enumerate(texts, 1)
            ],
            "at_once": AT_ONCE,
            "wrong": VerdictKind.WRONG,
            "words": VERDICTS,
            "finding_words": FINDINGS,
            "css": html.templates("report.css"),
            **html.cell_table(
                {**shown, "versions": _versions(run), "settings": _settings(run)},
                EXAMPLE,
                [(f"format:{name}", name) for name in formats] + [("is:wrong", "wrong")],
            ),
        },
    )


def _ordered(run: Run) -> Run:
    """Return a run whose readers stand by product and version, and the shortest stories first."""
    readers = sorted(run.info.readers, key=lambda reader: _place(parse_reader(reader.reader)))
    variants = sorted(run.info.variants, key=lambda variant: len(variant.steps))
    order = {variant.id: at for at, variant in enumerate(variants)}
    cells = sorted(run.info.cells, key=lambda cell: (order[cell.variant], cell.step))
    info = replace(run.info, readers=tuple(readers), variants=tuple(variants), cells=tuple(cells))
    return replace(run, info=info)


def _place(reader: Reader) -> tuple[str, tuple[int, ...], str]:
    name = reader.distribution
    return product(name), tuple(map(int, _NUMBER.findall(name))), str(reader)


def product(distribution: str) -> str:
    """Return what a distribution is, but for all versions.

    >>> product("spark-3.5.8-hudi-1.0.2"), product("trino-476@container")
    ('spark with hudi', 'trino')
    """
    name = distribution.partition("@")[0]
    return " with ".join(part for part in name.split("-") if not part[:1].isdigit())


def version(distribution: str) -> str:
    """Return the versions of a distribution.

    >>> version("spark-3.5.8-hudi-1.0.2"), version("trino-476")
    ('3.5.8 with 1.0.2', '476')
    """
    name = distribution.partition("@")[0]
    return " with ".join(part for part in name.split("-") if part[:1].isdigit())


def _numbered(run: Run) -> Mapping[Reader, int]:
    return {parse_reader(name): at for at, name in enumerate(summary.readers(run))}


def _versions(run: Run) -> JsonValue:
    """Return the readers that are versions of one product with the same settings, oldest first."""
    series = grouped(
        ((product(reader.distribution), reader.settings), (at, version(reader.distribution)))
        for reader, at in _numbered(run).items()
    )
    return [
        {"name": str(Reader(name, settings)), "readers": readers}
        for (name, settings), readers in series.items()
        if len(readers) > 1
    ]


def _settings(run: Run) -> JsonValue:
    """Return the readers that are one distribution with several settings."""
    series = defaultdict[str, list[tuple[int, str]]](list)
    for reader, at in _numbered(run).items():
        settings = ", ".join(f"{name}={value}" for name, value in reader.settings)
        series[reader.distribution].append((at, settings or "its defaults"))
    return [
        {"name": name, "readers": readers} for name, readers in series.items() if len(readers) > 1
    ]
