"""Softmax regression row by row: the rule, streams, and how near one pass comes to the optimum."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from suffice.errors import NotFinite
from suffice.kernels.online.rules import ascend
from suffice.models.linear.online.seen_rows import SeenRows
from suffice.models.linear.online.stochastic import Stochastic
from suffice.rows import read_sparse

AB = ("a", "b")


def generated(size, width, classes=2, seed=0, strength=2.0, correlation=0.0):
    """Return rows of a known softmax model: columns with mean 0 and deviation 1, and codes."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(size, width))
    for j in range(1, width):
        rows[:, j] = correlation * rows[:, j - 1] + np.sqrt(1 - correlation**2) * rows[:, j]
    truth = strength * rng.normal(size=(classes, width)) / np.sqrt(width)
    scores = rows @ truth.T + rng.normal(size=classes) + rng.gumbel(size=(size, classes))
    return rows, scores.argmax(axis=1)


def loss(form, rows, codes):
    """Return the mean of -log p(y | x)."""
    return -form.log_posterior(rows)[np.arange(len(codes)), codes].mean()


def least_loss(rows, codes, weights=None):
    """Return the least mean loss there is, by Newton's method."""
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10, max_iter=500)
    log_p = model.fit(rows, codes, weights).predict_log_proba(rows)
    return -np.average(log_p[np.arange(len(codes)), codes], weights=weights)


def in_batches(rows, codes, labels, size, weights=None):
    state = Stochastic.start(rows.shape[1])
    for start in range(0, len(codes), size):
        some = slice(start, start + size)
        own = None if weights is None else weights[some]
        state = state.learn(rows[some], codes[some], labels, own)
    return state


def sparse_of(rows):
    return read_sparse(csr_array(rows))


# The rule


def test_two_rows_by_hand():
    # x = 2 of class 1, then x = -1 of class 0, with α = ½, from θ = (0, 0).
    rows, codes = np.array([[2.0], [-1.0]]), np.array([1, 0])
    theta, mean = np.zeros((1, 2)), np.zeros((1, 2))
    ascend(
        rows, np.zeros(1), np.ones(1), np.array([0, 1]), codes,
        np.full(2, 0.5), np.array([1.0, 0.5]), 100.0, theta, mean,
    )  # fmt: skip
    first = np.array([0.25, 0.5])  # ½ (1 - ½)(1, 2)
    h = 1 / (1 + math.exp(-(0.25 - 0.5)))
    second = first + 0.5 * (0 - h) * np.array([1.0, -1.0])
    np.testing.assert_allclose(theta[0], second, rtol=1e-15)
    np.testing.assert_allclose(mean[0], (first + second) / 2, rtol=1e-15)


def test_the_first_steps_of_a_stream_by_hand():
    # Both rows together have mean 0 and deviation 1: nothing is standardised. ‖(1, x)‖² is 2 for
    # both, so the first step is 2/2; the next one is shorter by (1 + 1/32)^-0.6.
    rows, codes = np.array([[1.0], [-1.0]]), np.array([1, 0])
    state = Stochastic.start(1).learn(rows, codes, AB)
    first = 0.5 * np.array([1.0, 1.0])
    h = 0.5  # the score of x = -1 is ½ - ½
    alpha = (1 + 1 / 32) ** -0.6
    second = first - alpha * h * np.array([1.0, -1.0])
    np.testing.assert_allclose(state.theta[0], second, rtol=1e-14)
    # Shares 4/(t + 3): the first is all there is, the second has weight 4/5.
    np.testing.assert_allclose(state.mean[0], first + 0.8 * (second - first), rtol=1e-14)


# Batches


