"""Tables as strangers bring them: blanks, one-hot columns, copies, constants, stray zeros."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.errors import BadRows, DidNotConverge, OutsideSupport, SufficeError, SufficeWarning
from suffice.models.gaussian.auto_covariance import candidates, choose
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.missing.acceleration import Acceleration
from suffice.models.gaussian.missing.e_step import solved
from suffice.statistics import ByClass, DiagonalMoments, Moments
from tests.reference.plain_em import plain_em

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto"]


# Missing cells in degenerate tables


@st.composite
def tables(draw: Any) -> tuple[Floats, NDArray[np.intp]]:
    """Return a few rows with one-hot columns, copies, constants and blanks among the numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, classes = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    numbers = rng.choice([0.0, 0.2, 0.35, 1.0, 5.0, 11.0], size=(size, draw(st.integers(1, 3))))
    level = rng.integers(0, draw(st.integers(1, 4)), size)
    parts = [numbers, np.eye(5)[level]]
    if draw(st.booleans()):
        parts.append(numbers[:, :1])
    if draw(st.booleans()):
        parts.append(np.full((size, 1), 3.0))
    if draw(st.booleans()):
        parts.append(numbers.sum(axis=1, keepdims=True))
    X = np.hstack(parts)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.1, 0.4]))] = np.nan
    y = rng.integers(0, classes, size)
    return X, y


@pytest.mark.parametrize("form", FORMS)
@given(table=tables())
def test_a_model_comes_out_of_every_small_table(
    form: str, table: tuple[Floats, NDArray[np.intp]]
) -> None:
    X, y = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        try:
            model = GaussianDiscriminant(form).fit(X, y)
            found = model.predict_log_proba(X)
        except SufficeError:
            return
        assert not np.isnan(found).any()
        assert not np.isnan(model.log_density(X)).any()
        np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, rtol=1e-9)


def test_columns_that_are_collinear_in_a_pattern_are_no_obstacle() -> None:
    nan = np.nan
    rows = [[nan, 1, 0, 0, 0, 5, 1], [0.2, 0, 0, 1, 0, 15, 0], [0.35, 0, 1, 0, 0, 11, 1]]
    labels = ["rose", "daisy", "daisy"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        for form in FORMS:
            model = GaussianDiscriminant(form).fit(rows, labels)
            assert model.predict(rows).tolist() == labels


def test_a_column_that_others_determine_is_expected_where_they_put_it() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 2))
    X, y = np.column_stack([x, x.sum(axis=1)]), np.arange(60) % 2
    X[::3, 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = GaussianDiscriminant().fit(X, y)
    np.testing.assert_allclose(model.impute(X, y)[:, 2], x.sum(axis=1), atol=1e-6)
    full = GaussianDiscriminant().fit(x, y)
    np.testing.assert_allclose(model.predict_proba(X), full.predict_proba(x), atol=1e-5)


def test_the_shortest_answer_stands_in_for_an_inverse() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 5, 2))
    blocks, across = root @ root.swapaxes(1, 2), root @ rng.normal(size=(3, 2, 4))
    np.testing.assert_allclose(blocks @ solved(blocks, across), across, atol=1e-9)
    plain = blocks + np.eye(5)
    np.testing.assert_allclose(solved(plain, across), np.linalg.solve(plain, across), rtol=1e-10)
    blocks[:, 0] = blocks[:, :, 0] = 0.0
    across[:, 0] = 0.0
    found = solved(blocks, across)
    assert np.isfinite(found).all()
    assert not found[:, 0].any()


@pytest.mark.parametrize(("form", "shared"), [("shared", True), ("per-class", False)])
def test_columns_that_every_row_shows_are_treated_like_the_others(form: str, shared: bool) -> None:
    """Some columns have gaps, some have none, and one row shows nothing but its label."""
    rng = np.random.default_rng(11)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 5)) @ rng.normal(size=(5, 5)) + y[:, np.newaxis]
    X[:, [1, 3]] = np.where(rng.random((120, 2)) < 0.4, np.nan, X[:, [1, 3]])
    model = GaussianDiscriminant(form).fit(X, y)
    means, covariances = plain_em(X, y, shared=shared)
    np.testing.assert_allclose(model.means_, means, atol=1e-7)
    np.testing.assert_allclose(model.covariances_, covariances, atol=1e-6)


