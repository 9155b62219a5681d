"""Rules that learn row by row: compiled loops, their NumPy twins and the plain rules agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from suffice.kernels import compilation
from suffice.kernels.online import rules
from suffice.kernels.online.blocks import TIE
from suffice.rows import SparseRows, read_sparse
from tests.twins import choices, plain

pytest.importorskip("numba", reason="numba is not installed: there is nothing to compare")

from suffice.kernels.online import rules_numba

TWINS = [plain(rules), rules_numba]
CLOSE = 1e-9
TYPES = [(np.float64, np.int32), (np.float32, np.int64), (np.int64, np.int64)]
"""Of cells and of columns of sparse rows."""


def plain_perceptron(rows, order, codes, weights, theta, drift, seen):
    """Go by the rule on rows (1, z), one presentation after the other; averages by adding up."""
    theta, updates, square = theta.copy(), 0, np.square(theta).sum()
    total = (theta * seen) - drift
    for i in order:
        left = 1.0 if weights is None else weights[i]
        while left > 0:
            step, z, own = min(left, 1.0), rows[i], codes[i]
            scores = theta @ z
            least = TIE * np.sqrt(square * (z @ z))
            if len(theta) == 1:
                wrong = not scores[0] * (1 if own else -1) > least
                change = np.outer([step if own else -step], z)
            else:
                others = np.delete(np.arange(len(theta)), own)
                rival = others[scores[others].argmax()]
                wrong = not scores[own] - scores[rival] > least
                change = np.zeros_like(theta)
                change[own], change[rival] = step * z, -step * z
            if wrong:
                theta += change
                updates += 1
                square += 2 * step**2 * (z @ z)
            else:
                step = left
            total += step * theta
            seen += step
            left -= step
    return updates, seen, theta, total / seen if seen else theta


def plain_ascent(rows, order, codes, steps, shares, most, theta, mean):
    """Go by θ := θ + α(y - h(x))x on rows (1, z), with every class spelt out."""
    theta, mean = theta.copy(), mean.copy()
    for visit, i in enumerate(order):
        z = rows[i]
        alpha = min(steps[visit], most / (z @ z))
        scores = theta @ z
        scores = np.array([0.0, scores[0]]) if len(theta) == 1 else scores
        h = np.exp(scores - scores.max())
        h /= h.sum()
        y = np.arange(len(h)) == codes[i]
        residual = (y - h)[1:] if len(theta) == 1 else y - h
        theta += alpha * np.outer(residual, z)
        mean += shares[visit] * (theta - mean)
    return theta, mean


@st.composite
def problems(draw, sparse=None):
    """Draw rows, dense in any layout or sparse, with classes, an order and a start."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, width = draw(st.sampled_from([1, 7, 60])), draw(st.sampled_from([1, 2, 9, 40]))
    classes = draw(st.sampled_from([2, 3, 7]))
    cells = rng.normal(size=(size, width)) * 10.0 ** rng.integers(-2, 3, width)
    sparse = draw(st.booleans()) if sparse is None else sparse
    origin, inverse = np.zeros(width), rng.uniform(0.5, 2, width)
    inverse /= np.maximum(np.abs(cells).mean(axis=0), 1e-3)
    inverse[rng.uniform(size=width) < 0.1] = 0.0
    if sparse:
        kind, index = draw(st.sampled_from(TYPES))
        cells[rng.uniform(size=cells.shape) < 0.6] = 0.0
        cells = (np.round(cells) if np.dtype(kind).kind == "i" else cells).astype(kind)
        held = csr_array(cells)
        rows = SparseRows(held.data, held.indices.astype(index), held.indptr.astype(index), width)
        if draw(st.booleans()):  # a part of other rows: it begins anywhere
            more = read_sparse(csr_array(np.concatenate([np.ones((1, width), kind), cells])))
            rows = more[1:]
    else:
        cells = cells.astype(draw(st.sampled_from([np.float64, np.float32])))
        origin = rng.normal(size=width)
        rows = np.asfortranarray(cells) if draw(st.booleans()) else cells
        rows = np.repeat(rows, 2, axis=0)[::2] if draw(st.booleans()) else rows
    design = np.ones((size, width + 1))
    design[:, 1:] = (cells.astype(np.float64) - origin) * inverse
    codes = rng.integers(0, classes, size)
    order = rng.integers(0, size, draw(st.sampled_from([0, 1, 3 * size])))
    theta = np.zeros((1 if classes == 2 else classes, width + 1))
    if draw(st.booleans()):
        theta += rng.normal(size=theta.shape)
    return rows, origin, inverse, design, order, codes, theta, rng


