"""covariance="auto" takes what its own leave-one-out likes: a loss stands for all rows."""

from __future__ import annotations

import csv
import gzip
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import GaussianDiscriminant
from suffice.models.gaussian import jury as selection
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.leave_one_out import grid_downdates
from tests.searches import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = [
    pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData"),
    pytest.mark.filterwarnings("ignore::suffice.errors.DidNotConverge"),
    pytest.mark.filterwarnings("ignore::suffice.errors.Approximation"),
]

seeds = st.integers(0, 2**32 - 1)


def wide(rng: np.random.Generator, size: int, width: int, classes: int) -> tuple[Any, Any]:
    """Return rows of whole numbers, like grey levels: many columns are constant in a class."""
    y = np.arange(size) % classes
    noise = rng.normal(size=(size, width)) @ (0.4 * rng.normal(size=(width, width)) + np.eye(width))
    x = rng.choice([0.3, 0.6, 1.2]) * rng.normal(size=(classes, width))[y] + noise
    silent = rng.random((classes, width)) < rng.choice([0.0, 0.3, 0.6])
    return np.where(silent[y], 0.0, np.maximum(np.round(2.0 * x), 0.0)), y


def loss(model: GaussianDiscriminant, x: Any, y: Any) -> float:
    return model.fit(x, y).leave_one_out(x, y).log_loss


def of(family: Any) -> GaussianDiscriminant:
    return GaussianDiscriminant(
        "per-class", pool=family.pool, shrink=family.shrink, shrink_target=family.shrink_target
    )


@examples(4)
@given(seeds)
def test_the_chosen_setting_is_nearly_the_best_of_the_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    x, y = wide(rng, int(rng.integers(40, 80)), int(rng.integers(6, 20)), classes)
    chosen = GaussianDiscriminant("auto").fit(x, y).settings_
    losses = [loss(of(family), x, y) for family in selection.candidates("mle")]
    # Floors are held while candidates are judged, and a few rows move them.
    assert loss(of(chosen), x, y) <= min(losses) + 0.05


@examples(1)
@given(seeds)
def test_a_wide_table_whose_rows_all_need_refits_is_judged_by_all_of_them(seed: int) -> None:
    x, y = wide(np.random.default_rng(seed), 200, 64, 10)
    own = loss(GaussianDiscriminant("auto"), x, y)
    # Two standard errors of a mean of 200 losses, of which each is a few tenths.
    assert own <= loss(GaussianDiscriminant("shared"), x, y) + 0.1
    assert own <= math.log(10) + 0.1


def test_a_handful_of_rows_never_stands_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where refits and folds cost too much, rows that need them count as guessed."""
    x, y = wide(np.random.default_rng(3), 60, 30, 4)
    for budget in (2e6, 0.0):
        monkeypatch.setattr(selection, "REFIT_BUDGET", budget)
        monkeypatch.setattr(selection, "FOLD_BUDGET", 0.0)
        chosen = GaussianDiscriminant("auto").fit(x, y).settings_
        assert loss(of(chosen), x, y) <= math.log(4) + 0.1


@examples(2)
@given(seeds)
def test_blank_cells_do_not_tell_the_label_to_those_who_judge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = wide(rng, 80, 4, 2)
    x[rng.random(x.shape) < 0.15] = np.nan
    own = loss(GaussianDiscriminant("auto"), x, y)
    assert own <= loss(GaussianDiscriminant("shared"), x, y) + 0.1
    assert own <= math.log(2) + 0.1


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_labels_that_mean_nothing_are_not_learned_from_blanks(seed: int) -> None:
    """Half the cells are blank and labels are random: only caution pays on new rows."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(120, 6)), np.arange(120) % 2
    x[rng.random(x.shape) < 0.5] = np.nan
    new = rng.normal(size=(2000, 6))

    def lost(model: GaussianDiscriminant) -> float:
        return -float(model.fit(x, y).predict_log_proba(new).mean())

    assert lost(GaussianDiscriminant("auto")) <= lost(GaussianDiscriminant("shared")) + 0.05


