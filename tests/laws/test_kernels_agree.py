"""The compiled loops, their NumPy twins and a plain loop in extended precision say the same."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.kernels import compilation
from suffice.kernels.compilation import part_of
from suffice.kernels.dense import double_double, scatter, scores
from tests.searches import examples
from tests.twins import choices, plain

pytest.importorskip("numba", reason="numba is not installed: there is nothing to compare")

from suffice.errors import ForgettingUnseen
from suffice.families import Gaussian
from suffice.kernels.dense import (
    double_double_numba,
    posteriors_numba,
    scatter_numba,
    scores_numba,
    squares_numba,
)
from suffice.models import GaussianLearner
from suffice.statistics import DiagonalMoments, Moments, PooledMoments
from suffice.statistics.moments import plain_merges
from suffice.statistics.moments.parts import combined

scatter_plain, scores_plain = plain(scatter), plain(scores)

CLOSE = 1e-12
WIDTHS = (0, 1, 2, 3, 5, 20, 32, 33)
LAYOUTS = ("C", "F", "every other row", "backwards", "every other column")

often = examples(30)
"""No deadline: the first call compiles."""


def laid_out(rows, layout):
    """Return the same numbers with other strides."""
    if layout == "F":
        return np.asfortranarray(rows)
    if layout == "every other row":
        return np.repeat(rows, 2, axis=0)[::2]
    if layout == "backwards":
        return np.ascontiguousarray(rows[::-1, ::-1])[::-1, ::-1]
    if layout == "every other column":
        return np.repeat(rows, 2, axis=1)[:, ::2]
    return np.ascontiguousarray(rows)


@st.composite
def classified(draw):
    """Draw rows with classes, weights or none, and centres near the rows."""
    length = draw(st.sampled_from([0, 1, 2, 7, 255, 256, 257, 700]))
    width = draw(st.sampled_from(WIDTHS))
    size = draw(st.sampled_from([1, 2, 3, 40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    offset = draw(st.sampled_from([0.0, 1e3]))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    scales = 10.0 ** rng.integers(-3, 4, width)
    rows = ((rng.normal(size=(length, width)) + offset) * scales).astype(dtype)
    codes = rng.integers(0, size, length)
    weights = rng.uniform(0.1, 5, length) if draw(st.booleans()) else None
    if weights is not None and draw(st.booleans()):
        weights = np.repeat(weights, 3)[::3]
    centres = (rng.normal(size=(size, width)) + offset) * scales
    for array in (rows, codes):
        array.flags.writeable = draw(st.booleans())
    return laid_out(rows, draw(st.sampled_from(LAYOUTS))), codes, size, weights, centres


def plain_sums(rows, codes, size, weights, centres):
    """Return totals, sums and scatters one product at a time, in extended precision."""
    width = rows.shape[1]
    wide = np.longdouble
    totals, sums = np.zeros(size, wide), np.zeros((size, width), wide)
    scatters = np.zeros((size, width, width), wide)
    for i in range(len(rows)):
        code, weight = codes[i], wide(1 if weights is None else weights[i])
        away = rows[i].astype(wide) - centres[code].astype(wide)
        totals[code] += weight
        sums[code] += weight * away
        scatters[code] += weight * np.multiply.outer(away, away)
    return totals, sums, scatters


def assert_sums(found, expected, bound):
    """Compare with a bound that knows each column's size."""
    assert found.dtype == np.float64
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= CLOSE * bound).all()


def bounds_of(totals, scatters):
    """Return what rounding of the sums and of the products is relative to."""
    spread = np.sqrt(np.diagonal(scatters, axis1=-2, axis2=-1))
    return spread * np.sqrt(totals)[:, None], spread[..., :, None] * spread[..., None, :]