@given(
    cuts=st.lists(st.integers(0, 300), max_size=5),
    classes=st.sampled_from([2, 4]),
    sparse=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_batches_make_no_difference_once_the_columns_are_known(
    cuts, classes, sparse, weighted, seed
):
    rows, codes = generated(300, 3, classes, seed)
    rows[np.random.default_rng(seed).uniform(size=rows.shape) < 0.3] = 0.0
    weights = np.random.default_rng(seed).uniform(0, 3, 300) if weighted else None
    held = sparse_of(rows) if sparse else rows
    labels = tuple(range(classes))
    known = Stochastic.start(3).observe(held, codes, labels, weights)
    whole = known.visit(held, codes, labels, weights)
    state = known
    edges = [0, *sorted(cuts), 300]
    for start, stop in pairwise(edges):
        own = None if weights is None else weights[start:stop]
        state = state.visit(held[start:stop], codes[start:stop], labels, own)
    np.testing.assert_allclose(state.theta, whole.theta, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.mean, whole.mean, rtol=1e-9, atol=1e-12)
    assert (state.time, state.steps) == (pytest.approx(whole.time), whole.steps)


@pytest.mark.parametrize("batch", [7, 100, 1000])
@pytest.mark.parametrize("classes", [2, 3])
def test_columns_that_become_known_on_the_way_make_little_difference(batch, classes):
    rows, codes = generated(10_000, 5, classes, seed=3)
    labels = tuple(range(classes))
    whole = Stochastic.start(5).learn(rows, codes, labels)
    parts = in_batches(rows, codes, labels, batch)
    assert abs(loss(parts.form(), rows, codes) / loss(whole.form(), rows, codes) - 1) < 1e-3


def test_a_stream_of_single_rows_learns_as_well():
    rows, codes = generated(4000, 4, seed=5)
    rows = rows * [1e5, 1.0, 1e-5, 1.0] + [1e6, 0.0, 0.0, -3.0]
    whole = Stochastic.start(4).learn(rows, codes, AB)
    single = in_batches(rows, codes, AB, 1)
    assert loss(single.form(), rows, codes) < 1.01 * loss(whole.form(), rows, codes)


def test_learning_leaves_the_state_it_began_with_as_it_was():
    rows, codes = generated(100, 3)
    before = Stochastic.start(3).learn(rows, codes, AB)
    theta, mean = before.theta.copy(), before.mean.copy()
    before.learn(rows + 5, codes, AB)
    np.testing.assert_array_equal(before.theta, theta)
    np.testing.assert_array_equal(before.mean, mean)


# How near one pass comes


@pytest.mark.parametrize(
    ("width", "classes", "strength", "correlation"),
    [(5, 2, 1.0, 0.0), (20, 2, 3.0, 0.9), (20, 5, 2.0, 0.0), (100, 2, 2.0, 0.0)],
)
def test_one_pass_over_many_rows_ends_within_a_percent_of_the_optimum(
    width, classes, strength, correlation
):
    rows, codes = generated(100_000, width, classes, 1, strength, correlation)
    best = least_loss(rows, codes)
    state = in_batches(rows, codes, tuple(range(classes)), 1000)
    assert best < loss(state.form(), rows, codes) < 1.01 * best


def test_sparse_rows_come_as_near():
    rng = np.random.default_rng(2)
    rows = rng.poisson(0.3, size=(50_000, 30)) * rng.uniform(0.1, 100, 30)
    truth = rng.normal(size=30) / rows.std(axis=0)
    odds = (rows - rows.mean(axis=0)) @ truth
    codes = (rng.uniform(size=50_000) < 1 / (1 + np.exp(-odds))).astype(np.intp)
    state = in_batches(sparse_of(rows), codes, AB, 5000)
    assert loss(state.form(), rows, codes) < 1.02 * least_loss(rows / rows.std(axis=0), codes)
    np.testing.assert_allclose(
        state.form().log_posterior(sparse_of(rows[:50])),
        state.form().log_posterior(rows[:50]),
        rtol=1e-9,
    )


@pytest.mark.parametrize("batch", [100, 20_000])
def test_badly_scaled_columns_do_as_well(batch):
    rows, codes = generated(20_000, 6, 3, seed=4)
    units = np.array([1e6, 1e-6, 1.0, 1e-100, 1e100, 1.0])
    offsets = np.array([0.0, 0.0, 1e6, 0.0, 0.0, -1e6])
    odd = rows * units + offsets
    labels = tuple(range(3))
    plain = in_batches(rows, codes, labels, batch).form().log_posterior(rows)
    found = in_batches(odd, codes, labels, batch).form().log_posterior(odd)
    np.testing.assert_allclose(found, plain, rtol=1e-6, atol=1e-6)


def test_many_passes_come_to_the_maximum_of_the_likelihood():
    rows, codes = generated(300, 3, 3, seed=7)
    state = Stochastic.start(3).epochs(
        rows, codes, (0, 1, 2), n_epochs=300, rng=np.random.default_rng(0)
    )
    assert loss(state.form(), rows, codes) < (1 + 1e-5) * least_loss(rows, codes)


def test_weights_count_rows_and_their_unit_does_not_matter():
    rows, codes = generated(5000, 4, seed=8)
    weights = np.random.default_rng(0).integers(0, 4, 5000).astype(float)
    found = Stochastic.start(4).learn(rows, codes, AB, weights)
    tiny = Stochastic.start(4).learn(rows, codes, AB, weights * 1e-9)
    np.testing.assert_allclose(found.mean, tiny.mean, rtol=1e-9)
    repeated = np.repeat(np.arange(5000), weights.astype(int))
    again = Stochastic.start(4).learn(rows[repeated], codes[repeated], AB)
    ours, theirs = (loss(s.form(), rows[repeated], codes[repeated]) for s in (found, again))
    best = least_loss(rows, codes, weights)
    assert max(ours, theirs) < 1.005 * best


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("penalty", [30.0, 3000.0])
def test_a_penalty_pulls_slopes_in_units_of_their_columns(classes, sparse, penalty):
    rows, codes = generated(1000, 4, classes, seed=9)
    rows[np.random.default_rng(0).uniform(size=rows.shape) < 0.5] = 0.0
    rows *= [1e3, 1.0, 1e-3, 1.0]
    held = sparse_of(rows) if sparse else rows
    state = Stochastic.start(4).epochs(held, codes, tuple(range(classes)), None, penalty,
                                       n_epochs=40, rng=np.random.default_rng(0))  # fmt: skip
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    peer = LogisticRegression(C=1 / penalty, solver="newton-cholesky", tol=1e-10)
    peer.fit(standard, codes)
    weights = state.form().weights
    slopes = (weights[1:] - weights[:1] if classes == 2 else weights) * rows.std(axis=0)
    np.testing.assert_allclose(slopes, peer.coef_, atol=0.02 * np.abs(peer.coef_).max())


# What changes on the way


@given(seed=st.integers(0, 2**32 - 1), classes=st.sampled_from([2, 3]), sparse=st.booleans())
def test_a_look_at_other_rows_leaves_every_score_as_it_was(seed, classes, sparse):
    rng = np.random.default_rng(seed)
    rows, codes = generated(60, 3, classes, seed)
    labels = tuple(range(classes))
    held = sparse_of(rows) if sparse else rows
    state = Stochastic.start(3).learn(held, codes, labels)
    others = rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-3, 4, 3)
    others += 0.0 if sparse else 10.0 ** rng.integers(-3, 4, 3)
    after = state.observe(
        sparse_of(others) if sparse else others, rng.integers(0, classes, 20), labels
    )
    assert after.seen.size == 80
    scale = np.abs(state.form().scores(rows)).max()
    np.testing.assert_allclose(
        after.form().scores(rows), state.form().scores(rows), atol=1e-9 * scale
    )


