"""What sets a hidden class apart, column by column: how its law differs from that of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from suffice.models.naive_bayes.families.bernoulli import BernoulliColumns
from suffice.models.naive_bayes.families.gaussian import NormalColumns
from suffice.models.naive_bayes.families.poisson import PoissonColumns
from suffice.models.naive_bayes.families.same_in_all_classes import CommonColumns
from suffice.models.naive_bayes.families.tally_laws import TallyLaws

if TYPE_CHECKING:
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.rows import FloatArray


class ColumnProfile(NamedTuple):
    """How one column of a class differs from that of the others.

    column      its place
    distance    from 0, the same law, to 1, laws that share no value: of how many rows of a hundred
                the column tells the class (total variation); of normal columns and of counts, that
                of two normal laws so far apart
    level       the level whose share differs most; None where cells are numbers
    own, others the share of the level, or the mean, in the class and in the others
    sd          the standard deviation within classes, of numbers; of levels 0
    """

    column: int
    distance: float
    level: Any
    own: float
    others: float
    sd: float


def profiles_of(model: NaiveBayesModel, code: int) -> list[ColumnProfile]:
    """Return the columns of a class, the most telling first; none where there is one class."""
    shares = np.exp(model.log_priors)
    others = np.delete(shares, code)
    if not len(others) or not others.sum() > 0.0:
        return []
    others = others / others.sum()
    found = []
    for law, columns in zip(model.laws, model.product.columns, strict=True):
        for place, j in enumerate(columns):
            if j not in model.blank:
                found.append(_profile(law, place, j, code, others))
    return sorted(found, key=lambda one: (-round(one.distance, 9), one.column))


def _profile(law: Any, place: int, column: int, code: int, others: FloatArray) -> ColumnProfile:
    if isinstance(law, CommonColumns):
        inner = _profile(law.inner, place, column, 0, np.ones(0))
        return inner._replace(distance=0.0, others=inner.own)
    if isinstance(law, TallyLaws):
        shares = law.probabilities(place)
        return _of_levels(shares, list(law.levels[place]), column, code, others)
    if isinstance(law, BernoulliColumns):
        ones = law.probabilities[:, place]
        return _of_levels(np.stack([1.0 - ones, ones], axis=1), [0, 1], column, code, others)
    if isinstance(law, NormalColumns):
        means = law.normals.class_means[:, place]
        spreads = np.broadcast_to(law.normals.variances, (len(means), law.width))[:, place]
        return _of_numbers(means, spreads, column, code, others, logs=law.is_logarithm)
    if isinstance(law, PoissonColumns):
        rates = -law.offsets[:, place]  # type: ignore[index]
        return _of_numbers(rates, rates, column, code, others)
    shares = np.exp(law.slopes[:, place])  # words, of all words
    rest = float(others @ np.delete(shares, code)) if len(others) else float(shares[code])
    return ColumnProfile(column, abs(float(shares[code]) - rest), None, shares[code], rest, 0.0)


def _of_levels(
    shares: FloatArray, levels: list[object], column: int, code: int, others: FloatArray
) -> ColumnProfile:
    own = shares[code]
    rest = others @ np.delete(shares, code, axis=0) if len(others) else own
    gaps = own - rest
    best = int(np.argmax(np.abs(gaps).round(12))) if len(levels) > 2 else len(levels) - 1
    distance = float(np.abs(gaps).sum() / 2.0)
    if not levels:
        return ColumnProfile(column, 0.0, None, 0.0, 0.0, 0.0)
    return ColumnProfile(column, distance, levels[best], float(own[best]), float(rest[best]), 0.0)


def _of_numbers(
    means: FloatArray,
    variances: FloatArray,
    column: int,
    code: int,
    others: FloatArray,
    *,
    logs: bool = False,
) -> ColumnProfile:
    away = np.delete(means, code)
    rest = float(others @ away) if len(others) else float(means[code])
    spread = float(others @ np.delete(variances, code)) if len(others) else float(variances[code])
    sd = float(np.sqrt((spread + variances[code]) / 2.0))
    gap = abs(float(means[code]) - rest) / sd if sd > 0.0 else 0.0
    distance = float(2.0 * ndtr(gap / 2.0) - 1.0)
    own = float(means[code])
    if logs:
        own, rest = float(np.exp(own)), float(np.exp(rest))
    return ColumnProfile(column, distance, None, own, rest, sd)
