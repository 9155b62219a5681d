"""What columns of texts have in common, whatever is counted in them: they are believed in part."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.errors import NotADensity
from suffice.models.naive_bayes.families.protocol import BaseFamily, BaseLaws, Scores
from suffice.models.text.calibration import relative
from suffice.rows.text_cells import TextCells, read_texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray, IntArray, Table


class TextFamily(BaseFamily):
    """A family of columns of texts."""

    __slots__ = ()
    is_single: ClassVar[bool] = False
    cells_are_texts: ClassVar[bool] = True

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> TextCells:
        """Return the texts of these columns; what is no text is refused."""
        return read_texts_of(table, columns)

    @abstractmethod
    def estimate(self, groups: Sequence[Any], alpha: float) -> tuple[Any, tuple[Any, ...]]:
        """Return the laws of all classes, believed as texts usually are until rows say more."""

    def left_out(
        self,
        groups: Sequence[Any],
        alpha: float,
        block: TextCells,
        codes: IntArray,
        weights: FloatArray,
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been."""
        law, _ = self.estimate(groups, alpha)
        found: Scores = law.left_out(block, codes, weights)
        return found


class BelievedTexts(BaseLaws):
    """What texts say, class by class, and how far they are believed: β·s/√n + b.

    groups   what was counted in every class
    factors  β of each column; shifts (d, k) what is added where a text says anything
    """

    family: Any
    groups: tuple[Any, ...]
    factors: FloatArray
    shifts: FloatArray
    kind: ClassVar[str]
    """What a text is known by: "words", or "bytes"."""

    @abstractmethod
    def alpha(self, column: int) -> float:
        """Return the smoothing of a column."""

    @abstractmethod
    def text_scores(self, block: TextCells, column: int) -> tuple[FloatArray, FloatArray]:
        """Return the scores of the texts of a column, and how long these are."""

    @abstractmethod
    def term_scores(
        self, block: TextCells, column: int, codes: IntArray, weights: FloatArray
    ) -> tuple[Any, FloatArray]:
        """Return scores of learned texts as if each had never been, at any smoothing; lengths."""

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.groups)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.factors)

    def scores(self, block: TextCells) -> Scores:
        """Return what the texts of a row say; blank cells are skipped."""
        logs = np.zeros((len(block), self.size))
        for j in range(self.width):
            logs += self.column_scores(block, j).logs
        return Scores(logs, None)

    def column_scores(self, block: TextCells, column: int) -> Scores:
        """Return what one column adds to the scores."""
        found, lengths = self.text_scores(block, column)
        return Scores(self._believed(found, self.said(block, column, lengths), column), None)

    def said(self, block: TextCells, column: int, lengths: FloatArray) -> FloatArray:
        """Return lengths that are zero where a cell is blank, also to absent words."""
        return np.where(block.there(column), lengths, 0.0)

    def _believed(self, scores: FloatArray, lengths: FloatArray, column: int) -> FloatArray:
        said = (lengths > 0.0)[:, np.newaxis]
        found = self.factors[column] * relative(scores, lengths) + self.shifts[column]
        return np.where(said, found, 0.0)

    def left_out(self, block: TextCells, codes: IntArray, weights: FloatArray) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been."""
        logs = np.zeros((len(block), self.size))
        for j in range(self.width):
            # A blank cell is a text of weight nothing: there is nothing of it to take out.
            gone = np.where(block.there(j), weights, 0.0)
            found, lengths = self.term_scores(block, j, codes, gone)
            logs += self._believed(found.at(self.alpha(j)), lengths, j)
        return Scores(logs, None)

    def carrier(self, block: TextCells) -> FloatArray:  # noqa: ARG002
        """Refuse: what is believed in part is no density."""
        raise NotADensity(
            "a text column counts only in part, so rows with one have no density",
            hint="predict, explain and leave_one_out need none; fit without that column",
        )

    def sample(self, codes: IntArray, rng: np.random.Generator) -> TextCells:  # noqa: ARG002
        """Return blank cells: texts are written by what rows that are kept show of them."""
        return TextCells(np.full((len(codes), self.width), None, dtype=object))

    def estimation_variance(self, block: TextCells, omegas: FloatArray) -> float:  # noqa: ARG002
        """Return nothing: what is counted is too much to be uncertain in one direction."""
        return 0.0

    def flaw(self, sizes: dict[str, int]) -> str:  # noqa: ARG002
        """Return whether words or bytes are of another family."""
        family: Any = self.family
        same = getattr(family, "becomes", "") == type(self).__name__
        return "" if same else f"has {self.kind} of another family"

    def why_not_linear(self) -> tuple[str, str]:
        """Return that texts are no numbers."""
        return ": it has a column of texts", "fit without that column"

    def agrees(self, other: Any, room: float) -> bool:
        """Whether other laws are the same, but for rounding of what rows have decided."""
        same = self.family == other.family and len(self.groups) == len(other.groups)
        if not same or self.width != other.width:
            return False
        for ours, theirs in zip(self.groups, other.groups, strict=True):
            for a, b in zip(ours.counted, theirs.counted, strict=True):
                if not np.array_equal(a.keys, b.keys) or not np.allclose(a.counts, b.counts):
                    return False
        alphas = ([np.log(one.alpha(j)) for j in range(self.width)] for one in (self, other))
        pairs = (
            (np.array(next(alphas)), np.array(next(alphas))),
            (self.factors, other.factors),
            (self.shifts, other.shifts),
        )
        return all(bool((np.abs(a - b) <= room * (1.0 + np.abs(a))).all()) for a, b in pairs)
