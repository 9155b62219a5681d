"""A language model for each class: the probability of a text, byte by byte."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.engines.uneven_blocks import check_codes, count_by_class, for_text_parts
from suffice.errors import BadSetting, DifferentKinds, ForgettingUnseen
from suffice.kernels.ngrams.counts import ngram_keys
from suffice.kernels.ngrams.left_out import left_out_log_densities
from suffice.kernels.ngrams.scores import ngram_scores, symbol_logs
from suffice.kernels.ngrams.texts import BITS, EOT, SYMBOLS, Texts, beginning, mask
from suffice.models.text.witten_bell import levels_of, probabilities_of, score_table
from suffice.statistics.algebra import ROUNDING, are_whole
from suffice.statistics.keyed_counts import checked_limit, checked_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import Level, NgramTable
    from suffice.kernels.ngrams.texts import Keys
    from suffice.rows import FloatArray, IntArray
    from suffice.statistics.keyed_counts import NgramCounts


@dataclass(frozen=True, slots=True)
class Language:
    """Each byte depends on the order - 1 before it; interpolated as Witten and Bell did.

    No words, no vocabulary and no alphabet: a document is bytes. `limit` is how many bytes of a
    document are looked at; None is all. Where a document goes on, the model says how probable its
    beginning is.

    >>> import numpy as np
    >>> family = Language(order=3)
    >>> documents = [b"buy cheap pills", b"cheap watches", b"see you at lunch", b"lunch at one?"]
    >>> laws = family.estimate(family.summarize(documents, np.array([0, 0, 1, 1]), 2))
    >>> laws.log_density([b"cheap lunch", b"watch pills"]).argmax(axis=1)
    array([1, 0])
    """

    order: int = 5
    limit: int | None = None

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        checked_order(self.order)
        checked_limit(self.limit)

    def summarize(
        self,
        documents: Sequence[bytes],
        codes: IntArray,
        size: int,
        weights: FloatArray | None = None,
    ) -> list[NgramCounts]:
        """Return the counts of each class 0 … size - 1; a weight counts repetitions."""
        texts = Texts.of(documents, self.limit)
        return count_by_class(texts, self.order, codes, size, weights)

    def estimate(self, groups: Sequence[NgramCounts]) -> LanguageLaws:
        """Return the laws of all classes; one without documents has all texts of a length alike."""
        if not groups:
            raise BadSetting("there is no class to learn", hint="give the counts of at least one")
        strange = next((group for group in groups if group.order != self.order), None)
        if strange is not None:
            raise DifferentKinds(
                f"n-grams of {strange.order} symbols are not a model of order {self.order}",
                hint="count all documents with the same order",
            )
        return LanguageLaws(self.order, self.limit, tuple(groups))


@dataclass(frozen=True, eq=False)
class LanguageLaws:
    """A probability for every text, in each of k classes.

    EOT is a symbol like the bytes, so that the probabilities of all texts of all lengths sum to
    one. All follows from the counts, `groups`, when it is asked for: `levels` are those of shorter
    n-grams too, `table` is what documents are scored by.

    >>> from suffice.statistics.keyed_counts import NgramCounts
    >>> groups = [NgramCounts.of([b"abab"], 2), NgramCounts.of([b"aaaa"], 2)]
    >>> from suffice.models.text.language import Language
    >>> laws = Language(order=2).estimate(groups)
    >>> laws.log_density([b"ab", b"aa"]).round(2)
    array([[ -1.92, -10.08],
           [ -6.11,  -2.15]])
    """

    order: int
    limit: int | None
    groups: tuple[NgramCounts, ...]

    @cached_property
    def levels(self) -> list[Level]:
        """The n-grams of 0 … order symbols of all classes."""
        return levels_of(self.groups)

    @cached_property
    def table(self) -> NgramTable:
        """The probabilities of all n-grams in all classes, ready to be looked up."""
        # Levels take as much room again: they stay only where somebody has asked for them.
        return score_table(vars(self).get("levels") or levels_of(self.groups))

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.groups)

    def lengths(self, documents: Sequence[bytes]) -> NDArray[np.int64]:
        """Return how many symbols of each document have a probability: its bytes, and EOT.

        A document that is cut at the limit has no EOT.
        """
        return Texts.of(documents, self.limit).lengths

    def log_density(self, documents: Sequence[bytes]) -> FloatArray:
        """Return log p of each document in each class (n, k).

        Of a document that is cut, it is the logarithm of the probability to begin like this.
        """
        return self._scored(Texts.of(documents, self.limit))

    def left_out(
        self, documents: Sequence[bytes], codes: IntArray, weights: FloatArray | None = None
    ) -> FloatArray:
        """Return log p of documents that were counted, each as if it had not been (n, k).

        In its own class, `codes`, a document's n-grams are taken out of the counts: exactly what
        forgetting it and estimating again would give. Other classes stay as they are. A document
        of weight 0, or of a code below 0, was not counted.
        """
        texts = Texts.of(documents, self.limit)
        check_codes(texts, codes, weights)
        by_document = np.ones(texts.size) if weights is None else weights
        found = np.empty((texts.size, self.size))
        counted = (codes >= 0) & (by_document > 0.0)
        which = np.flatnonzero(~counted)
        found[which] = self._scored(texts.taken(which))
        which = np.flatnonzero(counted)
        found[which] = self._without_themselves(texts, codes, by_document, which)
        return found

    def _without_themselves(
        self, texts: Texts, codes: IntArray, weights: FloatArray, which: IntArray
    ) -> FloatArray:
        """Return log p of the documents `which`, each taken out of the counts of its class."""
        *_, top = probabilities_of(self.levels)
        logs = np.log(top)
        counts = self.levels[-1].counts
        exact = [are_whole(counts[:, c], weights[codes == c]) for c in range(self.size)]
        rounding = np.where(exact, 0.0, ROUNDING)

        def leave_out(some: IntArray) -> FloatArray:
            out = np.empty((len(some), self.size))
            strange = left_out_log_densities(
                texts.taken(some), codes[some], weights[some], self.levels, logs, rounding, out
            )
            if strange >= 0:
                raise ForgettingUnseen(
                    f"document {some[strange]} was never counted in class {codes[some[strange]]}",
                    hint="leave out only documents that were learned, with the weights they had",
                )
            return out

        parts = for_text_parts(leave_out, texts, which, self.order)
        return np.concatenate([np.empty((0, self.size)), *parts])

    def probabilities(self, before: bytes = b"") -> FloatArray:
        """Return P(next symbol | the bytes before it) in each class (257, k); the last is EOT.

        >>> from suffice.models.text.language import Language
        >>> from suffice.statistics.keyed_counts import NgramCounts
        >>> laws = Language(order=2).estimate([NgramCounts.of([b"abab"], 2)])
        >>> float(laws.probabilities(b"a")[ord("b"), 0].round(3))
        0.75
        """
        context = beginning(self.order - 1)
        for byte in before[max(len(before) - self.order + 1, 0) :]:
            context = (context << BITS | byte) & mask(self.order - 1)
        symbols = np.append(np.arange(SYMBOLS - 1), EOT).astype(np.uint64)
        keys = (np.uint64(context) << np.uint64(BITS)) | symbols
        return np.exp(symbol_logs(keys, self.table))

    def explain(self, document: bytes, first: int, second: int) -> FloatArray:
        """Return what each byte adds to log p(text | first) - log p(text | second).

        One number a byte, and a last one for EOT where the document is not cut: their sum is the
        difference of the log-densities.
        """
        for code in (first, second):
            if not 0 <= code < self.size:
                raise BadSetting(
                    f"there is no class {code} among {self.size}",
                    hint=f"use a number from 0 to {self.size - 1}",
                )
        texts = Texts.of([document], self.limit)
        logs = symbol_logs(ngram_keys.plain(texts, self.order), self.table)
        added: FloatArray = logs[:, first] - logs[:, second]
        return added

    def sample(self, codes: IntArray, rng: np.random.Generator, most: int = 10_000) -> list[bytes]:
        """Draw a text of each code's class; it ends at EOT, or is cut after `most` bytes.

        >>> from suffice.models.text.language import Language
        >>> from suffice.statistics.keyed_counts import NgramCounts
        >>> laws = Language(order=5).estimate([NgramCounts.of([b"banana"] * 99, 5)])
        >>> laws.sample(np.zeros(3, dtype=np.intp), np.random.default_rng(0))
        [b'banana', b'banana', b'banana']
        """
        samplers = {int(c): TextSampler.of(self.groups[c]) for c in np.unique(codes)}
        return [samplers[int(c)].draw(rng, most) for c in codes]

    def _scored(self, texts: Texts) -> FloatArray:
        found = np.empty((texts.size, self.size))

        def score(some: IntArray) -> None:
            out = np.empty((len(some), self.size))
            ngram_scores(texts.taken(some), self.table, out)
            found[some] = out

        for_text_parts(score, texts, np.arange(texts.size), self.order)
        return found


class TextSampler(NamedTuple):
    """The n-grams of one class by length, sorted, so that all successors of a context are together.

    `sums` are cumulative counts, from 0.
    """

    order: int
    keys: list[Keys]
    sums: list[FloatArray]

    @classmethod
    def of(cls, counts: NgramCounts) -> Self:
        """Return what is needed to draw texts like those that were counted."""
        keys, sums = [], []
        for level in levels_of([counts])[1:]:
            seen = level.counts[:, 0] > 0.0  # BOS is a context, and never drawn
            keys.append(level.keys[seen])
            sums.append(np.append(0.0, np.cumsum(level.counts[seen, 0])))
        return cls(counts.order, keys, sums)

    def draw(self, rng: np.random.Generator, most: int) -> bytes:
        """Return one text, of at most `most` bytes."""
        found = bytearray()
        context = beginning(self.order - 1)
        while len(found) < most:
            symbol = self._next(context, rng)
            if symbol == EOT:
                break
            found.append(symbol)
            context = (context << BITS | symbol) & mask(self.order - 1)
        return bytes(found)

    def _next(self, context: int, rng: np.random.Generator) -> int:
        """Draw a successor as it was counted, c of c + T times; else one symbol less is known."""
        for m in range(self.order, 0, -1):
            lowest = (context & mask(m - 1)) << BITS
            ends = np.array([lowest, lowest + mask(1) + 1], dtype=np.uint64)
            low, high = np.searchsorted(self.keys[m - 1], ends)
            if low == high:
                continue
            sums = self.sums[m - 1]
            count = sums[high] - sums[low]
            drawn = rng.random() * (count + (high - low))
            if drawn < count:
                place = np.searchsorted(sums[low + 1 : high], sums[low] + drawn, side="right")
                return int(self.keys[m - 1][low + place]) & mask(1)
        symbol = int(rng.integers(SYMBOLS))
        return EOT if symbol == SYMBOLS - 1 else symbol
