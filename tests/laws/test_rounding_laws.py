"""Bounds of rounding are never below the error: streams of merges, subtractions and scalings.

The reference is exact, in fractions; so are the weights, as they came.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suffice.errors import ForgettingUnseen
from suffice.kernels.compilation import part_of
from suffice.kernels.dense.columns_apart import ColumnsApart
from suffice.kernels.dense.double_double import GRAM_ERROR, gram
from suffice.statistics import DiagonalMoments, Moments, PooledMoments
from tests.searches import examples

if TYPE_CHECKING:
    from suffice.rows import FloatArray

Rows = list[tuple[list[float], int, Fraction]]
"""Cells, class and weight of every row that is held."""

WIDTH = 2


@dataclass
class Step:
    """What one step of a stream does."""

    forgets: int | None
    rows: FloatArray
    codes: Any
    weights: FloatArray | None
    factor: float


@st.composite
def steps(draw: Any, *, blanks: bool) -> Step:
    """Draw a batch of rows of 1e-6 to 1e6 standard deviations, or which one is taken back."""
    forgets = draw(st.none() | st.integers(0, 20))
    size = draw(st.sampled_from([1, 1, 1, 2, 5, 32, 33, 40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.normal(size=(size, WIDTH))
    if draw(st.booleans()):
        rows *= 10.0 ** rng.uniform(-6.0, 6.0, size=(size, 1))
    rows += draw(st.sampled_from([0.0, 0.0, 1e3, 1e8]))
    if draw(st.booleans()):  # on a grid, where a scatter below one step is none
        rows = np.round(rows, draw(st.sampled_from([0, 2, 6])))
    if draw(st.integers(0, 4)) == 0:
        rows[:, 0] = rows[0, 0]
    if blanks:
        rows[rng.random(rows.shape) < 0.2] = np.nan
    weights = None
    if draw(st.booleans()):
        weights = rng.choice([0.1, 0.25, 0.7, 1.0, 3.0], size)
    factor = draw(st.sampled_from([1.0, 1.0, 1.0, 0.5, 0.99, 0.3]))
    return Step(forgets, rows, rng.integers(0, 2, size), weights, factor)


def scatter_of(rows: Rows) -> list[list[Fraction]]:
    """Return Σ w (x - m)(x - m)ᵀ of rows without blanks, exactly."""
    weight = sum((w for _, _, w in rows), Fraction(0))
    cells = [[Fraction(v) for v in row] for row, _, _ in rows]
    each = [w for _, _, w in rows]
    mean = [sum(w * x[j] for w, x in zip(each, cells, strict=True)) / weight for j in range(WIDTH)]
    return [
        [
            sum((w * (x[i] - mean[i]) * (x[j] - mean[j]) for w, x in zip(each, cells, strict=True)))
            for j in range(WIDTH)
        ]
        for i in range(WIDTH)
    ]  # type: ignore[return-value]


def exact(kind: str, rows: Rows) -> list[list[Fraction]]:
    """Return the scatter that a state of a kind should have; of blanks, the diagonal only."""
    if kind == "pooled":
        parts = [[row for row in rows if row[1] == c] for c in (0, 1)]
        found = [scatter_of(part) for part in parts if part]
        return [[sum((s[i][j] for s in found), Fraction(0)) for j in range(WIDTH)]
                for i in range(WIDTH)]  # fmt: skip
    if kind == "moments":
        return scatter_of(rows)
    whole = [[Fraction(0)] * WIDTH for _ in range(WIDTH)]
    for j in range(WIDTH):
        own = [([row[0][j]] * WIDTH, 0, row[2]) for row in rows if row[0][j] == row[0][j]]
        if own:
            whole[j][j] = scatter_of(own)[0][0]
    return whole


def summarized(kind: str, step: Step) -> Any:
    if kind == "pooled":
        return PooledMoments.of_classes(step.rows, step.codes, ["a", "b"], step.weights)
    return (Moments if kind == "moments" else DiagonalMoments).of(step.rows, step.weights)


def check(kind: str, state: Any, rows: Rows, widest: FloatArray) -> None:
    """Check every entry of the scatter, the part below its last digit included."""
    true = exact(kind, rows)
    low = np.zeros_like(state.scatter) if state.scatter_low is None else state.scatter_low
    bound = state.bound
    variances = np.diagonal(state.scatter) if state.scatter.ndim == 2 else state.scatter
    for i in range(WIDTH):
        for j in range(i + 1):
            at = (i, j) if state.scatter.ndim == 2 else (i,)
            if state.scatter.ndim == 1 and i != j:
                continue
            error = abs(Fraction(float(state.scatter[at])) + Fraction(float(low[at])) - true[i][j])
            room = float(bound[i])
            if i != j and 0.0 in (variances[i], variances[j]) and bound[i] + bound[j] > 0.0:
                continue  # a variance that is lost takes its products with it
            if i != j and variances[i] > 0.0 and variances[j] > 0.0:
                # Products: of the order of the larger relative error of squares and of sums.
                sums = state.sum_error
                if sums is None:
                    sums = np.zeros(WIDTH)
                weight = state.weight
                drift = np.sqrt(variances / weight) * np.atleast_2d(sums).sum(axis=0)
                worst = max((bound[k] + 2.0 * drift[k]) / variances[k] for k in (i, j))
                room = float(8.0 * worst * np.sqrt(variances[i] * variances[j]))
            # What is less than 1e-20 of a variance that was there is called constant.
            if 0.0 in (state.bound[i], state.bound[j]):
                room = float(1e-20 * np.sqrt(widest[i] * widest[j]))
            assert float(error) <= room, (kind, i, j)


@pytest.mark.parametrize("kind", ["moments", "pooled", "diagonal"])
@given(st.data())
def test_the_bound_of_a_variance_is_never_below_its_error(kind: str, data: st.DataObject) -> None:
    stream = data.draw(st.lists(steps(blanks=kind == "diagonal"), min_size=1, max_size=8))
    state: Any = None
    held: list[tuple[Any, Rows]] = []
    widest = np.zeros(WIDTH)
    for step in stream:
        if step.forgets is not None and len(held) > 1:
            gone, _ = held.pop(step.forgets % len(held))
            try:
                state = state - gone
            except ForgettingUnseen:
                return  # rows of weight far below the rest are taken for rounding
        else:
            part = summarized(kind, step)
            each = np.ones(len(step.rows)) if step.weights is None else step.weights
            triples = zip(step.rows.tolist(), step.codes.tolist(), each.tolist(), strict=True)
            held.append((part, [(row, c, Fraction(w)) for row, c, w in triples]))
            state = part if state is None else state + part
        if step.factor != 1.0:
            state = state.scaled(step.factor)
            factor = Fraction(step.factor)
            held = [
                (part.scaled(step.factor), [(row, c, w * factor) for row, c, w in rows])
                for part, rows in held
            ]
        variances = np.diagonal(state.scatter) if state.scatter.ndim == 2 else state.scatter
        widest = np.maximum(widest, variances)
        check(kind, state, [row for _, rows in held for row in rows], widest)


@pytest.mark.parametrize("kind", ["moments", "pooled", "diagonal"])
@examples(20)
@given(seed=st.integers(0, 2**32 - 1), left=st.sampled_from([1, 1, 2]), weighted=st.booleans())
@example(seed=5, left=1, weighted=False)
@example(seed=7, left=1, weighted=True)
def test_the_bound_holds_for_what_is_learned_after_all_rows_but_one_were_forgotten(
    kind: str, seed: int, left: int, weighted: bool
) -> None:
    """A single row has no scatter, but its cells are known no better than the sums of a batch."""
    rng = np.random.default_rng(seed)
    size, more = int(rng.integers(left + 1, 90)), 6
    rows = rng.standard_t(1.5, size=(size + more, WIDTH)) + rng.choice([0.0, 3.3, 1e3])
    if rng.random() < 0.3:
        rows = np.round(rows, 1)
    weights = rng.choice([0.25, 0.3, 1.0, 3.0], size + more) if weighted else None
    each = np.ones(size + more) if weights is None else weights

    def part(start: int, stop: int) -> Any:
        own = None if weights is None else weights[start:stop]
        codes = np.zeros(stop - start, dtype=np.intp)
        return summarized(kind, Step(None, rows[start:stop], codes, own, 1.0))

    def held(start: int, stop: int) -> Rows:
        at = range(start, stop)
        return [(rows[i].tolist(), 0, Fraction(float(each[i]))) for i in at]

    whole = part(0, size)
    widest = np.full(WIDTH, float(np.max(whole.bound)))
    try:
        state = whole - part(0, size - left)
        check(kind, state, held(size - left, size), widest)
        for stop in range(size + 1, size + more + 1):
            state = state + part(stop - 1, stop)
            check(kind, state, held(size - left, stop), widest)
        state = state - part(size - left, size)
        check(kind, state, held(size, size + more), widest)
    except ForgettingUnseen as refusal:
        assert "negative variance" not in str(refusal)  # noqa: PT017 - all rows were learned


def adversarial(kind: str, size: int, rng: np.random.Generator) -> FloatArray:
    """Return rows (size, 2) that are hard to add up."""
    normal = rng.normal(size=(size, 2))
    if kind == "all but one":  # rounded in the same direction every time
        rows = np.full((size, 2), [0.1, 1e8 + 0.7])
        rows[rng.integers(size)] += [1e3, -1.0 / 3.0]
        return rows
    if kind == "alternating":
        return np.resize([[1.0 / 3.0, -1e-4], [-1.0 / 7.0, 1e4]], (size, 2)) + 1e-3 * normal
    if kind == "sorted":
        return np.sort(np.exp(8.0 * normal), axis=0)
    if kind == "heavy":
        return np.column_stack([rng.standard_t(2, size), rng.lognormal(0.0, 2.0, size)])
    if kind == "0/1":
        return (rng.random((size, 2)) < [0.02, 0.5]).astype(np.float64)
    return normal + 1e8 * (kind == "far")


KINDS_OF_ROWS = ("all but one", "alternating", "sorted", "heavy", "0/1", "normal", "far")


def whole_scatter(cells: FloatArray, weights: FloatArray) -> Fraction:
    """Return Σ w (x - m)² exactly: in integers, as sums of many fractions take long."""
    pairs = [[Fraction(v) for v in column.tolist()] for column in (cells, weights)]
    units = [max((v.denominator for v in column), default=1) for column in pairs]
    x, w = ([int(v * unit) for v in column] for column, unit in zip(pairs, units, strict=True))
    total = sum(w)
    first = sum(a * b for a, b in zip(w, x, strict=True))
    second = sum(a * b * b for a, b in zip(w, x, strict=True))
    return Fraction(second * total - first * first, total * units[0] ** 2 * units[1])


def as_told(rows: FloatArray, layout: str) -> Any:
    if layout == "columns apart":
        return ColumnsApart([np.ascontiguousarray(column) for column in rows.T])
    return np.asfortranarray(rows) if layout == "F" else rows


def judged(
    kind: str, state: Any, size: int, rows: FloatArray, codes: Any, weights: FloatArray
) -> None:
    """Check that no bound is below its error, nor a thousand times above it and ½ε of S.

    S is the larger of that of the rows in the window, which are the last `size`, and that of the
    first ones, which one fit has summed in plain doubles: what these rounded off a row that was far
    wider does not come back when the row is forgotten.
    """
    for c, group in enumerate([state] if kind == "pooled" else state):
        classes = (0, 1) if kind == "pooled" else (c,)
        variances = np.diagonal(group.scatter) if group.scatter.ndim == 2 else group.scatter
        for j in range(rows.shape[1]):
            true, first = (
                sum(
                    whole_scatter(rows[part, j][codes[part] == k], weights[part][codes[part] == k])
                    for k in classes
                )
                for part in (slice(len(rows) - size, None), slice(size))
            )
            error = float(abs(Fraction(float(variances[j])) - true))
            bound = float(group.bound[j])
            assert error <= bound
            assert bound <= 1e3 * max(error, 1.12e-16 * float(max(true, first)))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ["moments", "pooled", "diagonal"])
@pytest.mark.parametrize("size", [50, 500, pytest.param(5_000, marks=pytest.mark.slow)])
@examples(6)
@given(
    rows=st.sampled_from(KINDS_OF_ROWS),
    layout=st.sampled_from(["C", "F", "float32", "columns apart"]),
    weighted=st.booleans(),
    pairs=st.sampled_from([0, 40]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_bound_of_one_fit_is_above_its_error_and_stays_near_it(
    compiled: bool, kind: str, size: int, rows: str, layout: str, weighted: bool, pairs: int,
    seed: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    X = adversarial(rows, size + pairs, rng)
    if layout == "float32":
        X = X.astype(np.float32)
    codes = np.arange(len(X)) % 2
    weights = rng.choice([0.1, 0.7, 1.0, 3.0], len(X)) if weighted else np.ones(len(X))

    def of(start: int, stop: int) -> Any:
        own = weights[start:stop] if weighted else None
        cells, y = as_told(X[start:stop], layout), codes[start:stop]
        if kind == "pooled":
            return PooledMoments.of_classes(cells, y, [0, 1], own)
        made: Any = Moments if kind == "moments" else DiagonalMoments
        return made.of_classes(cells, y, 2, own)

    with part_of(1_000_000 if compiled else 0):  # as if it were a part of a large table
        state = of(0, size)
    for i in range(pairs):
        new, old = of(size + i, size + i + 1), of(i, i + 1)
        if kind == "pooled":
            state = (state + new) - old
        else:
            state = [(s + a) - b for s, a, b in zip(state, new, old, strict=True)]
    judged(kind, state, size, X.astype(np.float64), codes, weights)


@given(st.integers(1, 32), st.integers(0, 2**32 - 1))
def test_products_of_few_rows_are_exact_to_many_digits(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    high = rng.normal(size=(size, 2)) * 10.0 ** rng.uniform(-9.0, 9.0, size=(size, 2))
    low = high * rng.uniform(-1e-16, 1e-16, size=high.shape)
    top, rest = gram((high, low))
    x = [[Fraction(a) + Fraction(b) for a, b in zip(*pair, strict=True)]
         for pair in zip(high.tolist(), low.tolist(), strict=True)]  # fmt: skip
    true = [[sum(row[i] * row[j] for row in x) for j in range(2)] for i in range(2)]
    assert np.array_equal(top, top.T)
    assert np.array_equal(rest, rest.T)
    for i in range(2):
        for j in range(2):
            off = abs(Fraction(float(top[i, j])) + Fraction(float(rest[i, j])) - true[i][j])
            assert float(off) <= GRAM_ERROR * float(true[i][i] * true[j][j]) ** 0.5
