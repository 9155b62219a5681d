"""Columns of texts, byte by byte: a language model of each class, as a family of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.models.naive_bayes.families.texts.believed import BelievedTexts, TextFamily
from suffice.models.text.calibration import USUAL
from suffice.models.text.term_events import FixedScores
from suffice.statistics.column_terms import ColumnNgrams
from suffice.statistics.keyed_counts import checked_limit, checked_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.models.naive_bayes.asked_of_families import EstimatedColumns
    from suffice.models.notes import Note
    from suffice.models.text.language import Language, LanguageLaws
    from suffice.rows import FloatArray, IntArray
    from suffice.rows.text_cells import TextCells
    from suffice.statistics.keyed_counts import NgramCounts


@dataclass(frozen=True, slots=True)
class TextBytes(TextFamily):
    """Texts byte by byte: log p(text | c) = β·Σ_i log p(byte_i | order - 1 before it, c)/√n.

    No words, no language and no alphabet: what is spelled in several ways, codes, addresses and
    languages without blanks are told apart by their letters. n counts the bytes, and the end. β is
    found by rows that are left out, beside all other columns. A blank cell says nothing.

    Parameters
    ----------
    order : int, default=5
        A byte depends on the order - 1 before it; 1 to 7.
    limit : int, optional, default=3000
        Bytes of a text that are looked at; None: all.

    See Also
    --------
    suffice.families.TextWords : Texts by their words.
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = [["AX-1174", 9.0], ["AX-2201", 7.0], ["k.9.x", 1.0], ["k.7.x", 2.0]]
    >>> y = ["old", "old", "new", "new"]
    >>> model = NaiveBayes({0: TextBytes(order=3), 1: "gaussian"}).fit(rows, y)
    >>> print(*model.predict([["AX-9913", 8.0], [None, 1.5]]))
    old new
    """

    order: int = 5
    limit: int | None = 3000

    name: ClassVar[str] = "bytes"
    becomes: ClassVar[str] = "TextByteColumns"
    statistics: ClassVar[str] = "ColumnNgrams"
    form: ClassVar[Mapping[str, str]] = {"order": "count", "limit": "?count"}

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        object.__setattr__(self, "order", checked_order(self.order))
        object.__setattr__(self, "limit", checked_limit(self.limit))

    @property
    def language(self) -> Language:
        """The event model of one column."""
        from suffice.models.text.language import Language  # who reads no bytes needs it not

        return Language(self.order, self.limit)

    def starts(self, block: TextCells, column: int) -> list[bytes]:
        """Return the first bytes of each text: one more than is looked at, where it goes on."""
        from suffice.models.text.documents import encoded

        most = None if self.limit is None else self.limit + 1
        return [encoded(text, most) for text in block.column(column)]

    def summarize(
        self, block: TextCells, codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[ColumnNgrams]:
        """Return the n-grams of every column, class by class."""
        totals = np.bincount(codes, weights, minlength=size).tolist()
        found = []
        for j in range(block.cells.shape[1]):
            there = np.flatnonzero(block.there(j))
            w = None if weights is None else weights[there]
            starts = self.starts(block[there], j)
            found.append(self.language.summarize(starts, codes[there], size, w))
        return [
            ColumnNgrams(float(totals[c]), tuple(column[c] for column in found))
            for c in range(size)
        ]

    def estimate(
        self,
        groups: Sequence[ColumnNgrams],
        alpha: float,  # noqa: ARG002
    ) -> tuple[TextByteColumns, tuple[Note, ...]]:
        """Return the laws of all classes, believed as texts usually are until rows say more."""
        width, size = groups[0].width, len(groups)
        usual = np.full(width, USUAL)
        return TextByteColumns(self, tuple(groups), usual, np.zeros((width, size))), ()

    def estimates(
        self, names: Sequence[str], own: Sequence[ColumnNgrams]
    ) -> list[EstimatedColumns]:
        """Return how many bytes a text has, as if each came by itself."""
        from suffice.models.naive_bayes.asked_of_families import EstimatedColumns, ratio

        sums = np.array([[_bytes_of(column) for column in part.ngrams] for part in own])
        counts = np.array([[column.weight for column in part.ngrams] for part in own])
        means = ratio(sums, counts)
        return [EstimatedColumns(names, "bytes of a text", means, counts, means)]

    def statistics_flaw(self, part: ColumnNgrams) -> str:
        """Return whether n-grams are longer or shorter than the family's."""
        same = all(column.order == self.order for column in part.ngrams)
        return "" if same else "has n-grams of another order"


