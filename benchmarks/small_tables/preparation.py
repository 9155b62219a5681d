"""Raw columns as peers take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

BLANK = "blank"
"""The level of a category that is not there, in words."""


def numbers_of(X: pd.DataFrame) -> list[str]:
    """Return the names of the columns of numbers."""
    return [name for name in X if pd.api.types.is_numeric_dtype(X[name])]


def categories_of(X: pd.DataFrame) -> list[str]:
    """Return the names of the columns of text."""
    return [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]


def with_blank_level(X: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with categories as text, a blank one as a level; numbers are left alone."""
    done = X.copy()
    for name in categories_of(X):
        done[name] = X[name].astype(object).where(X[name].notna(), BLANK).astype(str).astype(object)
    for name in numbers_of(X):
        done[name] = X[name].astype(np.float64)
    return done


def usual_columns(X: pd.DataFrame) -> Any:
    """Return an unfitted transformer into plain numbers, the usual way.

    Numbers: the median where blank, then standardised. Categories: zeros and ones, a blank one a
    level of its own, levels that training rows do not have ignored.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = ColumnTransformer(
        [("numbers", numbers, numbers_of(X)), ("categories", categories, categories_of(X))],
        sparse_threshold=0.0,
    )
    return make_pipeline(FunctionTransformer(with_blank_level), parts)
