"""An estimator that takes the rows `compare` took, with their blanks and categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from suffice.estimators.fitting_notes import NotFitted
from suffice.estimators.statistics_classifier import StatisticsClassifier
from suffice.evaluation.cross_validation import Preparation, fitted_on
from suffice.evaluation.labelled_rows import LabelledRows
from suffice.learning.table_recipe import TableNotes
from suffice.rows import is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.rows import FloatArray


def _has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class PreparedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that takes the rows `compare` took: blanks filled, categories coded, as there.

    Blank numbers are filled with the mean of their column among the rows of `fit`, and a column
    beside it says where; for estimators that are not ours, categories become zeros and ones too.
    What has been learned is in `estimator_`. A linear one of ours knows by then how blanks were
    filled: it takes the same rows by itself, and is saved with that.

    >>> from suffice import LogisticRegression
    >>> rows, labels = [[1.0], [np.nan], [2.0], [4.0], [3.0]], ["a", "a", "b", "b", "a"]
    >>> model = PreparedClassifier(LogisticRegression(1.0)).fit(rows, labels)
    >>> model.predict(rows)
    array(['a', 'a', 'a', 'b', 'b'], dtype='<U1')
    >>> model.estimator_.coef_.shape
    (1, 2)
    """

    def __init__(self, estimator: object) -> None:
        self.estimator = estimator

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn how rows are prepared, and then from the rows so prepared."""
        rows = LabelledRows.read(X, y, sample_weight)
        self.estimator_, self.preparation_ = fitted_on(self.estimator, rows)
        filled = self.preparation_.filled
        if isinstance(self.estimator_, StatisticsClassifier) and filled is not None:
            self.estimator_.take_notes(TableNotes(filled=filled))
        self.classes_ = self.estimator_.classes_
        width, names = _columns(X)
        self.n_features_in_ = width
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _rows(self, X: object) -> object:
        if not hasattr(self, "estimator_"):
            raise NotFitted.of(self)
        return self.preparation_.rows(X)

    def predict(self, X: object) -> NDArray[np.generic]:
        """Return the predicted class of each row."""
        rows = self._rows(X)
        found: NDArray[np.generic] = self.estimator_.predict(rows)
        return found

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: object) -> FloatArray:
        """Return p(y | x), one column a class."""
        rows = self._rows(X)
        found: FloatArray = self.estimator_.predict_proba(rows)
        return found

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: object) -> FloatArray:
        """Return log p(y | x), one column a class."""
        rows = self._rows(X)
        found: FloatArray = self.estimator_.predict_log_proba(rows)
        return found

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: object) -> FloatArray:
        """Return the scores of the classes, as the estimator has them."""
        rows = self._rows(X)
        found: FloatArray = self.estimator_.decision_function(rows)
        return found

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that blanks and texts may come."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def prepared(model: object, rows: LabelledRows) -> Any:
    """Return an unfitted estimator that takes these rows: the model itself, if it does."""
    from sklearn.base import clone

    fresh = clone(model)
    done = Preparation.of(fresh, rows)
    fills = done.filled is not None and bool(done.filled.names)
    return PreparedClassifier(fresh) if fills or done.columns is not None else fresh


def _columns(X: Any) -> tuple[int, tuple[str, ...] | None]:
    if is_sparse(X):
        return int(X.shape[1]), None
    table = read_table(X)
    return table.width, table.names
