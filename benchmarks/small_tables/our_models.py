"""Models of ours as the commands use them: blanks filled where a model cannot do without."""

from __future__ import annotations

from typing import Any

from suffice.columns.filled import FilledColumns
from suffice.estimators.linear.linear_classifier import LinearClassifier


class Filled:
    """A linear classifier, with blank numbers filled as `suffice fit` does it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> Filled:
        """Learn what stands for blanks, and the classifier."""
        self.filled_ = FilledColumns.of(X)
        self.model.fit(self.filled_.transform(X), y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return what the classifier says of filled rows."""
        return self.model.predict_proba(self.filled_.transform(X))


class Chosen:
    """The model of `suffice fit --model auto`: what `compare` finds best on rows held out."""

    def fit(self, X: Any, y: Any) -> Chosen:
        """Compare, and fit the best one."""
        from sklearn.base import clone

        from suffice import compare

        found = compare(X, y, curves=False, random_state=0)
        model = clone(found.candidate(found.best).estimator)
        self.model_ = Filled(model) if isinstance(model, LinearClassifier) else model
        self.model_.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return what the best one says."""
        return self.model_.predict_proba(X)
