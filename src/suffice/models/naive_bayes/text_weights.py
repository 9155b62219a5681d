"""How far texts are believed beside other columns: found by rows, each as if it never had been.

    log p(y | x) ∝ log π_y + β·Σ_j log p(x_j | y) + Σ_t (β_t s_ty/√n_t + b_ty)

s_ty is what the words or bytes of text t say of class y, n_t how many are known. All β and b are
those of the least log-loss of a sample of rows that are left out one by one, so that neither part
can make the whole worse than it is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.text.calibration import USUAL, fitted
from suffice.models.text.learner import DECADES, GRID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.naive_bayes.column_blocks import Blocks
    from suffice.rows import FloatArray, IntArray

ROUNDS = 2
"""How often the smoothing of each text is chosen, beside what the others are at: one alone, and one
more in which each knows the rest."""


class JudgedTexts:
    """Columns of texts and what else there is, of rows that were left out one by one.

    gone      the weight that is taken out of each row, of all that it has
    columns   log p(x | y) of all other columns (n, k); None where there are none
    beta      how far they are believed; None is to be found
    """

    def __init__(
        self,
        laws: Sequence[Any],
        rows: Blocks,
        log_priors: FloatArray,
        codes: IntArray,
        weights: FloatArray,
        gone: FloatArray,
        columns: FloatArray | None,
        beta: float | None,
    ) -> None:
        self._laws = laws
        self._log_priors, self._codes, self._weights = log_priors, codes, weights
        self._columns, self._beta = columns, beta
        self._texts: list[tuple[int, int, Any, FloatArray]] = []
        for g, law in enumerate(laws):
            if hasattr(law, "term_scores"):
                block: Any = rows.parts[g]
                self._texts += [
                    (g, j, *law.term_scores(block, j, codes, np.where(block.there(j), gone, 0.0)))
                    for j in range(law.width)
                ]

    def weighed(self) -> tuple[tuple[Any, ...], float]:
        """Return the laws with what was found, and β of the other columns."""
        alphas = [1.0] * len(self._texts)
        scores = [found.at(1.0) for _, _, found, _ in self._texts]
        for _ in range(ROUNDS if len(self._texts) > 1 else 1):
            for t, (_, _, found, _) in enumerate(self._texts):
                best = np.inf
                kept = scores[t]
                for alpha in GRID if found.smooths else (1.0,):
                    scores[t] = found.at(alpha)
                    # Of a few texts all may be right at every α: then Laplace's is as good as any.
                    known = 0.5 * (np.log10(alpha) / DECADES) ** 2 / self._weights.sum()
                    loss = self._fitted(scores)[2] + known
                    if loss < best:
                        best, alphas[t], kept = loss, alpha, scores[t]
                scores[t] = kept
        factors, shifts, _ = self._fitted(scores)
        beta = 1.0
        if self._columns is not None:
            beta = float(factors[0]) if self._beta is None else self._beta
            factors = factors[1:] if self._beta is None else factors
        return self._with(alphas, factors / beta, shifts / beta), beta

    def _fitted(self, scores: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray, float]:
        """Return all β, the shifts, and the mean log-loss."""
        priors, parts = self._log_priors, list(scores)
        lengths = [length for _, _, _, length in self._texts]
        usual = [USUAL] * len(parts)
        if self._columns is not None and self._beta is None:
            parts.insert(0, self._columns)
            lengths.insert(0, np.ones(len(self._columns)))
            usual.insert(0, 1.0)
        elif self._columns is not None:
            assert self._beta is not None
            priors = priors + self._beta * self._columns
        said = self._texts[0][3] > 0.0
        found, loss = fitted(
            priors, parts, lengths, self._codes, self._weights, usual=usual, said=said
        )
        return found.factors, found.shifts, loss

    def _with(
        self, alphas: Sequence[float], factors: FloatArray, shifts: FloatArray
    ) -> tuple[Any, ...]:
        """Return the laws; shifts come with the first text, which nearly all rows have."""
        laws = list(self._laws)
        for g, law in enumerate(laws):
            places = [t for t, text in enumerate(self._texts) if text[0] == g]
            if places:
                own = np.zeros((len(places), law.size))
                if places[0] == 0:
                    own[0] = shifts
                laws[g] = law.weighed(np.array([alphas[t] for t in places]), factors[places], own)
        return tuple(laws)
