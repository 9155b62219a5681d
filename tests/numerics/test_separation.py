"""Separation: proved or disproved, whatever the units, the order and the number of rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris

from suffice.models.linear.logistic.fit import fit_logistic, standardised_loss
from suffice.models.linear.logistic.separation import programs as separation_programs
from suffice.models.linear.logistic.separation import separation
from suffice.models.linear.logistic.separation.classes import parted_cone
from suffice.models.linear.logistic.separation.programs import Budget, Undecided
from suffice.models.linear.logistic.separation.separation import find_separation, finite_theta
from suffice.rows import read_sparse


def loss_of(rows, codes, weights=None):
    rows = np.asarray(rows, dtype=np.float64)
    codes = np.asarray(codes, dtype=np.intp)
    return standardised_loss(rows, codes, int(codes.max()) + 1, weights)


def separation_of(rows, codes, theta=None):
    loss = loss_of(rows, codes)
    theta = np.zeros(loss.shape) if theta is None else theta
    return find_separation(loss, theta, loss.curvature(theta, hessian=False).margin)


def margins(loss, theta):
    """Return the scores of each row's own class above the others (n, k)."""
    scores = np.column_stack([np.zeros(len(loss)), loss.design(slice(0, len(loss))) @ theta.T])
    return scores[np.arange(len(loss)), loss.codes][:, np.newaxis] - scores


# An oracle in exact arithmetic: all extreme rays of the cone of separating directions.


def null_space(matrix, width):
    """Return a basis of the null space, by elimination with fractions."""
    rows = [[Fraction(cell) for cell in row] for row in matrix]
    pivots = []
    for column in range(width):
        done = len(pivots)
        found = next((i for i in range(done, len(rows)) if rows[i][column] != 0), None)
        if found is None:
            continue
        rows[done], rows[found] = rows[found], rows[done]
        rows[done] = [cell / rows[done][column] for cell in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[column] != 0:
                rows[i] = [a - row[column] * b for a, b in zip(row, rows[done], strict=True)]
        pivots.append(column)
    basis = []
    for free in sorted(set(range(width)) - set(pivots)):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for i, column in enumerate(pivots):
            vector[column] = -rows[i][free]
        basis.append(vector)
    return basis


def constraints_of(rows, codes, size):
    """Return z̃ ⊗ (e_y - e_a) for every row and rival class a."""
    width = rows.shape[1] + 1
    found = {}
    for i, (row, own) in enumerate(zip(rows.tolist(), codes.tolist(), strict=True)):
        for rival in set(range(size)) - {own}:
            z = np.zeros((size, width), dtype=int)
            z[own], z[rival] = [1, *row], [-1, *(-cell for cell in row)]
            found[i, rival] = tuple(z[1:].ravel().tolist())
    return found


def apart_exactly(rows, codes, size):
    """Return which (row, rival) have a positive margin in some direction without negative ones."""
    constraints = constraints_of(rows, codes, size)
    distinct = sorted(set(constraints.values()))
    width = len(distinct[0])
    blind = null_space(distinct, width)
    apart = set()
    for some in combinations(distinct, width - len(blind) - 1):
        ray = null_space([*some, *blind], width)
        for sign in (1, -1) if len(ray) == 1 else ():
            products = [sign * sum(a * b for a, b in zip(ray[0], z, strict=True)) for z in distinct]
            if min(products) >= 0:
                apart |= {z for z, p in zip(distinct, products, strict=True) if p > 0}
    return {pair for pair, z in constraints.items() if z in apart}


@st.composite
def small_tables(draw, most_classes=3):
    """Whole numbers in few rows and columns, every class with a row."""
    size = draw(st.integers(2, most_classes))
    d = draw(st.integers(1, 3 if size == 2 else 2))
    n = draw(st.integers(size, 8 if size == 2 else 6))
    top = draw(st.integers(1, 4))
    cells = draw(st.lists(st.integers(0, top), min_size=n * d, max_size=n * d))
    codes = [*range(size), *draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))]
    return np.array(cells).reshape(n, d), np.array(codes[:n]), size


