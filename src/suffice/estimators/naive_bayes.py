"""Naive Bayes over columns of every kind, in one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.errors import BadSetting, listed
from suffice.estimators.naive_bayes_answers import NaiveBayesAnswers
from suffice.estimators.naive_bayes_learning import NaiveBayesLearning, chosen_for
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.registry import NAMED, family_named
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.models.naive_bayes.families_by_likelihood import candidates, select_families
from suffice.models.naive_bayes.families_by_looks import AUTO, SELECT, family_like
from suffice.models.naive_bayes.product import Product
from suffice.rows import BOOLEAN, read_table

if TYPE_CHECKING:
    from suffice.estimators.naive_bayes_learning import Chosen
    from suffice.estimators.shared.labelled_batch import LabelledBatch
    from suffice.models.naive_bayes.families.protocol import ColumnFamily
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
    "predictive-gaussian" (a Student t, for few rows), "binned", "multinomial", or objects of
    `suffice.families` with settings of their own.

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

    def _choose(self, batch: LabelledBatch) -> Chosen:
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


def check_families(asked: Any) -> None:
    """Refuse a setting that no table could satisfy, before any row is read."""
    if isinstance(asked, str):
        if asked not in (AUTO, SELECT, *NAMED):
            raise BadSetting(
                f"families={asked!r} is not known",
                hint=f"choose one of {listed((AUTO, SELECT, *NAMED))}, or {{column: family}}",
            )
        return
    if not isinstance(asked, Mapping):
        family_named(asked, "all columns")
        return
    for column, family in asked.items():
        family_named(family, f"column {column!r}")


def chosen_families(
    asked: Any, batch: LabelledBatch, alpha: float
) -> tuple[list[ColumnFamily], list[int]]:
    """Return the family of every column of a first batch, and which columns share one law."""
    table, codes, weights = batch.rows, batch.codes, batch.weights
    names = batch.columns.names
    width = table.width
    named: dict[int, ColumnFamily] = {}
    tied = [-1] * width
    if isinstance(asked, Mapping):
        for number, (key, family) in enumerate(asked.items()):
            columns = [_place(part, names) for part in (key if isinstance(key, tuple) else (key,))]
            for j in columns:
                if j in named:
                    raise BadSetting(
                        f"families names {names[j]!r} twice", hint="give each column one family"
                    )
                named[j] = family_named(family, f"column {names[j]!r}")
                if isinstance(key, tuple):
                    tied[j] = number
    elif not (isinstance(asked, str) and asked in (AUTO, SELECT)):
        named = {j: family_named(asked, "all columns") for j in range(width)}
    if isinstance(asked, str) and asked == SELECT:
        options = [candidates(table, j, codes, weights) for j in range(width)]
        found = select_families(table, codes, batch.labels, weights, options, alpha)
    else:
        found = [
            named[j] if j in named else family_like(table, j, codes, weights) for j in range(width)
        ]
    return [_cut(family, table, j, weights) for j, family in enumerate(found)], tied


def _place(key: Any, names: tuple[str, ...]) -> int:
    """Return the position of a column that is named, or given by its position."""
    if isinstance(key, str) and key in names:
        return names.index(key)
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(names):
        return int(key)
    raise BadSetting(
        f"families names {key!r}, which is no column", hint=f"the columns are {listed(names)}"
    )


def _cut(family: ColumnFamily, table: Any, column: int, weights: Any) -> ColumnFamily:
    """Return the family with its edges, where it needs some."""
    if isinstance(family, Common):
        return Common(_cut(family.family, table, column, weights))
    if not isinstance(family, Binned) or family.edges is not None:
        return family
    cells = family.read(table, [column])[:, 0]
    return family.cut(cells, weights)
