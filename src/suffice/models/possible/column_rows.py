"""Rows of naive Bayes as their table could have held them: columns are drawn apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns.shown import ColumnShown
from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.models.possible.bounded_laws import BoundedLaws
from suffice.rows.category_codes import CodedColumns
from suffice.rows.sparse import SparseRows
from suffice.rows.text_cells import TextCells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray, IntArray

NORMAL = ("NormalColumns", "LogNormalColumns", "StudentColumns")
"""Laws that are normal, of logarithms too, or Student's."""
REDRAWN = 32
"""How often cells that cannot be are drawn again; what is still outside then becomes the bound."""


@dataclass(frozen=True, slots=True)
class PossibleColumns:
    """What makes possible rows of the draws of independent columns.

    Normal columns become bounded laws of the same mean and variance. Others are drawn again where
    they cannot be: that is their own law, given that it stays within the bounds.

    bounded   by group of columns: the laws of its normal columns, class by class; None for others
    shown     by group: what each column has shown, None where nothing is known
    """

    laws: tuple[Any, ...]
    bounded: tuple[tuple[BoundedLaws, ...] | None, ...]
    shown: tuple[tuple[ColumnShown | None, ...], ...]

    @classmethod
    def of(cls, model: Any, shown: Sequence[ColumnShown | None]) -> Self:
        """Return it for a model; `shown` is in the order of the columns."""
        bounded, held = [], []
        for law, group in zip(model.laws, model.product.columns, strict=True):
            known = tuple(shown[j] for j in group)
            held.append(known)
            bounded.append(_bounded(law, known))
        return cls(tuple(model.laws), tuple(bounded), tuple(held))

    def rows(self, drawn: Blocks, codes: IntArray, rng: np.random.Generator) -> Blocks:
        """Return drawn blocks as the table could have held them."""
        pairs = zip(self.laws, self.bounded, self.shown, drawn.parts, strict=True)
        return Blocks(tuple(_part(*pair, codes, rng) for pair in pairs))


def _part(
    law: Any,
    bounded: tuple[BoundedLaws, ...] | None,
    shown: tuple[ColumnShown | None, ...],
    drawn: Any,
    codes: IntArray,
    rng: np.random.Generator,
) -> Any:
    """Return the block of one group of columns."""
    if isinstance(drawn, (CodedColumns, TextCells)) or not any(shown):
        return drawn
    if isinstance(drawn, SparseRows):
        return _sparse(drawn, shown)
    found = np.array(drawn, dtype=np.float64)
    places = np.zeros_like(codes) if law.is_common else codes
    if bounded is not None:
        for c in np.unique(places):
            here = np.flatnonzero(places == c)
            for j in range(found.shape[1]):
                drawn_at = bounded[c].at(j, rng.random(len(here)))
                found[here, j] = np.exp(drawn_at) if _is_logarithm(law) else drawn_at
    elif law.by_column:
        _draw_again(law, found, shown, codes, rng)
    for j, one in enumerate(shown):
        if one is not None:
            found[:, j] = one.kept(found[:, j])
    return found


def _draw_again(
    law: Any,
    found: FloatArray,
    shown: tuple[ColumnShown | None, ...],
    codes: IntArray,
    rng: np.random.Generator,
) -> None:
    """Draw cells again that are outside of what their columns have shown."""
    lows = np.array([-np.inf if one is None else one.low for one in shown])
    highs = np.array([np.inf if one is None else one.high for one in shown])
    for _ in range(REDRAWN):
        outside = (found < lows) | (found > highs)
        rows = np.flatnonzero(outside.any(axis=1))
        if not len(rows):
            break
        new = law.sample(codes[rows], rng)
        again = new.toarray() if isinstance(new, SparseRows) else np.asarray(new)
        found[rows] = np.where(outside[rows], again, found[rows])


def _sparse(drawn: SparseRows, shown: tuple[ColumnShown | None, ...]) -> SparseRows:
    """Return counts that are no larger than any that were seen."""
    tops = np.array([np.inf if one is None else one.high for one in shown])
    cells = np.minimum(drawn.data, tops[drawn.indices])
    return SparseRows(cells, drawn.indices, drawn.indptr, drawn.width)


def _bounded(law: object, shown: tuple[ColumnShown | None, ...]) -> tuple[BoundedLaws, ...] | None:
    """Return the bounded laws of normal columns, class by class; None for others."""
    moments = _moments(law)
    if moments is None or None in shown:
        return None
    known = [one for one in shown if one is not None]
    if _is_logarithm(law):
        if min(one.low for one in known) <= 0.0:
            return None
        known = [ColumnShown(None, log(one.low), log(one.high)) for one in known]
    means, deviations = moments
    return tuple(
        BoundedLaws.of_columns(mean, deviation, known)
        for mean, deviation in zip(means, deviations, strict=True)
    )


def _is_logarithm(law: object) -> bool:
    """Whether a law is one of logarithms."""
    return bool(getattr(getattr(law, "inner", law), "is_logarithm", False))


def _moments(law: Any) -> tuple[FloatArray, FloatArray] | None:
    """Return means and standard deviations (k, d) of laws that are normal, or Student's."""
    inner = getattr(law, "inner", law)  # of columns that are the same in all classes
    if type(inner).__name__ not in NORMAL:
        return None
    if hasattr(inner, "normals"):
        means = np.asarray(inner.normals.class_means)
        variances = np.broadcast_to(inner.normals.variances, means.shape)
        return means, np.sqrt(np.maximum(variances, 0.0))
    # A Student t of two degrees or fewer has no variance: one that is wide enough stands in.
    degrees = np.maximum(inner.degrees, 3.0)
    spreads = inner.spreads * inner.scale * inner.active
    return inner.class_locations, spreads * np.sqrt(degrees / (degrees - 2.0))
