"""Sparse sums and scores: the compiled loops, their NumPy twins and plain dense products agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as scipy_sparse

from suffice.engines import threads
from suffice.engines import uneven_blocks as sparse_blocks
from suffice.errors import BadRows
from suffice.kernels import compilation
from suffice.kernels.sparse import sums
from suffice.kernels.sparse.sums import lanes, score_table
from suffice.rows import SparseRows, read_sparse
from tests.twins import choices, plain

pytest.importorskip("numba", reason="numba is not installed: there is nothing to compare")

from suffice.kernels.sparse import sums_numba

CLOSE = 1e-12
sums_plain = plain(sums)
TWINS = [sums_plain, sums_numba]
TYPES = [
    (np.float64, np.int32),
    (np.float32, np.int32),
    (np.int64, np.int64),
    (np.int32, np.int64),
]
"""Of cells and of columns: each of the eight pairs is a compilation, these four have every type."""


@st.composite
def sparse_rows(draw, signed=True):
    """Draw rows, many of them empty, in any order, with stored zeros, perhaps cut from others."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, width = draw(st.sampled_from([1, 2, 9, 300])), draw(st.sampled_from([1, 2, 17, 400]))
    kind, index = draw(st.sampled_from(TYPES))
    share = draw(st.sampled_from([0.0, 0.02, 0.3, 1.0]))
    there = rng.uniform(size=(size, width)) < share
    there[:, rng.uniform(size=width) < 0.2] = False
    there[rng.uniform(size=size) < draw(st.sampled_from([0.0, 0.3])), :] = False
    cells = rng.integers(-2 if signed else 0, 4, (size, width)).astype(kind)
    if np.dtype(kind).kind == "f" and draw(st.booleans()):
        cells *= rng.uniform(size=(size, width)).astype(kind)
    numbers, columns = np.nonzero(there)
    if draw(st.booleans()):  # within a row the columns may lie in any order
        order = np.lexsort((rng.uniform(size=len(numbers)), numbers))
        columns = columns[order]
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(index)
    columns = columns.astype(index)
    if draw(st.booleans()):  # a part of other rows: it begins anywhere
        before = draw(st.integers(1, 100))
        junk = rng.integers(0, width, before).astype(index)
        columns, indptr = np.concatenate([junk, columns, junk]), indptr + index(before)
        data = np.concatenate([np.full(before, -7), cells[numbers, columns[before:-before]]])
        data = np.concatenate([data, np.full(before, -7)]).astype(kind)
    else:
        data = cells[numbers, columns]
    for part in (data, columns, indptr):
        part.flags.writeable = draw(st.booleans())
    return SparseRows(data, columns, indptr, width)


