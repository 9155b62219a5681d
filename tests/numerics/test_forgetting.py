"""Forgetting lasts: windows slide as long as they like, and what stays may be constant."""

from __future__ import annotations

import tempfile
import warnings
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import suffice
from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes
from suffice.errors import ForgettingUnseen, LostDigits
from suffice.models.gaussian.forgetting import visible_losses
from suffice.statistics import ByClass, DiagonalMoments, Moments, PooledMoments
from tests.searches import repeats

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import FloatArray

FORMS: dict[str, Callable[[], Any]] = {
    "shared": lambda: GaussianDiscriminant("shared"),
    "per-class": lambda: GaussianDiscriminant("per-class"),
    "diagonal": lambda: GaussianDiscriminant("diagonal"),
    "shared-diagonal": lambda: GaussianDiscriminant("shared-diagonal"),
    "spherical": lambda: GaussianDiscriminant("spherical"),
    "naive-bayes": lambda: NaiveBayes("gaussian"),
}
every_form = pytest.mark.parametrize("form", FORMS)


def streams(seed: int = 0) -> dict[str, FloatArray]:
    """Return rows (5000, 3) of every kind that a window may slide over."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(5_000, 3))
    return {
        "normal": normal,
        "offset": normal + 1e8,
        "heavy-tailed": np.column_stack(
            [rng.standard_t(2, 5_000), rng.lognormal(0, 2, 5_000), normal[:, 0]]
        ),
        "rare": (rng.random((5_000, 3)) < [0.02, 0.1, 0.5]).astype(np.float64),
        "cyclic": np.tile(normal[:7], (715, 1))[:5_000],
    }


def fitted(form: str, X: FloatArray, y: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about constant columns: the same after forgetting
        return FORMS[form]().fit(X, y, **more)


def same_answers(one: Any, other: Any, X: FloatArray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert one.classes_.tolist() == other.classes_.tolist()
        ours, theirs = one.predict_proba(X), other.predict_proba(X)
    assert np.isfinite(ours).all()
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def exact_variances(rows: FloatArray) -> list[Fraction]:
    columns = [[Fraction(v) for v in column] for column in rows.T.tolist()]
    means = [sum(column) / len(column) for column in columns]
    return [
        sum(((v - mean) ** 2 for v in column), Fraction(0))
        for column, mean in zip(columns, means, strict=True)
    ]


def variances(state: Any) -> FloatArray:
    scatter: FloatArray = np.diagonal(state.scatter) if state.scatter.ndim == 2 else state.scatter
    return scatter


@pytest.mark.parametrize("kind", [Moments, DiagonalMoments])
@pytest.mark.parametrize("window", [50, 500])
@pytest.mark.parametrize("rows", streams())
def test_a_window_slides_and_slides_and_its_bound_stays_near_the_error(
    kind: Any, window: int, rows: str
) -> None:
    X = streams()[rows]
    state = kind.of(X[:window])
    singles = [kind.of(X[i : i + 1]) for i in range(len(X))]
    # A million of them are slid in benchmarks/evidence_windows.py.
    long = kind is Moments and window == 50
    pairs = repeats(3_000, 10_000) if long else repeats(1_000, 2_000)
    for i in range(pairs):
        state = (state + singles[(i + window) % len(X)]) - singles[i % len(X)]
    left = X[np.arange(pairs, pairs + window) % len(X)]
    for j, true in enumerate(exact_variances(left)):
        found = float(variances(state)[j])
        error, bound = abs(float(Fraction(found) - true)), float(state.bound[j])
        assert error <= bound
        assert error <= 1e-9 * float(true)
        # The first window was summed in plain doubles: its own bound stays, about an anchor that
        # may be four standard deviations away; and in another unit, as its spread was another.
        first = 9.0 * float(kind.of(X[:window]).bound[j])
        assert bound <= max(1e3 * max(error, 1.2e-16 * found), first)


@every_form
@pytest.mark.parametrize("rows", streams())
def test_an_estimator_that_slides_over_rows_never_refuses(form: str, rows: str) -> None:
    X = streams(1)[rows]
    y = np.arange(len(X)) % 2
    window, pairs = 40, 400
    model = fitted(form, X[:window], y[:window])
    for i in range(pairs):
        new, old = (i + window) % len(X), i % len(X)
        model.partial_fit(X[new : new + 1], y[new : new + 1])
        model.forget(X[old : old + 1], y[old : old + 1])
    stay = slice(pairs, pairs + window)
    same_answers(model, fitted(form, X[stay], y[stay]), X[stay])


@every_form
@pytest.mark.parametrize("size", [2, 10, 32, 33, 100])
def test_windows_slide_by_batches_and_by_rows_of_fractional_weight(form: str, size: int) -> None:
    rng = np.random.default_rng(size)
    X, y = rng.normal(size=(40 * size, 2)), np.arange(40 * size) % 2
    w = rng.uniform(0.1, 3.0, size=len(X))
    model = fitted(form, X[: 4 * size], y[: 4 * size], sample_weight=w[: 4 * size])
    for start in range(0, 36 * size, size):
        new, old = slice(start + 4 * size, start + 5 * size), slice(start, start + size)
        model.partial_fit(X[new], y[new], sample_weight=w[new])
        model.forget(X[old], y[old], sample_weight=w[old])
    stay = slice(36 * size, None)
    same_answers(model, fitted(form, X[stay], y[stay], sample_weight=w[stay]), X[stay])


@every_form
@pytest.mark.parametrize("blanks", [False, True])
@pytest.mark.parametrize("size", [20, 60, 3_000])
@pytest.mark.parametrize("constant", [0.0, 98.6])
def test_the_only_unusual_cell_of_a_column_can_be_forgotten(
    form: str, blanks: bool, size: int, constant: float
) -> None:
    rng = np.random.default_rng(size)
    X = rng.normal(size=(size, 3))
    X[:, 1] = constant
    X[7, 1] = 1.0
    y = np.arange(size) % 2
    if blanks:
        X[rng.random(size) < 0.2, 2] = np.nan
    model = fitted(form, X, y).forget(X[7:8], y[7:8])
    rest = np.delete(np.arange(size), 7)
    same_answers(model, fitted(form, X[rest], y[rest]), X[rest])


@every_form
@pytest.mark.parametrize("blanks", [False, True])
@pytest.mark.parametrize("others", [10, 300])
def test_a_class_may_be_left_with_two_equal_rows(form: str, blanks: bool, others: int) -> None:
    rng = np.random.default_rng(others)
    X = rng.normal(size=(others + 3, 3))
    X[1] = X[0]
    y = np.array(["few"] * 3 + ["a", "b"] * (others // 2))
    if blanks:
        X[5::4, 2] = np.nan
    model = fitted(form, X, y).forget(X[2:3], y[2:3])
    rest = np.delete(np.arange(len(X)), 2)
    same_answers(model, fitted(form, X[rest], y[rest]), X[rest])


@every_form
@pytest.mark.parametrize("size", [12, 60, 300])
@pytest.mark.parametrize("how", ["together", "one by one"])
def test_what_is_constant_once_the_rest_is_forgotten_may_stay_in_any_column(
    form: str, size: int, how: str
) -> None:
    """As in amounts of rain: on no grid, and zero on the days that stay."""
    rng = np.random.default_rng(size)
    X = np.abs(rng.normal(size=(size, 3)))
    stay = np.sort(rng.permutation(size)[: size // 2])
    X[stay, 1] = 0.1 * np.pi
    y = np.arange(size) % 2
    gone = np.setdiff1d(np.arange(size), stay)
    model = fitted(form, X, y)
    for rows in [gone] if how == "together" else gone[:, np.newaxis]:
        model.forget(X[rows], y[rows])
    same_answers(model, fitted(form, X[stay], y[stay]), X[stay])


@pytest.mark.parametrize("temperature", [None, "held-out", "left-out"])
@pytest.mark.parametrize("others", [9, 60])
def test_a_class_may_be_left_with_two_equal_rows_whatever_else_is_kept(
    temperature: str | None, others: int
) -> None:
    rng = np.random.default_rng(others)
    X, y = rng.normal(size=(others + 3, 3)), np.array(["few"] * 3 + ["a", "b", "c"] * (others // 3))
    X[1] = X[0]
    rest = np.delete(np.arange(len(X)), 2)
    models = [NaiveBayes("gaussian", temperature=temperature) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models[0].fit(X, y).forget(X[2:3], y[2:3])
        models[1].fit(X[rest], y[rest])
    same_answers(*models, X[rest])


def test_a_normal_law_is_what_it_was_where_one_column_is_left_constant() -> None:
    rows = np.random.default_rng(5).normal(size=(200, 2))
    rows[:, 1] = 0.0
    rows[3, 1] = 1.0
    left = Moments.of(rows) - Moments.of(rows[3:4])
    assert variances(left)[1] == 0.0
    assert left.mean[1] == 0.0
    assert (left.lost[1], left.bound[1]) == (0.0, 0.0)
    rest = np.delete(rows, 3, axis=0)
    np.testing.assert_allclose(left.scatter, Moments.of(rest).scatter, rtol=1e-12, atol=1e-12)


@every_form
@pytest.mark.parametrize("far", [1e8, 1e10, 1e14, 1e16])
@pytest.mark.parametrize("size", [12, 60])
def test_a_huge_row_taken_back_is_refused_or_told_and_never_wrong(
    form: str, far: float, size: int
) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(size, 2))
    y = np.arange(size) % 2
    plain = fitted(form, X, y)
    huge = np.array([[far, 0.0]])
    model = fitted(form, X, y)
    model.partial_fit(huge, y[:1])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model.forget(huge, y[:1])
        except ForgettingUnseen:
            assert far > 1e6
            return
    digits = any(issubclass(each.category, LostDigits) for each in told)
    ours, theirs = model.predict_proba(X), plain.predict_proba(X)
    assert np.isfinite(ours).all()
    np.testing.assert_allclose(ours, theirs, rtol=0.02 if digits else 1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "state",
    [
        Moments.of([[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]]),
        DiagonalMoments.of([[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]]),
        PooledMoments.of_classes(np.array([[1.0], [3.0], [7.0]]), [0, 0, 1], ["a", "b"]),
        ByClass.of(Moments, np.array([[1.0], [3.0], [7.0]]), [0, 0, 1], ["a", "b"]),
    ],
)
def test_a_state_that_is_older_than_the_bound_of_sums_is_read(state: Any) -> None:
    new = {"scatter_low", "sum_error", "anchor", "anchors", "usual", "unusual"}
    arrays = {k: v for k, v in state.to_arrays().items() if k not in new}
    old = type(state).from_arrays(arrays)
    assert old.lost.shape == state.lost.shape
    more = (old + state) - state
    np.testing.assert_allclose(more.lost, old.lost, atol=1e-14)


@every_form
def test_who_vouches_for_the_numbers_begins_with_the_bound_of_one_batch(form: str) -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = fitted(form, X, y)
    wide = np.array([[1e7, 1e7]])
    model.partial_fit(wide, y[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.forget(wide, y[:1])
    before, answers = model.statistics_.lost.max(), model.predict_proba(X)
    assert model.vouch() is model
    assert model.statistics_.lost.max() < min(before, 1e-14)
    np.testing.assert_array_equal(model.predict_proba(X), answers)


@pytest.mark.filterwarnings("ignore::suffice.errors.UnitsMatter")
@every_form
def test_columns_whose_squares_are_below_the_range_of_a_double_are_named(form: str) -> None:
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    X[:, 1] *= 1e-158
    with pytest.warns(LostDigits, match="no more than [0-9]+ digits of the variance of x1"):
        FORMS[form]().fit(X, y)


@pytest.mark.parametrize("pair", [(1e-300, 1e300), (1e300, 1e-300)])
@pytest.mark.parametrize("apart", ["by class", "by row"])
def test_weights_at_both_ends_of_the_range_are_no_error(
    pair: tuple[float, float], apart: str
) -> None:
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    weights = np.where(y == 0 if apart == "by class" else np.arange(40) % 4 < 2, *pair)
    models = [make() for make in FORMS.values()]
    if apart == "by row":
        models.append(LogisticRegression())
    for model in models:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.filterwarnings("ignore", category=UserWarning)
            assert np.isfinite(model.fit(X, y, sample_weight=weights).predict_proba(X)).all()


@every_form
@pytest.mark.parametrize("size", [30, 40, 60])
def test_a_class_of_some_size_may_be_left_constant_where_no_model_can_see_more(
    form: str, size: int
) -> None:
    rng = np.random.default_rng(size)
    X = rng.normal(size=(size + 300, 3))
    X[1] = X[0]
    y = np.array(["few"] * size + ["a", "b"] * 150)
    model = fitted(form, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostDigits)
        model.forget(X[2:size], y[2:size])
    rest = np.r_[0, 1, size : len(X)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = model.predict_proba(X[rest])
        theirs = fitted(form, X[rest], y[rest]).predict_proba(X[rest])
    np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-6)
    # And it goes on: what comes later is learned as if nothing had been there.
    model.partial_fit(X[2:12], y[2:12])
    stay = np.r_[0:12, size : len(X)]
    same_answers(model, fitted(form, X[stay], y[stay]), X[stay])


@pytest.mark.parametrize("form", ["per-class", "diagonal", "naive-bayes"])
def test_what_sums_cannot_tell_is_refused_with_what_to_do(form: str) -> None:
    # Two rows that are the same, and two that differ by 1e-7: their sums are not told apart by
    # doubles beside those of four thousand others, but by a model they would be.
    for apart in (0.0, 1e-7):
        rng = np.random.default_rng(4)
        X = rng.normal(size=(4_300, 3))
        X[1] = X[0] + apart
        y = np.array(["few"] * 4_000 + ["a", "b"] * 150)
        model = fitted(form, X, y)
        before = model.predict_proba(X[:5])
        with pytest.raises(ForgettingUnseen, match="no reliable digits in the variance") as refused:
            model.forget(X[2:4_000], y[2:4_000])
        assert "fit again on the rows that remain" in str(refused.value)
        np.testing.assert_array_equal(model.predict_proba(X[:5]), before)


def test_a_class_that_varies_is_never_taken_for_constant() -> None:
    # The pooled variance is not known itself: nothing can be said of the class.
    X = np.array([[0.0], [1.0], [2.0], [4.0], [5.0], [7.0]])
    groups = {c: Moments.of(X[3 * c : 3 * c + 3]) for c in (0, 1)}
    lost = Moments(3.0, np.ones(1), np.zeros(1), np.array([[1e-12]]), np.array([1e-13]))
    assert visible_losses(ByClass({0: groups[0], 1: lost}))[0] < 1e-3
    wide = Moments(3.0, np.ones(1), np.zeros(1), np.array([[1e-7]]), np.array([1e-8]))
    assert visible_losses(ByClass({0: groups[0], 1: wide}))[0] == pytest.approx(0.1)
    rough = Moments(3.0, np.ones(1), np.zeros(1), np.array([[2.0]]), np.array([1e-3]))
    assert visible_losses(ByClass({0: rough, 1: lost}))[0] == pytest.approx(0.1)
    assert visible_losses(lost)[0] == pytest.approx(0.1)


@given(st.integers(0, 2**32 - 1), st.sampled_from([Moments, DiagonalMoments, PooledMoments]))
@example(2, PooledMoments)
@example(161, Moments)
def test_all_rows_may_be_forgotten_piece_by_piece(seed: int, kind: Any) -> None:
    """One row of a class may be left over in between: its mean has the rounding of all of them."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(40, 300))
    codes, step = rng.integers(0, 3, size), int(rng.integers(3, 120))
    shares = rng.random((size, 3)) < [0.3, 0.3, 0.05]
    rows = np.column_stack([rng.normal(size=size) + codes, rng.poisson(codes + 1), shares])

    def of(part: slice) -> Any:
        if kind is PooledMoments:
            return kind.of_classes(rows[part], codes[part], [0, 1, 2])
        return kind.of(rows[part])

    state = of(slice(None))
    for start in range(0, size, step):
        state = state - of(slice(start, start + step))
    assert state.weight == 0.0