@given(small_tables(), st.booleans(), st.integers(0, 99))
def test_the_answer_is_that_of_exact_arithmetic(table, begun, seed):
    rows, codes, size = table
    apart = apart_exactly(rows, codes, size)
    loss = loss_of(rows, codes)
    theta = begun * np.random.default_rng(seed).normal(size=loss.shape)
    found = find_separation(loss, theta, loss.curvature(theta).margin)
    if not apart:
        assert found is None
        return
    assert found is not None
    everything = len(rows) * (size - 1)
    assert found.kind == ("complete" if len(apart) == everything else "quasi-complete")
    assert found.rows_apart == len({i for i, _ in apart})
    assert found.rows_apart + found.rows_tied == len(rows)
    own = codes.tolist()
    pairs = {(max(own[i], rival), min(own[i], rival)) for i, rival in apart}
    assert found.pairs == tuple(sorted(pairs))
    along = margins(loss, found.direction)
    assert {tuple(pair) for pair in np.argwhere(along > 1e-9).tolist()} == apart
    assert along.min() > -1e-9
    assert np.abs(found.direction).max() == 1.0
    assert found.columns == tuple(np.flatnonzero(found.direction[:, 1:].any(axis=0)))


@given(small_tables())
def test_no_named_column_can_be_done_without(table):
    rows, codes, size = table
    found = separation_of(rows, codes)
    assume(found is not None and found.columns)
    whole = apart_exactly(rows, codes, size)
    for column in found.columns:
        rest = [j for j in found.columns if j != column]
        assert apart_exactly(rows[:, rest], codes, size) < whole


@given(small_tables(), st.data())
def test_units_order_copies_and_repeated_columns_change_nothing(table, data):
    rows, codes, _ = table
    there = st.integers(0, 2**16)
    rng = np.random.default_rng(data.draw(there))
    found = separation_of(rows, codes)

    def same(other, times=1):
        if found is None:
            assert other is None
            return
        assert (other.kind, other.pairs) == (found.kind, found.pairs)
        assert (other.rows_apart, other.rows_tied) == (
            times * found.rows_apart,
            times * found.rows_tied,
        )

    factors = rng.choice([-1e5, -3.0, 0.001, 0.7, 1e8], rows.shape[1])
    offsets = rng.choice([-1e3, 0.0, 0.1, 77.0], rows.shape[1])
    same(separation_of(rows * factors + offsets * np.abs(factors), codes))
    order = rng.permutation(len(rows))
    same(separation_of(rows[order], codes[order]))
    same(separation_of(np.repeat(rows, 3, axis=0), np.repeat(codes, 3)), times=3)
    same(separation_of(np.column_stack([rows, rows[:, :1], np.ones(len(rows))]), codes))


@given(small_tables(), st.sampled_from([1e-8, 1e-3]))
def test_a_certified_maximum_and_a_separation_exclude_each_other(table, tolerance):
    rows, codes, size = table
    fit = fit_logistic(rows.astype(float), codes, tuple(range(size)), tolerance=tolerance)
    found = separation_of(rows, codes)
    assert fit.converged == (found is None)
    assert (fit.separation is None) == (found is None)


# Known cases


def test_t23_ten_numbers_split_in_the_middle_are_completely_separated():
    rows = np.arange(10.0)[:, np.newaxis]
    found = separation_of(rows, rows[:, 0] > 4.5)
    assert (found.kind, found.pairs, found.columns) == ("complete", ((1, 0),), (0,))
    assert (found.rows_apart, found.rows_tied) == (10, 0)
    assert "all 10 rows" in found.reason


def test_one_value_in_both_classes_makes_it_quasi_complete():
    found = separation_of([[0], [1], [2], [2], [3]], [0, 0, 0, 1, 1])
    assert (found.kind, found.rows_apart, found.rows_tied) == ("quasi-complete", 3, 2)
    assert "3 of 5 rows" in found.reason


def test_values_that_overlap_are_not_separated():
    assert separation_of([[0], [1], [2], [1], [3]], [0, 0, 0, 1, 1]) is None


@pytest.mark.parametrize(
    ("counts", "kind", "apart"),
    [
        ([[7, 3], [2, 8]], None, 0),
        ([[7, 3], [0, 8]], "quasi-complete", 8),
        ([[7, 0], [0, 8]], "complete", 15),
        ([[7, 8], [0, 0]], None, 0),
    ],
)
def test_a_two_by_two_table_is_separated_by_its_empty_cell(counts, kind, apart):
    level, code = np.indices((2, 2)).reshape(2, 4)
    times = np.ravel(counts)
    rows, codes = np.repeat(level, times)[:, np.newaxis], np.repeat(code, times)
    found = separation_of(rows, codes)
    if kind is None:
        assert found is None
    else:
        assert (found.kind, found.rows_apart, found.columns) == (kind, apart, (0,))


