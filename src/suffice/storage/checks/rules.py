"""What holds inside an object besides the form of its fields: each rule returns what is wrong."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import pinned_for
from suffice.linear_algebra import is_positive
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.statistics.algebra import LEFTOVER, exceeds
from suffice.statistics.folds import FOLDS
from suffice.statistics.moments.steps import PER_UNIT
from suffice.storage.stored_labels import are_levels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.columns.design import Design
    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.models.gaussian.factors.normals import FactorNormals
    from suffice.models.gaussian.full_normals import FullNormals
    from suffice.models.gaussian.law.factored_covariance import Spread
    from suffice.models.gaussian.law.normal import Normal
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
    from suffice.models.gaussian.predictive.diagonal_students import DiagonalStudents
    from suffice.models.gaussian.predictive.full_students import FullStudents
    from suffice.models.naive_bayes.families.predictive_gaussian import StudentColumns
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.models.pool.model import PoolModel
    from suffice.models.text.learner import TextRecord
    from suffice.rows import FloatArray
    from suffice.statistics import ByColumn, DiagonalMoments, Moments, PooledMoments, Tallies
    from suffice.statistics.folds import Folds
    from suffice.statistics.totals import Totals

    Sizes = dict[str, int]

ROUNDING = 1e-8
"""What rounding may leave, relative to the whole."""
LARGEST = 1e170
"""Standard deviations in the user's units are smaller: their squares are variances."""
LOW = 1e-10
"""How large the second of two doubles may be beside the first: rounding leaves 1e-16 of it."""
TINY = 1e-310
"""What is left of the digits of such small numbers is rounding."""
LEAST = 1e-12
"""Standard deviations along the axes of correlations: below, a direction is missing."""
KINDS = {NUMBER, BOOLEAN, CATEGORY}
"""What columns may be."""


def is_sum_of_squares(matrix: FloatArray, error: FloatArray | None = None) -> bool:
    """Whether a matrix has no variance below zero in any direction; `error` bounds its rounding.

    >>> is_sum_of_squares(np.array([[1.0, 2.0], [2.0, 1.0]]))
    False
    """
    with pinned_for(float(len(matrix)) ** 3):
        return is_positive(matrix, error)


def _scatter(value: Moments | PooledMoments, sizes: Sizes) -> str:  # noqa: ARG001
    if not is_sum_of_squares(value.scatter, value.bound):
        return "has no scatter of squares"
    return _second_doubles(value)


def _second_doubles(value: Moments | PooledMoments | DiagonalMoments) -> str:
    """Second doubles are what rounding leaves of the first; no model shows them, but sums do."""
    for part, whole in (("weight_low", "weight"), ("weights_low", "weights"),
                        ("counts_low", "counts")):  # fmt: skip
        low = getattr(value, part, None)
        if low is not None and (np.abs(low) > LOW * getattr(value, whole) + LEFTOVER).any():
            return "has a weight in two parts"
    if value.steps is not None and not np.isin(value.steps, (*PER_UNIT, np.inf)).all():
        return "has cells on a grid without having looked for one"
    if value.scatter_low is None:
        return ""
    full = value.scatter.ndim == 2
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        variances = (np.diagonal(value.scatter) if full else value.scatter) + value.bound
        scale = np.sqrt(np.maximum(variances, 0.0))
        room = LOW * (np.multiply.outer(scale, scale) if full else np.square(scale))
    within = np.abs(value.scatter_low) <= room + TINY
    return "" if within.all() else "has squares in two parts"


def _tallies(value: Tallies, sizes: Sizes) -> str:
    if sizes["n"] != sum(map(len, value.levels)):
        return "has other weights than levels"
    start = 0
    for levels in value.levels:
        if not are_levels(levels):
            return "has levels that no cell can have"
        if exceeds(value.held[start : start + len(levels)].sum(), value.weight):
            return "has levels that weigh more than its rows"
        start += len(levels)
    return ""


def _totals(value: Totals, sizes: Sizes) -> str:  # noqa: ARG001
    blank = value.missing is not None and exceeds(value.missing, value.weight)
    return "has more blank cells than rows" if blank else ""


def _counted(value: DiagonalMoments, sizes: Sizes) -> str:  # noqa: ARG001
    if exceeds(value.counts, value.weight):
        return "has more cells than rows"
    return _second_doubles(value)


def _by_column(value: ByColumn, sizes: Sizes) -> str:
    sizes["d"] = sum(part.width for part in value.parts)
    return ""


