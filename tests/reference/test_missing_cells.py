"""Missing cells: EM against a plain one, and what marginalising is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from suffice import GaussianDiscriminant
from tests.reference.imputation import compared
from tests.reference.plain_em import log_posterior, plain_em

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FORMS = [("shared", True), ("per-class", False)]
SMALL = ("iris", "wine", "crabs", "bupa", "pima_ripley", "synth_ripley", "wdbc", "mixture_esl")


def incomplete(
    n: int = 150, width: int = 4, classes: int = 3, share: float = 0.2, seed: int = 3
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return correlated normal classes with a share of all cells gone, none of it by plan."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % classes)
    turns = rng.standard_normal((classes, width, width))
    X = np.einsum("nij,nj->ni", turns[y] + 1.5 * np.eye(width), rng.standard_normal((n, width)))
    X += rng.standard_normal((classes, width))[y] * 2.0
    X[rng.random(X.shape) < share] = np.nan
    return X, y


@pytest.mark.parametrize(("form", "shared"), FORMS)
def test_em_on_patterns_reaches_what_plain_em_reaches(form: str, shared: bool) -> None:
    X, y = incomplete()
    model = GaussianDiscriminant(form).fit(X, y)
    means, covariances = plain_em(X, y, shared=shared)
    np.testing.assert_allclose(model.means_, means, atol=1e-6)
    np.testing.assert_allclose(model.covariances_, covariances, atol=1e-6)
    expected = log_posterior(X, means, covariances, np.bincount(y) / len(y))
    np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("form", "shared"), FORMS)
def test_em_weighs_rows_as_plain_em_does(form: str, shared: bool) -> None:
    X, y = incomplete(n=90, width=3, classes=2, seed=8)
    weights = np.random.default_rng(1).choice([0.5, 1.0, 3.0], size=len(y))
    model = GaussianDiscriminant(form).fit(X, y, sample_weight=weights)
    means, covariances = plain_em(X, y, shared=shared, weights=weights)
    np.testing.assert_allclose(model.means_, means, atol=1e-6)
    np.testing.assert_allclose(model.covariances_, covariances, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"covariance": "per-class", "pool": 0.4},
        {"covariance": "per-class", "shrink": 0.3},
        {"covariance": "per-class", "pool": 0.2, "shrink": 0.5, "shrink_target": "scaled"},
        {"covariance": "shared", "shrink": 0.5},
        {"covariance": "per-class", "divisor": "unbiased"},
    ],
    ids=str,
)
def test_every_form_ends_where_another_step_changes_nothing(settings: dict[str, object]) -> None:
    """Completing the rows by the fitted model, and fitting them again, gives it back."""
    X, y = incomplete(n=120, seed=5)
    model = GaussianDiscriminant(**settings).fit(X, y)  # type: ignore[arg-type]
    means, covariances = model.means_, model.covariances_
    filled = model.impute(X, y)
    size, width = means.shape
    scatters = np.zeros((size, width, width))
    for row, full, c in zip(X, filled, y, strict=True):
        gone = np.isnan(row)
        sigma = covariances[c]
        across = sigma[np.ix_(gone, ~gone)]
        rest = sigma[np.ix_(gone, gone)]
        rest = rest - across @ np.linalg.solve(sigma[np.ix_(~gone, ~gone)], across.T)
        scatters[c][np.ix_(gone, gone)] += rest
        scatters[c] += np.outer(full - means[c], full - means[c])
    held = np.bincount(y).astype(float)
    less = 1.0 if settings.get("divisor") == "unbiased" else 0.0
    pool = 1.0 if settings["covariance"] == "shared" else float(settings.get("pool", 0.0))  # type: ignore[arg-type]
    shrink = float(settings.get("shrink", 0.0))  # type: ignore[arg-type]
    pooled = scatters.sum(axis=0) / (held.sum() - less * size)
    for c in range(size):
        again = ((1 - pool) * scatters[c] + pool * scatters.sum(axis=0)) / (
            (1 - pool) * (held[c] - less) + pool * (held.sum() - less * size)
        )
        target = np.diag(again)
        if settings.get("shrink_target") == "scaled":
            target = np.mean(np.diag(again) / np.diag(pooled)) * np.diag(pooled)
        again = (1 - shrink) * again + shrink * np.diag(target)
        np.testing.assert_allclose(again, covariances[c], atol=1e-7)
        np.testing.assert_allclose(filled[y == c].mean(axis=0), means[c], atol=1e-8)


@pytest.mark.parametrize(("form", "shared"), FORMS)
def test_rows_without_a_cell_count_for_the_priors_only(form: str, shared: bool) -> None:
    X, y = incomplete(n=80, width=3, classes=2)
    empty = np.isnan(X).all(axis=1)
    X, y = X[~empty], y[~empty]
    more = np.vstack([X, np.full((20, 3), np.nan)])
    labels = np.concatenate([y, np.zeros(20, dtype=int)])
    model = GaussianDiscriminant(form).fit(more, labels)
    np.testing.assert_allclose(model.priors_, np.bincount(labels) / len(labels))
    np.testing.assert_allclose(model.predict_proba(more[-1:])[0], model.priors_)
    if not shared:
        without = GaussianDiscriminant(form).fit(X, y)
        np.testing.assert_allclose(model.means_, without.means_, atol=1e-7)
        np.testing.assert_allclose(model.covariances_, without.covariances_, atol=1e-7)
    assert np.isfinite(model.log_density(X)).all()


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal", "spherical", "auto"])
@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_a_column_that_a_class_never_shows_does_no_harm(form: str) -> None:
    X, y = incomplete(n=90, seed=2)
    X[y == 1, 2] = np.nan
    model = GaussianDiscriminant(form).fit(X, y)
    found = model.predict_log_proba(X)
    assert np.isfinite(found).all()
    others = GaussianDiscriminant(form).fit(X[:, [0, 1, 3]], y)
    # What the class never showed cannot speak for or against it by much.
    agreement = np.mean(model.predict(X) == others.predict(X[:, [0, 1, 3]]))
    assert agreement > 0.7


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal", "shared-diagonal", "auto"])
@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_a_column_that_nobody_shows_says_nothing(form: str) -> None:
    X, y = incomplete(n=60, width=3, classes=2)
    wide = np.column_stack([X, np.full(len(X), np.nan)])
    model, narrow = GaussianDiscriminant(form).fit(wide, y), GaussianDiscriminant(form).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(wide), narrow.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(model.log_density(wide), narrow.log_density(X), atol=1e-7)


def test_held_out_log_loss_is_better_than_mean_imputation(shared: Path) -> None:
    losses = [compared(name, "shared", splits=2) for name in SMALL]
    better = sum(ours < theirs for ours, theirs in losses)
    assert better >= 0.8 * len(SMALL), f"better on {better} of {len(SMALL)} tables"
