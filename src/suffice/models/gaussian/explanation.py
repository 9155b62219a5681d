"""Why this class: log odds as a sum over columns, free of units and offsets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadRows, BadSetting
from suffice.models.gaussian.full_normals import FullNormals, written_out
from suffice.models.gaussian.missing_patterns import by_pattern
from suffice.models.gaussian.overflow_rows import tamed_rows
from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
from suffice.models.gaussian.predictive.estimate import StudentClasses
from suffice.models.gaussian.predictive.full_students import FullStudents, log_normalizer
from suffice.places import Phrase, RowAt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.models.gaussian.model import GenerativeModel
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


MOST_CELLS = 50_000_000
"""Rows times pairs of columns that are held for an answer (400 MB); more are refused. A choice."""
FAR_POWER = 400
"""Power of two of standard deviations from which rows are explained apart: squares of 2^400,
divided by a floor of variances (1e-20) and of eigenvalues (1e-10), are 2^900, and numbers end at
2^1024."""


@dataclass(frozen=True, slots=True, eq=False)
class LogOdds:
    """log p(of | x)/p(against | x) = baseline + Σ_j contributions_j, row by row.

    `pairs`, for quadratic boundaries, is a symmetric matrix per row: what each column
    contributes by itself on the diagonal, half of what each pair does off it. Its rows add
    up to the contributions. It is None where boundaries are flat: there are no pairs.
    """

    of: IntArray
    against: IntArray
    baseline: FloatArray
    contributions: FloatArray
    pairs: FloatArray | None


def explain(model: GenerativeModel, rows: FloatArray, of: IntArray, against: IntArray) -> LogOdds:
    """Split the log odds between two classes of every row by column.

    Flat boundaries: θ_j(x_j - c_j) about the mean c of the class means. Quadratic ones:
    ½[u⁰_i P⁰_ij u⁰_j - u¹_i P¹_ij u¹_j] with u = x - m and P = Σ⁻¹. Missing cells contribute
    nothing; the precision is then that of the observed columns. What is more than a double can
    hold is ±inf; a row that has both has no sum, and is refused.
    """
    if isinstance(model.densities, AveragedLaws) and not model.densities.is_shared:
        return _averaged(model, model.densities, rows, of, against)
    if not model.densities.is_shared:
        model = replace(model, densities=written_out(model.densities))
    n, width = rows.shape
    quadratic = not model.densities.is_shared
    with_pairs = quadratic and isinstance(model.densities, FullNormals | FullStudents)
    if with_pairs and n * width * width > MOST_CELLS:
        raise BadSetting(
            f"{n} rows of {width} columns have {n * width * width:.2g} pairs to explain",
            hint="explain fewer rows at a time",
        )
    layers = 1 + width + (width * width if with_pairs else 0)
    numbered = np.column_stack([rows.astype(np.float64), np.arange(n, dtype=np.float64)])

    def work(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
        places = part[:, -1].astype(np.intp)
        out = np.zeros((len(part), layers))
        mask = seen[:-1]
        law = model.densities if mask.all() else model.densities.marginal(mask)
        if isinstance(law, StudentClasses):
            terms = student_terms(law, part[:, :-1][:, mask], of[places], against[places])
        else:
            terms = _terms(
                law,  # type: ignore[arg-type]
                part[:, :-1][:, mask],
                of[places],
                against[places],
            )
        chosen = np.flatnonzero(mask)
        out[:, 0], out[:, 1 + chosen] = terms[0], terms[1]
        if with_pairs:
            flat = 1 + width + (chosen[:, np.newaxis] * width + chosen).ravel()
            out[:, flat] = terms[2].reshape(len(part), -1)
        return out

    with np.errstate(over="ignore", invalid="ignore"):
        found = by_pattern(numbered, work)
    prior = model.log_priors[of] - model.log_priors[against]
    pairs = found[:, 1 + width :].reshape(n, width, width) if with_pairs else None
    if quadratic and pairs is None:
        pairs = np.zeros((n, width, width))
        pairs[:, np.arange(width), np.arange(width)] = found[:, 1 : 1 + width]
    baseline, parts = found[:, 0] + prior, found[:, 1 : 1 + width]
    _refuse_torn(np.column_stack([parts, baseline]))
    return LogOdds(of, against, baseline, parts, pairs)


def _averaged(
    model: GenerativeModel, laws: AveragedLaws, rows: FloatArray, of: IntArray, against: IntArray
) -> LogOdds:
    """Return the parts of all laws, averaged by shares and temperatures.

    The log odds of averaged probabilities are not the average of log odds: what is left is in the
    baseline, so that the parts still add up to the model's own log odds.
    """
    parts, pairs = np.zeros(rows.shape), None
    weights = laws.shares @ laws.temperatures
    for weight, law in zip(weights, laws.laws, strict=True):
        found = explain(replace(model, densities=law), rows, of, against)
        parts += weight * found.contributions
        if found.pairs is not None:
            pairs = weight * found.pairs if pairs is None else pairs + weight * found.pairs
    posterior = model.posterior(rows, log=True)
    here = np.arange(len(rows))
    baseline = posterior[here, of] - posterior[here, against] - parts.sum(axis=1)
    _refuse_torn(np.column_stack([parts, baseline]))
    return LogOdds(of, against, baseline, parts, pairs)


def _refuse_torn(parts: FloatArray) -> None:
    """Refuse a row whose parts hold both infinities: they have no sum."""
    torn = np.isposinf(parts).any(axis=1) & np.isneginf(parts).any(axis=1)
    if torn.any():
        raise BadRows(
            Phrase(
                "{row} is too extreme: the contributions of its columns overflow",
                row=RowAt(int(np.argmax(torn))),
            ),
            hint="its class and its probabilities are still defined: predict, predict_proba",
        )


def _terms(
    law: FullNormals | DiagonalNormals, rows: FloatArray, of: IntArray, against: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return baseline (without priors), contributions and pairs for rows of one pattern."""
    if law.is_shared:
        weights, offsets = law.linear
        theta = weights[of] - weights[against]
        # A difference that overflows says nothing where a column does not count.
        parts = np.where(theta == 0.0, 0.0, theta * (rows - law.origin))
        return offsets[of] - offsets[against], parts, np.zeros((len(rows), 0))
    z = (rows - law.origin - law.origin_low) / law.scale
    baseline = law.log_volumes[against] - law.log_volumes[of]
    parts, pairs = _squares(law, z, None, of, against)
    near = np.abs(z) < 2.0**FAR_POWER
    far = np.flatnonzero(~near.all(axis=1))
    if len(far):
        # Differences of squares, both beyond all numbers: taken in units of 2^power, and back.
        tamed, powers = tamed_rows(rows[far], law.origin, law.scale)
        less, lesser = _squares(law, tamed, powers, of[far], against[far])
        less = np.ldexp(less, 2 * powers[:, np.newaxis])
        # Independent columns do not hear of each other: those that are near keep their digits.
        apart = near[far] & (not isinstance(law, FullNormals))
        parts[far] = np.where(apart, parts[far], less)
        pairs[far] = np.ldexp(lesser, 2 * powers[:, np.newaxis, np.newaxis])
    return baseline, parts, pairs


