"""Loss, gradient and Hessian of logistic and softmax regression over dense rows.

Class 0 is the reference and scores 0; class c scores theta[c - 1]·(1, z) with
z = (x - origin)·inverse. The loss is Σ w·(-log p(y | x)), a sum over rows. Two classes are the
case m = 1. A cell that is not finite comes out as a loss or a gradient that is not finite.

    codes    (n,) intp, 0..m
    weights  (n,) float64 > 0, or None for ones
    theta    (m, d + 1) float64, intercepts first
    margin   the smallest score of a row's own class above the best of the others

In NumPy rows go through in chunks that fit a core's cache. Residuals of likely classes are computed
from what the other classes have left, not as 1 - p: their digits survive far from the boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import pays_if_saved, twin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[np.floating]

BINARY, SOFTMAX = "suffice.kernels.logistic.binary_numba", "suffice.kernels.logistic.softmax_numba"
"""Where the compiled twins are, for two classes and for more."""

WIDEST = 1024
"""Columns up to which compiled products with the few columns of theta beat BLAS."""

WIDEST_HESSIAN = 512
"""Columns up to which compiled products of columns with each other do: their buffer is 1 MB."""

CHUNK_CELLS = 32_768
"""Cells in one chunk of rows: a quarter of a megabyte."""

BLAS_ROWS, BLAS_CELLS = 1024, 1 << 20
"""Rows that make a product worth calling BLAS for, unless they have more cells than this."""


LONG = 1024
"""Cells that NumPy centres in one go, of rows that lie behind each other: one row of few cells at a
time takes four times as long."""


@dataclass(frozen=True, slots=True, eq=False)
class Standardised:
    """Rows as they are, and the scale that they take on their way through the cache.

    rows     (n, d) float32 or float64, any strides; float32 is widened before it is centred
    origin   (d,) float64, subtracted first: columns far from zero keep their digits
    inverse  (d,) float64 ≥ 0, one over the scale of each column; 0 leaves a column out

    >>> Standardised(np.array([[1.0], [3.0]]), np.array([2.0]), np.array([0.5]))[0:1]
    array([[-0.5]])
    """

    rows: Rows
    origin: Floats
    inverse: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, some: slice) -> Floats:
        """Return z of some rows."""
        z: Floats = (self.rows[some] - self.origin) * self.inverse
        return z

    @property
    def scale(self) -> tuple[Floats, Floats]:
        """Origin and inverse as compiled loops read them."""
        return np.ascontiguousarray(self.origin), np.ascontiguousarray(self.inverse)


SAVED = 30.0
"""ns that compiled loops save for each cell in a whole search, which goes over them many times."""

_search_pays = pays_if_saved(SAVED)

# Of all arguments the last is theta, or a direction like it: a row for each class but one.


def _sums_pay(table: Standardised, *others: Sized) -> bool:
    return _search_pays(table.rows) and (table.rows.shape[1] <= WIDEST or len(others[-1]) == 1)


def _hessian_pays(table: Standardised, *others: Sized) -> bool:
    narrow = table.rows.shape[1] <= WIDEST_HESSIAN
    return narrow and len(others[-1]) == 1 and _search_pays(table.rows)


def _reach_pays(table: Standardised) -> bool:
    return _search_pays(table.rows)


def _by_classes(*arguments: Sized) -> int:
    return 0 if len(arguments[-1]) == 1 else 1


@twin(BINARY, SOFTMAX, when=_sums_pay, which=_by_classes)
@np.errstate(all="ignore")
def loss_and_gradient(
    table: Standardised, codes: Codes, weights: Floats | None, theta: Floats
) -> tuple[float, Floats, float]:
    """Return (loss, gradient (m, d + 1), smallest margin)."""
    loss, gradient, smallest = 0.0, np.zeros(theta.shape), np.inf
    for some, design in _designs(table, theta.shape[1]):
        losses, residuals, margins = losses_and_residuals((theta @ design.T).T, codes[some])
        if weights is not None:
            losses *= weights[some]
            residuals *= weights[some, np.newaxis]
        loss += float(losses.sum())
        gradient += residuals.T @ design
        smallest = min(smallest, float(margins.min()))
    return loss, gradient, smallest


@twin(BINARY, when=_hessian_pays)
@np.errstate(all="ignore")
def curvature(
    table: Standardised, codes: Codes, weights: Floats | None, theta: Floats
) -> tuple[float, Floats, Floats, float]:
    """Return (loss, gradient, Hessian (m(d + 1), m(d + 1)), smallest margin)."""
    size, width = theta.shape
    loss, gradient, smallest = 0.0, np.zeros(theta.shape), np.inf
    hessian = np.zeros((theta.size, theta.size))
    diagonal = [slice(c * width, (c + 1) * width) for c in range(size)]
    squares = np.zeros((size, width, width))
    room = shares = np.empty(0)
    for some, design in _designs(table, theta.size):
        scores = (theta @ design.T).T
        if size == 1:
            losses, first, margins, doubt = _of_two(scores[:, 0], codes[some])
            residuals, roots = first[:, np.newaxis], np.sqrt(doubt)[:, np.newaxis]
        else:
            losses, residuals, margins = losses_and_residuals(scores, codes[some])
            shares, others = shares_of(scores)
            roots = np.sqrt(shares * others)
        if weights is not None:
            own = weights[some]
            losses *= own
            residuals *= own[:, np.newaxis]
            heavy = np.sqrt(own)[:, np.newaxis]
            roots *= heavy
            if size > 1:
                shares *= heavy
        loss += float(losses.sum())
        gradient += residuals.T @ design
        smallest = min(smallest, float(margins.min()))
        if room.size < len(design) * theta.size:
            room = np.empty(len(design) * theta.size)
        weighted = room[: design.size].reshape(design.shape)
        for c in range(size):
            np.multiply(design, roots[:, c : c + 1], out=weighted)
            squares[c] += weighted.T @ weighted
        if size > 1:
            spread = room[: len(design) * theta.size].reshape(len(design), size, width)
            np.multiply(shares[:, :, np.newaxis], design[:, np.newaxis, :], out=spread)
            flat = spread.reshape(len(design), -1)
            hessian -= flat.T @ flat
    for c in range(size):
        hessian[diagonal[c], diagonal[c]] = squares[c]  # p(1 - p) there, without a difference
    return loss, gradient, hessian, smallest


@twin(BINARY, SOFTMAX, when=_sums_pay, which=_by_classes)
@np.errstate(all="ignore")
def hessian_product(
    table: Standardised, weights: Floats | None, theta: Floats, direction: Floats
) -> Floats:
    """Return the Hessian at theta times a direction, both (m, d + 1)."""
    product = np.zeros(theta.shape)
    for some, design in _designs(table, theta.shape[1]):
        shares, others = shares_of((theta @ design.T).T)
        moved = probability_derivatives(shares, others, (direction @ design.T).T)
        if weights is not None:
            moved *= weights[some, np.newaxis]
        product += moved.T @ design
    return product


@twin(BINARY, when=_reach_pays)
@np.errstate(all="ignore")
def reach(table: Standardised) -> float:
    """Return the largest 1 + ‖z‖² of all rows: how far one row can pull."""
    largest = 0.0
    for some in _chunks(len(table), table.rows.shape[1]):
        z = table[some]
        largest = max(largest, float(np.einsum("ij,ij->i", z, z).max()))
    return 1.0 + largest


def losses_and_residuals(scores: Floats, codes: Codes) -> tuple[Floats, Floats, Floats]:
    """Return losses (n,), residuals p - y (n, m) and margins (n,) of scores against class 0."""
    n, size = scores.shape
    if size == 1:
        losses, residuals, margins, _ = _of_two(scores[:, 0], codes)
        return losses, residuals[:, np.newaxis], margins
    every = _every_class(scores)
    places = codes * n + np.arange(n)
    flat = every.reshape(-1)
    own = flat.take(places)
    flat[places] = -np.inf
    best = every.max(axis=0)
    top = np.maximum(best, own)
    every -= top
    np.exp(every, out=every)
    rest, mine = every.sum(axis=0), np.exp(own - top)
    total = rest + mine
    losses = np.where(
        own >= best, np.log1p(rest / np.where(own >= best, mine, 1.0)), np.log(total) + (top - own)
    )
    every /= total
    flat[places] = -rest / total
    return losses, every[1:].T, own - best


def _of_two(scores: Floats, codes: Codes) -> tuple[Floats, Floats, Floats, Floats]:
    """Return losses, residuals, margins and p(1 - p) of two classes, all (n,)."""
    signs = np.where(codes == 1, 1.0, -1.0)
    margins: Floats = scores * signs
    tail = np.exp(-np.abs(scores))
    whole = 1.0 + tail
    small = tail / whole
    losses: Floats = np.log1p(tail)
    losses -= np.minimum(margins, 0.0)
    residuals: Floats = -signs * np.where(margins > 0.0, small, 1.0 / whole)
    doubt: Floats = small / whole
    return losses, residuals, margins, doubt


def shares_of(scores: Floats) -> tuple[Floats, Floats]:
    """Return p and 1 - p of the classes but 0, each from the side where nothing cancels."""
    if scores.shape[1] == 1:
        tail = np.exp(-np.abs(scores))
        small, large = tail / (1.0 + tail), 1.0 / (1.0 + tail)
        up = scores > 0.0
        return np.where(up, large, small), np.where(up, small, large)
    every = _every_class(scores)
    every -= every.max(axis=0)
    np.exp(every, out=every)
    every /= every.sum(axis=0)
    # 1 - p cancels for a class that is likelier than all others; there these are added up.
    likely = every > 0.5
    rest = np.where(likely, 0.0, every).sum(axis=0)
    others = np.where(likely, rest, 1.0 - every)
    return every[1:].T, others[1:].T


def _every_class(scores: Floats) -> Floats:
    """Return the scores of all classes (m + 1, n): along rows, of which there are more."""
    every = np.zeros((scores.shape[1] + 1, len(scores)))
    every[1:] = scores.T
    return every


def probability_derivatives(shares: Floats, others: Floats, moves: Floats) -> Floats:
    """Return p∘(δ - Σ p δ): the derivatives of the probabilities as scores move by δ."""
    if shares.shape[1] == 1:
        return shares * others * moves
    # Moves count from that of a likely class, which would else be subtracted from their mean.
    at, best = np.arange(len(shares)), shares.argmax(axis=1)
    likely = shares[at, best] > 0.5
    base = np.where(likely, moves[at, best], 0.0)
    rest = shares.copy()
    rest[at, best] = 0.0
    reference = others[at, best] - rest.sum(axis=1)
    moves = moves - base[:, np.newaxis]
    derivatives: Floats = (
        moves - (np.einsum("ij,ij->i", shares, moves) - reference * base)[:, np.newaxis]
    )
    derivatives *= shares
    return derivatives


def _designs(table: Standardised, cells: int) -> Iterator[tuple[slice, Floats]]:
    """Yield chunks of rows, of which each makes so many cells, and (1, z) of them.

    All chunks are written to the same memory.
    """
    width = table.rows.shape[1]
    chunks = list(_chunks(len(table), cells))
    size = len(table) and chunks[0].stop
    together = max(LONG // max(width, 1), 1)
    long = np.empty((2, together, width))  # several of each behind each other
    long[0], long[1] = table.origin, table.inverse
    origin, inverse = long.reshape(2, -1)
    every = np.ones((size, width + 1))
    for some in chunks:
        rows, count = table.rows[some], some.stop - some.start
        design = every[:count]
        whole = count - count % together if rows.flags.c_contiguous else 0
        if whole:
            z = rows[:whole].reshape(whole // together, -1) - origin
            z *= inverse
            design[:whole, 1:] = z.reshape(whole, width)
        if whole < count:
            rest = design[whole:, 1:]
            np.subtract(rows[whole:], table.origin, out=rest)
            rest *= table.inverse
        yield some, design


def _chunks(n: int, width: int) -> Iterator[slice]:
    step = max(CHUNK_CELLS // max(width, 1), min(BLAS_ROWS, BLAS_CELLS // max(width, 1)), 64)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
