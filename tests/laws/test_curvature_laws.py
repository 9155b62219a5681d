"""Loss, slope and bend at one θ add up like any statistic; at two they are not added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import DifferentKinds
from suffice.models.linear.logistic.loss import LogisticLoss
from suffice.models.linear.logistic.sparse_loss import SparseLoss
from suffice.rows.sparse import read_sparse
from suffice.statistics.curvature import Curvature
from suffice.testing import (
    assert_same,
    batches,
    check_arrays_round_trip,
    check_associative,
    check_batches_add_up,
    check_commutative,
    check_forgetting_unseen,
    check_identity,
    check_scaling,
    check_scaling_is_repetition,
    check_weights_are_repetitions,
    row_weights,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray

WIDTH = 2
SIZES = st.integers(2, 4)

Table = Any


def tables(k: int) -> st.SearchStrategy[FloatArray]:
    """Return rows with their codes as a last column."""
    return batches(WIDTH, k).map(lambda b: np.column_stack([b.rows / 100.0, b.codes.astype(float)]))


def thetas(k: int) -> st.SearchStrategy[FloatArray]:
    return st.integers(0, 2**32 - 1).map(
        lambda seed: np.random.default_rng(seed).normal(size=(k - 1, WIDTH + 1))
    )


def summarizing(theta: FloatArray, hessian: bool = True) -> Any:
    """Return what turns a table into its curvature at θ; θ is a copy every time."""
    k = len(theta) + 1

    def summarize(table: FloatArray, weights: FloatArray | None = None) -> Curvature:
        if not len(table):
            return Curvature.empty(theta.copy(), hessian)
        rows, codes = np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.intp)
        loss = LogisticLoss(rows, codes, k, weights, np.full(WIDTH, 0.5), np.array([2.0, 0.5]))
        return loss.curvature(theta.copy(), hessian)

    return summarize


def drawn(data: st.DataObject, summarize: Any, k: int, many: int) -> list[Curvature]:
    found = []
    for _ in range(many):
        table = data.draw(tables(k))
        weights = data.draw(st.none() | row_weights(len(table)))
        if weights is not None:
            table, weights = table[weights > 0.0], weights[weights > 0.0]
        found.append(summarize(table, weights))
    return found


def without_margin(found: Curvature) -> Curvature:
    """Return a curvature whose margin says nothing: forgetting only keeps a bound of it."""
    return Curvature(found.theta, found.weight, found.loss, found.gradient, found.hessian, 0.0)


@given(st.data(), SIZES, st.booleans())
def test_nothing_is_the_identity(data: st.DataObject, k: int, bends: bool) -> None:
    theta = data.draw(thetas(k))
    (a,) = drawn(data, summarizing(theta, bends), k, 1)
    check_identity(a, Curvature.empty(theta, bends))


@given(st.data(), SIZES, st.booleans())
def test_order_and_grouping_do_not_matter(data: st.DataObject, k: int, bends: bool) -> None:
    a, b, c = drawn(data, summarizing(data.draw(thetas(k)), bends), k, 3)
    check_commutative(a, b)
    check_associative(a, b, c)


@given(st.data(), SIZES)
def test_any_split_is_one_batch(data: st.DataObject, k: int) -> None:
    summarize = summarizing(data.draw(thetas(k)))
    first, second = data.draw(tables(k)), data.draw(tables(k))
    check_batches_add_up(summarize, first, second)
    whole = np.concatenate([first, second])
    edges = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    parts = [summarize(part) for part in np.split(whole, edges)]
    together = parts[0]
    for part in parts[1:]:
        together = together + part
    assert_same(together, summarize(whole), law="any split is one batch")


@given(st.data(), SIZES)
def test_a_weight_is_a_repetition(data: st.DataObject, k: int) -> None:
    summarize = summarizing(data.draw(thetas(k)))
    table = data.draw(tables(k))
    times = data.draw(st.lists(st.integers(1, 4), min_size=len(table), max_size=len(table)))
    check_weights_are_repetitions(summarize, table, times)
    check_scaling_is_repetition(summarize, table, data.draw(st.integers(1, 4)))


@given(st.data(), SIZES)
def test_a_row_of_weight_zero_adds_nothing(data: st.DataObject, k: int) -> None:
    summarize = summarizing(data.draw(thetas(k)))
    table = data.draw(tables(k))
    weights = data.draw(row_weights(len(table)))
    kept = weights > 0.0
    a, b = summarize(table, weights), summarize(table[kept], weights[kept])
    assert_same(without_margin(a), without_margin(b), law="weight zero is not a row")


@given(st.data(), SIZES)
def test_what_was_merged_can_be_forgotten(data: st.DataObject, k: int) -> None:
    a, b = drawn(data, summarizing(data.draw(thetas(k))), k, 2)
    both = a + b
    left = both - b
    assert_same(without_margin(left), without_margin(a), held=[both], law="(a + b) - b is a")
    assert left.margin <= a.margin  # a bound: the smallest of what is left is not known
    assert (both - both).weight == 0.0
    check_forgetting_unseen(a, b)
    check_forgetting_unseen(a, both)


@given(st.data(), SIZES, st.floats(0.01, 10.0), st.floats(0.01, 10.0))
def test_scaling_composes_and_distributes(
    data: st.DataObject, k: int, first: float, second: float
) -> None:
    a, b = drawn(data, summarizing(data.draw(thetas(k))), k, 2)
    check_scaling(a, b, first, second)


@given(st.data(), SIZES, st.booleans())
def test_arrays_hold_the_whole_state(data: st.DataObject, k: int, bends: bool) -> None:
    a, b = drawn(data, summarizing(data.draw(thetas(k)), bends), k, 2)
    check_arrays_round_trip(a)
    check_arrays_round_trip(a + b)
    check_arrays_round_trip(a.scaled(0.3))


@given(st.data(), SIZES)
def test_curvatures_at_different_places_are_refused(data: st.DataObject, k: int) -> None:
    theta = data.draw(thetas(k))
    (a,) = drawn(data, summarizing(theta), k, 1)
    moved = theta.copy()
    place = data.draw(st.integers(0, theta.size - 1))
    moved.flat[place] = np.nextafter(moved.flat[place], np.inf)
    (b,) = drawn(data, summarizing(moved), k, 1)
    for join in (lambda: a + b, lambda: a - b, lambda: b + Curvature.empty(theta)):
        with pytest.raises(DifferentKinds, match="different θ") as refusal:
            join()
        assert "same θ" in str(refusal.value)
    with pytest.raises(DifferentKinds):
        a + Curvature.empty(np.zeros((k, WIDTH + 1)))
    with pytest.raises(DifferentKinds):
        a + 0  # type: ignore[operator]


@given(st.data(), SIZES)
def test_slope_and_bend_are_derivatives_of_the_loss(data: st.DataObject, k: int) -> None:
    theta = data.draw(thetas(k))
    table = data.draw(tables(k))
    at = summarizing(theta)(table)
    scale = max(len(table), 1) * 100.0
    for place in range(theta.size):
        step = np.zeros(theta.size)
        step[place] = 1e-5
        step = step.reshape(theta.shape)
        up, down = summarizing(theta + step)(table), summarizing(theta - step)(table)
        slope = (up.loss - down.loss) / 2e-5
        assert at.gradient.ravel()[place] == pytest.approx(slope, abs=1e-6 * scale)
        bend = ((up.gradient - down.gradient) / 2e-5).ravel()
        assert at.hessian is not None
        np.testing.assert_allclose(at.hessian[place], bend, atol=1e-6 * scale)


@given(st.data(), SIZES)
def test_a_bend_is_symmetric_and_nowhere_negative(data: st.DataObject, k: int) -> None:
    theta = data.draw(thetas(k))
    found = summarizing(theta)(data.draw(tables(k))).hessian
    np.testing.assert_allclose(found, found.T, rtol=0, atol=1e-12 * np.abs(found).max(initial=1.0))
    values = np.linalg.eigvalsh(found)
    assert values.min() >= -1e-12 * max(values.max(), 1.0)


@given(st.data(), SIZES, st.booleans())
def test_products_sparse_rows_and_slopes_alone_are_the_same(
    data: st.DataObject, k: int, weighted: bool
) -> None:
    from scipy.sparse import csr_array

    theta, direction = data.draw(thetas(k)), data.draw(thetas(k))
    table = data.draw(tables(k).filter(len))
    rows: NDArray[np.float64] = np.ascontiguousarray(table[:, :-1])
    codes = table[:, -1].astype(np.intp)
    weights = np.random.default_rng(len(table)).uniform(0.1, 3.0, len(table)) if weighted else None
    units = np.array([0.5, -3.0]), np.array([2.0, 0.5])
    dense = LogisticLoss(rows, codes, k, weights, *units)
    thin = SparseLoss(read_sparse(csr_array(rows)), codes, k, weights, *units)  # type: ignore[arg-type]
    at = dense.curvature(theta)
    assert at.hessian is not None
    bent = (at.hessian @ direction.ravel()).reshape(theta.shape)
    close = {"rtol": 1e-9, "atol": 1e-9 * (1.0 + np.abs(at.hessian).max())}
    np.testing.assert_allclose(dense.product(theta, direction), bent, **close)
    np.testing.assert_allclose(thin.product(theta, direction), bent, **close)
    for other in (dense.curvature(theta, False), thin.curvature(theta, False)):
        assert other.hessian is None
        without = Curvature(at.theta, at.weight, at.loss, at.gradient, None, at.margin)
        assert_same(other, without, relative=1e-9, law="slopes alone are the same slopes")
    assert_same(thin.curvature(theta), at, relative=1e-9, law="sparse rows are rows")
    assert thin.reach >= dense.reach * (1.0 - 1e-12)
    design = dense.design(slice(0, len(table)))
    assert dense.reach == pytest.approx(np.square(design).sum(axis=1).max())
