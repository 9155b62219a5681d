"""Logistic and softmax regression: p(y | x) by itself, without a word about p(x)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.estimators.logistic_learning import LogisticLearning
from suffice.estimators.logistic_report import LogisticReport

if TYPE_CHECKING:
    from suffice.estimators.separated_classes import SeparatedClasses


class LogisticRegression(LogisticReport, LogisticLearning, ClassifierMixin, BaseEstimator):
    """Logistic regression, and softmax regression where there are more than two classes.

    | setting         | default | meaning                                                         |
    |-----------------|---------|-----------------------------------------------------------------|
    | penalty         | 0.0     | ½·penalty·Σ(s_jβ_j)² is added to the sum of losses, s_j being   |
    |                 |         | the column's standard deviation; 0 is maximum likelihood        |
    | solver          | "auto"  | the quickest way to the maximum; "sgd" goes row by row           |
    | correction      | None    | "firth": finite and less biased, for separated classes too      |
    | intercept       | True    | False: scores are 0 at x = 0, and columns are not centred       |
    | tolerance       | 1e-8    | how near to the maximum, in standard errors                     |
    | max_passes      | 1000    | over the rows, at most; a look and a step are always made       |
    | standard_errors | None    | True, False; None computes them where that costs little         |
    | warm_start      | False   | begin where the last fit ended                                  |
    | random_state    | None    | the order of rows, for "sgd"                                    |

    There is no silent penalty. Columns are standardised on the way, coefficients come back in the
    user's units; a fit that is not certain to be within `tolerance` of the maximum says so, and
    so does one whose maximum does not exist.

    Categories have a column for each level but the first, which the others are compared with; with
    a penalty, for every level. Levels that are declared but in no row are left out, as R does; one
    that was not in the rows of the fit speaks for no class. Without an intercept the first category
    has a column for every level, and s_j is the root of the column's mean square. Empty cells are
    refused: p(y | x) says nothing about x, so it cannot do without a part of it.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression().fit(X[50:], y[50:])
    >>> model.coef_.round(4)
    array([[-2.4652, -6.6809,  9.4294, 18.2861]])
    >>> model.converged_
    True
    """

    def __init__(
        self,
        penalty: float = 0.0,
        *,
        solver: str = "auto",
        correction: str | None = None,
        intercept: bool = True,
        tolerance: float = 1e-8,
        max_passes: int = 1000,
        standard_errors: bool | None = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.penalty = penalty
        self.solver = solver
        self.correction = correction
        self.intercept = intercept
        self.tolerance = tolerance
        self.max_passes = max_passes
        self.standard_errors = standard_errors
        self.warm_start = warm_start
        self.random_state = random_state

    @property
    def separated_(self) -> SeparatedClasses | None:
        """How the classes are separated; None where they overlap."""
        return self._separated_classes()

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows may come."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
