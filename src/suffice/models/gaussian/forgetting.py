"""Forgetting that is honest about the digits it leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import (
    ForgettingUnseen,
    LostDigits,
    warn,
)
from suffice.models.gaussian.floors import CLASS_FLOOR, degrees_of_freedom
from suffice.places import ColumnAt, Phrase
from suffice.statistics import ByClass, ByColumn, ByPattern, DiagonalMoments, Moments
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray

NOTICEABLE_LOSS = 1e-8
"""Relative doubt about a variance above which there is a warning: a choice: near √ε = 1.5e-8, so
that half the digits of a double may go without a word."""
REFUSED_LOSS = 1e-3
"""Relative doubt about a variance above which forgetting is refused. A choice: with fewer than
three digits left, a variance says more about rounding than about the rows that stay."""
SMALL_DEVIATION = 1e-140
"""Standard deviations from which no digit of a square is lost below the range of a double."""


class NoDigitsLeft(ForgettingUnseen):
    """What is left varies so little beside what was there that sums cannot tell by how much."""


def forgotten(
    held: Any, gone: Any, names: Sequence[str] | None, exempt: NDArray[np.bool_] | None = None
) -> Any:
    """Return held - gone; refuse to leave a variance without digits, and say when few are left.

    `exempt` marks columns whose variance may vanish without anything being lost.
    """
    try:
        left = held - gone
    except ForgettingUnseen as refusal:
        if names is None or refusal.part is not None:  # whoever knows the parts names them
            raise
        raise refusal.filled(names) from None
    if left.weight == 0.0:
        return left
    if isinstance(left, WithRows):
        from suffice.statistics.class_weights import class_weights  # nothing else here needs it

        left.sample.refuse_excess(dict(zip(left.labels, class_weights(left).tolist(), strict=True)))
    losses = visible_losses(left)
    if exempt is not None:
        losses = np.where(exempt & np.isinf(losses), 0.0, losses)
    worst = int(np.argmax(losses)) if len(losses) else 0
    name = f"column {worst}" if names is None else names[worst]
    if len(losses) and losses[worst] > REFUSED_LOSS:
        raise NoDigitsLeft(
            f"forgetting these rows would leave no reliable digits in the variance of {name}",
            hint="fit again on the rows that remain: the others were far wider, and sums "
            "cannot distinguish constant cells from nearly constant ones",
        )
    if len(losses) and losses[worst] > NOTICEABLE_LOSS:
        said = "after forgetting, the variance of {column} is known to {digits:.0f} digits"
        digits = -float(np.log10(losses[worst]))
        warn(Phrase(said, column=ColumnAt(worst, name), digits=digits), LostDigits)
    return left


def visible_losses(statistics: Any) -> FloatArray:
    """Return, for each column, by how much rounding may change the variances of a model.

    Sums cannot say whether what is left is constant. After a fit of n rows the error of a scatter S
    may be b ≈ 300·½ε·S (`kernels.scatter.additions`), and two rows that differ by √(2b) have the
    same sums, to the last bit, as two that are equal: only someone who has the rows can tell.
    But where the variance of a class is below CLASS_FLOOR f of the pooled variance V, a model takes
    it for missing, whatever it is: θ + (1 - θ/f)/W, in units of V. There, while θ ≤ f/2, an error
    t of θ changes this by no more than the part 2t/f: none where t is far below f. Without a degree
    of freedom, as with a last row of weight 1/4, the variance is S/W or, unbiased, not S at all.
    """
    if isinstance(statistics, WithRows):
        return visible_losses(statistics.held)
    if isinstance(statistics, Folds):
        return visible_losses(statistics.whole)
    if isinstance(statistics, ByPattern) and len(statistics.groups) == 1:
        ((seen, group),) = statistics.items()
        found = np.zeros(statistics.width)
        found[seen] = visible_losses(group)
        return found
    if isinstance(statistics, ByClass) and len(statistics.groups) > 1:
        groups = list(statistics.groups.values())
        if all(isinstance(group, ByColumn) for group in groups):
            parts = zip(*(group.parts for group in groups), strict=True)
            return np.concatenate([_losses_of_classes(part) for part in parts] or [np.zeros(0)])
        return _losses_of_classes(groups)
    losses: FloatArray = statistics.lost
    return losses


def _losses_of_classes(groups: Sequence[Any]) -> FloatArray:
    lost: FloatArray = np.array([group.lost for group in groups])
    if lost.max(initial=0.0) > NOTICEABLE_LOSS and all(
        isinstance(group, (Moments, DiagonalMoments)) for group in groups
    ):
        scatters = [np.asarray(group.scatter) for group in groups]
        scatter = np.array([np.diagonal(s) if s.ndim == 2 else s for s in scatters])
        bound = np.array([group.bound for group in groups])
        counts = [getattr(group, "counts", np.full(group.width, group.weight)) for group in groups]
        weight = np.array(counts)
        total, freedom = scatter.sum(axis=0), degrees_of_freedom(weight, 1.0)
        divisor = np.where(freedom > 0.0, freedom, weight)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            unit = CLASS_FLOOR * divisor * (total / weight.sum(axis=0))
            missing = (scatter + bound <= 0.5 * unit) & (weight > 0.0)
            missing &= bound.sum(axis=0) <= NOTICEABLE_LOSS * total
            lost = np.where(missing, 2.0 * bound / unit, lost)
    losses: FloatArray = lost.max(axis=0)
    return losses


def vouched(statistics: object) -> Any:
    """Return statistics whose bounds are counted anew, as if one batch had been summed just now.

    What their rounding was until now is not known any more: someone vouches for it.
    """
    if hasattr(statistics, "vouched"):
        return statistics.vouched()
    if isinstance(statistics, (ByClass, ByPattern)):
        groups: object = {key: vouched(group) for key, group in statistics.groups.items()}
        changed: Any = {"groups": groups}
        return replace(statistics, **changed)
    if isinstance(statistics, (ByColumn, Folds)):
        changed = {"parts": tuple(map(vouched, statistics.parts))}
        return replace(statistics, **changed)
    if isinstance(statistics, WithRows):
        return replace(statistics, held=vouched(statistics.held))
    return statistics


def warn_of_small_squares(statistics: object, names: Sequence[str]) -> None:
    """Say which columns have cells so close together that their squares have lost digits."""
    losses = getattr(statistics, "lost", np.zeros(0))
    few = [j for j in np.flatnonzero(losses > NOTICEABLE_LOSS).tolist() if j < len(names)]
    if few:
        worst = max(losses[few])
        digits = "no" if worst >= 1.0 else f"no more than {-np.log10(worst):.0f}"
        said = (
            "{digits} digits of the variance of {columns} are known: cells so close together "
            "have squares below the range of a double; multiply them by a power of ten"
        )
        columns = tuple(ColumnAt(j, names[j]) for j in few)
        warn(Phrase(said, columns=columns, digits=digits), LostDigits)