def _squares(
    law: FullNormals | DiagonalNormals,
    z: FloatArray,
    powers: IntArray | None,
    of: IntArray,
    against: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Return contributions and pairs, both divided by 4^power, of standardized rows z·2^power.

    Without `powers` they are all zero.
    """
    n, width = z.shape
    full = isinstance(law, FullNormals)
    pairs = np.zeros((n, width, width) if full else (n, 0, 0))
    parts = np.zeros((n, width))
    act = np.flatnonzero(law.active)
    for codes, sign in ((against, 0.5), (of, -0.5)):
        for c in np.unique(codes):
            here = np.flatnonzero(codes == c)
            means = law.means[c]
            if powers is not None:
                means = np.ldexp(means, -powers[here, np.newaxis])
            u = (z[here] - means)[:, law.active]
            if isinstance(law, FullNormals):
                # White first: near a floor the precision has entries of 1e10 that cancel.
                white = u @ law.whitenings[c].T
                parts[np.ix_(here, act)] += sign * u * (white @ law.whitenings[c])
                precision = law.whitenings[c].T @ law.whitenings[c]
                block = sign * precision * u[:, :, np.newaxis] * u[:, np.newaxis, :]
                pairs[np.ix_(here, act, act)] += block
            else:
                parts[np.ix_(here, act)] += sign * np.square(u / law.deviations[c, law.active])
    if full:
        places = np.arange(width)
        pairs[:, places, places] += parts - pairs.sum(axis=2)
    return parts, pairs
