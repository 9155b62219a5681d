"""Margins of rows along a direction, and the few of them that a linear program needs to see.

A row of class y and a rival class a ≠ y are one constraint: the margin z̃ᵀ(β_y - β_a) must not be
negative, β₀ = 0. Of n(k - 1) constraints only those are kept that could still change the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.models.linear.logistic.loss import collect_design

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.rows import FloatArray, IntArray

TIED = 1e-11
"""Margins up to this share of ‖z̃‖‖β‖ count as zero: more than what rounding does to rows that lie
on a boundary, and to columns whose unit was changed."""

SPANNED = 1e-9
"""Rows that leave a subspace by no more than this share of their length lie inside it."""


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """Some constraints, with all that is needed to write them down.

    rows     (s, d + 1): z̃ of each
    own      (s,): the row's class
    rival    (s,): the other class
    number   (s,): row times classes plus rival; no two are the same
    urgency  (s,): which of them to look at first, smallest first
    """

    rows: FloatArray
    own: IntArray
    rival: IntArray
    number: IntArray
    urgency: FloatArray

    def __len__(self) -> int:
        """How many there are."""
        return len(self.own)

    def __add__(self, other: Self) -> Self:
        """Put both together."""
        return type(self)(
            np.concatenate((self.rows, other.rows)),
            np.concatenate((self.own, other.own)),
            np.concatenate((self.rival, other.rival)),
            np.concatenate((self.number, other.number)),
            np.concatenate((self.urgency, other.urgency)),
        )

    def __getitem__(self, some: IntArray | NDArray[np.bool_]) -> Self:
        """Return some of them."""
        return type(self)(
            self.rows[some],
            self.own[some],
            self.rival[some],
            self.number[some],
            self.urgency[some],
        )

    def matrix(self, m: int) -> FloatArray:
        """Return Z (s, m(d + 1)), class-major, so that margins are Zβ.

        >>> own, rival, number = np.array([[2], [1], [0]])
        >>> one = Constraints(np.array([[1.0, 5.0]]), own, rival, number, np.zeros(1))
        >>> one.matrix(2)
        array([[-1., -5.,  1.,  5.]])
        """
        found = np.zeros((len(self), m, self.rows.shape[1]))
        for codes, sign in ((self.own, 1.0), (self.rival, -1.0)):
            there = np.flatnonzero(codes)
            found[there, codes[there] - 1] = sign * self.rows[there]
        return found.reshape(len(self), m * self.rows.shape[1])

    def first(self, most: int) -> Self:
        """Return the most urgent ones, in their order; of equal rows one is enough."""
        order = np.argsort(self.urgency, kind="stable")
        if len(order) > most:
            # Equal rows have equal margins, and stand side by side.
            rows, own, rival = self.rows[order], self.own[order], self.rival[order]
            new = np.ones(len(order), dtype=bool)
            new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
            new[1:] |= (own[1:] != own[:-1]) | (rival[1:] != rival[:-1])
            order = order[new]
        return self[order[:most]]


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What one pass over all rows says about a direction.

    worst       constraints not yet held, those first that object most to the direction
    objections  how many of all object: their margin is too small, and they are not known to be tied
    pulled      (k, k): how many rows of a class (down) have a positive margin to a rival (across)
    rows_apart  rows with a positive margin to some rival
    tied        constraints whose margin is not positive
    least       the smallest of the positive margins
    most        how many of the worst are kept
    """

    worst: Constraints
    objections: int
    pulled: IntArray
    rows_apart: int
    tied: int
    least: float
    most: int

    def __add__(self, other: Self) -> Self:
        """Merge; only the worst of both are kept."""
        return type(self)(
            (self.worst + other.worst).first(self.most),
            self.objections + other.objections,
            self.pulled + other.pulled,
            self.rows_apart + other.rows_apart,
            self.tied + other.tied,
            min(self.least, other.least),
            self.most,
        )


def survey(
    loss: LogisticLoss,
    direction: FloatArray,
    hidden: FloatArray | None = None,
    held: Constraints | None = None,
    below: float = 0.0,
    most: int = 0,
) -> Survey:
    """Return what all rows say about a direction (m, d + 1).

    hidden  (m(d + 1), q): a basis of all directions that leave the known ties tied. Constraints
            on which it vanishes are tied too, whatever the direction. None: nothing is known.
    held    constraints that the direction was made for: they are not asked again
    below   margins under this are objections (tied and negative ones always are)
    most    how many of the others to bring along, objections first
    """
    m, width = loss.shape
    k = m + 1
    length = float(np.linalg.norm(direction))
    known = np.sort(held.number) if held is not None else np.zeros(0, np.intp)
    bases = None
    if hidden is not None:
        bases = np.concatenate(
            (np.zeros((1, width, hidden.shape[1])), hidden.reshape(m, width, -1))
        )

    def survey_block(some: slice, design: FloatArray) -> Survey:
        codes = loss.codes[some]
        margins = margins_along(direction, design, codes)
        sizes = np.sqrt(np.einsum("ij,ij->i", design, design))[:, np.newaxis]
        others = np.arange(k) != codes[:, np.newaxis]
        apart = (margins > TIED * length * sizes) & others
        asked = others & ((margins < below) | ~apart)
        at, rival = np.nonzero(asked if most == 0 else others)
        number = (some.start + at) * k + rival
        new = ~np.isin(number, known)
        if bases is not None:
            freedom = _freedom(bases, design, codes, at, rival)
            new &= freedom > SPANNED * sizes[at, 0]
            # Where there is no direction yet, what is least known comes first.
            urgency = margins[at, rival] if length > 0.0 else -freedom
        else:
            urgency = margins[at, rival]
        objections = int((new & asked[at, rival]).sum())
        chosen = np.flatnonzero(new)
        if len(chosen) > 4 * most:
            chosen = chosen[np.argpartition(urgency[chosen], 4 * most)[: 4 * most]]
        at, rival = at[chosen], rival[chosen]
        worst = Constraints(design[at], codes[at], rival, number[chosen], urgency[chosen])
        return Survey(
            worst.first(most),
            objections,
            ((~others).T.astype(np.float64) @ apart).astype(np.intp),
            int(apart.any(axis=1).sum()),
            int(len(codes) * m - apart.sum()),
            float(margins[apart].min(initial=np.inf)),
            most,
        )

    return collect_design(loss, survey_block)


def margins_along(direction: FloatArray, design: FloatArray, codes: IntArray) -> FloatArray:
    """Return z̃ᵀ(β_y - β_a) for every row and class a (n, k); zero for the row's own.

    >>> margins_along(np.array([[0.0, 2.0]]), np.array([[1.0, 3.0]]), np.array([1]))
    array([[6., 0.]])
    """
    scores = np.zeros((len(design), len(direction) + 1))
    np.matmul(design, direction.T, out=scores[:, 1:])
    found: FloatArray = scores[np.arange(len(design)), codes][:, np.newaxis] - scores
    return found


def _freedom(
    bases: FloatArray, design: FloatArray, codes: IntArray, at: IntArray, rival: IntArray
) -> FloatArray:
    """Return ‖z̃ᵀ(N_y - N_a)‖ of constraints: how far a hidden direction can move their margin."""
    found = np.zeros(len(at))
    if bases.shape[2] == 0:
        return found
    k = len(bases)
    groups = codes[at] * k + rival
    for group in np.unique(groups):
        here = groups == group
        moved = design[at[here]] @ (bases[group // k] - bases[group % k])
        found[here] = np.linalg.norm(moved, axis=1)
    return found
