"""Bayes' rule: from p(x | y) and p(y) to p(y | x)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.errors import BadSetting, NotLinear, listed
from suffice.families.full_normals import FullNormals
from suffice.kernels.scores import (
    binary_log_posterior,
    binary_posterior,
    linear_scores,
    quadratic_scores,
    softmax,
    winners,
)
from suffice.linear_algebra import log_sum_exp, normalized
from suffice.models.linear import LinearForm

if TYPE_CHECKING:
    from suffice.families.gaussian import NormalClasses
    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class GenerativeModel:
    """Class priors and class densities: everything that was learned, and no data.

    `weights` tells from how many rows each class was learned (zero if it was not).
    """

    labels: tuple[Label, ...]
    log_priors: FloatArray
    densities: NormalClasses
    weights: FloatArray

    def with_log_priors(self, log_priors: FloatArray) -> Self:
        """Return a model with other priors and the same densities."""
        return replace(self, log_priors=log_priors)

    def log_joint(self, rows: FloatArray) -> FloatArray:
        """Return log p(x, y), one column per class."""
        return self.densities.log_densities(rows) + self.log_priors

    def log_density(self, rows: FloatArray) -> FloatArray:
        """Return log p(x), the evidence."""
        return log_sum_exp(self.log_joint(rows))

    def posterior(self, rows: FloatArray, *, log: bool = False) -> FloatArray:
        """Return p(y | x), or its logarithm, by Bayes' rule.

        Blocks go through the fused kernels; rows that come out non-finite (missing cells,
        or too far away for squares) are scored again with care.
        """
        size = len(self.labels)
        out = np.empty((len(rows), size))
        hard = np.zeros(len(rows), dtype=bool)
        if size == 1:
            self.densities.scores(rows, self.log_priors)  # refuses infinite cells
            out[:] = 0.0 if log else 1.0
            return out

        def work(part: slice) -> None:
            block, found = rows[part], out[part]
            with np.errstate(all="ignore"):
                if size == 2:
                    odds = found[:, 1]
                    if self._contrast is not None:
                        origin, weights, offset = self._contrast
                        linear_scores(block, origin, weights, offset, found[:, 1:])
                    else:
                        self._block_scores(block, found)
                        odds -= found[:, 0]
                    np.logical_not(np.isfinite(odds), out=hard[part])
                    (binary_log_posterior if log else binary_posterior)(odds, found)
                    return
                self._block_scores(block, found)
                if not np.isfinite(found.sum()):
                    hard[part] = ~np.isfinite(found).all(axis=1)
                softmax(found, log)

        for_blocks(work, len(rows), rows.shape[1])
        if hard.any():
            found = normalized(self.densities.scores(rows[hard], self.log_priors))
            out[hard] = found if log else np.exp(found)
        return out

    def codes(self, rows: FloatArray) -> IntArray:
        """Return, for each row, the position of its likeliest class (the first, in a tie)."""
        size = len(self.labels)
        out = np.zeros(len(rows), dtype=np.intp)
        hard = np.zeros(len(rows), dtype=bool)

        def work(part: slice) -> None:
            with np.errstate(all="ignore"):
                if self._contrast is not None:
                    odds = np.empty((len(out[part]), 1))
                    origin, weights, offset = self._contrast
                    linear_scores(rows[part], origin, weights, offset, odds)
                    hard[part] = ~np.isfinite(odds[:, 0])
                    out[part] = odds[:, 0] > 0.0
                    return
                scores = np.empty((len(out[part]), size))
                self._block_scores(rows[part], scores)
                winners(scores, out[part], hard[part])

        for_blocks(work, len(rows), rows.shape[1])
        if hard.any():
            out[hard] = self.densities.scores(rows[hard], self.log_priors).argmax(axis=1)
        return out

    def _block_scores(self, rows: FloatArray, out: FloatArray) -> None:
        """Write scores of one block: linear ones when the covariance is shared."""
        densities = self.densities
        if not isinstance(densities, FullNormals):
            densities.block_scores(rows, self.log_priors, out)
        elif densities.is_shared:
            weights, offsets = densities.linear
            linear_scores(rows, densities.origin, weights, offsets + self.log_priors, out)
        else:
            matrices, shifts = densities.quadratic
            constants = self.log_priors - densities.log_volumes
            quadratic_scores(rows, densities.origin, matrices, shifts, constants, out)

    @cached_property
    def _contrast(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """For two classes and a flat boundary: origin, and the log odds as one score column."""
        if len(self.labels) != 2 or not self.densities.is_shared:
            return None
        if not np.isfinite(self.log_priors).all():
            return None
        weights, offset = self.densities.contrast
        odds = float(self.log_priors[1] - self.log_priors[0])
        return self.densities.origin, weights[np.newaxis], np.array([offset + odds])

    def linear_form(self) -> LinearForm:
        """Return the same classifier as weights and intercepts, if its boundary is flat."""
        if not self.densities.is_shared:
            raise NotLinear(
                f"the boundary between {listed(self.labels)} is quadratic: "
                "each class has its own covariance",
                hint='covariance="shared" has a linear form',
            )
        weights, offsets = self.densities.linear
        return LinearForm(self.labels, weights, self.log_priors + offsets, self.densities.origin)

    def sample(
        self, size: int, rng: np.random.Generator, label: Label | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Draw classes from the priors (or one given class), then rows from their densities."""
        if label is None:
            priors = np.exp(self.log_priors)
            codes = rng.choice(len(self.labels), size=size, p=priors / priors.sum())
        else:
            if label not in self.labels:
                raise BadSetting(
                    f"there is no class {label!r}", hint=f"the classes are {listed(self.labels)}"
                )
            codes = np.full(size, self.labels.index(label))
        codes = codes.astype(np.intp)
        return self.densities.sample(codes, rng), codes
