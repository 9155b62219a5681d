"""Naive Bayes over columns of every kind, in one model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.estimators.naive_bayes_answers import NaiveBayesAnswers
from suffice.estimators.naive_bayes_families import check_families, chosen_families
from suffice.estimators.naive_bayes_learning import NaiveBayesLearning, chosen_for
from suffice.models.naive_bayes.product import Product
from suffice.rows import BOOLEAN, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.estimators.batches import Batch
    from suffice.estimators.naive_bayes_parameters import Chosen
    from suffice.rows import Label


class NaiveBayes(NaiveBayesLearning, NaiveBayesAnswers, ClassifierMixin, BaseEstimator):
    """p(x | y) = ∏ p(x_j | y): columns of any kind, each with a family of its own.

    | setting     | default | meaning                                                          |
    |-------------|---------|------------------------------------------------------------------|
    | families    | "auto"  | "auto" reads them off the first rows; "select" chooses each by   |
    |             |         | held-out log-loss; a name ("gaussian") is for all columns;       |
    |             |         | {column: family} names some, by name or position                 |
    | smoothing   | 1.0     | α ≥ 0; 1 is Laplace's rule, 0 its limit; "held-out" chooses α    |
    | temperature | None    | β > 0, an exponent on the likelihood; "held-out" fits it         |
    | priors      | None    | {label: probability}; None is the class frequencies              |

    Families: "bernoulli", "categorical", "poisson", "gaussian", "shared-gaussian", "lognormal",
    "binned", "multinomial", or objects of `suffice.families` with settings of their own.

    Everything is learned from sums: `partial_fit` adds rows, `forget` takes them back, `+` merges
    two models, and a label or a level never seen before is simply a new one. Missing cells are
    skipped, exactly.

    >>> rows = [["red", 3.1, True], ["blue", 2.9, True], ["red", 7.5, False], [None, 6.8, False]]
    >>> model = NaiveBayes().fit(rows, ["apple", "plum", "apple", "plum"])
    >>> model.families_
    {'x0': 'categorical', 'x1': 'lognormal', 'x2': 'bernoulli'}
    >>> model.predict([["red", None, True], ["green", 3.0, True]])
    array(['apple', 'plum'], dtype='<U5')
    """

    def __init__(
        self,
        families: Any = "auto",
        *,
        smoothing: float | str = 1.0,
        temperature: float | str | None = None,
        priors: Mapping[Label, float] | None = None,
    ) -> None:
        self.families = families
        self.smoothing = smoothing
        self.temperature = temperature
        self.priors = priors

    def _families(self) -> Any:
        return self.families

    def _open(self, X: object) -> Any:
        table = read_table(X)
        if isinstance(X, np.ndarray) and X.dtype == np.bool_:
            return replace(table, kinds=(BOOLEAN,) * table.width)  # truths, not numbers 0 and 1
        return table

    def _check_settings(self) -> None:
        super()._check_settings()
        check_families(self.families)

    def _choose(self, batch: Batch) -> Chosen:
        alpha = 1.0 if isinstance(self.smoothing, str) else float(self.smoothing)
        families, tied = chosen_families(self.families, batch, alpha)
        return chosen_for(Product.of_columns(families, tied), self.families)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells and categories are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