@every_form
@pytest.mark.parametrize("weight", [0.25, 1.0, 1.7])
@pytest.mark.parametrize("divisor", ["mle", "unbiased"])
def test_a_class_may_be_left_with_one_row_of_any_weight(
    form: str, weight: float, divisor: str
) -> None:
    """And it learns on, as if the rows that are gone had never been there."""
    rng = np.random.default_rng([len(form), int(10 * weight)])
    X = rng.normal(size=(60, 3)) + 3.3
    y = np.arange(60) % 2
    w = rng.choice([0.25, 0.3, 1.0, 3.0], 60)
    gone, last = np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 0)[20]
    w[last] = weight
    batch = np.r_[gone, last, np.flatnonzero(y == 1)]
    model = fitted(form, X[batch], y[batch], sample_weight=w[batch])
    if divisor == "unbiased" and form != "naive-bayes":
        model = model.set_params(divisor=divisor)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[batch], y[batch], sample_weight=w[batch])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in gone:
            model.forget(X[[place]], y[[place]], sample_weight=w[[place]])
        stay = np.r_[last, np.flatnonzero(y == 1)]
        again = model.__class__(**model.get_params()).fit(X[stay], y[stay], sample_weight=w[stay])
        same_answers(model, again, X)
        more = np.setdiff1d(np.flatnonzero(y == 0), batch)
        for place in more:
            model.partial_fit(X[[place]], y[[place]], sample_weight=w[[place]])
        stay = np.r_[stay, more]
        again.fit(X[stay], y[stay], sample_weight=w[stay])
    same_answers(model, again, X)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["shared", "per-class", "VEV"]))
