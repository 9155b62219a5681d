"""Loss, gradient, Hessian: compiled loops, NumPy twins and extended precision say the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suffice.kernels import compilation
from suffice.kernels.logistic import dense, sparse
from suffice.rows import SparseRows
from tests.twins import choices, plain

pytest.importorskip("numba", reason="numba is not installed: there is nothing to compare")

from suffice.kernels.lanes import exponentials_numba
from suffice.kernels.logistic import binary_numba, softmax_numba, sparse_numba
from tests.searches import quick

dense_plain, sparse_plain = plain(dense), plain(sparse)
Standardised = dense.Standardised

CLOSE = 1e-13
TINY = 1e-305
"""Below this a double has fewer digits."""

LAYOUTS = ("C", "F", "every other row", "backwards", "every other column")
wide = np.longdouble


class Compiled:
    """The compiled twins under the names of the NumPy ones, each for the classes it is made for."""

    reach = staticmethod(binary_numba.reach)

    @staticmethod
    def loss_and_gradient(*given_rows):
        twin = binary_numba if len(given_rows[-1]) == 1 else softmax_numba
        return twin.loss_and_gradient(*given_rows)

    @staticmethod
    def hessian_product(*given_rows):
        twin = binary_numba if len(given_rows[-1]) == 1 else softmax_numba
        return twin.hessian_product(*given_rows)

    @staticmethod
    def curvature(*given_rows):
        twin = binary_numba if len(given_rows[-1]) == 1 else dense_plain
        return twin.curvature(*given_rows)


def as_given(rows, origin, inverse, *others):
    """Return a problem as the kernels take it."""
    return Standardised(rows, origin, inverse), *others


sizes = pytest.mark.parametrize("size", quick([1, 2, 3, 9], 1, 3))
both = pytest.mark.parametrize("twin", [dense_plain, Compiled])
both_sparse = pytest.mark.parametrize("twin", [sparse_plain, sparse_numba])


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


def likeliest(scores):
    """Return the class of the best score, where that of class 0 is 0."""
    return np.concatenate((np.zeros((len(scores), 1)), scores), axis=1).argmax(axis=1)


@st.composite
def problems(draw, size):
    """Draw rows of any layout and unit, their scale, classes, weights or none, and a theta."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    length = draw(st.sampled_from([0, 1, 2, 5, 64, 257, 700]))
    width = draw(st.sampled_from([0, 1, 2, 3, 8, 9, 33]))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    offset = draw(st.sampled_from([0.0, 1e3, 1e8] if dtype == np.float64 else [0.0, 1e3]))
    unit = 10.0 ** rng.integers(-3, 4, width)
    if dtype == np.float64 and draw(st.booleans()):
        unit = 10.0 ** rng.choice([-150, -20, 0, 200, 300], width)
    rows = ((rng.normal(size=(length, width)) + offset) * unit).astype(dtype)
    inverse = rng.uniform(0.5, 2, width) / unit
    inverse[rng.uniform(size=width) < 0.1] = 0.0
    origin = (rng.normal(size=width) + offset) * unit
    theta = rng.normal(size=(size, width + 1)) * draw(st.sampled_from([0.0, 0.1, 1.0, 30.0]))
    theta[:, 0] += draw(st.sampled_from([0.0, 0.0, 750.0, -750.0, 1e3, -1e3]))
    codes = rng.integers(0, size + 1, length)
    if draw(st.booleans()):  # every row where it belongs: all that is left are small tails
        codes = likeliest(((rows - origin) * inverse) @ theta[:, 1:].T + theta[:, 0])
    weights = rng.uniform(0.1, 5, length) if draw(st.booleans()) else None
    if draw(st.booleans()):
        codes = np.repeat(codes, 2)[::2]
        weights = None if weights is None else np.repeat(weights, 3)[::3]
    for array in (rows, codes):
        array.flags.writeable = draw(st.booleans())
    return laid_out(rows, draw(st.sampled_from(LAYOUTS))), origin, inverse, codes, weights, theta


