"""TF-IDF: what a count says about its document.

    notes        count / Σ counts of the document · log(N / documents with the term)
    others       scikit-learn's: count (or 1 + log count) · (1 + log(N / documents with the term)),
                 where smoothing adds one document that holds every term; rows then have norm 1

A term that no document has held weighs nothing: it says nothing about where it would occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadSetting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray

NORMS = ("l1", "l2", None)
"""What `norm` may be: rows are scaled to length 1 by it, or left as they are."""


@dataclass(frozen=True, slots=True)
class TfIdf:
    """How counts become weights; `TfIdf.notes()` has the definition of lecture notes.

    Parameters
    ----------
    use_idf : bool, default=True
        Whether terms of few documents weigh more.
    smooth_idf : bool, default=True
        Whether one document with every term is added.
    sublinear_tf : bool, default=False
        Whether a count c becomes 1 + log c.
    norm : str or None, default="l2"
        What rows are divided by: their "l2" or "l1" norm, or nothing.
    shares : bool, default=False
        Whether counts are divided by the number of terms of their document.

    See Also
    --------
    Tokens : How documents are cut into terms.

    Examples
    --------
    >>> counts = np.array([2, 1, 3])
    >>> indptr, indices = np.array([0, 2, 3]), np.array([0, 1, 0])
    >>> TfIdf.notes().weights(indptr, indices, counts, 2.0, np.array([2.0, 1.0])).round(4)
    array([0.   , 0.231, 0.   ])
    """

    use_idf: bool = True
    smooth_idf: bool = True
    sublinear_tf: bool = False
    norm: str | None = "l2"
    shares: bool = False
    """Whether counts are divided by their sum, and log(N / documents) stands without the 1."""

    def __post_init__(self) -> None:
        """Refuse a norm that is none."""
        if self.norm not in NORMS:
            raise BadSetting(f"norm is {self.norm!r}", hint="use 'l1', 'l2' or None")

    @classmethod
    def notes(cls) -> Self:
        """Return the definition of the notes: term share × log(N / documents with the term)."""
        return cls(True, False, False, None, True)

    def idf(self, documents: float, held: FloatArray) -> FloatArray:
        """Return the factor of every term, from the documents and how many of them hold it.

        >>> TfIdf(smooth_idf=False).idf(4.0, np.array([4.0, 1.0, 0.0])).round(4)
        array([1.    , 2.3863, 0.    ])
        """
        if not self.use_idf:
            return np.ones(len(held))
        more = 1.0 if self.smooth_idf else 0.0
        seen = held + more > 0.0
        factors = np.zeros(len(held))
        np.divide(documents + more, held + more, out=factors, where=seen)
        np.log(factors, out=factors, where=seen)
        if not self.shares:
            factors[seen] += 1.0
        return factors

    def weights(
        self,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        counts: NDArray[Any],
        documents: float,
        held: FloatArray,
        dtype: Any = np.float64,
    ) -> NDArray[Any]:
        """Return the weight of every stored count, in the order of the counts."""
        out: NDArray[Any] = counts.astype(dtype)
        rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        if self.shares:
            out /= _by_row(rows, out, len(indptr) - 1).astype(dtype)[rows]
        if self.sublinear_tf:
            np.log(out, out=out)
            out += 1.0
        if self.use_idf:
            out *= self.idf(documents, held).astype(dtype)[indices]
        if self.norm is not None:
            sizes = np.abs(out) if self.norm == "l1" else np.square(out)
            lengths = _by_row(rows, sizes, len(indptr) - 1)
            if self.norm == "l2":
                lengths = np.sqrt(lengths)
            lengths[lengths == 0.0] = 1.0
            out /= lengths.astype(dtype)[rows]
        return out


def _by_row(rows: NDArray[np.generic], cells: NDArray[np.generic], size: int) -> FloatArray:
    """Return the sum of every row, added up in double precision."""
    return np.bincount(rows, cells, minlength=size).astype(np.float64)