@example(70, "per-class")
def test_who_vouches_for_the_numbers_can_save_them(seed: int, form: str) -> None:
    rng = np.random.default_rng(seed)
    width, size = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    X = rng.normal(size=(2 * size, width)) @ rng.normal(size=(width, width))
    y = np.repeat(["a", "b"], size)
    X[:, 0] = X[:, -1]  # what is left has correlations of 1
    far = rng.normal(size=(int(rng.integers(1, 40)), width)) * 10.0 ** rng.uniform(0.0, 13.0)
    labels = rng.choice(["a", "b"], size=len(far))
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        try:
            model = GaussianDiscriminant(form).fit(np.vstack([X, far]), [*y, *labels])
            model.forget(far, labels)
        except ForgettingUnseen:
            return
        answers = model.predict_proba(X)
        model.vouch().save(Path(folder) / "model")
        back = suffice.load(Path(folder) / "model")
        same_answers(back, model, X)
        np.testing.assert_array_equal(back.predict_proba(X), answers)
        np.testing.assert_array_equal(back.statistics_.lost, model.statistics_.lost)


def test_digits_that_leave_no_rows_possible_keep_their_bound_when_somebody_vouches() -> None:
    """Correlations a little beyond 1: with the bound of one batch, no rows could have them."""
    scatter = np.array([[1.0, 1.0 + 1e-5], [1.0 + 1e-5, 1.0]])
    held = Moments(5.0, np.zeros(2), np.zeros(2), scatter, np.full(2, 1e-4))
    np.testing.assert_array_equal(held.vouched().bound, held.bound)
    sound = Moments(5.0, np.zeros(2), np.zeros(2), np.eye(2), np.full(2, 1e-4))
    assert (sound.vouched().bound < 1e-14).all()