class Exactly:
    """Everything in extended precision, with bounds of what rounding may change.

    Rounding a score by some units in its last place changes probabilities by as much, times the
    size of what was added up: the `reach` of a row.
    """

    def __init__(self, rows, origin, inverse, codes, weights, theta):
        n, m = len(rows), len(theta)
        z = (rows.astype(wide) - origin.astype(wide)) * inverse.astype(wide)
        self.design = np.concatenate((np.ones((n, 1), wide), z), axis=1)
        self.weights = np.ones(n, wide) if weights is None else weights.astype(wide)
        scores = np.concatenate((np.zeros((n, 1), wide), self.design @ theta.T.astype(wide)), 1)
        self.reach = (np.abs(self.design) @ np.abs(theta.T).astype(wide)).max(axis=1) + 1
        own = np.eye(m + 1, dtype=bool)[codes]
        top = scores.max(axis=1, initial=-np.inf)
        shares = np.exp(scores - top[:, None])
        total = shares.sum(axis=1)
        rest = np.where(own, 0, shares).sum(axis=1)
        mine = scores[own]
        # A sum of all that are not the own class: no digits are lost by subtracting.
        self.losses = np.where(mine == top, np.log1p(rest), np.log(total) + (top - mine))
        self.residuals = np.where(own, -rest[:, None], shares)[:, 1:] / total[:, None]
        self.shares = shares / total[:, None]
        self.others = np.stack([np.delete(self.shares, c, 1).sum(1) for c in range(m + 1)], 1)
        self.margins = mine - np.where(own, -np.inf, scores).max(axis=1, initial=-np.inf)
        self.heavy = (self.weights * self.reach)[:, None]

    def loss(self):
        found = (self.weights * self.losses).sum()
        return found, CLOSE * (self.weights * self.reach * self.losses).sum() + TINY

    def gradient(self):
        found = (self.residuals * self.weights[:, None]).T @ self.design
        bound = (np.abs(self.residuals) * self.heavy).T @ np.abs(self.design)
        return found, CLOSE * bound + TINY * (self.weights @ np.abs(self.design))

    def hessian(self):
        m = self.residuals.shape[1]
        bends = -self.shares[:, 1:, None] * self.shares[:, None, 1:]
        bends[:, range(m), range(m)] = (self.shares * self.others)[:, 1:]
        found, bound = [
            np.einsum("nab,ni,nj->aibj", bend * scale[:, :, None], design, design)
            for bend, scale, design in (
                (bends, self.weights[:, None], self.design),
                (np.abs(bends), self.heavy, np.abs(self.design)),
            )
        ]
        size = m * self.design.shape[1]
        tiny = TINY * (self.weights[:, None] * np.abs(self.design)).T @ np.abs(self.design)
        bound = CLOSE * bound + tiny[None, :, None, :]
        return found.reshape(size, size), bound.reshape(size, size)

    def product(self, direction):
        moves = np.concatenate(
            (np.zeros((len(self.design), 1), wide), self.design @ direction.T.astype(wide)), 1
        )
        spread = (np.abs(self.design) @ np.abs(direction.T)).max(axis=1, initial=0)[:, None]
        # Differences from each class's own move: the likeliest class has none to itself.
        answer = np.stack(
            [
                self.shares[:, c] * (self.shares * (moves[:, [c]] - moves)).sum(axis=1)
                for c in range(1, moves.shape[1])
            ],
            1,
        )
        bends = (self.shares * self.others)[:, 1:]
        bound = (bends * spread * self.heavy).T @ np.abs(self.design)
        tiny = TINY * ((self.weights * spread[:, 0]) @ np.abs(self.design))
        return (answer * self.weights[:, None]).T @ self.design, CLOSE * bound + tiny


def assert_within(found, expected, case):
    exact, bound = expected
    assert np.shape(found) == np.shape(exact), case
    assert np.isfinite(found).all(), case
    assert (np.abs(found - exact) <= bound).all(), (case, found, exact, bound)


@both
@sizes
@given(data=st.data())
def test_loss_and_gradient_are_those_of_extended_precision(twin, size, data):
    problem = data.draw(problems(size))
    exact = Exactly(*problem)
    loss, gradient, margin = twin.loss_and_gradient(*as_given(*problem))
    assert isinstance(loss, float)
    assert isinstance(margin, float)
    assert gradient.dtype == np.float64
    assert_within(loss, exact.loss(), "loss")
    assert_within(gradient, exact.gradient(), "gradient")
    if len(exact.margins):
        assert abs(margin - exact.margins.min()) <= 1e-14 * exact.reach.max()
    else:
        assert margin == np.inf


@both
@sizes
@given(data=st.data())
def test_curvature_is_that_of_extended_precision(twin, size, data):
    problem = data.draw(problems(size))
    exact = Exactly(*problem)
    loss, gradient, hessian, margin = twin.curvature(*as_given(*problem))
    assert_within(loss, exact.loss(), "loss")
    assert_within(gradient, exact.gradient(), "gradient")
    assert_within(hessian, exact.hessian(), "hessian")
    assert (hessian == hessian.T).all()
    assert margin == pytest.approx(
        twin.loss_and_gradient(*as_given(*problem))[2], rel=1e-9, abs=1e-9
    )