@st.composite
def classified(draw):
    """Draw sparse rows with a class each, and weights or none; some weights are zero."""
    rows = draw(sparse_rows())
    size = draw(st.sampled_from([1, 2, 5, 20]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.integers(0, draw(st.integers(1, size)), len(rows))
    weights = rng.uniform(0.1, 5, len(rows)) if draw(st.booleans()) else None
    if weights is not None:
        weights[rng.uniform(size=len(rows)) < draw(st.sampled_from([0.0, 0.5, 1.0]))] = 0.0
    if draw(st.booleans()):
        codes = np.repeat(codes, 2)[::2]
        weights = None if weights is None else np.repeat(weights, 2)[::2]
    return rows, codes, size, weights


thresholds = st.sampled_from([None, 0.0, 1.0, 0.3])


def counted(rows, threshold):
    """Return the dense cells as they enter the sums."""
    dense = rows.toarray()
    return dense if threshold is None else (dense > threshold).astype(float)


def smallest(rows, weights):
    """Return what is left of the test for negative cells: the smallest stored one, or 0."""
    dense = rows.toarray() if weights is None else rows.toarray()[weights > 0]
    return min(0.0, dense.min(initial=0.0))


@pytest.mark.parametrize("twin", TWINS)
@given(given_rows=classified(), threshold=thresholds)
def test_sums_by_class_are_those_of_the_dense_rows(twin, given_rows, threshold):
    rows, codes, size, weights = given_rows
    by_row = np.ones(len(rows)) if weights is None else weights
    one_hot = np.equal.outer(np.arange(size), codes) * by_row
    cells = counted(rows, threshold)
    totals, sums, low = twin.class_sums(rows, codes, size, weights, threshold)
    np.testing.assert_allclose(totals, one_hot.sum(axis=1), rtol=CLOSE)
    bound = one_hot @ np.abs(cells)
    assert sums.shape == (size, rows.width)
    assert sums.dtype == np.float64
    assert (np.abs(sums - one_hot @ cells) <= CLOSE * bound).all()
    assert low == smallest(rows, weights)


@given(given_rows=classified(), threshold=thresholds)
def test_whole_numbers_are_counted_exactly_by_both_twins(given_rows, threshold):
    rows, codes, size, weights = given_rows
    rows = SparseRows(np.round(rows.data), rows.indices, rows.indptr, rows.width)
    weights = None if weights is None else np.ceil(weights)
    one, other = (twin.class_sums(rows, codes, size, weights, threshold) for twin in TWINS)
    for left, right in zip(one, other, strict=True):
        assert np.array_equal(left, right)
    by_row = np.ones(len(rows)) if weights is None else weights
    one_hot = np.equal.outer(np.arange(size), codes) * by_row
    assert np.array_equal(one[1], one_hot @ counted(rows, threshold))


@pytest.mark.parametrize("twin", TWINS)
@given(
    rows=sparse_rows(),
    size=st.sampled_from([1, 2, 3, 5, 8, 9, 20]),
    threshold=thresholds,
    packed=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_scores_and_winners_are_those_of_the_dense_rows(twin, rows, size, threshold, packed, seed):
    rng = np.random.default_rng(seed)
    weights, offsets = rng.normal(size=(size, rows.width)), rng.normal(size=size)
    table = score_table(weights) if packed else np.ascontiguousarray(weights.T)
    cells = counted(rows, threshold)
    expected = cells @ weights.T + offsets
    bound = np.abs(cells) @ np.abs(weights.T) + np.abs(offsets)
    out, codes = np.full((len(rows), size), np.nan), np.full(len(rows), -1)
    assert twin.sparse_scores(rows, table, offsets, threshold, out) == smallest(rows, None)
    assert (np.abs(out - expected) <= CLOSE * bound).all()
    assert twin.sparse_winners(rows, table, offsets, threshold, codes) == smallest(rows, None)
    assert (codes == out.argmax(axis=1)).all()


@pytest.mark.parametrize("twin", TWINS)
@given(rows=sparse_rows(signed=False), threshold=thresholds, seed=st.integers(0, 2**32 - 1))
def test_a_cell_that_counts_nothing_adds_nothing_even_to_minus_infinity(
    twin, rows, threshold, seed
):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(3, rows.width))
    weights[rng.uniform(size=weights.shape) < 0.3] = -np.inf
    cells = counted(rows, threshold)
    with np.errstate(invalid="ignore"):
        terms = np.where(cells[:, None] > 0, cells[:, None] * weights, 0.0)
    out = np.empty((len(rows), 3))
    twin.sparse_scores(rows, score_table(weights), np.zeros(3), threshold, out)
    np.testing.assert_allclose(out, terms.sum(axis=2), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("threshold", [None, 0.0])
@pytest.mark.parametrize("twin", TWINS)
def test_a_cell_that_is_not_finite_shows_in_the_smallest(twin, threshold, bad):
    dense = np.random.default_rng(0).integers(0, 3, (50, 30)).astype(float)
    dense[31, 7] = bad
    rows, codes = read_sparse(scipy_sparse.csr_array(dense)), np.zeros(50, int)
    table, offsets = np.ones((30, 2)), np.zeros(2)
    assert np.isnan(twin.class_sums(rows, codes, 1, None, threshold)[2])
    assert np.isnan(twin.sparse_scores(rows, table, offsets, threshold, np.empty((50, 2))))
    assert np.isnan(twin.sparse_winners(rows, table, offsets, threshold, np.empty(50, int)))
    assert twin.class_sums(rows[32:], codes[32:], 1, None, threshold)[2] == 0.0
    weights = np.ones(50)
    weights[31] = 0.0  # no row: never looked at
    totals, sums, low = twin.class_sums(rows, codes, 1, weights, threshold)
    assert totals == [49]
    assert np.isfinite(sums).all()
    assert low == 0.0


@pytest.mark.parametrize("twin", TWINS)
def test_a_float32_cell_is_widened_before_it_meets_the_threshold(twin):
    rows = read_sparse(scipy_sparse.csr_array(np.array([[0.1]], np.float32)))
    assert twin.class_sums(rows, np.zeros(1, int), 1, None, 0.1)[1] == 1.0
    out = np.empty((1, 1))
    twin.sparse_scores(rows, np.ones((1, 1)), np.zeros(1), 0.1, out)
    assert out == 1.0


@pytest.mark.parametrize("twin", TWINS)
def test_the_first_of_equal_scores_wins_and_a_nan_before_all(twin):
    rows = read_sparse(scipy_sparse.csr_array(np.eye(4)))
    table = np.array([[1, 1, 0], [0, 2, 2], [1, np.nan, 2], [-np.inf] * 3], float)
    codes, scores = np.empty(4, int), np.empty((4, 3))
    twin.sparse_winners(rows, table, np.zeros(3), None, codes)
    twin.sparse_scores(rows, table, np.zeros(3), None, scores)
    assert codes.tolist() == scores.argmax(axis=1).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("twin", TWINS)
def test_scores_may_be_written_into_any_array(twin):
    rows = read_sparse(scipy_sparse.csr_array(np.eye(4)))
    table, offsets, wide = np.arange(12.0).reshape(4, 3), np.zeros(3), np.zeros((4, 6), order="F")
    twin.sparse_scores(rows, table, offsets, None, wide[:, ::2])
    assert (wide[:, ::2] == table).all()
    assert (wide[:, 1::2] == 0).all()


def test_a_score_table_is_whole_lanes_that_begin_with_a_line_of_the_cache():
    for size in range(1, 20):
        weights = np.random.default_rng(size).normal(size=(size, 7))
        table = score_table(weights)
        assert table.ctypes.data % 64 == 0
        assert table.shape[1] % lanes(size) == 0
        assert (table[:, :size] == weights.T).all()
        assert (table[:, size:] == 0).all()


def test_the_choice_of_twin_depends_on_the_stored_cells_of_the_whole(monkeypatch):
    names = ("class_sums", "sparse_scores", "sparse_winners")
    chosen = choices(monkeypatch, {sums_numba: names})
    rows, table = read_sparse(scipy_sparse.csr_array(np.eye(3))), (np.eye(3), np.zeros(3))
    for cells, expected in ((0, None), (compilation.WORTH_COMPILING, sums_numba)):
        with compilation.part_of(cells):
            assert (
                chosen(
                    lambda: sums.class_sums(rows, np.zeros(3, int), 1, None, None),
                    lambda: sums.sparse_scores(rows, *table, None, np.empty((3, 3))),
                    lambda: sums.sparse_winners(rows, *table, None, np.empty(3, int)),
                )
                == [expected] * 3
            )


@pytest.fixture
def large():
    """Return rows large enough to be cut, with rows of very different lengths."""
    rng = np.random.default_rng(3)
    lengths = np.where(rng.uniform(size=3000) < 0.01, 900, rng.integers(0, 160, 3000))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([rng.choice(1000, length, replace=False) for length in lengths])
    data = rng.integers(0, 4, len(indices)).astype(float)
    rows = SparseRows(data, indices.astype(np.int32), indptr.astype(np.int32), 1000)
    return rows, rng.integers(0, 4, 3000), rng.integers(0, 3, 3000).astype(float)


@pytest.mark.parametrize("threshold", [None, 0.0])
@pytest.mark.parametrize("cores", [1, 2, 3])
def test_the_answer_does_not_depend_on_the_number_of_threads(large, cores, threshold, monkeypatch):
    rows, codes, weights = large
    assert rows.stored > threads.SMALL
    monkeypatch.setattr(threads, "workers", lambda: cores)
    monkeypatch.setattr(sparse_blocks, "workers", lambda: cores)
    found = sparse_blocks.collect_class_sums(rows, codes, 4, weights, threshold)
    for left, right in zip(
        found, sums_plain.class_sums(rows, codes, 4, weights, threshold), strict=True
    ):
        assert np.array_equal(left, right)
    table, offsets = np.random.default_rng(4).normal(size=(1000, 4)), np.ones(4)
    scores, low = sparse_blocks.score_rows(rows, table, offsets, threshold)
    expected = np.empty((3000, 4))
    assert low == sums_plain.sparse_scores(rows, table, offsets, threshold, expected) == 0.0
    np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-10)
    winners, _ = sparse_blocks.winning_codes(rows, table, offsets, threshold)
    assert (winners == scores.argmax(axis=1)).all()


def test_threads_check_the_columns_and_find_the_first_that_is_wrong(large, monkeypatch):
    rows, *_ = large
    monkeypatch.setattr(threads, "workers", lambda: 2)
    parts = rows.data, rows.indices.copy(), rows.indptr
    matrix = scipy_sparse.csr_array(parts, shape=rows.shape)
    assert sparse_blocks.read_sparse_rows(matrix).data is matrix.data
    for place in (200_000, 100_000):
        matrix.indices[place] = 1000
        row = np.searchsorted(rows.indptr, place, side="right") - 1
        with pytest.raises(BadRows, match=f"row {row} has a cell in column 1000 of 1000"):
            sparse_blocks.read_sparse_rows(matrix)


def test_blocks_store_about_equally_many_cells_and_leave_no_row_out(large, monkeypatch):
    rows, *_ = large
    monkeypatch.setattr(sparse_blocks, "workers", lambda: 2)
    parts = sparse_blocks.for_sparse_blocks(lambda part: part, rows)
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(3000))
    assert len(parts) == 2 * threads.SLICES_PER_WORKER
    stored = [rows[part].stored for part in parts]
    assert max(stored) - min(stored) <= 2 * 900
    assert len(sparse_blocks.for_sparse_blocks(lambda part: part, rows, 2)) == 2
    assert sparse_blocks.for_sparse_blocks(lambda part: part, rows[:10]) == [slice(0, 10)]


def test_sums_wider_than_what_is_stored_are_not_kept_twice(large, monkeypatch):
    rows, codes, _ = large
    monkeypatch.setattr(sparse_blocks, "workers", lambda: 2)
    calls = []

    def counting(part, *others):
        calls.append(part.size)
        return sums_plain.class_sums(part, *others)

    monkeypatch.setattr(sparse_blocks, "class_sums", counting)
    sparse_blocks.collect_class_sums(rows, codes, 4)
    assert len(calls) == 2
    wide = SparseRows(rows.data, rows.indices, rows.indptr, 1_000_000)
    totals, sums, _ = sparse_blocks.collect_class_sums(wide, codes, 4)
    assert calls[2:] == [3000]
    assert sums.shape == (4, 1_000_000)
    assert totals.sum() == 3000