def _folds(value: Folds, sizes: Sizes) -> str:
    kinds = {type(group).__name__ for part in value.parts for group in part.groups.values()}
    sizes["d"] = max((g.width for p in value.parts for g in p.groups.values()
                      if hasattr(g, "width")), default=0)  # fmt: skip
    return "" if len(value.parts) == FOLDS and kinds <= {"ByColumn"} else "has other folds"


def _design(value: Design, sizes: Sizes) -> str:
    width = value.columns.width
    if value.kept is None:
        return "" if sizes.setdefault("d", width) == width else "has other means than columns"
    inside = not value.kept.size or int(value.kept[-1]) < width
    return "" if inside and (np.diff(value.kept) > 0).all() else "keeps columns that do not exist"


def _origin(value: Any) -> str:
    """The second double of an origin is what rounding leaves of the first."""
    room = LOW * (np.abs(value.origin) + value.scale)
    return "has an origin in two parts" if (np.abs(value.origin_low) > room).any() else ""


def _full(value: FullNormals | FullStudents, sizes: Sizes) -> str:
    if why := _origin(value):
        return why
    if sizes["m"] not in (1, sizes["k"]) or sizes["a"] != int(value.active.sum()):
        return "has factors of other columns or classes"
    if value.rank > sizes["a"] or value.silent > sizes["d"]:
        return "has a rank beyond its columns"
    for factor, whitening in zip(value.factors, value.whitenings, strict=True):
        ours, theirs = np.diagonal(factor), np.diagonal(whitening)
        if (ours <= 0.0).any() or (theirs <= 0.0).any():
            return "has a factor without a positive diagonal"
        if np.triu(factor, 1).any() or np.triu(whitening, 1).any():
            return "has a factor that is not lower triangular"
        if not np.allclose(ours * theirs, 1.0, rtol=0.0, atol=1e-6):
            return "has a whitening that is not the inverse of its factor"
    return ""


def _factors(value: FactorNormals, sizes: Sizes) -> str:
    if why := _origin(value):
        return why
    if sizes["m"] not in (1, sizes["k"]) or sizes["a"] != int(value.active.sum()):
        return "has loadings of other columns or classes"
    return ""


def _diagonal(value: DiagonalNormals | DiagonalStudents, sizes: Sizes) -> str:
    if why := _origin(value):
        return why
    if sizes["m"] not in (1, sizes["k"]):
        return "has deviations of other classes"
    with np.errstate(over="ignore"):  # one for all may be large beside a small unit
        raw = (value.deviations * value.scale)[:, value.active]
    return "" if raw.max(initial=0.0) < LARGEST else "has deviations larger than any fit can have"


def _full_students(value: FullStudents, sizes: Sizes) -> str:
    return _full(value, sizes) or _students(value)


def _diagonal_students(value: DiagonalStudents, sizes: Sizes) -> str:
    if why := _diagonal(value, sizes) or _students(value):
        return why
    one = not value.joint or (value.freedom == value.freedom[:, :1]).all()
    return "" if one else "has one variance of several degrees of freedom"


def _students(value: FullStudents | DiagonalStudents) -> str:
    """A mean that is estimated makes a class wider; half a degree of freedom is left at least."""
    wide = "" if (value.stretches >= 1.0).all() else "has a stretch below 1"
    return wide if value.freedom.min(initial=1.0) > 0.4 else "has next to no degrees of freedom"


def _averaged_laws(value: AveragedLaws, sizes: Sizes) -> str:
    if not sizes["g"] or not sizes["b"] or not (value.shares.sum(axis=1) > 0.0).all():
        return "has a distribution without a share"
    off = abs(float(value.shares.sum()) - 1.0)
    return "" if off < 1e-6 else "has shares that do not add up to 1"


def _student(value: StudentColumns, sizes: Sizes) -> str:  # noqa: ARG001
    if why := _origin(value):
        return why
    with np.errstate(over="ignore"):
        raw = (value.spreads * value.scale)[:, value.active]
    return "" if raw.max(initial=0.0) < LARGEST else "has scales larger than any fit can have"


def laws_flaw(value: Any, sizes: Sizes) -> str:
    """Return what is wrong with laws of columns: what they say themselves, and their levels."""
    if why := value.flaw(sizes):
        return str(why)
    known = all(map(are_levels, getattr(value, "levels", ())))
    return "" if known else "has levels that no cell can have"


def priors(value: GenerativeModel | NaiveBayesModel | TextRecord, sizes: Sizes) -> str:
    """Priors of classes add up to 1."""
    if not np.isfinite(value.weights.sum()):
        return "has weights without a finite sum"
    if sizes["k"] == 0 or not abs(float(np.exp(value.log_priors).sum()) - 1.0) < 1e-6:
        return "has priors that do not add up to 1"
    return ""


