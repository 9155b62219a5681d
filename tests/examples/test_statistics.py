"""Statistics by hand: small enough for a pencil."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest

from suffice.errors import (
    BadLabels,
    BadSetting,
    DifferentKinds,
    ForgettingUnseen,
    NotFinite,
    TooManyPatterns,
)
from suffice.statistics import (
    ByClass,
    ByPattern,
    DiagonalMoments,
    Moments,
    PooledMoments,
    leave_one_out,
    total,
)
from suffice.testing import assert_same, check_arrays_round_trip, check_statistics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows import FloatArray

ROWS = np.array([[1.0, 10.0], [3.0, 10.0], [8.0, 40.0]])


def test_three_rows_by_hand() -> None:
    found = Moments.of(ROWS)
    assert found.weight == 3.0
    assert found.mean.tolist() == [4.0, 20.0]
    assert found.scatter.tolist() == [[26.0, 120.0], [120.0, 600.0]]


def test_merging_by_hand() -> None:
    """Chan's formula: 2 + 0 + (8 - 2)²·2·1/3 = 26."""
    merged = Moments.of(ROWS[:2]) + Moments.of(ROWS[2:])
    assert merged.mean.tolist() == [4.0, 20.0]
    assert merged.scatter[0, 0] == pytest.approx(26.0, rel=1e-15)


def test_forgetting_by_hand() -> None:
    left = Moments.of(ROWS) - Moments.of(ROWS[2:])
    assert left.weight == 2.0
    assert left.mean == pytest.approx([2.0, 10.0], rel=1e-15)
    assert left.scatter == pytest.approx(np.array([[2.0, 0.0], [0.0, 0.0]]), abs=1e-12)


def test_forgetting_everything_leaves_exactly_nothing() -> None:
    for found in (Moments.of(ROWS), DiagonalMoments.of(ROWS)):
        left = found - found
        assert left.weight == 0.0
        assert not left.scatter.any()
        assert not left.error.any()


def test_columns_count_their_own_cells() -> None:
    rows = ROWS.copy()
    rows[2, 0] = np.nan
    found = DiagonalMoments.of(rows)
    assert found.weight == 3.0
    assert found.counts.tolist() == [2.0, 3.0]
    assert found.mean.tolist() == [2.0, 20.0]
    assert found.scatter.tolist() == [2.0, 600.0]


def test_a_column_seen_by_one_side_only_keeps_what_that_side_saw() -> None:
    blank = np.array([[np.nan, 1.0], [np.nan, 3.0]])
    merged = DiagonalMoments.of(blank) + DiagonalMoments.of(ROWS)
    assert merged.counts.tolist() == [3.0, 5.0]
    assert merged.mean[0] == 4.0
    assert merged.scatter[0] == 26.0


def test_classes_share_one_scatter_about_their_own_means() -> None:
    pooled = PooledMoments.of_classes(ROWS, [1, 1, 0], ["late", "early"])
    assert pooled.labels == ("early", "late")
    assert pooled.weights.tolist() == [2.0, 1.0]
    assert pooled.means.tolist() == [[2.0, 10.0], [8.0, 40.0]]
    assert pooled.scatter.tolist() == [[2.0, 0.0], [0.0, 0.0]]


def test_a_new_label_is_a_new_class_and_a_typo_is_not_ham() -> None:
    a = ByClass.of(Moments, ROWS, [0, 0, 1], ["ham", "spam"])
    b = ByClass.of(Moments, ROWS, [0, 0, 0], ["SPAM"])
    assert (a + b).labels == ("SPAM", "ham", "spam")
    assert ((a + b) - a).labels == ("SPAM",)
    assert (a + b).groups["ham"].weight == 2.0


def test_labels_without_an_order_among_them_still_come_in_one() -> None:
    a = ByClass.of(Moments, ROWS, [0, 1, 2], [2, "b", None])
    b = ByClass.of(Moments, ROWS, [2, 0, 1], ["b", None, 2])
    assert a.labels == b.labels
    check_arrays_round_trip(a)


