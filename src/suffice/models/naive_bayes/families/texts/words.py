"""Columns of texts: words by an event model, as a family of columns like any other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.errors import BadSetting
from suffice.models.naive_bayes.families.texts.believed import BelievedTexts, TextFamily
from suffice.models.text.calibration import USUAL
from suffice.models.text.model import terms_said
from suffice.models.text.term_events import BOOLEAN, COMPLEMENT, EVENTS
from suffice.models.text.terms import TermLaws, Terms
from suffice.models.text.tokens import Tokens
from suffice.statistics.column_terms import ColumnTerms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.models.naive_bayes.asked_of_families import EstimatedColumns
    from suffice.models.notes import Note
    from suffice.models.text.term_events import TermScores
    from suffice.rows import FloatArray, IntArray
    from suffice.rows.text_cells import TextCells

DRAWN_EVENTS = tuple(event for event in EVENTS if event != COMPLEMENT)
"""Event models that are laws of a text: complements are scores, which priors cannot multiply."""


@dataclass(frozen=True, slots=True)
class TextWords(TextFamily):
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


@dataclass(frozen=True, eq=False)
class TextWordColumns(BelievedTexts):
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
    kind: ClassVar[str] = "words"

    def weighed(self, alphas: FloatArray, factors: FloatArray, shifts: FloatArray) -> Self:
        """Return the same words, smoothed and believed otherwise."""
        return replace(self, alphas=alphas, factors=factors, shifts=shifts)

    def alpha(self, column: int) -> float:
        """Return the smoothing of a column."""
        return float(self.alphas[column])

    @cached_property
    def columns(self) -> list[TermLaws]:
        """The laws of the terms of each column."""
        terms = self.family.terms
        return [terms.estimate([g.terms[j] for g in self.groups]) for j in range(self.width)]

    def text_scores(self, block: TextCells, column: int) -> tuple[FloatArray, FloatArray]:
        """Return the scores of the texts of a column, and how many known words these have."""
        return self.columns[column].scores(block.column(column), self.alpha(column))

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

    def term_scores(
        self, block: TextCells, column: int, codes: IntArray, weights: FloatArray
    ) -> tuple[TermScores, FloatArray]:
        """Return scores of learned texts as if each had never been, at any smoothing; lengths."""
        found = self.columns[column].left_out(block.column(column), codes, weights)
        return found, self.said(block, column, found.lengths())

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
