"""What models say of each row without having seen it: several judges, calibrated and averaged."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.spatial import cKDTree

from suffice.columns import Columns
from suffice.errors import SufficeError
from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
from suffice.estimators.naive_bayes import NaiveBayes
from suffice.estimators.text.event_models import MultinomialNaiveBayes
from suffice.linear_algebra import what_doubles_can_solve
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.leave_one_out.leave_one_out import leave_one_out
from suffice.models.gaussian.predictive.posterior import least_strength
from suffice.rows import is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.rows import FloatArray, IntArray, Table

STRENGTHS = (0.1, 1.0, 8.0)
"""Rows of the prior of predictive classes: with few rows strong ones are better, with many weak."""
MANY = 20_000
"""Rows from which on nobody is left out: one row in so many moves nothing that is seen."""
MOST_WIDTH = 300
"""Columns, categories coded, whose covariance is a judge."""
PAIR = 2
"""Rows of a class of which none can be left out by a formula: the other has no variance."""
MOST_REFITTED = 2e5
"""Such rows times classes times columns up to which naive Bayes is asked: a second of refits."""
NEIGHBOURS = (3, 8, 20, 50)
"""Neighbours that are asked: the curved judges, for classes of any shape."""
MOST_DISTANCES = 2e9
"""Rows squared times columns whose distances are looked at: some seconds."""
FEW = 1_000
"""Rows up to which all distances take less time than a tree of them."""
COOLER = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
"""Exponents that make a judge less sure of itself."""
CELLS = 50_000
"""Rows times classes that several judges are calibrated on together: a cache holds seven such."""
FORMS: tuple[Literal["shared", "per-class"], ...] = ("shared", "per-class")
"""Covariances of normal judges."""
FLOOR = 1e-12
"""The least probability that a judge may give."""
SETTLED = 1e-5
"""How little shares of judges may change for their search to end."""
KEPT = 5.0
"""Rows of a prior by which judges are equal."""


def judged(
    X: object, codes: IntArray, size: int, bayes: Any = None
) -> tuple[FloatArray, dict[str, float]]:
    """Return left-out posteriors (n, k) of rows, and the share of every judge in them.

    `X` are rows as estimators take them; row i is of class codes[i] of `size`. `bayes` is naive
    Bayes of these rows, where it has been fitted.
    """
    told = list(_judgements(X, codes, size, bayes))
    shares_of = np.bincount(codes, minlength=size) + 0.0
    without = np.repeat(shares_of[:, np.newaxis], len(codes), axis=1)
    without[codes, np.arange(len(codes))] -= 1.0
    without += 0.5
    parts = [*_calibrated([found for _, found in told], codes), without / without.sum(axis=0)]
    at = np.arange(len(codes))
    shares = _pooled(np.stack([np.maximum(part[codes, at], FLOOR) for part in parts]))
    whole = sum(share * part for share, part in zip(shares, parts, strict=True))
    names = (*(name for name, _ in told), "class shares")
    return np.ascontiguousarray(np.transpose(whole)), dict(zip(names, shares.tolist(), strict=True))


def _judgements(X: Any, codes: IntArray, size: int, bayes: Any) -> Iterator[tuple[str, FloatArray]]:
    """Yield what each judge says of rows left out, as log posteriors (n, k)."""
    many = len(codes) > MANY
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # judges come and go: none of them is the model
        for name, model in _models(X, np.bincount(codes, minlength=size), bayes, many=many):
            try:
                fitted = model if hasattr(model, "learned_") else model.fit(X, codes)
                if many:
                    yield name, fitted.predict_log_proba(X)
                    continue
                told = fitted.leave_one_out(X, codes)
            except (SufficeError, np.linalg.LinAlgError):
                continue
            found = told.log_posterior
            found[told.vanished] = -np.log(size)
            yield name, found
        if not many and not is_sparse(X):
            yield from _normal_judges(X, codes, size)
        if not is_sparse(X):
            yield from _neighbours(X, codes, size)


def _models(X: object, held: IntArray, bayes: Any, *, many: bool) -> Iterator[tuple[str, Any]]:
    """Yield what has to be fitted; `held` are the rows of each class."""
    if is_sparse(X):
        yield "multinomial", MultinomialNaiveBayes()
        return
    table = read_table(X)
    few = int(held[held <= PAIR].sum())
    if many or float(few) * len(held) * table.width <= MOST_REFITTED:
        yield "naive Bayes", NaiveBayes() if bayes is None else bayes
    if many and _has_covariances(table):
        for form in FORMS:
            yield f"{form} normal", GaussianDiscriminant(form)


def _has_covariances(table: Table) -> bool:
    blank = any(_has_blanks(table.column(j)) for j in range(table.width))
    return not blank and Columns.infer(table).width <= MOST_WIDTH


def _normal_judges(X: object, codes: IntArray, size: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield what predictive normal classes say: all of them from one summary of the rows.

    What a row does to the prior's variances is taken out to second order. A prior is at least as
    strong as every class needs without a row: where it were weaker, a row would have to be refitted
    for each row left out. Rows that are all their class has are not asked about, and floors are
    those of all rows.
    """
    table = read_table(X)
    if not _has_covariances(table):
        return
    rows = np.asarray(Columns.infer(table).encode(table, "audit"), dtype=np.float64)
    asked = np.flatnonzero(np.bincount(codes, minlength=size)[codes] > 1)
    try:
        with what_doubles_can_solve():
            held = Gaussian("per-class").summarize(rows, codes, range(size))
            summary = ClassSummary.of(held, tuple(range(size)))
            # What is left out is made from the summary: which normal classes these are is the same.
            normals, _ = Gaussian("shared").estimate(summary)
    except (SufficeError, np.linalg.LinAlgError):
        return
    for form in FORMS:
        least = least_strength(Gaussian(form, predictive=1.0), summary, spare=1.0)
        for strength in sorted({max(strength, least) for strength in STRENGTHS}):
            family = Gaussian(form, predictive=strength)
            found = np.full((len(rows), size), -np.log(size))
            try:
                with what_doubles_can_solve():
                    told = leave_one_out(
                        family, summary, normals, (), rows, codes, None, None,
                        chosen=asked, refit_budget=0.0, exact_budget=0.0,
                    )  # fmt: skip
            except (SufficeError, np.linalg.LinAlgError):
                continue
            found[asked] = told.log_posterior
            yield f"{form} normal, {strength:g}", found


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
    asked = [one for one in NEIGHBOURS if one <= most]
    if not asked:
        return
    seen = np.eye(size, dtype=np.float32)[codes[near[:, : asked[-1]]]]
    counts = np.cumsum(np.add.reduceat(seen, [0, *asked[:-1]], axis=1), axis=1)
    for place, one in enumerate(asked):
        yield f"{one} neighbours", np.log((counts[:, place] + shares) / (one + 1.0))