@pytest.mark.parametrize("known", [("a", "b"), ("a", "c"), ("a", "b", "d")])
def test_a_new_label_starts_with_its_share_and_leaves_the_odds_of_the_others(known):
    rows, codes = generated(3000, 3, len(known), seed=1)
    state = Stochastic.start(3).learn(rows, codes, known)
    new = "b" if "b" not in known else "c"
    after = state.observe(rows[:50], np.zeros(50, dtype=np.intp), (new,))
    assert after.labels == tuple(sorted({*known, new}))
    before, now = state.form().scores(rows[:9]), after.form().scores(rows[:9])
    places = [after.labels.index(label) for label in known]
    odds = now[:, places] - now[:, places[:1]]
    np.testing.assert_allclose(odds, before - before[:, :1], atol=1e-10)
    at_mean = np.exp(after.form().log_posterior(after.seen.scale.origin[np.newaxis]))[0]
    assert 0.2 * 50 / 3050 < at_mean[after.labels.index(new)] < 5 * 50 / 3050


def test_a_label_that_comes_late_is_learned():
    rows, codes = generated(20_000, 4, 3, seed=2)
    early = codes[:10_000] < 2
    state = Stochastic.start(4).learn(rows[:10_000][early], codes[:10_000][early], (0, 1, 2))
    assert state.labels == (0, 1, 2)
    state = Stochastic.start(4).learn(rows[:10_000][early], codes[:10_000][early], (0, 1))
    state = state.learn(rows[10_000:], codes[10_000:], (0, 1, 2))
    # Two thirds of the rows have no class 2, so the maximum is not that of the second half alone.
    seen = np.concatenate([rows[:10_000][early], rows[10_000:]])
    labels = np.concatenate([codes[:10_000][early], codes[10_000:]])
    assert loss(state.form(), seen, labels) < 1.1 * least_loss(seen, labels)


def test_one_class_alone_has_nothing_to_learn_yet():
    rows, codes = generated(50, 2)
    one = Stochastic.start(2).learn(rows, np.zeros(50, dtype=np.intp), ("a",))
    assert one.steps == 0
    np.testing.assert_array_equal(one.form().log_posterior(rows), np.zeros((50, 1)))
    both = one.learn(rows, codes, AB)
    assert both.labels == AB
    assert both.steps == 50


