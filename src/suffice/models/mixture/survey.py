"""What one pass over rows tells before EM begins: it adds up, wherever the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadRows
from suffice.linear_algebra import EPSILON
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.family import Gaussian
from suffice.rows.row_hashes import content_hashes, joined_hashes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray

SUBSAMPLE = 10_000
"""Rows, at least, on which EM comes to its maximum before it sees all. A choice: a step over them
is a matter of milliseconds, and most of the way is then made."""
SUBSAMPLE_PER_PARAMETER = 50
"""Rows for each parameter in that sample. A choice: estimates then are within a seventh of their
standard deviation."""
SUBSAMPLE_CELLS = 1 << 20
"""Cells of that sample, at most: eight megabytes. A choice."""
HASHED_CELLS = 1 << 18
"""Cells that are hashed at a time: two megabytes, and a few copies of them. A choice."""
ALL = ("all",)
"""The one class of which all rows are, before any is known."""


def sample_size(components: int, width: int) -> int:
    """Return how many rows stand for all of them on the way.

    >>> sample_size(2, 3), sample_size(8, 10), sample_size(9, 200)
    (10000, 48400, 5242)
    """
    wanted = max(SUBSAMPLE, components * (1 + width) ** 2 * SUBSAMPLE_PER_PARAMETER)
    return max(1, min(wanted, SUBSAMPLE_CELLS // max(1, width)))


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Distinct rows of smallest hash, (m, d), in the order of their hashes, and their weights.

    `whole` says whether these are all distinct rows. Neither the order of rows nor how often one is
    repeated changes which they are; samples of parts add up to that of all.
    """

    rows: FloatArray
    hashes: NDArray[np.uint64]
    weights: FloatArray
    most: int
    whole: bool

    @classmethod
    def of(cls, rows: FloatArray, most: int, weights: FloatArray | None = None) -> Self:
        """Take the rows of smallest hash, a block at a time."""
        width = rows.shape[1]
        nothing = np.empty(0, dtype=np.uint64)
        held = cls(np.empty((0, width)), nothing, np.empty(0), most, whole=True)
        step = max(1, HASHED_CELLS // max(1, width))
        found: list[tuple[FloatArray, NDArray[np.uint64], FloatArray]] = []
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            hashes = joined_hashes([content_hashes(block, range(width))])
            own = np.ones(len(block)) if weights is None else weights[start : start + step]
            if not held.whole:
                near = hashes <= held.hashes[-1]
                block, hashes, own = block[near], hashes[near], own[near]
            found.append((np.array(block, dtype=np.float64), hashes, own))
            # Sorting is done where it is worth it: once what was found could fill the sample.
            if sum(map(len, (one for _, one, _ in found))) > most or start + step >= len(rows):
                blocks, keys, some = zip(*found, strict=True)
                sampled, numbers = np.concatenate(blocks), np.concatenate(keys)
                held = held + cls(sampled, numbers, np.concatenate(some), most, held.whole)
                found = []
        return held

    def __add__(self, other: Self) -> Self:
        hashes = np.concatenate([self.hashes, other.hashes])
        found, first, places = np.unique(hashes, return_index=True, return_inverse=True)
        both = np.concatenate([self.weights, other.weights])
        weights = np.zeros(len(found))
        np.add.at(weights, places.ravel(), both)
        kept = first[: self.most]
        mine = len(self.hashes)
        rows = np.empty((len(kept), self.rows.shape[1]))
        ours = kept < mine
        rows[ours] = self.rows[kept[ours]]
        rows[~ours] = other.rows[kept[~ours] - mine]
        whole = self.whole and other.whole and len(found) <= self.most
        return type(self)(rows, found[: self.most], weights[: self.most], self.most, whole)

    def first(self, many: int) -> FloatArray:
        """Return the first of them."""
        return self.rows[:many]


@dataclass(frozen=True, eq=False)
class RowSurvey:
    """Size, moments, box and a sample of rows that say something.

    `full` are the moments of complete rows, `single` those of every column by itself where a row
    has a blank; of a part of the rows, both. `mark` is a number by what all rows say.
    """

    size: int
    full: Any
    single: Any
    complete: bool
    low: FloatArray
    high: FloatArray
    sample: SampledRows
    mark: int

    @classmethod
    def of(
        cls,
        rows: FloatArray,
        weights: FloatArray | None,
        most: int,
        *,
        part: bool = False,
        marked: bool = False,
    ) -> Self:
        """Look at rows once; with `part`, others are to be added; `mark` is made if asked for."""
        width = rows.shape[1]
        sample = SampledRows.of(rows, most, weights)
        if not len(rows):
            none = np.full(width, np.nan)
            return cls(0, None, None, True, none, none, sample, 0)
        complete = not np.isnan(rows).any()
        codes = np.zeros(len(rows), dtype=np.intp)

        def moments(covariance: str) -> Any:
            return Gaussian(covariance).summarize(rows, codes, list(ALL), weights)

        full = moments("shared") if complete else None
        single = moments("diagonal") if part or not complete else None
        low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
        mark = _mark(rows, weights) if marked else 0
        return cls(len(rows), full, single, complete, low, high, sample, mark)

    def __add__(self, other: Self) -> Self:
        if not self.size or not other.size:
            return self if self.size else other
        complete = self.complete and other.complete
        return type(self)(
            self.size + other.size,
            self.full + other.full if complete else None,
            self.single + other.single,
            complete,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            self.sample + other.sample,
            (self.mark + other.mark) & 0xFFFF_FFFF_FFFF_FFFF,
        )

    def checked(self) -> Self:
        """Refuse rows of which none says anything, or one alone."""
        if not self.size:
            raise BadRows("all rows are blank or have no weight", hint="give others")
        if self.size == 1:
            raise BadRows(
                "1 sample is too few: a single row has no spread", hint="give more than one row"
            )
        return self

    def summary(self) -> ClassSummary:
        """Return the moments of all rows as one class."""
        return ClassSummary.of(self.full if self.complete else self.single, list(ALL))

    def box(self) -> float:
        """Return the log of the volume of the smallest box around all rows.

        A column with a single value has a width of one: nothing is outside of it.
        """
        widths = self.high - self.low
        return float(np.log(np.where(widths > EPSILON, widths, 1.0)).sum())


def _mark(rows: FloatArray, weights: FloatArray | None) -> int:
    """Return a number by what rows and their weights say, in whatever order: marks add up."""
    total = np.uint64(0)
    step = max(1, HASHED_CELLS // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        parts = [content_hashes(block, range(rows.shape[1]))]
        if weights is not None:
            own = weights[start : start + step, np.newaxis]
            parts.append(content_hashes(own, [rows.shape[1]]))
        with np.errstate(over="ignore"):
            total += joined_hashes(parts).sum(dtype=np.uint64)
    return int(total)
