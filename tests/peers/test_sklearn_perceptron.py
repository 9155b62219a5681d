"""scikit-learn's tests of the perceptron, on ours."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin

import suffice
from tests.peers.loading import Adapter, NoSuchSetting, adapted


class Perceptron(Adapter, ClassifierMixin, BaseEstimator):
    """The last θ after all epochs, as scikit-learn's is."""

    def __init__(
        self,
        *,
        penalty: str | None = None,
        l1_ratio: float = 0.15,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        if self.penalty is not None:
            raise NoSuchSetting("a perceptron with a penalty")
        self.model_ = suffice.Perceptron(
            epochs=self.max_iter,
            average=False,
            shuffle=self.shuffle,
            random_state=self.random_state,
        ).fit(X, y)
        self.coef_, self.intercept_ = self.model_.coef_, self.model_.intercept_
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def __getattr__(self, name: str) -> Any:
        if name in {"predict_proba", "predict_log_proba"}:
            return getattr(suffice.Perceptron(), name)
        raise AttributeError(name)


DIFFERENCES: dict[str, tuple[str, ...]] = {
    "columns are standardised inside, so that units do not matter: other rows are wrong first": (
        "test_perceptron_correctness",
    ),
}

globals().update(
    adapted(
        "sklearn.linear_model.tests.test_perceptron",
        {"sklearn.linear_model": {"Perceptron": Perceptron}},
        DIFFERENCES,
    )
)
