"""The E-step: what rows come to under given classes, in sums that add up wherever rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.latent.steps import level_sums
from suffice.linear_algebra import EPSILON
from suffice.models.latent.rows import level_groups
from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.gaussian import GaussianColumns
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.models.naive_bayes.model import NaiveBayesModel
from suffice.models.naive_bayes.product import Product
from suffice.rows.category_codes import CodedColumns
from suffice.statistics import ByClass, ByColumn, DiagonalMoments, Tallies, Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.latent.rows import LatentRows
    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.rows import FloatArray


def weighed_statistics(
    family: ColumnFamily, block: Any, shares: FloatArray, held: FloatArray
) -> list[Any]:
    """Return the statistics of each class, whose rows count by `shares` (n, k); `held` (k,)."""
    inner = family.family if isinstance(family, Common) else family
    if isinstance(inner, GaussianColumns):
        cells = inner.transformed(block).astype(np.float64, copy=False)
        return _moments(cells, shares, held)
    if isinstance(inner, Binned):
        coded = inner.coded(block)
        return _tallies(coded.codes, coded.levels, shares, held)
    threshold = inner.threshold if isinstance(inner, Bernoulli | Multinomial) else None
    return _totals(block, threshold, shares, held)


def _moments(cells: FloatArray, shares: FloatArray, held: FloatArray) -> list[DiagonalMoments]:
    """Return means and scatters, taken about the means: none of their digits is lost."""
    seen = ~np.isnan(cells)
    complete = bool(seen.all())
    anchor = np.where(seen, cells, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    gaps = np.where(seen, cells - anchor, 0.0)
    mask = None if complete else seen.astype(np.float64)
    counts = np.repeat(held[:, np.newaxis], cells.shape[1], 1) if mask is None else shares.T @ mask
    safe = np.where(counts > 0.0, counts, 1.0)
    moves = (shares.T @ gaps) / safe
    found = []
    for c in range(len(held)):
        away = gaps - moves[c]
        if mask is not None:
            away *= mask
        scatter = shares[:, c] @ np.square(away)
        mean = anchor + moves[c]
        low = moves[c] - (mean - anchor)
        error = EPSILON * np.sqrt(len(cells)) * scatter
        found.append(DiagonalMoments(float(held[c]), counts[c], mean, low, scatter, error))
    return found


def _tallies(
    codes: NDArray[Any], levels: Any, shares: FloatArray, held: FloatArray
) -> list[Tallies]:
    tables = []
    for j, column in enumerate(levels):
        places, size = codes[:, j] + 1, len(column) + 1
        table = [np.bincount(places, shares[:, c], minlength=size)[1:] for c in range(len(held))]
        tables.append(np.stack(table))
    joined = np.concatenate(tables, axis=1)
    return [Tallies(float(held[c]), levels, joined[c]) for c in range(len(held))]


def _totals(
    block: FloatArray, threshold: float | None, shares: FloatArray, held: FloatArray
) -> list[Totals]:
    cells = block.toarray() if hasattr(block, "toarray") else block
    blank = np.isnan(cells)
    counted = cells if threshold is None else cells > threshold
    sums = shares.T @ np.where(blank, 0.0, counted)
    missing = shares.T @ blank.astype(np.float64) if blank.any() else None
    return [
        Totals(
            float(held[c]), sums[c], None if missing is None else np.minimum(missing[c], held[c])
        )
        for c in range(len(held))
    ]


@dataclass(frozen=True, slots=True, eq=False)
class LatentSums:
    """What rows say under given classes.

    likelihood  the sum of log p(row)
    sure        the sum of log p(class | row) of each row's likeliest class: what ICL asks
    statistics  those of every class, rows weighed by p(class | row): what the M-step asks
    """

    likelihood: float
    sure: float
    statistics: ByClass[Any]

    def __add__(self, other: LatentSums) -> LatentSums:
        """Return what both come to."""
        return LatentSums(
            self.likelihood + other.likelihood,
            self.sure + other.sure,
            self.statistics + other.statistics,
        )


class LatentExpectation:
    """The E-step under a model, as a summary of rows: sums of parts add up, and it can travel."""

    def __init__(self, model: NaiveBayesModel) -> None:
        self.model = model

    def __call__(self, rows: LatentRows) -> LatentSums:
        """Return the sums of some rows."""
        model, levelled = self.model, level_groups(rows.blocks)
        base: FloatArray = model.log_priors
        others = not all(levelled)
        if others:
            base = self._others(levelled).log_joint(_parts(rows.blocks, levelled, kept=False))
        table = self._table(rows.levels, levelled)
        likelihood, sure, held, counts, shares = level_sums(
            rows.places, table, base, rows.weights, others
        )
        return LatentSums(likelihood, sure, _statistics(model, rows, held, counts, shares))

    def _others(self, levelled: Sequence[bool]) -> NaiveBayesModel:
        """Return the model of columns that are not levels, shares included."""
        model, product = self.model, self.model.product
        kept = [g for g, levels in enumerate(levelled) if not levels]
        part = Product(
            tuple(product.families[g] for g in kept), tuple(product.columns[g] for g in kept)
        )
        laws = tuple(model.laws[g] for g in kept)
        return NaiveBayesModel(model.labels, model.log_priors, laws, part, model.weights)

    def _table(self, levels: Sequence[Sequence[object]], levelled: Sequence[bool]) -> FloatArray:
        """Return log p(level | class) as the places of rows have them; the first is a blank's."""
        size = len(self.model.labels)
        found = [np.zeros((1, size))]
        laws = [law for law, own in zip(self.model.laws, levelled, strict=True) if own]
        known = [one for law in laws for one in law_tables(law)]
        for ours, (theirs, table) in zip(levels, known, strict=True):
            if ours == theirs:
                found.append(table[: len(theirs)])
                continue
            at = {level: place for place, level in enumerate(theirs)}
            found.append(table[[at.get(level, len(theirs)) for level in ours]])
        return np.concatenate(found)