@pytest.mark.parametrize("twin", [scatter_plain, scatter_numba])
@often
@given(given_rows=classified())
def test_a_pooled_scatter_is_what_a_plain_loop_adds_up(twin, given_rows):
    totals, sums, scatters = plain_sums(*given_rows)
    sums_bound, _ = bounds_of(totals, scatters)
    pooled = scatters.sum(axis=0)
    _, products_bound = bounds_of(totals[:0], pooled[None])
    found = twin.pooled_scatter(*given_rows)
    assert_sums(found[0], totals, totals)
    assert_sums(found[1], sums, sums_bound)
    assert_sums(found[2], pooled, products_bound[0])
    assert (found[2] == found[2].T).all()


@pytest.mark.parametrize("twin", [scatter_plain, scatter_numba])
@often
@given(given_rows=classified())
def test_class_scatters_are_what_a_plain_loop_adds_up(twin, given_rows):
    totals, sums, scatters = plain_sums(*given_rows)
    sums_bound, products_bound = bounds_of(totals, scatters)
    found = twin.class_scatters(*given_rows)
    assert_sums(found[0], totals, totals)
    assert_sums(found[1], sums, sums_bound)
    assert_sums(found[2], scatters, products_bound)
    assert (found[2] == found[2].transpose(0, 2, 1)).all()


@pytest.mark.parametrize("twin", [scatter_plain, squares_numba])
@often
@given(given_rows=classified(), holes=st.floats(0, 1), seed=st.integers(0, 2**32 - 1))
def test_missing_cells_are_skipped_column_by_column(twin, given_rows, holes, seed):
    rows, codes, size, weights, centres = given_rows
    rows = rows.copy()
    rows[np.random.default_rng(seed).uniform(size=rows.shape) < holes] = np.nan
    found = twin.class_squares(rows, codes, size, weights, centres)
    totals = plain_sums(rows[:, :0], codes, size, weights, centres[:, :0])[0]
    assert_sums(found[0], totals, totals)
    for column in range(rows.shape[1]):
        seen = ~np.isnan(rows[:, column])
        kept = None if weights is None else weights[seen]
        counts, sums, scatters = plain_sums(
            rows[seen][:, [column]], codes[seen], size, kept, centres[:, [column]]
        )
        sums_bound, products_bound = bounds_of(counts, scatters)
        assert_sums(found[1][:, column], counts, totals)
        assert_sums(found[2][:, column], sums[:, 0], sums_bound[:, 0])
        assert_sums(found[3][:, column], scatters[:, 0, 0], products_bound[:, 0, 0])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_with_and_without_missing_cells_take_turns(layout, weighted):
    rng = np.random.default_rng(8)
    length = 4 * squares_numba.BLOCK + 5
    rows, codes = rng.normal(1e3, 1, (length, 3)), rng.integers(0, 2, length)
    for block in (1, 3):
        rows[block * squares_numba.BLOCK + 7, 1] = np.nan
    weights = rng.uniform(0.1, 5, length) if weighted else None
    given_rows = laid_out(rows, layout), codes, 2, weights, np.full((2, 3), 1e3)
    for found, expected in zip(
        squares_numba.class_squares(*given_rows),
        scatter_plain.class_squares(*given_rows),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=1e-9)


@pytest.mark.parametrize("twin", [scatter_plain, squares_numba])
def test_whole_weights_are_counted_exactly(twin):
    rows, weights = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 6.0]]), np.array([2.0, 3.0, 5.0])
    totals, counts, _, _ = twin.class_squares(rows, np.array([0, 0, 1]), 2, weights, rows[1:])
    assert (totals == [5, 5]).all()
    assert (counts == [[5, 3], [5, 5]]).all()


def test_an_infinite_cell_among_missing_ones_still_shows():
    rows, codes = np.ones((3 * squares_numba.BLOCK, 3)), np.arange(3 * squares_numba.BLOCK) % 2
    rows[10, 0], rows[12, 1] = np.nan, np.inf
    for twin in (scatter_plain, squares_numba):
        _, counts, sums, squares = twin.class_squares(rows, codes, 2, None, np.zeros((2, 3)))
        assert counts[0, 0] == len(rows) / 2 - 1
        assert np.isinf(sums[0, 1])
        assert np.isinf(squares[0, 1])
        assert np.isfinite(sums).sum() == 5