def test_a_level_without_events_is_named_among_columns_that_do_no_harm():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 6))
    codes = (rng.random(300) < 0.5).astype(int)
    rows[:, 3] = rng.random(300) < 0.1
    codes[rows[:, 3] == 1.0] = 1
    found = separation_of(rows, codes)
    assert (found.kind, found.columns) == ("quasi-complete", (3,))
    assert found.rows_apart == rows[:, 3].sum()


def test_columns_that_could_help_are_not_named_where_one_does_it_alone():
    rng = np.random.default_rng(2)
    rows = np.column_stack([np.arange(30.0), rng.normal(size=(30, 3))])
    assert separation_of(rows, np.arange(30) > 14.5).columns == (0,)


def test_one_of_three_species_is_apart_from_the_others():
    rows, codes = load_iris(return_X_y=True)
    found = separation_of(rows, codes)
    assert (found.kind, found.pairs) == ("quasi-complete", ((1, 0), (2, 0)))
    assert (found.rows_apart, found.rows_tied) == (150, 0)
    assert len(found.columns) == 1
    np.testing.assert_allclose(found.direction[0], found.direction[1], atol=1e-9)


def test_a_level_that_one_class_never_has_parts_it_from_the_classes_there():
    # Level 0: all three; level 1: the classes 0 and 2. There class 1 can be made impossible.
    rows = np.array([[0]] * 6 + [[1]] * 4)
    found = separation_of(rows, [0, 0, 1, 1, 2, 2, 0, 0, 2, 2])
    assert found.pairs == ((1, 0), (2, 1))
    assert (found.kind, found.rows_apart, found.rows_tied) == ("quasi-complete", 4, 6)


def test_the_breast_cancer_data_are_completely_separated():
    rows, codes = load_breast_cancer(return_X_y=True)
    loss = loss_of(rows, codes)
    found = find_separation(loss, np.zeros(loss.shape), 0.0)
    assert (found.kind, found.rows_apart) == ("complete", 569)
    assert margins(loss, found.direction)[np.arange(569), 1 - codes].min() > 0.0


def test_constant_and_collinear_columns_separate_nothing():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 2))
    rows = np.column_stack([rows, rows @ [2.0, -1.0], np.full(60, 5.0)])
    codes = np.arange(60) % 3
    assert separation_of(rows, codes) is None
    assert separation_of(np.ones((4, 2)), [0, 1, 0, 1]) is None


def test_one_hot_columns_that_add_up_to_one_separate_nothing_by_themselves():
    level = np.repeat([0, 1, 2], 8)
    rows = np.eye(3)[level]
    assert separation_of(rows, np.arange(24) % 2) is None
    codes = np.where(level == 2, 1, np.arange(24) % 2)
    found = separation_of(rows, codes)
    assert (found.kind, found.rows_apart) == ("quasi-complete", 8)


@pytest.mark.parametrize("classes", [2, 3])
def test_independent_rows_are_always_separated_and_the_reason_says_so(classes):
    rows = np.random.default_rng(0).normal(size=(6, 10))
    found = separation_of(rows, np.arange(6) % classes)
    assert (found.kind, found.rows_apart) == ("complete", 6)
    assert "6 linearly independent rows" in found.reason


def test_fewer_rows_than_columns_can_still_overlap():
    rows = np.random.default_rng(0).normal(size=(3, 10))
    assert separation_of(np.repeat(rows, 2, axis=0), [0, 1] * 3) is None


def test_classes_of_one_row_each_are_separated():
    # Of four numbers in a row only the outer ones can be the likeliest, however far along.
    rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    assert separation_of(rows, [0, 1, 2, 3]).kind == "complete"


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-9])
def test_small_gaps_and_small_overlaps_are_told_apart(gap):
    assert separation_of([[-1], [0], [gap], [1]], [0, 0, 1, 1]).kind == "complete"
    assert separation_of([[-1], [gap], [0], [1]], [0, 0, 1, 1]) is None


# Many rows: only some of them are in the programs


def largest_sum(rows, codes):
    """Return the value of the one large program over all rows: positive where separated."""
    z = np.column_stack([np.ones(len(rows)), (rows - rows.mean(0)) / rows.std(0)])
    z *= np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
    found = scipy.optimize.linprog(-z.sum(0), A_ub=-z, b_ub=np.zeros(len(z)), bounds=(-1, 1))
    return -found.fun


