"""What became of rows without a label: a setting, and what a model remembers of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadLabels, BadSetting, DifferentKinds, RowsLeftOut, warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.learning.learned import Learned
    from suffice.rows import Label

IGNORE, AUTO = "ignore", "auto"
"""Settings that are words: leave such rows out, or let the labelled rows decide."""
STATE = "unlabelled"
"""Where a model file has it."""
FEW = 50
"""Labelled rows a class below which the shares of classes are those of the labelled rows alone:
responsibilities that lean to one class would otherwise feed on the prior that they make."""


def checked_unlabelled(given: object) -> float | str:
    """Return what is to be done with rows without a label, or refuse it.

    >>> checked_unlabelled(0.3), checked_unlabelled("auto")
    (0.3, 'auto')
    """
    if isinstance(given, str) and given in (IGNORE, AUTO):
        return given
    number = isinstance(given, (Real, np.number)) and not isinstance(given, (bool, np.bool_))
    if not number or not 0.0 < float(given) <= 1.0:  # type: ignore[arg-type]
        raise BadSetting(
            f"unlabelled={given!r} is not a way to learn from rows without a label",
            hint='use "ignore" to leave them out, a number above 0 and up to 1 as the weight of '
            'each, or "auto" to let the labelled rows decide',
        )
    return float(given)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class Unlabelled:
    """What a model has learned from rows without a label.

    rows        how many there were
    weight      what each of them counts beside a labelled row; 0 if they were left out
    steps       steps of EM
    asked       the setting: "ignore", "auto" or a number
    gain        by how much the mean left-out loss of labelled rows is lower with them than without,
                to first order; None where that was not looked at
    error       the standard error of the gain
    labelled    the weight of labelled rows, by class
    own_priors  whether the shares of classes are those of the labelled rows alone
    """

    rows: int
    weight: float = 0.0
    steps: int = 0
    asked: float | str = IGNORE
    gain: float | None = None
    error: float | None = None
    labelled: Mapping[Label, float] = field(default_factory=dict)
    own_priors: bool = False

    @property
    def helped(self) -> bool | None:
        """Whether labelled rows that are left out are predicted better with them.

        By more than one standard error; None where that was not looked at.
        """
        if self.gain is None or self.error is None:
            return None
        return bool(self.weight > 0.0 and self.gain > self.error)

    @property
    def is_used(self) -> bool:
        """Whether they are part of the model."""
        return self.weight > 0.0

    def __str__(self) -> str:
        many = f"{self.rows:,} row{'s' * (self.rows != 1)} without a label"
        if self.asked == IGNORE:
            return f"{many} left out"
        if self.gain is None:
            measured = "whether they help could not be measured"
        else:
            found = f"{abs(self.gain):.3f} ± {self.error:.3f}"
            way = "lower" if self.gain >= 0.0 else "higher"
            measured = f"left-out loss of labelled rows {way} by {found}"
        if not self.is_used and self.gain is not None and self.gain > (self.error or 0.0):
            return f"{many} left out: {measured}, but their own classes were less probable"
        if not self.is_used:
            return f"{many} left out, because they did not help: at best {measured}"
        used = f"{many} used with weight {self.weight:g}, {self.steps} steps of EM"
        told = {True: "they helped: ", False: "they did not help: ", None: ""}[self.helped]
        return f"{used}; {told}{measured}"

    # Merging, forgetting, learning more

    def and_labelled(self, weights: Mapping[Label, float], sign: float = 1.0) -> Self:
        """Return it beside more labelled rows, or fewer."""
        held = dict(self.labelled)
        for label, weight in weights.items():
            held[label] = max(0.0, held.get(label, 0.0) + sign * weight)
        return replace(self, labelled=held)

    def __add__(self, other: Unlabelled) -> Self:
        """Return what became of the rows of both."""
        if self.is_used and other.is_used and self.own_priors != other.own_priors:
            raise DifferentKinds(
                "the shares of classes are those of labelled rows alone in one of the models, and "
                "of all rows in the other",
                hint="give priors to both, or fit one model on the rows of both",
            )
        used = self if self.is_used or not other.is_used else other
        found = used.and_labelled((other if used is self else self).labelled)
        same = self.weight == other.weight and self.steps == other.steps
        return replace(  # type: ignore[return-value]
            found,
            rows=self.rows + other.rows,
            gain=used.gain if same and used.gain == self.gain == other.gain else None,
            error=used.error if same and used.gain == self.gain == other.gain else None,
        )

    def priors(self, labels: Sequence[Label]) -> dict[Label, float] | None:
        """Return the shares of classes among labelled rows, where these are the priors."""
        if not (self.is_used and self.own_priors):
            return None
        held = [float(self.labelled.get(label, 0.0)) for label in labels]
        total = sum(held)
        if not total > 0.0:
            raise BadLabels(
                "no labelled row is left, only rows without a label",
                hint="their classes follow from labelled rows: learn some, or fit again",
            )
        return {label: weight / total for label, weight in zip(labels, held, strict=True)}

    # Files

    def to_state(self, labels: Sequence[Label]) -> dict[str, object]:
        """Return it as plain values, weights in the order of the labels."""
        return {
            "rows": self.rows,
            "weight": self.weight,
            "steps": self.steps,
            "asked": self.asked,
            "gain": self.gain,
            "error": self.error,
            "labelled": [float(self.labelled.get(label, 0.0)) for label in labels],
            "own_priors": self.own_priors,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], labels: Sequence[Label]) -> Self | None:
        """Return what a file says of rows without a label; None if it says nothing."""
        held = state.get(STATE)
        if held is None:
            return None
        weights = [float(weight) for weight in held["labelled"]]
        numbers = [*weights, held["weight"], *(held[n] for n in ("gain", "error") if held[n])]
        sound = (
            all(isinstance(n, Real) and isfinite(n) for n in numbers)
            and min(weights, default=-1.0) >= 0.0
            and len(weights) == len(labels)
            and 0.0 <= held["weight"] <= 1.0
            and all(type(held[n]) is int and held[n] >= 0 for n in ("rows", "steps"))
            and type(held["own_priors"]) is bool
        )
        if not sound:
            raise ValueError("its record of rows without a label is invalid")
        return cls(
            held["rows"],
            float(held["weight"]),
            held["steps"],
            checked_unlabelled(held["asked"]),
            held["gain"],
            held["error"],
            dict(zip(labels, weights, strict=True)),
            held["own_priors"],
        )


def joined(left: Learned, right: Learned) -> Unlabelled | None:
    """Return what became of rows without a label of either, where there were any."""
    held = (left.unlabelled, right.unlabelled)
    if not any(one is not None and one.is_used for one in held):
        some = [one for one in held if one is not None]
        return some[0] + some[1] if len(some) == 2 else some[0] if some else None
    ours, theirs = (
        replace(one or Unlabelled(0), labelled=each.labelled_weights)
        for one, each in zip(held, (left, right), strict=True)
    )
    return ours + theirs


def warn_of_blank_labels(record: Unlabelled | None, own: int | None = None) -> None:
    """Warn of rows without a label that were left out, though nobody asked what they say."""
    count = own if own is not None else 0 if record is None else record.rows
    if count and (record is None or record.asked == IGNORE):
        some = f"{count:,} row{'s' * (count != 1)} without a label"
        warn(
            f'{some} left out; unlabelled="auto" finds out whether to learn from them',
            RowsLeftOut,
        )