@pytest.mark.parametrize("twin", [scatter_plain, scatter_numba])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_cell_that_is_not_finite_shows_in_the_sums(twin, bad):
    rows, codes, centres = np.ones((600, 5)), np.arange(600) % 3, np.zeros((3, 5))
    rows[301, 2] = bad
    code = codes[301]
    _, sums, pooled = twin.pooled_scatter(rows, codes, 3, None, centres)
    assert not np.isfinite(sums[code, 2])
    assert not np.isfinite(pooled[2, 2])
    _, sums, scatters = twin.class_scatters(rows, codes, 3, None, centres)
    assert not np.isfinite(scatters[code, 2, 2])
    others = np.arange(3) != code
    assert np.isfinite(sums[others]).all()
    assert np.isfinite(scatters[others]).all()
    if np.isinf(bad):
        by_column = twin if twin is scatter_plain else squares_numba
        _, _, sums, squares = by_column.class_squares(rows, codes, 3, None, centres)
        assert not np.isfinite(sums[code, 2])
        assert not np.isfinite(squares[code, 2])
        assert np.isfinite(squares[others]).all()


@often
@given(given_rows=classified(), step=st.sampled_from([1, 3, 50]), holes=st.sampled_from([0, 0.3]))
def test_centres_are_means_of_the_sample_or_rows(given_rows, step, holes):
    rows, codes, size, _, _ = given_rows
    if len(rows) == 0:
        return
    rows = rows.copy()
    rng = np.random.default_rng(len(rows))
    for bad in (np.nan, np.inf):
        rows[rng.uniform(size=rows.shape) < holes / 2] = bad
    sampled = np.arange(0, len(rows), step)
    found = scatter_numba.sampled_centres(rows, codes, size, step)
    twin = scatter_plain.sampled_centres(rows, codes, size, step)
    for code in np.unique(codes):
        own = rows[sampled][codes[sampled] == code].astype(np.longdouble)
        own = own if len(own) else rows[codes == code][:1].astype(np.longdouble)
        seen = np.isfinite(own)
        total = np.where(seen, own, 0).sum(axis=0)
        expected = total / np.maximum(seen.sum(axis=0), 1)
        bound = CLOSE * np.abs(np.where(seen, own, 0)).max(axis=0)
        assert (np.abs(found[code] - expected) <= bound).all()
        assert (np.abs(twin[code] - expected) <= bound).all()


@pytest.mark.parametrize("twin", [scatter_plain, scatter_numba])
def test_a_column_that_never_moves_is_centred_exactly(twin):
    rows = np.full((1000, 2), 0.1)
    assert (twin.sampled_centres(rows, np.arange(1000) % 3, 3, 7) == 0.1).all()