def _nearest(rows: FloatArray, most: int) -> IntArray:
    """Return the nearest other rows of each (n, most)."""
    n, d = rows.shape
    if d <= 8 and n > FEW:
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


def _calibrated(told: list[FloatArray], codes: IntArray) -> Iterator[FloatArray]:
    """Yield posteriors (k, n), averaged over how sure each judge may be, by what labels say of it.

    Few rows are looked at for several judges at once.
    """
    at, step = np.arange(len(codes)), max(1, CELLS // max(1, told[0].size)) if told else 1
    for start in range(0, len(told), step):
        some = [np.ascontiguousarray(found.T) for found in told[start : start + step]]
        logs = np.maximum(np.stack(some), -700.0)
        parts, losses = [], []
        for power in COOLER:
            shifted = power * logs
            shifted -= shifted.max(axis=1, keepdims=True)
            own = shifted[:, codes, at]
            part = np.exp(shifted, out=shifted)
            total = part.sum(axis=1, keepdims=True)
            losses.append((np.log(total[:, 0]) - own).sum(axis=1))
            part /= total
            parts.append(part)
        shares = np.exp(np.min(losses, axis=0) - np.stack(losses))
        shares /= shares.sum(axis=0)
        for m in range(len(logs)):
            used = np.flatnonzero(shares[:, m] > 1e-4)
            whole: FloatArray = sum(shares[u, m] * parts[u][m] for u in used)
            yield whole / whole.sum(axis=0)


def _pooled(own: FloatArray) -> FloatArray:
    """Return the shares (m,) under which labels are likeliest, given each judge's p (m, n)."""
    m, n = own.shape
    shares = np.full(m, 1.0 / m)
    for _ in range(200):
        new = (shares * (own @ (1.0 / (shares @ own))) + KEPT / m) / (n + KEPT)
        done = np.abs(new - shares).max() < SETTLED
        shares = new
        if done:
            break
    return shares
