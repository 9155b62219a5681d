"""One summary per label; labels just appear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.statistics.algebra import checked_factor
from suffice.statistics.by_column import ByColumn
from suffice.statistics.keyed_counts import NgramCounts, TermCounts
from suffice.statistics.labels import labels_from_array, labels_to_array, ordered
from suffice.statistics.moments.centres import with_weight
from suffice.statistics.moments.diagonal import DiagonalMoments
from suffice.statistics.moments.full import Moments
from suffice.statistics.moments.parts import explicit_part
from suffice.statistics.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics.algebra import Array

S = TypeVar("S", Moments, DiagonalMoments, Totals, ByColumn, NgramCounts, TermCounts)

STACKED: dict[str, Any] = {kind.__name__: kind for kind in (Moments, DiagonalMoments, Totals)}
"""Kinds whose arrays have the same shapes in every class."""
NUMBERED: dict[str, Any] = {kind.__name__: kind for kind in (ByColumn, NgramCounts, TermCounts)}
"""Kinds that are as large as what their class has."""


KEPT = "_kept"
"""Behind the name of a part: for which classes it is more than what follows from the others."""


@dataclass(frozen=True, slots=True, eq=False)
class ByClass(Generic[S]):
    """Statistics class by class: a dictionary that adds up.

    There is no list of classes to declare beforehand. A label never seen is a new class;
    a label whose weight is gone is not a class any more.

    >>> a = ByClass.of(Moments, np.array([[0.0], [2.0]]), [0, 1], ["ham", "spam"])
    >>> b = ByClass.of(Moments, np.array([[4.0]]), [0], ["SPAM"])
    >>> (a + b).labels
    ('SPAM', 'ham', 'spam')
    """

    groups: Mapping[Label, S]

    @classmethod
    def of(
        cls,
        kind: Any,
        rows: FloatArray,
        codes: IntArray | Sequence[int],
        labels: Sequence[Label],
        weights: FloatArray | None = None,
    ) -> Self:
        """Summarize labelled rows: row i belongs to labels[codes[i]]."""
        rows, codes, weights = with_weight(rows, np.asarray(codes, dtype=np.intp), weights)
        if len(rows) == 0:
            return cls({})
        groups = kind.of_classes(rows, codes, len(labels), weights)
        return cls({label: g for label, g in zip(labels, groups, strict=True) if g.weight > 0.0})

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels seen, in order."""
        return ordered(self.groups)

    @property
    def weight(self) -> float:
        """How many rows were summarized, each counted with its weight."""
        return float(sum(group.weight for group in self.groups.values()))

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of any class's variance."""
        if not self.groups:
            return np.zeros(0)
        losses: FloatArray = np.max([group.lost for group in self.groups.values()], axis=0)
        return losses

    def __add__(self, other: Self) -> Self:
        """Merge class by class."""
        groups = dict(self.groups)
        for label, group in other.groups.items():
            groups[label] = groups[label] + group if label in groups else group
        return type(self)(groups)

    def __sub__(self, other: Self) -> Self:
        """Forget class by class; a class whose weight is gone is gone."""
        groups = dict(self.groups)
        for label, group in other.groups.items():
            if group.weight == 0.0:
                continue
            if label not in groups:
                raise ForgettingUnseen.of(0.0, group.weight, f"class {label!r}")
            try:
                left = groups[label] - group
            except ForgettingUnseen as refusal:
                raise refusal.within(f"class {label!r}") from None
            if left.weight > 0.0:
                groups[label] = left
            else:
                del groups[label]
        return type(self)(groups)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        if checked_factor(factor) == 0.0:
            return type(self)({})
        return type(self)({label: group.scaled(factor) for label, group in self.groups.items()})

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the statistics of the same rows with more columns, which were all zero."""
        return type(self)(
            {
                label: group.embedded(places, width)  # type: ignore[attr-defined]
                for label, group in self.groups.items()
            }
        )

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays, the classes stacked or numbered."""
        labels = self.labels
        states = [self.groups[label].to_arrays() for label in labels]
        kind = type(self.groups[labels[0]]).__name__ if labels else "Moments"
        head: dict[str, Array] = {"kind": np.array(kind), "labels": labels_to_array(labels)}
        if kind not in STACKED:
            return head | {
                f"{i}/{name}": value
                for i, state in enumerate(states)
                for name, value in state.items()
            }
        # Of moments, some classes may keep parts that others leave out.
        names = dict.fromkeys(name for state in states for name in state)
        for name in list(names):
            there = np.array([name in state for state in states])
            if not there.all():
                head[f"{name}{KEPT}"] = there
        for label, state in zip(labels, states, strict=True):
            for name in names.keys() - state.keys():
                state[name] = explicit_part(self.groups[label], name)  # type: ignore[arg-type]
        return head | {name: np.stack([state[name] for state in states]) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        name = str(arrays["kind"])
        labels = labels_from_array(arrays["labels"])
        if name not in STACKED:
            held: list[dict[str, Array]] = [{} for _ in labels]
            for place, value in arrays.items():
                number, slash, rest = place.partition("/")
                if slash:
                    held[int(number)][rest] = value
            parts = map(NUMBERED[name].from_arrays, held)
            return cls(dict(zip(labels, parts, strict=True)))
        kind = STACKED[name]
        names = [
            name for name in arrays if name not in ("kind", "labels") and not name.endswith(KEPT)
        ]
        held = [
            {
                name: arrays[name][i]
                for name in names
                if f"{name}{KEPT}" not in arrays or bool(arrays[f"{name}{KEPT}"][i])
            }
            for i in range(len(labels))
        ]
        return cls(dict(zip(labels, map(kind.from_arrays, held), strict=True)))