@st.composite
def scored(draw):
    """Draw rows, an origin among them, and what a few classes think of them."""
    rows, _, _, _, centres = draw(classified())
    width = rows.shape[1]
    size = draw(st.sampled_from([1, 2, 3, 10]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rows, centres[0], size, width, rng


@pytest.mark.parametrize("twin", [scores_plain, scores_numba])
@often
@given(case=scored())
def test_linear_scores_are_inner_products(twin, case):
    rows, origin, size, width, rng = case
    weights, intercepts = rng.normal(size=(size, width)), rng.normal(size=size)
    away = rows.astype(np.longdouble) - origin.astype(np.longdouble)
    expected = away @ weights.T.astype(np.longdouble) + intercepts
    bound = np.abs(away) @ np.abs(weights.T) + np.abs(intercepts)
    found = np.full((len(rows), 2 * size), 7.0)
    twin.linear_scores(rows, origin, weights, intercepts, found[:, ::2])
    assert (np.abs(found[:, ::2] - expected) <= CLOSE * bound).all()
    assert (found[:, 1::2] == 7).all()


@pytest.mark.parametrize("twin", [scores_plain, scores_numba])
@often
@given(case=scored())
def test_quadratic_scores_are_squared_distances(twin, case):
    rows, origin, size, width, rng = case
    scales = np.maximum(np.abs(rows.astype(np.float64)).max(axis=0, initial=0.0), 1e-3)
    whitenings = np.tril(rng.normal(size=(size, width, width))) / scales
    shifts, constants = rng.normal(size=(size, width)), rng.normal(size=size)
    away = rows.astype(np.longdouble) - origin.astype(np.longdouble)
    found = np.empty((len(rows), size))
    twin.quadratic_scores(rows, origin, whitenings, shifts, constants, found)
    for code in range(size):
        white = away @ whitenings[code].T.astype(np.longdouble) - shifts[code]
        expected = constants[code] - np.square(white).sum(axis=1) / 2
        reach = np.abs(away) @ np.abs(whitenings[code].T) + np.abs(shifts[code])
        bound = np.square(reach).sum(axis=1) + np.abs(constants[code])
        assert (np.abs(found[:, code] - expected) <= CLOSE * bound).all()


@pytest.mark.parametrize("twin", [scores_plain, scores_numba])
@pytest.mark.parametrize("shared", [False, True])
@often
@given(case=scored())
def test_diagonal_scores_are_sums_of_squares(twin, shared, case):
    rows, origin, size, width, rng = case
    reach = np.maximum(np.abs(rows.astype(np.float64)).max(axis=0, initial=0.0), 1e-3)
    scales = rng.uniform(0.1, 10, (1 if shared else size, width)) / reach
    shifts, constants = rng.normal(size=(size, width)), rng.normal(size=size)
    away = rows.astype(np.longdouble) - origin.astype(np.longdouble)
    found = np.full((len(rows), 2 * size), 7.0)
    twin.diagonal_scores(rows, origin, scales, shifts, constants, found[:, ::2])
    assert (found[:, 1::2] == 7).all()
    for code in range(size):
        factors = scales[0 if shared else code]
        white = away * factors.astype(np.longdouble) - shifts[code]
        expected = constants[code] - np.square(white).sum(axis=1) / 2
        parts = np.abs(away) * factors + np.abs(shifts[code])
        bound = np.square(parts).sum(axis=1) + np.abs(constants[code])
        assert (np.abs(found[:, 2 * code] - expected) <= CLOSE * bound).all()


@pytest.mark.parametrize("twin", [scores_plain, scores_numba])
@often
@given(case=scored())
def test_diagonal_odds_are_curved_sums(twin, case):
    rows, origin, _, width, rng = case
    curves, slopes = rng.normal(size=(2, width))
    away = rows.astype(np.longdouble) - origin.astype(np.longdouble)
    expected = (away * (away * curves + slopes)).sum(axis=1) + 0.5
    bound = (np.abs(away) * (np.abs(away * curves) + np.abs(slopes))).sum(axis=1) + 1
    found = np.full((len(rows), 2), 7.0)
    twin.diagonal_odds(rows, origin, curves, slopes, 0.5, found[:, 1])
    assert (np.abs(found[:, 1] - expected) <= CLOSE * bound).all()
    assert (found[:, 0] == 7).all()


def test_a_narrow_class_keeps_its_digits():
    # 1e6 deviations from the origin, and right on the mean of the second class.
    rows, origin = np.array([[3.0], [3.0 + 1e-6]]), np.zeros(1)
    scales, shifts = np.array([[1.0], [1e6]]), np.array([[0.0], [3e6]])
    for twin in (scores_plain, scores_numba):
        found = np.empty((2, 2))
        twin.diagonal_scores(rows, origin, scales, shifts, np.zeros(2), found)
        np.testing.assert_allclose(found[:, 1], [0.0, -0.5], atol=1e-8)


@pytest.mark.parametrize("twin", [scores_plain, posteriors_numba])
@often
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1, 2, 3, 10]))
def test_the_winner_is_the_first_of_the_best(twin, seed, size):
    rng = np.random.default_rng(seed)
    table = rng.integers(-2, 3, (300, 2 * size))[:, ::2].astype(np.float64)  # with many ties
    for bad in (np.nan, np.inf, -np.inf):
        table[rng.integers(0, 300, 9), rng.integers(0, size, 9)] = bad
    codes, hard = np.full(300, 7), np.zeros(600, dtype=bool)
    twin.winners(table, codes, hard[::2])
    assert (hard[::2] == ~np.isfinite(table).all(axis=1)).all()
    assert (hard[1::2] == False).all()  # noqa: E712
    easy = ~hard[::2]
    best = table.argmax(axis=1) if size > 1 else table[:, 0] > 0
    assert (codes[easy] == best[easy]).all()


