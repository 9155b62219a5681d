"""Columns as they come, families chosen: better than GaussianNB on most tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reference.naive_bayes_tables import baseline, scores

if TYPE_CHECKING:
    from pathlib import Path

QUICK = (
    "adult", "balance_scale", "banana", "boston_median", "breast_cancer", "bupa", "credit_a",
    "horse_colic", "lymphography", "penguins", "pima", "saheart", "synth_ripley", "vote",
)  # fmt: skip
SHARE = 0.85


def test_chosen_families_beat_gaussian_naive_bayes_on_most_tables(shared: Path) -> None:
    theirs = baseline()
    ours = {name: scores(name, families="select").log_loss for name in QUICK}
    won = [name for name in QUICK if ours[name] < theirs[name]]
    assert len(won) >= SHARE * len(QUICK), sorted(set(QUICK) - set(won))


def test_one_exponent_on_the_likelihood_is_a_large_gain(shared: Path) -> None:
    for name in ("credit_a", "vote", "boston_median"):
        plain = scores(name).log_loss
        tempered = scores(name, temperature="held-out").log_loss
        assert tempered < 0.8 * plain, name
