"""Sparse rows come through the door without a copy, checked before they are believed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from suffice.errors import BadRows, NotANumber, NotFinite
from suffice.rows import SparseRows, is_sparse, read_sparse, refuse_counts
from suffice.rows import sparse as reading

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0], [0, 0, 4, 5]])
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


def parts(matrix):
    return matrix.data, matrix.indices, matrix.indptr


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_compressed_rows_are_taken_without_a_copy(kind, index, container):
    matrix = container(DENSE.astype(kind))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    rows = read_sparse(matrix)
    for ours, theirs in zip((rows.data, rows.indices, rows.indptr), parts(matrix), strict=True):
        assert ours is theirs
    assert rows.dtype == kind
    assert rows.shape == (4, 4)
    assert len(rows) == rows.size == 4
    assert rows.stored == 5
    assert (rows.toarray() == DENSE).all()


@pytest.mark.parametrize(
    "kind", [bool, np.int8, np.uint8, np.uint64, np.float16, np.longdouble, ">f8"]
)
def test_of_other_numbers_only_the_cells_are_copied(kind):
    matrix = sparse.csr_array(DENSE.astype(bool))
    matrix.data = matrix.data.astype(kind)
    rows = read_sparse(matrix)
    assert rows.dtype == np.float64
    assert rows.indices is matrix.indices
    assert rows.indptr is matrix.indptr
    assert (rows.toarray() == (DENSE > 0)).all()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("container", [sparse.coo_array, sparse.coo_matrix])
def test_every_format_is_read(form, container):
    matrix = container(DENSE).asformat(form)
    assert is_sparse(matrix)
    rows = read_sparse(matrix)
    assert rows.dtype == np.int64
    assert (rows.toarray() == DENSE).all()


def test_what_is_not_from_scipy_is_not_sparse():
    class Own(sparse.csr_array):
        pass

    assert is_sparse(Own(DENSE))
    for other in (DENSE, DENSE.tolist(), None, "sparse", sparse):
        assert not is_sparse(other)


def test_cells_stored_in_parts_are_added_up_and_the_matrix_is_left_alone():
    data, columns, indptr = [1.0, 2.0, 4.0, 8.0, -8.0], [3, 0, 3, 1, 1], [0, 3, 5]
    matrix = sparse.csr_matrix((data, columns, indptr), shape=(2, 4))
    before = {name: np.copy(value) for name, value in vars(matrix).items()}
    rows = read_sparse(matrix)
    assert rows.toarray().tolist() == [[2, 0, 0, 5], [0, 0, 0, 0]]
    assert rows.indptr.tolist() == [0, 2, 3]
    after = vars(matrix)
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert np.array_equal(value, after[name]), name


def test_parts_that_lie_askew_are_straightened():
    matrix = sparse.csr_array(DENSE.astype(float))
    for name in ("data", "indices", "indptr"):
        part = getattr(matrix, name)
        askew = np.frombuffer(b"x" + part.tobytes(), np.uint8)[1:].view(part.dtype)
        assert not askew.flags.aligned
        setattr(matrix, name, askew)
    rows = read_sparse(matrix)
    assert all(part.flags.aligned for part in (rows.data, rows.indices, rows.indptr))
    assert (rows.toarray() == DENSE).all()


def test_columns_in_any_order_are_no_reason_to_copy():
    matrix = sparse.csr_array(([1.0, 2.0, 3.0], [2, 0, 1], [0, 3]), shape=(1, 3))
    assert read_sparse(matrix).data is matrix.data


@given(
    seed=st.integers(0, 2**32 - 1), chunk=st.sampled_from([1, 2, 3, 7, 100]), shuffle=st.booleans()
)
def test_repeats_are_found_wherever_the_chunks_end(seed, chunk, shuffle):
    rng = np.random.default_rng(seed)
    size, width = rng.integers(1, 8), rng.integers(1, 6)
    stored = int(rng.integers(0, 15))
    numbers, columns = np.sort(rng.integers(0, size, stored)), rng.integers(0, width, stored)
    if not shuffle:
        columns = columns[np.lexsort((columns, numbers))]
    indptr = np.searchsorted(numbers, np.arange(size + 1))
    data = rng.integers(1, 9, stored)
    matrix = sparse.csr_array((data, columns, indptr), shape=(size, width))
    whole, reading.CHUNK = reading.CHUNK, chunk
    try:
        rows = read_sparse(matrix)
    finally:
        reading.CHUNK = whole
    assert (rows.toarray() == matrix.toarray()).all()
    keys = rows.row_numbers() * width + rows.places
    assert len(set(keys.tolist())) == rows.stored
    assert (rows.data is matrix.data) == (rows.stored == stored)


def test_a_slice_is_a_view_that_need_not_begin_at_zero():
    rows = read_sparse(sparse.csr_array(DENSE))
    part = rows[2:]
    assert part.data is rows.data
    assert part.indices is rows.indices
    assert np.shares_memory(part.indptr, rows.indptr)
    assert part.indptr.tolist() == [2, 3, 5]
    assert part.stored == 3
    assert part.cells.tolist() == [3, 4, 5]
    assert part.places.tolist() == [0, 2, 3]
    assert part.row_numbers().tolist() == [0, 1, 1]
    assert (part.toarray() == DENSE[2:]).all()
    assert (part[1:].toarray() == DENSE[3:]).all()


@given(
    places=st.lists(st.integers(-4, 3), max_size=8),
    start=st.integers(-6, 6),
    stop=st.none() | st.integers(-6, 6),
    step=st.sampled_from([None, 1, 2, -1]),
)
def test_rows_are_chosen_as_numpy_chooses_them(places, start, stop, step):
    rows = read_sparse(sparse.csr_array(DENSE))
    chosen = slice(start, stop, step)
    assert np.array_equal(rows[chosen].toarray(), DENSE[chosen])
    taken = rows.take(np.array(places, dtype=int))
    assert np.array_equal(taken.toarray(), DENSE[np.array(places, dtype=int)])
    assert taken.dtype == rows.dtype
    assert taken.indices.dtype == rows.indices.dtype
    later = rows[1:].take(np.array([2, 0]))
    assert np.array_equal(later.toarray(), DENSE[[3, 1]])


def test_a_mask_chooses_rows_too():
    rows = read_sparse(sparse.csr_array(DENSE))
    mask = np.array([True, False, False, True])
    assert np.array_equal(rows[mask].toarray(), DENSE[mask])


BAD = [
    (
        "no rows",
        sparse.csr_array((0, 3)),
        BadRows,
        r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\)",
    ),
    (
        "no columns",
        sparse.csr_array((3, 0)),
        BadRows,
        r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum",
    ),
    ("complex", sparse.csr_array(DENSE * 1j), NotANumber, "Complex data not supported"),
    (
        "one dimension",
        sparse.coo_array(np.ones(3)),
        BadRows,
        r"Expected 2D array, got 1D sparse array",
    ),
]


@pytest.mark.parametrize(
    ("matrix", "error", "words"), [case[1:] for case in BAD], ids=[c[0] for c in BAD]
)
def test_matrices_that_are_no_rows_are_refused(matrix, error, words):
    with pytest.raises(error, match=words):
        read_sparse(matrix)


def test_objects_are_no_numbers():
    matrix = sparse.csr_array(DENSE)
    matrix.data = matrix.data.astype(object)
    with pytest.raises(NotANumber, match="sparse rows of dtype object are not numbers"):
        read_sparse(matrix)


DAMAGE = [
    ("a column too far", "indices", [1, 3, 0, 2, 4], "row 3 has a cell in column 4 of 4"),
    ("a negative column", "indices", [1, 3, -1, 2, 3], "row 2 has a cell in column -1 of 4"),
    ("falling pointers", "indptr", [0, 3, 2, 3, 5], "indptr is not 5 non-decreasing numbers"),
    ("a negative pointer", "indptr", [-1, 2, 2, 3, 5], "indptr is not 5 non-decreasing numbers"),
    ("too few pointers", "indptr", [0, 2, 5], "indptr is not 5 non-decreasing numbers"),
    ("an end too far", "indptr", [0, 2, 2, 3, 6], "ends at 6, but 5 cells are stored"),
    ("too few columns", "indices", [1, 3, 0, 2], "ends at 5, but 4 cells are stored"),
]


@pytest.mark.parametrize(
    ("part", "value", "words"), [d[1:] for d in DAMAGE], ids=[d[0] for d in DAMAGE]
)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_what_scipy_does_not_check_is_checked(part, value, words, index):
    matrix = sparse.csr_matrix(DENSE)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    setattr(matrix, part, np.array(value, dtype=index))
    with pytest.raises(BadRows, match=f"the sparse matrix is damaged: .*{words}"):
        read_sparse(matrix)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (
            -2,
            BadRows,
            r"row 3, column 17: -2 is negative \(Negative values in data\)\nHint: counts",
        ),
        (np.nan, NotFinite, r"row 3, column 17: a count is missing \(Input contains NaN\)"),
        (np.inf, NotFinite, r"row 3, column 17: inf is not a finite number"),
        (-np.inf, NotFinite, r"row 3, column 17: -inf is not a finite number"),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_a_cell_that_is_no_count_is_named(value, error, words, whole, block, monkeypatch):
    monkeypatch.setattr("suffice.rows.bad_cells.BLOCK", block)
    dense = np.ones((6, 20))
    dense[:, ::3] = 0
    refuse_counts(dense, whole=whole)
    dense[3, 17] = dense[4, 0] = value
    for rows in (dense, np.asfortranarray(dense), read_sparse(sparse.csr_array(dense))):
        with pytest.raises(error, match=words):
            refuse_counts(rows, whole=whole)
        with pytest.raises(error, match=words.replace("column 17", "r")):
            refuse_counts(rows, [*"abcdefghijklmnopqrst"], whole=whole)
    part = read_sparse(sparse.csr_array(dense))[2:]
    with pytest.raises(error, match=words.replace("row 3", "row 1")):
        refuse_counts(part)
    refuse_counts(part[:1])


def test_fractions_are_refused_only_where_whole_numbers_are_needed():
    dense = np.array([[1.0, 0.0], [0.0, 2.5]])
    for rows in (dense, read_sparse(sparse.csr_array(dense))):
        refuse_counts(rows)
        with pytest.raises(BadRows, match=r"row 1, column 1: 2\.5 is not a whole number"):
            refuse_counts(rows, whole=True)


def test_rows_without_weight_are_not_looked_at():
    dense = np.array([[1.0, -1.0], [0.0, 2.0], [-3.0, 0.0]])
    for rows in (dense, read_sparse(sparse.csr_array(dense))):
        refuse_counts(rows, weights=np.array([0.0, 1.0, 0.0]))
        with pytest.raises(BadRows, match="row 2, column 0: -3 is negative"):
            refuse_counts(rows, weights=np.array([0.0, 1.0, 2.0]))


def test_missing_counts_pass_where_they_may():
    dense = np.array([[1.0, np.nan], [0.5, 2.0]])
    refuse_counts(dense, missing=True)
    with pytest.raises(BadRows, match=r"row 1, column 0: 0\.5 is not a whole"):
        refuse_counts(dense, missing=True, whole=True)
    with pytest.raises(NotFinite, match="row 0, column 1"):
        refuse_counts(dense, whole=True)


def test_whole_numbers_of_any_type_are_counts():
    for kind in (np.int32, np.int64, np.float32):
        rows = read_sparse(sparse.csr_array(DENSE.astype(kind)))
        refuse_counts(rows, whole=True)
    refuse_counts(SparseRows(np.empty(0), np.empty(0, int), np.zeros(3, int), 4), whole=True)
