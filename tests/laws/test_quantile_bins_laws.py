"""Bins of columns add up, whatever their edges; they are cut so that none holds too much."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from suffice.errors import BadFile, DifferentKinds, ForgettingUnseen
from suffice.rows import read_table
from suffice.statistics.quantile_bins import (
    BINS,
    MANY,
    MOST_EDGES,
    ColumnBins,
    QuantileBins,
    edges_of,
    tally,
)
from suffice.testing import assert_same, check_statistics

NUMBERS = st.one_of(
    st.floats(-1e3, 1e3),
    st.integers(-3, 3).map(float),
    st.just(np.nan),
    st.floats(allow_nan=False, allow_infinity=False),
)
ROWS = st.integers(0, 30).flatmap(lambda n: arrays(np.float64, (n, 2), elements=NUMBERS))


def mixed(n: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return np.column_stack([
        rng.standard_cauchy(n), rng.integers(0, 4, n), np.full(n, -0.0), 1e9 + rng.normal(size=n),
        np.where(rng.random(n) < 0.3, np.nan, rng.lognormal(size=n)),
    ])  # fmt: skip


def test_laws_of_statistics() -> None:
    rows = mixed(50)
    edges = edges_of(rows)
    check_statistics(lambda some, w=None: QuantileBins.of(some, edges, w), rows)


@given(ROWS)
def test_edges_part_the_cells(rows: Any) -> None:
    for cells, cut in zip(rows.T, edges_of(rows), strict=True):
        assert (np.diff(cut) > 0).all()
        assert np.isfinite(cut).all()
        assert len(cut) <= MOST_EDGES
        seen = cells[~np.isnan(cells)]
        held = QuantileBins.of(seen[:, np.newaxis], [cut]).held
        assert held.sum() == len(seen)
        assert len(seen) == 0 or (held > 0).all()  # no bin is empty on its own rows
        if len(cut) < MOST_EDGES:
            for j, count in enumerate(held):
                inside = seen[np.searchsorted(cut, seen, side="right") == j]
                assert count * BINS <= len(seen) or len(set(inside.tolist())) == 1


@given(ROWS, ROWS, ROWS)
def test_summaries_of_other_edges_merge_exactly(first: Any, second: Any, third: Any) -> None:
    a, b, c = (QuantileBins.of(rows, edges_of(rows)) for rows in (first, second, third))
    assert_same(a + b, b + a)
    assert_same((a + b) + c, a + (b + c))
    whole = a + b + c
    together = np.concatenate([first, second, third])
    assert_same(whole, QuantileBins.of(together, whole.cuts))
    left = whole - b  # exact too, though b has other edges
    assert_same(left, QuantileBins.of(np.concatenate([first, third]), left.cuts))


@given(
    st.lists(
        st.floats(allow_infinity=False) | st.sampled_from([0.0, -0.0, 5e-324, -5e-324, -1.0, 2.0]),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([0.0, 1e8]),
    st.booleans(),
)
@example([*np.linspace(-2.0, 3.0, 12).tolist(), -0.0, -0.0, -0.0], 0.0, False)
@example([*np.linspace(-2.0, 3.0, 12).tolist(), np.nan, np.nan], 0.0, True)
def test_many_cells_are_tallied_as_few_are(
    cells: list[float], offset: float, weighted: bool
) -> None:
    """By the first bits of a double where edges are short, by a search elsewhere."""
    with np.errstate(over="ignore"):
        few = np.array(cells) + offset if offset else np.array(cells)
    few = few[~np.isinf(few)]
    (edges,) = edges_of(few[:, np.newaxis])
    times = MANY // max(len(few), 1) + 1
    weights = np.arange(1.0, len(few) + 1.0) if weighted else None
    many = tally(np.tile(few, times), edges, None if weights is None else np.tile(weights, times))
    np.testing.assert_array_equal(many, times * tally(few, edges, weights))


def test_rows_of_one_place_share_their_edges() -> None:
    rng = np.random.default_rng(1)
    parts = [rng.normal(20, 5, size=(500, 1)) for _ in range(50)]
    whole = sum(
        (QuantileBins.of(part, edges_of(part)) for part in parts[1:]),
        QuantileBins.of(parts[0], edges_of(parts[0])),
    )
    assert whole.sizes[0] + 1 >= 8
    assert whole.counts[0] == 25_000


def test_what_was_never_tallied_is_refused() -> None:
    rows = mixed(40)
    edges = edges_of(rows)
    bins = QuantileBins.of(rows, edges)
    with pytest.raises(ForgettingUnseen):
        bins - QuantileBins.of(rows + 100.0, edges)
    with pytest.raises(DifferentKinds):
        bins + QuantileBins.of(rows[:, :2], edges[:2])


def test_a_file_holds_bins_that_rows_can_have_shown() -> None:
    table = read_table(pd.DataFrame({"a": [1.0, 2.0, 8.0, None], "b": ["x", "y", "x", "y"]}))
    bins = ColumnBins.cut(table)
    assert bins is not None
    again = ColumnBins.from_dict(bins.to_dict())
    assert again.names == ("a",)
    assert_same(again.bins, bins.bins)
    good = bins.to_dict()
    edges, held = good["columns"]["a"]
    for bad in (
        None, [], {}, {"rows": 4.0}, {"rows": -1.0, "columns": {}}, {"rows": True, "columns": {}},
        {**good, "columns": {"a": [edges[::-1], held]}},
        {**good, "columns": {"a": [edges, held[1:]]}},
        {**good, "rows": 2.0}, {**good, "columns": {"a": [edges, [-w for w in held]]}},
        {**good, "columns": {"a": [[float("nan")], [1.0, 1.0]]}}, {**good, "columns": {"a": 3}},
        {**good, "columns": {"a": [[float(i) for i in range(40)], [0.0] * 41]}},
    ):  # fmt: skip
        with pytest.raises(BadFile, match="spread"):
            ColumnBins.from_dict(bad)


def test_tables_without_numbers_have_no_bins() -> None:
    assert ColumnBins.cut(read_table(pd.DataFrame({"b": ["x", "y"]}))) is None
