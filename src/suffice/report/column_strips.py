"""A small histogram for every column, split by class: one SVG of a few hundred bytes each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots.palette import COLOURS
from suffice.printing.level_order import level_order
from suffice.report.markup import name, text

if TYPE_CHECKING:
    from suffice.evaluation import LabelledRows
    from suffice.rows import FloatArray, IntArray

WIDE, HIGH = 132, 34
"""The size of a histogram in pixels. A choice: two lines of a table high."""
BINS = 22
"""Bars of a histogram of numbers. A choice: each is six pixels wide."""
MOST_LEVELS = 12
"""Levels that have a bar of their own; the rarest are joined in the last one."""
MOST_CLASSES = 6
"""Classes that have a colour of their own, the commonest; the others are grey."""
OTHERS = "#9aa0a6"
"""The colour of all other classes: a grey that is seen on white and on black."""
TAIL = 0.005
"""The share of numbers at either end that a histogram leaves out where they would squeeze the
rest."""
SQUEEZED = 4.0
"""Times that the whole range is the range without tails, from which tails are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassColours:
    """Which rows wear which colour.

    codes     by row: its place among `labels`
    labels    the commonest classes; the last is None where others are joined
    weights   of the rows, or None
    """

    codes: IntArray
    labels: tuple[Any, ...]
    weights: FloatArray | None

    @classmethod
    def of(cls, rows: LabelledRows) -> ClassColours:
        """Give colours to the commonest classes.

        >>> from suffice.evaluation import LabelledRows
        >>> rows = LabelledRows.read([[float(i)] for i in range(9)], list("abcdefghh"))
        >>> ClassColours.of(rows).labels
        ('h', 'a', 'b', 'c', 'd', None)
        """
        order = np.argsort(-rows.counts, kind="stable")
        few = len(order) <= MOST_CLASSES
        # Few classes keep their own order, which is that of every other table.
        shown = np.sort(order) if few else order[: MOST_CLASSES - 1]
        place = np.full(len(order), len(shown), dtype=np.intp)
        place[shown] = np.arange(len(shown))
        every = rows.classes.tolist()
        labels = [every[c] for c in shown]
        return cls(place[rows.codes], tuple(labels if few else [*labels, None]), rows.weights)

    def colour(self, place: int) -> str:
        """Return the colour of a class by its place."""
        return OTHERS if self.labels[place] is None else COLOURS[place]

    @property
    def legend(self) -> str:
        """The classes beside their colours, as HTML."""
        entries = "".join(
            f'<span><i style="background:{self.colour(k)}"></i>'
            f"{'other classes' if label is None else name(label, 24)}</span>"
            for k, label in enumerate(self.labels)
        )
        return f'<p class="legend">{entries}</p>'

    def strip(self, called: str, bins: IntArray, many: int) -> str:
        """Return bars of rows stacked by class; `bins` is the bar of every row, -1 for none."""
        k = len(self.labels)
        there = bins >= 0
        weights = None if self.weights is None else self.weights[there]
        flat = np.bincount(bins[there] * k + self.codes[there], weights, many * k)
        counts = flat.reshape(many, k)
        tallest = float(counts.sum(axis=1).max(initial=0.0))
        if not tallest:
            return ""
        step = WIDE / many
        bar = max(step - 1.0, 0.6 * step)
        ends = HIGH * np.cumsum(counts, axis=1) / tallest
        paths = []
        for c in range(k):
            drawn = "".join(
                f"M{step * b:.4g} {HIGH - ends[b, c]:.4g}h{bar:.4g}"
                f"v{HIGH * counts[b, c] / tallest:.4g}h-{bar:.4g}z"
                for b in np.flatnonzero(counts[:, c] > 0.0)
            )
            if drawn:
                paths.append(f'<path fill="{self.colour(c)}" d="{drawn}"></path>')
        label = text(f"{called} by class, a histogram")
        return (
            f'<svg class="strip" role="img" aria-label="{label}" viewBox="0 0 {WIDE} {HIGH}" '
            f'width="{WIDE}" height="{HIGH}">{"".join(paths)}</svg>'
        )


def number_strip(colours: ClassColours, called: str, numbers: FloatArray) -> str:
    """Return the histogram of a column of numbers, NaN where a cell is blank."""
    there = np.isfinite(numbers)
    if not there.any():
        return ""
    low, first, last, high = np.quantile(numbers[there], [0.0, TAIL, 1.0 - TAIL, 1.0])
    if last > first and high - low > SQUEEZED * (last - first):
        low, high = first, last
    inside = there & (numbers >= low) & (numbers <= high)
    whole = bool((numbers[inside] == np.floor(numbers[inside])).all())
    if whole and high - low < BINS:
        many = int(high - low) + 1
        bins = np.where(inside, numbers - low, -1.0)
    else:
        many = BINS
        with np.errstate(invalid="ignore"):
            bins = np.where(inside, (numbers - low) * (BINS / ((high - low) or 1.0)), -1.0)
        bins = np.minimum(bins, BINS - 1.0)
    return colours.strip(called, np.nan_to_num(bins, nan=-1.0).astype(np.intp), many)


def level_strip(
    colours: ClassColours, called: str, cells: list[object], counts: dict[object, int]
) -> str:
    """Return the bars of a category's levels, in their own order, the rarest joined at the end."""
    common = sorted(counts, key=lambda level: -counts[level])
    kept = common if len(common) <= MOST_LEVELS else common[: MOST_LEVELS - 1]
    place = {level: b for b, level in enumerate(level_order(kept))}
    rest = len(place)
    bins = np.array([-1 if cell is None else place.get(cell, rest) for cell in cells], np.intp)
    return colours.strip(called, bins, rest + (len(common) > len(kept)))
