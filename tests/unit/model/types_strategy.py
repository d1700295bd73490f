"""Random types, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.model.datatypes import (
    MAX_LENGTH,
    PRIMITIVES,
    Array,
    DataType,
    Decimal,
    Map,
    Primitive,
    Struct,
    Text,
)

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
DECIMALS = st.integers(1, 38).flatmap(
    lambda precision: st.builds(Decimal, st.just(precision), st.integers(0, precision))
)
TEXTS = st.sampled_from(sorted(MAX_LENGTH)).flatmap(
    lambda name: st.builds(Text, st.just(name), st.integers(1, MAX_LENGTH[name]))
)
PLAIN: st.SearchStrategy[DataType] = st.one_of(
    st.sampled_from(PRIMITIVES).map(Primitive), DECIMALS, TEXTS
)


def _wider(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    fields = st.lists(
        st.tuples(NAMES, inner), min_size=1, max_size=3, unique_by=lambda pair: pair[0].casefold()
    )
    return st.one_of(
        fields.map(lambda pairs: Struct(tuple(pairs))),
        inner.map(Array),
        st.builds(Map, PLAIN, inner),
    )


TYPES: st.SearchStrategy[DataType] = st.recursive(PLAIN, _wider, max_leaves=4)