@pytest.mark.parametrize("place", [0, 1, 500])
def test_a_row_that_lies_far_out_does_no_lasting_harm(place):
    rows, codes = generated(20_000, 3, seed=6)
    usual = np.arange(20_000) != place
    rows[place] = 1e9
    state = in_batches(rows, codes, AB, 100)
    assert np.isfinite(state.theta).all()
    # The scale of the columns is spoiled for good; the boundary is not.
    plain = in_batches(rows[usual], codes[usual], AB, 100)
    assert np.isfinite(loss(state.form(), rows, codes))
    chance = np.log(2)
    assert loss(plain.form(), rows[usual], codes[usual]) < chance
    assert loss(state.form(), rows[usual], codes[usual]) < 1.01 * chance


def test_constant_columns_have_no_weight_until_they_vary():
    rows, codes = generated(400, 2, seed=1)
    still = rows.copy()
    still[:, 1] = 0.1
    state = Stochastic.start(2).learn(still, codes, AB)
    assert state.form().weights[1, 1] == 0.0
    state = state.learn(rows, codes, AB)
    assert state.form().weights[1, 1] != 0.0


def test_dense_and_sparse_batches_go_together():
    rows, codes = generated(2000, 4, seed=3)
    rows[rows < 0.3] = 0.0
    for first, second in ((rows, sparse_of(rows)), (sparse_of(rows), rows)):
        mixed = Stochastic.start(4).learn(first, codes, AB).learn(second, codes, AB)
        alike = Stochastic.start(4).learn(first, codes, AB).learn(first, codes, AB)
        np.testing.assert_allclose(mixed.mean, alike.mean, rtol=1e-9)


def test_columns_that_were_all_zero_can_be_added():
    rows, codes = generated(1000, 2, seed=3)
    wide = np.zeros((1000, 4))
    wide[:, [2, 0]] = rows
    state = Stochastic.start(2).learn(rows, codes, AB).embedded(np.array([2, 0]), 4)
    same = Stochastic.start(4).learn(wide, codes, AB)
    np.testing.assert_allclose(state.mean, same.mean, rtol=1e-9)
    more = generated(500, 4, seed=4)
    np.testing.assert_allclose(state.learn(*more, AB).mean, same.learn(*more, AB).mean, rtol=1e-9)


# Refusals


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_cell_that_is_not_finite_is_refused_by_its_place(value, sparse):
    rows, codes = generated(40, 3)
    rows[17, 1] = value
    held = sparse_of(rows) if sparse else rows
    with pytest.raises(NotFinite, match=r"row 17, column 1: (nan|inf)[\s\S]*Hint: "):
        Stochastic.start(3).learn(held, codes, AB)
    weights = np.ones(40)
    weights[17] = 1e-15  # hardly a row, but a row
    with pytest.raises(NotFinite, match="row 17, column 1"):
        Stochastic.start(3).learn(held, codes, AB, weights)
    weights[17] = 0.0
    assert np.isfinite(Stochastic.start(3).learn(held, codes, AB, weights).theta).all()


def test_what_is_known_of_rows_merges():
    rows, codes = generated(200, 3, 3, seed=5)
    weights = np.random.default_rng(0).uniform(0, 2, 200)
    for held in (rows, sparse_of(np.maximum(rows, 0.0))):
        whole = SeenRows.of(held, codes, (0, 1, 2), weights)
        parts = SeenRows.of(held[:80], codes[:80], (0, 1, 2), weights[:80]) + SeenRows.of(
            held[80:], codes[80:], (0, 1, 2), weights[80:]
        )
        np.testing.assert_allclose(parts.weights, whole.weights)
        np.testing.assert_allclose(parts.scale.inverse, whole.scale.inverse)
        np.testing.assert_allclose(parts.variances, whole.variances, atol=1e-12)
        assert parts.mean_square == pytest.approx(whole.mean_square)
        z = (held.toarray() if held is not rows else held) * whole.scale.inverse
        z -= whole.scale.origin * whole.scale.inverse
        squares = 1 + np.square(z).sum(axis=1)
        assert np.average(squares, weights=weights) == pytest.approx(whole.mean_square)
        spread = np.average(np.square(z), axis=0, weights=weights)
        spread -= np.square(np.average(z, axis=0, weights=weights))
        np.testing.assert_allclose(spread, whole.variances, atol=1e-12)