@pytest.mark.parametrize("kind", ["overlapping", "apart", "one level", "whole numbers"])
@pytest.mark.parametrize("seed", range(4))
def test_few_rows_at_a_time_decide_what_all_at_once_do(monkeypatch, kind, seed):
    monkeypatch.setattr(separation_programs, "START", 12)
    rng = np.random.default_rng(seed)
    rows, slopes = rng.normal(size=(3000, 3)), rng.normal(size=3)
    codes = (rows @ slopes + rng.logistic(size=3000) > 0).astype(int)
    if kind == "apart":
        codes = (rows @ slopes > 0).astype(int)
    if kind == "one level":
        rows[:, 1] = rng.random(3000) < 0.01
        codes[rows[:, 1] == 1.0] = 0
    if kind == "whole numbers":
        rows = np.round(rows)
        codes = (rows @ [1.0, 2.0, 1.0] + (rng.random(3000) - 0.5) > 0).astype(int)
    value = largest_sum(rows, codes)
    for theta in (np.zeros((1, 4)), np.append(0.0, 3.0 * slopes)[np.newaxis]):
        found = separation_of(rows, codes, theta)
        assert (found is not None) == (value > 1e-6)
        if kind in ("apart", "one level"):
            assert found.kind == ("complete" if kind == "apart" else "quasi-complete")
        if kind == "one level":
            assert (found.columns, found.rows_apart) == ((1,), rows[:, 1].sum())


def test_rows_that_overlap_do_not_speak_for_directions_they_do_not_reach(monkeypatch):
    # The first rows looked at overlap and are all zero in the column that separates.
    monkeypatch.setattr(separation_programs, "START", 20)
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.normal(size=2000), np.zeros(2000)])
    codes = (rng.random(2000) < 0.5).astype(int)
    rows[-3:], codes[-3:] = [[9.0, 1.0]] * 3, 1
    found = separation_of(rows, codes, np.array([[0.0, 5.0, 0.0]]))
    assert (found.columns, found.rows_apart, found.rows_tied) == ((1,), 3, 1997)


@pytest.mark.parametrize("seed", range(3))
def test_more_than_two_classes_are_decided_by_few_rows_too(monkeypatch, seed):
    monkeypatch.setattr(separation_programs, "START", 12)
    rng = np.random.default_rng(seed)
    rows, slopes = rng.normal(size=(2000, 3)), rng.normal(size=(4, 3))
    noise = rng.gumbel(size=(2000, 4))
    assert separation_of(rows, (rows @ slopes.T + noise).argmax(axis=1)) is None
    found = separation_of(rows, (rows @ slopes.T).argmax(axis=1))
    assert (found.kind, found.rows_apart, len(found.pairs)) == ("complete", 2000, 6)


@given(small_tables().filter(lambda table: table[2] > 2), st.integers(0, 9))
def test_class_by_class_nothing_is_apart_that_exact_arithmetic_has_not(table, seed):
    rows, codes, size = table
    loss = loss_of(rows, codes)
    theta = np.random.default_rng(seed).normal(size=loss.shape)
    found = parted_cone(loss, theta, Budget())
    if found is None:
        return
    cone, whole = found
    apart = apart_exactly(rows, codes, size)
    along = margins(loss, cone.direction)
    assert along.min() > -1e-9
    ours = {tuple(pair) for pair in np.argwhere(along > 1e-9).tolist()}
    assert ours == apart if whole else ours <= apart
    assert ours


def test_what_single_classes_leave_open_is_decided_among_the_others():
    """Class 0 lies apart, but to both sides of the plane between 1 and 2 here, 3 and 4 there."""
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 5
    rows = np.column_stack([rng.uniform(0.5, 1.0, 200), rng.normal(size=200), rng.normal(size=200)])
    rows[(codes == 1) | (codes == 2), 0] *= -1.0
    rows[codes == 0] = np.column_stack(
        [rng.normal(size=40) * 100.0, rng.normal(size=40), [9.0] * 40]
    )
    loss = loss_of(rows, codes)
    cone, whole = parted_cone(loss, np.zeros(loss.shape), Budget())
    assert whole
    apart = cone.survey.pulled > 0
    assert apart[0, 1:].all()
    assert apart[1:, 0].all()
    assert apart[1:3, 3:].all()
    assert not apart[1, 2]
    assert not apart[3, 4]


