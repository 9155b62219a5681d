"""What models say of each row without having seen it: several judges, calibrated and averaged."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from suffice.columns import Columns
from suffice.errors import SufficeError
from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
from suffice.estimators.naive_bayes import NaiveBayes
from suffice.estimators.text.event_models import MultinomialNaiveBayes
from suffice.linear_algebra import normalized
from suffice.rows import is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.rows import FloatArray, IntArray

STRENGTHS = (0.1, 1.0, 8.0)
"""Rows of the prior of predictive classes: with few rows strong ones are better, with many weak."""
MANY = 20_000
"""Rows from which on nobody is left out: one row in so many moves nothing that is seen."""
MOST_WIDTH = 300
"""Columns, categories coded, whose covariance is a judge."""
NEIGHBOURS = (3, 8, 20, 50)
"""Neighbours that are asked: the curved judges, for classes of any shape."""
MOST_DISTANCES = 2e9
"""Rows squared times columns whose distances are looked at: some seconds."""
COOLER = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
"""Exponents that make a judge less sure of itself."""
FLOOR = 1e-12
"""The least probability that a judge may give."""
KEPT = 5.0
"""Rows of a prior by which judges are equal."""


def judged(X: object, codes: IntArray, size: int) -> tuple[FloatArray, dict[str, float]]:
    """Return left-out posteriors (n, k) of rows, and the share of every judge in them.

    `X` are rows as estimators take them; row i is of class codes[i] of `size`.
    """
    found: dict[str, FloatArray] = {}
    for name, log_posterior in _judgements(X, codes, size):
        found[name] = _calibrated(log_posterior, codes)
    shares_of = np.bincount(codes, minlength=size) + 0.0
    without = np.broadcast_to(shares_of, (len(codes), size)).copy()
    without[np.arange(len(codes)), codes] -= 1.0
    found["class shares"] = (without + 0.5) / (without + 0.5).sum(axis=1, keepdims=True)
    stacked = np.stack(list(found.values()))
    own = np.maximum(stacked[:, np.arange(len(codes)), codes], FLOOR)
    shares = _pooled(own)
    whole = np.einsum("m,mik->ik", shares, stacked)
    return whole, dict(zip(found, shares.tolist(), strict=True))


def _judgements(X: Any, codes: IntArray, size: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield what each judge says of rows left out, as log posteriors (n, k)."""
    many = len(codes) > MANY
    for name, model in _models(X, many=many):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # judges come and go: none of them is the model
            try:
                fitted = model.fit(X, codes)
                if many:
                    yield name, fitted.predict_log_proba(X)
                    continue
                told = fitted.leave_one_out(X, codes)
            except (SufficeError, np.linalg.LinAlgError):
                continue
        found = told.log_posterior
        found[told.vanished] = -np.log(size)
        yield name, found
    if not is_sparse(X):
        yield from _neighbours(X, codes, size)


def _models(X: object, *, many: bool) -> Iterator[tuple[str, Any]]:
    if is_sparse(X):
        yield "multinomial", MultinomialNaiveBayes()
        return
    yield "naive Bayes", NaiveBayes()
    table = read_table(X)
    columns = Columns.infer(table)
    blank = any(_has_blanks(table.column(j)) for j in range(table.width))
    if blank or columns.width > MOST_WIDTH:
        return
    for form in ("shared", "per-class"):
        if many:
            yield f"{form} normal", GaussianDiscriminant(form)
            continue
        for strength in STRENGTHS:
            yield f"{form} normal, {strength:g}", GaussianDiscriminant(form, predictive=strength)


def _has_blanks(cells: Any) -> bool:
    if cells.dtype == object:
        return any(cell is None for cell in cells)
    return bool(np.isnan(cells).any()) if cells.dtype.kind == "f" else False


def coded_rows(X: object) -> FloatArray:
    """Return rows as numbers in standard deviations (n, d): blanks are at the mean."""
    table = read_table(X)
    rows = np.asarray(Columns.infer(table).encode(table, "audit"), dtype=np.float64)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = rows - np.nanmean(rows, axis=0)
        spread = np.nanstd(rows, axis=0)
    rows = rows[:, spread > 0.0] / spread[spread > 0.0]
    return np.where(np.isfinite(rows), rows, 0.0)


def _neighbours(X: object, codes: IntArray, size: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield what the nearest other rows are, by the number of them that is asked."""
    rows = coded_rows(X)
    n, d = rows.shape
    if d == 0 or n < 4 or float(n) * n * d > MOST_DISTANCES:
        return
    most = min(max(NEIGHBOURS), n - 1)
    near = _nearest(rows, most)
    shares = (np.bincount(codes, minlength=size) + 0.5) / (n + 0.5 * size)
    seen = np.zeros((n, most, size), dtype=np.float32)
    np.put_along_axis(seen, codes[near][:, :, np.newaxis], 1.0, axis=2)
    counts = np.cumsum(seen, axis=1)
    for asked in NEIGHBOURS:
        if asked <= most:
            told = (counts[:, asked - 1] + shares) / (asked + 1.0)
            yield f"{asked} neighbours", np.log(told)


def _nearest(rows: FloatArray, most: int) -> IntArray:
    """Return the nearest other rows of each (n, most)."""
    n, d = rows.shape
    if d <= 8:
        found = cKDTree(rows).query(rows, most + 1)[1]
        # Of equal rows the tree may name another one first: a row is none of its own neighbours.
        mine = found == np.arange(n)[:, np.newaxis]
        mine[~mine.any(axis=1), -1] = True
        return np.asarray(found[~mine].reshape(n, most), dtype=np.intp)
    near = np.empty((n, most), dtype=np.intp)
    squares = np.einsum("ij,ij->i", rows, rows)
    step = max(1, 4_000_000 // n)
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        gaps = squares - 2.0 * (rows[part] @ rows.T)
        gaps[np.arange(len(gaps)), np.arange(start, start + len(gaps))] = np.inf
        some = np.argpartition(gaps, most - 1, axis=1)[:, :most]
        order = np.argsort(np.take_along_axis(gaps, some, axis=1), axis=1)
        near[part] = np.take_along_axis(some, order, axis=1)
    return near


def _calibrated(log_posterior: FloatArray, codes: IntArray) -> FloatArray:
    """Return posteriors averaged over how sure they may be, by what labels say of that."""
    at = np.arange(len(codes))
    logs = np.maximum(log_posterior, -700.0)
    found, losses = [], []
    for power in COOLER:
        told = normalized(power * logs)
        found.append(told)
        losses.append(-told[at, codes].sum())
    shares = np.exp(-(np.array(losses) - min(losses)))
    shares /= shares.sum()
    used = np.flatnonzero(shares > 1e-4)
    total = sum(shares[u] * np.exp(found[u]) for u in used)
    return np.asarray(total / np.sum(total, axis=1, keepdims=True))


def _pooled(own: FloatArray) -> FloatArray:
    """Return the shares (m,) under which labels are likeliest, given each judge's p (m, n)."""
    m, n = own.shape
    shares = np.full(m, 1.0 / m)
    for _ in range(200):
        new = (shares * (own @ (1.0 / (shares @ own))) + KEPT / m) / (n + KEPT)
        done = np.abs(new - shares).max() < 1e-7
        shares = new
        if done:
            break
    return shares