def test_labels_come_back_from_arrays_as_they_were() -> None:
    labels = ["", "tab\t", "nul\x00", "ß", 3, 2.5, True, None]
    rows = np.arange(16.0).reshape(8, 2)
    held = ByClass.of(Moments, rows, np.arange(8), labels)
    again = ByClass.from_arrays(held.to_arrays())
    assert {(type(k), k) for k in again.groups} == {(type(k), k) for k in labels}


def test_a_label_that_has_no_plain_form_is_refused_when_it_is_stored() -> None:
    held = ByClass.of(Moments, ROWS, [0, 0, 0], [frozenset({"a"})])
    with pytest.raises(BadLabels, match="frozenset"):
        held.to_arrays()


def test_arrays_survive_a_file(tmp_path: Any) -> None:
    gaps = ROWS.copy()
    gaps[0, 1] = np.nan
    held = ByPattern.of(gaps, lambda rows, _: Moments.of(rows))
    np.savez(tmp_path / "state.npz", **held.to_arrays())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as arrays:
        again = ByPattern.from_arrays(dict(arrays))
    assert_same(held, again, relative=0.0)


def test_patterns_are_grouped_and_fullest_first_whoever_came_first() -> None:
    gaps = np.array([[np.nan, 1.0], [2.0, 3.0], [np.nan, np.nan], [4.0, np.nan], [5.0, 6.0]])
    found = ByPattern.of(gaps, lambda rows, _: Moments.of(rows))
    assert [list(p) for p in found.groups] == [[1, 1], [1, 0], [0, 1], [0, 0]]
    assert [g.weight for g in found.groups.values()] == [2.0, 1.0, 1.0, 1.0]
    parts = [ByPattern.of(gaps[i : i + 1], lambda rows, _: Moments.of(rows)) for i in range(5)]
    assert list(total(parts).groups) == list(total(parts[::-1]).groups) == list(found.groups)


def test_no_rows_are_no_pattern() -> None:
    nothing = ByPattern.of(np.zeros((0, 2)), lambda rows, _: Moments.of(rows))
    assert not nothing.groups
    assert nothing.is_complete
    assert ByClass({}).lost.shape == (0,)


def test_too_many_patterns_are_refused() -> None:
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((3000, 14)) < 0.5, np.nan, 1.0)
    with pytest.raises(TooManyPatterns, match="at most 1000"):
        ByPattern.of(rows, lambda part, _: Moments.of(part))
    halves = [
        ByPattern.of(half, lambda part, _: Moments.of(part))
        for half in (rows[:800], rows[800:1600])
    ]
    with pytest.raises(TooManyPatterns):
        _ = halves[0] + halves[1]


def test_statistics_of_different_kinds_or_widths_do_not_add_up() -> None:
    with pytest.raises(DifferentKinds, match="Moments and DiagonalMoments"):
        _ = Moments.of(ROWS) + DiagonalMoments.of(ROWS)  # type: ignore[operator]
    with pytest.raises(DifferentKinds, match="2 columns and of 1"):
        _ = Moments.of(ROWS) - Moments.of(ROWS[:, :1])


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
def test_factors_that_count_nothing_are_refused(factor: float) -> None:
    for held in (
        Moments.of(ROWS),
        DiagonalMoments.of(ROWS),
        PooledMoments.of_classes(ROWS, [0, 0, 1], "ab"),
        ByClass.of(Moments, ROWS, [0, 0, 1], "ab"),
    ):
        with pytest.raises(BadSetting, match="cannot scale"):
            held.scaled(factor)


def test_nothing_cannot_be_added_up_and_one_part_has_no_others() -> None:
    with pytest.raises(BadSetting, match="nothing to add up"):
        total([])
    with pytest.raises(BadSetting, match="two parts"):
        leave_one_out([Moments.of(ROWS)])


