"""Four event models of words: what a term that is in a document, or is not, says about a class.

N_jc is how often class c has the term j (for Boolean and Bernoulli terms: in how many documents),
N_c their sum, n_c the documents of the class, V the terms known in any class, f_j how often the
document has the term, F their sum over the known terms.

    multinomial  Σ_j f_j log (N_jc + α)/(N_c + αV)           Boolean: f_j = 1
    complement  -Σ_j f_j log (M_jc + α)/(M_c + αV)           M: all classes but c
    bernoulli    Σ_j log [φ if j is there, else 1 - φ]        φ_jc = (N_jc + α)/(n_c + 2α)

Almost all N_jc are zero. Each sum is what it were if all of them were, and a correction at the
entries that are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

if TYPE_CHECKING:
    from suffice.models.text.terms import Hits, KnownTerms, TermIndex
    from suffice.rows import FloatArray, IntArray

BERNOULLI, MULTINOMIAL, BOOLEAN, COMPLEMENT = "bernoulli", "multinomial", "boolean", "complement"
EVENTS = (BERNOULLI, BOOLEAN, COMPLEMENT, MULTINOMIAL)
"""What `event` may be, in alphabetical order, as refusals list them."""


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """Documents that were learned, and are to be judged as if they had not been.

    codes, weights  of each document: its class, and what it weighs there
    own             of each hit: whether the entry is of the document's own class
    """

    codes: IntArray
    weights: FloatArray
    own: FloatArray


class LeftOutTexts(Protocol):
    """Scores of learned texts, each as if it had never been, at any smoothing."""

    @property
    def smooths(self) -> bool:
        """Whether a smoothing changes them."""

    def at(self, alpha: float) -> FloatArray:
        """Return the scores (n, k)."""


@dataclass(frozen=True, slots=True, eq=False)
class FixedScores:
    """Scores of some texts that no smoothing changes."""

    logs: FloatArray
    smooths: ClassVar[bool] = False

    def at(self, alpha: float) -> FloatArray:  # noqa: ARG002
        """Return the scores (n, k)."""
        return self.logs


@dataclass(frozen=True, eq=False)
class TermScores:
    """The scores of some documents as a function of α: what does not depend on it is held."""

    event: str
    index: TermIndex
    known: KnownTerms
    hits: Hits
    left_out: LeftOut | None = None
    smooths: ClassVar[bool] = True

    def at(self, alpha: float) -> FloatArray:
        """Return Σ over the terms of each document, class by class (n, k)."""
        if self.event == BERNOULLI:
            return self._bernoulli(alpha)
        if self.event == COMPLEMENT:
            return self._complement(alpha)
        return self._multinomial(alpha)

    # The pieces: sums over known terms, over hits, and what is left where documents are left out.

    def _by_row(self, values: FloatArray) -> FloatArray:
        return np.bincount(self.known.rows, values, minlength=self.known.size).astype(np.float64)

    def _by_cell(self, values: FloatArray) -> FloatArray:
        """Add up values of hits by document and class."""
        found = np.bincount(self._cells, values, minlength=self.known.size * self.index.size)
        return found.reshape(self.known.size, self.index.size).astype(np.float64)

    @cached_property
    def _cells(self) -> IntArray:
        """Of each hit, the document and the class in one number."""
        cells = self.known.rows[self.hits.known] * self.index.size
        cells += self.index.classes[self.hits.entries]
        return cells

    @cached_property
    def _taken(self) -> FloatArray:
        """Of each known term, how often it goes with its document."""
        if self.left_out is None:
            return np.zeros(len(self.known.rows))
        taken: FloatArray = self.left_out.weights[self.known.rows] * self.known.amounts
        return taken

    @cached_property
    def _counts(self) -> FloatArray:
        """The counts of the hits, without what goes."""
        counts = self.index.counts[self.hits.entries]
        if self.left_out is None:
            return counts
        return np.maximum(counts - self._taken[self.hits.known] * self.left_out.own, 0.0)

    @cached_property
    def _kept(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return totals of known terms, which of these are still known, and V for each document."""
        totals = self.index.totals[self.known.places] - self._taken
        # What rounding leaves of a term that only this document had is nothing.
        kept = (totals > 1e-9 * self._taken).astype(np.float64)
        vocabulary = self.index.width - self._by_row(1.0 - kept)
        return np.maximum(totals, 0.0), kept, vocabulary

    def _own(self, each: FloatArray) -> FloatArray:
        """Return values of documents in the columns of their own classes (n, k)."""
        found = np.zeros((self.known.size, self.index.size))
        if self.left_out is not None:
            found[np.arange(self.known.size), self.left_out.codes] = each
        return found

    def _multinomial(self, alpha: float) -> FloatArray:
        _, kept, vocabulary = self._kept
        amounts = self.known.amounts
        length = self._by_row(amounts * kept)[:, np.newaxis]
        totals = self.index.class_totals - self._own(self._by_row(self._taken))
        nothing = np.log(alpha)
        seen = self._by_cell(amounts[self.hits.known] * (np.log(self._counts + alpha) - nothing))
        found: FloatArray = seen + length * (nothing - _spread(totals, vocabulary, alpha))
        return found

    def _complement(self, alpha: float) -> FloatArray:
        totals, kept, vocabulary = self._kept
        amounts = self.known.amounts
        length = self._by_row(amounts * kept)[:, np.newaxis]
        gone = self._by_row(self._taken)[:, np.newaxis]
        others = self.index.class_totals.sum() - gone
        others = others - (self.index.class_totals - self._own(gone[:, 0]))
        all_terms = self._by_row(amounts * kept * np.log(totals + alpha))[:, np.newaxis]
        rest = np.maximum(totals[self.hits.known] - self._counts, 0.0)
        less = np.log(rest + alpha) - np.log(totals[self.hits.known] + alpha)
        corrected = self._by_cell(amounts[self.hits.known] * kept[self.hits.known] * less)
        found: FloatArray = length * _spread(others, vocabulary, alpha) - all_terms - corrected
        return found

    def _bernoulli(self, alpha: float) -> FloatArray:
        _, kept, vocabulary = self._kept
        here = self._by_row(kept)[:, np.newaxis]
        weights = None if self.left_out is None else self.left_out.weights
        gone = self._own(np.zeros(self.known.size) if weights is None else weights)
        documents = np.maximum(self.index.documents - gone, 0.0)
        nothing, everything = np.log(documents + alpha), np.log(documents + 2.0 * alpha)
        # Every term absent and never seen; then those that were seen; then those that are here.
        scores = vocabulary[:, np.newaxis] * (nothing - everything)
        scores += self._absent(alpha, documents) + here * (np.log(alpha) - nothing)
        row, entry = self.known.rows[self.hits.known], self.hits.entries
        column = self.index.classes[entry]
        n = documents[row, column]
        # The sum over absent terms has this one as it was before the document was taken out.
        absent = np.log(np.maximum(n - self.index.counts[entry], 0.0) + alpha)
        here_too = np.log(self._counts + alpha) - np.log(alpha)
        found: FloatArray = scores + self._by_cell(here_too + nothing[row, column] - absent)
        return found

    def _absent(self, alpha: float, documents: FloatArray) -> FloatArray:
        """Return Σ_j log (n_c - N_jc + α)/(n_c + α) over the entries of each class (n, k)."""
        found = np.empty_like(documents)
        for c in range(self.index.size):
            counts = self.index.counts[self.index.classes == c]
            different, inverse = np.unique(documents[:, c], return_inverse=True)
            sums = [
                np.sum(np.log(np.maximum(n - counts, 0.0) + alpha) - np.log(n + alpha))
                for n in different
            ]
            found[:, c] = np.array(sums)[inverse]
        return found

    def lengths(self) -> FloatArray:
        """Return how many terms each document has that are known without it.

        To a Bernoulli model all that are not there speak as well: together they are one more.
        """
        _, kept, _ = self._kept
        found = self._by_row(self.known.amounts * kept)
        return found + 1.0 if self.event == BERNOULLI else found


def _spread(totals: FloatArray, vocabulary: FloatArray, alpha: float) -> FloatArray:
    """Return log (N_c + αV); where no term is known there is nothing to be spread over."""
    known = np.maximum(vocabulary, 1.0)[:, np.newaxis]
    found: FloatArray = np.log(np.maximum(totals, 0.0) + alpha * known)
    return found
