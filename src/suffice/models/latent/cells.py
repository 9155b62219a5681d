"""Cells that are blank, as hidden classes expect them; and the classes of some columns alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.models.naive_bayes.families.bernoulli import BernoulliColumns
from suffice.models.naive_bayes.families.binned import BinnedColumns
from suffice.models.naive_bayes.families.gaussian import NormalColumns
from suffice.models.naive_bayes.families.poisson import PoissonColumns
from suffice.models.naive_bayes.families.same_in_all_classes import CommonColumns
from suffice.models.naive_bayes.product import Product
from suffice.rows.category_codes import CodedColumns
from suffice.statistics import ByClass, ByColumn, Tallies, Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.rows import FloatArray, IntArray


def filled(model: NaiveBayesModel, rows: Blocks, rng: np.random.Generator | None = None) -> Blocks:
    """Return rows without blanks: numbers as expected, levels the likeliest; or drawn by `rng`.

    What is expected of a blank is the mean over the classes, by p(class | the cells that are
    there). A column that was blank in all rows of the fit stays so.
    """
    shares = model.posterior(rows)
    codes = np.zeros(len(rows), dtype=np.intp)
    if rng is not None:
        ends = np.cumsum(shares, axis=1)
        codes = (rng.random((len(rows), 1)) * ends[:, -1:] > ends[:, :-1]).sum(axis=1)
    parts: list[Any] = []
    for law, part, columns in zip(model.laws, rows.parts, model.product.columns, strict=True):
        known = [place for place, j in enumerate(columns) if j not in model.blank]
        drawn = None if rng is None else law.sample(codes, rng)
        parts.append(_filled_part(law, part, shares, known, drawn))
    return Blocks(tuple(parts))


def _filled_part(
    law: Any, part: object, shares: FloatArray, known: Sequence[int], drawn: Any
) -> object:
    if isinstance(part, CodedColumns):
        return _filled_levels(law, part, shares, known, drawn)
    if not isinstance(part, np.ndarray):
        return part
    blank = np.isnan(part)
    if not blank.any():
        return part
    out = part.astype(np.float64)
    for place in known:
        at = blank[:, place]
        if not at.any():
            continue
        if drawn is not None:
            cells = drawn.toarray() if hasattr(drawn, "toarray") else drawn
            out[at, place] = cells[at, place]
        else:
            out[at, place] = _expected(law, place, shares[at])
    return out


def _filled_levels(
    law: object, part: CodedColumns, shares: FloatArray, known: Sequence[int], drawn: Any
) -> CodedColumns:
    inner: Any = law.inner if isinstance(law, CommonColumns) else law
    levels = tuple(
        (*ours, *(level for level in theirs if level not in set(ours)))
        for ours, theirs in zip(part.levels, inner.levels, strict=True)
    )
    codes = part.in_levels(levels)
    for place in known:
        at = codes[:, place] < 0
        if not at.any():
            continue
        own = {level: i for i, level in enumerate(levels[place])}
        places = np.array([own[level] for level in inner.levels[place]], dtype=np.int32)
        if drawn is not None:
            codes[at, place] = places[drawn.codes[at, place]]
        else:
            table = inner.probabilities(place)
            weights = shares[at] if len(table) > 1 else np.ones((int(at.sum()), 1))
            codes[at, place] = places[(weights @ table).argmax(axis=1)]
    return CodedColumns(codes, levels)


def _expected(law: object, place: int, shares: FloatArray) -> FloatArray:
    """Return what is expected of cells of a column, given p(class | row) (m, k)."""
    if isinstance(law, CommonColumns):
        return _expected(law.inner, place, np.ones((len(shares), 1)))
    if isinstance(law, BernoulliColumns):
        likely = shares @ law.probabilities[:, place] > 0.5
        threshold = 0.0 if law.threshold is None else law.threshold
        above, below = max(1.0, np.floor(threshold) + 1.0), min(threshold, 0.0)
        return np.where(likely, above, below)
    means: FloatArray
    if isinstance(law, NormalColumns):
        means = law.normals.class_means[:, place]
        if law.is_logarithm:
            spread = np.broadcast_to(law.normals.variances, (len(means), law.width))[:, place]
            means = np.exp(means + spread / 2.0)
    elif isinstance(law, PoissonColumns):
        assert law.offsets is not None
        means = -law.offsets[:, place]
    else:
        assert isinstance(law, BinnedColumns)
        edges = np.array(law.edges)
        means = law.probabilities(place) @ ((edges[1:] + edges[:-1]) / 2.0)
    found: FloatArray = shares @ means
    return found


# Some columns alone


def part_of_product(product: Product, chosen: Sequence[int]) -> Product:
    """Return families of some columns, which are numbered anew in their order."""
    at = {j: place for place, j in enumerate(chosen)}
    families, columns = [], []
    for family, group in zip(product.families, product.columns, strict=True):
        kept = tuple(at[j] for j in group if j in at)
        if kept:
            families.append(family)
            columns.append(kept)
    return Product(tuple(families), tuple(columns))


def part_of_statistics(
    statistics: ByClass[Any], product: Product, chosen: Sequence[int]
) -> ByClass[Any]:
    """Return the statistics of some columns, as `part_of_product` numbers them."""
    held = set(chosen)
    groups = {}
    for label, own in statistics.groups.items():
        parts = []
        for part, group in zip(own.parts, product.columns, strict=True):
            places = np.array([p for p, j in enumerate(group) if j in held], dtype=np.intp)
            if len(places):
                parts.append(_columns_of(part, places))
        groups[label] = ByColumn(own.weight, tuple(parts))
    return ByClass(groups)


def _columns_of(part: Any, places: IntArray) -> Any:
    if isinstance(part, Tallies):
        held = part.by_column()
        levels = tuple(part.levels[int(p)] for p in places)
        return Tallies(part.weight, levels, np.concatenate([held[int(p)] for p in places]))
    if isinstance(part, Totals):
        missing = None if part.missing is None else part.missing[places]
        return Totals(part.weight, part.sums[places], missing)
    names = ("counts", "mean", "low", "scatter", "error", "scatter_low", "sum_error", "anchor",
             "counts_low", "counts_error", "usual", "unusual", "steps")  # fmt: skip
    cut = {n: v[places] for n in names if isinstance(v := getattr(part, n), np.ndarray)}
    return replace(part, **cut)


def joined(ours: ByClass[Any], theirs: ByClass[Any]) -> ByClass[Any]:
    """Return the classes of both, those of the second numbered after those of the first."""
    groups = [*(ours.groups[label] for label in ours.labels)]
    groups += [theirs.groups[label] for label in theirs.labels]
    return ByClass(dict(enumerate(groups)))
