"""How typical rows of words are of a class, by comparison with draws of the same length.

Words are drawn as a class predicts them, one after the other, each drawn word making itself more
probable: so the draws differ from each other by as much as the class's shares are uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadRows
from suffice.models.naive_bayes.families.left_out import counted_cells, counts_left_out
from suffice.models.naive_bayes.families.linear_laws import counted_rows
from suffice.models.naive_bayes.families.multinomial import SHORT, MultinomialCounts
from suffice.places import Phrase, RowAt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.naive_bayes.families.protocol import Scores
    from suffice.rows import FloatArray, IntArray
    from suffice.rows.sparse import SparseRows
    from suffice.statistics import Totals

DRAWS = 9999
"""Rows that a row is compared with: p-values are multiples of 1/10,000, and never 0."""
SEED = 20190229
"""The seed of the draws: fixed, so that the same question has the same answer. The number itself
means nothing."""
MOST_TOKENS = 50_000_000
"""Words that may be drawn for one answer: 400 MB if all are of one length. A choice."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Rows of multinomial counts, and the classes they are compared with."""

    law: MultinomialCounts
    counts: FloatArray
    alpha: float
    block: Block
    lengths: IntArray
    scores: Scores
    carrier: FloatArray

    @classmethod
    def of(
        cls, law: MultinomialCounts, groups: Sequence[Totals], alpha: float, block: Block
    ) -> Words:
        """Measure rows, and refuse those that cannot be compared with draws."""
        counts = np.stack([group.sums for group in groups])
        lengths = _lengths(law, block)
        return cls(law, counts, alpha, block, lengths, law.scores(block), law.carrier(block))

    def p_values(self, code: int, codes: IntArray | None, gone: FloatArray) -> FloatArray:
        """Return P(log p(X | c) ≤ log p(x | c)) among rows of the same length.

        Rows of the class itself, by `codes`, are scored without their own words, `gone` being
        their weight. Ranks count the row itself, so no p-value is zero.
        """
        found = self._log_probabilities(code, codes, gone)
        out = np.ones(len(found))
        for length in np.unique(self.lengths):
            if length == 0:
                continue
            rng = np.random.default_rng([SEED, code, int(length)])
            drawn = self._drawn(code, int(length), rng)
            codes_drawn = np.full(DRAWS, code, dtype=np.intp)
            scores = np.sort(_values(self.law.scores(drawn), codes_drawn) + self.law.carrier(drawn))
            here = self.lengths == length
            own = found[here]
            # Rounding must not break a tie.
            slack = 1e-9 * np.maximum(1.0, np.abs(np.where(np.isfinite(own), own, 0.0)))
            rank = np.searchsorted(scores, own + slack, side="right")
            out[here] = (rank + 1.0) / (DRAWS + 1.0)
        return out

    def _log_probabilities(self, code: int, codes: IntArray | None, gone: FloatArray) -> FloatArray:
        one = np.full(len(self.lengths), code, dtype=np.intp)
        scores = self.scores
        if codes is not None:
            w = np.where(codes == code, gone, 0.0)
            scores = counts_left_out(self.law, self.counts, self.alpha, self.block, one, w)
        return _values(scores, one) + self.carrier

    def _drawn(self, code: int, length: int, rng: np.random.Generator) -> SparseRows:
        """Return rows as the class predicts them, its own uncertainty included."""
        width = self.law.width
        if self.law.threshold is not None:
            codes = np.full(DRAWS, code, dtype=np.intp)
            return self.law.sample(codes, rng, np.full(DRAWS, length, dtype=np.intp))
        base = self.counts[code] + self.alpha
        if not base.sum() > 0.0:
            base = np.ones(width)
        if length > SHORT * width:
            shares = rng.gamma(np.where(base > 0.0, base, 1.0), size=(DRAWS, width))
            shares = np.where(base > 0.0, shares, 0.0) + 1e-300
            found = rng.multinomial(length, shares / shares.sum(axis=1, keepdims=True))
            places, columns = np.nonzero(found)
            cells = found[places, columns].astype(np.float64)
            return counted_rows(places, columns, DRAWS, width, cells)
        edges = np.cumsum(base)
        words = np.searchsorted(edges, rng.random((length, DRAWS)) * edges[-1], side="right")
        words = np.minimum(words, width - 1)
        for i in range(1, length):
            # Pólya's urn: one of the words so far, as often as they outweigh the class.
            again = np.flatnonzero(rng.random(DRAWS) * (edges[-1] + i) < i)
            words[i, again] = words[rng.integers(0, i, len(again)), again]
        places = np.tile(np.arange(DRAWS), length)
        return counted_rows(places, words.ravel(), DRAWS, width, np.ones(words.size))


def _values(scores: Scores, codes: IntArray) -> FloatArray:
    """Return log p(x | c) of each row under one class; -inf where it is impossible."""
    rows = np.arange(len(codes))
    logs: FloatArray = scores.logs[rows, codes]
    if scores.orders is not None:
        logs = np.where(scores.orders[rows, codes] > 0.0, -np.inf, logs)
    return logs


def _lengths(law: MultinomialCounts, block: Block) -> IntArray:
    """Return the lengths of rows, or refuse counts that nobody can draw."""
    place, _, value = counted_cells(law, block)
    broken = value != np.floor(value)
    if broken.any():
        i = int(np.argmax(broken))
        said = "{row} holds {value:g}: there are no draws of fractional counts to compare it with"
        raise BadRows(
            Phrase(said, row=RowAt(int(place[i])), value=float(value[i])),
            hint="typicality needs whole counts; TF-IDF weights have a posterior only",
        )
    lengths = np.bincount(place, value, minlength=len(block))
    words = DRAWS * float(np.unique(lengths).sum())
    if words > MOST_TOKENS:
        raise BadRows(
            f"rows of {len(np.unique(lengths))} different lengths, the longest of "
            f"{lengths.max():g}, would need {words:.2g} drawn words",
            hint="ask about fewer or shorter rows at a time",
        )
    return lengths.astype(np.intp)