@both
@sizes
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_hessian_products_are_those_of_extended_precision(twin, size, data, seed):
    problem = data.draw(problems(size))
    rows, origin, inverse, _, weights, theta = problem
    direction = np.random.default_rng(seed).normal(size=theta.shape)
    found = twin.hessian_product(*as_given(rows, origin, inverse, weights, theta, direction))
    assert_within(found, Exactly(*problem).product(direction), "product")


@both
@sizes
@given(data=st.data())
def test_the_reach_is_the_longest_row(twin, size, data):
    problem = data.draw(problems(size))
    rows, origin, inverse, *_ = problem
    norms = np.square(Exactly(*problem).design).sum(axis=1)
    found = twin.reach(Standardised(rows, origin, inverse))
    assert found == pytest.approx(float(norms.max(initial=1.0)), rel=1e-13)


@both
@sizes
@given(data=st.data(), edge=st.floats(0, 1))
def test_sums_over_blocks_are_sums_over_all(twin, size, data, edge):
    problem = data.draw(problems(size))
    rows, origin, inverse, codes, weights, theta = problem
    middle = round(edge * len(rows))
    parts = [
        twin.loss_and_gradient(
            Standardised(rows[some], origin, inverse), codes[some],
            None if weights is None else weights[some], theta,
        )
        for some in (slice(0, middle), slice(middle, len(rows)))
    ]  # fmt: skip
    exact = Exactly(*problem)
    assert_within(parts[0][0] + parts[1][0], exact.loss(), "loss")
    assert_within(parts[0][1] + parts[1][1], exact.gradient(), "gradient")
    whole = twin.loss_and_gradient(*as_given(*problem))[2]
    assert min(parts[0][2], parts[1][2]) == pytest.approx(whole, rel=1e-9, abs=1e-9)


def slope(function, theta, place, step):
    """Return one first derivative, by differences of the fourth order."""
    total = wide(0)
    for times, factor in {-2: 1, -1: -8, 1: 8, 2: -1}.items():
        moved = theta.astype(wide)
        moved.flat[place] += times * step
        total += factor * function(moved)
    return total / (12 * step)


def slopes(function, theta, step):
    """Return all first derivatives."""
    return np.array([slope(function, theta, place, step) for place in range(theta.size)])


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1, 2, 4]), weighted=st.booleans())
def test_gradient_and_hessian_are_the_slopes_of_the_loss(seed, size, weighted):
    rng = np.random.default_rng(seed)
    rows, theta = rng.normal(3, 2, (30, 3)), rng.normal(size=(size, 4))
    codes, weights = rng.integers(0, size + 1, 30), rng.uniform(0.1, 3, 30) if weighted else None
    problem = rows, np.full(3, 3.0), np.full(3, 0.5), codes, weights, theta
    design = np.concatenate((np.ones((30, 1)), (rows - 3) / 2), 1).astype(wide)
    heavy = np.ones(30, wide) if weights is None else weights.astype(wide)

    def loss(moved):
        scores = np.concatenate((np.zeros((30, 1), wide), design @ moved.T), 1)
        return (heavy * (np.log(np.exp(scores).sum(1)) - scores[np.arange(30), codes])).sum()

    found = dense_plain.curvature(*as_given(*problem))
    assert found[0] == pytest.approx(float(loss(theta.astype(wide))), rel=1e-13)
    gradient = slopes(loss, theta, wide(1e-4)).reshape(theta.shape)
    np.testing.assert_allclose(found[1], gradient.astype(float), rtol=1e-10, atol=1e-10)
    bends = [
        slopes(lambda moved, at=at: slope(loss, moved, at, wide(1e-3)), theta, wide(1e-3))
        for at in range(theta.size)
    ]
    np.testing.assert_allclose(found[2], np.array(bends, float), rtol=1e-6, atol=1e-6)
    direction = rng.normal(size=theta.shape)
    np.testing.assert_allclose(
        dense_plain.hessian_product(*as_given(*problem[:3], weights, theta, direction)).ravel(),
        found[2] @ direction.ravel(),
        rtol=1e-10,
        atol=1e-10,
    )