@dataclass(frozen=True, eq=False)
class TextByteColumns(BelievedTexts):
    """What bytes say, class by class, and how far they are believed.

    groups   the n-grams of every class: laws of texts are their counts
    factors  β of each column; shifts (d, k) what is added where a text says anything
    """

    family: TextBytes
    groups: tuple[ColumnNgrams, ...]
    factors: FloatArray
    shifts: FloatArray
    form: ClassVar[Mapping[str, str]] = {
        "family": "=family",
        "groups": "(=ColumnNgrams d) k",
        "factors": "weight d",
        "shifts": "float d k",
    }
    kind: ClassVar[str] = "bytes"

    def weighed(
        self,
        alphas: FloatArray,  # noqa: ARG002
        factors: FloatArray,
        shifts: FloatArray,
    ) -> Self:
        """Return the same texts, believed otherwise; there is nothing to smooth."""
        return replace(self, factors=factors, shifts=shifts)

    def alpha(self, column: int) -> float:  # noqa: ARG002
        """Return 1: there is nothing to smooth."""
        return 1.0

    @cached_property
    def columns(self) -> list[LanguageLaws]:
        """The language of each column."""
        language = self.family.language
        return [language.estimate([g.ngrams[j] for g in self.groups]) for j in range(self.width)]

    def text_scores(self, block: TextCells, column: int) -> tuple[FloatArray, FloatArray]:
        """Return the scores of the texts of a column, and how many bytes these have."""
        starts, law = self.family.starts(block, column), self.columns[column]
        return law.log_density(starts), law.lengths(starts).astype(np.float64)

    def term_scores(
        self, block: TextCells, column: int, codes: IntArray, weights: FloatArray
    ) -> tuple[FixedScores, FloatArray]:
        """Return scores of learned texts as if each had never been; lengths."""
        starts, law = self.family.starts(block, column), self.columns[column]
        found = FixedScores(law.left_out(starts, codes, weights))
        return found, self.said(block, column, law.lengths(starts).astype(np.float64))

    def words(
        self, block: TextCells, column: int, of: IntArray, against: IntArray
    ) -> list[dict[str, float]]:
        """Return what the bytes of each word of one column add to the log odds, row by row.

        The end of a text is a word as well: "(the end)".
        """
        from suffice.models.text.model import bytes_by_word

        law, there = self.columns[column], block.there(column)
        found: list[dict[str, float]] = []
        for i, start in enumerate(self.family.starts(block, column)):
            row: dict[str, float] = {}
            if there[i]:
                said, length = bytes_by_word(law, start, int(of[i]), int(against[i]))
                scale = float(self.factors[column] / np.sqrt(length))
                row = {word: scale * odds for word, odds in said.items()}
            found.append(row)
        return found

    def described(self, column: int, code: int) -> dict[Any, float]:
        """Return how many bytes a text has, how many different n-grams there are, and β."""
        part = self.groups[code].ngrams[column]
        each = _bytes_of(part) / part.weight if part.weight > 0.0 else 0.0
        return {
            "bytes of a text": each,
            "different n-grams": float(part.width),
            "belief": float(self.factors[column]),
        }

    def flaw(self, sizes: dict[str, int]) -> str:
        """Return whether bytes are of another family, or n-grams of another order."""
        if why := BelievedTexts.flaw(self, sizes):
            return why
        return next(filter(None, map(self.family.statistics_flaw, self.groups)), "")


def _bytes_of(counts: NgramCounts) -> float:
    """Return how many bytes there were: the end of a text is none."""
    from suffice.kernels.ngrams.texts import EOT, mask

    ends = (counts.keys & np.uint64(mask(1))) == EOT
    return float(counts.counts[~ends].sum())
