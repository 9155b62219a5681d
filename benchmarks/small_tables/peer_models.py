"""Peers as classifiers of raw rows: each prepares the columns the way it takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.small_tables.preparation import usual_columns, with_blank_level

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

INVERSE_PENALTIES = np.logspace(-3, 3, 10)
"""Values of C that cross-validated logistic regression chooses from."""
FOLDS = 5
"""Folds of that choice, where every class has as many rows."""


class ClassShares:
    """The shares of the classes, whatever a row says."""

    def fit(self, X: Any, y: Any) -> ClassShares:  # noqa: ARG002
        """Count the labels."""
        self.classes_, counts = np.unique(np.asarray(y, dtype=str), return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the shares for each row."""
        return np.tile(self.shares_, (len(X), 1))


class Prepared:
    """A classifier of plain numbers, which gets raw columns the usual way."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: Any) -> Prepared:
        """Learn the preparation and the classifier."""
        self.columns_ = usual_columns(X).fit(X)
        self.model.fit(self.columns_.transform(X), y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        """Return what the classifier says of prepared rows."""
        return self.model.predict_proba(self.columns_.transform(X))


class OwnCategories:
    """A classifier that takes categories as they are; it is made when the columns are known."""

    def __init__(self, make: Callable[[pd.DataFrame], Any]) -> None:
        self.make = make

    def fit(self, X: pd.DataFrame, y: Any) -> OwnCategories:
        """Learn from raw columns; blank categories are a level, blank numbers stay."""
        self.model_ = self.make(X)
        self.model_.fit(with_blank_level(X), y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        """Return what the classifier says."""
        return self.model_.predict_proba(with_blank_level(X))


class CrossValidatedLogistic:
    """scikit-learn's logistic regression, its C chosen by the log-loss of stratified folds.

    There are as many folds as the smallest class has rows, from 2 to 5. A class of one row cannot
    be both learned and judged: that row is learned from in every fold.
    """

    def fit(self, X: Any, y: Any) -> CrossValidatedLogistic:
        """Choose C, and fit with it."""
        from sklearn.linear_model import LogisticRegressionCV

        labels, codes = np.unique(np.asarray(y, dtype=str), return_inverse=True)
        self.model_ = LogisticRegressionCV(
            Cs=INVERSE_PENALTIES,
            l1_ratios=(0.0,),
            cv=_folds(codes),
            scoring=_minus_log_loss,
            max_iter=1000,
            use_legacy_attributes=False,
        ).fit(X, codes)
        self.classes_ = labels
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class."""
        return self.model_.predict_proba(X)


def _folds(codes: Any) -> list[tuple[Any, Any]]:
    """Return stratified folds of rows whose class has two or more; all learn from the others."""
    from sklearn.model_selection import StratifiedKFold

    counts = np.bincount(codes)
    shared = np.flatnonzero(counts[codes] > 1)
    alone = np.flatnonzero(counts[codes] == 1)
    many = max(2, min(FOLDS, counts[counts > 1].min(initial=FOLDS)))
    parts = StratifiedKFold(many, shuffle=True, random_state=0).split(shared, codes[shared])
    return [(np.concatenate([shared[train], alone]), shared[test]) for train, test in parts]


def _minus_log_loss(model: Any, X: Any, y: Any) -> float:
    p = np.asarray(model.predict_proba(X))
    place = np.searchsorted(model.classes_, y)
    return float(np.log(np.maximum(p[np.arange(len(p)), place], 2.2e-16)).mean())