@both
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("at", [0, 299])
@pytest.mark.parametrize("weight", [0.0, 2.0])
@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_a_cell_that_is_not_finite_shows(twin, bad, size, at, weight, factor):
    rng = np.random.default_rng(size)
    rows, codes = rng.normal(size=(300, 5)), rng.integers(0, size + 1, 300)
    rows[at, 3] = bad
    theta, inverse = rng.normal(size=(size, 6)), np.ones(5)
    theta[:, 4], inverse[3] = weight, factor
    for code in range(size + 1):
        codes[at] = code
        problem = rows, np.zeros(5), inverse, codes, None, theta
        loss, gradient, _ = twin.loss_and_gradient(*as_given(*problem))
        assert not (np.isfinite(loss) and np.isfinite(gradient).all())
        loss, gradient, _, _ = twin.curvature(*as_given(*problem))
        assert not (np.isfinite(loss) and np.isfinite(gradient).all())
    twin.hessian_product(*as_given(*problem[:3], None, theta, theta))
    twin.reach(Standardised(*problem[:3]))


@both
@pytest.mark.parametrize("size", [1, 3])
def test_heavy_rows_of_huge_columns_do_not_overflow(twin, size):
    rng = np.random.default_rng(3)
    rows, codes = rng.normal(size=(600, 2)) * [1e307, 1e200], rng.integers(0, size + 1, 600)
    weights = rng.uniform(1, 2, 600) * 1e120
    problem = rows, np.zeros(2), np.array([1e-307, 1e-200]), codes, weights, np.ones((size, 3))
    exact = Exactly(*problem)
    loss, gradient, hessian, _ = twin.curvature(*as_given(*problem))
    assert_within(loss, exact.loss(), "loss")
    assert_within(gradient, exact.gradient(), "gradient")
    assert_within(hessian, exact.hessian(), "hessian")
    direction = np.ones((size, 3))
    found = twin.hessian_product(*as_given(*problem[:3], weights, problem[-1], direction))
    assert_within(found, exact.product(direction), "product")


@both
def test_far_margins_keep_their_digits(twin):
    rows, theta = np.array([[40.0], [300.0], [700.0]]), np.array([[0.0, 1.0]])
    for size in (1, 2):  # the third class is out of the question
        table = np.concatenate((theta, [[-2000.0, 0.0]]))[:size]
        for row in rows:
            plain_row = Standardised(row[None], np.zeros(1), np.ones(1))
            loss, gradient, margin = twin.loss_and_gradient(plain_row, np.array([1]), None, table)
            assert loss == pytest.approx(np.exp(-row[0]), rel=1e-12, abs=0)
            assert gradient[0, 0] == pytest.approx(-np.exp(-row[0]), rel=1e-12, abs=0)
            assert margin == row[0]
            product = twin.hessian_product(plain_row, None, table, np.eye(2)[:size])
            assert product[0, 0] == pytest.approx(np.exp(-row[0]), rel=1e-12, abs=0)