def near(found, expected, scale):
    np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=CLOSE * max(scale, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("twin", TWINS)
@given(problem=problems(), weighted=st.booleans(), seen=st.sampled_from([0.0, 12.5]))
def test_mistakes_are_corrected_by_the_plain_rule(twin, problem, weighted, seen):
    rows, origin, inverse, design, order, codes, theta, rng = problem
    weights = rng.choice([0.0, 0.3, 1.0, 2.0, 3.7], len(codes)) if weighted else None
    drift = rng.normal(size=theta.shape) * seen
    expected = plain_perceptron(design, order, codes, weights, theta, drift, seen)
    updates, after = twin.correct_mistakes(
        rows, origin, inverse, order, codes, weights, theta, drift, seen
    )
    assert updates == expected[0]
    assert after == pytest.approx(expected[1], rel=1e-12)
    scale = np.abs(expected[2]).max() + np.abs(design).max()
    near(theta, expected[2], scale)
    if after:
        near(theta - drift / after, expected[3], scale)


@pytest.mark.parametrize("twin", TWINS)
@given(problem=problems(), long=st.sampled_from([1e-3, 0.1, 100.0]))
def test_steps_are_those_of_the_plain_rule(twin, problem, long):
    rows, origin, inverse, design, order, codes, theta, rng = problem
    steps = long * rng.uniform(0, 1, len(order))
    shares = rng.choice([0.0, 0.1, 0.9, 1.0], len(order))
    mean = rng.normal(size=theta.shape)
    expected = plain_ascent(design, order, codes, steps, shares, 4.0, theta, mean)
    twin.ascend(rows, origin, inverse, order, codes, steps, shares, 4.0, theta, mean)
    scale = np.abs(expected[0]).max() + np.abs(expected[1]).max()
    near(theta, expected[0], scale)
    near(mean, expected[1], scale)


@given(problem=problems(), weighted=st.booleans())
def test_whole_numbers_are_corrected_exactly_alike_by_both_twins(problem, weighted):
    # Where columns hold few values ties are common: both twins must see the same ones.
    rows, origin, inverse, _, order, codes, theta, rng = problem
    if isinstance(rows, SparseRows):
        rows = SparseRows(np.sign(rows.data), rows.indices, rows.indptr, rows.width)
    else:
        rows = np.round(rows)
    origin, inverse = np.zeros(len(origin)), np.ones(len(inverse))
    weights = rng.integers(0, 4, len(codes)).astype(float) if weighted else None
    found = []
    for twin in TWINS:
        now, drift = np.round(theta), np.zeros_like(theta)
        tally = twin.correct_mistakes(rows, origin, inverse, order, codes, weights, now, drift, 0.0)
        found.append((tally, now, drift))
    (one, *left), (other, *right) = found
    assert one == other
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


@given(problem=problems(sparse=False), whole=st.booleans())
def test_rows_in_blocks_make_the_mistakes_of_one_row_after_the_other(problem, whole):
    rows, origin, inverse, _, order, codes, theta, _ = problem
    if whole:  # ties are common
        rows, origin, inverse = np.round(rows), np.zeros(len(origin)), np.ones(len(inverse))
    found = []
    for weights in (None, np.ones(len(codes))):  # rows with weights go one by one
        now, drift = theta.copy(), np.zeros_like(theta)
        tally = rules.correct_mistakes.plain(
            rows, origin, inverse, order, codes, weights, now, drift, 2.0
        )
        found.append((tally, now, drift))
    (one, *left), (other, *right) = found
    assert one == other
    for a, b in zip(left, right, strict=True):
        near(a, b, np.abs(b).max())


def test_blocks_of_damaged_rows_end_and_say_so():
    rows, codes = np.ones((100, 3)), np.arange(100) % 3
    rows[50, 1] = np.nan
    theta, drift = np.zeros((3, 4)), np.zeros((3, 4))
    scale = np.zeros(3), np.ones(3)
    rules.correct_mistakes.plain(rows, *scale, np.arange(100), codes, None, theta, drift, 0.0)
    assert not np.isfinite(theta).all()


@pytest.mark.parametrize("twin", TWINS)
@given(problem=problems(sparse=True), seed=st.integers(0, 2**32 - 1))
def test_sparse_rows_and_the_same_rows_filled_give_the_same_theta(twin, problem, seed):
    rows, origin, inverse, _, order, codes, theta, _ = problem
    rng = np.random.default_rng(seed)
    filled = rows.toarray()
    steps, shares = rng.uniform(0, 0.3, len(order)), rng.uniform(0, 0.5, len(order))
    ends = []
    for given_rows in (rows, filled):
        at, mean = theta.copy(), theta.copy()
        twin.ascend(given_rows, origin, inverse, order, codes, steps, shares, 4.0, at, mean)
        right, drift = np.zeros_like(theta), np.zeros_like(theta)
        twin.correct_mistakes(given_rows, origin, inverse, order, codes, None, right, drift, 0.0)
        ends.append((at, mean, right, drift))
    for one, other in zip(*ends, strict=True):
        near(one, other, np.abs(other).max())


@pytest.mark.parametrize("twin", TWINS)
def test_an_average_that_forgets_quickly_stays_in_range(twin):
    # Its factor falls by ten with every row: after 400 rows nothing would be left of it.
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    order, steps = np.arange(400), np.full(400, 0.1)
    theta, mean = np.zeros((1, 3)), np.zeros((1, 3))
    design = np.column_stack([np.ones(400), rows])
    expected = plain_ascent(design, order, codes, steps, np.full(400, 0.9), 4.0, theta, mean)
    twin.ascend(
        rows, np.zeros(2), np.ones(2), order, codes, steps, np.full(400, 0.9), 4.0, theta, mean
    )
    np.testing.assert_allclose(theta, expected[0], rtol=1e-12)
    np.testing.assert_allclose(mean, expected[1], rtol=1e-12)


@pytest.mark.parametrize("twin", TWINS)
def test_far_scores_neither_overflow_nor_lose_the_residual(twin):
    for classes in (2, 3):
        theta = np.zeros((1 if classes == 2 else classes, 2))
        theta[-1, 1] = 1e200
        mean = theta.copy()
        rows, codes = np.array([[1e100], [-1e100]]), np.array([classes - 1, classes - 1])
        with np.errstate(over="raise", invalid="raise"):
            twin.ascend(
                rows, np.zeros(1), np.ones(1), np.array([0]), codes,
                np.ones(1), np.ones(1), 1.0, theta, mean,
            )  # fmt: skip
        assert theta[-1, 1] == 1e200
        assert np.isfinite(theta).all()


def test_many_rows_are_compiled_however_narrow_and_few_are_not(monkeypatch):
    chosen = choices(monkeypatch, {rules_numba: ("ascend", "correct_mistakes")})
    codes, scale, theta = np.zeros(100, int), (np.zeros(1), np.ones(1)), np.zeros((1, 2))
    for rows in (np.zeros((100, 1)), read_sparse(csr_array(np.ones((100, 1))))):
        many = compilation.WORTH_COMPILING // rules.A_ROW
        for length, expected in ((100, None), (many, rules_numba)):
            order, ones = np.zeros(length, int), np.ones(length)
            given_rows = rows, *scale, order, codes
            assert (
                chosen(
                    lambda: rules.ascend(*given_rows, ones, ones, 1.0, theta, theta.copy()),  # noqa: B023
                    lambda: rules.correct_mistakes(*given_rows, None, theta, theta.copy(), 0.0),  # noqa: B023
                )
                == [expected] * 2
            )
