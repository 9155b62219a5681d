"""The settings of a TextVectorizer: which there are, and which go together."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from suffice.errors import BadSetting
from suffice.text import TfIdf, Tokens

WEIGHTINGS = (None, "tf", "tf-idf", "notes")

MOST_COLUMNS = 2**28
"""Columns by hashing: their counts of documents then take 2 GB."""


def weighting_of(settings: Any) -> TfIdf:
    """Return how the counts become weights."""
    if settings.weighting == "notes":
        return TfIdf.notes()
    use_idf = settings.weighting != "tf"
    return TfIdf(use_idf, bool(settings.smooth_idf), bool(settings.sublinear_tf), settings.norm)


def check_settings(settings: Any) -> None:
    """Refuse settings outside their range, or that do not go together."""
    Tokens(settings.ngrams, settings.lower)
    _check_weighting(settings)
    _check_columns(settings)
    if settings.dtype is None:
        return
    if np.dtype(settings.dtype).kind not in "iuf":
        raise BadSetting(f"dtype is {settings.dtype!r}", hint="use float64, float32 or int64")
    if settings.weighting is not None and np.dtype(settings.dtype).kind != "f":
        raise BadSetting(
            f"weights are no whole numbers, and dtype is {settings.dtype!r}",
            hint="use float64 or float32",
        )


def _check_weighting(settings: Any) -> None:
    if settings.weighting not in WEIGHTINGS:
        raise BadSetting(
            f"weighting is {settings.weighting!r}",
            hint="use None (counts), 'tf', 'tf-idf' or 'notes'",
        )
    weighting_of(settings)  # knows its norms
    plain = settings.smooth_idf and not settings.sublinear_tf and settings.norm == "l2"
    if settings.weighting in (None, "notes") and not plain:
        raise BadSetting(
            f"weighting={settings.weighting!r} has no smooth_idf, sublinear_tf or norm",
            hint="these belong to weighting='tf-idf'",
        )


def _check_columns(settings: Any) -> None:
    for name in ("min_count", "max_terms", "hashing"):
        value = getattr(settings, name)
        if value is None and name != "min_count":
            continue
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise BadSetting(f"{name} is {value!r}", hint="use a whole number from 1")
    if settings.hashing is not None and settings.hashing > MOST_COLUMNS:
        raise BadSetting(
            f"hashing is {settings.hashing!r}, and every column has a count of documents",
            hint="use at most 2**28, or suffice.text.hash_terms, which counts none",
        )
    if settings.hashing is not None and (settings.min_count != 1 or settings.max_terms is not None):
        raise BadSetting(
            "min_count and max_terms choose terms, and hashing knows none",
            hint="leave them out, or use hashing=None",
        )