# Tables of others


def table(path: Path) -> tuple[list[str], list[list[str]]]:
    with gzip.open(path, "rt") as lines:
        names, *rows = csv.reader(lines)
    return names, rows


def test_digits_are_judged_by_all_two_hundred_rows(
    shared: Path, require: Callable[[object, str], None]
) -> None:
    path = shared / "data" / "tab" / "optdigits.csv.gz"
    require(path.exists(), "the table of digits is not there")
    _, rows = table(path)
    cells = np.array(rows, dtype=np.float64)
    chosen = np.random.default_rng(0).permutation(len(cells))[:200]
    x, y = cells[chosen, :-1], cells[chosen, -1]
    assert loss(GaussianDiscriminant("auto"), x, y) <= 0.8


def test_horses_with_blanks_are_not_told_by_their_labels(
    shared: Path, require: Callable[[object, str], None]
) -> None:
    pandas = pytest.importorskip("pandas")
    path = shared / "data" / "tab" / "horse_colic.csv.gz"
    require(path.exists(), "the table of horses is not there")
    frame = pandas.read_csv(path, na_values=["?"]).dropna(subset=["target"])
    order = np.random.default_rng(0).permutation(len(frame))
    x, y = frame.drop(columns="target"), frame["target"]
    model = GaussianDiscriminant("auto").fit(x.iloc[order[:160]], y.iloc[order[:160]])
    found = model.predict_log_proba(x.iloc[order[160:]])
    codes = np.searchsorted(model.classes_, y.iloc[order[160:]])
    assert -found[np.arange(len(codes)), codes].mean() <= 1.0  # shares: .66; told: 4


def judged(
    x: Any, y: Any, options: list[Any], divisor: str = "mle"
) -> tuple[tuple[Any, ...], dict[Any, float]]:
    """Return what settings say side by side, and what each of them loses."""
    labels = sorted(set(y.tolist()))
    learner = GaussianLearner(Gaussian("per-class", divisor=divisor))
    summary = ClassSummary.of(learner.summarize(x, y, labels), labels)
    jury = selection.Jury(summary, x, y, None, None, np.arange(len(y)), len(options))
    found, _ = grid_downdates.grid_log_densities(options, summary, jury.z, y, jury.removed)
    return found, dict(jury.verdict(options)[1])


@examples(6)
@given(seeds, st.sampled_from(["mle", "unbiased"]))
def test_settings_side_by_side_lose_what_each_loses_by_itself(seed: int, divisor: str) -> None:
    rng = np.random.default_rng(seed)
    width, classes = int(rng.integers(1, 9)), int(rng.integers(2, 5))
    y = np.arange(int(rng.integers(60, 160))) % classes
    x = rng.normal(size=(len(y), width)) @ rng.normal(size=(width, width)) + rng.normal(size=width)
    x = (x + np.outer(y, rng.normal(size=width))) * 10.0 ** rng.integers(-3, 4, width)
    options = list(selection.candidates(divisor))[::4]
    found, losses = judged(x, y, options, divisor)
    assert len(found) > len(options) // 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid_downdates, "MOST_COLUMNS", 0)
        none, each = judged(x, y, options, divisor)
    assert not none
    np.testing.assert_allclose(list(losses.values()), list(each.values()), rtol=1e-9)


def test_settings_near_a_floor_are_judged_one_by_one() -> None:
    rng = np.random.default_rng(0)
    options = list(selection.candidates("mle"))
    y = np.arange(60) % 3
    x = rng.normal(size=(60, 3)) + y[:, np.newaxis]
    x[y == 1, 2] = x[y == 1, 1]  # a class in a plane: its own covariance has a floor
    found, _ = judged(x, y, options)
    assert [one for one in options if one not in found] == [
        one for one in options if one.pool == one.shrink == 0.0
    ]
    x[:, 2] = x[:, 1]  # all of them: so has the pooled one
    assert not judged(x, y, options)[0]
