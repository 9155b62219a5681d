"""Sets of classes, and what is promised about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.models.conformal.p_values import members, too_few
from suffice.printing.result_table import TableColumn, TextTable, p_value
from suffice.rows import read_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, Label

ALL, CLASS = "all", "class"
"""Among which rows an asked row is ranked: all, or those of the class it is asked about."""


@dataclass(frozen=True, slots=True, eq=False)
class PredictionSets:
    """Classes that cannot be excluded, row by row.

    sets       a tuple of labels for each asked row, in the order of `classes`
    p_values   (rows, classes): the share of rows at least as strange as this one with that label
    promise    what holds, under which assumption, in words
    classes    the labels, in order
    coverage   what was asked for
    """

    sets: list[tuple[Label, ...]]
    p_values: FloatArray
    promise: str
    classes: NDArray[Any]
    coverage: float

    def __len__(self) -> int:
        """How many rows were asked about."""
        return len(self.sets)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many classes each set has (rows,)."""
        return np.array([len(each) for each in self.sets], dtype=np.intp)

    def holds(self, y: object) -> NDArray[np.bool_]:
        """Return which sets have the class that is given for their row (rows,)."""
        read = read_labels(y)  # tuples are labels, and not rows of an array
        labels = read.classes[read.codes].tolist()
        if len(labels) != len(self.sets):
            raise BadSetting(
                f"there are {len(labels)} labels for {len(self.sets)} sets",
                hint="give one label for each asked row",
            )
        return np.array([v in each for v, each in zip(labels, self.sets, strict=True)], dtype=bool)

    def __str__(self) -> str:
        """Return how large the sets are, and the promise."""
        return f"{self._sizes}\n{self.promise}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.table.to_html()

    def to_frame(self, library: str | None = None) -> Any:
        """Return a row for each set as a frame of pandas or polars.

        Its columns are the row's number, its classes, how many they are, and the p-value of each
        class, "p(label)".
        """
        return self.table.to_frame(library)

    @property
    def table(self) -> TextTable:
        """All sets, in the order of the rows."""
        labels = [TableColumn(f"p({label})", p_value) for label in self.classes.tolist()]
        return TextTable(
            self._sizes,
            (TableColumn("row"), TableColumn("set"), TableColumn("classes"), *labels),
            tuple(
                (i, ", ".join(map(str, one)), len(one), *p)
                for i, (one, p) in enumerate(zip(self.sets, self.p_values.tolist(), strict=True))
            ),
            (self.promise,),
        )

    @property
    def _sizes(self) -> str:
        counts = Counter(self.sizes.tolist())
        said = ", ".join(f"{counts[size]} of {size}" for size in sorted(counts))
        return f"{len(self)} sets by number of classes: {said}"


@dataclass(frozen=True, slots=True)
class Promise:
    """How p-values were made: the sentence about them follows."""

    method: str
    """Full, or by rows that are left out of fits."""
    guaranteed: float | None = 1.0
    """By how many α = 1 - coverage the guarantee stays below 1; None where there is none."""
    approximate: tuple[str, ...] = ()
    """Why the promise holds only nearly."""


def checked(coverage: object, within: object) -> float:
    """Return the coverage, or refuse what is none, and rows to rank among that are not known."""
    number = isinstance(coverage, Real) and not isinstance(coverage, bool)
    if not number or not 0.0 < float(coverage) < 1.0:  # type: ignore[arg-type]
        raise BadSetting(
            f"coverage={coverage!r} is not a share between 0 and 1",
            hint="coverage=0.9 asks for sets that contain the true class in nine of ten rows",
        )
    if within not in (ALL, CLASS):
        raise BadSetting(
            f"within={within!r} is not known",
            hint='"all" guarantees the coverage over all rows, "class" within every class',
        )
    return float(coverage)  # type: ignore[arg-type]


def prediction_sets(
    p_values: FloatArray,
    best: NDArray[np.intp],
    classes: NDArray[np.generic],
    weights: FloatArray,
    coverage: float,
    within: str,
    promise: Promise,
) -> PredictionSets:
    """Return the sets of p-values (m, k); `weights` (k,) are the rows that they rank among."""
    held = weights if within == CLASS else np.full(len(weights), weights.sum())
    always = too_few(held, coverage)
    inside = members(p_values, coverage, best, always)
    labels = classes.tolist()
    sets = [tuple(v for v, there in zip(labels, row, strict=True) if there) for row in inside]
    few = [labels[c] for c in np.flatnonzero(always)]
    return PredictionSets(sets, p_values, _words(promise, coverage, within, few, len(labels)),
                          classes, coverage)  # fmt: skip


def _words(promise: Promise, coverage: float, within: str, few: list[object], size: int) -> str:
    """Return what is promised, for whom, and what is not."""
    where = "rows of every class" if within == CLASS else "rows"
    new = f"new {where} that are exchangeable with the training rows"
    said = [f"{promise.method}:"]
    if promise.guaranteed == 1.0:
        said.append(
            f"sets contain the true class for at least {coverage:.4g} of {new}, whatever "
            "their distribution, on average over training rows."
        )
    else:
        said.append(f"sets aim to contain the true class for {coverage:.4g} of {new};")
        if promise.guaranteed is None:
            said.append("nothing is guaranteed.")
        else:
            sure = max(0.0, 1.0 - promise.guaranteed * (1.0 - coverage))
            said.append(f"{sure:.4g} is guaranteed, minus a small amount for the folds.")
    said += [f"Approximate: {reason}." for reason in promise.approximate]
    if len(few) == size:
        said.append(
            f"There are too few rows to rule out any class at {coverage:.4g}: every set has all "
            f"classes."
        )
    elif few:
        said.append(
            f"Too few rows for {coverage:.4g}, so these are in every set: {listed(map(repr, few))}."
        )
    said.append(
        "The most likely class is always in the set. Not guaranteed: the same coverage for every "
        "kind of row, or for rows unlike the training rows."
    )
    return " ".join(said)