def test_a_search_that_leads_nowhere_ends_with_a_word() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 25))
    X[rng.random(X.shape) < 0.6] = np.nan
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = GaussianDiscriminant("per-class").fit(X, np.arange(30) % 2)
    assert all(issubclass(one.category, SufficeWarning) for one in told)
    assert any(issubclass(one.category, DidNotConverge) for one in told) or len(told) <= 1
    assert not np.isnan(model.predict_log_proba(X)).any()


def test_a_step_that_overshoots_is_taken_back() -> None:
    """The map bends: far from its fixed point the foreseen one is no progress."""

    def image(x: Floats) -> Floats:
        return np.array([0.95 * np.arctan(3.0 * x[0]) / 3.0, 0.5 * x[1] + np.sin(x[0]) / 4.0])

    aid, x = Acceleration(), np.array([40.0, -7.0])
    for _ in range(60):
        x = aid.following(x, image(x))
    np.testing.assert_allclose(x, 0.0, atol=1e-9)


# The choice among covariances


def one_hot(seed: int, size: int = 90) -> tuple[Floats, NDArray[np.intp]]:
    """Return numbers and two one-hot columns sets, one of them constant within a class."""
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 3
    level, other = rng.integers(0, 3, size), np.where(y == 1, 0, rng.integers(0, 2, size))
    numbers = rng.normal(size=(size, 3)) * (1.0 + y[:, np.newaxis]) + y[:, np.newaxis]
    return np.column_stack([numbers, np.eye(3)[level], np.eye(2)[other]]), y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_the_chosen_candidate_loses_what_leave_one_out_says(seed: int) -> None:
    X, y = one_hot(seed)
    learner = GaussianLearner(Gaussian("per-class"))
    fit = learner.fit(learner.summarize(X, y, (0, 1, 2)))
    chosen, judged = choose(fit.summary, X, y, None, None, "mle")
    losses = dict(judged)
    assert list(losses) == list(candidates("mle"))
    assert losses[chosen] == min(losses.values())
    model = GaussianDiscriminant(
        "per-class", pool=chosen.pool, shrink=chosen.shrink, shrink_target=chosen.shrink_target
    ).fit(X, y)
    # Floors are held fixed in judging, and laid anew by leave-one-out.
    assert losses[chosen] == pytest.approx(model.leave_one_out(X, y).log_loss, rel=0.05)


