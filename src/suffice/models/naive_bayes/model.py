"""Naive Bayes: priors and independent columns, combined by Bayes' rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.engines.uneven_blocks import for_sparse_blocks, winning_codes
from suffice.errors import BadSetting, NotLinear, listed
from suffice.kernels.dense.scores import best_columns, softmax
from suffice.kernels.sparse.sums import score_table
from suffice.linear_algebra import log_average, normalized
from suffice.models.gaussian.diagonal_normals import DiagonalNormals
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.linear.form import LinearForm
from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.models.naive_bayes.families.gaussian import NormalColumns
from suffice.models.naive_bayes.families.linear_laws import LinearLaws
from suffice.models.naive_bayes.families.protocol import Scores
from suffice.rows.sparse import SparseRows, refuse_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.families.protocol import ColumnLaws
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class NaiveBayesModel:
    """Class priors and the laws of every group of columns: what was learned, and no data.

    With a temperature β other than 1, posteriors follow log π_c + β·log p(x | c): columns that
    say the same thing twice are taken less literally. Densities and samples are those of β = 1.
    Where several `temperatures` (b,) have `shares` (b,), their posteriors are averaged, and
    `temperature` is the mean.
    """

    labels: tuple[Label, ...]
    log_priors: FloatArray
    laws: tuple[ColumnLaws, ...]
    product: Product
    weights: FloatArray
    temperature: float = 1.0
    blank: tuple[int, ...] = ()
    """Columns of which no class has shown a cell: there is nothing to draw them from."""
    temperatures: FloatArray | None = field(default=None, metadata={"later": True})
    shares: FloatArray | None = field(default=None, metadata={"later": True})

    def with_log_priors(self, log_priors: FloatArray) -> Self:
        """Return a model with other priors and the same densities."""
        return replace(self, log_priors=log_priors)

    # Densities

    def scores(self, rows: Blocks) -> Scores:
        """Return log p(x | c) up to what classes have in common, (n, k)."""
        return summed(self._group_scores(rows))

    def _group_scores(self, rows: Blocks) -> list[Scores]:
        return [law.scores(part) for law, part in zip(self.laws, rows.parts, strict=True)]

    def comparable(self, rows: Blocks, log_priors: FloatArray | None = None) -> FloatArray:
        """Return log π_c + β·log p(x | c) up to what classes share, and limits where it must.

        Classes for which a row is impossible are out of it, unless it is so for all of them.
        """
        priors = self.log_priors if log_priors is None else log_priors
        found = self._group_scores(rows)
        total = summed(found)

        def joint(beta: float) -> FloatArray:
            return with_far_rows(self.laws, rows, found, combined(total, priors, beta), priors)

        if self.temperatures is None or self.shares is None:
            return joint(self.temperature)
        out: FloatArray | None = None
        for beta, share in zip(self.temperatures.tolist(), self.shares, strict=True):
            some = normalized(joint(beta)) + np.log(share)
            out = some if out is None else np.logaddexp(out, some)
        assert out is not None
        return out

    def log_joint(self, rows: Blocks) -> FloatArray:
        """Return log p(x, y), one column per class; -inf where a row is impossible."""
        return self.log_densities(rows) + self.log_priors

    def log_densities(self, rows: Blocks) -> FloatArray:
        """Return log p(x | y), one column per class; -inf where a row is impossible."""
        out = np.empty((len(rows), len(self.labels)))

        def work(part: slice) -> None:
            some = rows[part]
            found = self.scores(some)
            carrier = np.zeros(len(some))
            for law, block in zip(self.laws, some.parts, strict=True):
                carrier += law.carrier(block)
            with np.errstate(invalid="ignore"):
                some_logs = found.logs + carrier[:, np.newaxis]
            # Beyond the range of a double only -inf is certain.
            out[part] = np.where(np.isnan(some_logs), -np.inf, some_logs)
            if found.orders is not None:
                out[part][found.orders > 0.0] = -np.inf

        self._for_blocks(work, rows)
        return out

    def log_density(self, rows: Blocks) -> FloatArray:
        """Return log p(x), the evidence."""
        return log_average(self.log_densities(rows), self.log_priors)

    # Posteriors

    def posterior(self, rows: Blocks, *, log: bool = False) -> FloatArray:
        """Return p(y | x), or its logarithm, by Bayes' rule."""
        if self._normal is not None:
            found: FloatArray = self._normal.posterior(rows.parts[0], log=log)  # type: ignore[arg-type]
            return found
        out = np.empty((len(rows), len(self.labels)))

        def work(part: slice) -> None:
            found = self.comparable(rows[part])
            softmax(found, log)
            out[part] = found

        self._for_blocks(work, rows)
        return out

    def chosen(self, rows: Blocks, classes: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return the likeliest class of each row (the first, in a tie): an element of `classes`."""
        if self._normal is not None:
            found: NDArray[np.generic] = self._normal.chosen(rows.parts[0], classes)  # type: ignore[arg-type]
            return found
        return classes[self.codes(rows)]

    def codes(self, rows: Blocks) -> IntArray:
        """Return, for each row, the position of its likeliest class (the first, in a tie)."""
        if self._normal is not None:
            found: IntArray = self._normal.codes(rows.parts[0])  # type: ignore[arg-type]
            return found
        first = rows.parts[0]
        if isinstance(first, SparseRows) and self._sparse_form is not None:
            law, table, offsets = self._sparse_form
            found, smallest = winning_codes(first, table, offsets, law.threshold)
            refuse_stored(first, smallest, signed=law.signed)
            return found
        out = np.zeros(len(rows), dtype=np.intp)

        def work(part: slice) -> None:
            scores = self.comparable(rows[part])
            with np.errstate(all="ignore"):
                best_columns(scores, out[part], float(scores.sum()))

        self._for_blocks(work, rows)
        return out

    @cached_property
    def _sparse_form(self) -> tuple[LinearLaws, FloatArray, FloatArray] | None:
        """The scores of sparse rows as one table and offsets, where nothing is impossible."""
        law = self.laws[0]
        averaged = self.shares is not None
        if averaged or not isinstance(law, LinearLaws) or law.order_slopes is not None:
            return None
        offsets = self.log_priors.copy()
        if law.offsets is not None:
            offsets += self.temperature * law.offsets.sum(axis=1)
        if self.temperature == 1.0:
            return law, law.table, offsets
        return law, score_table(self.temperature * law.slopes), offsets

    @cached_property
    def _normal(self) -> GenerativeModel | None:
        """The same model with fused kernels, where all columns are plainly normal."""
        law = self.laws[0]
        if not isinstance(law, NormalColumns) or law.is_logarithm or len(self.laws) > 1:
            return None
        if self.shares is not None or self.temperature != 1.0:
            return None
        return GenerativeModel(self.labels, self.log_priors, law.normals, self.weights)

    def _for_blocks(self, work: Callable[[slice], None], rows: Blocks) -> None:
        first = rows.parts[0]
        if isinstance(first, SparseRows):
            for_sparse_blocks(work, first)
            return
        # Products with tables of few classes, or a place in them: little for each cell.
        light = all(law.is_light for law in self.laws)
        for_blocks(work, len(rows), max(1, rows.cells // max(1, len(rows))), light=light)

    # The other school

    def linear_form(self) -> LinearForm:
        """Return the same classifier as weights and intercepts, if its posterior is logistic."""
        if self.shares is not None:
            raise NotLinear(
                f"the log odds between {listed(self.labels)} are those of an average over "
                "temperatures, which is not linear",
                hint="temperature=None, or a number, has a linear form where columns do",
            )
        width = self.product.width
        weights = np.zeros((len(self.labels), width))
        offsets, origin = self.log_priors.copy(), np.zeros(width)
        for law, group in zip(self.laws, self.product.columns, strict=True):
            found = law.linear()
            if found is None:
                why, hint = law.why_not_linear()
                between = f"the log odds between {listed(self.labels)} are not linear"
                raise NotLinear(f"{between}{why}", hint=hint)
            places = list(group)
            weights[:, places] = self.temperature * found[0]
            offsets += self.temperature * found[1]
            origin[places] = found[2]
        return LinearForm(self.labels, weights, offsets, origin)

    # New data

    def sample(
        self,
        size: int,
        rng: np.random.Generator,
        label: Label | None = None,
        lengths: Mapping[int, IntArray] | None = None,
    ) -> tuple[Blocks, IntArray]:
        """Draw classes from the priors (or one given class), then columns from their laws.

        `lengths` tells, by group, how long multinomial rows are; they are drawn where it does
        not.
        """
        from suffice.models.naive_bayes.families.multinomial import MultinomialCounts

        codes = drawn_codes(self.labels, self.log_priors, size, rng, label)
        parts: list[Any] = []
        for g, law in enumerate(self.laws):
            if isinstance(law, MultinomialCounts):
                parts.append(law.sample(codes, rng, (lengths or {}).get(g)))
            else:
                parts.append(law.sample(codes, rng))
        return Blocks(tuple(parts)), codes


def summed(found: list[Scores]) -> Scores:
    """Return the scores of all groups together: logs add, and so do orders."""
    logs = found[0].logs
    for scores in found[1:]:
        logs = logs + scores.logs
    orders: FloatArray | None = None
    for scores in found:
        if scores.orders is not None:
            orders = scores.orders if orders is None else orders + scores.orders
    return Scores(logs, orders)


def combined(scores: Scores, log_priors: FloatArray, temperature: float = 1.0) -> FloatArray:
    """Return log π + β·log p(x | c), -inf for classes of more impossible events than the best.

    `log_priors` may be one row for all, or one for each.
    """
    logs = scores.logs if temperature == 1.0 else temperature * scores.logs
    joint: FloatArray = logs + log_priors
    if scores.orders is not None:
        possible = np.broadcast_to(log_priors, joint.shape) > -np.inf
        least = np.where(possible, scores.orders, np.inf).min(axis=1, keepdims=True)
        joint[scores.orders > least] = -np.inf
    return joint


def with_far_rows(
    laws: Sequence[ColumnLaws],
    rows: Blocks,
    found: Sequence[Scores],
    joint: FloatArray,
    log_priors: FloatArray,
) -> FloatArray:
    """Return log joints in which rows beyond the range of squares have their limit.

    `found` are the scores of every group and `joint` what they came to, -inf for classes that
    are excluded. Among the others the squares of all normal columns together decide; what else
    was said counts where they tie.
    """
    # Where variances are shared scores are linear: they count as what else was said, unless
    # even they leave the range.
    normal = [
        g
        for g, law in enumerate(laws)
        if isinstance(law, NormalColumns)
        and not (law.normals.is_shared and np.isfinite(found[g].logs).all())
    ]
    if not normal:
        return joint
    far = np.flatnonzero(np.any([~np.isfinite(found[g].logs).all(axis=1) for g in normal], axis=0))
    if not len(far):
        return joint
    members: list[Any] = [laws[g] for g in normal]
    law = _joined(members)
    parts: list[Any] = [rows.parts[g] for g in normal]
    cells = np.concatenate(
        [
            member.transformed(part[far]).astype(np.float64, copy=False)
            for member, part in zip(members, parts, strict=True)
        ],
        axis=1,
    )
    rest = np.broadcast_to(log_priors, joint[far].shape).copy()
    orders = np.zeros_like(rest)
    for g, scores in enumerate(found):
        if g not in normal:
            rest += scores.logs[far]
        if scores.orders is not None:
            orders += scores.orders[far]
    possible = rest > -np.inf
    least = np.where(possible, orders, np.inf).min(axis=1, keepdims=True)
    possible &= orders <= least
    joint = joint.copy()
    masks, which = np.unique(possible, axis=0, return_inverse=True)
    for number, mask in enumerate(masks):
        here = np.flatnonzero(which.ravel() == number)
        with np.errstate(divide="ignore"):
            limits = law.scores(cells[here], np.log(mask.astype(np.float64)))
        joint[far[here]] = np.where(mask, limits + rest[here], -np.inf)
    return joint


def _joined(laws: Sequence[Any]) -> DiagonalNormals:
    """Return the normal columns of several groups as one law, each class with its variances."""
    normals = [law.normals for law in laws]
    size = normals[0].size
    deviations: list[NDArray[np.generic]] = [
        np.broadcast_to(law.deviations, (size, law.deviations.shape[1])) for law in normals
    ]
    return DiagonalNormals(
        np.concatenate([law.origin for law in normals]),
        np.concatenate([law.origin_low for law in normals]),
        np.concatenate([law.scale for law in normals]),
        np.concatenate([law.active for law in normals]),
        np.concatenate([law.means for law in normals], axis=1),
        np.concatenate(deviations, axis=1),
    )


def drawn_codes(
    labels: tuple[Label, ...],
    log_priors: FloatArray,
    size: int,
    rng: np.random.Generator,
    label: Label | None,
) -> IntArray:
    """Return the places of `size` classes drawn from the priors, or of one given class."""
    if label is None:
        priors = np.exp(log_priors)
        return rng.choice(len(labels), size=size, p=priors / priors.sum()).astype(np.intp)
    if label not in labels:
        raise BadSetting(f"there is no class {label!r}", hint=f"the classes are {listed(labels)}")
    return np.full(size, labels.index(label), dtype=np.intp)
