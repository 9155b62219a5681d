"""There are several ways to the maximum, by the size of the problem: all lead to the same one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from suffice import LogisticRegression
from suffice.models.linear.logistic import loss as logistic_loss
from suffice.models.linear.logistic import search as logistic_search

SAMPLED = {"SAMPLE": 256, "PER_COLUMN": 1, "FEW_ROWS": 128, "PER_PARAMETER": 1, "BLOCK": 32}
WAYS = {
    "newton": ({}, "_by_newton"),
    "a sample": ({**SAMPLED, "SMALL_WORK": 0.0}, "_by_sample"),
    "product": (
        {**SAMPLED, "SMALL_WORK": 0.0, "MODERATE_WORK": 0.0, "FEWEST_SAMPLES": 1e9},
        "_by_product",
    ),
    "product, not for long": (
        {
            **SAMPLED,
            "SMALL_WORK": 0.0,
            "MODERATE_WORK": 0.0,
            "FEWEST_SAMPLES": 1e9,
            "ROUNDS": (2, 8, 25),
        },
        "_by_product",
    ),
    "product, no Hessian": (
        {
            **SAMPLED,
            "SMALL_WORK": 0.0,
            "MODERATE_WORK": 0.0,
            "FEWEST_SAMPLES": 1e9,
            "ROUNDS": (4, 16, 25),
            "MANY_PARAMETERS": 0,
        },
        "_by_product",
    ),
    "wide": ({"MANY_COLUMNS": 0}, "_wide"),
}
"""Settings of the search that force a way, and the function that goes it."""


@pytest.fixture
def by_way(monkeypatch):
    """Return a fit that is forced to go one way, and makes sure that it did."""

    def fit(way, X, y, weights=None, **settings):
        forced, name = WAYS[way]
        if name == "_by_sample" and len(np.unique(y)) > 2:
            name = "_by_product"  # of more than two classes
        with monkeypatch.context() as patch:
            for setting, value in forced.items():
                module = logistic_loss if setting == "BLOCK" else logistic_search
                patch.setattr(module, setting, value)
            taken, original = [], getattr(logistic_search, name)

            def noted(*arguments, **named):
                taken.append(name)
                return original(*arguments, **named)

            patch.setattr(logistic_search, name, noted)
            model = LogisticRegression(**settings).fit(X, y, weights)
        assert taken[:1] == [name]
        return model

    return fit


def rows_of(kind, k, seed=0):
    """Return rows, labels and weights of one kind of problem."""
    rng = np.random.default_rng(seed)
    n, d = 1500, 5
    Z = rng.normal(size=(n, d))
    if kind == "skewed":
        Z = np.exp(Z)
    strength = 3.0 if kind == "strong" else 1.0
    scores = Z / Z.std(axis=0) @ (rng.normal(size=(d, k)) * strength) + rng.gumbel(size=(n, k))
    X = Z * 10.0 ** rng.integers(-3, 4, d) * rng.choice([-1.0, 1.0], d)
    weights = rng.uniform(0.1, 5.0, n) if kind == "weighted" else None
    return X, scores.argmax(axis=1), weights


def told(model):
    """Return slopes and their standard errors, class by class."""
    summary = model.summary()
    return summary.estimates[:, 1:], summary.standard_errors[:, 1:]


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("kind", ["normal", "skewed", "strong", "weighted"])
@pytest.mark.parametrize("way", list(WAYS)[1:])
def test_every_way_leads_to_the_same_maximum(by_way, way, kind, k, penalty):
    X, y, weights = rows_of(kind, k)
    exact = by_way("newton", X, y, weights, penalty=penalty, tolerance=1e-12)
    expected, spread = told(exact)
    model = by_way(way, X, y, weights, penalty=penalty, tolerance=1e-9, standard_errors=True)
    assert model.converged_
    found, errors = told(model)
    assert np.abs((found - expected) / spread).max() < 1e-8
    np.testing.assert_allclose(errors, spread, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kind", ["skewed", "strong"])
@pytest.mark.parametrize("way", WAYS)
def test_no_way_ends_beyond_its_bound(by_way, way, kind, k, penalty, tolerance):
    X, y, weights = rows_of(kind, k, 1)
    expected, spread = told(by_way("newton", X, y, weights, penalty=penalty, tolerance=1e-13))
    model = by_way(way, X, y, weights, penalty=penalty, tolerance=tolerance, standard_errors=False)
    assert model.converged_
    off = np.abs((model.against().coef - expected) / spread).max()
    assert off <= model.bound_ * (1.0 + 1e-3) + 1e-11


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("way", ["newton", "product", "product, not for long", "wide"])
def test_sparse_rows_go_the_same_ways(by_way, way, k, penalty):
    X, y, _ = rows_of("normal", k, 2)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.3, X, 0.0)
    expected, spread = told(by_way("newton", X, y, penalty=penalty, tolerance=1e-12))
    model = by_way(way, sparse.csr_array(X), y, penalty=penalty, tolerance=1e-9)
    assert model.converged_
    assert np.abs((model.against().coef - expected) / spread).max() < 1e-8


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("way", ["newton", "a sample", "product"])
def test_columns_that_add_up_have_least_norm_on_every_way(by_way, way, k):
    X, y, _ = rows_of("normal", k, 3)
    wide = np.column_stack([X, X[:, 0] / X[:, 0].std() - 2.0 * X[:, 1] / X[:, 1].std()])
    with pytest.warns(match="are linearly dependent"):
        model = by_way(way, wide, y, tolerance=1e-10)
    assert model.converged_
    plain = by_way("newton", X, y, tolerance=1e-12)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), atol=1e-8)
    # Of least norm: orthogonal to the direction along which no row changes.
    spread = wide.std(axis=0)
    flat = np.array([1.0, -2.0, 0.0, 0.0, 0.0, -spread[-1]])
    assert np.abs(model.against().coef * spread @ flat).max() < 1e-7


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("k", [2, 3])
def test_every_way_sees_a_separation(by_way, way, k):
    rng = np.random.default_rng(4)
    y = np.arange(1500) % k
    X = rng.normal(size=(1500, 3)) + 40.0 * np.eye(3)[y]
    with pytest.warns(match="complete separation"):
        model = by_way(way, X, y)
    assert model.separated_.kind == "complete"
    assert not model.converged_
    assert (model.predict(X) == y).all()
    held = by_way(way, X, y, penalty=1.0, tolerance=1e-9)
    assert held.converged_
    exact = by_way("newton", X, y, penalty=1.0, tolerance=1e-12)
    np.testing.assert_allclose(held.coef_, exact.coef_, rtol=1e-6, atol=1e-7)


def test_a_sample_of_many_rows_leads_where_newton_leads(by_way, monkeypatch):
    """Without any setting forced: two hundred thousand rows go by a sample."""
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(200_000, 20)) * 10.0 ** rng.integers(-2, 3, 20) + 3.0
    y = (Z / Z.std(axis=0) @ rng.normal(size=20) * 0.3 + rng.logistic(size=len(Z)) > 0).astype(int)
    taken, original = [], logistic_search._by_sample

    def noted(*arguments):
        taken.append(True)
        return original(*arguments)

    monkeypatch.setattr(logistic_search, "_by_sample", noted)
    model = LogisticRegression(standard_errors=True).fit(Z, y)
    assert taken
    monkeypatch.setattr(logistic_search, "SMALL_WORK", np.inf)
    exact = LogisticRegression(tolerance=1e-12).fit(Z, y)
    assert len(taken) == 1
    expected, spread = told(exact)
    found, errors = told(model)
    assert np.abs((found - expected) / spread).max() < 1e-8
    np.testing.assert_allclose(errors, spread, rtol=1e-6)
    assert np.abs((model.coef_ - exact.coef_) * Z.std(axis=0)).max() < 1e-8


def test_rows_in_order_of_their_class_are_sampled_too(by_way):
    """A sample of blocks from rows in order holds one class after the other, and still all."""
    X, y, _ = rows_of("normal", 2, 6)
    order = np.argsort(y, kind="stable")
    expected, spread = told(by_way("newton", X, y, tolerance=1e-12))
    model = by_way("a sample", X[order], y[order], tolerance=1e-9)
    assert np.abs((model.against().coef - expected) / spread).max() < 1e-8


@pytest.mark.parametrize("way", ["a sample", "product"])
def test_a_sample_that_knows_nothing_does_not_mislead(by_way, way):
    """The rows of the sample all lie elsewhere, and one column hardly varies among them."""
    X, y, _ = rows_of("normal", 2, 7)
    order = np.argsort(X[:, 0])
    rare = np.zeros(len(y))
    rare[np.random.default_rng(7).choice(len(y), 40, replace=False)] = 1.0
    rows = np.column_stack([X[order], rare])
    expected, spread = told(by_way("newton", rows, y[order], tolerance=1e-12))
    model = by_way(way, rows, y[order], tolerance=1e-9)
    assert model.converged_
    assert np.abs((model.against().coef - expected) / spread).max() < 1e-8
