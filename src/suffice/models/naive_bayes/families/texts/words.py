"""Columns of texts: words by an event model, as a family of columns like any other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.errors import BadSetting, NotADensity
from suffice.models.naive_bayes.families.protocol import BaseFamily, BaseLaws, Scores
from suffice.models.text.calibration import USUAL, relative
from suffice.models.text.model import terms_said
from suffice.models.text.term_events import BOOLEAN, COMPLEMENT, EVENTS
from suffice.models.text.terms import TermLaws, Terms
from suffice.models.text.tokens import Tokens
from suffice.rows.text_cells import TextCells, read_texts_of
from suffice.statistics.column_terms import ColumnTerms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.models.naive_bayes.asked_of_families import EstimatedColumns
    from suffice.models.notes import Note
    from suffice.models.text.term_events import TermScores
    from suffice.rows import FloatArray, IntArray, Table

DRAWN_EVENTS = tuple(event for event in EVENTS if event != COMPLEMENT)
"""Event models that are laws of a text: complements are scores, which priors cannot multiply."""


@dataclass(frozen=True, slots=True)
class TextWords(BaseFamily):
    """Texts by their words: log p(text | c) = β·Σ_j log p(word_j | c)/√n over its n known words.

    Smoothing and β are found by rows that are left out, beside all other columns, since words are
    not independent. A blank cell says nothing.

    Parameters
    ----------
    event : {"boolean", "multinomial", "bernoulli"}, default=BOOLEAN
        "boolean": words drawn one after the other, each counted once per text; "multinomial": with
        repetitions; "bernoulli": each word is there or not.
    ngrams : tuple of int, default=(1, 2)
        The least and the most words of a term.
    lower : bool, default=True
        Whether terms are in lower case.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = [["cheap pills", 9.0], ["cheap watches", 7.0], ["see you", 1.0], ["lunch?", 2.0]]
    >>> y = ["spam", "spam", "ham", "ham"]
    >>> model = NaiveBayes({0: TextWords(), 1: "gaussian"}).fit(rows, y)
    >>> print(*model.predict([["cheap lunch", 8.0], [None, 1.5]]))
    spam ham
    """

    event: str = BOOLEAN
    ngrams: tuple[int, int] = (1, 2)
    lower: bool = True

    name: ClassVar[str] = "words"
    is_single: ClassVar[bool] = False
    cells_are_texts: ClassVar[bool] = True
    becomes: ClassVar[str] = "TextWordColumns"
    statistics: ClassVar[str] = "ColumnTerms"
    form: ClassVar[Mapping[str, str]] = {
        "event": "text",
        "ngrams": "(count) *",
        "lower": "truth",
    }

    def __post_init__(self) -> None:
        """Refuse an event model that is none of texts beside columns."""
        if self.event not in DRAWN_EVENTS:
            raise BadSetting(
                f"event={self.event!r} is not known for a column of texts",
                hint=f"use one of {', '.join(DRAWN_EVENTS)}",
            )
        object.__setattr__(self, "ngrams", self.terms.tokens.ngrams)

    @property
    def terms(self) -> Terms:
        """The event model of one column."""
        return Terms(self.event, Tokens(self.ngrams, self.lower))

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> TextCells:
        """Return the texts of these columns; what is no text is refused."""
        return read_texts_of(table, columns)

    def summarize(
        self, block: TextCells, codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[ColumnTerms]:
        """Return the terms of every column, class by class."""
        totals = np.bincount(codes, weights, minlength=size).tolist()
        found = []
        for j in range(block.cells.shape[1]):
            there = np.flatnonzero(block.there(j))
            w = None if weights is None else weights[there]
            texts = block[there].column(j)
            found.append(self.terms.summarize(texts, codes[there], size, w))
        return [
            ColumnTerms(float(totals[c]), tuple(column[c] for column in found)) for c in range(size)
        ]

    def estimate(
        self,
        groups: Sequence[ColumnTerms],
        alpha: float,  # noqa: ARG002
    ) -> tuple[TextWordColumns, tuple[Note, ...]]:
        """Return the laws of all classes, believed as texts usually are until rows say more."""
        width, size = groups[0].width, len(groups)
        usual = np.full(width, USUAL)
        held = tuple(groups)
        laws = TextWordColumns(self, held, np.ones(width), usual, np.zeros((width, size)))
        return laws, ()

    def estimates(self, names: Sequence[str], own: Sequence[ColumnTerms]) -> list[EstimatedColumns]:
        """Return how many terms a text has, as if each came by itself."""
        from suffice.models.naive_bayes.asked_of_families import EstimatedColumns, ratio

        sums = np.array([[column.counts.sum() for column in part.terms] for part in own])
        counts = np.array([[column.weight for column in part.terms] for part in own])
        means = ratio(sums, counts)
        return [EstimatedColumns(names, "terms of a text", means, counts, means)]

    def left_out(
        self,
        groups: Sequence[ColumnTerms],
        alpha: float,
        block: TextCells,
        codes: IntArray,
        weights: FloatArray,
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been."""
        law, _ = self.estimate(groups, alpha)
        return law.left_out(block, codes, weights)