@pytest.mark.parametrize("kind", ["dense", "sparse", "weighted"])
def test_many_classes_are_decided_one_by_one_where_all_together_would_take_too_long(
    kind, monkeypatch
):
    """Two classes of seven lie apart by themselves, one but for a row; the others overlap."""
    rng = np.random.default_rng(8)
    rows, codes = rng.normal(size=(2100, 18)), np.arange(2100) % 7
    rows[codes == 0, 0] += 9.0
    rows[codes == 3, 1] += 9.0
    rows[codes == 5, 2] = 1.0
    rows[codes != 5, 2] = np.minimum(rows[codes != 5, 2], 1.0)  # some of these lie on the plane
    loss = loss_of(rows, codes, rng.uniform(0.5, 2.0, 2100) if kind == "weighted" else None)
    if kind == "sparse":
        loss = standardised_loss(read_sparse(csr_array(rows * (rows > 1.0))), codes, 7, None)
    theta = np.zeros(loss.shape)
    monkeypatch.setattr(separation, "parted_cone", lambda *_: None)
    with pytest.raises(Undecided, match="would take too long"):
        find_separation(loss, theta, 0.0)
    monkeypatch.undo()
    found = find_separation(loss, theta, 0.0)
    assert found.kind == "quasi-complete"
    assert {pair for pair in found.pairs if {0, 3} & set(pair)} == {
        (max(c, other), min(c, other)) for c in (0, 3) for other in range(7) if other != c
    }
    assert kind == "sparse" or {(5, 1), (5, 2), (5, 4), (6, 5)} <= set(found.pairs)
    along = margins(loss, found.direction)
    sizes = np.linalg.norm(loss.design(slice(0, 2100)), axis=1, keepdims=True)
    assert (along >= -1e-11 * sizes * np.linalg.norm(found.direction)).all()


def test_sparse_rows_are_separated_as_filled_ones_are():
    rng = np.random.default_rng(4)
    rows = rng.poisson(0.3, size=(400, 5)).astype(float)
    codes = (rng.random(400) < 0.4).astype(np.intp)
    codes[rows[:, 2] > 1] = 1
    filled = loss_of(rows, codes)
    sparse = standardised_loss(read_sparse(csr_array(rows)), codes, 2, None)
    start = np.zeros(filled.shape)
    one, other = (find_separation(loss, start, 0.0) for loss in (filled, sparse))
    assert (one is None) == (other is None)
    codes[rows[:, 2] > 0] = 1
    one, other = (find_separation(loss, start, 0.0) for loss in (loss_of(rows, codes), sparse))
    assert (one.kind, one.columns, one.rows_apart) == (other.kind, other.columns, other.rows_apart)


def test_a_theta_that_parts_all_rows_is_proof_enough(monkeypatch):
    monkeypatch.setattr(separation, "find_cone", None)  # would fail if it were called
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    codes = (rows @ [1.0, 2.0, -1.0] > 0.3).astype(int)
    loss = loss_of(rows, codes)
    slopes = np.array([1.0, 2.0, -1.0]) / loss.inverse
    theta = np.append(loss.origin @ [1.0, 2.0, -1.0] - 0.3, slopes)[np.newaxis]
    margin = loss.curvature(theta).margin
    assert margin > 0.0
    assert find_separation(loss, theta, margin).kind == "complete"


def test_where_no_program_decides_nothing_is_said(monkeypatch):
    class Failed:
        status = 4

    monkeypatch.setattr(scipy.optimize, "linprog", lambda **_: Failed)
    with pytest.raises(Undecided, match="no reliable solution"):
        separation_of([[0], [1], [2], [1], [3]], [0, 0, 0, 1, 1])


def test_programs_beyond_their_budget_are_not_begun(monkeypatch):
    asked = []
    monkeypatch.setattr(scipy.optimize, "linprog", lambda **_: asked.append(1))
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(3000, 500)), rng.integers(2, size=3000)
    with pytest.raises(Undecided, match="would take too long"):
        separation_of(rows, codes)
    assert not asked


# A finite θ


@given(small_tables(), st.integers(0, 99))
def test_theta_is_finite_and_separated_rows_are_ahead_by_twenty(table, seed):
    rows, codes, _ = table
    loss = loss_of(rows, codes)
    theta = np.random.default_rng(seed).normal(size=loss.shape)
    found = find_separation(loss, theta, loss.curvature(theta).margin)
    assume(found is not None)
    finite = finite_theta(loss, theta, found)
    apart = margins(loss, found.direction) > 1e-9
    ahead, before = margins(loss, finite), margins(loss, theta)
    # No farther than needed: somebody is ahead by just that much.
    np.testing.assert_allclose(ahead[apart].min(), max(20.0, before[apart].min()), rtol=1e-9)
    np.testing.assert_allclose(ahead[~apart], before[~apart], atol=1e-6)


def test_theta_stays_where_it_is_if_it_is_far_enough():
    loss = loss_of([[1.0], [3.0]], [0, 1])
    theta = np.array([[0.0, 50.0]])
    found = find_separation(loss, theta, 50.0)
    np.testing.assert_array_equal(finite_theta(loss, theta, found), theta)
