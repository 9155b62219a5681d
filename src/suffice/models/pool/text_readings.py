"""How a column of texts is read beside a pool: by its words, or byte by byte.

Both count what they read class by class, take a text out of its own counts exactly, and say what
each word of a text adds to the log odds. Words have a smoothing, and bytes have none.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np  # and of suffice.models.text only what is needed: most tables have no texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from suffice.models.text.counting import TermHashes
    from suffice.models.text.language import Language, LanguageLaws
    from suffice.models.text.term_events import LeftOutTexts
    from suffice.models.text.terms import TermLaws, Terms
    from suffice.rows import FloatArray, IntArray

WORDS, BYTES = "words", "bytes"
"""What a text is known by, in settings and files; naive Bayes has families of these names."""
PIECES = (1, 2)
"""What is counted of a text by its words: words and pairs of words, each once, as naive Bayes does
beside other columns unless something else is asked for."""
ORDER, LIMIT = 5, 1000
"""What is counted of a text by its bytes: each of the first thousand by the four before it, as
naive Bayes does. A third of the bytes that naive Bayes looks at: a pool reads every text of its
2,048 rows again when a file is opened."""
MOST_TRIED = 2_000_000
"""Characters, times classes, up to which bytes are tried beside words where nobody has said which:
about a second. Long texts have words enough, and their bytes have told less on every table of
docs/pool.md."""


class TextReading(Protocol):
    """A way to read texts. Laws are what it learned of all classes, `read` what texts become."""

    @property
    def alphas(self) -> Sequence[float]:
        """The smoothings to choose from."""
        ...

    def read(self, cells: Sequence[str]) -> Any:
        """Return texts as they are counted and scored."""

    def learned(self, read: Any, codes: IntArray, size: int, weights: FloatArray) -> Any:
        """Return the laws of texts; those of weight 0 have no part in them."""

    def scores(self, laws: Any, read: Any, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Return what texts say (n, k), and of how many words or bytes each is a sum."""

    def left_out(
        self, laws: Any, read: Any, codes: IntArray, weights: FloatArray
    ) -> tuple[LeftOutTexts, FloatArray]:
        """Return the scores of learned texts as if each had never been, and their lengths."""

    def words(
        self, laws: Any, cell: str, alpha: float, of: int, against: int
    ) -> tuple[dict[str, float], float]:
        """Return what each word of a text adds to the log odds, and how long the text is."""


class ByWords:
    """Texts by their words and pairs of words."""

    @property
    def alphas(self) -> Sequence[float]:
        """The smoothings to choose from."""
        from suffice.models.text.learner import GRID

        return GRID

    @cached_property
    def terms(self) -> Terms:
        """The event model."""
        from suffice.models.text.term_events import BOOLEAN
        from suffice.models.text.terms import Terms
        from suffice.models.text.tokens import Tokens

        return Terms(BOOLEAN, Tokens(PIECES))

    def read(self, cells: Sequence[str]) -> TermHashes:
        """Cut texts into terms."""
        return self.terms.hashed(cells)

    def learned(
        self, read: TermHashes, codes: IntArray, size: int, weights: FloatArray
    ) -> TermLaws:
        """Return the laws of terms."""
        return self.terms.estimate(self.terms.counted(read, codes, size, weights))

    def scores(
        self, laws: TermLaws, read: TermHashes, alpha: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return what the terms of texts say, and how many of them are known."""
        return laws.scores_of(read, alpha)

    def left_out(
        self, laws: TermLaws, read: TermHashes, codes: IntArray, weights: FloatArray
    ) -> tuple[LeftOutTexts, FloatArray]:
        """Return the scores of learned texts as if each had never been, and their lengths."""
        found = laws.left_out_of(read, codes, weights)
        return found, found.lengths()

    def words(
        self, laws: TermLaws, cell: str, alpha: float, of: int, against: int
    ) -> tuple[dict[str, float], float]:
        """Return what each term of a text adds to the log odds, and how many are known."""
        from suffice.models.text.model import terms_said

        _, known = laws.scores([cell], alpha)
        parts = terms_said(laws, alpha, cell, of, against)[1]
        return {part.piece: part.log_odds for part in parts}, float(known[0])


class ByBytes:
    """Texts byte by byte: a language model of each class."""

    @property
    def alphas(self) -> Sequence[float]:
        """The smoothings to choose from: there is nothing to smooth."""
        return (1.0,)

    @property
    def language(self) -> Language:
        """The event model."""
        from suffice.models.text.language import Language

        return Language(ORDER, LIMIT)

    def read(self, cells: Sequence[str]) -> list[bytes]:
        """Return the beginnings of texts: one byte more than is looked at, where they go on."""
        from suffice.models.text.documents import encoded

        return [encoded(cell, LIMIT + 1) for cell in cells]

    def learned(
        self, read: list[bytes], codes: IntArray, size: int, weights: FloatArray
    ) -> LanguageLaws:
        """Return the language of each class."""
        language = self.language
        return language.estimate(language.summarize(read, codes, size, weights))

    def scores(
        self,
        laws: LanguageLaws,
        read: list[bytes],
        alpha: float,  # noqa: ARG002
    ) -> tuple[FloatArray, FloatArray]:
        """Return what the bytes of texts say, and how many there are."""
        return laws.log_density(read), laws.lengths(read).astype(np.float64)

    def left_out(
        self, laws: LanguageLaws, read: list[bytes], codes: IntArray, weights: FloatArray
    ) -> tuple[LeftOutTexts, FloatArray]:
        """Return the scores of learned texts as if each had never been, and their lengths."""
        from suffice.models.text.term_events import FixedScores

        found = FixedScores(laws.left_out(read, codes, weights))
        return found, laws.lengths(read).astype(np.float64)

    def words(
        self,
        laws: LanguageLaws,
        cell: str,
        alpha: float,  # noqa: ARG002
        of: int,
        against: int,
    ) -> tuple[dict[str, float], float]:
        """Return what the bytes of each word add to the log odds, and how many bytes there are."""
        from suffice.models.text.model import bytes_by_word

        return bytes_by_word(laws, self.read([cell])[0], of, against)


READINGS: Mapping[str, TextReading] = {WORDS: ByWords(), BYTES: ByBytes()}
"""The ways to read a column of texts, by name; the first is taken where both are as good."""


def tries_bytes(cells: Iterable[object], classes: int) -> bool:
    """Whether a column of texts is short enough for its bytes to be tried beside its words.

    >>> tries_bytes(["call me later"] * 1000, 2), tries_bytes(["call me later"] * 1000, 200)
    (True, False)
    """
    characters = sum(min(len(cell), LIMIT) for cell in cells if isinstance(cell, str))
    return characters * classes <= MOST_TRIED
