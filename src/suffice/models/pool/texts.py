"""Columns of texts beside a pool: p(y | x, texts) ∝ p(y | x)^β · exp(Σ_t β_t s_ty/√n_t + b_y).

The pool answers about all other columns. s_ty is what the words of text t say of class y, n_t how
many of them are known. Both kinds of β, b and the smoothing of each text are those of the least
loss of rows that neither the pool nor the words have seen: of the pool by its folds, of words by
taking each row out of their counts, which is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.models.pool.averages import LEAST, log_softmax
from suffice.models.text.calibration import USUAL, Calibration, fitted, relative
from suffice.models.text.learner import DECADES, GRID
from suffice.models.text.model import terms_said
from suffice.models.text.term_events import BOOLEAN
from suffice.models.text.terms import Terms
from suffice.models.text.tokens import Tokens
from suffice.rows import CATEGORY, NUMBER
from suffice.rows.tables import table_of_columns
from suffice.rows.text_cells import looks_like_texts, read_texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.text.counting import TermHashes
    from suffice.models.text.term_events import TermScores
    from suffice.models.text.terms import TermLaws
    from suffice.rows import FloatArray, IntArray, Table

TERMS = Terms(BOOLEAN, Tokens((1, 2)))
"""What is counted of a text: words and pairs of words, each once, as naive Bayes does beside other
columns unless something else is asked for."""
ROUNDS = 2
"""How often the smoothing of each of several texts is chosen: once alone, once beside the others,
as naive Bayes does."""


def text_places(table: Table, asked: Sequence[int] | None) -> tuple[int, ...]:
    """Return which columns are read as texts: those asked for, else those that look like it."""
    if asked is not None:
        return tuple(asked)
    return tuple(
        j
        for j, kind in enumerate(table.kinds)
        if kind == CATEGORY and looks_like_texts(table.column(j))
    )


def without_texts(table: Table, places: Sequence[int]) -> Table:
    """Return the columns that the members of the pool read; blanks, where all are texts."""
    if not places:
        return table
    others = [j for j in range(table.width) if j not in places]
    if not others:
        return table_of_columns([(NUMBER, np.full(table.size, np.nan))], None, None)
    return table.take(others)


@dataclass(frozen=True, slots=True, eq=False)
class TextsBeside:
    """Which columns are texts, and how far they are believed beside the pool.

    places    of the columns of texts, in the table
    belief    β of the log posterior of the pool
    alphas    the smoothing of each text; factors its β
    shifts    (k,) what is added where any text says anything
    """

    places: tuple[int, ...]
    belief: float
    alphas: FloatArray
    factors: FloatArray
    shifts: FloatArray


class HeldTexts(NamedTuple):
    """Texts of some rows: their terms column by column, and which cells are there (n, t)."""

    cells: list[list[str]]
    hashed: list[TermHashes]
    there: NDArray[np.bool_]

    @classmethod
    def of(cls, table: Table, places: Sequence[int]) -> HeldTexts:
        """Read columns of texts; what is no text is refused."""
        found = read_texts_of(table, places)
        cells = [found.column(j) for j in range(len(places))]
        there = np.stack([found.there(j) for j in range(len(places))], axis=1)
        return cls(cells, [TERMS.hashed(column) for column in cells], there)

    def learned(self, column: int, codes: IntArray, size: int, weights: FloatArray) -> TermLaws:
        """Return the laws of one column's terms; rows of weight 0 have no part in them."""
        w = np.where(self.there[:, column], weights, 0.0)
        return TERMS.estimate(TERMS.counted(self.hashed[column], codes, size, w))


@dataclass(frozen=True, eq=False)
class PoolTexts:
    """What the words of texts say, learned from all rows that a pool keeps."""

    setting: TextsBeside
    laws: tuple[TermLaws, ...]

    @classmethod
    def learned(
        cls,
        setting: TextsBeside,
        held: HeldTexts,
        codes: IntArray,
        size: int,
        weights: FloatArray,
    ) -> PoolTexts:
        """Learn from the rows that the members have."""
        laws = (held.learned(j, codes, size, weights) for j in range(len(setting.places)))
        return cls(setting, tuple(laws))

    def posterior(self, table: Table, posterior: FloatArray) -> FloatArray:
        """Return p(y | x, texts) from what the pool says of the other columns."""
        held = HeldTexts.of(table, self.setting.places)
        parts, lengths = [np.log(np.maximum(posterior, LEAST))], [np.ones(table.size)]
        for j, law in enumerate(self.laws):
            scores, known = law.scores_of(held.hashed[j], float(self.setting.alphas[j]))
            parts.append(scores)
            lengths.append(np.where(held.there[:, j], known, 0.0))
        one = self.setting
        return _together(parts, lengths, np.append(one.belief, one.factors), one.shifts)

    def words(
        self, table: Table, of: IntArray, against: IntArray
    ) -> dict[int, list[dict[str, float]]]:
        """Return, by column of texts, what each word adds to the log odds of every row."""
        held = HeldTexts.of(table, self.setting.places)
        found = {}
        for t, (place, law) in enumerate(zip(self.setting.places, self.laws, strict=True)):
            alpha = float(self.setting.alphas[t])
            _, known = law.scores_of(held.hashed[t], alpha)
            scales = float(self.setting.factors[t]) / np.sqrt(np.maximum(known, 1.0))
            found[place] = [
                {
                    part.piece: float(scales[i]) * part.log_odds
                    for part in terms_said(law, alpha, text, int(of[i]), int(against[i]))[1]
                }
                for i, text in enumerate(held.cells[t])
            ]
        return found


