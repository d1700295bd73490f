"""The generated parts of docs/types.md: what each reader makes of each type, and by what."""

from collections.abc import Iterable, Iterator, Sequence

from harness.core import tolerances as declared
from harness.core.grouping import grouped
from harness.model.datatypes import PRIMITIVES
from tests.builders.type_matrix import MatrixCell, Outcome
from tests.builders.type_matrix import matrix as recorded_matrix
from tools.shared import table


def type_matrix() -> str:
    """Return a table for each kind of table: what each reader makes of each type."""
    return "\n\n".join(
        "\n".join((f"### {tables}", "", *_of_types(cells)))
        for tables, cells in grouped((cell.tables, cell) for cell in recorded_matrix()).items()
    )


def _of_types(cells: Sequence[MatrixCell]) -> Iterator[str]:
    readers = dict.fromkeys(cell.reader for cell in cells)
    result = grouped(((cell.type, cell.reader), cell) for cell in cells)
    rows = (
        (f"`{type_}`", *(_in_cell(result.get((type_, reader), ())) for reader in readers))
        for type_ in sorted({cell.type for cell in cells}, key=_place)
    )
    return table(("type", *(f"`{reader}`" for reader in readers)), rows)


def _place(type_: str) -> tuple[int, str]:
    return (PRIMITIVES.index(type_) if type_ in PRIMITIVES else len(PRIMITIVES), type_)


def _in_cell(cells: Sequence[MatrixCell]) -> str:
    texts = {cell.inside: _outcome(cell) for cell in cells}
    alone, inside = texts.get(False, "not asked"), texts.get(True, "")
    drifts = {cell.outcome for cell in cells} == {Outcome.DRIFT}
    return alone if drifts or inside in {"", alone} else f"{alone}; inside {inside}"


def _outcome(cell: MatrixCell) -> str:
    match cell.outcome:
        case Outcome.CORRECT:
            return "`=`"
        case Outcome.DECLARED:
            return f"by {', '.join(f'`{name}`' for name in cell.declarations)}"
        case Outcome.DRIFT:
            return f"type `{cell.shown}`"
        case Outcome.OTHER:
            return ", ".join(f"`{kind}`" for kind in cell.findings)
        case Outcome.UNSUPPORTED:
            return "not read"
        case Outcome.UNKNOWN:
            return "no answer"
    return str(cell.outcome)


def type_refusals() -> str:
    refused = grouped(
        ((cell.reader, cell.because), cell)
        for cell in recorded_matrix()
        if cell.outcome in {Outcome.REFUSED, Outcome.UNKNOWN}
    )
    rows = (
        (f"`{reader}`", _listed(cell.tables for cell in cells), _types_of(cells), f"`{because}`")
        for (reader, because), cells in refused.items()
    )
    listed = "\n".join(table(("reader", "tables", "types", "what it says"), rows))
    return listed if refused else "Nothing that was asked."


def _types_of(cells: Iterable[MatrixCell]) -> str:
    return _listed(f"`{cell.type}`{' inside' * cell.inside}" for cell in cells)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def type_declarations() -> str:
    rows = (
        (
            product,
            f"`{tolerance.name}`",
            ", ".join((*tolerance.formats, *(f"`{n}={v}`" for n, v in tolerance.when.items())))
            or "all",
            ", ".join(tolerance.types),
            f"{tolerance.form} → {tolerance.to}".replace("|", "\\|"),
            tolerance.source,
        )
        for product in declared.products()
        for tolerance in declared.declared_for(product).values()
    )
    head = ("product", "declaration", "tables", "types", "shown, and taken for", "source")
    return "\n".join(table(head, rows))
