"""How many hidden classes: the budget of comparing, and what BIC counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suffice import LatentClasses
from suffice.models.latent import fitting
from suffice.models.latent.starts import LatentStarts


def rows_of_two() -> list[list[object]]:
    """Return 60 rows of two classes: a level of three, yes or no, and a measurement."""
    rng = np.random.default_rng(15)
    found: list[list[object]] = []
    for i in range(60):
        level = "abc"[int(rng.integers(3))] if rng.random() < 0.3 else "ab"[i % 2]
        found.append([level, bool(rng.random() < (0.9, 0.2)[i % 2]), rng.normal(3.0 * (i % 2))])
    return found


@pytest.mark.parametrize(("budget", "few"), [(11_000_000, 5), (0, fitting.FEWEST_STARTS)])
def test_compared_numbers_share_a_budget_and_the_chosen_one_has_every_start(
    budget: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[int, list[int]] = {}
    shares = LatentStarts.shares

    def counted(self: LatentStarts, components: int, count: int) -> Any:
        made.setdefault(components, []).append(count)
        return shares(self, components, count)

    monkeypatch.setattr(LatentStarts, "shares", counted)
    monkeypatch.setattr(fitting, "BUDGET", budget)
    rows = rows_of_two()
    model = LatentClasses(range(1, 3), starts=6).fit(rows)
    assert made.pop(model.components_) == [few, 6]
    assert list(made.values()) == [[few]]
    alone = LatentClasses(model.components_, starts=6).fit(rows)
    assert alone.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-12)
    assert model.trials_[0]["criterion"] == pytest.approx(model.bic(rows))
    made.clear()
    LatentClasses(range(1, 3), starts=2).fit(rows)  # no more than were asked for
    assert {count for counts in made.values() for count in counts} == {2}


def test_bic_counts_free_parameters_and_the_likelihood_without_the_prior() -> None:
    rows = rows_of_two()
    model = LatentClasses(3, starts=2, smoothing=2.0).fit(rows)
    count = 2 + 3 * (2 + 1 + 2)  # shares; of three levels two, yes, mean and variance
    assert model.n_parameters_ == count
    likelihood = model.score_samples(rows).sum()
    assert model.bic(rows) == pytest.approx(-2.0 * likelihood + count * np.log(60.0), rel=1e-12)
    assert model.history_[-1] != pytest.approx(likelihood)
