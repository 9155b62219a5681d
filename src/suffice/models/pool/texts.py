"""Columns of texts beside a pool: p(y | x, texts) ∝ p(y | x)^β · exp(Σ_t β_t s_ty/√n_t + b_y).

The pool answers about all other columns. s_ty is what the words, or bytes, of text t say of class
y, n_t how many of them are known. Both kinds of β, b, the smoothing of each text and, where nobody
has said it, whether it is read by words or by bytes, are those of the least loss of rows that
neither the pool nor the texts have seen: of the pool by its folds, of texts by taking each row out
of their counts, which is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.models.pool.averages import LEAST, log_softmax
from suffice.models.pool.text_readings import READINGS, WORDS, tries_bytes
from suffice.rows import CATEGORY, NUMBER
from suffice.rows.tables import table_of_columns
from suffice.rows.text_cells import looks_like_texts, read_texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.text.calibration import Calibration
    from suffice.models.text.term_events import LeftOutTexts
    from suffice.rows import FloatArray, IntArray, Table

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
    readings  by what each text is known, a name of READINGS; None is words for all, as in files
              that are older than bytes
    """

    places: tuple[int, ...]
    belief: float
    alphas: FloatArray
    factors: FloatArray
    shifts: FloatArray
    readings: tuple[str, ...] | None = field(default=None, metadata={"later": True})

    @property
    def read_by(self) -> tuple[str, ...]:
        """By what each text is known: "words" or "bytes"."""
        return (WORDS,) * len(self.places) if self.readings is None else self.readings


class HeldTexts(NamedTuple):
    """Texts of some rows, column by column, and which cells are there (n, t)."""

    cells: list[list[str]]
    there: NDArray[np.bool_]

    @classmethod
    def of(cls, table: Table, places: Sequence[int]) -> HeldTexts:
        """Read columns of texts; what is no text is refused."""
        found = read_texts_of(table, places)
        cells = [found.column(j) for j in range(len(places))]
        there = np.stack([found.there(j) for j in range(len(places))], axis=1)
        return cls(cells, there)

    def ways(self, asked: Sequence[str | None], classes: int) -> list[tuple[str, ...]]:
        """Return how each column may be read: as asked, else by words, and bytes where few."""
        found = []
        for name, cells in zip(asked, self.cells, strict=True):
            usual = tuple(READINGS) if tries_bytes(cells, classes) else (WORDS,)
            found.append(usual if name is None else (name,))
        return found

    def gone(self, column: int, weights: FloatArray) -> FloatArray:
        """Return the weight of each text of a column: of a blank cell nothing."""
        found: FloatArray = np.where(self.there[:, column], weights, 0.0)
        return found


@dataclass(frozen=True, eq=False)
class PoolTexts:
    """What texts say, learned from all rows that a pool keeps."""

    setting: TextsBeside
    laws: tuple[Any, ...]

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
        found = []
        for j, name in enumerate(setting.read_by):
            reading = READINGS[name]
            read = reading.read(held.cells[j])
            found.append(reading.learned(read, codes, size, held.gone(j, weights)))
        return cls(setting, tuple(found))

    def posterior(self, table: Table, posterior: FloatArray) -> FloatArray:
        """Return p(y | x, texts) from what the pool says of the other columns."""
        one = self.setting
        held = HeldTexts.of(table, one.places)
        parts, lengths = [np.log(np.maximum(posterior, LEAST))], [np.ones(table.size)]
        for j, (name, law) in enumerate(zip(one.read_by, self.laws, strict=True)):
            reading = READINGS[name]
            scores, length = reading.scores(law, reading.read(held.cells[j]), float(one.alphas[j]))
            parts.append(scores)
            lengths.append(held.gone(j, length))
        return _together(parts, lengths, np.append(one.belief, one.factors), one.shifts)

    def words(
        self, table: Table, of: IntArray, against: IntArray
    ) -> dict[int, list[dict[str, float]]]:
        """Return, by column of texts, what each word adds to the log odds of every row."""
        one = self.setting
        held = HeldTexts.of(table, one.places)
        found = {}
        for t, (name, law) in enumerate(zip(one.read_by, self.laws, strict=True)):
            alpha, factor = float(one.alphas[t]), float(one.factors[t])
            rows: list[dict[str, float]] = []
            for i, text in enumerate(held.cells[t]):
                said: dict[str, float] = {}
                length = 1.0
                if held.there[i, t]:
                    pair = int(of[i]), int(against[i])
                    said, length = READINGS[name].words(law, text, alpha, *pair)
                scale = factor / float(np.sqrt(max(length, 1.0)))
                rows.append({word: scale * odds for word, odds in said.items()})
            found[one.places[t]] = rows
        return found


def _together(
    parts: Sequence[FloatArray],
    lengths: Sequence[FloatArray],
    factors: FloatArray,
    shifts: FloatArray,
) -> FloatArray:
    """Return posteriors (n, k): the first part is the pool's, and stays where no text says more."""
    from suffice.models.text.calibration import relative

    said = (np.sum(lengths[1:], axis=0) > 0.0)[:, np.newaxis]
    joint = np.where(said, factors[0], 1.0) * relative(parts[0], lengths[0])
    joint = joint + np.where(said, shifts, 0.0)
    for factor, part, length in zip(factors[1:], parts[1:], lengths[1:], strict=True):
        joint = joint + np.where(length > 0.0, 1.0, 0.0)[:, np.newaxis] * (
            factor * relative(part, length)
        )
    found: FloatArray = np.exp(log_softmax(joint))
    return found