@dataclass(frozen=True, eq=False)
class TextWordColumns(BaseLaws):
    """What words say, class by class, and how far they are believed.

    groups   the terms of every class: laws of words are their counts
    alphas   the smoothing of each column
    factors  β of each column; shifts (d, k) what is added where a text says anything
    """

    family: TextWords
    groups: tuple[ColumnTerms, ...]
    alphas: FloatArray
    factors: FloatArray
    shifts: FloatArray
    form: ClassVar[Mapping[str, str]] = {
        "family": "=family",
        "groups": "(=ColumnTerms d) k",
        "alphas": "scale d",
        "factors": "weight d",
        "shifts": "float d k",
    }

    def weighed(self, alphas: FloatArray, factors: FloatArray, shifts: FloatArray) -> Self:
        """Return the same words, smoothed and believed otherwise."""
        return replace(self, alphas=alphas, factors=factors, shifts=shifts)

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.groups)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.alphas)

    @cached_property
    def columns(self) -> list[TermLaws]:
        """The laws of the terms of each column."""
        terms = self.family.terms
        return [terms.estimate([g.terms[j] for g in self.groups]) for j in range(self.width)]

    def scores(self, block: TextCells) -> Scores:
        """Return what the texts of a row say; blank cells are skipped."""
        logs = np.zeros((len(block), self.size))
        for j in range(self.width):
            logs += self.column_scores(block, j).logs
        return Scores(logs, None)

    def column_scores(self, block: TextCells, column: int) -> Scores:
        """Return what one column adds to the scores."""
        found, lengths = self.columns[column].scores(block.column(column), self.alphas[column])
        return Scores(self._believed(found, self._said(block, column, lengths), column), None)

    def words(
        self, block: TextCells, column: int, of: IntArray, against: IntArray
    ) -> list[dict[str, float]]:
        """Return what each word of one column adds to the log odds of two classes, row by row.

        What is said before any word is looked at is no word's: the rest of what the column adds.
        """
        law, alpha = self.columns[column], float(self.alphas[column])
        texts = block.column(column)
        _, lengths = law.scores(texts, alpha)
        roots = np.sqrt(np.maximum(lengths, 1.0))
        found = []
        for i, text in enumerate(texts):
            _, parts = terms_said(law, alpha, text, int(of[i]), int(against[i]))
            scale = float(self.factors[column] / roots[i])
            found.append({part.piece: scale * part.log_odds for part in parts})
        return found

    def _said(self, block: TextCells, column: int, lengths: FloatArray) -> FloatArray:
        """Return lengths that are zero where a cell is blank, also to absent words."""
        return np.where(block.there(column), lengths, 0.0)

    def _believed(self, scores: FloatArray, lengths: FloatArray, column: int) -> FloatArray:
        said = (lengths > 0.0)[:, np.newaxis]
        found = self.factors[column] * relative(scores, lengths) + self.shifts[column]
        return np.where(said, found, 0.0)

    def term_scores(
        self, block: TextCells, column: int, codes: IntArray, weights: FloatArray
    ) -> tuple[TermScores, FloatArray]:
        """Return scores of learned texts as if each had never been, at any smoothing; lengths."""
        found = self.columns[column].left_out(block.column(column), codes, weights)
        return found, self._said(block, column, found.lengths())

    def left_out(self, block: TextCells, codes: IntArray, weights: FloatArray) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been."""
        logs = np.zeros((len(block), self.size))
        for j in range(self.width):
            # A blank cell is a text of weight nothing: there is nothing of it to take out.
            gone = np.where(block.there(j), weights, 0.0)
            found, lengths = self.term_scores(block, j, codes, gone)
            logs += self._believed(found.at(float(self.alphas[j])), lengths, j)
        return Scores(logs, None)

    def carrier(self, block: TextCells) -> FloatArray:  # noqa: ARG002
        """Refuse: what is believed in part is no density."""
        raise NotADensity(
            "a text column counts only in part, so rows with one have no density",
            hint="predict, explain and leave_one_out need none; fit without that column",
        )

    def sample(self, codes: IntArray, rng: np.random.Generator) -> TextCells:  # noqa: ARG002
        """Return blank cells: words are kept as numbers, and nobody can write them again."""
        return TextCells(np.full((len(codes), self.width), None, dtype=object))

    def estimation_variance(self, block: TextCells, omegas: FloatArray) -> float:  # noqa: ARG002
        """Return nothing: words are too many for their counts to be uncertain in one direction."""
        return 0.0

    def described(self, column: int, code: int) -> dict[Any, float]:
        """Return how many terms a text has, how many different ones there are, α and β."""
        part = self.groups[code].terms[column]
        each = part.counts.sum() / part.weight if part.weight > 0.0 else 0.0
        return {
            "terms of a text": float(each),
            "different terms": float(part.width),
            "smoothing": float(self.alphas[column]),
            "belief": float(self.factors[column]),
        }

    def flaw(self, sizes: dict[str, int]) -> str:  # noqa: ARG002
        """Return whether words are of another family."""
        family: object = self.family
        return "" if type(family) is TextWords else "has words of another family"

    def why_not_linear(self) -> tuple[str, str]:
        """Return that texts are no numbers."""
        return ": it has a column of texts", "fit without that column"

    def agrees(self, other: Any, room: float) -> bool:
        """Whether other laws are the same, but for rounding of what rows have decided."""
        same = self.family == other.family and len(self.groups) == len(other.groups)
        if not same or self.width != other.width:
            return False
        for ours, theirs in zip(self.groups, other.groups, strict=True):
            for a, b in zip(ours.terms, theirs.terms, strict=True):
                if not np.array_equal(a.keys, b.keys) or not np.allclose(a.counts, b.counts):
                    return False
        pairs = (
            (np.log(self.alphas), np.log(other.alphas)),
            (self.factors, other.factors),
            (self.shifts, other.shifts),
        )
        return all(bool((np.abs(a - b) <= room * (1.0 + np.abs(a))).all()) for a, b in pairs)