@often
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 13), steps=st.sampled_from([1, 50]))
def test_the_winner_of_many_rows_is_the_first_of_the_best(seed, size, steps):
    rng = np.random.default_rng(seed)
    table = rng.integers(-steps, steps, (scores.MANY_ROWS + seed % 9000, size)).astype(np.float64)
    for spoiled in (False, True):
        if spoiled:
            table[seed % len(table), seed % size] = rng.choice([np.nan, np.inf, -np.inf])
        codes = np.full(len(table), 7)
        with np.errstate(invalid="ignore"):
            scores.best_columns(table, codes, float(table.sum()))
        assert (codes == table.argmax(axis=1)).all()


@pytest.mark.parametrize("twin", [scores_plain, posteriors_numba])
@often
@given(odds=st.lists(st.floats(-1e300, 1e300), max_size=40))
def test_both_tails_of_a_posterior_keep_their_digits(twin, odds):
    log_odds = np.array([*odds, np.inf, -np.inf, 0.0, 800.0, -800.0])
    plain, logs = np.empty((len(log_odds), 2)), np.empty((len(log_odds), 2))
    twin.binary_posterior(log_odds, plain)
    twin.binary_log_posterior(log_odds, logs)
    with np.errstate(all="ignore"):
        wide = log_odds.astype(np.longdouble)
        likely = -np.log1p(np.exp(-np.abs(wide)))
        expected = np.stack([likely - np.maximum(wide, 0), likely + np.minimum(wide, 0)], axis=1)
        np.testing.assert_allclose(logs, expected.astype(np.float64), rtol=CLOSE)
        np.testing.assert_allclose(
            plain, np.exp(expected).astype(np.float64), rtol=CLOSE, atol=1e-300
        )


@pytest.mark.parametrize("twin", [scores_plain, posteriors_numba])
def test_log_odds_may_lie_where_the_second_posterior_goes(twin):
    odds = np.linspace(-40, 40, 301)
    for posterior in (twin.binary_posterior, twin.binary_log_posterior):
        apart, in_place = np.empty((301, 2)), np.empty((301, 2))
        posterior(odds, apart)
        in_place[:, 1] = odds
        posterior(in_place[:, 1], in_place)
        assert (in_place == apart).all()


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("twin", [scores_plain, posteriors_numba])
@often
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1, 2, 3, 10]))
def test_softmax_gives_shares_of_one(twin, log, seed, size):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(50, size)) * 10.0 ** rng.integers(-2, 5, (50, 1))
    wide = table.astype(np.longdouble)
    expected = wide - wide.max(axis=1, keepdims=True)
    expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
    twin.softmax(table, log)
    expected = expected if log else np.exp(expected)
    np.testing.assert_allclose(table, expected.astype(np.float64), rtol=CLOSE, atol=1e-15)