def _together(
    parts: Sequence[FloatArray],
    lengths: Sequence[FloatArray],
    factors: FloatArray,
    shifts: FloatArray,
) -> FloatArray:
    """Return posteriors (n, k): the first part is the pool's, and stays where no text says more."""
    said = (np.sum(lengths[1:], axis=0) > 0.0)[:, np.newaxis]
    joint = np.where(said, factors[0], 1.0) * relative(parts[0], lengths[0])
    joint = joint + np.where(said, shifts, 0.0)
    for factor, part, length in zip(factors[1:], parts[1:], lengths[1:], strict=True):
        joint = joint + np.where(length > 0.0, 1.0, 0.0)[:, np.newaxis] * (
            factor * relative(part, length)
        )
    found: FloatArray = np.exp(log_softmax(joint))
    return found


class JudgedBesidePool:
    """Rows that a pool has judged by folds, and what the words of all other rows say of each.

    posterior  (n, k), of the pool: neither members nor shares have seen a row's fold
    """

    def __init__(
        self,
        held: HeldTexts,
        posterior: FloatArray,
        codes: IntArray,
        weights: FloatArray,
        folds: IntArray,
    ) -> None:
        self._base = np.log(np.maximum(posterior, LEAST))
        self._codes, self._weights, self._folds = codes, weights, folds
        self._texts: list[TermScores] = []
        self._lengths: list[FloatArray] = []
        for j, hashed in enumerate(held.hashed):
            law = held.learned(j, codes, posterior.shape[1], weights)
            gone = np.where(held.there[:, j], weights, 0.0)
            scores = law.left_out_of(hashed, codes, gone)
            self._texts.append(scores)
            self._lengths.append(np.where(held.there[:, j], scores.lengths(), 0.0))

    def weighed(self, places: tuple[int, ...]) -> tuple[TextsBeside, FloatArray]:
        """Return what was found, and the judged posterior (n, k) of everything together.

        How far a row's text is believed in that posterior, other folds have decided.
        """
        scores = self._smoothed()
        every = self._fitted([one for _, one in scores], self._weights)[0]
        alphas = np.array([alpha for alpha, _ in scores])
        found = TextsBeside(
            places, float(every.factors[0]), alphas, every.factors[1:], every.shifts
        )
        parts, lengths = self._parts([one for _, one in scores])
        judged = np.empty_like(self._base)
        for fold in range(int(self._folds.max()) + 1):
            own = self._folds == fold
            others = self._fitted(parts[1:], np.where(own, 0.0, self._weights))[0]
            judged[own] = _together(
                [part[own] for part in parts], [length[own] for length in lengths],
                others.factors, others.shifts,
            )  # fmt: skip
        return found, judged

    def _smoothed(self) -> list[tuple[float, FloatArray]]:
        """Return the best α of each text, and the scores with it."""
        chosen = [(1.0, text.at(1.0)) for text in self._texts]
        for _ in range(ROUNDS if len(self._texts) > 1 else 1):
            for t, text in enumerate(self._texts):
                least, scores = np.inf, [one for _, one in chosen]
                for alpha in GRID:
                    scores[t] = text.at(alpha)
                    # Of a few texts all may be right at every α: then Laplace's is as good as any.
                    known = 0.5 * (np.log10(alpha) / DECADES) ** 2 / self._weights.sum()
                    loss = self._fitted(scores, self._weights)[1] + known
                    if loss < least:
                        least, chosen[t] = loss, (alpha, scores[t])
        return chosen

    def _parts(self, scores: Sequence[FloatArray]) -> tuple[list[FloatArray], list[FloatArray]]:
        lengths = [np.ones(len(self._base)), *self._lengths]
        return [self._base, *scores], lengths

    def _fitted(
        self, scores: Sequence[FloatArray], weights: FloatArray
    ) -> tuple[Calibration, float]:
        parts, lengths = self._parts(scores)
        usual, size = [1.0, *(USUAL for _ in scores)], self._base.shape[1]
        said = np.sum(lengths[1:], axis=0) > 0.0
        weights = np.where(said, weights, 0.0)  # where no text speaks, nothing is to be found
        if not weights.any():
            return Calibration(np.array(usual), np.zeros(size)), 0.0
        return fitted(np.zeros(size), parts, lengths, self._codes, weights, usual=usual, said=said)
