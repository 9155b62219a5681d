"""Why this class, under Student's t: each column by its part of the distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.overflow_rows import tamed_rows
from suffice.models.gaussian.predictive.full_students import FullStudents, log_normalizer

if TYPE_CHECKING:
    from suffice.models.gaussian.predictive.diagonal_students import DiagonalStudents
    from suffice.rows import FloatArray, IntArray

FAR_POWER = 400
"""Power of two of standard deviations from which rows are explained apart: squares of 2^400 divided
by a floor of eigenvalues (1e-10) are 2^833, and numbers end at 2^1024."""


def student_terms(
    law: FullStudents | DiagonalStudents, rows: FloatArray, of: IntArray, against: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return baseline (without priors), contributions and pairs for complete rows.

    log p(x | c) is a constant less ½(f + D)·log(1 + q/f), q = Σ_ij u_iP_iju_j: every part of q
    counts for the same share of the logarithm as it has of q. Columns with a t of their own have
    parts of their own. Parts and constants add up to the log odds exactly.
    """
    n, width = rows.shape
    full = isinstance(law, FullStudents)
    parts = np.zeros((n, width))
    pairs = np.zeros((n, width, width) if full else (n, 0, 0))
    baseline = np.zeros(n)
    act = np.flatnonzero(law.active)
    for codes, sign in ((of, 1.0), (against, -1.0)):
        for c in np.unique(codes):
            here = np.flatnonzero(codes == c)
            if isinstance(law, FullStudents):
                split, both = _of_distance(law, rows[here], int(c))
                pairs[np.ix_(here, act, act)] += sign * both
                constant = law.constants[c]
            else:
                split, constant = _of_columns(law, rows[here], int(c))
            parts[np.ix_(here, act)] += sign * split
            baseline[here] += sign * constant
    if full:
        places = np.arange(width)
        pairs[:, places, places] += parts - pairs.sum(axis=2)
    return baseline, parts, pairs


def _of_distance(law: FullStudents, rows: FloatArray, c: int) -> tuple[FloatArray, FloatArray]:
    """Return what active columns (n, a), and pairs of them, take from log p(x | c)."""
    act = law.active
    z = (rows - law.origin - law.origin_low) / law.scale
    powers = np.zeros(len(rows), dtype=np.int64)
    far = ~(np.abs(z) < 2.0**FAR_POWER).all(axis=1)
    if far.any():
        tamed, power = tamed_rows(rows[far], law.origin, law.scale)
        z[far], powers[far] = tamed, power
    u = z[:, act] - np.ldexp(law.means[c, act], -powers[:, np.newaxis])
    whitening = law.whitenings[0 if len(law.whitenings) == 1 else c]
    white = u @ whitening.T
    q = np.square(white).sum(axis=1)
    f, stretch = law.freedom[c], law.stretches[c]
    lost = _lost(q / (f * stretch), powers, (f + law.rank) / 2.0)
    share = np.where(q > 0.0, -lost / np.where(q > 0.0, q, 1.0), 0.0)[:, np.newaxis]
    precision = whitening.T @ whitening
    both = share[:, :, np.newaxis] * precision * u[:, :, np.newaxis] * u[:, np.newaxis, :]
    return share * u * (white @ whitening), both


def _lost(ratio: FloatArray, powers: IntArray, power: float) -> FloatArray:
    """Return power·log(1 + ratio·4^powers), however large that is."""
    with np.errstate(divide="ignore"):
        logs = np.log(ratio) + 2.0 * powers * np.log(2.0)
    near = powers == 0
    return np.asarray(power * np.where(near, np.log1p(ratio), np.logaddexp(0.0, logs)))


def _of_columns(law: DiagonalStudents, rows: FloatArray, c: int) -> tuple[FloatArray, float]:
    """Return what active columns (n, a) take from log p(x | c), and its constant."""
    act = law.active
    squares = law.away(rows, c)
    f = law.freedom[c, act]
    units = float((np.log(law.spreads[c, act]) + np.log(law.scale[act])).sum())
    if not law.joint:
        lost = (f + 1.0) / 2.0 * np.logaddexp(0.0, squares - np.log(f))
        return -lost, float(log_normalizer(f, 1).sum()) - units
    freedom = float(f[0]) if len(f) else 1.0
    top = squares.max(axis=1, initial=-np.inf, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        inside = np.exp(squares - top)
        total = inside.sum(axis=1, keepdims=True)
        logs = np.log(total) + top
    lost = (freedom + law.rank) / 2.0 * np.logaddexp(0.0, logs - np.log(freedom))
    shares = np.where(total > 0.0, inside / np.where(total > 0.0, total, 1.0), 0.0)
    return -lost * shares, float(log_normalizer(np.array(freedom), law.rank)) - units