def law_tables(law: Any) -> list[tuple[tuple[object, ...], FloatArray]]:
    """Return the levels of each column, and log p(level | class), -inf where it is impossible."""
    inner = getattr(law, "inner", None)
    if inner is not None:  # one law for all classes
        return [(own, np.repeat(table, law.size, axis=1)) for own, table in law_tables(inner)]
    found = []
    for levels, table, orders in zip(law.levels, law.tables, law.orders, strict=True):
        logs = table if orders is None else np.where(orders > 0.0, -np.inf, table)
        found.append((levels, logs))
    return found


def given_sums(
    product: Product, rows: LatentRows, shares: FloatArray, labels: tuple[int, ...]
) -> LatentSums:
    """Return the sums of rows of which p(class | row) is given (n, k): where EM may begin."""
    own = shares * rows.weights[:, np.newaxis] if len(rows.weights) else shares
    count = 1 + sum(len(levels) for levels in rows.levels)
    counts = np.zeros((count, len(labels)))
    for j in range(rows.places.shape[1]):
        for c in range(len(labels)):
            counts[:, c] += np.bincount(rows.places[:, j], own[:, c], minlength=count)
    empty: Any = None
    zero = np.zeros(len(labels))
    model = NaiveBayesModel(labels, zero, empty, product, zero)
    statistics = _statistics(model, rows, own.sum(axis=0), counts, shares)
    return LatentSums(0.0, 0.0, statistics)


class AllRowsAsOne:
    """The statistics of all rows as of one class: a summary of rows that can travel."""

    def __init__(self, product: Product) -> None:
        self.product = product

    def __call__(self, rows: LatentRows) -> LatentSums:
        """Return the sums of some rows."""
        return given_sums(self.product, rows, np.ones((len(rows), 1)), (0,))


def _statistics(
    model: NaiveBayesModel,
    rows: LatentRows,
    held: FloatArray,
    counts: FloatArray,
    shares: FloatArray,
) -> ByClass[Any]:
    """Return the statistics of each class that has any weight here."""
    product, blocks = model.product, rows.blocks
    own = shares * rows.weights[:, np.newaxis] if len(rows.weights) and len(shares) else shares
    parts: list[list[Any]] = []
    start = 1
    for family, block in zip(product.families, blocks.parts, strict=True):
        if isinstance(block, CodedColumns):
            end = start + sum(len(column) for column in block.levels)
            found: list[Any] = [
                Tallies(float(held[c]), block.levels, counts[start:end, c].copy())
                for c in range(len(held))
            ]
            start = end
        else:
            found = weighed_statistics(family, block, own, held)
        parts.append(found)
    return ByClass(
        {
            label: ByColumn(float(held[c]), tuple(found[c] for found in parts))
            for c, label in enumerate(model.labels)
            if held[c] > 0.0
        }
    )


def _parts(blocks: Blocks, levelled: Sequence[bool], *, kept: bool) -> Blocks:
    """Return some of the blocks: those of levels, or the others."""
    pairs = zip(blocks.parts, levelled, strict=True)
    return Blocks(tuple(part for part, own in pairs if own == kept))
