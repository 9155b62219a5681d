"""Cross-validation from merged folds against scikit-learn's refits."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate

from benchmarks.contest import Contest
from benchmarks.discriminant import drawn
from suffice import GaussianDiscriminant
from suffice.evaluation import LabelledRows, held_out, shrinkage_losses, stratified_folds

if TYPE_CHECKING:
    from collections.abc import Iterator

SHRINKS = np.linspace(0.0, 1.0, 100)
PART = 5
"""Shrinkages that the peer is timed on; its time is scaled to all of them."""


def shrinkages() -> Iterator[Contest]:
    """10-fold cross-validation of 100 shrinkages, against a grid search over refits."""
    X, y = drawn(5_000, 50, 5)
    rows = LabelledRows.read(X, y)
    splits = StratifiedKFold(10, shuffle=True, random_state=0)
    some = SHRINKS[:: len(SHRINKS) // PART][:PART]

    def peer() -> Any:
        search = GridSearchCV(
            LinearDiscriminantAnalysis(solver="lsqr"),
            {"shrinkage": list(some)},
            cv=splits,
            scoring="neg_log_loss",
            refit=False,
        )
        return -search.fit(X, y).cv_results_["mean_test_score"]

    def check(ours: Any, theirs: Any) -> None:
        # Targets differ (diagonal, identity) but for γ = 0; there n - k and n differ slightly.
        np.testing.assert_allclose(ours.losses[0].mean(), theirs[0], rtol=1e-3)
        place = 40
        refits = cross_validate(
            GaussianDiscriminant(shrink=float(SHRINKS[place])),
            X,
            y,
            cv=splits,
            scoring="neg_log_loss",
        )
        np.testing.assert_allclose(ours.losses[place], -refits["test_score"], rtol=1e-8)

    yield Contest(
        "10-fold x 100 shrinkages by merged folds, 5,000x50",
        lambda: shrinkage_losses(rows, SHRINKS),
        {"default": peer},
        check,
        None,
        100.0,
        repeats=5,
        scale={"default": len(SHRINKS) / PART},
        note=f"the peer is a grid search over {PART} of 100 shrinkages, scaled",
    )


def folds() -> Iterator[Contest]:
    """10-fold cross-validation of one model."""
    X, y = drawn(100_000, 30, 3)
    rows = LabelledRows.read(X, y)
    split = stratified_folds(rows.codes)
    splits = StratifiedKFold(10, shuffle=True, random_state=0)

    def peer() -> Any:
        found = cross_validate(
            LinearDiscriminantAnalysis(), X, y, cv=splits, scoring=("accuracy", "neg_log_loss")
        )
        return found["test_accuracy"]

    def check(ours: Any, theirs: Any) -> None:
        right = np.array([np.mean((ours.predicted == y)[split == f]) for f in range(10)])
        np.testing.assert_allclose(right, theirs, atol=1e-3)

    yield Contest(
        "10-fold cross-validation of GDA, 100,000x30",
        lambda: held_out(GaussianDiscriminant(), rows, split),
        {"default": peer},
        check,
        None,
        3.0,
        repeats=3,
    )


def contests() -> Iterator[Contest]:
    """Yield every row of the table."""
    warnings.simplefilter("ignore")
    yield from shrinkages()
    yield from folds()