def test_a_cell_that_is_not_finite_is_named() -> None:
    with pytest.raises(NotFinite, match="row 1, column 0: inf"):
        Moments.of([[1.0], [np.inf]])
    with pytest.raises(NotFinite, match="row 1, column 1: -inf"):
        DiagonalMoments.of([[np.nan, 1.0], [2.0, -np.inf]])


# The published laws find what is wrong


@dataclass
class Sums:
    """Weight and Σx: as simple as statistics get."""

    weight: float
    sums: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, weights: FloatArray | None = None) -> Self:
        w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(float(w.sum()), w @ rows)

    def __add__(self, other: Self) -> Self:
        return replace(self, weight=self.weight + other.weight, sums=self.sums + other.sums)

    def __sub__(self, other: Self) -> Self:
        if other.weight > self.weight:
            raise ForgettingUnseen.of(self.weight, other.weight)
        return replace(self, weight=self.weight - other.weight, sums=self.sums - other.sums)

    def scaled(self, factor: float) -> Self:
        return replace(self, weight=self.weight * factor, sums=self.sums * factor)

    def to_arrays(self) -> dict[str, FloatArray]:
        return {"weight": np.asarray(self.weight), "sums": self.sums}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Self:
        return cls(float(arrays["weight"]), np.asarray(arrays["sums"]))


class Group(Sums):
    """Believes that statistics are a group."""

    def __sub__(self, other: Self) -> Self:
        return replace(self, weight=self.weight - other.weight, sums=self.sums - other.sums)


class FirstWins(Sums):
    """Keeps the left side only."""

    def __add__(self, other: Self) -> Self:
        held = self if self.weight else other
        return replace(held, weight=self.weight + other.weight)


class Deaf(Sums):
    """Does not listen to weights."""

    @classmethod
    def of(cls, rows: FloatArray, weights: FloatArray | None = None) -> Self:
        return cls(float(len(rows)), rows.sum(axis=0))


class Rounded(Sums):
    """Stores float32."""

    def to_arrays(self) -> dict[str, FloatArray]:
        return {"weight": np.asarray(self.weight), "sums": self.sums}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Self:
        return cls(float(arrays["weight"]), arrays["sums"].astype(np.float32).astype(np.float64))


class Frozen(Sums):
    """Scales its weight and forgets its sums."""

    def scaled(self, factor: float) -> Self:
        return replace(self, weight=self.weight * factor)


def test_a_sound_statistic_of_ones_own_passes() -> None:
    check_statistics(Sums.of, np.random.default_rng(0).normal(size=(25, 2)))


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (Group, "was forgotten from weight"),
        (FirstWins, "a \\+ b is b \\+ a: sums"),
        (Deaf, "a weight counts repetitions: "),
        (Rounded, "arrays hold the whole state: sums"),
        (Frozen, "scaled by 0 nothing is left: sums"),
    ],
)
def test_a_statistic_that_breaks_a_law_is_told_which(kind: Any, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_statistics(kind.of, np.random.default_rng(0).normal(size=(25, 2)))


def test_what_differs_is_named_with_both_numbers() -> None:
    a = Moments.of(ROWS)
    assert_same(a, a)
    with pytest.raises(AssertionError, match=r"scatter\[0, 0\] is 26.0 and 27.0.*rounding allows"):
        assert_same(a, replace(a, scatter=a.scatter + 1.0))
    with pytest.raises(AssertionError, match=r"mean\[1\]"):
        assert_same(a, replace(a, mean=a.mean + np.array([0.0, 1e-9])))
    with pytest.raises(AssertionError, match="scatter"):
        assert_same(a, replace(a, scatter=a.scatter * np.nan))
    with pytest.raises(AssertionError, match="Moments and DiagonalMoments"):
        assert_same(a, DiagonalMoments.of(ROWS))  # type: ignore[type-var]
