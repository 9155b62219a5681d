"""Numbers of components by left-out loss: what refits without those rows say, one by one."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import suffice
from suffice import MixtureDiscriminant
from suffice.models.mixture.classes import RowsByClass
from suffice.models.mixture.fitting import MixtureSettings
from suffice.models.mixture.numbers.left_out import (
    FOLDS,
    WORST,
    folds_of,
    left_out_densities,
    left_out_numbers,
)

SETTINGS = MixtureSettings((1,), (), None, False, "bic", 1e-8, 1000, 0)


def in_kinds(size: int, seed: int = 0, apart: float = 4.0) -> tuple[Any, Any]:
    """Return rows of "inner" between the two kinds of "outer"."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 3, size)
    rows = apart * np.array([[0.0, 0.0], [-1.0, -1.0], [1.0, 1.0]])[places]
    return rows + rng.normal(size=(size, 2)), np.minimum(places, 1)


def refitted_loss(
    rows: Any, codes: Any, weights: Any, chosen: tuple[int, ...], form: str, **settings: Any
) -> float:
    """Return the left-out loss of numbers, by an estimator that is fitted without each part."""
    parts, losses, held = folds_of(rows, codes, len(chosen)), [], []
    for part in range(FOLDS):
        out, rest = parts == part, parts != part
        model = MixtureDiscriminant(dict(enumerate(chosen)), form, **settings)
        model.fit(rows[rest], codes[rest], weights[rest])
        found = model.predict_log_proba(rows[out])[np.arange(out.sum()), codes[out]]
        losses += np.minimum(-found, WORST).tolist()
        held += weights[out].tolist()
    return float(np.average(losses, weights=held))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("blank", [0.0, 0.1])
def test_losses_are_those_of_refits(shared: bool, blank: float) -> None:
    rows, codes = in_kinds(90)
    rng = np.random.default_rng(1)
    rows[rng.random(rows.shape) < blank] = np.nan
    weights = rng.uniform(0.5, 2.0, len(rows))
    numbers = [(1, 2), (1, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = left_out_densities(
            rows, codes, weights, [0, 1], numbers, "EEI", SETTINGS, shared=shared
        )
        assert held is not None
        pairs = [(0, 0), (1, 1)] if shared else list(itertools.product(range(2), repeat=2))
        brute = {
            pair: refitted_loss(
                rows, codes, weights, tuple(i + 1 for i in pair), "EEI", shared=shared
            )
            for pair in pairs
        }
    for pair, loss in brute.items():
        assert held.loss(pair) == pytest.approx(loss, rel=1e-6)
    chosen, least = held.best(shared=shared)
    assert least == pytest.approx(min(brute.values()), rel=1e-6)
    assert brute[tuple(chosen)] == pytest.approx(least, rel=1e-6)
    assert chosen[1] == 1  # "outer" has two kinds


@pytest.mark.slow
def test_the_estimator_takes_what_left_out_rows_ask_for() -> None:
    rows, codes = in_kinds(75)
    model = MixtureDiscriminant(covariance="EEI", criterion="left-out").fit(rows, codes)
    numbers = [tuple(range(1, 6))] * 2
    asked = left_out_numbers(rows, codes, None, [0, 1], numbers, "EEI", SETTINGS, shared=False)
    assert model.components_ == {0: asked[0][0], 1: asked[1][0]}
    assert model.components_[1] >= 2
    plain = MixtureDiscriminant(model.components_, "EEI").fit(rows, codes)
    np.testing.assert_array_equal(model.predict_proba(rows), plain.predict_proba(rows))


def test_neither_order_nor_repetition_of_rows_changes_the_choice() -> None:
    rows, codes = in_kinds(60, seed=3)
    order = np.random.default_rng(0).permutation(60)
    twice = np.concatenate([rows, rows]), np.concatenate([codes, codes])

    def chosen(rows: Any, codes: Any, weights: Any = None) -> Any:
        numbers = [(1, 2), (1, 2)]
        given = rows, codes, weights, [0, 1], numbers, "VII", SETTINGS
        held = left_out_densities(*given, shared=False)
        assert held is not None
        places, loss = held.best(shared=False)
        return places, pytest.approx(loss, rel=1e-6)

    first = chosen(rows, codes)
    assert chosen(rows[order], codes[order]) == first
    assert chosen(*twice) == chosen(rows, codes, np.full(60, 2.0))
    parts = folds_of(*twice, 2)
    np.testing.assert_array_equal(parts[:60], parts[60:])  # what is left out has no twin that stays


def test_folds_are_even_and_the_only_row_of_a_class_stays() -> None:
    rows, codes = in_kinds(101)
    codes[0] = 2
    parts = folds_of(rows, codes, 3)
    assert parts[0] == FOLDS
    for c in (0, 1):
        counts = np.bincount(parts[codes == c], minlength=FOLDS)
        assert np.ptp(counts) <= 1


def test_few_rows_choose_among_what_they_allow() -> None:
    rows = np.array([[0.0], [1.0], [2.5], [9.0], [9.5], [11.0], [30.0]])
    codes = np.array([0, 0, 0, 1, 1, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixtureDiscriminant(covariance="EII", criterion="left-out", prior=True)
        model.fit(rows, codes)
    assert set(model.components_) == {0, 1, 2}
    assert model.components_[2] == 1
    assert np.isfinite(model.predict_proba(rows)).all()
    by_class = RowsByClass.of(rows, codes, 3, None)
    assert all(model.components_[c] <= by_class.parts[c].size for c in range(3))


def test_a_criterion_that_is_not_known_is_refused(tmp_path: Any) -> None:
    rows, codes = in_kinds(30)
    with pytest.raises(suffice.errors.BadSetting, match="criterion='loo' is not known"):
        MixtureDiscriminant(criterion="loo").fit(rows, codes)  # type: ignore[arg-type]
    place = tmp_path / "m.suffice"
    MixtureDiscriminant(1, "EEI", criterion="left-out").fit(rows, codes).save(place)
    assert suffice.load(place).get_params()["criterion"] == "left-out"
