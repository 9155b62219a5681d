"""Likelihoods, parameters and errors, as R's mclust computes them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

from suffice import GaussianDiscriminant
from suffice.errors import UnitsMatter
from suffice.models.gaussian.forms import LETTERS, parameter_count
from tests.reference.mclust import TABLES, mclust_reference, mclust_table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("table", [name for name in TABLES if name != "faithful"])
def test_the_best_form_of_known_classes_is_that_of_r(table: str, shared: Path) -> None:
    X, y = mclust_table(table)
    known = mclust_reference()[table]["EDDA"]
    size = len(np.unique(y))
    best, bic, error = "", -np.inf, 1.0
    for form in LETTERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnitsMatter)
            model = GaussianDiscriminant(form).fit(X, y)
        likelihood = float(model._fit.model.log_density(X).sum())
        # mclust does not count the shares of known classes.
        count = parameter_count(form, size, X.shape[1]) - (size - 1)
        found = 2.0 * likelihood - count * np.log(len(X))
        if found > bic:
            best, bic, error = form, found, float(np.mean(model.predict(X) != y))
    assert best == known["models"][0]
    assert bic == pytest.approx(known["bic"], rel=1e-8)
    assert error == pytest.approx(known["training_error"])
