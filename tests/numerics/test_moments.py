"""Digits: offsets, drifts, scales, constants, certified values, and what forgetting leaves."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice import GaussianDiscriminant
from suffice.errors import ForgettingUnseen, LostDigits, NotFinite
from suffice.statistics import ByClass, ByPattern, DiagonalMoments, Moments, PooledMoments, total

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suffice.rows import FloatArray

both_kinds = pytest.mark.parametrize("kind", [Moments, DiagonalMoments])


def variance(found: Any, column: int = 0) -> float:
    scatter = found.scatter
    return float(scatter[column, column] if scatter.ndim == 2 else scatter[column])


def exact(column: FloatArray) -> tuple[Fraction, Fraction]:
    """Return mean and sum of squares about it, in fractions: no rounding at all."""
    values = [Fraction(float(v)) for v in column]
    mean = sum(values, Fraction(0)) / len(values)
    return mean, sum(((v - mean) ** 2 for v in values), Fraction(0))


def relative_error(found: float, truth: Fraction) -> float:
    return abs(float((Fraction(found) - truth) / truth))


@pytest.mark.parametrize("parts", [7, 60, 500, 4000])
@both_kinds
def test_an_offset_of_1e8_costs_no_digits_however_many_parts(kind: Any, parts: int) -> None:
    rng = np.random.default_rng(parts)
    rows = 1e8 + rng.normal(size=(20_000, 2))
    whole, merged = kind.of(rows), total(kind.of(part) for part in np.array_split(rows, parts))
    assert variance(merged) == pytest.approx(variance(whole), rel=1e-14, abs=0.0)
    gap = (merged.mean - whole.mean) + (merged.low - whole.low)
    assert np.abs(gap).max() < 1e-14


@both_kinds
def test_an_offset_of_1e8_agrees_with_fractions(kind: Any) -> None:
    rows = 1e8 + np.random.default_rng(0).normal(size=(700, 1))
    mean, squares = exact(rows[:, 0])
    found = total(kind.of(part) for part in np.array_split(rows, 7))
    assert relative_error(variance(found), squares) < 1e-14
    assert abs(float(Fraction(found.mean[0]) + Fraction(found.low[0]) - mean)) < 1e-14


@pytest.mark.parametrize(
    "column",
    [
        np.sort(np.random.default_rng(1).normal(size=50_000)) + 1e6,
        np.linspace(0.0, 1e9, 50_000),
        np.r_[np.full(49_000, 1e7), 1e7 + np.random.default_rng(2).normal(size=1000)],
        np.r_[1e12, np.random.default_rng(3).normal(size=3000)],
        np.where(np.arange(50_000) % 25 == 0, 1e9, np.random.default_rng(4).normal(size=50_000)),
    ],
    ids=["sorted", "drifting", "late to move", "one outlier first", "in step with the sample"],
)
@both_kinds
def test_a_poor_provisional_centre_costs_no_digits(kind: Any, column: FloatArray) -> None:
    _, squares = exact(column)
    assert relative_error(variance(kind.of(column[:, np.newaxis])), squares) < 1e-13


@both_kinds
def test_lopsided_weights_cost_no_digits(kind: Any) -> None:
    """The centre is guessed without weights; here nearly all the weight is a thousand away."""
    rng = np.random.default_rng(5)
    rows = np.r_[rng.normal(size=(100, 1)), 1e6 + rng.normal(size=(100, 1))]
    weights = np.r_[np.full(100, 1e-12), np.full(100, 1.0)]
    w = [Fraction(float(v)) for v in weights]
    x = [Fraction(float(v)) for v in rows[:, 0]]
    mean = sum(a * b for a, b in zip(w, x, strict=True)) / sum(w)
    squares = sum(a * (b - mean) ** 2 for a, b in zip(w, x, strict=True))
    assert relative_error(variance(kind.of(rows, weights)), Fraction(squares)) < 1e-13


CERTIFIED = {
    "NumAcc1": (10000002.0, 1.0, 15.0),
    "NumAcc2": (1.2, 0.1, 14.0),
    "NumAcc3": (1000000.2, 0.1, 9.4),
    "NumAcc4": (10000000.2, 0.1, 8.2),
    "Michelso": (299.8524, 0.0790105478190518, 13.8),
}
"""Mean, standard deviation and the digits of it that the rounding of the inputs leaves."""


@pytest.mark.parametrize("name", CERTIFIED)
@both_kinds
def test_nist_certified_values_come_out(kind: Any, name: str, shared: Path) -> None:
    text = (shared / "data" / "nist" / f"{name}.dat").read_text()
    numbers = text[re.search(r"^Data: Y\s*-+\s*$", text, re.MULTILINE).end() :]  # type: ignore[union-attr]
    values = np.array([float(word) for word in numbers.split()])
    mean, deviation, digits = CERTIFIED[name]
    for parts in (1, 3):
        found = total(kind.of(part[:, np.newaxis]) for part in np.array_split(values, parts))
        assert found.mean[0] == pytest.approx(mean, rel=1e-15)
        sd = np.sqrt(variance(found) / (found.weight - 1.0))
        assert abs(sd - deviation) <= deviation * 10.0**-digits


@pytest.mark.parametrize("exponent", [-150, -100, -20, 20, 100, 145])
@both_kinds
def test_the_scale_does_not_matter(kind: Any, exponent: int) -> None:
    rng = np.random.default_rng(6)
    factor = 2.0 ** round(exponent / np.log10(2.0))  # a power of two: scaling is exact
    rows = rng.normal(size=(60, 2))
    x, y = kind.of(rows[:40]) + kind.of(rows[40:]), kind.of(rows[:40] * factor)
    y = y + kind.of(rows[40:] * factor)
    assert np.sqrt(variance(y)) / factor == pytest.approx(np.sqrt(variance(x)), rel=1e-13)
    assert y.mean / factor == pytest.approx(x.mean, rel=1e-13)
    left = y - kind.of(rows[40:] * factor)
    alone = kind.of(rows[:40])
    assert np.sqrt(variance(left)) / factor == pytest.approx(np.sqrt(variance(alone)), rel=1e-12)


def test_numbers_too_large_to_be_squared_are_refused_by_column() -> None:
    with pytest.raises(NotFinite, match="column 1"):
        Moments.of([[1.0, 1e200], [2.0, -1e200]])


@pytest.mark.parametrize("value", [0.1, 1e8 / 3.0, -7e-50, 1e20 + 0.7])
@both_kinds
def test_a_constant_column_has_no_scatter_at_all(kind: Any, value: float) -> None:
    rows = np.full((10_007, 2), value)
    rows[:, 1] = np.random.default_rng(8).normal(size=len(rows))
    weights = np.random.default_rng(9).uniform(0.1, 3.0, size=len(rows))
    parts = np.array_split(np.arange(len(rows)), 13)
    for found in (
        kind.of(rows),
        kind.of(rows, weights),
        total(kind.of(rows[part]) for part in parts),
        total(kind.of(rows[part], weights[part]) for part in parts),
    ):
        assert variance(found) == 0.0
        assert found.mean[0] == value
        assert found.lost[0] == 0.0


def test_a_column_that_is_constant_in_every_class_has_no_pooled_scatter() -> None:
    codes = np.arange(5000) % 3
    rows = np.array([0.1, 1e9 / 7.0, -0.3])[codes][:, np.newaxis]
    parts = [PooledMoments.of_classes(rows[i::9], codes[i::9], "abc") for i in range(9)]
    assert PooledMoments.of_classes(rows, codes, "abc").scatter[0, 0] == 0.0
    assert total(parts).scatter[0, 0] == 0.0


def test_a_constant_column_with_gaps_has_no_scatter() -> None:
    rows = np.full((100, 1), 0.1)
    rows[:3] = np.nan
    assert variance(DiagonalMoments.of(rows)) == 0.0


@both_kinds
def test_float32_rows_count_as_their_float64_copies(kind: Any) -> None:
    rows = (1e4 + np.random.default_rng(10).normal(size=(500, 3))).astype(np.float32)
    narrow, wide = kind.of(rows), kind.of(rows.astype(np.float64))
    for name, array in narrow.to_arrays().items():
        assert array.dtype == np.float64
        assert np.array_equal(array, wide.to_arrays()[name]), name


# Forgetting


def wide_and_narrow(ratio: float) -> tuple[Moments, Moments]:
    rng = np.random.default_rng(11)
    return Moments.of(rng.normal(size=(50, 2))), Moments.of(ratio * rng.normal(size=(50, 2)))


@pytest.mark.parametrize("ratio", [1.0, 10.0, 1e3, 1e5, 1e6])
def test_the_carried_bound_holds_and_is_not_far_off(ratio: float) -> None:
    a, b = wide_and_narrow(ratio)
    left = (a + b) - b
    off = np.abs(np.diagonal(left.scatter) - np.diagonal(a.scatter))
    assert np.all(off <= left.error + a.error)
    assert np.all(left.lost <= 1e-13 * max(ratio, 1.0) ** 2)


@pytest.mark.parametrize("size", [10, 1000, 100_000])
@pytest.mark.parametrize("away", [0.0, 1.0, 30.0, 1e4])
@both_kinds
def test_rows_that_stay_and_never_moved_are_left_without_variance(
    kind: Any, size: int, away: float
) -> None:
    """A sum of many rows has rounding of its own: the bound must know, or refuse good requests."""
    rng = np.random.default_rng(size)
    for gone in (rng.normal(size=(size, 1)), (rng.random((size, 1)) < 0.3).astype(float)):
        left = kind.of(np.r_[gone, np.full((4, 1), away)]) - kind.of(gone)
        assert left.weight == 4.0
        assert variance(left) == 0.0
        assert left.mean[0] == pytest.approx(away, rel=1e-6, abs=1e-6)


def test_half_rows_are_no_single_row() -> None:
    """Weight one may be two rows of weight ½, whose scatter is not nothing."""
    a, b = Moments.of([[0.0], [1.0]], [0.5, 0.5]), Moments.of([[2.0], [5.0]])
    assert ((a + b) - b).scatter[0, 0] == pytest.approx(0.25, rel=1e-12)
    c, d = DiagonalMoments.of([[0.0], [1.0]], [0.5, 0.5]), DiagonalMoments.of([[2.0], [5.0]])
    assert ((c + d) - d).scatter[0] == pytest.approx(0.25, rel=1e-12)


def test_the_last_row_has_no_scatter_whatever_was_forgotten() -> None:
    row, wide = (
        Moments.of([[0.1, 0.2]]),
        Moments.of(1e6 * np.random.default_rng(0).normal(size=(9, 2))),
    )
    left = (row + wide) - wide
    assert not left.scatter.any()
    assert not left.lost.any()


def unseen(forget: Callable[[], object], *words: str) -> None:
    with pytest.raises(ForgettingUnseen) as refusal:
        forget()
    for word in words:
        assert word in str(refusal.value)


def test_what_was_never_merged_is_refused_with_its_place() -> None:
    rng = np.random.default_rng(12)
    x = rng.normal(size=(6, 2))
    gaps = x.copy()
    gaps[0, 0] = np.nan
    codes = np.arange(6) % 2
    unseen(lambda: Moments.of(x[:2]) - Moments.of(x), "weight 6", "weight 2")
    unseen(lambda: Moments.of(x) - Moments.of(1e3 * x[:5]), "column", "negative variance")
    unseen(lambda: DiagonalMoments.of(gaps) - DiagonalMoments.of(x), "column 0")
    pooled = PooledMoments.of_classes(x, codes, "ab")
    unseen(lambda: pooled - PooledMoments.of_classes(x, codes, "ac"), "class 'c'")
    unseen(lambda: pooled - pooled.scaled(2.0), "class 'a'")
    by = ByClass.of(Moments, x, codes, "ab")
    unseen(lambda: by - ByClass.of(Moments, x, codes, "ac"), "class 'c'")
    unseen(lambda: by - by.scaled(2.0), "class 'a'")
    plain = ByPattern.of(x, lambda rows, _: Moments.of(rows))
    unseen(lambda: plain - ByPattern.of(gaps, lambda rows, _: Moments.of(rows)), "1 cell")


@pytest.fixture
def two_classes() -> tuple[FloatArray, Any]:
    rng = np.random.default_rng(13)
    return rng.normal(size=(80, 3)), np.array(["a", "b"])[np.arange(80) % 2]


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal"])
def test_forgetting_something_far_wider_says_how_many_digits_are_left(
    form: str, two_classes: tuple[FloatArray, Any]
) -> None:
    x, y = two_classes
    model = GaussianDiscriminant(form).fit(x, y).partial_fit(1e4 * x, y)
    with pytest.warns(LostDigits, match="digits"):
        model.forget(1e4 * x, y)
    alone = GaussianDiscriminant(form).fit(x, y)
    assert model.covariances_ == pytest.approx(alone.covariances_, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal"])
def test_forgetting_something_a_million_times_wider_is_refused_and_changes_nothing(
    form: str, two_classes: tuple[FloatArray, Any]
) -> None:
    x, y = two_classes
    model = GaussianDiscriminant(form).fit(x, y).partial_fit(1e6 * x, y)
    before, state = model.log_joint(x), model.statistics_
    unseen(lambda: model.forget(1e6 * x, y), "digits")
    assert model.statistics_ is state
    assert np.array_equal(model.log_joint(x), before)


def test_a_model_refuses_to_forget_unknown_classes_weights_and_patterns(
    two_classes: tuple[FloatArray, Any],
) -> None:
    x, y = two_classes
    gaps = x.copy()
    gaps[:, 0] = np.nan
    for form in ("shared", "per-class", "diagonal"):
        model = GaussianDiscriminant(form).fit(x, y)
        state = model.statistics_
        unseen(lambda m=model: m.forget(x[:2], ["a", "c"]), "'c'")
        unseen(lambda m=model: m.forget(x, y, sample_weight=np.full(80, 1.5)), "weight")
        if form != "diagonal":
            unseen(lambda m=model: m.forget(gaps[:4], y[:4]), "missing")
        assert model.statistics_ is state
