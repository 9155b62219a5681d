"""Numbers as levels: counted where they lie close together, sorted where not, and the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from suffice.errors import SufficeError
from suffice.models.naive_bayes.column_blocks import extremes
from suffice.rows import read_table
from suffice.rows.category_codes import BLANK, coded_columns
from tests.searches import examples

whole = st.one_of(
    st.integers(-3, 3), st.integers(-2000, 2000), st.integers(-(2**53), 2**53),
).map(float)  # fmt: skip


@given(st.lists(st.one_of(whole, st.just(np.nan)), min_size=1, max_size=40))
@examples(60)
def test_codes_and_levels_are_those_of_a_sort(cells: list[float]) -> None:
    column = np.array(cells)
    coded = coded_columns(read_table(np.stack([column, column[::-1]], axis=1)), [0])
    seen = ~np.isnan(column)
    values, inverse = np.unique(column[seen], return_inverse=True)
    assert coded.levels == (tuple(int(value) for value in values),)
    assert (coded.codes[seen, 0] == inverse).all()
    assert (coded.codes[~seen, 0] == BLANK).all()
    assert all(type(level) is int for level in coded.levels[0])


@given(
    arrays.arrays(
        st.sampled_from([np.float64, np.int64]),
        st.tuples(st.integers(1, 9), st.integers(2, 5)),
        elements=st.one_of(st.integers(-3, 3), st.integers(-600, 600), st.integers(-1200, 1200)),
    ),
    st.sampled_from([None, None, 0.5, np.nan]),
)
@examples(60)
def test_columns_together_have_the_codes_of_each_alone(rows: np.ndarray, odd: float | None) -> None:
    if odd is not None and rows.dtype == np.float64:
        rows[0, -1] = odd
    table, columns = read_table(rows), range(rows.shape[1])
    if odd == 0.5 and rows.dtype == np.float64:
        with pytest.raises(SufficeError):
            coded_columns(table, columns)
        return
    together = coded_columns(table, columns)
    for j in columns:
        alone = coded_columns(table, [j])
        assert together.levels[j] == alone.levels[0]
        assert all(type(level) is int for level in together.levels[j])
        np.testing.assert_array_equal(together.codes[:, j], alone.codes[:, 0])


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64, np.float32])
def test_codes_are_the_same_for_every_type_of_number(kind: type) -> None:
    limits = np.iinfo(kind) if np.issubdtype(kind, np.integer) else None
    ends = (0, 100) if limits is None else (int(limits.min), int(limits.max))
    for column in (np.array([5, 3, 5, 9], kind), np.array([ends[0], ends[1], ends[0]], kind)):
        values, inverse = np.unique(column, return_inverse=True)
        coded = coded_columns(read_table(column[:, np.newaxis]), [0])
        assert coded.levels[0] == tuple(values.tolist())
        assert (coded.codes[:, 0] == inverse).all()


@pytest.mark.parametrize("bad", [0.5, np.inf, -np.inf, 2.0**60 + 0.5])
def test_a_fraction_among_close_numbers_is_still_refused(bad: float) -> None:
    column = np.array([1.0, 2.0, bad, 2.0])
    if bad > 2.0**53 and np.isfinite(bad):  # whole, as all doubles are there: far from the others
        assert len(coded_columns(read_table(column[:, np.newaxis]), [0]).levels[0]) == 3
        return
    with pytest.raises(SufficeError):
        coded_columns(read_table(column[:, np.newaxis]), [0])


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 9), st.integers(0, 5))))
@examples(40)
def test_extremes_are_the_least_and_the_largest_cell(rows: np.ndarray) -> None:
    low, high = extremes(rows)
    if not rows.size:
        assert (low, high) == (0.0, 0.0)
    else:
        np.testing.assert_array_equal([low, high], [rows.min(), rows.max()])
    wide = np.repeat(rows, 2_000, axis=0)  # several pieces
    np.testing.assert_array_equal(extremes(np.asfortranarray(wide)), (low, high))