@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_the_second_order_is_near_enough_to_choose_by(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = one_hot(7, size=300)
    learner = GaussianLearner(Gaussian("per-class"))
    summary = learner.fit(learner.summarize(X, y, (0, 1, 2))).summary
    exact, exactly = choose(summary, X, y, None, None, "mle")
    monkeypatch.setattr("suffice.models.gaussian.jury.EXACT_BUDGET", 0.0)
    near, nearly = choose(summary, X, y, None, None, "mle")
    assert near == exact
    np.testing.assert_allclose([v for _, v in nearly], [v for _, v in exactly], rtol=2e-3)


@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_neighbours_lead_to_the_best_of_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        X, y = one_hot(seed)
        learner = GaussianLearner(Gaussian("per-class"))
        summary = learner.fit(learner.summarize(X, y, (0, 1, 2))).summary
        best, judged = choose(summary, X, y, None, None, "mle")
        with monkeypatch.context() as patch:
            patch.setattr("suffice.models.gaussian.auto_covariance.GRID_BUDGET", 0.0)
            found, fewer = choose(summary, X, y, None, None, "mle")
        assert len(fewer) < len(judged)
        assert dict(fewer)[found] <= dict(fewer).get(best, np.inf)
        assert dict(fewer)[found] <= 1.05 * dict(judged)[best]


# Log-normal columns that meet a zero


def prices(bad: float | None = None) -> tuple[pd.DataFrame, NDArray[np.str_]]:
    rng = np.random.default_rng(5)
    y = np.repeat(["cheap", "dear"], 60)
    price = rng.lognormal(np.where(y == "dear", 2.0, 0.5), 0.6)
    frame = pd.DataFrame({"price": price, "size": rng.normal(y == "dear", 1.0)})
    if bad is not None:
        frame.loc[[3, 80], "price"] = bad
    return frame, y


@pytest.mark.parametrize("bad", [0.0, -2.5])
@pytest.mark.parametrize("families", ["auto", "select", {"price": "lognormal"}])
def test_a_cell_that_is_not_positive_says_nothing_and_is_named(families: Any, bad: float) -> None:
    X, y = prices()
    model = NaiveBayes(families).fit(X, y)
    assert "lognormal" in model.families_["price"]
    new, _ = prices(bad)
    with pytest.warns(OutsideSupport, match=r"price \(row 3, 80\)"):
        found = model.predict_log_proba(new)
    blank = new.assign(price=new["price"].where(new["price"] > 0.0))
    np.testing.assert_allclose(found, model.predict_log_proba(blank))
    with pytest.warns(OutsideSupport):
        assert (model.predict(new) == model.predict(blank)).all()
    with pytest.warns(OutsideSupport):
        densities = model.log_density(new)
    outside = np.isin(np.arange(len(new)), [3, 80])
    assert np.isneginf(densities[outside]).all()
    assert np.isfinite(densities[~outside]).all()


@pytest.mark.parametrize("bad", [0.0, -2.5])
def test_a_cell_that_is_not_positive_cannot_be_learned_as_log_normal(bad: float) -> None:
    X, y = prices(bad)
    with pytest.raises(BadRows, match=r"row 3, price: .* is not positive"):
        NaiveBayes({"price": "lognormal"}).fit(X, y)
    assert "lognormal" not in NaiveBayes().fit(X, y).families_["price"]


# Forgetting with fractional weights

weights = st.sampled_from([0.1, 0.2, 0.3, 0.1 + 0.2, 0.7, 1.0, 3.0, 1.0 / 3.0])
cells = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.125, 2.5, 1e3])
groups = st.lists(st.tuples(cells, weights, st.integers(0, 1)), min_size=1, max_size=5)


def summary(kind: Any, rows: list[tuple[float, float, int]]) -> ByClass[Any]:
    if not rows:
        return ByClass({})
    x, w, codes = (np.array(part) for part in zip(*rows, strict=True))
    return ByClass.of(kind, x[:, np.newaxis], codes, ["ham", "spam"], w)


@pytest.mark.parametrize("kind", [DiagonalMoments, Moments])
@given(kept=st.lists(st.tuples(cells, weights, st.integers(0, 1)), max_size=5), gone=groups)
def test_fractional_weights_are_forgotten_to_their_rounding(
    kind: Any, kept: list[tuple[float, float, int]], gone: list[tuple[float, float, int]]
) -> None:
    for whole in (summary(kind, kept + gone), summary(kind, kept) + summary(kind, gone)):
        left, truth = whole - summary(kind, gone), summary(kind, kept)
        assert left.labels == truth.labels
        for label in left.labels:
            ours, theirs = left.groups[label], truth.groups[label]
            assert ours.weight == pytest.approx(theirs.weight, rel=1e-9)
            gap = np.abs(ours.scatter - theirs.scatter)
            assert np.all(gap <= 4.0 * (ours.error + theirs.error) + 1e-30)


def test_what_a_class_never_had_is_still_refused() -> None:
    held = summary(DiagonalMoments, [(0.1, 0.1, 0), (0.3, 0.1, 0), (0.3, 0.1, 1)])
    for rows in ([(2.5, 0.2, 0)], [(0.1, 0.3, 0)], [(0.3, 0.1, 1), (0.3, 1e-6, 1)]):
        with pytest.raises(SufficeError):
            held - summary(DiagonalMoments, rows)
