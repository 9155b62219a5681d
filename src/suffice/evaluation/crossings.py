"""The training size from which one learning curve stays at or below another, with a band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting

if TYPE_CHECKING:
    from suffice.evaluation.learning_curves import LearningCurves
    from suffice.rows import FloatArray, IntArray

DRAWS = 2000
SEED = 2001


@dataclass(frozen=True, slots=True)
class Crossing:
    """From how many training rows on `second` errs no more than `first`, among the sizes tried.

    size        the first size from which it stays so; None: not by the largest size
    low, high   ends of the band, None for beyond the largest size; `smallest` and `largest`
                are the sizes between which anything can be said
    never       the share of resampled splits in which it does not come about by the largest size
    level       of the band

    The band is made by drawing splits with repetition. It tells what other splits of *these* rows
    would say; other rows may say something else.
    """

    first: str
    second: str
    size: int | None
    low: int | None
    high: int | None
    never: float
    smallest: int
    largest: int
    level: float = 0.95

    def __str__(self) -> str:
        """Return it in words that claim no more."""
        low, high = self._said(self.low), self._said(self.high)
        within = low if low == high else f"{low} to {high}"
        band = f"{100.0 * self.level:.0f} % band of the crossing, over splits: {within} rows"
        if self.size is None:
            still = f"{self.second} still errs more than {self.first}"
            return f"With {self.largest:,} rows {still}; {band}."
        start = f"from about {self.size:,} rows on"
        if self.size == self.smallest:
            start = f"already with {self.smallest:,} rows, the fewest tried"
        text = f"{self.second} errs no more than {self.first} {start}; {band}."
        return text[0].upper() + text[1:]

    def _said(self, size: int | None) -> str:
        if size is None:
            return f"more than {self.largest:,}"
        return f"{self.smallest:,} or fewer" if size == self.smallest else f"{size:,}"


def crossing(curves: LearningCurves, first: str, second: str, level: float = 0.95) -> Crossing:
    """Return from which size on the mean error of `second` stays at or below that of `first`.

    Ng and Jordan's question, with a band by the bootstrap over splits. Sizes between those that
    were tried are not guessed at.
    """
    a, b = curves.errors[curves.place(first)], curves.errors[curves.place(second)]
    # Splits that one of the two has failed in say nothing of either.
    gaps = [row[np.isfinite(row)] for row in a - b]
    known = [place for place, row in enumerate(gaps) if len(row)]
    if not known:
        raise BadSetting(
            f"no split has errors of both {first} and {second}",
            hint="ask for more splits, or compare other models",
        )
    sizes = [int(curves.sizes[place]) for place in known]
    gaps = [gaps[place] for place in known]
    place = _place(np.array([row.mean() for row in gaps]))
    # One draw of splits for all sizes: training sets of one split hold each other.
    drawn = np.random.default_rng(SEED).random((DRAWS, curves.errors.shape[2]))
    means = np.stack(
        [row[(drawn[:, : len(row)] * len(row)).astype(np.intp)].mean(axis=1) for row in gaps],
        axis=1,
    )
    places: IntArray = np.array([_place(mean) for mean in means])
    half = (1.0 - level) / 2.0
    low, high = (int(np.quantile(places, q, method="inverted_cdf")) for q in (half, 1.0 - half))

    def size(at: int) -> int | None:
        return sizes[at] if at < len(sizes) else None

    never = float((places == len(sizes)).mean())
    return Crossing(
        first, second, size(place), size(low), size(high), never, sizes[0], sizes[-1], level
    )


def _place(gaps: FloatArray) -> int:
    """Return from which place on no gap is negative; the number of gaps, if the last one is."""
    behind = np.flatnonzero(gaps < 0.0)
    return int(behind[-1]) + 1 if len(behind) else 0