class _ReadText(NamedTuple):
    """A column of learned texts, read in one way.

    scores   of each text as if it had never been, at any smoothing; lengths what it is a sum of
    alphas   the smoothings to choose from
    """

    name: str
    scores: LeftOutTexts
    lengths: FloatArray
    alphas: Sequence[float]


class _ChosenText(NamedTuple):
    """How a column of texts is read and smoothed, and what that says of learned rows."""

    name: str
    alpha: float
    scores: FloatArray
    lengths: FloatArray


class JudgedBesidePool:
    """Rows that a pool has judged by folds, and what the texts of all other rows say of each.

    posterior  (n, k), of the pool: neither members nor shares have seen a row's fold
    readings   the names of READINGS that each text may be read by
    """

    def __init__(
        self,
        held: HeldTexts,
        posterior: FloatArray,
        codes: IntArray,
        weights: FloatArray,
        folds: IntArray,
        readings: Sequence[Sequence[str]],
    ) -> None:
        self._base = np.log(np.maximum(posterior, LEAST))
        self._codes, self._weights, self._folds = codes, weights, folds
        self._texts: list[list[_ReadText]] = []
        for j, names in enumerate(readings):
            gone = held.gone(j, weights)
            ways = []
            for name in names:
                reading = READINGS[name]
                read = reading.read(held.cells[j])
                laws = reading.learned(read, codes, posterior.shape[1], gone)
                scores, length = reading.left_out(laws, read, codes, gone)
                ways.append(_ReadText(name, scores, held.gone(j, length), reading.alphas))
            self._texts.append(ways)

    def weighed(self, places: tuple[int, ...]) -> tuple[TextsBeside, FloatArray]:
        """Return what was found, and the judged posterior (n, k) of everything together.

        How far a row's text is believed in that posterior, other folds have decided.
        """
        chosen = self._chosen()
        every = self._fitted(chosen, self._weights)[0]
        names = tuple(one.name for one in chosen)
        found = TextsBeside(
            places, float(every.factors[0]), np.array([one.alpha for one in chosen]),
            every.factors[1:], every.shifts, names if set(names) != {WORDS} else None,
        )  # fmt: skip
        parts, lengths = self._parts(chosen)
        judged = np.empty_like(self._base)
        for fold in range(int(self._folds.max()) + 1):
            own = self._folds == fold
            others = self._fitted(chosen, np.where(own, 0.0, self._weights))[0]
            judged[own] = _together(
                [part[own] for part in parts], [length[own] for length in lengths],
                others.factors, others.shifts,
            )  # fmt: skip
        return found, judged

    def _chosen(self) -> list[_ChosenText]:
        """Return how each text is best read and smoothed, each beside the others."""
        from suffice.models.text.learner import DECADES

        chosen = [
            _ChosenText(ways[0].name, 1.0, ways[0].scores.at(1.0), ways[0].lengths)
            for ways in self._texts
        ]
        for _ in range(ROUNDS if len(self._texts) > 1 else 1):
            for t, ways in enumerate(self._texts):
                least, tried = np.inf, list(chosen)
                for way in ways:
                    for alpha in way.alphas:
                        tried[t] = _ChosenText(way.name, alpha, way.scores.at(alpha), way.lengths)
                        # Of a few texts all may be right at every α: then Laplace's is as good as
                        # any.
                        known = 0.5 * (np.log10(alpha) / DECADES) ** 2 / self._weights.sum()
                        loss = self._fitted(tried, self._weights)[1] + known
                        if loss < least:
                            least, chosen[t] = loss, tried[t]
        return chosen

    def _parts(self, chosen: Sequence[_ChosenText]) -> tuple[list[FloatArray], list[FloatArray]]:
        lengths = [np.ones(len(self._base)), *(one.lengths for one in chosen)]
        return [self._base, *(one.scores for one in chosen)], lengths

    def _fitted(
        self, chosen: Sequence[_ChosenText], weights: FloatArray
    ) -> tuple[Calibration, float]:
        """Return how far all is believed, and the mean log-loss of all rows."""
        from suffice.models.text.calibration import USUAL, Calibration, fitted

        parts, lengths = self._parts(chosen)
        usual, size = [1.0, *(USUAL for _ in chosen)], self._base.shape[1]
        said = np.sum(lengths[1:], axis=0) > 0.0
        # Where no text speaks, nothing is to be found, and the pool's own answer stands.
        spoken = np.where(said, weights, 0.0)
        own = self._base[np.arange(len(self._codes)), self._codes]
        silent = -float((weights - spoken) @ own)
        if not spoken.any():
            return Calibration(np.array(usual), np.zeros(size)), silent / float(weights.sum())
        found, loss = fitted(
            np.zeros(size), parts, lengths, self._codes, spoken, usual=usual, said=said
        )
        return found, (loss * float(spoken.sum()) + silent) / float(weights.sum())
