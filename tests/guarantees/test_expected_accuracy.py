"""Accuracy without labels: inside its interval where p(y | x) has stayed, or else p(x | y)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import GaussianDiscriminant, watch
from suffice.monitoring import expected_accuracy as module
from suffice.monitoring.expected_accuracy import expected_accuracy, share_tests
from suffice.monitoring.kept_cells import left_out_posteriors
from tests.searches import examples, repeats


def skewed(rng: Any, n: int, share: float = 0.25) -> tuple[Any, Any]:
    """Classes of which normal laws are wrong: probabilities promise too much, unevenly."""
    y = (rng.random(n) < share).astype(int)
    return np.exp(rng.normal(size=(n, 2))) * np.where(y, 0.4, 1.5)[:, None], y


def drawn(rng: Any, planted: str, n: int) -> tuple[Any, Any]:
    if planted == "labels":
        odds = np.exp(rng.normal()) / 3.0
        return skewed(rng, n, odds / (1.0 + odds))
    X, y = skewed(rng, 4 * n)
    if planted == "covariates":  # rows are chosen by their cells alone
        chance = 1.0 / (1.0 + np.exp(-2.0 * (np.log(X[:, 0]) - 0.5)))
        some = rng.random(len(y)) < chance
        X, y = X[some], y[some]
    return X[:n], y[:n]


def inside(planted: str, draws: int) -> float:
    held = 0
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        model = GaussianDiscriminant("shared", calibration_rows=300).fit(*skewed(rng, 300))
        judged = left_out_posteriors(model.learned_)
        assert judged is not None
        X, y = drawn(rng, planted, 400)
        found = expected_accuracy(judged, model.predict_proba(X))
        held += found.low <= float((model.predict(X) == y).mean()) <= found.high
    return held / draws


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["nothing", "covariates", "labels"])
def test_the_accuracy_is_inside_its_interval(planted: str) -> None:
    draws = repeats(40, 400)
    assert inside(planted, draws) >= 0.9 - 3.0 * np.sqrt(0.09 / draws)


@pytest.mark.slow
def test_without_either_assumption_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares that move need the second, rows that move what kept rows of their kind say."""

    def no_other(judged: Any, posterior: Any) -> tuple[float, float]:
        middle, half = module.by_probability(judged, posterior)
        return middle - half, middle + half

    monkeypatch.setattr(module, "by_class_shares", no_other)
    assert inside("labels", 40) < 0.75

    def on_average(judged: Any, posterior: Any) -> tuple[float, float]:
        kept, codes, _ = judged
        gaps = (kept.argmax(axis=1) == codes) - kept.max(axis=1)
        sure = posterior.max(axis=1)
        spread = (sure * (1.0 - sure)).mean() / len(sure) + gaps.var() / len(gaps)
        return sure.mean() + gaps.mean(), 1.96 * np.sqrt(spread)

    monkeypatch.setattr(module, "by_probability", on_average)
    assert inside("covariates", 40) < 0.75


@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(1, 4))
@examples(20)
def test_weights_are_repetitions(seed: int, size: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    kept, posterior = rng.dirichlet(np.ones(size), 60), rng.dirichlet(np.ones(size), 90)
    codes, times = rng.integers(0, size, 60), rng.integers(1, most + 1, 60)
    weighted = kept, codes, times.astype(float)
    again = np.repeat(kept, times, axis=0), np.repeat(codes, times), np.ones(times.sum())
    np.testing.assert_allclose(
        share_tests(weighted, posterior), share_tests(again, posterior), rtol=1e-9
    )
    np.testing.assert_allclose(
        module.by_probability(weighted, posterior),
        module.by_probability(again, posterior),
        rtol=1e-9,
    )
    one, two = (expected_accuracy(some, posterior) for some in (weighted, again))
    assert one.estimate == pytest.approx(two.estimate, rel=1e-9)
    assert one.low == pytest.approx(two.low, rel=1e-9)
    assert one.high == pytest.approx(two.high, rel=1e-9)


def test_nothing_is_known_of_a_class_of_which_one_row_was_kept() -> None:
    """Rows that are named as it may be anybody's: what its only row was named says nothing."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [200, 199, 1])
    kept = np.where(rng.random((400, 1)) < 0.98, np.eye(3)[codes], np.eye(3)[1 - codes % 2])
    kept = np.where(kept == 1.0, 0.97, 0.015)
    usual, other = kept[:-1][rng.integers(0, 399, 400)], kept[:-1][rng.integers(0, 399, 200)]
    rare = np.concatenate([other, np.tile([0.015, 0.015, 0.97], (200, 1))])
    found = []
    for named in ([0.97, 0.03, 0.0], [0.03, 0.97, 0.0]):  # by a model that does not know its class
        kept[-1] = named
        judged = kept, codes, np.ones(400)
        low, high = module.by_class_shares(judged, usual)
        assert 0.85 < low < high < 1.0
        found.append(module.by_class_shares(judged, rare))
    assert found[0] == found[1]
    assert found[0][0] < 0.8
    assert found[0][1] > 0.9


@pytest.mark.parametrize("size", [1, 2, 40])
@pytest.mark.parametrize("new", [1, 2, 30])
@pytest.mark.parametrize("rows", [1, 3, 50])
@pytest.mark.parametrize("sure", [True, False])
def test_few_rows_many_classes_and_certainty(size: int, new: int, rows: int, sure: bool) -> None:
    rng = np.random.default_rng(0)
    kept, posterior = (rng.dirichlet(np.ones(size), many) for many in (rows, new))
    if sure:
        kept, posterior = (np.eye(size)[some.argmax(axis=1)] for some in (kept, posterior))
    judged = kept, kept.argmax(axis=1), np.ones(rows)
    found = expected_accuracy(judged, posterior)
    assert 0.0 <= found.low <= found.estimate <= found.high <= 1.0
    assert np.isfinite(share_tests(judged, posterior)).all()
    if sure:  # none were wrong, of so few
        assert found.low < 1.0


def test_a_watch_says_what_is_assumed() -> None:
    rng = np.random.default_rng(0)
    model = GaussianDiscriminant("shared", calibration_rows=300).fit(*skewed(rng, 300))
    found = watch(model, skewed(rng, 200)[0])
    assert found.expected is not None
    assert found.expected.low < found.expected.estimate < found.expected.high
    assert any("p(y | x) is unchanged" in note for note in found.notes)
    none = watch(GaussianDiscriminant("shared").fit(*skewed(rng, 300)), skewed(rng, 200)[0])
    assert not any("p(y | x) is unchanged" in note for note in none.notes)
