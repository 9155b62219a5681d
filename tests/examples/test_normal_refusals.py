"""What is not a normal law, and what cannot be asked of one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suffice.errors import (
    BadMatrix,
    BadRows,
    BadSetting,
    ColumnMismatch,
    DifferentKinds,
    NotANumber,
    NotFinite,
)
from suffice.models.gaussian.law.normal import Normal

UNIT = Normal([0.0, 0.0], np.eye(2))


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], r"not symmetric: \[0, 1\] is 0.5 but \[1, 0\] is 0.4"),
        ([[1e-20, 5e-21], [4e-21, 1e-20]], r"not symmetric: \[0, 1\] is 5e-21"),
        ([[1.0, 0.0], [0.0, -2.0]], r"covariance\[1, 1\] is -2"),
        ([[1.0, 2.0], [2.0, 1.0]], r"covariance\[0, 1\] is 2.0, larger than .* 1.0 and 1.0"),
        ([[0.0, 1e-9], [1e-9, 1.0]], r"covariance\[0, 1\] is 1e-09, larger than"),
        ([[1.0, np.nan], [np.nan, 1.0]], r"covariance\[0, 1\] is nan"),
        ([[1.0, 0.0], [0.0, np.inf]], r"covariance\[1, 1\] is inf"),
        ([[1.0, 0.0]], r"shape \(1, 2\)"),
        ([1.0, 1.0], r"shape \(2,\)"),
    ],
)
def test_a_matrix_that_is_no_covariance_is_refused_by_its_entries(
    matrix: list[list[float]], says: str
) -> None:
    with pytest.raises(BadMatrix, match=says):
        Normal([0.0, 0.0], matrix)


def test_an_indefinite_matrix_is_refused_with_its_eigenvalue_and_columns() -> None:
    matrix = np.eye(5)
    for i, j, r in ((1, 2, 0.9), (2, 4, 0.9), (1, 4, -0.9)):
        matrix[i, j] = matrix[j, i] = r
    with pytest.raises(BadMatrix, match=r"eigenvalue -0\.8, mostly in columns 1, 2, 4"):
        Normal(np.zeros(5), matrix)


def test_asymmetry_within_rounding_is_averaged() -> None:
    law = Normal([0.0, 0.0], [[1.0, 0.5 + 1e-12], [0.5 - 1e-12, 1.0]])
    assert law.covariance[0, 1] == law.covariance[1, 0] == pytest.approx(0.5, abs=1e-15)


def test_a_mean_that_is_none() -> None:
    with pytest.raises(BadSetting, match=r"shape \(1, 2\)"):
        Normal([[0.0, 0.0]], np.eye(2))
    with pytest.raises(BadSetting, match=r"shape \(0,\)"):
        Normal([], np.zeros((0, 0)))
    with pytest.raises(NotFinite, match="column 1 is nan"):
        Normal([0.0, np.nan], np.eye(2))
    for mean in (["a", "b"], [1j, 0.0], [[1.0], [1.0, 2.0]]):
        with pytest.raises(NotANumber):
            Normal(mean, np.eye(2))


def test_columns_that_are_not_there() -> None:
    for columns, says in (
        ([2], "no column 2"),
        ([-1], "no column -1"),
        ([0, 0], "repeat a column"),
    ):
        with pytest.raises(ColumnMismatch, match=says):
            UNIT.marginal(columns)
    with pytest.raises(ColumnMismatch, match="not a position"):
        UNIT.marginal([True])
    with pytest.raises(BadSetting, match="no columns"):
        UNIT.marginal([])
    with pytest.raises(BadSetting, match="every column is given"):
        UNIT.conditional({0: 0.0, 1: 0.0})
    with pytest.raises(NotFinite, match="column 1 is given as nan"):
        UNIT.conditional({1: math.nan})


def test_rows_of_another_width_and_laws_of_another_width() -> None:
    for rows in ([0.0, 0.0], [[0.0]], np.zeros((2, 3))):
        with pytest.raises(BadRows, match="2 columns"):
            UNIT.log_density(rows)
    with pytest.raises(DifferentKinds, match="2 and of 1"):
        UNIT.kl_divergence(Normal([0.0], [[1.0]]))
