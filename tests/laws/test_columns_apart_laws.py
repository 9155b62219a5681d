"""Columns that lie apart are added up as the matrix that they are."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.families import Gaussian
from suffice.kernels import compilation
from suffice.kernels.dense import scatter
from suffice.kernels.dense.columns_apart import ColumnsApart, together
from suffice.models import GaussianLearner
from suffice.sources.chunks import ColumnTable

CLOSE = 1e-12


@st.composite
def apart(draw):
    """Draw rows with classes as columns apart, and centres near the rows."""
    length = draw(st.sampled_from([1, 2, 7, 255, 256, 257, 700]))
    width = draw(st.sampled_from([1, 2, 3, 4, 5, 10, 33]))
    size = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    offset = draw(st.sampled_from([0.0, 1e3]))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    scales = 10.0 ** rng.integers(-3, 4, width)
    rows = ((rng.normal(size=(length, width)) + offset) * scales).astype(dtype)
    codes = np.minimum(rng.geometric(0.5, length) - 1, size - 1)  # some classes are rare
    if draw(st.booleans()):
        codes = np.repeat(codes, 2)[::2]
    found = ColumnsApart([rows[:, j].copy() for j in range(width)])
    return found, codes, size, (rng.normal(size=(size, width)) + offset) * scales


@pytest.fixture(autouse=True)
def _compiled():
    with compilation.part_of(compilation.WORTH_COMPILING):
        yield


@pytest.mark.slow
@given(given_rows=apart(), weighted=st.booleans())
def test_columns_apart_are_added_up_as_the_matrix_is(given_rows, weighted):
    rows, codes, size, about = given_rows
    weights = np.linspace(0.5, 2.0, len(rows)) if weighted else None
    found = scatter.pooled_scatter(rows, codes, size, weights, about)
    matrix = together(rows)
    expected = scatter.pooled_scatter.plain(matrix, codes, size, weights, about)
    spreads = scatter.class_scatters.plain(matrix, codes, size, weights, about)[2]
    spread = np.sqrt(np.diagonal(spreads, axis1=-2, axis2=-1))
    whole = np.sqrt(np.diagonal(expected[2]))
    bounds = (
        expected[0],
        spread * np.sqrt(expected[0])[:, np.newaxis],
        np.outer(whole, whole),
    )
    for one, other, bound in zip(found, expected, bounds, strict=True):
        assert one.shape == other.shape
        assert (np.abs(one - other) <= CLOSE * bound).all()
    assert (found[2] == found[2].T).all()


@given(given_rows=apart(), step=st.integers(1, 40), holes=st.floats(0, 0.5))
def test_centres_of_columns_apart_are_those_of_the_matrix(given_rows, step, holes):
    rows, codes, size, _ = given_rows
    rng = np.random.default_rng(4)
    for column in rows.columns:
        column[rng.random(len(column)) < holes] = np.nan
    found = scatter.sampled_centres(rows, codes, size, step)
    expected = scatter.sampled_centres(together(rows), codes, size, step)
    here = np.unique(codes)
    assert (found[here] == expected[here]).all()


@pytest.mark.slow
@given(given_rows=apart(), form=st.sampled_from(["shared", "per-class", "diagonal"]))
def test_every_family_takes_columns_apart(given_rows, form):
    rows, codes, size, _ = given_rows
    learner, labels = GaussianLearner(Gaussian(form)), list(range(size))
    found = learner.summarize(rows, codes, labels).to_arrays()
    expected = learner.summarize(together(rows), codes, labels).to_arrays()
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        if values.dtype.kind != "f" or "weight" in name or "count" in name:
            assert (found[name] == values).all()
        elif "low" not in name:  # second halves of means are made of rounding
            # Infinite is what is not known: how many cells differ from the usual one.
            largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
            np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9 * largest)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("size", [1, 2, 6])
def test_a_cell_that_is_not_finite_shows_in_the_sums(bad, size):
    rows = ColumnsApart([np.ones(600), np.ones(600)])
    rows.columns[1][333] = bad
    codes = np.arange(600) % size
    _, sums, products = scatter.pooled_scatter(rows, codes, size, None, np.zeros((size, 2)))
    assert not np.isfinite(sums[333 % size, 1])
    assert not np.isfinite(products[1, 1])
    assert np.isfinite(sums[:, 0]).all()


def test_rows_of_columns_apart_are_those_of_the_matrix():
    matrix = np.arange(12.0).reshape(4, 3)
    rows = ColumnsApart([matrix[:, j].copy() for j in range(3)])
    assert (len(rows), rows.shape, rows.size, rows.ndim) == (4, (4, 3), 12, 2)
    assert (np.asarray(rows) == matrix).all()
    assert (np.asarray(rows, np.float32) == matrix).all()
    assert (np.isnan(rows) == np.isnan(matrix)).all()
    assert isinstance(rows[1:3], ColumnsApart)
    for key in (slice(1, 3), slice(None, None, 2), [0, 3], np.array([True, False, True, False])):
        assert (np.asarray(rows[key]) == matrix[key]).all()
    assert (rows[2] == matrix[2]).all()
    assert rows[2, 1] == matrix[2, 1]
    assert together(matrix) is matrix


def test_columns_of_several_types_or_with_gaps_are_not_kept_apart():
    assert ColumnsApart.fits([np.zeros(3), np.zeros(3)])
    assert not ColumnsApart.fits([])
    assert not ColumnsApart.fits([np.zeros(3, int)])
    assert not ColumnsApart.fits([np.zeros(3), np.zeros(6)[::2]])


def test_a_table_of_columns_is_a_table():
    columns = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])]
    table = ColumnTable.of(columns, ("a", "b"))
    assert (table.size, table.width, table.cells) == (3, 2, None)
    assert table.column(1) is columns[1]
    assert (table.take([1, 0]).matrix == np.stack(columns[::-1], axis=1)).all()
    assert table.matrix is table.matrix
    table.matrix[0, 0] = 9.0  # a copy: what was given stays
    assert columns[0][0] == 1.0
    for copy in (replace(table, names=("c", "d")), pickle.loads(pickle.dumps(table))):
        assert copy.apart is None
        assert (copy.size, copy.matrix[0, 0], copy.column(1)[2]) == (3, 9.0, 6.0)
    with pytest.raises(AttributeError):
        _ = table.unknown
