"""Posteriors, leave-one-out posteriors and errors, as R's MASS computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice import GaussianDiscriminant
from tests.reference.data_sets import load, r_reference

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

ROWS = [0, 49, 99]  # R's rows 1, 50, 100
FORMS = [("lda", "shared"), ("qda", "per-class")]


def iris() -> tuple[NDArray[np.float64], NDArray[Any]]:
    from sklearn.datasets import load_iris

    data = load_iris()
    return data.data, np.asarray(data.target_names)[data.target]


def pima_tr() -> tuple[NDArray[np.float64], NDArray[Any]]:
    X, y = load("pima_ripley").part("train")
    return X.to_numpy(dtype=np.float64), y


TABLES = {"iris": iris, "pima_tr": pima_tr}


def relative(found: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Return the largest difference, relative to the posterior, however small that is."""
    return float(np.max(np.abs(found - expected) / expected))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("function", "form"), FORMS)
def test_posteriors_and_errors_are_those_of_r(
    table: str, function: str, form: str, shared: Path
) -> None:
    known = r_reference()[table]
    X, y = TABLES[table]()
    model = GaussianDiscriminant(form, divisor="unbiased").fit(X, y)
    assert model.classes_.tolist() == known["classes"]
    expected = np.array(known[f"{function}_posterior_rows_1_50_100"])
    np.testing.assert_allclose(model.predict_proba(X[ROWS]), expected, rtol=0, atol=1e-10)
    assert relative(model.predict_proba(X[ROWS]), expected) < 1e-8
    assert np.mean(model.predict(X) != y) == pytest.approx(known[f"{function}_train_error"])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("function", "form"), FORMS)
def test_leave_one_out_is_that_of_r_with_its_priors(
    table: str, function: str, form: str, shared: Path
) -> None:
    """R keeps the frequencies of all rows as priors, so they are given here."""
    known = r_reference()[table]
    X, y = TABLES[table]()
    labels, counts = np.unique(y, return_counts=True)
    priors = dict(zip(labels.tolist(), counts / len(y), strict=True))
    model = GaussianDiscriminant(form, divisor="unbiased", priors=priors).fit(X, y)
    result = model.leave_one_out(X, y)
    assert result.approximate == ""
    expected = np.array(known[f"{function}_loo_posterior_rows_1_50_100"])
    found = np.exp(result.log_posterior[ROWS])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert relative(found, expected) < 1e-8
    assert result.error == pytest.approx(known[f"{function}_loo_error"])