@st.composite
def sparse_problems(draw, size):
    """Draw sparse rows, some empty, perhaps cut from others, with classes, weights and a table."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    length, width = (
        draw(st.sampled_from([0, 1, 2, 65, 300])),
        draw(st.sampled_from([1, 2, 17, 200])),
    )
    kind, index = draw(st.sampled_from([(np.float64, np.int32), (np.float32, np.int64)]))
    there = rng.uniform(size=(length, width)) < draw(st.sampled_from([0.0, 0.05, 0.5, 1.0]))
    numbers, columns = np.nonzero(there)
    order = np.lexsort((rng.uniform(size=len(numbers)), numbers))
    data = rng.normal(size=len(numbers)).astype(kind)
    before = draw(st.sampled_from([0, 3, 100]))
    strange, places = np.full(before, 7, kind), rng.integers(0, width, before)
    rows = SparseRows(
        np.concatenate((strange, data, strange)),
        np.concatenate((places, columns[order], places)).astype(index),
        (before + np.concatenate(([0], np.cumsum(there.sum(axis=1))))).astype(index),
        width,
    )
    scale = draw(st.sampled_from([0.0, 0.1, 1.0, 30.0]))
    table, offsets = scale * rng.normal(size=(size, width)), scale * rng.normal(size=size)
    offsets += draw(st.sampled_from([0.0, 0.0, 750.0, -1e3]))
    codes = rng.integers(0, size + 1, length)
    if draw(st.booleans()):
        codes = likeliest(rows.toarray() @ table.T + offsets)
    weights = rng.uniform(0.1, 5, length) if draw(st.booleans()) else None
    return rows, codes, weights, table, offsets


@both_sparse
@pytest.mark.parametrize("size", quick([1, 2, 4, 5, 9], 1, 5))
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_sparse_sums_are_those_of_filled_rows(twin, size, data, seed):
    problem = data.draw(sparse_problems(size))
    rows, codes, weights, table, offsets = problem
    theta = np.concatenate((offsets[:, None], table), axis=1)
    filled, width = rows.toarray(), rows.width
    exact = Exactly(filled, np.zeros(width), np.ones(width), codes, weights, theta)
    scores = np.full((len(rows), len(table)), 7.0)
    loss, sums, rests, margin = twin.loss_and_gradient(rows, codes, weights, table, offsets, scores)
    assert_within(loss, exact.loss(), "loss")
    assert sums.flags.c_contiguous
    assert_within(np.concatenate((rests[:, None], sums), axis=1), exact.gradient(), "gradient")
    expected = exact.design @ theta.T.astype(wide)
    assert (np.abs(scores - expected) <= CLOSE * exact.reach[:, None]).all()
    if len(rows):
        assert abs(margin - exact.margins.min()) <= 1e-14 * exact.reach.max()
    else:
        assert margin == np.inf
    direction = np.random.default_rng(seed).normal(size=theta.shape)
    sums, rests = twin.hessian_product(
        rows, weights, scores, np.ascontiguousarray(direction[:, 1:]), direction[:, 0]
    )
    found = np.concatenate((rests[:, None], sums), axis=1)
    assert_within(found, exact.product(direction), "product")


def test_the_choice_of_twin_depends_on_classes_width_and_the_size_of_the_whole(monkeypatch):
    sums = ("loss_and_gradient", "hessian_product")
    chosen = choices(
        monkeypatch,
        {
            binary_numba: (*sums, "curvature", "reach"),
            softmax_numba: sums,
            sparse_numba: sums,
        },
    )

    def calls(rows, size):
        width = rows.shape[1]
        table, codes = Standardised(rows, np.zeros(width), np.ones(width)), np.zeros(len(rows), int)
        theta = np.zeros((size, width + 1))
        return chosen(
            lambda: dense.loss_and_gradient(table, codes, None, theta),
            lambda: dense.curvature(table, codes, None, theta),
            lambda: dense.hessian_product(table, None, theta, theta),
            lambda: dense.reach(table),
        )

    small = np.zeros((2, 3))
    assert calls(small, 1) == calls(small, 2) == [None] * 4
    with compilation.part_of(compilation.WORTH_COMPILING):
        assert calls(small, 1) == [binary_numba] * 4
        assert calls(small, 2) == [softmax_numba, None, softmax_numba, binary_numba]
        broad = np.zeros((2, dense.WIDEST + 1))
        assert calls(broad, 1) == [binary_numba, None, binary_numba, binary_numba]
        assert calls(broad, 2) == [None, None, None, binary_numba]

    rows = SparseRows(np.zeros(1), np.zeros(1, np.int32), np.array([0, 1], np.int32), 3)
    table, codes = (np.zeros((1, 3)), np.zeros(1)), np.zeros(1, int)
    for cells, expected in ((0, None), (compilation.WORTH_COMPILING, sparse_numba)):
        with compilation.part_of(cells):
            assert chosen(
                lambda: sparse.loss_and_gradient(rows, codes, None, *table, np.zeros((1, 1))),
                lambda: sparse.hessian_product(rows, None, np.zeros((1, 1)), *table),
            ) == [expected, expected]


def units_away(found, exact):
    """Return the distance in units in the last place of the exact number."""
    return abs(wide(found) - exact) / wide(np.spacing(abs(float(exact))))


@given(x=st.floats(-800, 0))
@example(x=0.0)
@example(x=-745.13)
@example(x=-708.4)
def test_exponentials_are_right_to_the_last_place(x):
    assert units_away(exponentials_numba.exponential(x), np.exp(wide(x))) <= 1


@given(t=st.floats(0, 1e300))
@example(t=0.0)
@example(t=5e-324)
@example(t=1.0)
@example(t=1.0000000000000002)
def test_logarithms_are_right_to_the_last_places(t):
    exact = np.log1p(wide(t))
    assert units_away(exponentials_numba.log_one_plus_any(t), exact) <= 3
    if t <= 1:
        assert units_away(exponentials_numba.log_one_plus(t), exact) <= 3


def test_what_is_not_a_number_stays_so_and_the_ends_are_exact():
    assert np.isnan(exponentials_numba.exponential(np.nan))
    assert np.isnan(exponentials_numba.log_one_plus(np.nan))
    assert np.isnan(exponentials_numba.log_one_plus_any(np.nan))
    assert exponentials_numba.exponential(-np.inf) == 0.0
    assert exponentials_numba.exponential(-1e300) == 0.0
    assert exponentials_numba.exponential(0.0) == 1.0