@pytest.mark.parametrize("twin", [scores_plain, posteriors_numba])
def test_infinite_scores_have_a_limit(twin):
    table = np.array([[np.inf, np.inf, 0], [-np.inf, -np.inf, -np.inf], [-np.inf, 3, -np.inf]])
    twin.softmax(table, False)
    np.testing.assert_allclose(table, [[0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1, 0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("twin", [scores_plain, scores_numba])
def test_no_row_spoils_another_where_columns_are_independent(twin, bad):
    rng = np.random.default_rng(6)
    clean, scales, shifts = rng.normal(size=(150, 5)), *rng.normal(size=(2, 3, 5))
    spoiled, kept = clean.copy(), np.arange(150) != 77
    spoiled[77, 2] = bad
    one, other = np.empty((150, 3)), np.empty((150, 3))
    twin.diagonal_scores(clean, np.zeros(5), scales, shifts, np.ones(3), one)
    twin.diagonal_scores(spoiled, np.zeros(5), scales, shifts, np.ones(3), other)
    assert (one[kept] == other[kept]).all()
    assert not np.isfinite(other[77]).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("twin", [scores_plain, scores_numba])
def test_no_row_spoils_another(twin, bad):
    rng = np.random.default_rng(5)
    rows, origin, size = rng.normal(size=(600, 6)), np.zeros(6), 3
    whitenings, shifts = np.tril(rng.normal(size=(size, 6, 6))), rng.normal(size=(size, 6))
    clean, spoiled = rows, rows.copy()
    spoiled[77] = bad
    kept = np.arange(600) != 77
    for many in (1, size):
        results = []
        for given_rows in (clean, spoiled):
            linear, quadratic = np.empty((600, many)), np.empty((600, many))
            twin.linear_scores(given_rows, origin, shifts[:many], np.ones(many), linear)
            twin.quadratic_scores(
                given_rows, origin, whitenings[:many], shifts[:many], np.ones(many), quadratic
            )
            results.append((linear, quadratic))
        for one, other in zip(*results, strict=True):
            assert (one[kept] == other[kept]).all()
            assert not np.isfinite(other[77]).any()


def test_the_choice_of_twin_depends_on_the_whole_input_only(monkeypatch):
    chosen = choices(monkeypatch, {squares_numba: ("class_squares",)})
    rows, codes, centres = np.ones((1000, 2)), np.zeros(1000, int), np.zeros((1, 2))

    def call():
        scatter.class_squares(rows, codes, 1, None, centres)

    assert chosen(call) == [None]
    with compilation.part_of(compilation.WORTH_COMPILING):
        assert chosen(call) == [squares_numba]
        with compilation.part_of(10):
            assert chosen(call) == [squares_numba]
    assert chosen(call) == [None]


@pytest.mark.parametrize("apart", [1.0, 1e4])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("form", ["diagonal", "shared-diagonal", "per-class"])
def test_classes_and_posteriors_are_those_of_the_scores(form, size, apart):
    rng = np.random.default_rng(9)
    labels = np.arange(400) % size
    rows = rng.normal(size=(400, 3)) * [1, 2, 30] + labels[:, None] * apart
    learner = GaussianLearner(Gaussian(form))
    model = learner.estimate(learner.summarize(rows, labels, list(range(size))))
    asked = rng.normal(size=(500, 3)) * [2, 3, 40] + rng.integers(0, size, (500, 1)) * apart
    asked[::50, 1] = np.nan
    asked[7] = 1e200
    logs = model.densities.scores(asked, model.log_priors)
    expected = logs - logs.max(axis=1, keepdims=True)
    expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
    for cells in (0, compilation.WORTH_COMPILING):
        with compilation.part_of(cells):
            assert (model.codes(asked) == logs.argmax(axis=1)).all()
            bound = 1e-12 * np.maximum(1, np.abs(logs).max(axis=1, keepdims=True))
            for found, wanted in (
                (model.posterior(asked, log=True), expected),
                (model.posterior(asked), np.exp(expected)),
                (model.densities.scores(asked, model.log_priors), logs),
            ):
                with np.errstate(invalid="ignore"):
                    assert ((np.abs(found - wanted) <= bound) | (found == wanted)).all()


def test_wide_rows_are_left_to_blas(monkeypatch):
    chosen = choices(monkeypatch, {scatter_numba: ("pooled_scatter", "class_scatters")})
    for more, expected in ((0, scatter_numba), (1, None)):
        rows, codes = np.ones((2, scatter.WIDEST + more)), np.zeros(2, int)
        with compilation.part_of(compilation.WORTH_COMPILING):
            assert (
                chosen(
                    lambda: scatter.pooled_scatter(rows, codes, 1, None, rows[:1]),  # noqa: B023
                    lambda: scatter.class_scatters(rows, codes, 1, None, rows[:1]),  # noqa: B023
                )
                == [expected, expected]
            )


@pytest.mark.process
def test_a_cache_that_cannot_be_written_costs_time_only():
    # Below a file there can be no folder, not even for an administrator.
    script = """
import numpy as np
from suffice.kernels.dense import posteriors_numba
scores, out = np.zeros(3), np.empty((3, 2))
posteriors_numba.binary_posterior(scores, out)
assert (out == 0.5).all()
"""
    unwritable = {"NUMBA_CACHE_DIR": os.path.join(__file__, "cache")}  # noqa: PTH118
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        check=True,
        timeout=60,
        env={**os.environ, **unwritable, **path},
    )


def test_cells_that_lie_askew_are_left_to_numpy():
    rows = np.frombuffer(bytearray(8 * 12 + 1), np.uint8)[1:].view(np.float64).reshape(6, 2)
    codes, centres = np.zeros(6, int), np.ones((1, 2))
    with compilation.part_of(compilation.WORTH_COMPILING):
        totals, _, pooled = scatter.pooled_scatter(rows, codes, 1, None, centres)
    assert (totals == 6).all()
    assert (pooled == 6).all()


def test_scores_are_the_same_whichever_twin_is_chosen():
    rng = np.random.default_rng(1)
    rows, origin, weights = rng.normal(size=(300, 8)), np.zeros(8), rng.normal(size=(2, 8))
    results = []
    for cells in (0, compilation.WORTH_COMPILING):
        linear, quadratic, diagonal = np.empty((3, 300, 2))
        codes, hard = np.empty(300, np.intp), np.empty(300, bool)
        plain, logs = np.empty((300, 2)), np.empty((300, 2))
        with compilation.part_of(cells):
            scores.linear_scores(rows, origin, weights, np.zeros(2), linear)
            whitenings = np.stack([np.eye(8)] * 2)
            scores.quadratic_scores(rows, origin, whitenings, weights, np.zeros(2), quadratic)
            scores.diagonal_scores(rows, origin, np.ones((1, 8)), weights, np.zeros(2), diagonal)
            scores.winners(diagonal, codes, hard)
            scores.binary_posterior(linear[:, 0], plain)
            scores.binary_log_posterior(linear[:, 0], logs)
            scores.softmax(quadratic, True)
        results.append((linear, quadratic, diagonal, codes, hard, plain, logs))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=CLOSE, atol=1e-13)


@st.composite
def streams_of_batches(draw):
    """Draw batches of few and of many rows, to be merged, scaled and taken back."""
    kind = draw(st.sampled_from([Moments, DiagonalMoments, PooledMoments]))
    width, size = draw(st.sampled_from([0, 1, 2, 3, 7])), draw(st.sampled_from([1, 2, 3, 9, 33]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = 10.0 ** draw(st.sampled_from([-160, -6, 0, 3, 150]))
    parts = []
    for _ in range(draw(st.integers(2, 7))):
        length = draw(st.sampled_from([1, 1, 2, 5, 10, 31, 32, 33, 60, 300]))
        rows = rng.normal(size=(length, width)) * scale + draw(st.sampled_from([0.0, 1e8])) * scale
        if width and draw(st.integers(0, 3)) == 0:
            rows[:, 0] = rng.choice([0.0, scale], length)
        if kind is DiagonalMoments and draw(st.integers(0, 3)) == 0:
            rows[rng.random(rows.shape) < 0.2] = np.nan
        rows = laid_out(rows, draw(st.sampled_from(LAYOUTS)))
        weights = rng.choice([1e-3, 0.1, 0.7, 3.0], length) if draw(st.booleans()) else None
        parts.append((rows, rng.integers(0, size, length), weights))
    return kind, size, parts, draw(st.sampled_from([1.0, 0.9])), draw(st.integers(0, 3))


def streamed(kind, size, parts, factor, gone):
    """Return every state on the way, as arrays."""
    made = []
    for rows, codes, weights in parts:
        if kind is PooledMoments:
            made.append(kind.of_classes(rows, codes, list(range(size)), weights))
        else:
            made.append(kind.of(rows, weights))
    states, state = list(made), made[0]
    for part in made[1:]:
        state = state + part
        states.append(state)
    try:
        for part in made[:gone]:
            state = state - part
            states.append(state)
    except ForgettingUnseen as refused:
        return [each.to_arrays() for each in states], str(refused)
    return [each.to_arrays() for each in [*states, state.scaled(factor)]], None


@often
@given(stream=streams_of_batches())
def test_merges_and_subtractions_are_the_same_to_the_last_bit_when_compiled(stream):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(double_double, "WORTH_COMPILING", np.inf)
        plain, refused = streamed(*stream)
        patch.setattr(double_double, "WORTH_COMPILING", 0)
        fast, also = streamed(*stream)
    assert refused == also
    assert len(plain) == len(fast)
    for one, other in zip(plain, fast, strict=True):
        assert one.keys() == other.keys()
        for name, part in one.items():
            np.testing.assert_array_equal(part, other[name], err_msg=name)


def test_compiled_merges_are_used_once_there_is_enough_to_do(monkeypatch):
    monkeypatch.setattr(double_double, "_operations", 0)
    monkeypatch.setattr(double_double, "WORTH_COMPILING", 3)
    found = [double_double.compiled_twin() for _ in range(5)]
    assert found == [None] * 3 + [double_double_numba] * 2
    rows = np.random.default_rng(0).normal(size=(40, 3))
    codes = np.arange(40) % 3
    pooled = [PooledMoments.of_classes(rows[i : i + 10], codes[i : i + 10], [0, 1, 2], None)
              for i in range(0, 40, 10)]  # fmt: skip
    held = pooled[0] + pooled[1] + pooled[2]
    ours, theirs = held._spread(held.labels), pooled[3]._spread(held.labels)
    assert combined(1.0, ours, theirs, held, pooled[3]) is not None
    ours, theirs = (held + pooled[3])._spread(held.labels), pooled[0]._spread(held.labels)
    assert combined(-1.0, ours, theirs, held + pooled[3], pooled[0]) is not None
    several = DiagonalMoments.of(rows) + DiagonalMoments.of(rows[:5])
    assert several._combined(DiagonalMoments.of(rows[5:9]), 1.0) is not None
    assert several._combined(DiagonalMoments.of(rows[:5]), -1.0) is not None


@pytest.mark.slow
def test_parts_of_a_large_fit_are_merged_by_a_compiled_loop(monkeypatch):
    monkeypatch.setattr(double_double, "WORTH_COMPILING", np.inf)
    rng = np.random.default_rng(1)
    rows, codes = rng.normal(size=(400, 4)), np.arange(400) % 3
    calls = []
    loop = plain_merges._loop
    monkeypatch.setattr(plain_merges, "_loop", lambda name: calls.append(name) or loop(name))
    for kind in (Moments, DiagonalMoments):
        plain = kind.of(rows[:200]) + kind.of(rows[200:])
        assert not calls
        with part_of(10**7):
            fast = kind.of(rows[:200]) + kind.of(rows[200:])
        assert len(calls) == 1
        calls.clear()
        assert plain.scatter_low is None
        assert fast.scatter_low is None
    pooled = [PooledMoments.of_classes(rows[i : i + 200], codes[i : i + 200], [0, 1, 2])
              for i in (0, 200)]  # fmt: skip
    with part_of(10**7):
        assert plain_merges.pooled_merged_quickly(*pooled) is not None