def _naive_bayes(value: NaiveBayesModel, sizes: Sizes) -> str:
    product = value.product
    places: list[NDArray[np.int64]] = []
    for family, law, columns in zip(product.families, value.laws, product.columns, strict=True):
        kind = type(law).__name__
        if kind != family.becomes:
            return f"has {kind} where the family is {family.name}"
        if len(columns) != law.width:
            return f"has a law of {law.width} columns for {len(columns)}"
        if why := family.law_flaw(law):
            return str(why)
        places.append(np.array(columns, dtype=np.int64))
    every = np.sort(np.concatenate([*places, np.zeros(0, dtype=np.int64)]))
    if not np.array_equal(every, np.arange(len(every))):
        return "does not have each column once"
    sizes["d"] = len(every)
    blank: Any = value.blank
    if isinstance(blank, range) or any(a >= b for a, b in pairwise(blank)):
        return "has blank columns that are not in order"
    if blank and blank[-1] >= len(every):
        return "has blank columns that do not exist"
    for law in value.laws:
        documents = getattr(law, "documents", None)
        if documents is not None and not np.allclose(documents, value.weights, rtol=1e-6):
            return "has other documents than rows"
    if not np.isfinite(value.weights.sum()):
        return "has weights without a finite sum"
    if (value.shares is None) != (value.temperatures is None):
        return "has temperatures without shares, or shares without temperatures"
    if value.shares is not None and not abs(float(value.shares.sum()) - 1.0) < 1e-6:
        return "has shares that do not add up to 1"
    scores = not all(law.is_density for law in value.laws)
    return "" if scores else priors(value, sizes)


MOST_EXPONENT = 1e6
"""Exponents of a pool's product are some units at most; beyond this they are nobody's."""


def _pool(value: PoolModel, sizes: Sizes) -> str:
    """Shares are shares, of members and of what each averages over."""
    if not sizes["k"] or not np.isfinite(value.weights.sum()):
        return "has weights without a finite sum"
    if value.sample is not None:
        return "holds rows, which belong to the statistics"
    if any(abs(float(shares.sum()) - 1.0) > ROUNDING for shares in (value.shares, *value.grids)):
        return "has shares that do not add up to 1"
    if (value.exponents is None) != (value.offsets is None):
        return "has exponents without offsets, or offsets without exponents"
    if value.product > (0.0 if value.exponents is None else 1.0):
        return f"has a product of a part of {value.product:g}"
    if value.exponents is not None and value.exponents.max(initial=0.0) > MOST_EXPONENT:
        return f"has an exponent of {value.exponents.max():g}"
    if value.accuracy > 1.0 + ROUNDING:
        return f"is right in {value.accuracy:g} of all rows"
    return "" if set(value.kinds) <= KINDS else "has columns of an unknown kind"


def _law(value: Normal, sizes: Sizes) -> str:
    if not sizes["d"]:
        return "has no columns"
    return "" if is_sum_of_squares(value.covariance) else "has a covariance of negative variances"


def _spread(value: Spread, sizes: Sizes) -> str:
    """Directions are orthonormal, and zero where a column is constant."""
    directions, constant = value.directions, value.scale == 0.0
    if sizes["r"] > sizes["d"] or np.abs(directions).max(initial=0.0) > 1.0 + ROUNDING:
        return "has directions that are longer than one"
    if np.abs(directions.T @ directions - np.eye(sizes["r"])).max(initial=0.0) > ROUNDING:
        return "has directions that are not at right angles"
    lengths = value.lengths
    if lengths.max(initial=0.0) > 2.0 * sizes["d"] or lengths.min(initial=1.0) < LEAST:
        return "has lengths that correlations cannot have"
    return "varies where it is constant" if directions[constant].any() else ""


RULES: dict[str, Callable[[Any, Sizes], str]] = {
    "AveragedLaws": _averaged_laws,
    "ByColumn": _by_column,
    "Design": _design,
    "DiagonalMoments": _counted,
    "DiagonalNormals": _diagonal,
    "DiagonalStudents": _diagonal_students,
    "Folds": _folds,
    "FactorNormals": _factors,
    "FullNormals": _full,
    "FullStudents": _full_students,
    "GenerativeModel": priors,
    "Moments": _scatter,
    "Normal": _law,
    "NaiveBayesModel": _naive_bayes,
    "PoolModel": _pool,
    "PooledMoments": _scatter,
    "Spread": _spread,
    "StudentColumns": _student,
    "Tallies": _tallies,
    "Totals": _totals,
}
"""What has to hold between the fields of one object, by its class: says what is wrong."""
